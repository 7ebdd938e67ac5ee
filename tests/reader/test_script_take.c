#include "reader/script_take.h"

#include "test.h"
#include "trace/told.h"

#include <string.h>

static fl_script_line line_of(const char *text)
{
    fl_script_line line;
    char why[100];
    fl_piece piece = {text, strlen(text)};
    if (!fl_script_parse(piece, &line, why, sizeof why))
        fail_msg("%s", why);
    return line;
}

static fl_trace *empty(void)
{
    fl_trace *trace = fl_trace_new(fl_host_default(), "t", NULL);
    assert_non_null(trace);
    return trace;
}

static void names_get_numbers(void **state)
{
    (void)state;
    fl_trace *trace = empty();
    fl_script_line scope = line_of("b 2.5 stream=64"), mark = line_of("m half way t=5");
    fl_event event = scope.event;
    assert_int_equal(fl_script_take_names(trace, &scope, &event, NULL), FL_OK);
    assert_int_equal(fl_trace_names(trace)->streams[event.stream], 64);
    assert_int_equal(fl_trace_names(trace)->pools[event.pool].first, 2);
    assert_int_equal(fl_trace_names(trace)->pools[event.pool].second, 5);
    event = mark.event;
    assert_int_equal(fl_script_take_names(trace, &mark, &event, NULL), FL_OK);
    assert_string_equal(fl_trace_names(trace)->texts[event.text], "half way");
    assert_int_equal(event.stream, FL_NONE);
    fl_trace_free(trace);
}

static void only_unknown_parts_are_kept(void **state)
{
    (void)state;
    fl_trace *trace = empty();
    fl_script_line line = line_of("a 1 512 0 odd=1 t=5 at=0x200 held=1");
    assert_int_equal(fl_script_take_parts(trace, &line, 0, NULL), FL_OK);
    size_t count;
    const fl_note *notes = fl_trace_notes(trace, 0, &count);
    assert_int_equal(count, 2);
    assert_string_equal(fl_trace_names(trace)->texts[notes[0].text], "odd=1");
    assert_string_equal(fl_trace_names(trace)->texts[notes[1].text], "held=1");
    fl_trace_free(trace);
}

static void what_was_there_before_is_told(void **state)
{
    (void)state;
    fl_trace *trace = empty();
    uint32_t id = 9;
    fl_script_line run = line_of("S 0x200000 2097152 64 small=1 pool=3");
    fl_script_line live = line_of("B 7 0x200200 512 500"), late = line_of("B 8 0x200000 512 1");
    fl_script_line pending = line_of("B 8 0x200400 512 1 pending=1");
    fl_error error = {0};
    assert_int_equal(fl_script_take_block(trace, &live, &id, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "a block before its segment");
    fl_trace_free(trace);
    trace = empty();
    assert_int_equal(fl_script_take_run(trace, &run, NULL), FL_OK);
    assert_int_equal(fl_script_take_block(trace, &live, &id, NULL), FL_OK);
    assert_int_equal(id, 0);
    assert_int_equal(fl_trace_original_id(trace, 0, id), 7);
    assert_int_equal(fl_script_take_block(trace, &pending, &id, NULL), FL_OK);
    assert_int_equal(fl_script_take_block(trace, &late, &id, &(fl_error){0}), FL_ERR_INPUT);
    assert_int_equal(id, 1);
    const fl_trace_start *start = &trace->devices.items[0].start;
    assert_true(start->segments.items[0].is_small);
    assert_int_equal(fl_trace_names(trace)->streams[start->segments.items[0].stream], 64);
    assert_int_equal(fl_trace_names(trace)->pools[start->segments.items[0].pool].second, 3);
    assert_int_equal(start->in_use.count, 2);
    assert_int_equal(start->in_use.items[1].state, FL_BLOCK_PENDING);
    assert_int_equal(start->in_use.items[1].requested, 1);
    fl_trace_free(trace);
}

static void behind_an_operation_nothing_was_there_before(void **state)
{
    (void)state;
    fl_trace *trace = empty();
    uint32_t id = 9;
    fl_script_line run = line_of("S 0x200000 2097152 0"), block = line_of("B 7 0x200200 512 5");
    fl_event event = line_of("e").event;
    fl_error error = {0};
    assert_int_equal(fl_script_take_run(trace, &run, NULL), FL_OK);
    assert_int_equal(fl_trace_append(trace, 0, &event, NULL), FL_OK);
    assert_int_equal(fl_script_take_run(trace, &run, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "what was there before the first operation comes before it");
    assert_int_equal(fl_script_take_block(trace, &block, &id, &(fl_error){0}), FL_ERR_INPUT);
    assert_int_equal(id, 9);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_get_numbers),
        cmocka_unit_test(only_unknown_parts_are_kept),
        cmocka_unit_test(what_was_there_before_is_told),
        cmocka_unit_test(behind_an_operation_nothing_was_there_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
