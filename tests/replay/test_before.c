#include "test.h"

#include <fraglab/read.h>
#include <fraglab/verify.h>

#include <string.h>

/* Replays a script from an operation on, under PyTorch 2.9.1. */
static fl_replay_summary replayed(const char *text, uint64_t first, fl_start_choice start)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options reading = {.format = "script"};
    if (fl_read_memory(text, strlen(text), "s", &reading, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_replay_options options = {
        .fraction = -1, .capacity_bytes = (uint64_t)1 << 30, .on_oom = FL_ON_OOM_SKIP};
    bool is_exact;
    assert_int_equal(fl_profile_find("2.9.1", &options.profile, &is_exact, NULL), FL_OK);
    if (fl_start_at(trace, 0, options.profile, first, &options, &error) != FL_OK)
        fail_msg("%s", error.text);
    options.first_event = first;
    options.end_event = fl_trace_event_count(trace, 0);
    options.start = start;
    fl_replay *replay = NULL;
    if (fl_replay_open(trace, &options, &replay, &error) != FL_OK ||
        fl_replay_run(replay, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_replay_summary summary;
    fl_replay_get_summary(replay, &summary);
    summary.pools = NULL;
    fl_replay_close(replay);
    fl_trace_free(trace);
    return summary;
}

static void limits_and_settings_stay(void **state)
{
    (void)state;
    static const char limit[] = "F 0.5\na 1 300MiB\na 2 300MiB\n";
    assert_int_equal(replayed(limit, 2, FL_START_RECORDED).ooms, 1);
    assert_int_equal(replayed(limit, 2, FL_START_FRESH).ooms, 1);
    static const char conf[] = "C expandable_segments:True\na 1 30MiB\na 2 30MiB\n";
    fl_replay_summary summary = replayed(conf, 2, FL_START_RECORDED);
    assert_int_equal(summary.driver_malloc, 0);
    assert_true(summary.driver_map > 0);
    static const char outside[] = "o 900MiB\na 1 20MiB\na 2 300MiB\n";
    assert_int_equal(replayed(outside, 2, FL_START_RECORDED).ooms, 1);
}

static void an_open_scope_stays_open(void **state)
{
    (void)state;
    /* Number 1 leaves room in the pool, number 2 in the default one. */
    static const char text[] = "a 2 3MiB\nb 2\na 1 3MiB\na 3 3MiB\nq 2\n";
    assert_int_equal(replayed(text, 3, FL_START_RECORDED).driver_malloc, 0);
    static const char ended[] = "a 2 11MiB\nb 2\na 1 3MiB\nq 2\na 3 12MiB\n";
    assert_int_equal(replayed(ended, 4, FL_START_RECORDED).driver_malloc, 1);
}

static void a_pool_is_held_as_often_as_before(void **state)
{
    (void)state;
    /* Released once, it is still held; released twice, its memory can go. */
    static const char text[] = "b 2\na 1 3MiB\nq 2\nb 2\nq 2\nf 1\nx 2\ne\nx 2\ne\n";
    assert_int_equal(replayed(text, 6, FL_START_RECORDED).end.reserved_bytes, 0);
    assert_int_equal(replayed(text, 8, FL_START_RECORDED).end.reserved_bytes, 0);
    assert_int_equal(replayed(text, 9, FL_START_RECORDED).end.reserved_bytes, 0);
}

static void what_was_asked_before_is_not_counted(void **state)
{
    (void)state;
    static const char text[] = "a 1 512\na 2 512\nr 1 64\np\nf 1\nf 2\nc\na 3 512\n";
    fl_replay_summary summary = replayed(text, 6, FL_START_RECORDED);
    assert_int_equal(summary.events, 2);
    assert_int_equal(summary.allocs, 1);
    assert_int_equal(summary.frees, 0);
    assert_int_equal(summary.end.active_bytes, 512);
    assert_int_equal(summary.stats.stat[FL_STAT_ALLOCATION][FL_STAT_ALL].freed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_and_settings_stay),
        cmocka_unit_test(an_open_scope_stays_open),
        cmocka_unit_test(a_pool_is_held_as_often_as_before),
        cmocka_unit_test(what_was_asked_before_is_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
