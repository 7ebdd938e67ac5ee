#include <fraglab/read.h>

#include "failing_host.h"
#include "test.h"

#include <string.h>

/* The trace of a script that must be valid. */
static fl_trace *read_script(const char *text)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(text, strlen(text), "s", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static fl_event event_at(const fl_trace *trace, size_t device, uint64_t index)
{
    assert_true(index < fl_trace_event_count(trace, device));
    fl_event event;
    fl_trace_event(trace, device, index, &event);
    return event;
}

/* Reading it must fail with this text. */
static void refuses(const char *text, const char *message)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options options = {.format = "script"};
    fl_status status = fl_read_memory(text, strlen(text), "s", &options, &trace, &error);
    assert_int_equal(status, FL_ERR_INPUT);
    assert_int_equal(error.status, FL_ERR_INPUT);
    assert_null(trace);
    assert_string_equal(error.text, message);
}

static const char every_operation[] = "# cap=24GiB conf=expandable_segments:True\n"
                                      "a 7 16.5MiB 64\n"
                                      "r 7 128\n"
                                      "p\nc\n"
                                      "f 7\n"
                                      "d 7\n"
                                      "e\ne 3\n"
                                      "F 0.25\n"
                                      "b 2.5 stream=64 capture=1 nosplit=1 use_on_oom=0\n"
                                      "q 2.5\nx 2.5\n"
                                      "s\nt\n"
                                      "C max_split_size_mb:32\n"
                                      "o 1KB\n"
                                      "m half way, x=3 t=9 dev=0\n";

static void every_operation_is_read(void **state)
{
    (void)state;
    static const struct {
        uint8_t kind, flags;
        uint32_t id, stream, pool;
        uint64_t size;
    } expected[] = {
        {FL_OP_ALLOC, 0, 0, 0, FL_NONE, 17301504},
        {FL_OP_USE, 0, 0, 1, FL_NONE, 0},
        {FL_OP_EVENTS_HOLD, 0, FL_NONE, FL_NONE, FL_NONE, 0},
        {FL_OP_EVENTS_COMPLETE, 0, FL_NONE, FL_NONE, FL_NONE, 0},
        {FL_OP_FREE, FL_OP_HELD, 0, FL_NONE, FL_NONE, 0},
        {FL_OP_FREE_DONE, 0, 0, FL_NONE, FL_NONE, 0},
        {FL_OP_TRIM, 0, FL_NONE, FL_NONE, FL_NONE, 0},
        {FL_OP_TRIM, 0, FL_NONE, FL_NONE, 1, 0},
        {FL_OP_LIMIT, 0, FL_NONE, FL_NONE, FL_NONE, 0},
        {FL_OP_SCOPE_BEGIN, FL_OP_CAPTURE | FL_OP_NO_SPLIT, FL_NONE, 0, 2, 0},
        {FL_OP_SCOPE_END, 0, FL_NONE, FL_NONE, 2, 0},
        {FL_OP_POOL_RELEASE, 0, FL_NONE, FL_NONE, 2, 0},
        {FL_OP_SHOW_SEGMENTS, 0, FL_NONE, FL_NONE, FL_NONE, 0},
        {FL_OP_SHOW_COUNTERS, 0, FL_NONE, FL_NONE, FL_NONE, 0},
        {FL_OP_CONFIGURE, 0, FL_NONE, FL_NONE, FL_NONE, 0},
        {FL_OP_OUTSIDE, 0, FL_NONE, FL_NONE, FL_NONE, 1000},
        {FL_OP_MARK, 0, FL_NONE, FL_NONE, FL_NONE, 0},
    };
    fl_trace *trace = read_script(every_operation);
    assert_int_equal(fl_trace_event_count(trace, 0), COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        fl_event event = event_at(trace, 0, i);
        assert_int_equal(event.kind, expected[i].kind);
        assert_int_equal(event.flags, expected[i].flags);
        assert_int_equal(event.id, expected[i].id);
        assert_int_equal(event.stream, expected[i].stream);
        assert_int_equal(event.pool, expected[i].pool);
        if (event.kind != FL_OP_LIMIT)
            assert_int_equal(event.size, expected[i].size);
        assert_int_equal(event.text != FL_NONE,
                         event.kind == FL_OP_CONFIGURE || event.kind == FL_OP_MARK);
    }
    assert_true(event_at(trace, 0, 8).fraction == 0.25);
    fl_trace_free(trace);
}

static void names_are_kept_as_written(void **state)
{
    (void)state;
    fl_trace *trace = read_script(every_operation);
    const fl_names *names = fl_trace_names(trace);
    assert_string_equal(names->texts[event_at(trace, 0, 14).text], "max_split_size_mb:32");
    assert_string_equal(names->texts[event_at(trace, 0, 16).text], "half way, x=3");
    assert_int_equal(event_at(trace, 0, 16).time_us, 9);
    assert_int_equal(names->streams[0], 64);
    assert_int_equal(names->streams[1], 128);
    assert_int_equal(names->pools[1].first, 0);
    assert_int_equal(names->pools[1].second, 3);
    assert_int_equal(names->pools[2].first, 2);
    assert_int_equal(names->pools[2].second, 5);
    assert_int_equal(fl_trace_capacity(trace), UINT64_C(24) << 30);
    assert_string_equal(fl_trace_conf(trace), "expandable_segments:True");
    assert_int_equal(fl_trace_original_id(trace, 0, 0), 7);
    assert_true(fl_trace_is_complete(trace, 0));
    fl_trace_free(trace);
}

