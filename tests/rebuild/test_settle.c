#include "recording.h"
#include "test.h"

#include <fraglab/verify.h>

#include <string.h>

/* No split limit at first, then the one that the file states. */
#define CHANGED                                                                                    \
    "# cap=1GiB conf=max_split_size_mb:64\n"                                                       \
    "C expandable_segments:False\na 1 90MiB\nf 1\na 2 30MiB\nf 2\n"                                \
    "C max_split_size_mb:64\na 3 30MiB\na 4 3MiB\n"

static void rebuild(fl_trace *trace)
{
    fl_error error = {0};
    if (fl_rebuild(trace, 0, NULL, &error) != FL_OK)
        fail_msg("%s", error.text);
}

static void settings_that_no_file_states_are_sought(void **state)
{
    (void)state;
    recording run;
    recording_make(&run, "settle", CHANGED, strlen(CHANGED));
    rebuild(run.trace);
    assert_int_equal(fl_rebuild_inferred(run.trace, 0).settings, 2);
    recording_free(&run);
}

static void what_explains_itself_needs_no_search(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=max_split_size_mb:64\n"
                                 "a 1 90MiB\na 2 500\nf 1\ne\n";
    recording run;
    recording_make(&run, "settle", script, strlen(script));
    rebuild(run.trace);
    fl_inferred inferred = fl_rebuild_inferred(run.trace, 0);
    assert_int_equal(inferred.settings + inferred.limits + inferred.pools, 0);
    assert_int_equal(inferred.trims, 1);
    recording_free(&run);
}

/* The second time would cost as much as the first. */
static void what_was_found_is_not_sought_again(void **state)
{
    (void)state;
    recording run;
    recording_make(&run, "settle", CHANGED, strlen(CHANGED));
    rebuild(run.trace);
    fl_trace_drop_insertions(run.trace, 0, 0);
    rebuild(run.trace);
    assert_int_equal(fl_rebuild_inferred(run.trace, 0).settings, 0);
    fl_trace_set_limit(run.trace, -1, 0); /* may change all of it */
    rebuild(run.trace);
    assert_int_equal(fl_rebuild_inferred(run.trace, 0).settings, 2);
    recording_free(&run);
}

static void a_search_that_finds_nothing_leaves_what_the_file_states(void **state)
{
    (void)state;
    recording run;
    recording_make(&run, "settle", CHANGED, strlen(CHANGED));
    run.trace->devices.items[0].columns.address[1] += 512; /* no allocator puts it there */
    rebuild(run.trace);
    assert_int_equal(fl_rebuild_inferred(run.trace, 0).settings, 0);
    recording_free(&run);
}

/* The second segment goes and comes back below the third: by address older, in truth younger. */
static void a_cut_window_is_rebuilt_with_what_its_decisions_show(void **state)
{
    (void)state;
    static const char script[] =
        "# cap=1GiB conf=\n"
        "a 1 20MiB\na 2 20MiB\na 3 20MiB\nf 2\ne\na 4 20MiB\nf 1\nf 4\nf 3\n"
        "a 5 20MiB\na 6 20MiB\na 7 20MiB\n";
    recording run;
    recording_make(&run, "settle", script, strlen(script));
    fl_trace *cut = recording_cut(&run, 17);
    rebuild(cut);
    assert_int_equal(fl_rebuild_inferred(cut, 0).ages, 1);
    fl_trace_free(cut);
    recording_free(&run);
}

/* A file states the settings at its end; the window began under others. */
static void a_cut_window_may_begin_under_other_settings(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=expandable_segments:True\n"
                                 "C expandable_segments:False,max_split_size_mb:64\n"
                                 "a 1 90MiB\na 2 30MiB\n"
                                 "f 1\na 3 30MiB\na 4 3MiB\nf 2\n"
                                 "C expandable_segments:True\na 5 140MiB\na 6 30MiB\na 7 500\n";
    recording run;
    recording_make(&run, "settle", script, strlen(script));
    fl_trace *cut = recording_cut(&run, 4);
    fl_verdict verdict;
    assert_false(fl_trace_is_complete(cut, 0));
    assert_int_equal(fl_verify_sought(cut, 0, NULL, NULL, &verdict, NULL), FL_OK);
    assert_false(verdict.has_difference);
    assert_int_equal(verdict.inferred.settings, 2);
    fl_trace_free(cut);
    recording_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_that_no_file_states_are_sought),
        cmocka_unit_test(what_explains_itself_needs_no_search),
        cmocka_unit_test(what_was_found_is_not_sought_again),
        cmocka_unit_test(a_search_that_finds_nothing_leaves_what_the_file_states),
        cmocka_unit_test(a_cut_window_may_begin_under_other_settings),
        cmocka_unit_test(a_cut_window_is_rebuilt_with_what_its_decisions_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
