/* What each release says when each scenario ends out of memory: the script through the replay, the
 * numbers from the policy, byte for byte as the binary said it. */
#include "table.h"

#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `\x00` in a data file stands for that byte. */
static size_t unescape(char *text)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; to++) {
        unsigned byte;
        if (from[0] == '\\' && sscanf(from + 1, "x%2x", &byte) == 1) {
            *to = (char)byte;
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}

/* On 2.0 to 2.2, where scopes had another interface, the pool scenario ran without its scope. */
static void read_scenario(const char *name, bool without_scope, fl_trace **ret_trace)
{
    char path[256];
    size_t size;
    fl_error error = {0};
    snprintf(path, sizeof path, CONFORMANCE "oom_scenarios/%s.txt", name);
    char *text = file_read(path, &size);
    for (char *line = text; without_scope && (line = strchr(line, '\n')) != NULL;) {
        line++;
        if (*line == 'b' || *line == 'q')
            memcpy(line, "# ", 2);
    }
    if (fl_read_memory(text, size, path, NULL, ret_trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    free(text);
}

/* The message of the first refusal; its length. */
static size_t run_scenario(const fl_trace *trace, const fl_profile *profile, char *buffer,
                           size_t size)
{
    fl_replay_options options = {
        .profile = profile,
        .conf = fl_trace_conf(trace),
        .fraction = -1,
        .capacity_bytes = fl_trace_capacity(trace),
    };
    fl_replay *replay = NULL;
    fl_error error = {0};
    fl_replay_summary summary;
    if (fl_replay_open(trace, &options, &replay, &error) != FL_OK ||
        fl_replay_run(replay, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_replay_get_summary(replay, &summary);
    fl_replay_close(replay);
    assert_true(summary.has_oom && summary.oom.has_refusal);
    assert_int_equal(summary.oom.outcome, FL_REFUSED);
    /* The one process that the recording machine listed was the program itself. */
    const fl_refusal *refusal = &summary.oom.refusal;
    const fl_process own = {1, refusal->total_bytes - refusal->device_free_bytes, true};
    return fl_refusal_message(profile, refusal, 0, &own, 1, buffer, size);
}

static void every_release_says_what_its_binary_said(void **state)
{
    (void)state;
    table t = table_open(CONFORMANCE "oom_messages.tsv");
    char *cells[3], printed[4096];
    size_t count = 0;
    for (; table_next(&t, cells); count++) {
        fl_trace *trace = NULL;
        const fl_profile *profile = release_named(cells[0]);
        bool is_early = cells[0][2] < '3' && cells[0][3] == '.';
        read_scenario(cells[1], is_early, &trace);
        size_t length = run_scenario(trace, profile, printed, sizeof printed);
        size_t expected = unescape(cells[2]);
        /* The recorder took texts for C strings and stopped where 2.3 prints device 0. */
        if (strlen(printed) < length && strlen(cells[2]) == expected)
            length = strlen(printed);
        if (length != expected || memcmp(printed, cells[2], length) != 0)
            fail_msg("%s %s:\n%s\nexpected\n%s", cells[0], cells[1], printed, cells[2]);
        fl_trace_free(trace);
    }
    table_close(&t);
    assert_int_equal(count, 151);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_release_says_what_its_binary_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
