#include "rebuild/rebuild.h"

#include "failing_host.h"
#include "recording.h"
#include "test.h"

#include <fraglab/read.h>
#include <fraglab/verify.h>

#include <stdio.h>
#include <string.h>

/* What was inferred: `E@7` an empty_cache before event 7, `d3@8` the completion of allocation 3
 * before event 8. */
static void say_inferred(const fl_trace *trace, char *text, size_t size)
{
    size_t count, used = 0;
    const fl_insertion *list = fl_trace_insertions(trace, 0, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *gap = i > 0 ? " " : "";
        if (list[i].op.kind == FL_OP_TRIM)
            used += (size_t)snprintf(text + used, size - used, "%sE@%d", gap, (int)list[i].event);
        else
            used += (size_t)snprintf(text + used, size - used, "%sd%u@%d", gap, list[i].op.id,
                                     (int)list[i].event);
        assert_true(used < size);
    }
}

/* Events that ask nothing although they are completions, and frees that wait: `h2 s5`. */
static void say_marks(const fl_trace *trace, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint64_t i = 0; i < fl_trace_event_count(trace, 0); i++) {
        fl_event event;
        fl_trace_event(trace, 0, i, &event);
        bool is_held = event.kind == FL_OP_FREE && (event.flags & FL_OP_HELD);
        bool is_silent = event.kind == FL_OP_FREE_DONE && (event.flags & FL_EVENT_SILENT);
        if (is_held || is_silent)
            used += (size_t)snprintf(text + used, size - used, "%s%c%d", used > 0 ? " " : "",
                                     is_held ? 'h' : 's', (int)i);
        assert_true(used < size);
    }
}

/* Records a script, rebuilds it, and looks at what came out. */
static void assert_rebuilt(const char *script, const char *inferred, const char *marks)
{
    char text[512];
    recording run;
    fl_error error = {0};
    recording_make(&run, "recording", script, strlen(script));
    if (fl_rebuild(run.trace, 0, NULL, &error) != FL_OK)
        fail_msg("%s", error.text);
    say_inferred(run.trace, text, sizeof text);
    assert_string_equal(text, inferred);
    say_marks(run.trace, text, sizeof text);
    assert_string_equal(text, marks);
    recording_free(&run);
}

/* ---- empty_cache ----------------------------------------------------------------------------- */

/* Events: segment_alloc alloc segment_alloc alloc free+ free- segment_free alloc */
static void an_empty_cache_before_a_request_served_from_the_cache_is_found(void **state)
{
    (void)state;
    assert_rebuilt("# cap=1GiB conf=\na 1 20MiB\na 2 1\nf 1\ne\na 3 1\n", "E@7", "s5");
}

static void an_empty_cache_before_a_free_is_found(void **state)
{
    (void)state;
    assert_rebuilt("# cap=1GiB conf=\na 1 20MiB\na 2 1\nf 1\ne\nf 2\n", "E@7", "s5 s8");
}

static void an_empty_cache_at_the_end_is_found(void **state)
{
    (void)state;
    assert_rebuilt("# cap=1GiB conf=\na 1 20MiB\nf 1\ne\n", "E@5", "s3");
    assert_rebuilt("# cap=1GiB conf=expandable_segments:True\na 1 20MiB\na 2 1\nf 1\ne\n", "E@7",
                   "s5");
}

static void an_empty_cache_before_a_new_segment_is_found_where_the_device_had_room(void **state)
{
    (void)state;
    assert_rebuilt("# cap=1GiB conf=\n"
                   "a 1 50MiB\na 2 50MiB\nf 1\nf 2\ne\na 3 20MiB\nf 3\ne\na 4 30MiB\n",
                   "E@11 E@16", "s5 s7 s13");
}

static void an_empty_cache_that_did_nothing_leaves_nothing_to_find(void **state)
{
    (void)state;
    assert_rebuilt("# cap=1GiB conf=\na 1 1\ne\na 2 1\ne\n", "", "");
}

/* Both lead to the same state; the request's own release is the simpler reading. */
static void an_empty_cache_before_a_refusal_is_taken_for_the_requests_own(void **state)
{
    (void)state;
    assert_rebuilt("# cap=64MiB conf=expandable_segments:True\n"
                   "a 1 20MiB\na 2 1\nf 1\ne\na 3 61MiB\n",
                   "", "s5");
}

/* ---- what the device's refusals caused ------------------------------------------------------- */

static void what_a_request_gives_back_is_no_empty_cache(void **state)
{
    (void)state;
    assert_rebuilt("# cap=60MiB conf=\na 1 50MiB\nf 1\na 2 54MiB\n", "", "s3");
    assert_rebuilt("# cap=60MiB conf=\na 1 50MiB\nf 1\na 2 64MiB\n", "", "s3");
}

