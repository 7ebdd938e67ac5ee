#include "rebuild/guess.h"

#include "failing_host.h"
#include "recording.h"
#include "test.h"

#include <fraglab/verify.h>

#include <string.h>

static const char *const releases[] = {"2.4.1",  "2.5.1",  "2.7.1",  "2.9.1",
                                       "2.10.0", "2.11.0", "2.13.0", "2.15.0"};

static const fl_profile *release(const char *name)
{
    const fl_profile *profile;
    bool is_exact;
    assert_int_equal(fl_profile_find(name, &profile, &is_exact, NULL), FL_OK);
    return profile;
}

/* Every decision of the script comes out again, by every release from `first` on, with pools in the
 * entries and without. */
static void assert_explained(const char *script, const char *first)
{
    bool is_reached = false;
    for (size_t i = 0; i < COUNT_OF(releases); i++) {
        is_reached |= strcmp(releases[i], first) == 0;
        for (int names = 0; is_reached && names < 2; names++) {
            recording run;
            fl_verdict verdict;
            fl_error error = {0};
            const fl_profile *profile = release(releases[i]);
            recording_make_as(&run, "recording", script, strlen(script), profile, names);
            if (fl_verify_sought(run.trace, 0, profile, NULL, &verdict, &error) != FL_OK)
                fail_msg("%s: %s", releases[i], error.text);
            if (verdict.has_difference)
                fail_msg("%s, pools %d: at %d: %s, got %s, because %s", releases[i], names,
                         (int)verdict.first_difference.event, verdict.first_difference.expected,
                         verdict.first_difference.got, verdict.first_difference.because);
            recording_free(&run);
        }
    }
}

static void requests_of_a_pool_come_out_of_it(void **state)
{
    (void)state;
    assert_explained("# cap=1GiB conf=\n"
                     "a 1 3MiB\nb 1\na 2 3MiB\na 3 300\na 4 30MiB\nq 1\n"
                     "a 5 300\na 6 3MiB\nf 4\nb 1\na 7 3MiB\na 8 20MiB\nq 1\nx 1\n",
                     "2.4.1");
}

static void a_capture_goes_by_its_stream(void **state)
{
    (void)state;
    assert_explained("# cap=1GiB conf=\n"
                     "a 1 3MiB\nb 3.0 stream=64 capture=1\na 2 3MiB 64\na 3 300 0\na 4 30MiB 64\n"
                     "f 3\na 5 200 0\na 6 1MiB 64\nq 3.0\na 7 3MiB 64\n",
                     "2.4.1");
}

static void a_pool_that_was_let_go_is_emptied_with_the_rest(void **state)
{
    (void)state;
    assert_explained("# cap=1GiB conf=\n"
                     "a 1 3MiB\nb 3.0 capture=1\na 2 3MiB\na 3 300\nq 3.0\na 4 30MiB\nf 4\n"
                     "e\nf 2\nx 3.0\ne\na 5 300\nf 5\n",
                     "2.4.1");
}

static void a_program_drops_its_pool_and_empties_only_that(void **state)
{
    (void)state;
    assert_explained("# cap=1GiB conf=\n"
                     "a 1 3MiB\nf 1\nb 1\na 2 3MiB\na 3 300\nq 1\nf 2\nx 1\ne 1\na 4 3MiB\n"
                     "a 5 30MiB\n",
                     "2.6.0");
}

static void expandable_segments_of_a_pool(void **state)
{
    (void)state;
    assert_explained("# cap=1GiB conf=expandable_segments:True\n"
                     "a 1 3MiB\nb 1\na 2 3MiB\na 3 300\nq 1\na 4 30MiB\nf 2\nb 1\na 5 30MiB\n"
                     "q 1\nx 1\nf 4\ne\na 6 3MiB\n",
                     "2.4.1");
}

static void blocks_of_a_pool_that_are_not_split(void **state)
{
    (void)state;
    assert_explained("# cap=1GiB conf=\n"
                     "b 1 nosplit=1\na 1 300\na 2 3MiB\na 3 300\nq 1\na 4 300\n",
                     "2.10.0");
}

/* A ring that lost its beginning, wherever it begins. */
static void assert_explained_cut(const char *script, const char *name)
{
    recording run;
    const fl_profile *profile = release(name);
    recording_make_as(&run, "recording", script, strlen(script), profile, false);
    for (uint64_t lost = 1; lost < fl_trace_event_count(run.trace, 0); lost++) {
        fl_trace *cut = recording_cut(&run, lost);
        fl_verdict verdict;
        fl_error error = {0};
        if (fl_verify_sought(cut, 0, profile, NULL, &verdict, &error) != FL_OK)
            fail_msg("from %d: %s", (int)lost, error.text);
        if (verdict.has_difference)
            fail_msg("from %d at %d: %s, got %s, because %s", (int)lost,
                     (int)verdict.first_difference.event, verdict.first_difference.expected,
                     verdict.first_difference.got, verdict.first_difference.because);
        fl_trace_free(cut);
    }
    recording_free(&run);
}

static void a_cut_window_begins_with_pools(void **state)
{
    (void)state;
    static const char plain[] = "# cap=1GiB conf=\n"
                                "a 1 3MiB\nb 1\na 2 3MiB\na 3 300\na 4 30MiB\nq 1\na 5 300\n"
                                "a 6 3MiB\nb 1\na 7 3MiB\na 8 20MiB\nq 1\nf 4\nf 6\na 9 1MiB\n";
    assert_explained_cut(plain, "2.9.1");
    assert_explained_cut(plain, "2.15.0");
    static const char expandable[] =
        "# cap=1GiB conf=expandable_segments:True\n"
        "a 1 3MiB\nb 1\na 2 3MiB\na 3 300\na 4 30MiB\nq 1\na 5 300\n"
        "a 6 3MiB\nb 1\na 7 3MiB\na 8 20MiB\nq 1\nf 4\nf 6\na 9 1MiB\n";
    assert_explained_cut(expandable, "2.9.1");
}

static fl_status copy_and_guess(const fl_host *host, void *user, fl_error *error)
{
    fl_trace *copy = NULL;
    fl_status status = recording_copy(user, host, &copy, error);
    if (status == FL_OK)
        status = fl_rebuild(copy, 0, NULL, error);
    fl_trace_free(copy);
    return status;
}

static void every_failure_of_the_host_ends_the_guess(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\n"
                                 "a 1 3MiB\nb 1\na 2 3MiB\nq 1\nf 2\na 3 3MiB\nx 1\ne 1\n";
    recording run;
    recording_make_as(&run, "recording", script, strlen(script), NULL, false);
    assert_true(failing_host_sweep(copy_and_guess, &run) > 10);
    recording_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_of_a_pool_come_out_of_it),
        cmocka_unit_test(a_capture_goes_by_its_stream),
        cmocka_unit_test(a_pool_that_was_let_go_is_emptied_with_the_rest),
        cmocka_unit_test(a_program_drops_its_pool_and_empties_only_that),
        cmocka_unit_test(expandable_segments_of_a_pool),
        cmocka_unit_test(blocks_of_a_pool_that_are_not_split),
        cmocka_unit_test(a_cut_window_begins_with_pools),
        cmocka_unit_test(every_failure_of_the_host_ends_the_guess),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
