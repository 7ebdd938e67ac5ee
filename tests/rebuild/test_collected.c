#include "rebuild/collected.h"

#include "recording.h"
#include "test.h"

#include <fraglab/trace.h>
#include <fraglab/verify.h>

#include <string.h>

static const fl_profile *profile_of(const char *release)
{
    const fl_profile *profile;
    bool is_exact;
    assert_int_equal(fl_profile_find(release, &profile, &is_exact, NULL), FL_OK);
    return profile;
}

static fl_verdict verdict_of_cut(const char *script, uint64_t lost)
{
    recording run;
    const fl_profile *profile = profile_of("2.9.1");
    recording_make_as(&run, "collected", script, strlen(script), profile, false);
    fl_trace *trace = recording_cut(&run, lost);
    fl_verdict verdict;
    fl_error error = {0};
    fl_trace_set_limit(trace, 0.2, UINT64_C(1) << 30);
    if (fl_verify(trace, 0, profile, NULL, &verdict, &error) != FL_OK)
        fail_msg("%s", error.text);
    if (verdict.has_difference)
        fail_msg("event %d: expected %s, got %s: %s", (int)verdict.first_difference.event,
                 verdict.first_difference.expected, verdict.first_difference.got,
                 verdict.first_difference.because);
    fl_trace_free(trace);
    recording_free(&run);
    return verdict;
}

/* A segment of 40 MiB grows old while one of 44 MiB is used again and again. */
#define OLD_AND_NEW                                                                                \
    "# cap=1GiB conf=garbage_collection_threshold:0.5\n"                                           \
    "F 0.2\na 5 20MiB\na 1 40MiB\nf 1\na 2 44MiB\nf 2\n"                                           \
    "a 3 44MiB\nf 3\na 3 44MiB\nf 3\na 3 44MiB\nf 3\na 3 44MiB\nf 3\n"
#define OLD_AND_NEW_EVENTS 22

static void what_was_free_before_the_window_may_be_of_any_age(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of_cut(OLD_AND_NEW "a 9 60MiB\nf 9\n", OLD_AND_NEW_EVENTS);
    assert_false(verdict.is_complete);
    assert_true(verdict.excused[FL_EXCUSE_OLD_AGE] > 0);
}

static void what_was_seen_to_grow_old_needs_no_excuse(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of_cut(OLD_AND_NEW "a 9 60MiB\nf 9\n", 0);
    assert_int_equal(verdict.excused[FL_EXCUSE_OLD_AGE], 0);
    verdict = verdict_of_cut(OLD_AND_NEW "a 9 60MiB\nf 9\n", 2); /* nothing was free then */
    assert_int_equal(verdict.excused[FL_EXCUSE_OLD_AGE], 0);
}

/* Both were used in the window, so their ages are known. */
static void what_the_window_used_has_an_age(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of_cut(
        OLD_AND_NEW "a 6 40MiB\nf 6\na 7 44MiB\nf 7\na 7 44MiB\nf 7\na 9 60MiB\nf 9\n",
        OLD_AND_NEW_EVENTS);
    assert_false(verdict.is_complete);
    assert_int_equal(verdict.excused[FL_EXCUSE_OLD_AGE], 0);
    assert_int_equal(verdict.releases_by_cause[FL_CAUSE_COLLECT], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_free_before_the_window_may_be_of_any_age),
        cmocka_unit_test(what_was_seen_to_grow_old_needs_no_excuse),
        cmocka_unit_test(what_the_window_used_has_an_age),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
