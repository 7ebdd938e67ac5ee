#include "analysis/shrink.h"

#include <fraglab/read.h>
#include <fraglab/verify.h>

#include "failing_host.h"
#include "shrinking.h"
#include "test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char left[65536];

/* The first refusal of a script, which must be of its last request. */
static fl_oom last_refusal(const shrinking *s, const char *script)
{
    fl_trace *trace = NULL;
    fl_read_options read = {.format = "script"};
    fl_replay_options options = s->options.replay;
    fl_replay *replay = NULL;
    fl_replay_summary summary;
    options.fraction = -1;
    assert_int_equal(fl_read_memory(script, strlen(script), "s", &read, &trace, NULL), FL_OK);
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    fl_replay_get_summary(replay, &summary);
    assert_true(summary.has_oom);
    assert_int_equal(summary.oom.id, fl_trace_alloc_count(trace, 0) - 1);
    fl_replay_close(replay);
    fl_trace_free(trace);
    return summary.oom;
}

static int lines_of(const char *script)
{
    int lines = 0;
    for (; *script != '\0'; script++)
        lines += *script == '\n';
    return lines;
}

static void a_big_block_that_survivors_pin_is_left_in_a_few_lines(void **state)
{
    (void)state;
    shrinking s;
    fl_shrink_report report;
    shrinking_open(&s,
                   "# cap=1GiB\n"
                   "a 1 200MiB\na 2 600MiB\nf 2\na 3 16MiB\na 4 100KiB\na 5 90MiB\nf 5\n"
                   "a 6 16MiB\nf 4\na 7 600MiB\nf 7\na 8 1MiB\n",
                   NULL);
    assert_int_equal(shrink_leaves(&s, left, sizeof left, &report, NULL), FL_OK);
    assert_int_equal(report.end, FL_SHRINK_MINIMAL);
    assert_int_equal(report.operations_before, 12);
    assert_int_equal(report.operations_after, lines_of(left));
    assert_int_equal(report.refusal.outcome, FL_REFUSED);
    assert_int_equal(report.refusal.room, FL_SHRINK_ROOM_TOGETHER);
    assert_true(lines_of(left) <= 5);
    fl_oom oom = last_refusal(&s, left);
    assert_true(oom.refusal.cached_free_bytes + oom.refusal.device_free_bytes >=
                oom.refusal.rounded_bytes);
    shrinking_close(&s);
}

static void a_full_card_is_left_as_what_fills_it(void **state)
{
    (void)state;
    shrinking s;
    fl_shrink_report report;
    shrinking_open(&s,
                   "# cap=1GiB\na 1 300MiB\na 2 300MiB\nf 1\na 3 300MiB\na 4 300MiB\n"
                   "a 5 300MiB\na 6 1GiB\n",
                   NULL);
    assert_int_equal(shrink_leaves(&s, left, sizeof left, &report, NULL), FL_OK);
    assert_int_equal(report.refusal.room, FL_SHRINK_NO_ROOM);
    assert_string_equal(left, "a 1 805306368 0\na 2 301989888 0\n");
    shrinking_close(&s);
}

static void a_private_pool_is_kept_where_it_matters(void **state)
{
    (void)state;
    shrinking s;
    fl_shrink_report report;
    shrinking_open(&s,
                   "# cap=100MiB\nb 2\na 9 2MiB\nq 2\nb 1\na 1 60MiB\nf 1\nq 1\nx 2\n"
                   "a 2 4MiB\na 3 60MiB\nx 1\n",
                   NULL);
    assert_int_equal(shrink_leaves(&s, left, sizeof left, &report, NULL), FL_OK);
    assert_int_equal(report.refusal.room, FL_SHRINK_ROOM_IN_CACHE);
    assert_non_null(strstr(left, "b 1\n"));
    assert_null(strstr(left, "b 2\n"));
    last_refusal(&s, left);
    shrinking_close(&s);
}

static void a_fraction_becomes_part_of_the_script(void **state)
{
    (void)state;
    shrinking s;
    fl_shrink_report report;
    shrinking_open(&s, "# cap=1GiB\na 1 100MiB\na 2 400MiB\na 3 200MiB\n", NULL);
    s.options.replay.fraction = 0.5;
    assert_int_equal(shrink_leaves(&s, left, sizeof left, &report, NULL), FL_OK);
    assert_int_equal(strncmp(left, "F 0.5\n", 6), 0);
    last_refusal(&s, left);
    shrinking_close(&s);
}

static void without_a_refusal_there_is_nothing_to_keep(void **state)
{
    (void)state;
    shrinking s;
    fl_shrink_report report;
    fl_error error = {0};
    shrinking_open(&s, "# cap=1GiB\na 1 100MiB\n", NULL);
    assert_int_equal(shrink_leaves(&s, left, sizeof left, &report, &error), FL_ERR_NO);
    assert_string_equal(error.text, "s: every request was served, so there is no refusal");
    shrinking_close(&s);
}

static bool has_a_trim_after_a_mark(const char *script)
{
    const char *mark = strstr(script, "m here\n");
    return mark != NULL && strstr(mark, "\ne\n") != NULL;
}

static bool never(const char *script)
{
    (void)script;
    return false;
}

static void a_question_is_kept_instead_of_the_refusal(void **state)
{
    (void)state;
    static const char script[] = "a 1 512\na 2 600 64\nm here\nf 1\ne\na 3 5\ne\nf 2\n";
    shrinking s;
    fl_shrink_report report;
    fl_error error = {0};
    shrinking_open(&s, script, has_a_trim_after_a_mark);
    assert_int_equal(shrink_leaves(&s, left, sizeof left, &report, NULL), FL_OK);
    assert_string_equal(left, "m here\ne\n");
    assert_int_equal(report.tries, s.tries);
    shrinking_close(&s);
    shrinking_open(&s, script, never);
    assert_int_equal(shrink_leaves(&s, left, sizeof left, &report, &error), FL_ERR_NO);
    assert_string_equal(error.text, "s: the whole trace does not show it");
    assert_int_equal(s.tries, 1);
    shrinking_close(&s);
}

