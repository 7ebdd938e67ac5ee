#include "failing_host.h"
#include "fake_policy.h"
#include "test.h"

#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <string.h>

static fl_trace *read_script(const char *text)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(text, strlen(text), "s.txt", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static fl_replay_options plain_options(void)
{
    return (fl_replay_options){
        .fraction = -1, .capacity_bytes = UINT64_C(1) << 30, .on_oom = FL_ON_OOM_SKIP};
}

static void assert_refused(const fl_trace *trace, const fl_replay_options *options,
                           fl_status expected, const char *message)
{
    fl_replay *replay = NULL;
    fl_error error = {0};
    assert_int_equal(fl_replay_open(trace, options, &replay, &error), expected);
    assert_null(replay);
    assert_string_equal(error.text, message);
}

static void the_default_is_torch_over_sim_at_the_newest_release(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\na 2 1048577\n");
    fl_replay_options options = plain_options();
    fl_replay *replay;
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    fl_replay_summary summary;
    fl_replay_get_summary(replay, &summary);
    assert_int_equal(summary.peak.reserved_bytes, 22 << 20);
    assert_int_equal(summary.driver_malloc, 2);
    assert_true(summary.has_stats);
    assert_int_equal(summary.stats.stat[FL_STAT_SEGMENT][FL_STAT_ALL].current, 2);
    fl_replay_close(replay);
    fl_trace_free(trace);
}

static void what_cannot_be_replayed_is_said_before_the_first_event(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\n");
    fl_replay_options options = plain_options();
    options.trace_device = 3;
    assert_refused(trace, &options, FL_ERR_USAGE, "s.txt: there is no trace of device 3");
    options = plain_options();
    options.first_event = 2;
    options.end_event = 5;
    assert_refused(trace, &options, FL_ERR_USAGE,
                   "s.txt: range 2:5 is outside of the 1 events of device 0");
    options = plain_options();
    options.policy = fake_policy(FL_NEEDS_FUTURE);
    assert_refused(trace, &options, FL_ERR_UNAVAILABLE,
                   "policy 'fake' wants to see the whole trace first");
    options = plain_options();
    options.policy = fl_policy_find("passthrough");
    options.conf = "expandable_segments:True";
    assert_refused(trace, &options, FL_ERR_USAGE,
                   "policy 'passthrough' knows no PyTorch release, settings or memory fraction");
    options = plain_options();
    assert_int_equal(fl_replay_open(NULL, &options, NULL, NULL), FL_ERR_USAGE);
    fl_trace_free(trace);
}

static void settings_are_judged_by_the_release(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\n");
    fl_replay_options options = plain_options();
    options.conf = "max_split_size_mb:19";
    assert_refused(trace, &options, FL_ERR_USAGE,
                   "CachingAllocator option max_split_size_mb too small, must be >= 20");
    options.conf = "max_split_size_mb:20";
    fl_replay *replay;
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    fl_replay_close(replay);
    fl_trace_free(trace);
}

/* They are judged on opening; those of an op when it comes. */
static void settings_that_were_found_first_are_those_to_begin_with(void **state)
{
    (void)state;
    static const struct {
        const char *script, *message;
    } cases[] = {
        {"# conf=\nC max_split_size_mb:19 inferred=1\na 1 1\n",
         "s.txt: event 0: CachingAllocator option max_split_size_mb too small, must be >= 20"},
        {"# conf=\nC max_split_size_mb:19\na 1 1\n", NULL},
        {"# conf=\na 1 1\nC max_split_size_mb:19 inferred=1\n", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fl_trace *trace = read_script(cases[i].script);
        fl_replay_options options = plain_options();
        fl_replay *replay = NULL;
        if (cases[i].message != NULL)
            assert_refused(trace, &options, FL_ERR_INPUT, cases[i].message);
        else
            assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
        fl_replay_close(replay);
        fl_trace_free(trace);
    }
}

static void plugins_say_which_options_they_know(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\n");
    fl_replay_options options = plain_options();
    options.policy_params = "colour=red";
    fl_replay *replay = NULL;
    fl_error error = {0};
    assert_int_equal(fl_replay_open(trace, &options, &replay, &error), FL_ERR_USAGE);
    assert_non_null(strstr(error.text, "torch: "));
    assert_non_null(strstr(error.text, "colour"));
    fl_trace_free(trace);
}

static void ops_of_the_caller_are_asked_before_their_events(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 30MiB\nf 1\na 2 40MiB\na 3 20MiB\n");
    uint32_t own = fl_trace_alloc_count(trace, 0);
    fl_op nothing = {.id = FL_NONE, .stream = 0, .pool = FL_NONE, .text = FL_NONE};
    fl_op alloc = nothing, release = nothing, trim = nothing;
    alloc.kind = FL_OP_ALLOC, alloc.id = own, alloc.size = UINT64_C(60) << 20;
    release.kind = FL_OP_FREE, release.id = own;
    trim.kind = FL_OP_TRIM;
    const fl_insertion ops[] = {{0, alloc}, {0, release}, {2, trim}};
    fl_replay_options options = plain_options();
    options.inserted = ops;
    for (options.inserted_count = 0; options.inserted_count <= COUNT_OF(ops);
         options.inserted_count++) {
        static const uint64_t mallocs[] = {2, 3, 1, 3};
        static const uint64_t peaks[] = {70, 130, 60, 60};
        for (int is_lean = 0; is_lean < 2; is_lean++) {
            fl_replay *replay;
            fl_replay_summary summary;
            options.is_lean = is_lean != 0;
            assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
            assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
            fl_replay_get_summary(replay, &summary);
            assert_int_equal(summary.events, 4);
            assert_int_equal(summary.driver_malloc, mallocs[options.inserted_count]);
            assert_int_equal(summary.peak.reserved_bytes >> 20, peaks[options.inserted_count]);
            fl_replay_close(replay);
        }
    }
    fl_trace_free(trace);
}

static void stepping_comes_to_the_same_as_running(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\na 2 2MiB\nf 1\ne\na 3 700MiB\na 4 900MiB\n");
    fl_replay_options options = plain_options();
    fl_replay_summary run, stepped;
    fl_replay *replay;
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    fl_replay_get_summary(replay, &run);
    fl_replay_close(replay);
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    bool more = true;
    int steps = 0;
    for (; more; steps++)
        assert_int_equal(fl_replay_step(replay, &more, NULL), FL_OK);
    assert_int_equal(steps, 7); /* the last one finds the end */
    assert_int_equal(fl_replay_step(replay, &more, NULL), FL_OK);
    assert_false(more);
    fl_replay_get_summary(replay, &stepped);
    fl_replay_close(replay);
    assert_int_equal(run.events, stepped.events);
    assert_int_equal(run.ooms, 1);
    assert_int_equal(stepped.ooms, 1);
    assert_memory_equal(&run.peak, &stepped.peak, sizeof run.peak);
    assert_memory_equal(&run.end, &stepped.end, sizeof run.end);
    fl_trace_free(trace);
}

/* All but the events at which peaks stood. */
static void assert_same_counts(const fl_replay_summary *one, const fl_replay_summary *other)
{
    assert_int_equal(one->events, other->events);
    assert_int_equal(one->allocs, other->allocs);
    assert_int_equal(one->frees, other->frees);
    assert_int_equal(one->ooms, other->ooms);
    assert_int_equal(one->start, other->start);
    assert_memory_equal(&one->peak, &other->peak, sizeof one->peak);
    assert_memory_equal(&one->end, &other->end, sizeof one->end);
    assert_int_equal(one->driver_malloc, other->driver_malloc);
    assert_int_equal(one->driver_free, other->driver_free);
    assert_int_equal(one->driver_map, other->driver_map);
    assert_int_equal(one->driver_unmap, other->driver_unmap);
    assert_int_equal(one->has_oom, other->has_oom);
    assert_int_equal(one->oom.event, other->oom.event);
    assert_int_equal(one->oom.id, other->oom.id);
    assert_int_equal(one->oom.outcome, other->oom.outcome);
    assert_int_equal(one->has_stats, other->has_stats);
    assert_memory_equal(&one->stats, &other->stats, sizeof one->stats);
    assert_int_equal(one->pool_count, other->pool_count);
}

static void a_lean_replay_counts_the_same_but_for_the_events_of_peaks(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\na 2 2MiB\na 3 30MiB\nr 2 64\np\nf 2\nf 3\ne\na 4 700MiB\n"
                                  "f 1\na 5 900MiB\nc\na 6 5MiB\n");
    static const struct {
        const char *policy, *conf;
    } cases[] = {{"torch", NULL}, {"torch", "expandable_segments:True"}, {"passthrough", NULL}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fl_replay_options options = plain_options();
        options.policy = fl_policy_find(cases[i].policy);
        options.conf = cases[i].conf;
        fl_replay_summary summaries[2];
        for (int lean = 0; lean < 2; lean++) {
            options.is_lean = lean == 1;
            fl_replay *replay;
            assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
            assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
            fl_replay_get_summary(replay, &summaries[lean]);
            fl_replay_close(replay);
        }
        assert_true(summaries[0].peak_reserved_event > 0);
        if (strcmp(cases[i].policy, "torch") == 0)
            assert_int_equal(summaries[1].peak_reserved_event, 0);
        assert_same_counts(&summaries[0], &summaries[1]);
    }
    fl_trace_free(trace);
}

static void a_refusal_says_what_was_asked_and_what_was_there(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 600MiB\na 2 30MiB\nf 2\na 3 500000001\n");
    fl_replay_options options = plain_options();
    options.on_oom = FL_ON_OOM_STOP;
    fl_replay *replay;
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    fl_replay_summary summary;
    fl_replay_get_summary(replay, &summary);
    fl_replay_close(replay);
    assert_true(summary.has_oom && summary.oom.has_refusal);
    assert_int_equal(summary.oom.event, 3);
    assert_int_equal(summary.oom.refusal.requested_bytes, 500000001);
    assert_int_equal(summary.oom.refusal.rounded_bytes, 500000256);
    assert_int_equal(summary.oom.refusal.device_free_bytes, (1024 - 600) << 20);
    assert_int_equal(summary.oom.refusal.cached_free_bytes, 0);
    fl_trace_free(trace);
}

static bool stop_at_once(void *user, uint64_t done, uint64_t total)
{
    uint64_t *seen = user;
    *seen = done;
    return done == total;
}

static void progress_is_told_and_can_stop_a_long_replay(void **state)
{
    (void)state;
    enum { OPS = 100000 };
    char *text = test_malloc(OPS * 2 + 1);
    for (size_t i = 0; i < OPS; i++)
        memcpy(text + 2 * i, "e\n", 2);
    text[OPS * 2] = '\0';
    fl_trace *trace = read_script(text);
    test_free(text);
    uint64_t seen = 0;
    fl_replay_options options = plain_options();
    options.progress = stop_at_once;
    options.user = &seen;
    fl_replay *replay;
    fl_error error = {0};
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, &error), FL_ERR_NO);
    assert_int_equal(seen, 65536);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    assert_int_equal(seen, OPS);
    fl_replay_close(replay);
    fl_trace_free(trace);
}

