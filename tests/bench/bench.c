/* bench load FILE | replay FILE RELEASE CONF REPEAT | observe FILE REPEAT | tune FILE COUNT JOBS:
 * measurements, each as one line of `key value`.
 *
 * Reads and replays through the public headers; observers have none yet.  bench.py runs it and
 * makes the table. */
#include "analysis/tune.h"
#include "observer/watch.h"

#include <fraglab/explain.h>
#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define OBSERVED_ROWS 1000

/* Time on the processor: what others do on this machine at the moment does not count. */
static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int report_failure(const fl_error *error)
{
    fprintf(stderr, "bench: %s\n", error->text);
    return (int)error->status;
}

static uint64_t count_events(const fl_trace *trace)
{
    uint64_t events = 0;
    for (size_t device = 0; device < fl_trace_device_count(trace); device++)
        events += fl_trace_event_count(trace, device);
    return events;
}

static int report(const char *what, uint64_t events, uint64_t elapsed_ns)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%s ns %" PRIu64 " events %" PRIu64 " peak_kib %ld\n", what, elapsed_ns, events,
           usage.ru_maxrss);
    return 0;
}

/* One replay from an empty card, and how long it took. */
static fl_status replay_once(const fl_trace *trace, const fl_replay_options *options,
                             uint64_t *ret_elapsed, fl_error *error)
{
    fl_replay *run = NULL;
    fl_status status = fl_replay_open(trace, options, &run, error);
    if (status != FL_OK)
        return status;
    uint64_t start = now_ns();
    status = fl_replay_run(run, error);
    *ret_elapsed = now_ns() - start;
    fl_replay_close(run);
    return status;
}

/* The best of `repeat` replays of a trace. */
static int replay(const fl_trace *trace, const char *release, const char *conf, uint64_t repeat)
{
    fl_error error = {0};
    bool is_exact;
    fl_replay_options options = {
        .conf = conf,
        .fraction = -1,
        .capacity_bytes = UINT64_C(80) << 30,
        .on_oom = FL_ON_OOM_SKIP,
        .is_lean = true,
    };
    if (fl_profile_find(release, &options.profile, &is_exact, &error) != FL_OK)
        return report_failure(&error);
    uint64_t best = UINT64_MAX;
    for (uint64_t i = 0; i < repeat; i++) {
        uint64_t elapsed;
        if (replay_once(trace, &options, &elapsed, &error) != FL_OK)
            return report_failure(&error);
        best = elapsed < best ? elapsed : best;
    }
    return report("replay", count_events(trace), best);
}

/* The same twice: as it is, and with all observers on. */
static int bench_observe(char **arguments)
{
    fl_error error = {0};
    fl_trace *trace = NULL;
    if (fl_read_file(arguments[0], NULL, &trace, &error) != FL_OK)
        return report_failure(&error);
    fl_observer_env env = {fl_host_default(), fl_trace_names(trace), 0,
                           fl_trace_event_count(trace, 0), OBSERVED_ROWS};
    uint64_t repeat = strtoull(arguments[1], NULL, 10), plain = UINT64_MAX, observed = UINT64_MAX;
    fl_replay_options options = {
        .fraction = -1, .capacity_bytes = FL_UNLIMITED, .on_oom = FL_ON_OOM_SKIP};
    fl_status status = FL_OK;
    for (uint64_t i = 0; status == FL_OK && i < 2 * repeat; i++) {
        fl_watch watch = {0};
        bool is_observed = i % 2 == 1;
        options.watch = is_observed ? fl_watch_view : NULL;
        options.user = &watch;
        uint64_t elapsed = UINT64_MAX, *best = is_observed ? &observed : &plain;
        if (is_observed)
            status = fl_watch_open(&watch, &env, &error);
        if (status == FL_OK)
            status = replay_once(trace, &options, &elapsed, &error);
        *best = elapsed < *best ? elapsed : *best;
        fl_watch_close(&watch);
    }
    if (status == FL_OK) {
        report("plain", count_events(trace), plain);
        report("observed", count_events(trace), observed);
    }
    fl_trace_free(trace);
    return status == FL_OK ? 0 : report_failure(&error);
}

/* Room for what is live at once, and an eighth: a card on which some settings fit. */
static fl_status find_card(const fl_trace *trace, uint64_t *ret_card, fl_error *error)
{
    fl_replay_options options = {.fraction = -1, .capacity_bytes = FL_UNLIMITED, .is_lean = true};
    fl_replay *run = NULL;
    fl_replay_summary summary;
    fl_status status = fl_replay_open(trace, &options, &run, error);
    if (status == FL_OK)
        status = fl_replay_run(run, error);
    if (status == FL_OK) {
        fl_replay_get_summary(run, &summary);
        *ret_card = summary.peak.allocated_bytes + summary.peak.allocated_bytes / 8;
    }
    fl_replay_close(run);
    return status;
}

