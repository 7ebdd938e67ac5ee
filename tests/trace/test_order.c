#include "test.h"
#include "told.h"

#include <fraglab/heap.h>
#include <fraglab/read.h>

#include <stdio.h>
#include <string.h>

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

/* The first of these in JSON, where requests are called and noted what only our own files do. */
static fl_trace *read_named(const char *fraglab)
{
    char json[2048];
    fl_trace *trace = NULL;
    fl_error error = {0};
    snprintf(
        json, sizeof json,
        "{\"segments\": [{\"device\": 0, \"address\": 4096, \"total_size\": 8192, \"stream\": 0, "
        "\"segment_type\": \"small\", \"blocks\": ["
        "{\"size\": 512, \"requested_size\": 500, \"state\": \"active_allocated\"}, "
        "{\"size\": 512, \"requested_size\": 400, \"state\": \"active_allocated\"}, "
        "{\"size\": 7168, \"requested_size\": 0, \"state\": \"inactive\"}]}], "
        "\"device_traces\": [["
        "{\"action\": \"alloc\", \"addr\": 4096, \"size\": 500, \"stream\": 0, \"time_us\": 1, "
        "\"id\": 7, \"category\": \"x\"}, "
        "{\"action\": \"alloc\", \"addr\": 4608, \"size\": 400, \"stream\": 0, \"time_us\": 5, "
        "\"id\": 9, \"parts\": \"odd=1\"}, "
        "{\"action\": \"free_requested\", \"addr\": 4608, \"size\": 444, \"stream\": 0, "
        "\"time_us\": 3}, "
        "{\"action\": \"free_completed\", \"addr\": 4608, \"size\": 444, \"stream\": 0, "
        "\"time_us\": 4}]], \"fraglab\": {%s}}",
        fraglab);
    if (fl_read_memory(json, strlen(json), "j", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static void names_and_notes_do_not_outlive_another_order(void **state)
{
    (void)state;
    fl_trace *trace = read_named("");
    uint64_t left_out;
    size_t notes;
    fl_trace_notes(trace, 0, &notes);
    assert_int_equal(fl_trace_order(trace, 0, &left_out), FL_ORDER_RESTORED);
    assert_int_equal(notes, 0);
    for (uint32_t id = 0; id < fl_trace_alloc_count(trace, 0); id++) {
        assert_int_equal(fl_trace_original_id(trace, 0, id), id);
        assert_int_equal(fl_trace_category(trace, 0, id), FL_NONE);
    }
    fl_trace_free(trace);
}

static void a_history_with_all_operations_stays_in_its_order(void **state)
{
    (void)state;
    fl_trace *trace = read_named("\"has_operations\": true");
    uint64_t left_out;
    assert_int_equal(fl_trace_order(trace, 0, &left_out), FL_ORDER_AS_RECORDED);
    assert_int_equal(fl_trace_original_id(trace, 0, 0), 7);
    assert_int_equal(fl_trace_original_id(trace, 0, 1), 9);
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

static void times_that_go_back_do_not_matter_where_only_the_file_fits(void **state)
{
    (void)state;
    fl_trace *trace = told_read("alloc 1000000 500 5\nfree_requested 1000a00 400 7\n"
                                "free_completed 1000a00 400 6\n",
                                STATE);
    uint64_t left_out;
    assert_int_equal(fl_trace_order(trace, 0, &left_out), FL_ORDER_AS_RECORDED);
    assert_address(trace, 0, 0x1000000, 0);
    fl_trace_free(trace);
}

/* The pieces of a ring made larger may not touch the same blocks. */
static void times_decide_where_either_order_fits(void **state)
{
    (void)state;
    fl_trace *trace = told_read("free_requested 1000a00 700 2\nfree_completed 1000a00 700 3\n"
                                "alloc 1000200 400 5\nalloc 1000000 500 4\n",
                                STATE);
    uint64_t left_out;
    assert_int_equal(fl_trace_order(trace, 0, &left_out), FL_ORDER_RESTORED);
    assert_int_equal(left_out, 0);
    assert_address(trace, 2, 0x1000000, 0);
    assert_address(trace, 3, 0x1000200, 1);
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
        cmocka_unit_test(names_and_notes_do_not_outlive_another_order),
        cmocka_unit_test(a_history_with_all_operations_stays_in_its_order),
        cmocka_unit_test(an_order_that_no_time_restores_is_called_wrong),
        cmocka_unit_test(times_that_go_back_do_not_matter_where_only_the_file_fits),
        cmocka_unit_test(times_decide_where_either_order_fits),
        cmocka_unit_test(a_contradiction_is_no_matter_of_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
