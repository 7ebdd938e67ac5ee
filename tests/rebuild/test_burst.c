#include "rebuild/burst.h"

#include "recording.h"
#include "test.h"

#include <string.h>

/* The only burst of a history, or the one from an event on. */
static fl_burst burst_of(const char *words, uint64_t from)
{
    fl_trace *trace = history_make(words);
    fl_burst burst;
    assert_true(fl_burst_find(fl_trace_columns(trace, 0), from, &burst));
    fl_trace_free(trace);
    return burst;
}

/* Readings as letters, in order: T an empty_cache, B before, D during, P with the pair. */
static void assert_readings(const char *words, const fl_burst_facts *facts, const char *expected)
{
    static const char letters[] = {[FL_READING_TRIM] = 'T',
                                   [FL_READING_BEFORE] = 'B',
                                   [FL_READING_DURING] = 'D',
                                   [FL_READING_PAIR] = 'P'};
    fl_burst burst = burst_of(words, 0);
    fl_reading readings[FL_READING_COUNT];
    char got[FL_READING_COUNT + 1] = {0};
    size_t count = fl_burst_readings(&burst, facts, readings);
    for (size_t i = 0; i < count; i++)
        got[i] = letters[readings[i]];
    assert_string_equal(got, expected);
}

static const fl_burst_facts plain = {.reserved_bytes = 100 << 20, .most_reserved_bytes = 100 << 20};

static void outcomes_between_two_requests_are_one_burst(void **state)
{
    (void)state;
    fl_burst burst = burst_of("a1 f1 f2 d2 d1 S- M- d3 S+20 M+ a4", 0);
    assert_int_equal(burst.begin, 4);
    assert_int_equal(burst.end, 10);
    assert_true(burst.is_request && !burst.is_refused && burst.has_pair);
    assert_int_equal(burst.completions, 2);
    assert_int_equal(burst.late_completions, 1);
    assert_int_equal(burst.first_release, 5);
    assert_int_equal(burst.last_release, 6);
    assert_int_equal(burst.first_taken, 8);
    assert_int_equal(burst.last_taken, 9);
    assert_int_equal(burst.released_segments, 1);
    assert_int_equal(burst.taken_bytes, 22 << 20);
}

static void a_completion_right_behind_its_free_is_no_outcome(void **state)
{
    (void)state;
    fl_trace *trace = history_make("a1 f1 d1 a2 f2 d2 s");
    fl_burst burst;
    assert_false(fl_burst_find(fl_trace_columns(trace, 0), 0, &burst));
    fl_trace_free(trace);
}

static void bursts_are_found_one_after_the_other(void **state)
{
    (void)state;
    fl_trace *trace = history_make("S+ a1 f1 S- s S+ a2 S-");
    const fl_columns *columns = fl_trace_columns(trace, 0);
    static const uint64_t expected[][2] = {{0, 1}, {3, 4}, {5, 6}, {7, 8}};
    uint64_t from = 0;
    fl_burst burst;
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_true(fl_burst_find(columns, from, &burst));
        assert_int_equal(burst.begin, expected[i][0]);
        assert_int_equal(burst.end, expected[i][1]);
        from = burst.end + 1;
    }
    assert_false(fl_burst_find(columns, from, &burst));
    fl_trace_free(trace);
}

static void a_refused_request_has_a_burst_of_its_own(void **state)
{
    (void)state;
    fl_burst burst = burst_of("a1 o2", 0);
    assert_int_equal(burst.begin, 1);
    assert_int_equal(burst.end, 1);
    assert_true(burst.is_refused);
    assert_false(fl_burst_is_open(&burst));
    burst = burst_of("a1 f1 d1 o2", 0);
    assert_true(fl_burst_is_open(&burst));
}

static void a_segment_taken_leaves_nothing_to_decide(void **state)
{
    (void)state;
    fl_burst burst = burst_of("S+ a1", 0);
    assert_false(fl_burst_is_open(&burst));
}

static void memory_given_back_without_a_request_is_an_empty_cache(void **state)
{
    (void)state;
    assert_readings("a1 S- f1", &plain, "T");
    assert_readings("a1 S- s", &plain, "T");
    assert_readings("a1 d9 S-", &plain, "T");
    assert_readings("a1 M- f1", NULL, "T");
}

static void completions_without_a_request_came_by_themselves(void **state)
{
    (void)state;
    assert_readings("a1 d9 s", &plain, "B");
}

static void a_request_served_from_the_cache_gave_nothing_back(void **state)
{
    (void)state;
    fl_burst_facts facts = plain;
    facts.idle_segments = 1;
    assert_readings("a1 S- a2", &facts, "TD");
    assert_readings("a1 S- a2", NULL, "TD");
}

