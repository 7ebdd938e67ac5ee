#include "rebuild/card.h"
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

/* A refusal tells what was free on a device of so many bytes. */
static void set_free_bytes(fl_trace *trace, uint64_t capacity)
{
    const fl_columns *columns = fl_trace_columns(trace, 0);
    uint64_t reserved = 0;
    for (uint64_t i = 0; i < columns->count; i++) {
        reserved = fl_reserved_after(columns, i, reserved);
        if (columns->kind[i] == FL_OP_ALLOC && (columns->flags[i] & FL_EVENT_OOM))
            columns->address[i] = capacity - reserved;
    }
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

static void a_cut_window_begins_with_a_pool_that_is_dropped(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\n"
                                 "a 1 3MiB\nb 1\na 2 3MiB\na 3 300\nq 1\na 4 30MiB\nf 4\nf 2\n"
                                 "f 3\nx 1\ne 1\na 5 300\na 6 30MiB\n";
    assert_explained_cut(script, "2.9.1");
}

static void pools_that_are_dropped_one_after_the_other(void **state)
{
    (void)state;
    assert_explained("# cap=1GiB conf=\n"
                     "a 1 3MiB\na 2 500\nb 1\na 3 3MiB\na 4 300\nq 1\nb 2\na 5 3MiB\na 6 300\n"
                     "q 2\nf 1\nf 3\nf 5\nx 1\ne 1\ne\nx 2\ne 2\na 7 3MiB\n",
                     "2.8.0");
}

/* A pool that serves others when the device is full, in the releases that have such. */
static void requests_served_by_a_pool_of_others(void **state)
{
    (void)state;
    static const char script[] = "# cap=100MiB conf=\n"
                                 "b 1 use_on_oom=1\na 1 30MiB\nq 1\nf 1\na 2 60MiB\na 3 90MiB\n"
                                 "a 4 20MiB\na 5 80MiB\n";
    static const char *const since[] = {"2.9.1", "2.10.0", "2.11.0", "2.13.0"};
    for (size_t i = 0; i < COUNT_OF(since); i++) {
        recording run;
        fl_verdict verdict;
        size_t count, scopes = 0;
        recording_make_as(&run, "recording", script, strlen(script), release(since[i]), i > 2);
        set_free_bytes(run.trace, 100 << 20);
        assert_int_equal(fl_verify(run.trace, 0, release(since[i]), NULL, &verdict, NULL), FL_OK);
        assert_false(verdict.has_difference);
        const fl_insertion *list = fl_trace_insertions(run.trace, 0, &count);
        for (size_t k = 0; k < count; k++) {
            scopes += list[k].op.kind == FL_OP_SCOPE_BEGIN;
            if (list[k].op.kind == FL_OP_SCOPE_BEGIN)
                assert_true(list[k].op.flags & FL_OP_USE_ON_OOM);
        }
        assert_int_equal(scopes, 1);
        recording_free(&run);
    }
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
        cmocka_unit_test(a_cut_window_begins_with_a_pool_that_is_dropped),
        cmocka_unit_test(pools_that_are_dropped_one_after_the_other),
        cmocka_unit_test(requests_served_by_a_pool_of_others),
        cmocka_unit_test(every_failure_of_the_host_ends_the_guess),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
