#include "trace/build.h"

#include "failing_host.h"
#include "test.h"

#include <string.h>

static const fl_event blank = {
    .id = FL_NONE,
    .stream = FL_NONE,
    .pool = FL_NONE,
    .text = FL_NONE,
    .stack = FL_NONE,
    .time_us = FL_TIME_UNKNOWN,
};

static fl_trace *new_trace(void)
{
    fl_trace *trace = fl_trace_new(fl_host_default(), "p", NULL);
    assert_non_null(trace);
    return trace;
}

static void columns_that_no_event_needs_are_absent(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    fl_event event = blank;
    event.kind = FL_OP_TRIM;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(fl_trace_append(trace, 0, &event, NULL), FL_OK);
    assert_int_equal(fl_trace_finish(trace, NULL), FL_OK);
    const fl_columns *columns = fl_trace_columns(trace, 0);
    assert_int_equal(columns->capacity[FL_COLUMN_KIND], 1000);
    assert_null(columns->pool);
    assert_null(columns->stack);
    assert_null(columns->address);
    assert_null(columns->time_us);
    fl_trace_free(trace);
}

static void a_column_that_comes_late_is_blank_before(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    fl_event event = blank, late = blank;
    late.pool = 3;
    late.stack = 4;
    late.address = 5;
    late.time_us = 6;
    fl_trace_append(trace, 0, &event, NULL);
    fl_trace_append(trace, 0, &late, NULL);
    for (int i = 0; i < 1000; i++)
        fl_trace_append(trace, 0, &event, NULL);
    fl_event got;
    for (uint64_t i = 0; i < 1002; i += 1000) {
        fl_trace_event(trace, 0, i, &got);
        assert_int_equal(got.pool, FL_NONE);
        assert_int_equal(got.stack, FL_NONE);
        assert_int_equal(got.address, 0);
        assert_true(got.time_us == FL_TIME_UNKNOWN);
    }
    fl_trace_event(trace, 0, 1, &got);
    assert_int_equal(got.pool, 3);
    assert_int_equal(got.stack, 4);
    assert_int_equal(got.address, 5);
    assert_int_equal(got.time_us, 6);
    fl_trace_free(trace);
}

static void an_event_costs_at_most_40_bytes(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    fl_trace *trace = fl_trace_new(&host.host, "p", NULL);
    uint64_t before = host.held_bytes;
    fl_event event = blank;
    event.pool = event.stack = 0;
    event.address = event.size = 1;
    event.time_us = 0;
    for (int i = 0; i < 10000; i++)
        fl_trace_append(trace, 0, &event, NULL);
    assert_int_equal(fl_trace_finish(trace, NULL), FL_OK);
    assert_true(host.held_bytes - before <= 40 * 10000);
    fl_trace_free(trace);
    assert_int_equal(host.held_bytes, 0);
}

static void equal_items_have_equal_numbers(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    uint32_t numbers[4];
    for (int i = 0; i < 4; i++)
        fl_trace_intern_stream(trace, (uint64_t)(i % 2) << 40, &numbers[i], NULL);
    assert_int_equal(numbers[0], numbers[2]);
    assert_int_equal(numbers[1], numbers[3]);
    assert_int_not_equal(numbers[0], numbers[1]);
    const uint32_t frames[] = {1, 2, 1, 2};
    fl_trace_intern_stack(trace, frames, 2, &numbers[0], NULL);
    fl_trace_intern_stack(trace, frames, 4, &numbers[1], NULL);
    fl_trace_intern_stack(trace, frames + 2, 2, &numbers[2], NULL);
    fl_trace_intern_stack(trace, frames, 0, &numbers[3], NULL);
    assert_int_equal(numbers[0], numbers[2]);
    assert_int_not_equal(numbers[0], numbers[1]);
    assert_int_equal(fl_trace_stack_depth(trace, numbers[3]), 0);
    fl_trace_intern_text(trace, "abcdefgh", 8, &numbers[0], NULL);
    fl_trace_intern_text(trace, "abcdefghi", 9, &numbers[1], NULL);
    fl_trace_intern_text(trace, "abcdefgh", 8, &numbers[2], NULL);
    assert_int_equal(numbers[0], numbers[2]);
    assert_int_not_equal(numbers[0], numbers[1]);
    fl_trace_free(trace);
}