static void a_request_that_the_cache_could_serve_gave_nothing_back(void **state)
{
    (void)state;
    fl_burst_facts facts = plain;
    facts.idle_segments = 1;
    facts.is_usable = true;
    assert_readings("a1 S- S+20 a2", &facts, "TD");
    assert_readings("a1 S- o2", &facts, "TD");
}

static void less_than_all_idle_segments_was_for_the_request(void **state)
{
    (void)state;
    fl_burst_facts facts = plain;
    facts.idle_segments = 2;
    facts.is_usable = true;
    assert_readings("a1 S- S+20 a2", &facts, "D");
}

static void an_empty_cache_waits_for_everything_pending(void **state)
{
    (void)state;
    fl_burst_facts facts = plain;
    facts.idle_segments = 1;
    facts.pending = 2;
    facts.is_usable = true;
    assert_readings("a1 d8 S- S+20 a2", &facts, "BD");
    facts.pending = 1;
    assert_readings("a1 d8 S- S+20 a2", &facts, "TDB");
}

static void without_stacks_the_room_on_the_device_decides(void **state)
{
    (void)state;
    fl_burst_facts facts = plain;
    facts.idle_segments = 1;
    facts.reserved_bytes = 90 << 20;
    assert_readings("a1 S- S+10 a2", &facts, "TD");
    assert_readings("a1 S- S+12 a2", &facts, "DT");
    assert_readings("a1 S- o2", &facts, "DT");
}

static void the_stack_of_a_release_says_whose_it_is(void **state)
{
    (void)state;
    fl_burst_facts facts = plain;
    facts.idle_segments = 1;
    assert_readings("a1/1 S-/2 S+20/3 a2/3", &facts, "TD");
    facts.reserved_bytes = 0; /* there was room */
    assert_readings("a1/1 S-/3 S+10/3 a2/3", &facts, "DT");
}

static void a_request_already_under_way_left_no_time_for_an_empty_cache(void **state)
{
    (void)state;
    assert_readings("a1 M+ M- M+ a2", &plain, "D");
}

static void completions_ahead_of_the_device_may_have_come_by_themselves(void **state)
{
    (void)state;
    fl_burst_facts facts = plain;
    facts.pending = 1;
    assert_readings("a1 d8 a2", &facts, "BD");
    assert_readings("a1 d8 S+20 a2", &facts, "BD");
    assert_readings("a1 d8 o2", &facts, "BD");
}

static void a_release_of_everything_waits_unless_a_split_limit_allows_less(void **state)
{
    (void)state;
    fl_burst_facts facts = plain;
    facts.pending = 1;
    facts.idle_segments = 7;
    assert_readings("a1 d8 S- S+20 a2", &facts, "DB");
    facts.has_split_limit = true;
    assert_readings("a1 d8 S- S+20 a2", &facts, "BD");
}

static void completions_after_the_first_step_with_the_device_were_waited_for(void **state)
{
    (void)state;
    assert_readings("a1 S- d8 S- S+20 a2", &plain, "D");
}

static void a_pair_in_front_of_a_request_may_be_two_steps(void **state)
{
    (void)state;
    assert_readings("a1 f1 d1 o2", &plain, "DP");
    assert_readings("a1 f1 d1 S+20 a2", &plain, "DP");
    assert_readings("a1 f1 d1 S- f2", &plain, "T");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_between_two_requests_are_one_burst),
        cmocka_unit_test(a_completion_right_behind_its_free_is_no_outcome),
        cmocka_unit_test(bursts_are_found_one_after_the_other),
        cmocka_unit_test(a_refused_request_has_a_burst_of_its_own),
        cmocka_unit_test(a_segment_taken_leaves_nothing_to_decide),
        cmocka_unit_test(memory_given_back_without_a_request_is_an_empty_cache),
        cmocka_unit_test(completions_without_a_request_came_by_themselves),
        cmocka_unit_test(a_request_served_from_the_cache_gave_nothing_back),
        cmocka_unit_test(a_request_that_the_cache_could_serve_gave_nothing_back),
        cmocka_unit_test(less_than_all_idle_segments_was_for_the_request),
        cmocka_unit_test(an_empty_cache_waits_for_everything_pending),
        cmocka_unit_test(without_stacks_the_room_on_the_device_decides),
        cmocka_unit_test(the_stack_of_a_release_says_whose_it_is),
        cmocka_unit_test(a_request_already_under_way_left_no_time_for_an_empty_cache),
        cmocka_unit_test(completions_ahead_of_the_device_may_have_come_by_themselves),
        cmocka_unit_test(a_release_of_everything_waits_unless_a_split_limit_allows_less),
        cmocka_unit_test(completions_after_the_first_step_with_the_device_were_waited_for),
        cmocka_unit_test(a_pair_in_front_of_a_request_may_be_two_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
