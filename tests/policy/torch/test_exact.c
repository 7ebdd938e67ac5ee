#include "test.h"

#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <stdio.h>
#include <string.h>

/* What a script decides, as text; its invariants are checked after every op. */
struct shown {
    fl_decision_log log;
    char text[4096];
};

static fl_status show_line(void *user, const char *line, fl_error *error)
{
    (void)error;
    struct shown *shown = user;
    size_t used = strlen(shown->text);
    snprintf(shown->text + used, sizeof shown->text - used, "%s\n", line);
    return FL_OK;
}

static fl_status show_view(void *user, const fl_view *view, fl_error *error)
{
    struct shown *shown = user;
    return fl_decision_log_view(&shown->log, view, error);
}

/* Runs a script on a release (NULL: the newest) and compares what it decided and its summary. */
static fl_replay_summary run(const char *release, const char *script, const char *decisions)
{
    fl_trace *trace = NULL;
    fl_replay *replay = NULL;
    fl_error error = {0};
    struct shown shown = {.text = ""};
    bool is_exact;
    fl_replay_options options = {
        .fraction = -1,
        .capacity_bytes = UINT64_C(1) << 30,
        .on_oom = FL_ON_OOM_SKIP,
        .check_every_op = true,
        .watch = show_view,
        .user = &shown,
    };
    if ((release != NULL &&
         fl_profile_find(release, &options.profile, &is_exact, &error) != FL_OK) ||
        fl_read_memory(script, strlen(script), "s", NULL, &trace, &error) != FL_OK ||
        fl_replay_open(trace, &options, &replay, &error) != FL_OK)
        fail_msg("%s", error.text);
    shown.log = (fl_decision_log){trace, 0, replay, show_line, &shown};
    if (fl_replay_run(replay, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_string_equal(shown.text, decisions);
    fl_replay_summary summary;
    fl_replay_get_summary(replay, &summary);
    fl_replay_close(replay);
    fl_trace_free(trace);
    return summary;
}

/* 3 of 20 MiB are taken; 1.5 MiB are asked for at 10 MiB, so 7 MiB before them are handed out, and
 * returned when the request has its block. */
static void the_front_is_handed_out_and_returned(void **state)
{
    (void)state;
    fl_replay_summary summary = run(NULL, "a 1 3MiB\na 2 1.5MiB 0 at=0x7f0000a00000\ns\n",
                                    "m 7f0000000000 20971520\n"
                                    "A 1 7f0000000000\n"
                                    "A 2 7f0000a00000\n"
                                    "S 7f0000000000 20971520 large 0\n"
                                    "B 3145728 3145728 live\n"
                                    "B 7340032 7340032 free\n"
                                    "B 1572864 1572864 live\n"
                                    "B 8912896 0 free\n");
    fl_stat(*stat)[FL_STAT_GROUPS] = summary.stats.stat;
    assert_int_equal(stat[FL_STAT_ALLOCATION][FL_STAT_ALL].allocated, 3);
    assert_int_equal(stat[FL_STAT_ALLOCATION][FL_STAT_ALL].peak, 3);
    assert_int_equal(stat[FL_STAT_ALLOCATED_BYTES][FL_STAT_ALL].peak, 12058624);
    assert_int_equal(summary.peak.allocated_bytes, 12058624);
    assert_int_equal(summary.end.allocated_bytes, 4718592);
    assert_int_equal(stat[FL_STAT_INACTIVE_SPLIT][FL_STAT_ALL].current, 2);
    assert_int_equal(stat[FL_STAT_INACTIVE_SPLIT_BYTES][FL_STAT_ALL].current, 16252928);
}

static void at_the_beginning_of_a_free_block_there_is_no_front(void **state)
{
    (void)state;
    fl_replay_summary summary = run(NULL,
                                    "a 1 3MiB\na 2 19MiB 0 at=0x7f0000300000\n"
                                    "a 3 17MiB 0 at=0x7f0000300000\nf 3\nf 1\ne\n",
                                    "m 7f0000000000 20971520\n"
                                    "A 1 7f0000000000\n"
                                    "O 2\n"
                                    "A 3 7f0000300000\n"
                                    "f 7f0000000000\n");
    assert_int_equal(summary.stats.stat[FL_STAT_ALLOCATION][FL_STAT_ALL].allocated, 2);
    assert_int_equal(summary.stats.ooms, 0);
}

/* The rest must be worth a split, as for any request: 16.5 of 17 MiB are handed out whole. */
static void what_is_behind_is_split_off_by_the_usual_rule(void **state)
{
    (void)state;
    run(NULL, "a 1 3MiB\na 2 16.5MiB 0 at=0x7f0000300000\ns\n",
        "m 7f0000000000 20971520\n"
        "A 1 7f0000000000\n"
        "A 2 7f0000300000\n"
        "S 7f0000000000 20971520 large 0\n"
        "B 3145728 3145728 live\n"
        "B 17825792 17301504 live\n");
}

/* A live block, an odd address, another stream, another pool, and nowhere: no memory is asked for,
 * and it is no out-of-memory. */
static void what_is_not_free_there_is_an_error(void **state)
{
    (void)state;
    fl_replay_summary summary = run(NULL,
                                    "a 1 3MiB\na 2 1.5MiB 0 at=0x7f0000200000\n"
                                    "a 3 1.5MiB 0 at=0x7f0000a00100\n"
                                    "a 4 1.5MiB 64 at=0x7f0000a00000\n"
                                    "a 5 1KiB 0 at=0x7f0000a00000\n"
                                    "a 6 1.5MiB 0 at=0x200\n",
                                    "m 7f0000000000 20971520\n"
                                    "A 1 7f0000000000\n"
                                    "O 2\nO 3\nO 4\nO 5\nO 6\n");
    assert_int_equal(summary.ooms, 5);
    assert_int_equal(summary.stats.ooms, 0);
    assert_int_equal(summary.oom.outcome, FL_FORBIDDEN);
    assert_string_equal(summary.oom.why, "Could not allocate CUDA storage at exact address");
}

static void releases_before_2_13_do_not_know_it(void **state)
{
    (void)state;
    fl_replay_summary summary = run("2.12.1", "a 1 3MiB\na 2 1.5MiB 0 at=0x7f0000a00000\n",
                                    "m 7f0000000000 20971520\nA 1 7f0000000000\nO 2\n");
    assert_string_equal(summary.oom.why, "this release has no requests for an exact address");
    run("2.13.0", "a 1 3MiB\na 2 1.5MiB 0 at=0x7f0000a00000\n",
        "m 7f0000000000 20971520\nA 1 7f0000000000\nA 2 7f0000a00000\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_front_is_handed_out_and_returned),
        cmocka_unit_test(at_the_beginning_of_a_free_block_there_is_no_front),
        cmocka_unit_test(what_is_behind_is_split_off_by_the_usual_rule),
        cmocka_unit_test(what_is_not_free_there_is_an_error),
        cmocka_unit_test(releases_before_2_13_do_not_know_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
