#include "assemble.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static void pickle_fails(const char *notation, const char *message)
{
    pickle_bytes pickle;
    assemble_begin(&pickle);
    assemble(&pickle, notation);
    read_fails(&pickle, FL_ERR_INPUT, message);
}

static void memo_entries_that_were_never_set_are_refused(void **state)
{
    (void)state;
    pickle_fails("{ ( h0", "p:4: memo entry 0 was never set");
    pickle_fails("{ ( 'a' q3 h2", "p:9: memo entry 2 was never set");
    pickle_fails("{ ( 'a' m g4000000000", "memo entry 4000000000 was never set");
}

static void a_memo_out_of_proportion_is_refused(void **state)
{
    (void)state;
    pickle_fails("{ ( 'a' p4000000000", "p:7: memo index 4000000000 is out of proportion");
    pickle_fails("{ ( 'a' q200", "p:7: memo index 200 is out of proportion");
}

static void memoize_takes_the_next_index(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(&pickle, "",
                      "{ ( 'action' m 'segment_alloc' q5 'addr' m #4096 'size' m #5 "
                      "'stream' m #0 u { ( h0 h5 h6 #8192 h7 #6 h8 #0 u ");
    fl_trace *trace = read_valid(&pickle);
    fl_event event;
    fl_trace_event(trace, 0, 1, &event);
    assert_int_equal(event.kind, FL_EVENT_SEGMENT_ALLOC);
    assert_int_equal(event.address, 8192);
    assert_int_equal(event.size, 6);
    fl_trace_free(trace);
}

static void an_entry_may_be_set_again(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(&pickle, "",
                      "{ ( 'action' q1 'addr' q1 #4096 'segment_alloc' 'size' #5 "
                      "'stream' #0 'time_us' q1 #7 u ");
    read_fails(&pickle, FL_ERR_INPUT, "a number for a key, expected a text");
    assemble_snapshot(&pickle, "",
                      "{ ( 'action' q1 'segment_alloc' 'addr' q1 #4096 'size' #5 "
                      "'stream' #0 u { ( 'action' 'segment_alloc' h1 #5 'size' #1 "
                      "'stream' #0 u ");
    fl_trace *trace = read_valid(&pickle);
    fl_event event;
    fl_trace_event(trace, 0, 1, &event);
    assert_int_equal(event.address, 5);
    fl_trace_free(trace);
}

static void numbers_and_constants_are_kept_where_they_fit(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(&pickle, "",
                      "{ ( 'action' 'segment_alloc' 'addr' #70000 q1 'size' h1 "
                      "'stream' h1 'a' T q2 'b' h2 'c' N q3 'frames' h3 'd' #-1 q4 "
                      "'e' h4 'f' #99999999999 q5 'g' h5 u ");
    fl_trace *trace = read_valid(&pickle);
    fl_event event;
    fl_trace_event(trace, 0, 0, &event);
    assert_int_equal(event.size, 70000);
    assert_int_equal(fl_trace_names(trace)->streams[event.stream], 70000);
    fl_trace_free(trace);
    assemble_snapshot(&pickle, "",
                      "{ ( 'action' 'segment_alloc' 'addr' #99999999999 q1 'size' h1 "
                      "'stream' #0 u ");
    read_fails(&pickle, FL_ERR_INPUT,
               "'size' is a value of another kind, expected a number from 0 to 2^64 - 1");
}

static void pairs_are_pools(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(&pickle, "",
                      ENTRY_SEGMENT "'pool_id' #0 #0 2 q9 s " ENTRY_SEGMENT
                                    "'pool_id' #7 #99999999999 2 s " ENTRY_SEGMENT
                                    "'pool_id' ( #7 #99999999999 t s " ENTRY_SEGMENT
                                    "'pool_id' h9 s ");
    fl_trace *trace = read_valid(&pickle);
    static const uint32_t pools[] = {0, 1, 1, 0};
    for (uint64_t i = 0; i < COUNT_OF(pools); i++) {
        fl_event event;
        fl_trace_event(trace, 0, i, &event);
        assert_int_equal(event.pool, pools[i]);
    }
    assert_int_equal(fl_trace_names(trace)->pools[1].first, 7);
    assert_true(fl_trace_names(trace)->pools[1].second == UINT64_C(99999999999));
    fl_trace_free(trace);
    assemble_snapshot(&pickle, "", ENTRY_SEGMENT "'pool_id' #0 #-1 2 s ");
    read_fails(&pickle, FL_ERR_INPUT,
               "'pool_id' is a value of another kind, expected a pair of numbers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memo_entries_that_were_never_set_are_refused),
        cmocka_unit_test(a_memo_out_of_proportion_is_refused),
        cmocka_unit_test(memoize_takes_the_next_index),
        cmocka_unit_test(an_entry_may_be_set_again),
        cmocka_unit_test(numbers_and_constants_are_kept_where_they_fit),
        cmocka_unit_test(pairs_are_pools),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
