#include "fake_policy.h"
#include "test.h"
#include "trace/build.h"

#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <stdio.h>
#include <string.h>

#define ALL_CAN (FL_CAN_STREAMS | FL_CAN_POOLS | FL_CAN_SETTINGS)

static fl_trace *read_script(const char *text)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(text, strlen(text), "s.txt", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static fl_replay_options options_for(uint32_t capabilities)
{
    return (fl_replay_options){
        .policy = fake_policy(capabilities),
        .fraction = -1,
        .capacity_bytes = FL_UNLIMITED,
        .on_oom = FL_ON_OOM_SKIP,
    };
}

/* Replays and leaves the trace to the caller; what was asked is in fake_log. */
static fl_status run_trace(const fl_trace *trace, const fl_replay_options *options,
                           fl_replay_summary *ret_summary, fl_error *error)
{
    fl_replay *replay = NULL;
    fl_status status = fl_replay_open(trace, options, &replay, error);
    if (status == FL_OK)
        status = fl_replay_run(replay, error);
    if (status == FL_OK && ret_summary != NULL)
        fl_replay_get_summary(replay, ret_summary);
    fl_replay_close(replay);
    return status;
}

static fl_replay_summary run_script(const char *text, const fl_replay_options *options)
{
    fl_trace *trace = read_script(text);
    fl_replay_summary summary;
    fl_error error = {0};
    if (run_trace(trace, options, &summary, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_trace_free(trace);
    return summary;
}

/* ---- which ops the policy sees --------------------------------------------------------------- */

static void every_op_reaches_a_policy_that_knows_it(void **state)
{
    (void)state;
    fl_replay_options options = options_for(ALL_CAN);
    run_script("a 7 100 64\nr 7 0\np\nc\nf 7\ne\nF 0.5\nb 1\nC x:1\n", &options);
    assert_string_equal(fake_log, "a0:100 use0 hold complete f0 trim limit scope configure");
}

static void what_was_found_yields_to_what_is_asked_for(void **state)
{
    (void)state;
    static const struct {
        const char *conf;
        double fraction;
        const char *log;
    } cases[] = {
        {"backend:native", -1, "configure configure limit limit trim"},
        {NULL, -1, "configure limit limit trim"},
        {NULL, 0.5, "configure limit trim"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fl_replay_options options = options_for(ALL_CAN);
        options.conf = cases[i].conf;
        options.fraction = cases[i].fraction;
        run_script("# conf=backend:native\n"
                   "C max_split_size_mb:32 inferred=1\nC max_split_size_mb:64\n"
                   "F 0.5 inferred=1\nF 0.25\ne\n",
                   &options);
        assert_string_equal(fake_log, cases[i].log);
    }
}

static void a_policy_without_a_capability_never_sees_its_ops(void **state)
{
    (void)state;
    fl_replay_options options = options_for(0);
    run_script("a 7 100 64\na 8 1 128\nr 7 0\np\nc\nf 7\ne\nF 0.5\nb 1\nx 1\nC x:1\n", &options);
    assert_string_equal(fake_log, "a0:100 a1:1 f0 trim");
}

static void marks_and_reports_are_for_the_watcher_only(void **state)
{
    (void)state;
    fl_replay_options options = options_for(ALL_CAN);
    fl_replay_summary summary = run_script("m half way\ns\nt\na 1 1\n", &options);
    assert_string_equal(fake_log, "a0:1");
    assert_int_equal(summary.events, 4);
}

static void a_request_for_nothing_gets_address_0_and_asks_nothing(void **state)
{
    (void)state;
    fl_replay_options options = options_for(ALL_CAN);
    fl_replay_summary summary = run_script("a 1 0\nr 1 64\nf 1\na 1 5\n", &options);
    assert_string_equal(fake_log, "a1:5");
    assert_int_equal(summary.allocs, 2);
    assert_int_equal(summary.frees, 0);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void frees_and_uses_of_what_was_refused_are_ignored(void **state)
{
    (void)state;
    fl_replay_options options = options_for(ALL_CAN);
    fl_replay_summary summary = run_script("a 1 1MiB\nr 1 64\nf 1\na 2 8\nf 2\n", &options);
    assert_string_equal(fake_log, "a0:1048576 a1:8 f1");
    assert_int_equal(summary.ooms, 1);
    assert_true(summary.has_oom);
    assert_false(summary.oom.has_refusal);
    assert_int_equal(summary.oom.event, 0);
    assert_int_equal(summary.oom.refusal.requested_bytes, 1 << 20);
}

static void the_first_refusal_ends_a_replay_that_is_to_stop(void **state)
{
    (void)state;
    fl_replay_options options = options_for(ALL_CAN);
    options.on_oom = FL_ON_OOM_STOP;
    fl_replay_summary summary = run_script("a 1 8\na 2 1MiB\na 3 8\n", &options);
    assert_string_equal(fake_log, "a0:8 a1:1048576");
    assert_int_equal(summary.events, 2);
    assert_int_equal(summary.oom.event, 1);
}

/* ---- histories that make no sense ------------------------------------------------------------ */

static const fl_event blank = {
    .id = FL_NONE,
    .stream = 0,
    .pool = FL_NONE,
    .text = FL_NONE,
    .stack = FL_NONE,
    .time_us = FL_TIME_UNKNOWN,
};

/* A trace of one stream and `ids` allocations; `kinds`: a letter and a digit for each event. */
static fl_trace *trace_of(const char *events, uint32_t ids)
{
    static const char letters[] = "afdSs";
    static const uint8_t kinds[] = {FL_OP_ALLOC, FL_OP_FREE, FL_OP_FREE_DONE,
                                    FL_EVENT_SEGMENT_ALLOC, FL_EVENT_SNAPSHOT};
    fl_trace *trace = fl_trace_new(fl_host_default(), "t", NULL);
    assert_non_null(trace);
    uint32_t number;
    assert_int_equal(fl_trace_intern_stream(trace, 0, &number, NULL), FL_OK);
    for (uint32_t i = 0; i < ids; i++)
        assert_int_equal(fl_trace_new_id(trace, 0, i, &number, NULL), FL_OK);
    for (const char *at = events; *at != '\0'; at += at[2] == ' ' ? 3 : 2) {
        fl_event event = blank;
        event.kind = kinds[strchr(letters, at[0]) - letters];
        event.id = (uint32_t)(at[1] - '0');
        event.size = 100;
        assert_int_equal(fl_trace_append(trace, 0, &event, NULL), FL_OK);
    }
    return trace;
}

static void assert_fails(const char *events, uint32_t ids, const char *message)
{
    fl_trace *trace = trace_of(events, ids);
    fl_replay_options options = options_for(ALL_CAN);
    fl_error error = {0};
    assert_int_equal(run_trace(trace, &options, NULL, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, message);
    fl_trace_free(trace);
}

static void what_makes_no_sense_is_an_error_with_its_event(void **state)
{
    (void)state;
    assert_fails("a0 f1", 2, "t: event 1: free of id 1 which is not live");
    assert_fails("a0 f0 f0", 1, "t: event 2: free of id 0 which is not live");
    assert_fails("f7", 1, "t: event 0: free of an allocation that the file never made");
    assert_fails("a0 a0", 1, "t: event 1: allocation number 0 is asked for twice");
    assert_fails("a7", 1, "t: event 0: a request without a number");
    assert_fails("a0 d0", 1, "t: event 1: completed free of allocation 0 which nobody freed");
    assert_fails("d0", 1, "t: event 0: completed free of id 0 which is not live");
}

static void what_the_policy_cannot_do_is_told_with_its_event(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\nb 1\nq 1\n");
    fl_replay_options options = options_for(ALL_CAN);
    fl_error error = {0};
    assert_int_equal(run_trace(trace, &options, NULL, &error), FL_ERR_UNAVAILABLE);
    char expected[64];
    snprintf(expected, sizeof expected, "s.txt: event 2: the fake knows no op %d", FL_OP_SCOPE_END);
    assert_string_equal(error.text, expected);
    fl_trace_free(trace);
}

/* ---- completions and inferred ops ------------------------------------------------------------ */

static void outcomes_and_silent_completions_ask_nothing(void **state)
{
    (void)state;
    fl_trace *trace = trace_of("S0 a0 f0 d0 s0", 1);
    fl_trace_set_flags(trace, 0, 2, FL_OP_HELD);
    fl_trace_set_flags(trace, 0, 3, FL_EVENT_SILENT);
    fl_replay_options options = options_for(ALL_CAN);
    fl_replay_summary summary;
    assert_int_equal(run_trace(trace, &options, &summary, NULL), FL_OK);
    assert_string_equal(fake_log, "a0:100 h0");
    assert_int_equal(summary.events, 5);
    fl_trace_free(trace);
}

static void a_completion_that_already_came_is_no_news(void **state)
{
    (void)state;
    fl_trace *trace = trace_of("a0 f0 d0 d0", 1);
    fl_replay_options options = options_for(ALL_CAN);
    assert_int_equal(run_trace(trace, &options, NULL, NULL), FL_OK);
    assert_string_equal(fake_log, "a0:100 f0");
    fl_trace_free(trace);
}

static void a_held_free_waits_for_its_completion(void **state)
{
    (void)state;
    fl_trace *trace = trace_of("a0 f0 d0", 1);
    fl_trace_set_flags(trace, 0, 1, FL_OP_HELD);
    fl_replay_options options = options_for(ALL_CAN);
    assert_int_equal(run_trace(trace, &options, NULL, NULL), FL_OK);
    assert_string_equal(fake_log, "a0:100 h0 d0");
    fl_trace_free(trace);
}

static void a_policy_without_streams_gets_a_held_free_when_it_completes(void **state)
{
    (void)state;
    fl_trace *trace = trace_of("a0 a1 f0 f1 d0", 2);
    fl_trace_set_flags(trace, 0, 2, FL_OP_HELD);
    fl_replay_options options = options_for(0);
    fl_replay_summary summary;
    assert_int_equal(run_trace(trace, &options, &summary, NULL), FL_OK);
    assert_string_equal(fake_log, "a0:100 a1:100 f1 f0");
    assert_int_equal(summary.frees, 2);
    fl_trace_free(trace);
}

static void inferred_ops_come_before_their_event_and_after_the_last(void **state)
{
    (void)state;
    fl_trace *trace = trace_of("a0 a1 s0", 2);
    fl_op trim = {.kind = FL_OP_TRIM, .id = FL_NONE, .pool = FL_NONE, .text = FL_NONE};
    fl_op limit = {.kind = FL_OP_LIMIT, .id = FL_NONE, .pool = FL_NONE, .text = FL_NONE};
    fl_trace_insert(trace, 0, 1, &trim, NULL);
    fl_trace_insert(trace, 0, 2, &limit, NULL);
    fl_trace_insert(trace, 0, 3, &trim, NULL);
    fl_replay_options options = options_for(ALL_CAN);
    assert_int_equal(run_trace(trace, &options, NULL, NULL), FL_OK);
    assert_string_equal(fake_log, "a0:100 trim a1:100 limit trim");
    fl_trace_free(trace);
}

/* ---- a part of the events -------------------------------------------------------------------- */

static void a_range_replays_its_events_only(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\na 2 2\nf 1\na 3 3\nf 2\nf 3\na 4 4\n");
    fl_replay_options options = options_for(ALL_CAN);
    options.first_event = 2;
    options.end_event = 6;
    fl_replay_summary summary;
    assert_int_equal(run_trace(trace, &options, &summary, NULL), FL_OK);
    assert_string_equal(fake_log, "a2:3 f2");
    assert_int_equal(summary.events, 4);
    fl_trace_free(trace);
}

static void inferred_ops_outside_of_a_range_do_not_come(void **state)
{
    (void)state;
    fl_trace *trace = trace_of("a0 a1 a2", 3);
    fl_op trim = {.kind = FL_OP_TRIM, .id = FL_NONE, .pool = FL_NONE, .text = FL_NONE};
    fl_trace_insert(trace, 0, 0, &trim, NULL);
    fl_trace_insert(trace, 0, 2, &trim, NULL);
    fl_replay_options options = options_for(ALL_CAN);
    options.first_event = 1;
    options.end_event = 2;
    assert_int_equal(run_trace(trace, &options, NULL, NULL), FL_OK);
    assert_string_equal(fake_log, "a1:100");
    fl_trace_free(trace);
}

/* ---- the watcher ----------------------------------------------------------------------------- */

struct views {
    char text[512];
    uint64_t fail_at;
};

static fl_status note_view(void *user, const fl_view *view, fl_error *error)
{
    static const char letters[FL_CHANGE_KIND_COUNT] = {[FL_CHANGE_ACQUIRE] = 'm',
                                                       [FL_CHANGE_PLACE] = 'p',
                                                       [FL_CHANGE_FREE_ASKED] = 'a',
                                                       [FL_CHANGE_FREE_DONE] = 'd'};
    struct views *views = user;
    if (view->event == views->fail_at)
        return fl_fail(error, FL_ERR_OUTPUT, "enough");
    size_t used = strlen(views->text);
    used += (size_t)snprintf(views->text + used, sizeof views->text - used,
                             "%s%d%s:", used > 0 ? " " : "", (int)view->event,
                             view->is_inferred ? "i" : "");
    for (size_t i = 0; i < view->change_count; i++)
        views->text[used++] = letters[view->changes[i].kind];
    views->text[used] = '\0';
    return FL_OK;
}

static void a_watcher_gets_all_changes_of_an_op_in_order(void **state)
{
    (void)state;
    fl_trace *trace = trace_of("a0 S0 f0 s0 a1", 2);
    fl_op trim = {.kind = FL_OP_TRIM, .id = FL_NONE, .pool = FL_NONE, .text = FL_NONE};
    fl_trace_insert(trace, 0, 3, &trim, NULL);
    struct views views = {.fail_at = UINT64_MAX};
    fl_replay_options options = options_for(ALL_CAN);
    options.watch = note_view;
    options.user = &views;
    assert_int_equal(run_trace(trace, &options, NULL, NULL), FL_OK);
    assert_string_equal(views.text, "0:mp 2:ad 3i: 4:mp");
    fl_trace_free(trace);
}

static void a_watcher_can_end_the_replay(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\nm x\na 2 1\n");
    struct views views = {.fail_at = 1};
    fl_replay_options options = options_for(ALL_CAN);
    options.watch = note_view;
    options.user = &views;
    fl_error error = {0};
    assert_int_equal(run_trace(trace, &options, NULL, &error), FL_ERR_OUTPUT);
    assert_string_equal(error.text, "s.txt: event 1: enough");
    assert_string_equal(fake_log, "a0:1");
    fl_trace_free(trace);
}

static void a_failing_check_ends_the_replay_after_the_op(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\na 2 1\na 3 1\n");
    fl_replay_options options = options_for(ALL_CAN);
    options.check_every_op = true;
    fake_good_checks = 1;
    fl_error error = {0};
    assert_int_equal(run_trace(trace, &options, NULL, &error), FL_ERR_INTERNAL);
    assert_string_equal(error.text, "s.txt: event 1: the fake is broken");
    assert_string_equal(fake_log, "a0:1 a1:1");
    fl_trace_free(trace);
}

/* ---- totals ---------------------------------------------------------------------------------- */

static void totals_and_peaks_follow_the_changes(void **state)
{
    (void)state;
    fl_replay_options options = options_for(ALL_CAN);
    fl_replay_summary summary = run_script("a 1 100\na 2 1000\nf 1\na 3 10\n", &options);
    assert_int_equal(summary.peak.requested_bytes, 1100);
    assert_int_equal(summary.peak.allocated_bytes, 1536);
    assert_int_equal(summary.peak.active_bytes, 1536);
    assert_int_equal(summary.peak.reserved_bytes, 3 * 0x1000);
    assert_int_equal(summary.peak_allocated_event, 1);
    assert_int_equal(summary.peak_reserved_event, 3);
    assert_int_equal(summary.end.requested_bytes, 1010);
    assert_int_equal(summary.end.allocated_bytes, 1536);
    assert_int_equal(summary.end.reserved_bytes, 3 * 0x1000);
    assert_int_equal(summary.allocs, 3);
    assert_int_equal(summary.frees, 1);
}

static void a_pending_block_is_active_but_not_allocated(void **state)
{
    (void)state;
    fl_trace *trace = trace_of("a0 f0", 1);
    fl_trace_set_flags(trace, 0, 1, FL_OP_HELD);
    fl_replay_options options = options_for(ALL_CAN);
    fl_replay_summary summary;
    assert_int_equal(run_trace(trace, &options, &summary, NULL), FL_OK);
    assert_int_equal(summary.end.allocated_bytes, 0);
    assert_int_equal(summary.end.active_bytes, 512);
    assert_int_equal(summary.end.requested_bytes, 100);
    fl_trace_free(trace);
}

static void memory_outside_is_the_devices_affair(void **state)
{
    (void)state;
    fl_trace *trace = read_script("# cap=100MiB conf=\no 30MiB\n");
    fl_replay_options options = options_for(ALL_CAN);
    options.capacity_bytes = 100 << 20;
    fl_replay *replay;
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    assert_string_equal(fake_log, "");
    assert_int_equal(fl_replay_get_device_info(replay)->used_bytes, 30 << 20);
    fl_replay_close(replay);
    fl_trace_free(trace);
}

/* ---- what if the trace had none of these ----------------------------------------------------- */

static void what_is_left_out_is_never_asked(void **state)
{
    (void)state;
    static const char script[] = "b 1\na 1 100 64\nr 1 0\nf 1\n";
    fl_replay_options options = options_for(ALL_CAN);
    run_script(script, &options);
    assert_string_equal(fake_log, "scope a0:100 use0 f0");
    options.policy = fake_policy(ALL_CAN);
    options.without = FL_WITHOUT_POOLS;
    run_script(script, &options);
    assert_string_equal(fake_log, "a0:100 use0 f0");
    options.policy = fake_policy(ALL_CAN);
    options.without = FL_WITHOUT_PENDING;
    run_script(script, &options);
    assert_string_equal(fake_log, "scope a0:100 f0");
    options.policy = fake_policy(ALL_CAN);
    options.without = FL_WITHOUT_STREAMS;
    run_script("a 1 100 64\na 2 100 128\nr 2 64\nf 2\n", &options);
    assert_string_equal(fake_log, "a0:100 a1:100 f1");
}

static void memory_outside_can_be_left_out(void **state)
{
    (void)state;
    fl_trace *trace = read_script("# cap=100MiB conf=\no 30MiB\n");
    fl_replay_options options = options_for(ALL_CAN);
    options.capacity_bytes = 100 << 20;
    options.without = FL_WITHOUT_OUTSIDE;
    fl_replay *replay;
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    assert_int_equal(fl_replay_get_device_info(replay)->used_bytes, 0);
    fl_replay_close(replay);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_reaches_a_policy_that_knows_it),
        cmocka_unit_test(what_was_found_yields_to_what_is_asked_for),
        cmocka_unit_test(a_policy_without_a_capability_never_sees_its_ops),
        cmocka_unit_test(marks_and_reports_are_for_the_watcher_only),
        cmocka_unit_test(a_request_for_nothing_gets_address_0_and_asks_nothing),
        cmocka_unit_test(frees_and_uses_of_what_was_refused_are_ignored),
        cmocka_unit_test(the_first_refusal_ends_a_replay_that_is_to_stop),
        cmocka_unit_test(what_makes_no_sense_is_an_error_with_its_event),
        cmocka_unit_test(what_the_policy_cannot_do_is_told_with_its_event),
        cmocka_unit_test(outcomes_and_silent_completions_ask_nothing),
        cmocka_unit_test(a_completion_that_already_came_is_no_news),
        cmocka_unit_test(a_held_free_waits_for_its_completion),
        cmocka_unit_test(a_policy_without_streams_gets_a_held_free_when_it_completes),
        cmocka_unit_test(inferred_ops_come_before_their_event_and_after_the_last),
        cmocka_unit_test(a_range_replays_its_events_only),
        cmocka_unit_test(inferred_ops_outside_of_a_range_do_not_come),
        cmocka_unit_test(a_watcher_gets_all_changes_of_an_op_in_order),
        cmocka_unit_test(a_watcher_can_end_the_replay),
        cmocka_unit_test(a_failing_check_ends_the_replay_after_the_op),
        cmocka_unit_test(totals_and_peaks_follow_the_changes),
        cmocka_unit_test(a_pending_block_is_active_but_not_allocated),
        cmocka_unit_test(memory_outside_is_the_devices_affair),
        cmocka_unit_test(what_is_left_out_is_never_asked),
        cmocka_unit_test(memory_outside_can_be_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
