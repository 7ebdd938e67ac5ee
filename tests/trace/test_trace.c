#include "trace/build.h"

#include "test.h"

static fl_trace *new_trace(void)
{
    fl_trace *trace = fl_trace_new(fl_host_default(), "p", NULL);
    assert_non_null(trace);
    return trace;
}

static void a_new_trace_states_nothing(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    assert_int_equal(fl_trace_finish(trace, NULL), FL_OK);
    size_t count = 9;
    assert_int_equal(fl_trace_device_count(trace), 1);
    assert_int_equal(fl_trace_event_count(trace, 0), 0);
    assert_int_equal(fl_trace_alloc_count(trace, 0), 0);
    assert_null(fl_trace_conf(trace));
    assert_true(fl_trace_capacity(trace) == UINT64_MAX);
    assert_false(fl_trace_releases(trace).known);
    fl_trace_insertions(trace, 0, &count);
    assert_int_equal(count, 0);
    fl_trace_notes(trace, 0, &count);
    assert_int_equal(count, 0);
    assert_int_equal(fl_trace_stack_count(trace), 0);
    assert_int_equal(fl_trace_warning_count(trace), 0);
    assert_int_equal(fl_trace_category(trace, 0, 0), FL_NONE);
    fl_trace_free(trace);
    fl_trace_free(NULL);
}

static void what_is_told_is_not_inferred(void **state)
{
    (void)state;
    static const struct {
        fl_format format;
        bool has_ops, is_inferred, expected;
    } cases[] = {
        {FL_FORMAT_SCRIPT, false, false, false},  {FL_FORMAT_SCRIPT, false, true, true},
        {FL_FORMAT_SNAPSHOT, false, false, true}, {FL_FORMAT_SNAPSHOT, true, false, false},
        {FL_FORMAT_SNAPSHOT, true, true, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fl_trace *trace = new_trace();
        trace->format = cases[i].format;
        trace->has_ops = cases[i].has_ops;
        trace->is_inferred = cases[i].is_inferred;
        assert_int_equal(fl_trace_is_inferred(trace), cases[i].expected);
        fl_trace_free(trace);
    }
}

static void the_op_of_an_event_is_what_was_asked(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    fl_event event = {
        .kind = FL_OP_SCOPE_BEGIN,
        .flags = FL_OP_CAPTURE | FL_EVENT_INSERTED,
        .id = FL_NONE,
        .stream = FL_NONE,
        .pool = 3,
        .stack = FL_NONE,
        .time_us = FL_TIME_UNKNOWN,
    };
    fl_trace_append(trace, 0, &event, NULL);
    event = (fl_event){.kind = FL_OP_LIMIT, .id = FL_NONE, .pool = FL_NONE, .fraction = 0.5};
    fl_trace_append(trace, 0, &event, NULL);
    event = (fl_event){.kind = FL_OP_MARK, .id = FL_NONE, .text = 7, .pool = FL_NONE};
    fl_trace_append(trace, 0, &event, NULL);
    fl_op op;
    fl_columns_op(fl_trace_columns(trace, 0), 0, &op);
    assert_int_equal(op.kind, FL_OP_SCOPE_BEGIN);
    assert_int_equal(op.flags, FL_OP_CAPTURE);
    assert_int_equal(op.stream, FL_NONE);
    assert_int_equal(op.pool, 3);
    fl_columns_op(fl_trace_columns(trace, 0), 1, &op);
    assert_true(op.fraction == 0.5);
    fl_columns_op(fl_trace_columns(trace, 0), 2, &op);
    assert_int_equal(op.text, 7);
    assert_int_equal(op.id, FL_NONE);
    fl_trace_event(trace, 0, 0, &event);
    assert_int_equal(event.flags, FL_OP_CAPTURE | FL_EVENT_INSERTED);
    fl_trace_free(trace);
}

static void ids_have_names_of_their_own_or_are_them(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    uint32_t id;
    fl_trace_new_id(trace, 0, 0, &id, NULL);
    fl_trace_new_id(trace, 0, 1, &id, NULL);
    assert_int_equal(fl_trace_original_id(trace, 0, 1), 1);
    fl_trace_new_id(trace, 0, 70, &id, NULL);
    fl_trace_new_id(trace, 0, 3, &id, NULL);
    static const uint64_t names[] = {0, 1, 70, 3};
    for (uint32_t i = 0; i < COUNT_OF(names); i++)
        assert_int_equal(fl_trace_original_id(trace, 0, i), names[i]);
    assert_int_equal(fl_trace_alloc_count(trace, 0), COUNT_OF(names));
    fl_trace_set_category(trace, 0, 2, 5, NULL);
    assert_int_equal(fl_trace_category(trace, 0, 1), FL_NONE);
    assert_int_equal(fl_trace_category(trace, 0, 2), 5);
    assert_int_equal(fl_trace_category(trace, 0, 3), FL_NONE);
    fl_trace_free(trace);
}

static void stacks_are_read_frame_by_frame(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    uint32_t inner, outer, stack;
    fl_frame_row row = {.line = 4};
    fl_trace_intern_text(trace, "f.py", 4, &row.file, NULL);
    fl_trace_intern_text(trace, "inner", 5, &row.name, NULL);
    fl_trace_intern_frame(trace, row, &inner, NULL);
    fl_trace_intern_text(trace, "outer", 5, &row.name, NULL);
    fl_trace_intern_frame(trace, row, &outer, NULL);
    const uint32_t frames[] = {inner, outer, outer};
    fl_trace_intern_stack(trace, frames, 2, &stack, NULL);
    fl_trace_intern_stack(trace, frames, 3, &stack, NULL);
    assert_int_equal(fl_trace_stack_count(trace), 2);
    assert_int_equal(fl_trace_stack_depth(trace, stack), 3);
    assert_int_equal(fl_trace_stack_depth(trace, FL_NONE), 0);
    fl_frame frame = fl_trace_stack_frame(trace, stack, 1);
    assert_string_equal(frame.name, "outer");
    assert_string_equal(frame.file, "f.py");
    assert_int_equal(frame.line, 4);
    fl_trace_free(trace);
}

static void warnings_are_kept_in_order(void **state)
{
    (void)state;
    fl_trace *trace = new_trace();
    fl_trace_warn(trace, NULL, "%s %d", "first", 1);
    fl_trace_warn(trace, NULL, "second");
    assert_int_equal(fl_trace_warning_count(trace), 2);
    assert_string_equal(fl_trace_warning(trace, 0), "first 1");
    assert_string_equal(fl_trace_warning(trace, 1), "second");
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_trace_states_nothing),
        cmocka_unit_test(what_is_told_is_not_inferred),
        cmocka_unit_test(the_op_of_an_event_is_what_was_asked),
        cmocka_unit_test(ids_have_names_of_their_own_or_are_them),
        cmocka_unit_test(stacks_are_read_frame_by_frame),
        cmocka_unit_test(warnings_are_kept_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
