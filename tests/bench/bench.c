/* bench load FILE | replay FILE | churn OPERATIONS: one measurement, as one line of `key value`.
 *
 * Reads and replays through the public headers only.  bench.py runs it and makes the table. */
#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

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

static int replay(const char *what, const fl_trace *trace)
{
    fl_replay_options options = {
        .profile = fl_profile_newest(),
        .fraction = -1,
        .capacity_bytes = FL_UNLIMITED,
        .on_oom = FL_ON_OOM_SKIP,
        .is_lean = true,
    };
    fl_error error = {0};
    fl_replay *run = NULL;
    if (fl_replay_open(trace, &options, &run, &error) != FL_OK)
        return report_failure(&error);
    uint64_t start = now_ns();
    fl_status status = fl_replay_run(run, &error);
    uint64_t elapsed = now_ns() - start;
    fl_replay_close(run);
    return status == FL_OK ? report(what, count_events(trace), elapsed) : report_failure(&error);
}

static int bench_load(const char *path)
{
    fl_error error = {0};
    fl_trace *trace = NULL;
    uint64_t start = now_ns();
    if (fl_read_file(path, NULL, &trace, &error) != FL_OK)
        return report_failure(&error);
    int result = report("load", count_events(trace), now_ns() - start);
    fl_trace_free(trace);
    return result;
}

static int bench_replay(const char *path)
{
    fl_error error = {0};
    fl_trace *trace = NULL;
    if (fl_read_file(path, NULL, &trace, &error) != FL_OK)
        return report_failure(&error);
    int result = replay("replay", trace);
    fl_trace_free(trace);
    return result;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Four thousand places, each emptied and filled at random: many sizes, many holes, no end. */
static size_t write_churn(char *text, uint64_t operations)
{
    enum { PLACES = 4096 };
    uint64_t live[PLACES] = {0}, random = 88172645463325252u, next_id = 1;
    size_t length = 0;
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t *place = &live[next_random(&random) % PLACES];
        if (*place != 0) {
            length += (size_t)sprintf(text + length, "f %" PRIu64 "\n", *place);
            *place = 0;
        } else {
            uint64_t octave = next_random(&random) % 16;
            uint64_t size = (next_random(&random) % 512 + 512) << octave;
            *place = next_id++;
            length += (size_t)sprintf(text + length, "a %" PRIu64 " %" PRIu64 " 0\n", *place, size);
        }
    }
    return length;
}

static int bench_churn(const char *operations_text)
{
    enum { LONGEST_LINE = 48 };
    uint64_t operations = strtoull(operations_text, NULL, 10);
    char *text = malloc(operations * LONGEST_LINE + 1);
    if (text == NULL)
        return FL_ERR_RESOURCE;
    fl_error error = {0};
    fl_trace *trace = NULL;
    size_t length = write_churn(text, operations);
    fl_status status = fl_read_memory(text, length, "churn", NULL, &trace, &error);
    free(text);
    if (status != FL_OK)
        return report_failure(&error);
    int result = replay("churn", trace);
    fl_trace_free(trace);
    return result;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const char *argument);
    } kinds[] = {{"load", bench_load}, {"replay", bench_replay}, {"churn", bench_churn}};
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            return kinds[i].run(argv[2]);
    fprintf(stderr, "usage: bench load FILE | replay FILE | churn OPERATIONS\n");
    return FL_ERR_USAGE;
}