static void oversize_blocks_given_back_for_a_request_are_no_empty_cache(void **state)
{
    (void)state;
    assert_rebuilt("# cap=130MiB conf=max_split_size_mb:32\n"
                   "a 1 40MiB\na 2 60MiB\na 3 22MiB\nf 1\nf 2\nf 3\na 4 90MiB\n",
                   "", "s7 s9 s11");
}

/* ---- completions ----------------------------------------------------------------------------- */

static void a_free_that_waits_is_held_and_comes_back_by_itself(void **state)
{
    (void)state;
    assert_rebuilt("# cap=1GiB conf=\na 1 1\nr 1 64\np\nf 1\na 2 600\nc\na 3 1\n", "", "h2");
}

static void a_completion_that_an_empty_cache_waited_for_is_silent(void **state)
{
    (void)state;
    /* segment_alloc alloc free+ alloc free- segment_free */
    assert_rebuilt("# cap=1GiB conf=\na 1 20MiB\nr 1 64\np\nf 1\na 2 1\ne\n", "E@7 d0@7", "h2 s5");
}

static void a_completion_that_a_request_waited_for_comes_after_it_elsewhere(void **state)
{
    (void)state;
    /* segment_alloc alloc free+ segment_alloc alloc free- segment_free segment_alloc alloc */
    assert_rebuilt("# cap=40MiB conf=\na 1 20MiB\nr 1 64\np\nf 1\na 2 1\na 3 30MiB\n", "d0@9",
                   "h2 s5");
}

static void a_free_still_waiting_at_the_end_stays_held(void **state)
{
    (void)state;
    assert_rebuilt("# cap=1GiB conf=\na 1 1\nr 1 64\np\nf 1\na 2 1\n", "", "h2");
}

static void a_pair_that_the_next_request_waited_for_is_taken_apart(void **state)
{
    (void)state;
    assert_rebuilt("# cap=20MiB conf=\n"
                   "a 1 5MiB\na 2 1537KiB\na 3 13MiB\nr 1 64\np\nf 1\na 4 4MiB\n",
                   "d0@7", "h4 s5");
}

/* ---- refusals and repetition ----------------------------------------------------------------- */

static void rebuilding_again_changes_nothing(void **state)
{
    (void)state;
    static const char script[] = "# cap=40MiB conf=\n"
                                 "a 1 20MiB\nr 1 64\np\nf 1\na 2 1\na 3 30MiB\nf 3\ne\n";
    char first[256], second[256];
    recording run;
    recording_make(&run, "recording", script, strlen(script));
    assert_int_equal(fl_rebuild(run.trace, 0, NULL, NULL), FL_OK);
    say_inferred(run.trace, first, sizeof first);
    assert_int_equal(fl_rebuild(run.trace, 0, NULL, NULL), FL_OK);
    say_inferred(run.trace, second, sizeof second);
    assert_string_equal(first, second);
    recording_free(&run);
}

static void a_window_cut_at_both_ends_is_not_rebuilt(void **state)
{
    (void)state;
    fl_trace *trace = history_make("f1 d1 a2");
    assert_int_equal(fl_trace_finish(trace, NULL), FL_OK);
    fl_error error = {0};
    assert_int_equal(fl_rebuild(trace, 0, NULL, &error), FL_ERR_UNAVAILABLE);
    assert_string_equal(error.text,
                        "words: the window is cut at both ends: device 0 had memory before its "
                        "first event, and the final state, from which that follows, is missing");
    error = (fl_error){0};
    assert_int_equal(fl_rebuild(trace, 4, NULL, &error), FL_ERR_USAGE);
    assert_string_equal(error.text, "words: there is no trace of device 4");
    fl_trace_free(trace);
}

/* The op that the last recorded steps belong to may be lost: then nothing is known of them. */
static void whatever_a_cut_took_is_excused_and_never_different(void **state)
{
    (void)state;
    FILE *file = fopen("tests/data/snapshots/rs_basic.pickle", "rb");
    assert_non_null(file);
    static char bytes[1 << 16];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    uint64_t excused = 0, complete = 0;
    for (size_t cut = 1; cut < size; cut++) {
        fl_trace *trace = NULL;
        fl_read_options options = {.accept_cut = true};
        if (fl_read_memory(bytes, cut, "cut", &options, &trace, NULL) != FL_OK)
            continue;
        if (fl_trace_device_count(trace) > 0 && fl_trace_is_complete(trace, 0)) {
            fl_verdict verdict;
            assert_int_equal(fl_verify(trace, 0, NULL, NULL, &verdict, NULL), FL_OK);
            assert_false(verdict.has_difference);
            excused += verdict.decisions[FL_DECISION_SEGMENT].excused;
            complete++;
        }
        fl_trace_free(trace);
    }
    assert_true(complete > 0);
    assert_true(excused > 0);
}

