#include "fake_policy.h"
#include "test.h"

#include "trace/build.h"

#include <fraglab/replay.h>

#define BASE   UINT64_C(0x7e0000000000)
#define MIB(n) ((uint64_t)(n) << 20)

/* Allocation 1 is live before the first event, 2 waits; the window asks for 0 and frees 1. */
static void put_start(fl_trace *trace)
{
    static const fl_block_view blocks[] = {
        {FL_BLOCK_LIVE, 1, BASE, 1024, 700, 0, 0},
        {FL_BLOCK_PENDING, 2, BASE + 1024, 512, 512, 0, 0},
        {FL_BLOCK_FREE, FL_NONE, BASE + 1536, (2 << 20) - 1536, 0, 0, 0},
    };
    fl_trace_start *start = &trace->devices.items[0].start;
    const fl_host *host = fl_host_default();
    assert_true(fl_vector_reserve(host, &start->segments, 1, NULL));
    assert_true(fl_vector_reserve(host, &start->ranges, 1, NULL));
    assert_true(fl_vector_reserve(host, &start->blocks, 3, NULL));
    start->segments.items[start->segments.count++] =
        (fl_segment_view){.is_small = true, .address = BASE, .size = MIB(2)};
    start->ranges.items[start->ranges.count++] = (fl_start_range){BASE, UINT64_MAX, 0};
    for (size_t i = 0; i < COUNT_OF(blocks); i++)
        start->blocks.items[start->blocks.count++] = blocks[i];
    start->is_known = start->is_placed = true;
}

static void add(fl_trace *trace, uint8_t kind, uint32_t id, uint64_t size)
{
    fl_event event = {.kind = kind,
                      .id = id,
                      .stream = 0,
                      .pool = FL_NONE,
                      .text = FL_NONE,
                      .stack = FL_NONE,
                      .size = size,
                      .time_us = FL_TIME_UNKNOWN};
    assert_int_equal(fl_trace_append(trace, 0, &event, NULL), FL_OK);
}

static fl_trace *window_new(void)
{
    fl_trace *trace = fl_trace_new(fl_host_default(), "w", NULL);
    uint32_t number;
    assert_int_equal(fl_trace_intern_stream(trace, 0, &number, NULL), FL_OK);
    for (uint64_t i = 0; i < 3; i++)
        assert_int_equal(fl_trace_new_id(trace, 0, i, &number, NULL), FL_OK);
    add(trace, FL_OP_ALLOC, 0, 512);
    add(trace, FL_OP_FREE, 1, 700);
    add(trace, FL_OP_FREE_DONE, 2, 512);
    put_start(trace);
    return trace;
}

struct told {
    unsigned views, changes, without_op;
};

static fl_status take_view(void *user, const fl_view *view, fl_error *error)
{
    (void)error;
    struct told *told = user;
    told->views++;
    told->changes += (unsigned)view->change_count;
    told->without_op += view->op->kind == FL_OP_NONE;
    return FL_OK;
}

static fl_replay_summary replayed(fl_trace *trace, fl_replay_options options, fl_status expected,
                                  const char *message)
{
    fl_replay_summary summary = {0};
    fl_replay *replay = NULL;
    fl_error error = {0};
    options.fraction = -1;
    options.capacity_bytes = options.capacity_bytes != 0 ? options.capacity_bytes : MIB(1024);
    fl_status status = fl_replay_open(trace, &options, &replay, &error);
    if (status == FL_OK)
        status = fl_replay_run(replay, &error);
    assert_int_equal(status, expected);
    assert_string_equal(error.text, message);
    if (replay != NULL)
        fl_replay_get_summary(replay, &summary);
    fl_replay_close(replay);
    return summary;
}

static void what_was_there_keeps_its_place(void **state)
{
    (void)state;
    struct told told = {0};
    fl_trace *trace = window_new();
    fl_replay_options options = {.watch = take_view, .user = &told};
    fl_replay_summary summary = replayed(trace, options, FL_OK, "");
    assert_int_equal(summary.start, FL_START_RECORDED);
    assert_int_equal(summary.driver_malloc, 0);
    assert_int_equal(summary.allocs, 1);
    assert_int_equal(summary.end.reserved_bytes, MIB(2));
    assert_int_equal(summary.end.allocated_bytes, 512);
    assert_int_equal(summary.peak.allocated_bytes, 1536);
    assert_int_equal(summary.peak.active_bytes, 2048);
    assert_int_equal(told.without_op, 1);
    assert_int_equal(told.views, 4);
    assert_int_equal(told.changes, 4 + 1 + 2 + 1);
    fl_trace_free(trace);
}

static void a_lean_replay_counts_the_same(void **state)
{
    (void)state;
    fl_trace *trace = window_new();
    fl_replay_summary summary = replayed(trace, (fl_replay_options){.is_lean = true}, FL_OK, "");
    assert_int_equal(summary.peak.allocated_bytes, 1536);
    assert_int_equal(summary.peak.active_bytes, 2048);
    assert_int_equal(summary.end.reserved_bytes, MIB(2));
    fl_trace_free(trace);
}

static void it_can_be_asked_for_anew(void **state)
{
    (void)state;
    fl_trace *trace = window_new();
    fl_replay_options options = {.policy = fake_policy(FL_CAN_STREAMS), .start = FL_START_FRESH};
    fl_replay_summary summary = replayed(trace, options, FL_OK, "");
    assert_string_equal(fake_log, "a1:700 a2:512 h2 a0:512 f1 d2");
    assert_int_equal(summary.start, FL_START_FRESH);
    assert_int_equal(summary.allocs, 1);
    assert_int_equal(summary.frees, 1);
    fl_trace_free(trace);
}

static void a_place_needs_a_policy_that_can_take_over(void **state)
{
    (void)state;
    fl_trace *trace = window_new();
    replayed(trace, (fl_replay_options){.policy = fake_policy(FL_CAN_STREAMS)}, FL_ERR_UNAVAILABLE,
             "policy 'fake' cannot take over what was there before the first event");
    replayed(trace, (fl_replay_options){.capacity_bytes = MIB(1)}, FL_ERR_UNAVAILABLE,
             "the device is smaller than what was there before the first event");
    fl_trace_free(trace);
}

static void a_range_behind_the_first_event_starts_from_nothing(void **state)
{
    (void)state;
    fl_trace *trace = window_new();
    fl_replay_options options = {.first_event = 1, .end_event = 3};
    fl_replay_summary summary = replayed(trace, options, FL_OK, "");
    assert_int_equal(summary.start, FL_START_NONE);
    assert_int_equal(summary.end.reserved_bytes, 0);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_there_keeps_its_place),
        cmocka_unit_test(a_lean_replay_counts_the_same),
        cmocka_unit_test(it_can_be_asked_for_anew),
        cmocka_unit_test(a_place_needs_a_policy_that_can_take_over),
        cmocka_unit_test(a_range_behind_the_first_event_starts_from_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
