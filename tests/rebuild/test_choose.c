#include "recording.h"
#include "test.h"

#include <fraglab/read.h>
#include <fraglab/verify.h>

/* The release chosen among all from index `first` to `last`; NULL: none explains it. */
static const fl_profile *chosen_of(fl_trace *trace, size_t first, size_t last)
{
    const fl_profile *profiles[32];
    size_t count = 0;
    for (size_t i = first; i <= last && fl_profile_at(i) != NULL; i++)
        profiles[count++] = fl_profile_at(i);
    fl_error error = {0};
    fl_verify_choice choice = {.profile = fl_profile_at(0)};
    if (fl_verify_choose(trace, 0, profiles, count, true, NULL, &choice, &error) != FL_OK)
        fail_msg("%s", error.text);
    return choice.profile;
}

static fl_trace *read_trace(const char *path)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_file(path, NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static void the_newest_release_that_explains_the_history_is_chosen(void **state)
{
    (void)state;
    fl_trace *trace = read_trace("traces/pressure.pickle");
    assert_string_equal(fl_profile_release(chosen_of(trace, 0, 16)), "2.11.0");
    assert_string_equal(fl_profile_release(chosen_of(trace, 0, 9)), "2.9.1");
    fl_trace_free(trace);
}

static void where_none_explains_it_there_is_none(void **state)
{
    (void)state;
    fl_trace *trace = read_trace("traces/pressure.pickle");
    assert_null(chosen_of(trace, 1, 0));
    trace->devices.items[0].columns.address[1] += 512; /* no allocator puts it there */
    assert_null(chosen_of(trace, 0, 16));
    fl_trace_free(trace);
}

static void a_release_that_refuses_the_settings_is_passed_by(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=max_split_size_mb:20\na 1 30MiB\nf 1\n";
    recording run;
    recording_make(&run, "split", script, sizeof script - 1);
    assert_null(chosen_of(run.trace, 0, 9)); /* more than 20 up to 2.9 */
    assert_ptr_equal(chosen_of(run.trace, 0, 10), fl_profile_at(10));
    recording_free(&run);
}

/* No file tells the limit. */
static void a_limit_that_is_told_needs_not_be_sought(void **state)
{
    (void)state;
    /* Of two free segments only the older one is collected; empty_cache would give back both. */
    static const char script[] = "# cap=200MiB conf=garbage_collection_threshold:0.5\n"
                                 "F 0.8\na 1 20MiB\na 2 20MiB\na 3 30MiB\nf 1\na 4 22MiB\nf 2\n"
                                 "a 5 24MiB\n";
    recording run;
    recording_make(&run, "limit", script, sizeof script - 1);
    fl_trace *trace = run.trace;
    const fl_profile *last = fl_profile_newest();
    fl_verdict verdict;
    assert_int_equal(fl_verify_best(trace, 0, &last, 1, NULL, &last, &verdict, NULL), FL_OK);
    assert_false(verdict.has_difference);
    assert_int_equal(verdict.inferred.limits, 1);
    fl_trace_set_limit(trace, 0.8, 200 << 20);
    assert_int_equal(fl_verify_best(trace, 0, &last, 1, NULL, &last, &verdict, NULL), FL_OK);
    assert_false(verdict.has_difference);
    assert_int_equal(verdict.inferred.limits, 0);
    recording_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_release_that_explains_the_history_is_chosen),
        cmocka_unit_test(where_none_explains_it_there_is_none),
        cmocka_unit_test(a_release_that_refuses_the_settings_is_passed_by),
        cmocka_unit_test(a_limit_that_is_told_needs_not_be_sought),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