static void an_id_may_be_used_again_after_its_free(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 5 512\nf 5\na 5 1024\nf 5\n");
    assert_int_equal(fl_trace_alloc_count(trace, 0), 2);
    assert_int_equal(event_at(trace, 0, 3).id, 1);
    assert_int_equal(fl_trace_original_id(trace, 0, 0), 5);
    assert_int_equal(fl_trace_original_id(trace, 0, 1), 5);
    fl_trace_free(trace);
}

static void only_frees_that_are_completed_later_are_held(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 9\na 2 9\nf 1\nf 2\nd 2\na 3 9\nf 3\nd 3\n");
    assert_int_equal(event_at(trace, 0, 2).flags, 0);
    assert_int_equal(event_at(trace, 0, 3).flags, FL_OP_HELD);
    assert_int_equal(event_at(trace, 0, 4).id, 1);
    assert_int_equal(event_at(trace, 0, 6).flags, FL_OP_HELD);
    fl_trace_free(trace);
}

static void devices_have_events_and_ids_of_their_own(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 9 dev=2\na 1 8 0 dev=0\nf 1 dev=2\n");
    assert_int_equal(fl_trace_device_count(trace), 3);
    assert_int_equal(fl_trace_event_count(trace, 0), 1);
    assert_int_equal(fl_trace_event_count(trace, 1), 0);
    assert_int_equal(fl_trace_event_count(trace, 2), 2);
    fl_trace_free(trace);
}

static void parts_at_the_end_are_kept(void **state)
{
    (void)state;
    fl_trace *trace = read_script("p\na 1 9 t=-5 stack=12 colour=red x=\nf 1 stack=12\n");
    fl_event event = event_at(trace, 0, 1);
    assert_int_equal(event.time_us, -5);
    assert_int_equal(fl_trace_stack_depth(trace, event.stack), 1);
    assert_string_equal(fl_trace_stack_frame(trace, event.stack, 0).name, "12");
    assert_int_equal(event_at(trace, 0, 2).stack, event.stack);
    assert_int_equal(event_at(trace, 0, 0).stack, FL_NONE);
    assert_true(event_at(trace, 0, 0).time_us == FL_TIME_UNKNOWN);
    size_t count;
    const fl_note *notes = fl_trace_notes(trace, 0, &count);
    assert_int_equal(count, 2);
    assert_int_equal(notes[0].event, 1);
    assert_string_equal(fl_trace_names(trace)->texts[notes[0].text], "colour=red");
    assert_string_equal(fl_trace_names(trace)->texts[notes[1].text], "x=");
    fl_trace_free(trace);
}

static void comments_name_phases_steps_and_categories(void **state)
{
    (void)state;
    fl_trace *trace = read_script("# phase: init\n\n  \t\na 4 9\r\n# cat: 4 param\n# step: 1\n"
                                  "# end: init\n# cat: 99 x\n");
    assert_int_equal(fl_trace_event_count(trace, 0), 3);
    const fl_names *names = fl_trace_names(trace);
    assert_int_equal(event_at(trace, 0, 0).kind, FL_OP_MARK);
    assert_string_equal(names->texts[event_at(trace, 0, 0).text], "phase: init");
    assert_string_equal(names->texts[event_at(trace, 0, 2).text], "step: 1");
    assert_string_equal(names->texts[fl_trace_category(trace, 0, 0)], "param");
    assert_null(fl_trace_conf(trace));
    assert_true(fl_trace_capacity(trace) == UINT64_MAX);
    fl_trace_free(trace);
}

static void use_of_an_unknown_id_is_kept_without_an_id(void **state)
{
    (void)state;
    fl_trace *trace = read_script("r 3 64\na 3 0\nf 3\nr 3 64\n");
    assert_int_equal(event_at(trace, 0, 0).id, FL_NONE);
    assert_int_equal(event_at(trace, 0, 3).id, FL_NONE);
    fl_trace_free(trace);
}

