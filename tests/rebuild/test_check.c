#include "rebuild/check.h"

#include "failing_host.h"
#include "test.h"
#include "told.h"

#include <string.h>

#define SEGMENT  "segment_alloc 1000000 2097152\n"
#define ONE_LIVE "small 0x1000000 2097152\nlive 512 500\nfree 2096640\n"
#define ONE_FREE "small 0x1000000 2097152\nfree 2097152\n"

static void assert_fault(fl_trace *trace, fl_decision decision, uint64_t event, const char *because)
{
    fl_verdict verdict;
    assert_int_equal(fl_verify(trace, 0, NULL, NULL, &verdict, NULL), FL_OK);
    fl_record_faults faults;
    fl_error error = {0};
    if (fl_check_record(trace, 0, fl_host_default(), &faults, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_true(faults.has_first);
    assert_int_equal(faults.first.event, event);
    static const char before[] = "the record contradicts itself: ";
    assert_memory_equal(faults.first.because, before, sizeof before - 1);
    assert_string_equal(faults.first.because + sizeof before - 1, because);
    assert_true(faults.counts[decision] >= 1);
    assert_true(faults.all[decision] >= 1);
    assert_true(verdict.has_difference);
    assert_true(verdict.decisions[decision].different >= 1);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++) {
        const fl_tally *tally = &verdict.decisions[i];
        assert_int_equal(tally->checked, tally->equal + tally->excused + tally->different);
    }
    fl_trace_free(trace);
}

static void blocks_at_one_place_are_told(void **state)
{
    (void)state;
    assert_fault(told_read_old(SEGMENT "alloc 1000000 500\nalloc 1000000 500\n"
                                       "free_requested 1000000 500\nfree_completed 1000000 500\n",
                               ONE_LIVE),
                 FL_DECISION_ADDRESS, 2, "the block at 0x1000000 of 500 bytes was still live");
}

static void frees_of_what_is_not_live_are_told(void **state)
{
    (void)state;
    assert_fault(told_read_old(SEGMENT "alloc 1000000 500\nfree_completed 1000000 500\n", ONE_FREE),
                 FL_DECISION_ADDRESS, 2, "nobody asked for that free");
    assert_fault(told_read_old(SEGMENT "alloc 1000000 500\nfree_requested 1000000 500\n"
                                       "free_requested 1000000 500\nfree_completed 1000000 500\n",
                               ONE_FREE),
                 FL_DECISION_ADDRESS, 3, "it was freed before");
    assert_fault(told_read_old(SEGMENT "alloc 1000000 500\nfree_requested 1000000 499\n"
                                       "free_completed 1000000 500\n",
                               ONE_FREE),
                 FL_DECISION_ADDRESS, 2, "500 bytes were asked for");
    assert_fault(told_read_old(SEGMENT "free_requested 1000200 500\nalloc 1000000 500\n", ONE_LIVE),
                 FL_DECISION_ADDRESS, 1, "nothing that was allocated lay there");
}

static void places_that_cannot_be_are_told(void **state)
{
    (void)state;
    assert_fault(told_read_old("alloc 1000001 500\n" SEGMENT "free_requested 1000001 500\n"
                               "free_completed 1000001 500\n",
                               ONE_FREE),
                 FL_DECISION_ADDRESS, 0, "no block lies at such an address");
    assert_fault(told_read_old("alloc 1000000 500\n" SEGMENT, ONE_LIVE), FL_DECISION_ADDRESS, 0,
                 "no memory was there");
    assert_fault(told_read_old(SEGMENT "alloc 1000000 0\nfree_requested 1000000 0\n"
                                       "free_completed 1000000 0\n",
                               ONE_FREE),
                 FL_DECISION_ADDRESS, 1, "a request of 0 bytes never reaches the allocator");
}

static void memory_that_cannot_be_is_told(void **state)
{
    (void)state;
    assert_fault(told_read_old(SEGMENT "segment_alloc 1100000 2097152\n"
                                       "segment_free 1100000 2097152\nalloc 1000000 500\n",
                               ONE_LIVE),
                 FL_DECISION_SEGMENT, 1, "other memory was there already");
    assert_fault(told_read_old("segment_free 2000000 2097152\nsegment_alloc 2000000 2097152\n"
                               "segment_alloc 1000000 2097152\nalloc 1000000 500\n",
                               ONE_LIVE "small 0x3000000 0\n"),
                 FL_DECISION_SEGMENT, 0, "given back, but not there");
    assert_fault(told_read_old(SEGMENT "alloc 1000000 500\nsegment_free 1000000 2097152\n"
                                       "free_requested 1000000 500\nfree_completed 1000000 500\n",
                               ""),
                 FL_DECISION_SEGMENT, 2, "given back with the block at 0x1000000 in it");
}

static void a_final_state_that_cannot_be_is_told(void **state)
{
    (void)state;
    assert_fault(told_read_old("", "small 0x1000000 2097152\nlive 512 500\n"),
                 FL_DECISION_FINAL_STATE, 0,
                 "the segment at 0x1000000: blocks of 512 bytes in a segment of 2097152 bytes");
}

static void a_final_state_that_the_events_contradict_is_told(void **state)
{
    (void)state;
    assert_fault(told_read_old("alloc 1000400 500\n", ONE_LIVE), FL_DECISION_ADDRESS, 0,
                 "no later event frees it, and it is not in the final state");
    assert_fault(told_read_old("alloc 1000000 300\n", ONE_LIVE), FL_DECISION_ADDRESS, 0,
                 "later it has another size, or was freed before");
    assert_fault(
        told_read_old("free_requested 1000000 500\nfree_completed 1000000 500\n", ONE_LIVE),
        FL_DECISION_ADDRESS, 1, "another block is live there until later");
    assert_fault(
        told_read_old("free_requested 9000000 500\nfree_completed 9000000 500\n", ONE_LIVE),
        FL_DECISION_FINAL_STATE, 0, "no memory was there");
}

static void a_cut_window_contradicts_nothing(void **state)
{
    (void)state;
    fl_trace *trace =
        told_read_old("free_requested 1000200 500\nfree_completed 1000200 500\n", ONE_LIVE);
    fl_record_faults faults;
    assert_int_equal(fl_check_record(trace, 0, fl_host_default(), &faults, NULL), FL_OK);
    assert_false(faults.has_first);
    fl_trace_free(trace);
}

static fl_status check_on(const fl_host *host, void *user, fl_error *error)
{
    fl_record_faults faults;
    return fl_check_record(user, 0, host, &faults, error);
}

static void a_failing_host_fails_the_check(void **state)
{
    (void)state;
    fl_trace *trace = told_read_old(SEGMENT "alloc 1000000 500\n", ONE_LIVE);
    failing_host_sweep(check_on, trace);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_at_one_place_are_told),
        cmocka_unit_test(frees_of_what_is_not_live_are_told),
        cmocka_unit_test(places_that_cannot_be_are_told),
        cmocka_unit_test(memory_that_cannot_be_is_told),
        cmocka_unit_test(a_final_state_that_cannot_be_is_told),
        cmocka_unit_test(a_final_state_that_the_events_contradict_is_told),
        cmocka_unit_test(a_cut_window_contradicts_nothing),
        cmocka_unit_test(a_failing_host_fails_the_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
