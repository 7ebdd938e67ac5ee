#include "test.h"

#include <fraglab/read.h>
#include <fraglab/verify.h>

#include <stdio.h>
#include <string.h>

static fl_trace *read_script(const char *text)
{
    fl_trace *script = NULL;
    fl_error error = {0};
    if (fl_read_memory(text, strlen(text), "script", NULL, &script, &error) != FL_OK)
        fail_msg("%s", error.text);
    return script;
}

static fl_trace *record(const char *text)
{
    fl_trace *script = read_script(text), *history = NULL;
    fl_error error = {0};
    fl_replay_options options = {
        .profile = fl_profile_newest(),
        .conf = fl_trace_conf(script),
        .fraction = -1,
        .capacity_bytes = fl_trace_capacity(script),
    };
    if (fl_record_history(script, &options, &history, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_trace_free(script);
    return history;
}

static void assert_kinds(const fl_trace *history, const uint8_t *kinds, size_t count)
{
    assert_int_equal(fl_trace_event_count(history, 0), count);
    for (size_t i = 0; i < count; i++) {
        fl_event event;
        fl_trace_event(history, 0, i, &event);
        assert_int_equal(event.kind, kinds[i]);
    }
}

static void assert_repeated(fl_trace *history)
{
    fl_verdict verdict;
    fl_error error = {0};
    if (fl_verify(history, 0, NULL, NULL, &verdict, &error) != FL_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        assert_int_equal(verdict.decisions[i].equal, verdict.decisions[i].checked);
    assert_int_equal(verdict.inferred.trims, 0);
}

static void each_step_becomes_an_event_in_the_order_of_the_recorder(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {
        FL_EVENT_SEGMENT_ALLOC, FL_OP_ALLOC,           FL_OP_USE,  FL_OP_FREE,
        FL_OP_FREE_DONE,        FL_EVENT_SEGMENT_FREE, FL_OP_TRIM,
    };
    fl_trace *history = record("# cap=1GiB conf=\na 7 3MiB\nr 7 0\nf 7\ne\n");
    assert_int_equal(fl_trace_format(history), FL_FORMAT_SNAPSHOT);
    assert_kinds(history, kinds, COUNT_OF(kinds));
    assert_int_equal(fl_trace_original_id(history, 0, 0), 7);
    assert_int_equal(fl_trace_capacity(history), 1 << 30);
    assert_string_equal(fl_trace_release(history), fl_profile_release(fl_profile_newest()));
    assert_true(fl_trace_has_final_state(history, 0) && fl_trace_is_complete(history, 0));
    assert_repeated(history);
    fl_trace_free(history);
}

static void what_came_to_nothing_is_told_all_the_same(void **state)
{
    (void)state;
    fl_trace *history = record("# cap=64MiB conf=\na 1 100MiB\nf 1\na 2 0\nf 2\na 3 512 at=0x10\n");
    static const uint8_t kinds[] = {FL_OP_ALLOC, FL_OP_FREE, FL_OP_ALLOC, FL_OP_FREE, FL_OP_ALLOC};
    assert_kinds(history, kinds, COUNT_OF(kinds));
    fl_event event;
    fl_trace_event(history, 0, 0, &event);
    assert_true((event.flags & FL_EVENT_OOM) != 0 && event.size == 100 << 20);
    assert_int_equal(event.address, 64 << 20);
    fl_trace_event(history, 0, 1, &event);
    assert_true(event.id == 0 && event.address == 0);
    fl_trace_event(history, 0, 2, &event);
    assert_true((event.flags & FL_EVENT_OOM) == 0 && event.size == 0);
    fl_trace_event(history, 0, 4, &event);
    assert_true((event.flags & FL_EVENT_OOM) != 0 && event.address == 0x10);
    assert_repeated(history);
    fl_trace_free(history);
}

static void a_completion_asks_for_nothing_but_where_the_script_asks_for_it(void **state)
{
    (void)state;
    fl_trace *history = record("# cap=1GiB conf=\na 1 512\nf 1\na 2 512\nf 2\nd 1\n");
    static const uint8_t kinds[] = {
        FL_EVENT_SEGMENT_ALLOC, FL_OP_ALLOC,     FL_OP_FREE,      FL_OP_ALLOC, FL_OP_FREE,
        FL_OP_FREE_DONE,        FL_OP_FREE_DONE, FL_OP_FREE_DONE,
    };
    static const bool is_silent[] = {false, false, false, false, false, true, true, false};
    assert_kinds(history, kinds, COUNT_OF(kinds));
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        fl_event event;
        fl_trace_event(history, 0, i, &event);
        assert_int_equal((event.flags & FL_EVENT_SILENT) != 0, is_silent[i]);
        assert_int_equal((event.flags & FL_OP_HELD) != 0, i == 2);
    }
    assert_repeated(history);
    fl_trace_free(history);
}

static void every_device_is_run_with_times_and_stacks(void **state)
{
    (void)state;
    fl_trace *history = record("# cap=1GiB conf=\na 1 512 0 t=5 stack=3\na 1 512 0 dev=2\n"
                               "m here t=6\n");
    fl_event event;
    assert_int_equal(fl_trace_device_count(history), 3);
    assert_int_equal(fl_trace_event_count(history, 2), 2);
    fl_trace_event(history, 0, 1, &event);
    assert_int_equal(event.time_us, 5);
    assert_string_equal(fl_trace_stack_frame(history, event.stack, 0).name, "3");
    fl_trace_free(history);
}

/* The events of a history that bear a note of the script, in order, as `EVENT:NOTE `. */
static void assert_notes(const fl_trace *history, const char *expected)
{
    char text[200] = "";
    size_t count, used = 0;
    const fl_note *notes = fl_trace_notes(history, 0, &count);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d:%s ", (int)notes[i].event,
                                 fl_trace_names(history)->texts[notes[i].text]);
    assert_string_equal(text, expected);
}

static void parts_that_nobody_knows_stay_with_their_operation(void **state)
{
    (void)state;
    fl_trace *history = record("# cap=64MiB conf=\na 1 512 0 x=1 y=2\nr 9 64 lost=1\nf 1 x=3\n"
                               "e x=4\na 2 100MiB x=5\nf 2 x=6\n");
    assert_notes(history, "1:x=1 1:y=2 2:x=3 5:x=4 6:x=5 7:x=6 ");
    fl_trace_free(history);
}

static void a_completion_that_is_no_news_is_told_all_the_same(void **state)
{
    (void)state;
    fl_trace *history = record("# cap=1GiB conf=\na 1 3MiB\nf 1\ne\nd 1\n");
    static const uint8_t kinds[] = {
        FL_EVENT_SEGMENT_ALLOC, FL_OP_ALLOC, FL_OP_FREE,      FL_OP_FREE_DONE,
        FL_EVENT_SEGMENT_FREE,  FL_OP_TRIM,  FL_OP_FREE_DONE,
    };
    assert_kinds(history, kinds, COUNT_OF(kinds));
    assert_repeated(history);
    fl_trace_free(history);
}

static void memory_from_before_the_script_is_told_and_stays_in_place(void **state)
{
    (void)state;
    fl_trace *history = record("S 0x200000 2097152 0 small=1\nB 7 0x200000 512 500\n"
                               "# cat: 7 weights\nB 8 0x200400 512 512 pending=1\n"
                               "f 7\nd 8\na 9 700\n");
    static const uint8_t kinds[] = {FL_OP_FREE, FL_OP_FREE_DONE, FL_OP_FREE_DONE, FL_OP_FREE_DONE,
                                    FL_OP_ALLOC};
    assert_kinds(history, kinds, COUNT_OF(kinds));
    fl_event event;
    fl_trace_event(history, 0, 0, &event);
    assert_int_equal(event.address, 0x200000);
    assert_int_equal(fl_trace_original_id(history, 0, event.id), 7);
    assert_string_equal(fl_trace_names(history)->texts[fl_trace_category(history, 0, event.id)],
                        "weights");
    fl_trace_event(history, 0, 4, &event);
    assert_int_equal(event.address, 0x200000);
    assert_false(fl_trace_is_complete(history, 0));
    assert_repeated(history);
    fl_trace_free(history);
}

static void memory_that_nothing_tells_of_is_left_out(void **state)
{
    (void)state;
    static const char log[] = "Thread,Time,Action,Pointer,Size,Stream\n"
                              "1,00:00:00.000001,free,0x200,512,0\n"
                              "1,00:00:00.000002,allocate,0x200,512,0\n";
    fl_trace *trace = NULL, *history = NULL;
    fl_error error = {0};
    fl_replay_options options = {.fraction = -1, .capacity_bytes = FL_UNLIMITED};
    assert_int_equal(fl_read_memory(log, sizeof log - 1, "l", NULL, &trace, &error), FL_OK);
    assert_int_equal(fl_record_history(trace, &options, &history, &error), FL_OK);
    assert_false(fl_trace_is_complete(trace, 0));
    assert_true(fl_trace_is_complete(history, 0));
    assert_repeated(history);
    fl_trace_free(history);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_becomes_an_event_in_the_order_of_the_recorder),
        cmocka_unit_test(what_came_to_nothing_is_told_all_the_same),
        cmocka_unit_test(a_completion_asks_for_nothing_but_where_the_script_asks_for_it),
        cmocka_unit_test(every_device_is_run_with_times_and_stacks),
        cmocka_unit_test(parts_that_nobody_knows_stay_with_their_operation),
        cmocka_unit_test(a_completion_that_is_no_news_is_told_all_the_same),
        cmocka_unit_test(memory_from_before_the_script_is_told_and_stays_in_place),
        cmocka_unit_test(memory_that_nothing_tells_of_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