static bool progress_until(void *user, uint64_t operations_left, uint64_t before)
{
    shrinking *s = user;
    assert_true(operations_left <= before);
    return s->tries < 5;
}

static void ended_early_the_best_so_far_is_given(void **state)
{
    (void)state;
    static const char script[] = "a 1 512\na 2 600\na 3 700\nm here\nf 1\ne\na 4 5\ne\nf 2\n";
    shrinking s;
    fl_shrink_report report;
    for (uint64_t most = 1; most < 12; most++) {
        shrinking_open(&s, script, has_a_trim_after_a_mark);
        s.options.most_tries = most;
        assert_int_equal(shrink_leaves(&s, left, sizeof left, &report, NULL), FL_OK);
        assert_true(has_a_trim_after_a_mark(left));
        assert_true(report.tries <= most);
        assert_true(report.end == FL_SHRINK_EXHAUSTED || most >= 8);
        shrinking_close(&s);
    }
    shrinking_open(&s, script, has_a_trim_after_a_mark);
    s.options.progress = progress_until;
    assert_int_equal(shrink_leaves(&s, left, sizeof left, &report, NULL), FL_OK);
    assert_int_equal(report.end, FL_SHRINK_STOPPED);
    assert_true(has_a_trim_after_a_mark(left));
    shrinking_close(&s);
}

/* Whether a script of the conformance data is refused something by 2.9.1 as it is. */
static bool shrink_file(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    if (getdelim(&text, &length, '\0', file) < 0)
        fail_msg("%s is empty", path);
    fclose(file);
    shrinking s;
    fl_shrink_report report;
    fl_settings settings;
    fl_status status;
    shrinking_open(&s, text, NULL);
    const fl_profile *profile = s.options.replay.profile;
    fl_settings_default(profile, &settings);
    status = fl_settings_parse(profile, s.options.replay.conf, &settings, NULL);
    if (status == FL_OK)
        status = shrink_leaves(&s, left, sizeof left, &report, NULL);
    bool is_refused = status == FL_OK;
    if (is_refused) {
        fl_oom oom = last_refusal(&s, left);
        assert_int_equal(report.end, FL_SHRINK_MINIMAL);
        assert_int_equal(oom.outcome, report.refusal.outcome);
        if (lines_of(left) > 60)
            fail_msg("%s: %d lines are left", path, lines_of(left));
    }
    shrinking_close(&s);
    free(text);
    return is_refused;
}

static void every_recorded_script_shrinks_to_its_refusal(void **state)
{
    (void)state;
    glob_t found;
    size_t refused = 0;
    assert_int_equal(glob("tests/data/conformance/scripts/*.txt", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        refused += shrink_file(found.gl_pathv[i]);
    assert_true(refused >= 10);
    globfree(&found);
}

static void a_snapshot_shrinks_to_a_handful_of_lines(void **state)
{
    (void)state;
    shrinking s;
    fl_shrink_report report;
    fl_trace *trace = NULL, *small = NULL;
    shrinking_open(&s, "# cap=2749366272\n", NULL);
    assert_int_equal(fl_read_file("traces/gpt_oom.pickle.gz", NULL, &trace, NULL), FL_OK);
    assert_int_equal(fl_rebuild(trace, 0, s.options.replay.profile, NULL), FL_OK);
    assert_int_equal(fl_shrink(trace, &s.options, &small, &report, NULL), FL_OK);
    char *script = script_of(small);
    assert_true(lines_of(script) <= 20);
    assert_int_equal(report.refusal.room, FL_SHRINK_ROOM_IN_CACHE);
    last_refusal(&s, script);
    free(script);
    fl_trace_free(small);
    fl_trace_free(trace);
    shrinking_close(&s);
}

static fl_status shrink_all(const fl_host *host, void *user, fl_error *error)
{
    shrinking *s = user;
    fl_shrink_report report;
    fl_trace *small = NULL;
    s->options.replay.host = host;
    fl_status status = fl_shrink(s->trace, &s->options, &small, &report, error);
    fl_trace_free(small);
    return status;
}

static void a_host_without_memory_is_a_resource_error(void **state)
{
    (void)state;
    shrinking s;
    shrinking_open(&s, "# cap=40MiB\nb 1\na 1 512\nq 1\na 2 30MiB\na 3 20MiB 64\n", NULL);
    s.options.most_tries = 6;
    assert_true(failing_host_sweep(shrink_all, &s) > 20);
    shrinking_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_big_block_that_survivors_pin_is_left_in_a_few_lines),
        cmocka_unit_test(a_full_card_is_left_as_what_fills_it),
        cmocka_unit_test(a_private_pool_is_kept_where_it_matters),
        cmocka_unit_test(a_fraction_becomes_part_of_the_script),
        cmocka_unit_test(without_a_refusal_there_is_nothing_to_keep),
        cmocka_unit_test(a_question_is_kept_instead_of_the_refusal),
        cmocka_unit_test(ended_early_the_best_so_far_is_given),
        cmocka_unit_test(every_recorded_script_shrinks_to_its_refusal),
        cmocka_unit_test(a_snapshot_shrinks_to_a_handful_of_lines),
        cmocka_unit_test(a_host_without_memory_is_a_resource_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
