#include "trace/build.h"

#include "test.h"
#include "told.h"

#define SEGMENT     "segment_alloc 1000000 2097152\n"
#define ONE_FREE    "small 0x1000000 2097152\nfree 2097152\n"
#define ONE_LIVE    "small 0x1000000 2097152\nlive 512 500\nfree 2096640\n"
#define ONE_PENDING "small 0x1000000 2097152\npending 512 500\nfree 2096640\n"

static bool left_out(fl_trace *trace, uint8_t kind)
{
    if (!fl_trace_is_complete(trace, 0))
        assert_int_equal(fl_trace_find_start(trace, 0, NULL), FL_OK);
    bool is_left_out = fl_trace_leaves_out(trace, 0, kind);
    fl_trace_free(trace);
    return is_left_out;
}

static void a_completion_that_nobody_asked_for_shows_that_requests_are_missing(void **state)
{
    (void)state;
    fl_trace *trace =
        told_read(SEGMENT "alloc 1000000 500\nfree_completed 1000000 500\n", ONE_FREE);
    assert_true(fl_trace_leaves_out(trace, 0, FL_OP_FREE));
    assert_false(fl_trace_leaves_out(trace, 0, FL_OP_FREE_DONE));
    assert_true(fl_trace_is_complete(trace, 0));
    fl_event event;
    fl_trace_event(trace, 0, 2, &event);
    assert_int_equal(event.kind, FL_OP_FREE);
    fl_trace_free(trace);
}

static void one_asked_free_shows_that_they_are_recorded(void **state)
{
    (void)state;
    assert_false(left_out(told_read(SEGMENT "alloc 1000000 500\nfree_completed 1000000 500\n"
                                            "alloc 1000000 500\nfree_requested 1000000 500\n"
                                            "free_completed 1000000 500\n",
                                    ONE_FREE),
                          FL_OP_FREE));
}

static void a_free_from_before_the_window_shows_nothing(void **state)
{
    (void)state;
    assert_false(left_out(told_read("free_completed 1000000 500\n", ONE_FREE), FL_OP_FREE));
    assert_false(left_out(told_read("free_requested 1000000 500\n", ONE_PENDING), FL_OP_FREE_DONE));
}

static void a_freed_block_that_does_not_wait_shows_that_completions_are_missing(void **state)
{
    (void)state;
    const char *events = SEGMENT "alloc 1000000 500\nfree_requested 1000000 500\n";
    assert_true(left_out(told_read(events, ONE_FREE), FL_OP_FREE_DONE));
    assert_false(left_out(told_read(events, ONE_PENDING), FL_OP_FREE_DONE));
}

static void a_block_freed_twice_shows_that_allocations_are_missing(void **state)
{
    (void)state;
    assert_true(left_out(told_read("free_requested 1000000 500\nfree_completed 1000000 500\n"
                                   "free_requested 1000000 500\nfree_completed 1000000 500\n",
                                   ONE_FREE),
                         FL_OP_ALLOC));
}

static void memory_that_comes_twice_shows_that_its_returns_are_missing(void **state)
{
    (void)state;
    const char *events = SEGMENT SEGMENT "alloc 1000000 500\n";
    assert_true(left_out(told_read(events, ONE_LIVE), FL_EVENT_SEGMENT_FREE));
    assert_true(
        left_out(told_read("segment_free 1000000 2097152\nsegment_free 1000000 2097152\n", ""),
                 FL_EVENT_SEGMENT_ALLOC));
}

static void a_block_that_vanishes_shows_that_frees_are_missing(void **state)
{
    (void)state;
    fl_trace *trace = told_read(SEGMENT "alloc 1000000 500\nalloc 1000000 500\n", ONE_LIVE);
    assert_int_equal(fl_trace_find_start(trace, 0, NULL), FL_OK);
    assert_true(fl_trace_leaves_out(trace, 0, FL_OP_FREE));
    assert_true(fl_trace_leaves_out(trace, 0, FL_OP_FREE_DONE));
    fl_trace_free(trace);
}

static void older_releases_leave_nothing_out(void **state)
{
    (void)state;
    assert_false(
        left_out(told_read_old(SEGMENT "alloc 1000000 500\nfree_completed 1000000 500\n", ONE_FREE),
                 FL_OP_FREE));
    assert_false(left_out(told_read_old(SEGMENT SEGMENT "alloc 1000000 500\n", ONE_LIVE),
                          FL_EVENT_SEGMENT_FREE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_completion_that_nobody_asked_for_shows_that_requests_are_missing),
        cmocka_unit_test(one_asked_free_shows_that_they_are_recorded),
        cmocka_unit_test(a_free_from_before_the_window_shows_nothing),
        cmocka_unit_test(a_freed_block_that_does_not_wait_shows_that_completions_are_missing),
        cmocka_unit_test(a_block_freed_twice_shows_that_allocations_are_missing),
        cmocka_unit_test(memory_that_comes_twice_shows_that_its_returns_are_missing),
        cmocka_unit_test(a_block_that_vanishes_shows_that_frees_are_missing),
        cmocka_unit_test(older_releases_leave_nothing_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
