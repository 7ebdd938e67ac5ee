#include "failing_host.h"
#include "random_script.h"
#include "test.h"
#include "tuning.h"

#include <string.h>

#define MIB (UINT64_C(1) << 20)

static const char pinned[] = "a 1 100MiB\nf 1\na 2 40MiB\na 3 45MiB\nf 2\na 4 100MiB\n";
static char text[32768];

static void what_fits_as_it_is_needs_nothing(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read(pinned);
    fl_tune_options options = tuning_options(NULL, 200);
    fl_tuning tuning = tuning_run(trace, &options);
    assert_int_equal(tuning.reason, FL_TUNE_NONE_NEEDED);
    assert_int_equal(tuning.recommended, SIZE_MAX);
    assert_true(tuning.candidates[0].outcome.fits);
    fl_tuning_deinit(&tuning);
    fl_trace_free(trace);
}

static void what_needs_no_more_than_the_usual_and_costs_least_is_recommended(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read(pinned);
    fl_tune_options options = tuning_options(NULL, 190);
    fl_tuning tuning = tuning_run(trace, &options);
    assert_int_equal(tuning.reason, FL_TUNE_RECOMMENDED);
    const fl_tune_candidate *choice = &tuning.candidates[tuning.recommended];
    assert_true(choice->outcome.fits);
    assert_int_equal(tuning.exact_card_bytes, choice->smallest_card_bytes);
    for (size_t i = 0; i < tuning.candidate_count; i++) {
        const fl_tune_candidate *other = &tuning.candidates[i];
        if ((other->flags & FL_TUNE_USUAL) && (other->flags & FL_TUNE_CONFLICTING) == 0)
            assert_true(choice->smallest_card_bytes <= other->smallest_card_bytes);
    }
    assert_int_equal(tuning.robustness.trials, 5);
    fl_tuning_deinit(&tuning);
    fl_trace_free(trace);
}

static void where_nothing_fits_the_card_that_would_is_told(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read(pinned);
    fl_tune_options options = tuning_options(NULL, 120);
    fl_tuning tuning = tuning_run(trace, &options);
    assert_int_equal(tuning.reason, FL_TUNE_NONE_FITS);
    assert_int_equal(tuning.recommended, SIZE_MAX);
    assert_int_equal(tuning.best_card_bytes, 146 * MIB);
    fl_tuning_deinit(&tuning);
    fl_trace_free(trace);
}

static void without_a_card_the_smallest_is_sought(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read(pinned);
    fl_tune_options options = tuning_options(NULL, 0);
    fl_tuning tuning = tuning_run(trace, &options);
    assert_int_equal(tuning.reason, FL_TUNE_RECOMMENDED);
    assert_false(tuning.is_card_given);
    assert_int_equal(tuning.exact_card_bytes, 146 * MIB);
    assert_in_range(tuning.card_bytes, 146 * MIB, 156 * MIB);
    fl_tuning_deinit(&tuning);
    fl_trace_free(trace);
    trace = tuning_read("a 1 100MiB\n");
    tuning = tuning_run(trace, &options);
    assert_int_equal(tuning.reason, FL_TUNE_NONE_NEEDED);
    fl_tuning_deinit(&tuning);
    fl_trace_free(trace);
}

static void threads_find_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        random_script(seed, 250, 2, text, sizeof text);
        fl_trace *trace = tuning_read(text);
        fl_tune_options options = tuning_options(seed % 2 == 0 ? "2.11" : NULL, 0);
        fl_tuning alone = tuning_run(trace, &options);
        options.jobs = 5;
        fl_tuning shared = tuning_run(trace, &options);
        assert_int_equal(alone.recommended, shared.recommended);
        assert_int_equal(alone.candidate_count, shared.candidate_count);
        for (size_t i = 0; i < alone.candidate_count; i++) {
            const fl_tune_candidate *a = &alone.candidates[i], *b = &shared.candidates[i];
            assert_string_equal(a->conf, b->conf);
            assert_int_equal(a->smallest_card_bytes, b->smallest_card_bytes);
            assert_int_equal(a->flags, b->flags);
            assert_true(a->outcome.cost_us == b->outcome.cost_us);
        }
        assert_int_equal(alone.interval_count, shared.interval_count);
        fl_tuning_deinit(&alone);
        fl_tuning_deinit(&shared);
        fl_trace_free(trace);
    }
}

static bool stop_soon(void *user, uint64_t done, uint64_t total)
{
    unsigned *calls = user;
    (void)done, (void)total;
    return ++*calls < 6;
}

static void stopping_gives_the_best_so_far(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read(pinned);
    unsigned calls = 0;
    fl_tune_options options = tuning_options(NULL, 190);
    options.progress = stop_soon;
    options.user = &calls;
    fl_tuning tuning = tuning_run(trace, &options);
    assert_true(tuning.was_stopped);
    assert_true(tuning.candidate_count > 0);
    fl_tuning_deinit(&tuning);
    fl_trace_free(trace);
}

static fl_status tune_with(const fl_host *host, void *user, fl_error *error)
{
    const fl_trace *const traces[] = {user};
    fl_tune_options options = tuning_options("2.0", 190);
    options.replay.host = host;
    fl_tuning tuning = {0};
    fl_status status = fl_tune(traces, 1, &options, &tuning, error);
    fl_tuning_deinit(&tuning);
    return status;
}

static void a_failing_host_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    fl_trace *trace = tuning_read("a 1 30MiB\nf 1\na 2 21MiB\na 3 22MiB\nf 2\na 4 30MiB\n");
    assert_true(failing_host_sweep(tune_with, trace) > 20);
    fl_trace_free(trace);
}

static void nothing_to_tune_is_said(void **state)
{
    (void)state;
    fl_tune_options options = tuning_options(NULL, 190);
    fl_tuning tuning;
    fl_error error = {0};
    assert_int_equal(fl_tune(NULL, 0, &options, &tuning, &error), FL_ERR_USAGE);
    assert_string_equal(error.text, "a search needs traces, options and a place to go");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_as_it_is_needs_nothing),
        cmocka_unit_test(what_needs_no_more_than_the_usual_and_costs_least_is_recommended),
        cmocka_unit_test(where_nothing_fits_the_card_that_would_is_told),
        cmocka_unit_test(without_a_card_the_smallest_is_sought),
        cmocka_unit_test(threads_find_the_same),
        cmocka_unit_test(stopping_gives_the_best_so_far),
        cmocka_unit_test(a_failing_host_is_reported_and_leaves_nothing),
        cmocka_unit_test(nothing_to_tune_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