static void each_mistake_is_named_with_its_line(void **state)
{
    (void)state;
    refuses("a 1 2\nf 2\n", "s:2: free of id 2 which is not live");
    refuses("a 1 2\nf 1\nf 1\n", "s:3: free of id 1 which is not live");
    refuses("a 1 2\n\n# x\na 1 2\n", "s:4: id 1 is live already");
    refuses("d 1\n", "s:1: id 1 has no free that could complete here");
    refuses("a 1 2\nf 1\nd 1\nd 1\n", "s:4: id 1 has no free that could complete here");
    refuses("a 1 2\nf 1\na 1 2\nd 1\n", "s:4: id 1 has no free that could complete here");
    refuses("zz 1\n", "s:1: unknown operation 'zz'");
    refuses("\x1b[31m\n", "s:1: unknown operation '?[31m'");
    refuses("a 1\n", "s:1: expected 'a ID BYTES [STREAM]': a size is missing");
    refuses("a 1 t=3\n", "s:1: expected 'a ID BYTES [STREAM]': a size is missing");
    refuses("a 1 2 3 4\n", "s:1: expected 'a ID BYTES [STREAM]', got '4' behind it");
    refuses("p 1\n", "s:1: expected 'p', got '1' behind it");
    refuses("a 1 2 t=3 4\n", "s:1: '4' behind a part key=value");
    refuses("a x 2\n", "s:1: expected an id (a number), got 'x'");
    refuses("a 1 -2\n", "s:1: expected a size, got '-2'");
    refuses("a 1 18446744073709551616\n", "s:1: expected a size, got '18446744073709551616'");
    refuses("a 18446744073709551616 1\n",
            "s:1: expected an id (a number), got '18446744073709551616'");
    refuses("a 1 16777217TiB\n", "s:1: expected a size, got '16777217TiB'");
    refuses("a 1 2 64.0\n", "s:1: expected a stream (a number), got '64.0'");
    refuses("F 1.5\n", "s:1: expected a fraction from 0 to 1, or bytes with their unit, got '1.5'");
    refuses("b .5\n", "s:1: expected a pool (N or K.N), got '.5'");
    refuses("b 5.\n", "s:1: expected a pool (N or K.N), got '5.'");
    refuses("b 0\n", "s:1: pool 0 is the default pool: 'b' does not apply to it");
    refuses("b 1 capture=2\n", "s:1: expected capture=0 or 1, got '2'");
    refuses("a 1 2 dev=256\n", "s:1: expected dev=a device number up to 255, got '256'");
    refuses("a 1 2 t=9223372036854775808\n",
            "s:1: expected t=a time in microseconds, got '9223372036854775808'");
    refuses("# cap=many\n", "s:1: expected a capacity of at least a byte, got 'many'");
    refuses("# cap=0\n", "s:1: expected a capacity of at least a byte, got '0'");
}

static void a_last_line_without_its_newline_is_refused(void **state)
{
    (void)state;
    refuses("a 1 2\na 2 345", "s:2: the last line is incomplete: it does not end with a newline");
    refuses("a 1 2\n# x", "s:2: the last line is incomplete: it does not end with a newline");
    refuses("f", "s:1: the last line is incomplete: it does not end with a newline");
    fl_trace_free(read_script("a 1 2\n  "));
}

static void a_last_line_without_its_newline_is_left_out_if_a_cut_is_accepted(void **state)
{
    (void)state;
    static const char text[] = "a 1 2\na 2 345";
    fl_read_options options = {.accept_cut = true};
    fl_trace *trace = NULL;
    assert_int_equal(fl_read_memory(text, strlen(text), "s", &options, &trace, NULL), FL_OK);
    assert_int_equal(fl_trace_event_count(trace, 0), 1);
    assert_int_equal(fl_trace_warning_count(trace), 1);
    assert_string_equal(fl_trace_warning(trace, 0),
                        "s:2: the last line is incomplete and left out");
    fl_trace_free(trace);
}

static void a_line_of_a_megabyte_is_refused(void **state)
{
    (void)state;
    static char text[1024 * 1024];
    memset(text, 'x', sizeof text);
    text[0] = 'm';
    text[1] = ' ';
    text[sizeof text - 2] = '\n';
    text[sizeof text - 1] = '\0';
    refuses(text, "s:1: a line of more than 65536 bytes");
}

static fl_status read_with(const fl_host *host, void *user, fl_error *error)
{
    const char *text = user;
    fl_read_options options = {.host = host};
    fl_trace *trace = NULL;
    fl_status status = fl_read_memory(text, strlen(text), "s", &options, &trace, error);
    fl_trace_free(trace);
    return status;
}

static void no_failing_request_for_memory_leaks(void **state)
{
    (void)state;
    char text[] = "# cap=1G conf=x\na 7 9 64 t=1 stack=2 k=v\nf 7\nd 7\nb 3\n# phase: x\n"
                  "a 1 9 dev=1\n# cat: 1 y\n";
    assert_true(failing_host_sweep(read_with, text) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_is_read),
        cmocka_unit_test(names_are_kept_as_written),
        cmocka_unit_test(an_id_may_be_used_again_after_its_free),
        cmocka_unit_test(only_frees_that_are_completed_later_are_held),
        cmocka_unit_test(devices_have_events_and_ids_of_their_own),
        cmocka_unit_test(parts_at_the_end_are_kept),
        cmocka_unit_test(comments_name_phases_steps_and_categories),
        cmocka_unit_test(use_of_an_unknown_id_is_kept_without_an_id),
        cmocka_unit_test(each_mistake_is_named_with_its_line),
        cmocka_unit_test(a_last_line_without_its_newline_is_refused),
        cmocka_unit_test(a_last_line_without_its_newline_is_left_out_if_a_cut_is_accepted),
        cmocka_unit_test(a_line_of_a_megabyte_is_refused),
        cmocka_unit_test(no_failing_request_for_memory_leaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
