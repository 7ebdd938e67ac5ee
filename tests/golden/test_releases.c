/* Every script through every release: each decision, state and counter as the released allocator's
 * own, line for line, and each refused setting refused. */
#include "table.h"

#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What was recorded, and how far the replay has come in it. */
typedef struct recorded {
    fl_decision_log log;
    char *text, *at;
    size_t line;
    char difference[512]; /* empty: none so far */
} recorded;

static fl_status compare_line(void *user, const char *line, fl_error *error)
{
    recorded *r = user;
    size_t length = strcspn(r->at, "\n");
    r->line++;
    if (strlen(line) != length || memcmp(line, r->at, length) != 0) {
        snprintf(r->difference, sizeof r->difference, "line %zu: expected '%.*s', got '%s'",
                 r->line, length < 200 ? (int)length : 200, r->at, line);
        return fl_fail(error, FL_ERR_NO, "%s", r->difference);
    }
    r->at += length + (r->at[length] != '\0');
    return FL_OK;
}

static fl_status watch(void *user, const fl_view *view, fl_error *error)
{
    recorded *r = user;
    return fl_decision_log_view(&r->log, view, error);
}

static fl_status replay_script(const fl_trace *trace, const fl_profile *profile, recorded *r,
                               fl_error *error)
{
    fl_replay_options options = {
        .profile = profile,
        .conf = fl_trace_conf(trace),
        .fraction = -1,
        .capacity_bytes = fl_trace_capacity(trace),
        .on_oom = FL_ON_OOM_SKIP,
        .check_every_op = true,
        .watch = watch,
        .user = r,
    };
    fl_replay *replay = NULL;
    fl_status status = fl_replay_open(trace, &options, &replay, error);
    r->log = (fl_decision_log){trace, 0, replay, compare_line, r};
    if (status == FL_OK)
        status = fl_replay_run(replay, error);
    fl_replay_close(replay);
    return status;
}

static const fl_trace *read_script(const char *name, fl_trace **held, char held_name[64])
{
    if (strcmp(name, held_name) == 0)
        return *held;
    fl_trace_free(*held);
    char path[256];
    fl_error error = {0};
    snprintf(path, sizeof path, CONFORMANCE "scripts/%s.txt", name);
    snprintf(held_name, 64, "%s", name);
    if (fl_read_file(path, NULL, held, &error) != FL_OK)
        fail_msg("%s", error.text);
    return *held;
}

static void expect_refusal(const fl_trace *trace, const char *script, const char *release)
{
    recorded r = {0};
    fl_error error = {0};
    if (replay_script(trace, release_named(release), &r, &error) != FL_ERR_USAGE)
        fail_msg("%s on %s: the settings are not refused", script, release);
    assert_true(error.text[0] != '\0');
}

static void expect_outcome(const fl_trace *trace, const char *const cells[3])
{
    char path[256];
    size_t size;
    snprintf(path, sizeof path, CONFORMANCE "decisions/%s.%s.txt", cells[0], cells[2]);
    recorded r = {.text = file_read(path, &size)};
    r.at = r.text;
    fl_error error = {0};
    fl_status status = replay_script(trace, release_named(cells[1]), &r, &error);
    if (status != FL_OK)
        fail_msg("%s on %s: %s", cells[0], cells[1], error.text);
    if (*r.at != '\0')
        fail_msg("%s on %s: ends after line %zu", cells[0], cells[1], r.line);
    free(r.text);
}

static void every_release_decides_what_its_binary_decided(void **state)
{
    (void)state;
    table t = table_open(CONFORMANCE "releases.tsv");
    fl_trace *held = NULL;
    char held_name[64] = "", *cells[3];
    size_t outcomes = 0, refusals = 0;
    while (table_next(&t, cells)) {
        const fl_trace *trace = read_script(cells[0], &held, held_name);
        if (strcmp(cells[2], "-") == 0) {
            expect_refusal(trace, cells[0], cells[1]);
            refusals++;
        } else {
            expect_outcome(trace, (const char *const *)cells);
            outcomes++;
        }
    }
    fl_trace_free(held);
    table_close(&t);
    assert_int_equal(outcomes, 1626);
    assert_int_equal(refusals, 132);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_release_decides_what_its_binary_decided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
