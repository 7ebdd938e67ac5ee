#include "rebuild/frees.h"

#include "test.h"
#include "told.h"

#include <fraglab/verify.h>

#include <string.h>

#define SEGMENT "segment_alloc 1000000 2097152\n"

static void assert_equal_throughout(fl_trace *trace)
{
    fl_verdict verdict;
    fl_error error = {0};
    if (fl_verify(trace, 0, NULL, NULL, &verdict, &error) != FL_OK)
        fail_msg("%s", error.text);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        assert_int_equal(verdict.decisions[i].equal, verdict.decisions[i].checked);
    assert_int_equal(verdict.decisions[FL_DECISION_FINAL_STATE].checked, 3);
}

static bool is_held(const fl_trace *trace, uint64_t event)
{
    return (fl_trace_columns(trace, 0)->flags[event] & FL_OP_HELD) != 0;
}

static void a_free_without_its_completion_behind_it_waits(void **state)
{
    (void)state;
    fl_trace *trace = told_read(SEGMENT "alloc 1000000 500\nfree_requested 1000000 500\n"
                                        "alloc 1000200 512\nfree_completed 1000000 500\n"
                                        "free_requested 1000200 512\nfree_completed 1000200 512\n",
                                "small 0x1000000 2097152\nfree 2097152\n");
    fl_frees_mark(trace, 0);
    assert_true(is_held(trace, 2));
    assert_false(is_held(trace, 5));
    fl_trace_free(trace);
}

static void frees_without_requests_are_whole(void **state)
{
    (void)state;
    fl_trace *trace = told_read(SEGMENT "alloc 1000000 500\nfree_completed 1000000 500\n"
                                        "alloc 1000000 400\nalloc 1000200 512\n"
                                        "free_completed 1000200 512\n",
                                "small 0x1000000 2097152\nlive 512 400\nfree 2096640\n");
    assert_equal_throughout(trace);
    fl_trace_free(trace);
}

static void frees_without_completions_are_whole(void **state)
{
    (void)state;
    fl_trace *trace = told_read(SEGMENT "alloc 1000000 500\nfree_requested 1000000 500\n"
                                        "alloc 1000000 400\nalloc 1000200 512\n"
                                        "free_requested 1000200 512\n",
                                "small 0x1000000 2097152\nlive 512 400\nfree 2096640\n");
    assert_equal_throughout(trace);
    fl_trace_free(trace);
}

static void what_waits_at_the_end_shows_in_the_final_state(void **state)
{
    (void)state;
    fl_trace *trace = told_read(SEGMENT "alloc 1000000 500\nalloc 1000200 512\n"
                                        "free_completed 1000200 512\n",
                                "small 0x1000000 2097152\npending 512 500\nfree 2096640\n");
    assert_equal_throughout(trace);
    fl_trace_free(trace);
    trace = told_read(SEGMENT "alloc 1000000 500\nalloc 1000200 512\nfree_requested 1000000 500\n"
                              "free_requested 1000200 512\n",
                      "small 0x1000000 2097152\npending 512 500\nfree 2096640\n");
    assert_equal_throughout(trace);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_without_its_completion_behind_it_waits),
        cmocka_unit_test(frees_without_requests_are_whole),
        cmocka_unit_test(frees_without_completions_are_whole),
        cmocka_unit_test(what_waits_at_the_end_shows_in_the_final_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
