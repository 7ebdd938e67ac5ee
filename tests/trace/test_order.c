#include "test.h"
#include "told.h"

#include <fraglab/heap.h>

/* Three blocks of one segment that was there before; the second came last. */
#define STATE "small 0x1000000 2097152\nlive 512 500\nlive 512 400\nlive 512 300\nfree 2095616\n"

static void assert_address(const fl_trace *trace, uint64_t index, uint64_t address, uint32_t id)
{
    fl_event event;
    fl_trace_event(trace, 0, index, &event);
    assert_int_equal(event.address, address);
    assert_int_equal(event.id, id);
}

/* A ring made larger: what came after lies between. */
static void pieces_are_put_in_order_by_their_times(void **state)
{
    (void)state;
    fl_trace *trace = told_read("alloc 1000000 500 1\nalloc 1000200 400 5\n"
                                "free_requested 1000200 444 3\nfree_completed 1000200 444 4\n",
                                STATE);
    uint64_t left_out;
    assert_int_equal(fl_trace_order(trace, 0, &left_out), FL_ORDER_RESTORED);
    assert_int_equal(left_out, 0);
    assert_int_equal(fl_trace_event_count(trace, 0), 4);
    assert_address(trace, 0, 0x1000000, 0);
    assert_address(trace, 1, 0x1000200, 2); /* from before: numbered behind those of the window */
    assert_address(trace, 2, 0x1000200, 2);
    assert_address(trace, 3, 0x1000200, 1);
    assert_int_equal(fl_trace_warning_count(trace), 1);
    fl_trace_free(trace);
}

/* A ring made smaller: behind its end lies a piece from before a gap. */
static void what_lies_before_a_gap_is_left_out(void **state)
{
    (void)state;
    fl_trace *trace = told_read("free_requested 1000200 444 8\nfree_completed 1000200 444 9\n"
                                "alloc 1000400 111 1\nfree_requested 1000400 111 2\n"
                                "alloc 1000200 400 10\n",
                                STATE);
    uint64_t left_out;
    assert_int_equal(fl_trace_order(trace, 0, &left_out), FL_ORDER_RESTORED);
    assert_int_equal(left_out, 2);
    assert_int_equal(fl_trace_event_count(trace, 0), 3);
    assert_address(trace, 2, 0x1000200, 0);
    fl_trace_free(trace);
}

static void an_order_that_no_time_restores_is_called_wrong(void **state)
{
    (void)state;
    fl_trace *trace =
        told_read_old("alloc 1000200 400 2\nalloc 1000600 100 1\nalloc 1000800 9 9\n", STATE);
    uint64_t left_out;
    assert_int_equal(fl_trace_order(trace, 0, &left_out), FL_ORDER_WRONG);
    assert_int_equal(left_out, 0);
    assert_int_equal(fl_trace_event_count(trace, 0), 3);
    assert_address(trace, 0, 0x1000200, 0);
    fl_trace_free(trace);
}

static void times_that_go_back_do_not_matter_where_all_fits(void **state)
{
    (void)state;
    fl_trace *trace = told_read("alloc 1000000 500 5\nalloc 1000200 400 4\n", STATE);
    uint64_t left_out;
    assert_int_equal(fl_trace_order(trace, 0, &left_out), FL_ORDER_AS_RECORDED);
    assert_address(trace, 0, 0x1000000, 0);
    fl_trace_free(trace);
}

static void a_contradiction_is_no_matter_of_order(void **state)
{
    (void)state;
    fl_trace *trace = told_read_old("alloc 1000000 500\nalloc 1000800 400\n", STATE);
    uint64_t left_out;
    assert_int_equal(fl_trace_order(trace, 0, &left_out), FL_ORDER_AS_RECORDED);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_put_in_order_by_their_times),
        cmocka_unit_test(what_lies_before_a_gap_is_left_out),
        cmocka_unit_test(an_order_that_no_time_restores_is_called_wrong),
        cmocka_unit_test(times_that_go_back_do_not_matter_where_all_fits),
        cmocka_unit_test(a_contradiction_is_no_matter_of_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
