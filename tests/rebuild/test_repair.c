#include "rebuild/repair.h"

#include "failing_host.h"
#include "recording.h"
#include "test.h"

#include <fraglab/verify.h>

#include <string.h>

static const fl_profile *release(const char *name)
{
    const fl_profile *profile;
    bool is_exact;
    assert_int_equal(fl_profile_find(name, &profile, &is_exact, NULL), FL_OK);
    return profile;
}

/* The verdict on what a script leaves behind, whose first line says the settings at its end. */
static fl_verdict verdict_of(const char *script, const char *name)
{
    recording run;
    fl_verdict verdict;
    fl_error error = {0};
    const fl_profile *profile = release(name);
    recording_make_as(&run, "recording", script, strlen(script), profile, false);
    if (fl_verify_sought(run.trace, 0, profile, NULL, &verdict, &error) != FL_OK)
        fail_msg("%s", error.text);
    if (verdict.has_difference)
        fail_msg("at %d: %s, got %s, because %s", (int)verdict.first_difference.event,
                 verdict.first_difference.expected, verdict.first_difference.got,
                 verdict.first_difference.because);
    recording_free(&run);
    return verdict;
}

static void what_the_file_states_needs_no_search(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of("# cap=1GiB conf=max_split_size_mb:64\n"
                                    "a 1 90MiB\nf 1\na 2 30MiB\n",
                                    "2.9.1");
    assert_int_equal(verdict.inferred.settings + verdict.inferred.limits + verdict.inferred.pools,
                     0);
}

static void a_split_limit_set_on_the_way(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of("# cap=1GiB conf=max_split_size_mb:64\n"
                                    "C expandable_segments:False\na 1 90MiB\nf 1\na 2 30MiB\nf 2\n"
                                    "C max_split_size_mb:64\na 3 30MiB\na 4 3MiB\n",
                                    "2.9.1");
    assert_int_equal(verdict.inferred.settings, 2); /* none at first, then the file's */
}

static void expandable_segments_switched_on_and_off_again(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of("# cap=1GiB conf=expandable_segments:False\n"
                                    "a 1 3MiB\na 2 30MiB\nC expandable_segments:True\na 3 40MiB\n"
                                    "a 4 500\nf 3\na 5 2MiB\nC expandable_segments:False\n"
                                    "a 6 50MiB\nf 6\na 7 21MiB\n",
                                    "2.9.1");
    assert_in_range(verdict.inferred.settings, 2, 3);
}

static void a_limit_that_collection_follows(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of("# cap=200MiB conf=garbage_collection_threshold:0.5\n"
                                    "F 0.8\na 1 20MiB\na 2 20MiB\na 3 30MiB\nf 1\na 4 22MiB\nf 2\n"
                                    "a 5 24MiB\n",
                                    "2.9.1");
    assert_int_equal(verdict.inferred.limits, 1);
    assert_int_equal(verdict.releases_by_cause[FL_CAUSE_COLLECT], 1);
}

/* At the highest limit that explains it, the last release would have taken a device that refuses.
 */
static void a_limit_is_as_low_as_spares_a_full_device(void **state)
{
    (void)state;
    fl_verdict verdict =
        verdict_of("# cap=1GiB conf=garbage_collection_threshold:0.5\n"
                   "F 0.1\na 9 500\nf 9\na 1 20MiB\na 2 40MiB\na 3 30MiB\nf 2\na 4 44MiB\n"
                   "f 3\nf 4\na 5 50MiB\na 6 22MiB\n",
                   "2.9.1");
    assert_int_equal(verdict.inferred.limits, 1);
    assert_int_equal(verdict.releases_by_cause[FL_CAUSE_RELEASE_ALL], 0);
}

static void a_pool_of_which_nothing_is_left(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of("# cap=1GiB conf=\n"
                                    "a 1 3MiB\nb 1\na 2 3MiB\na 3 300\nq 1\na 4 30MiB\nf 4\ne\n"
                                    "f 2\nf 3\nx 1\ne 1\na 5 300\n",
                                    "2.9.1");
    assert_int_equal(verdict.inferred.pools, 1);
    assert_true(verdict.inferred.scopes >= 1);
}

static void a_record_of_no_allocator_stays_unexplained(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\na 1 3MiB\na 2 30MiB\nf 1\ne\na 3 2MiB\n";
    recording run;
    fl_verdict verdict;
    recording_make(&run, "recording", script, strlen(script));
    run.trace->devices.items[0].columns.address[1] += 512;
    assert_int_equal(fl_verify_sought(run.trace, 0, NULL, NULL, &verdict, NULL), FL_OK);
    assert_true(verdict.has_difference);
    assert_int_equal(verdict.first_difference.event, 1);
    assert_int_equal(verdict.inferred.settings + verdict.inferred.limits + verdict.inferred.pools,
                     0);
    recording_free(&run);
}

static fl_status copy_and_repair(const fl_host *host, void *user, fl_error *error)
{
    fl_trace *copy = NULL;
    fl_status status = recording_copy(user, host, &copy, error);
    fl_verdict verdict;
    if (status == FL_OK)
        status = fl_verify_sought(copy, 0, NULL, host, &verdict, error);
    fl_trace_free(copy);
    return status;
}

static void every_failure_of_the_host_ends_the_search(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=expandable_segments:True\n"
                                 "C expandable_segments:False\na 1 3MiB\nf 1\n"
                                 "C expandable_segments:True\na 2 30MiB\n";
    recording run;
    recording_make(&run, "recording", script, strlen(script));
    assert_true(failing_host_sweep(copy_and_repair, &run) > 10);
    recording_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_file_states_needs_no_search),
        cmocka_unit_test(a_split_limit_set_on_the_way),
        cmocka_unit_test(expandable_segments_switched_on_and_off_again),
        cmocka_unit_test(a_limit_that_collection_follows),
        cmocka_unit_test(a_limit_is_as_low_as_spares_a_full_device),
        cmocka_unit_test(a_pool_of_which_nothing_is_left),
        cmocka_unit_test(a_record_of_no_allocator_stays_unexplained),
        cmocka_unit_test(every_failure_of_the_host_ends_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
