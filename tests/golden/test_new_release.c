/* A release that nobody has released yet: one row, one rule changed (docs/adding-a-release.md). */
#include "rules/profile.h"
#include "table.h"

#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <stdio.h>
#include <string.h>

/* The older of two free segments lies at the higher address; which one serves request 4? */
static const char script[] = "# cap=1GiB conf=\n"
                             "a 1 30MiB\na 2 30MiB\nf 1\ne\na 3 30MiB\nf 2\nf 3\na 4 30MiB\n";

static fl_status watch(void *user, const fl_view *view, fl_error *error)
{
    (void)error;
    uint64_t *last_address = user;
    if (view->op->kind == FL_OP_ALLOC)
        *last_address = view->result->address;
    return FL_OK;
}

static uint64_t last_address(const fl_profile *profile)
{
    fl_trace *trace = NULL;
    fl_replay *replay = NULL;
    uint64_t address = 0;
    fl_error error = {0};
    if (fl_read_memory(script, strlen(script), "s", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    const fl_replay_options options = {
        .profile = profile,
        .conf = fl_trace_conf(trace),
        .fraction = -1,
        .capacity_bytes = fl_trace_capacity(trace),
        .check_every_op = true,
        .watch = watch,
        .user = &address,
    };
    if (fl_replay_open(trace, &options, &replay, &error) != FL_OK ||
        fl_replay_run(replay, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_replay_close(replay);
    fl_trace_free(trace);
    return address;
}

static fl_profile next_release(void)
{
    fl_profile next = *fl_profile_newest();
    next.release = "2.16.0";
    next.minor = 16;
    next.tie = FL_TIE_ADDRESS;
    return next;
}

static void one_changed_field_changes_that_rule(void **state)
{
    (void)state;
    const fl_profile next = next_release();
    assert_int_equal(last_address(fl_profile_newest()), UINT64_C(0x7f0001e00000));
    assert_int_equal(last_address(&next), UINT64_C(0x7f0000000000));
}

struct listed {
    char keys[16384];
};

static void list_key(void *user, const char *key, int64_t value)
{
    (void)value;
    struct listed *listed = user;
    size_t used = strlen(listed->keys);
    snprintf(listed->keys + used, sizeof listed->keys - used, "%s\n", key);
}

static void everything_else_goes_on_as_before(void **state)
{
    (void)state;
    const fl_profile next = next_release();
    const fl_oom_facts oom = {.limit = FL_UNLIMITED, .expandable = true, .reserve = FL_UNLIMITED};
    char before[4096], after[4096];
    fl_oom_message(fl_profile_newest(), &oom, before, sizeof before);
    fl_oom_message(&next, &oom, after, sizeof after);
    assert_string_equal(after, before);

    static struct listed old, new;
    const fl_stats stats = {0};
    fl_stats_list(fl_profile_newest(), &stats, NULL, 0, list_key, &old);
    fl_stats_list(&next, &stats, NULL, 0, list_key, &new);
    assert_string_equal(new.keys, old.keys);

    fl_settings settings;
    fl_settings_default(&next, &settings);
    assert_int_equal(fl_settings_parse(&next,
                                       "expandable_segments_reserve:0.5,large_segment_size_mb:30,"
                                       "throw_on_cudamalloc_oom:True",
                                       &settings, NULL),
                     FL_OK);
    assert_true(settings.reserve.is_given && settings.reject_on_oom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_changed_field_changes_that_rule),
        cmocka_unit_test(everything_else_goes_on_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