static void a_policy_that_cannot_show_itself_says_so(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\n");
    fl_replay_options options = plain_options();
    options.policy = fake_policy(0);
    fl_replay *replay;
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    fl_walk walk = {0};
    fl_error error = {0};
    assert_int_equal(fl_replay_walk(replay, &walk, &error), FL_ERR_UNAVAILABLE);
    assert_string_equal(error.text, "policy 'fake' cannot show its segments");
    fl_replay_close(replay);
    fl_trace_free(trace);
}

static fl_status ignore_view(void *user, const fl_view *view, fl_error *error)
{
    (void)user, (void)view, (void)error;
    return FL_OK;
}

static fl_status replay_on(const fl_host *host, void *user, fl_error *error)
{
    fl_replay_options options = plain_options();
    options.host = host;
    options.watch = ignore_view;
    fl_replay *replay = NULL;
    fl_status status = fl_replay_open(user, &options, &replay, error);
    if (status == FL_OK)
        status = fl_replay_run(replay, error);
    fl_replay_close(replay);
    return status;
}

static void every_failure_of_the_host_ends_the_replay_and_leaves_nothing(void **state)
{
    (void)state;
    fl_trace *trace = read_script("# cap=1GiB conf=expandable_segments:True\n"
                                  "a 1 1\na 2 5MiB\na 3 40MiB 64\nr 3 128\np\nf 3\nf 1\ne\n"
                                  "c\na 4 2GiB\na 5 512\n");
    assert_true(failing_host_sweep(replay_on, trace) > 5);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_is_torch_over_sim_at_the_newest_release),
        cmocka_unit_test(what_cannot_be_replayed_is_said_before_the_first_event),
        cmocka_unit_test(settings_are_judged_by_the_release),
        cmocka_unit_test(settings_that_were_found_first_are_those_to_begin_with),
        cmocka_unit_test(plugins_say_which_options_they_know),
        cmocka_unit_test(ops_of_the_caller_are_asked_before_their_events),
        cmocka_unit_test(stepping_comes_to_the_same_as_running),
        cmocka_unit_test(a_lean_replay_counts_the_same_but_for_the_events_of_peaks),
        cmocka_unit_test(a_refusal_says_what_was_asked_and_what_was_there),
        cmocka_unit_test(progress_is_told_and_can_stop_a_long_replay),
        cmocka_unit_test(a_policy_that_cannot_show_itself_says_so),
        cmocka_unit_test(every_failure_of_the_host_ends_the_replay_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