static void pool_0_is_the_default_pool(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    uint32_t pool = 9;
    fl_trace_intern_pool(trace, (fl_pool_name){0, 0}, &pool, NULL);
    assert_int_equal(pool, 0);
    fl_trace_free(trace);
}

static void texts_stay_where_they_are(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    const char *path = fl_trace_path(trace);
    char text[100];
    memset(text, 'x', sizeof text);
    uint32_t number;
    for (int i = 0; i < 5000; i++) {
        memcpy(text, &i, sizeof i);
        assert_int_equal(fl_trace_intern_text(trace, text, sizeof text, &number, NULL), FL_OK);
    }
    assert_ptr_equal(path, fl_trace_path(trace));
    assert_string_equal(path, "p");
    fl_trace_free(trace);
}

static void more_streams_than_a_column_can_tell_apart_are_refused(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    uint32_t number;
    fl_error error = {0};
    for (uint64_t i = 0; i < FL_NONE16; i++)
        assert_int_equal(fl_trace_intern_stream(trace, i, &number, &error), FL_OK);
    assert_int_equal(fl_trace_intern_stream(trace, 1 << 20, &number, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "more than 65535 different streams");
    fl_trace_free(trace);
}

static void insertions_flag_the_event_they_precede(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    fl_event event = blank;
    fl_trace_append(trace, 0, &event, NULL);
    fl_trace_append(trace, 0, &event, NULL);
    fl_op op = {.kind = FL_OP_TRIM};
    assert_int_equal(fl_trace_insert(trace, 0, 1, &op, NULL), FL_OK);
    assert_int_equal(fl_trace_insert(trace, 0, 2, &op, NULL), FL_OK);
    fl_event got;
    fl_trace_event(trace, 0, 0, &got);
    assert_int_equal(got.flags, 0);
    fl_trace_event(trace, 0, 1, &got);
    assert_int_equal(got.flags, FL_EVENT_INSERTED);
    size_t count;
    assert_int_equal(fl_trace_insertions(trace, 0, &count)[0].event, 1);
    assert_int_equal(count, 2);
    fl_trace_free(trace);
}

static uint8_t flags_at(const fl_trace *trace, uint64_t index)
{
    fl_event event;
    fl_trace_event(trace, 0, index, &event);
    return event.flags;
}

static void insertions_taken_back_leave_no_flag(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    fl_event event = blank;
    for (int i = 0; i < 3; i++)
        fl_trace_append(trace, 0, &event, NULL);
    fl_op op = {.kind = FL_OP_TRIM};
    static const uint64_t before[] = {0, 1, 1, 2, 3};
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(fl_trace_insert(trace, 0, before[i], &op, NULL), FL_OK);
    fl_trace_drop_insertions(trace, 0, 2);
    size_t count;
    fl_trace_insertions(trace, 0, &count);
    assert_int_equal(count, 2);
    assert_int_equal(flags_at(trace, 1), FL_EVENT_INSERTED); /* one of its two is still there */
    assert_int_equal(flags_at(trace, 2), 0);
    fl_trace_drop_insertions(trace, 0, 0);
    assert_int_equal(flags_at(trace, 0) | flags_at(trace, 1), 0);
    fl_trace_free(trace);
}

static void flags_are_set_and_cleared_one_by_one(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    fl_event event = blank;
    fl_trace_append(trace, 0, &event, NULL);
    fl_trace_set_flags(trace, 0, 0, FL_EVENT_SILENT | FL_OP_HELD);
    fl_trace_clear_flags(trace, 0, 0, FL_EVENT_SILENT);
    assert_int_equal(flags_at(trace, 0), FL_OP_HELD);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_that_no_event_needs_are_absent),
        cmocka_unit_test(a_column_that_comes_late_is_blank_before),
        cmocka_unit_test(an_event_costs_at_most_40_bytes),
        cmocka_unit_test(equal_items_have_equal_numbers),
        cmocka_unit_test(pool_0_is_the_default_pool),
        cmocka_unit_test(texts_stay_where_they_are),
        cmocka_unit_test(more_streams_than_a_column_can_tell_apart_are_refused),
        cmocka_unit_test(insertions_flag_the_event_they_precede),
        cmocka_unit_test(insertions_taken_back_leave_no_flag),
        cmocka_unit_test(flags_are_set_and_cleared_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
