#include "random_script.h"
#include "test.h"
#include "tuning.h"

#include <stdio.h>

static char text[32768];

static fl_tune_outcome outcome_of(const fl_tune_state *state, uint64_t mebibytes)
{
    fl_tune_candidate candidate = {.fraction = -1};
    fl_tune_outcome outcome;
    snprintf(candidate.conf, sizeof candidate.conf, "max_split_size_mb:%llu",
             (unsigned long long)mebibytes);
    assert_int_equal(fl_tune_try(state, &candidate, state->card_bytes, &outcome, NULL, NULL),
                     FL_OK);
    return outcome;
}

static bool is_same(const fl_tune_outcome *a, const fl_tune_outcome *b)
{
    return a->fits == b->fits && a->peak_reserved_bytes == b->peak_reserved_bytes &&
           a->driver_malloc == b->driver_malloc && a->driver_free == b->driver_free &&
           a->alloc_retries == b->alloc_retries;
}

static void every_limit_is_as_a_replay_with_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        random_script(seed, 300, 2, text, sizeof text);
        fl_trace *trace = tuning_read(text);
        const fl_trace *const traces[] = {trace};
        fl_tune_options options = tuning_options(NULL, seed % 2 == 0 ? 1600 : 4000);
        options.jobs = 1 + (unsigned)seed % 3;
        fl_tune_state list = tuning_open(traces, 1, &options);
        assert_int_equal(fl_tune_sweep_split(&list, NULL), FL_OK);
        assert_int_equal(list.intervals.items[0].first_mebibytes, 21);
        const fl_tune_interval *interval = list.intervals.items;
        for (uint64_t limit = 21; limit < 140; limit++) {
            if (limit > interval->last_mebibytes)
                interval++;
            fl_tune_outcome outcome = outcome_of(&list, limit);
            assert_true(is_same(&outcome, &interval->outcome));
        }
        for (size_t i = 1; i < list.intervals.count; i++)
            assert_false(
                is_same(&list.intervals.items[i].outcome, &list.intervals.items[i - 1].outcome));
        assert_int_equal(list.intervals.items[list.intervals.count - 1].last_mebibytes,
                         FL_UNLIMITED);
        tuning_close(&list);
        fl_trace_free(trace);
    }
}

static void a_stretch_that_fits_becomes_a_candidate_with_a_round_number(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read("a 1 100MiB\nf 1\na 2 40MiB\na 3 45MiB\nf 2\na 4 100MiB\n");
    const fl_trace *const traces[] = {trace};
    fl_tune_options options = tuning_options(NULL, 190);
    fl_tune_state list = tuning_open(traces, 1, &options);
    assert_int_equal(fl_tune_sweep_split(&list, NULL), FL_OK);
    assert_int_equal(list.candidates.count, 1);
    assert_string_equal(list.candidates.items[0].conf, "max_split_size_mb:64");
    tuning_close(&list);
    fl_trace_free(trace);
}

static void newer_releases_accept_20(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read("a 1 100MiB\n");
    const fl_trace *const traces[] = {trace};
    fl_tune_options options = tuning_options("2.10", 190);
    fl_tune_state list = tuning_open(traces, 1, &options);
    assert_int_equal(fl_tune_sweep_split(&list, NULL), FL_OK);
    assert_int_equal(list.intervals.items[0].first_mebibytes, 20);
    assert_int_equal(list.intervals.count, 1);
    tuning_close(&list);
    fl_trace_free(trace);
}

static void what_would_take_too_long_is_sampled_and_says_so(void **state)
{
    (void)state;
    random_script(11, 300, 1, text, sizeof text);
    fl_trace *trace = tuning_read(text);
    const fl_trace *const traces[] = {trace};
    fl_tune_options options = tuning_options(NULL, 3000);
    fl_tune_state list = tuning_open(traces, 1, &options);
    list.most_events = 10;
    assert_int_equal(fl_tune_sweep_split(&list, NULL), FL_OK);
    assert_true(list.is_sampled);
    assert_in_range(list.intervals.count, 1, 20);
    tuning_close(&list);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_limit_is_as_a_replay_with_it),
        cmocka_unit_test(a_stretch_that_fits_becomes_a_candidate_with_a_round_number),
        cmocka_unit_test(newer_releases_accept_20),
        cmocka_unit_test(what_would_take_too_long_is_sampled_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
