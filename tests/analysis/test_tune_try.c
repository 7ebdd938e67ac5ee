#include "test.h"
#include "tuning.h"

#include <stdio.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

static void add(fl_tune_state *list, const char *conf)
{
    fl_tune_candidate candidate = {.fraction = -1};
    snprintf(candidate.conf, sizeof candidate.conf, "%s", conf);
    assert_int_equal(fl_tune_add(list, &candidate, NULL), FL_OK);
}

static const char pinned[] = "a 1 100MiB\nf 1\na 2 40MiB\na 3 45MiB\nf 2\na 4 100MiB\n";

static void a_candidate_is_replayed_on_the_card(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read(pinned);
    const fl_trace *const traces[] = {trace};
    fl_tune_options options = tuning_options(NULL, 190);
    fl_tune_state list = tuning_open(traces, 1, &options);
    add(&list, "");
    add(&list, "max_split_size_mb:64");
    assert_int_equal(fl_tune_try_all(&list, 0, NULL), FL_OK);
    assert_false(list.candidates.items[0].outcome.fits);
    assert_true(list.candidates.items[1].outcome.fits);
    assert_int_equal(list.candidates.items[1].outcome.peak_reserved_bytes, 186 * MIB);
    assert_true(list.candidates.items[1].outcome.cost_us > 0);
    assert_int_equal(fl_tune_measure_all(&list, list.card_bytes, 100, NULL), FL_OK);
    assert_int_equal(list.candidates.items[0].smallest_card_bytes, FL_UNLIMITED);
    assert_int_equal(list.candidates.items[1].smallest_card_bytes, 146 * MIB);
    tuning_close(&list);
    fl_trace_free(trace);
}

/* A rounding below the size of large segments is refused. */
static void settings_under_which_a_change_is_refused_do_not_fit(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read("a 1 30MiB\nC max_non_split_rounding_mb:42\nf 1\n");
    const fl_trace *const traces[] = {trace};
    fl_tune_options options = tuning_options("2.15.0", 400);
    fl_tune_state list = tuning_open(traces, 1, &options);
    add(&list, "");
    add(&list, "large_segment_size_mb:42");
    add(&list, "large_segment_size_mb:43");
    assert_int_equal(fl_tune_try_all(&list, 0, NULL), FL_OK);
    assert_true(list.candidates.items[0].outcome.fits);
    assert_true(list.candidates.items[1].outcome.fits);
    assert_false(list.candidates.items[2].outcome.fits);
    tuning_close(&list);
    fl_trace_free(trace);
}

/* Under no settings of a candidate's own, what is refused is the trace. */
static void a_trace_that_cannot_be_replayed_is_an_error(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read("a 1 30MiB\nC max_split_size_mb:3\nf 1\n");
    const fl_trace *const traces[] = {trace};
    fl_tune_options options = tuning_options("2.15.0", 400);
    fl_tune_state list = tuning_open(traces, 1, &options);
    fl_error error = {0};
    add(&list, "");
    assert_int_equal(fl_tune_try_all(&list, 0, &error), FL_ERR_INPUT);
    assert_non_null(strstr(error.text, "max_split_size_mb too small"));
    tuning_close(&list);
    fl_trace_free(trace);
}

static void of_several_traces_the_worst_counts(void **state)
{
    (void)state;
    fl_trace *small = tuning_read("a 1 30MiB\n"), *large = tuning_read(pinned);
    const fl_trace *const traces[] = {small, large, small};
    fl_tune_options options = tuning_options(NULL, 400);
    fl_tune_state list = tuning_open(traces, 3, &options);
    add(&list, "");
    assert_int_equal(fl_tune_try_all(&list, 0, NULL), FL_OK);
    const fl_tune_outcome *outcome = &list.candidates.items[0].outcome;
    assert_true(outcome->fits);
    assert_int_equal(outcome->worst_file, 1);
    assert_int_equal(outcome->peak_reserved_bytes, 200 * MIB);
    assert_int_equal(outcome->driver_malloc, 4);
    uint64_t card;
    assert_int_equal(fl_tune_measure(&list, &list.candidates.items[0], 0, 0, &card, NULL), FL_OK);
    assert_int_equal(card, 200 * MIB);
    list.card_bytes = 150 * MIB;
    assert_int_equal(fl_tune_try_all(&list, 0, NULL), FL_OK);
    assert_false(outcome->fits);
    assert_int_equal(outcome->worst_file, 1);
    tuning_close(&list);
    fl_trace_free(small);
    fl_trace_free(large);
}

static void changes_of_the_program_are_replayed(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read("a 1 40MiB\nf 1\nm here\na 2 100MiB\na 3 40MiB\n");
    const fl_trace *const traces[] = {trace};
    fl_tune_options options = tuning_options(NULL, 1000);
    fl_tune_state list = tuning_open(traces, 1, &options);
    assert_int_equal(fl_tune_add_changes(&list, NULL), FL_OK);
    assert_int_equal(fl_tune_try_all(&list, 0, NULL), FL_OK);
    assert_int_equal(list.candidates.items[0].change, FL_TUNE_LARGEST_FIRST);
    assert_int_equal(list.candidates.items[0].outcome.driver_malloc, 2);
    assert_int_equal(list.candidates.items[1].change, FL_TUNE_EMPTY_CACHE);
    assert_int_equal(list.candidates.items[1].outcome.driver_free, 1);
    assert_int_equal(list.candidates.items[1].outcome.driver_malloc, 3);
    tuning_close(&list);
    fl_trace_free(trace);
}

static void too_many_tries_leave_a_card_unknown(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read(pinned);
    const fl_trace *const traces[] = {trace};
    fl_tune_options options = tuning_options(NULL, 400);
    fl_tune_state list = tuning_open(traces, 1, &options);
    add(&list, "max_split_size_mb:64");
    assert_int_equal(fl_tune_try_all(&list, 0, NULL), FL_OK);
    assert_int_equal(fl_tune_measure_all(&list, list.card_bytes, 1, NULL), FL_OK);
    assert_int_equal(list.candidates.items[0].smallest_card_bytes, FL_UNLIMITED);
    tuning_close(&list);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_candidate_is_replayed_on_the_card),
        cmocka_unit_test(settings_under_which_a_change_is_refused_do_not_fit),
        cmocka_unit_test(a_trace_that_cannot_be_replayed_is_an_error),
        cmocka_unit_test(of_several_traces_the_worst_counts),
        cmocka_unit_test(changes_of_the_program_are_replayed),
        cmocka_unit_test(too_many_tries_leave_a_card_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