static void a_history_that_no_reading_explains_is_read_from_its_form(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\n"
                                 "a 1 20MiB\na 2 1\nf 1\ne\na 3 30MiB\nf 3\ne\nf 2\ne\n";
    char text[256];
    recording run;
    recording_make(&run, "recording", script, strlen(script));
    run.trace->devices.items[0].columns.address[1] += 512; /* no allocator puts it there */
    assert_int_equal(fl_rebuild(run.trace, 0, NULL, NULL), FL_OK);
    say_inferred(run.trace, text, sizeof text);
    assert_string_equal(text, "E@12 E@15");
    recording_free(&run);
}

/* Whatever a search may guess, what is inferred stands in the order of the events. */
static void a_guess_in_the_midst_of_releases_comes_before_their_empty_cache(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\n"
                                 "a 1 500\nb 1\na 2 3MiB\na 3 300\nq 1\nb 2\na 4 3MiB\na 5 300\n"
                                 "q 2\nf 2\nf 3\nf 4\nf 5\nx 1\ne 1\nx 2\ne 2\na 6 3MiB\n";
    recording run;
    const fl_profile *profile = fl_record_profile(NULL);
    recording_make_as(&run, "recording", script, strlen(script), profile, true);
    const fl_columns *columns = fl_trace_columns(run.trace, 0);
    uint32_t text;
    assert_int_equal(fl_trace_intern_text(run.trace, "", 0, &text, NULL), FL_OK);
    for (uint64_t event = 0; event <= columns->count; event++) {
        fl_guess guess;
        fl_attempt attempt;
        fl_settings settings;
        fl_settings_default(profile, &settings);
        assert_int_equal(fl_guess_make(run.trace, 0, profile, &settings, &guess, NULL), FL_OK);
        assert_int_equal(fl_guess_add_settings(run.trace, &guess, event, text, NULL), FL_OK);
        assert_int_equal(fl_guess_plan(run.trace, 0, &guess, NULL), FL_OK);
        assert_int_equal(fl_rebuild_try(run.trace, 0, profile, &guess, &attempt, NULL), FL_OK);
        assert_true(attempt.is_explained);
        size_t count;
        const fl_insertion *list = fl_trace_insertions(run.trace, 0, &count);
        for (size_t i = 1; i < count; i++)
            assert_true(list[i - 1].event <= list[i].event);
        fl_guess_deinit(run.trace->host, &guess);
    }
    recording_free(&run);
}

static fl_status copy_and_rebuild(const fl_host *host, void *user, fl_error *error)
{
    fl_trace *copy = NULL;
    fl_status status = recording_copy(user, host, &copy, error);
    if (status == FL_OK)
        status = fl_rebuild(copy, 0, NULL, error);
    fl_trace_free(copy);
    return status;
}

static void every_failure_of_the_host_ends_the_rebuild(void **state)
{
    (void)state;
    static const char script[] = "# cap=40MiB conf=\n"
                                 "a 1 20MiB\nr 1 64\np\nf 1\na 2 1\na 3 30MiB\nf 3\ne\n";
    recording run;
    recording_make(&run, "recording", script, strlen(script));
    assert_true(failing_host_sweep(copy_and_rebuild, &run) > 10);
    recording_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_cache_before_a_request_served_from_the_cache_is_found),
        cmocka_unit_test(an_empty_cache_before_a_free_is_found),
        cmocka_unit_test(an_empty_cache_at_the_end_is_found),
        cmocka_unit_test(an_empty_cache_before_a_new_segment_is_found_where_the_device_had_room),
        cmocka_unit_test(an_empty_cache_that_did_nothing_leaves_nothing_to_find),
        cmocka_unit_test(an_empty_cache_before_a_refusal_is_taken_for_the_requests_own),
        cmocka_unit_test(what_a_request_gives_back_is_no_empty_cache),
        cmocka_unit_test(oversize_blocks_given_back_for_a_request_are_no_empty_cache),
        cmocka_unit_test(a_free_that_waits_is_held_and_comes_back_by_itself),
        cmocka_unit_test(a_completion_that_an_empty_cache_waited_for_is_silent),
        cmocka_unit_test(a_completion_that_a_request_waited_for_comes_after_it_elsewhere),
        cmocka_unit_test(a_free_still_waiting_at_the_end_stays_held),
        cmocka_unit_test(a_pair_that_the_next_request_waited_for_is_taken_apart),
        cmocka_unit_test(rebuilding_again_changes_nothing),
        cmocka_unit_test(a_window_cut_at_both_ends_is_not_rebuilt),
        cmocka_unit_test(whatever_a_cut_took_is_excused_and_never_different),
        cmocka_unit_test(a_history_that_no_reading_explains_is_read_from_its_form),
        cmocka_unit_test(a_guess_in_the_midst_of_releases_comes_before_their_empty_cache),
        cmocka_unit_test(every_failure_of_the_host_ends_the_rebuild),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