/* So many settings: those of the search, and split limits.  Some are found to be alike. */
static fl_status list_settings(fl_tune_state *state, size_t count, fl_error *error)
{
    fl_status status = fl_tune_survey(state, error);
    if (status == FL_OK)
        status = fl_tune_add_usual(state, error);
    if (status == FL_OK)
        status = fl_tune_add_further(state, error);
    size_t others = state->candidates.count;
    for (unsigned limit = 21; status == FL_OK && others < count; limit++, others++) {
        fl_tune_candidate candidate = {.fraction = -1};
        snprintf(candidate.conf, sizeof candidate.conf, "max_split_size_mb:%u", limit);
        status = fl_tune_add(state, &candidate, error);
    }
    if (state->candidates.count > count)
        state->candidates.count = count;
    return status;
}

static fl_status tune_once(const fl_trace *trace, size_t count, unsigned jobs, fl_error *error)
{
    static const size_t device = 0;
    bool is_exact;
    fl_tune_options options = {.replay = {.fraction = -1}, .trace_devices = &device, .jobs = jobs};
    fl_tune_state state = {.host = fl_host_default(),
                           .traces = &trace,
                           .trace_count = 1,
                           .options = &options,
                           .prices = fl_prices_default()};
    fl_status status = fl_profile_find("2.9.1", &options.replay.profile, &is_exact, error);
    if (status == FL_OK)
        status = find_card(trace, &state.card_bytes, error);
    if (status == FL_OK)
        status = list_settings(&state, count, error);
    uint64_t start = now_ns();
    if (status == FL_OK)
        status = fl_tune_try_all(&state, 0, error);
    if (status == FL_OK)
        report("tune", count_events(trace) * count, now_ns() - start);
    fl_vector_deinit(state.host, &state.sizes);
    fl_vector_deinit(state.host, &state.signatures);
    fl_vector_deinit(state.host, &state.candidates);
    return status;
}

static int bench_tune(char **arguments)
{
    fl_error error = {0};
    fl_trace *trace = NULL;
    if (fl_read_file(arguments[0], NULL, &trace, &error) != FL_OK)
        return report_failure(&error);
    fl_status status = tune_once(trace, strtoull(arguments[1], NULL, 10),
                                 (unsigned)strtoul(arguments[2], NULL, 10), &error);
    fl_trace_free(trace);
    return status == FL_OK ? 0 : report_failure(&error);
}

static int bench_load(char **arguments)
{
    fl_error error = {0};
    fl_trace *trace = NULL;
    uint64_t start = now_ns();
    if (fl_read_file(arguments[0], NULL, &trace, &error) != FL_OK)
        return report_failure(&error);
    int result = report("load", count_events(trace), now_ns() - start);
    fl_trace_free(trace);
    return result;
}

static fl_status take_nothing(void *user, const fl_explanation *explanation, fl_error *error)
{
    (void)user;
    (void)explanation;
    (void)error;
    return FL_OK;
}

/* Counts bytes as events. */
static int bench_explain(char **arguments)
{
    fl_error error = {0};
    uint64_t start = now_ns();
    if (fl_explain_file(arguments[0], NULL, take_nothing, NULL, &error) != FL_OK)
        return report_failure(&error);
    return report("explain", strtoull(arguments[1], NULL, 10), now_ns() - start);
}

static int bench_replay(char **arguments)
{
    fl_error error = {0};
    fl_trace *trace = NULL;
    if (fl_read_file(arguments[0], NULL, &trace, &error) != FL_OK)
        return report_failure(&error);
    int result = replay(trace, arguments[1], arguments[2], strtoull(arguments[3], NULL, 10));
    fl_trace_free(trace);
    return result;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int arguments;
        int (*run)(char **arguments);
    } kinds[] = {{"explain", 2, bench_explain},
                 {"load", 1, bench_load},
                 {"observe", 2, bench_observe},
                 {"replay", 4, bench_replay},
                 {"tune", 3, bench_tune}};
    for (size_t i = 0; argc > 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0 && argc == 2 + kinds[i].arguments)
            return kinds[i].run(argv + 2);
    fprintf(stderr, "usage: bench explain FILE BYTES | load FILE | replay FILE RELEASE CONF REPEAT "
                    "| observe FILE REPEAT | tune FILE COUNT JOBS\n");
    return FL_ERR_USAGE;
}
