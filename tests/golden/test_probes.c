/* Every script through every release: what a probe foretells just before each request is what the
 * request then does, and its bytes add up to what the cache holds. */
#include "table.h"

#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What the last request did. */
typedef struct seen {
    bool is_served; /* from the cache, without any call to the device */
    fl_result result;
} seen;

static fl_status watch(void *user, const fl_view *view, fl_error *error)
{
    (void)error;
    seen *s = user;
    if (view->op->kind != FL_OP_ALLOC)
        return FL_OK;
    s->result = *view->result;
    s->is_served = view->result->outcome == FL_DONE;
    for (size_t i = 0; i < view->change_count; i++)
        if (view->changes[i].kind <= FL_CHANGE_NO_PAGE)
            s->is_served = false;
    return FL_OK;
}

static uint64_t sum_of(const fl_probe *probe)
{
    uint64_t sum = probe->usable_bytes;
    for (int cause = 0; cause < FL_UNUSABLE_DEVICE; cause++)
        sum += probe->unusable_bytes[cause];
    return sum;
}

/* One request, foretold and made. */
static void compare_request(fl_replay *replay, const fl_event *event, const seen *s,
                            const char *where)
{
    fl_op op = {.kind = FL_OP_ALLOC,
                .flags = event->flags & FL_OP_AT,
                .id = event->id,
                .stream = event->stream,
                .pool = FL_NONE,
                .text = FL_NONE,
                .size = event->size,
                .address = event->address};
    fl_probe probe;
    fl_replay_summary summary;
    bool more;
    fl_error error = {0};
    if (fl_replay_probe(replay, &op, &probe, &error) != FL_OK)
        fail_msg("%s: %s", where, error.text);
    fl_replay_get_summary(replay, &summary);
    if (fl_replay_step(replay, &more, &error) != FL_OK)
        fail_msg("%s: %s", where, error.text);
    if (probe.usable != s->is_served)
        fail_msg("%s: %" PRIu64 " bytes: foretold %d, came %d", where, op.size, probe.usable,
                 s->is_served);
    uint64_t cached = summary.end.reserved_bytes - summary.end.allocated_bytes;
    if (sum_of(&probe) != cached)
        fail_msg("%s: %" PRIu64 " bytes told of, %" PRIu64 " in the cache", where, sum_of(&probe),
                 cached);
    if (op.size > 0 && probe.usable != (probe.usable_bytes > 0))
        fail_msg("%s: usable %d with %" PRIu64 " bytes", where, probe.usable, probe.usable_bytes);
    if (s->is_served && op.size > 0 &&
        (probe.largest_usable_bytes < s->result.size || probe.rounded_bytes > s->result.size))
        fail_msg("%s: a block of %" PRIu64 " bytes, at most %" PRIu64 " foretold", where,
                 s->result.size, probe.largest_usable_bytes);
}

static size_t foretell(const fl_trace *trace, const char *script, const char *release)
{
    char where[160];
    seen s = {0};
    fl_error error = {0};
    fl_replay_options options = {
        .profile = release_named(release),
        .conf = fl_trace_conf(trace),
        .fraction = -1,
        .capacity_bytes = fl_trace_capacity(trace),
        .on_oom = FL_ON_OOM_SKIP,
        .watch = watch,
        .user = &s,
    };
    fl_replay *replay = NULL;
    if (fl_replay_open(trace, &options, &replay, &error) != FL_OK)
        fail_msg("%s on %s: %s", script, release, error.text);
    size_t requests = 0;
    for (uint64_t i = 0; i < fl_trace_event_count(trace, 0); i++) {
        fl_event event;
        bool more;
        fl_trace_event(trace, 0, i, &event);
        snprintf(where, sizeof where, "%s on %s, event %" PRIu64, script, release, i);
        if (event.kind == FL_OP_ALLOC) {
            compare_request(replay, &event, &s, where);
            requests++;
        } else if (fl_replay_step(replay, &more, &error) != FL_OK) {
            fail_msg("%s: %s", where, error.text);
        }
    }
    fl_replay_close(replay);
    return requests;
}

static void requests_do_what_was_foretold(void **state)
{
    (void)state;
    table t = table_open(CONFORMANCE "releases.tsv");
    fl_trace *trace = NULL;
    char held[64] = "", path[256], *cells[3];
    size_t requests = 0;
    while (table_next(&t, cells)) {
        if (strcmp(cells[2], "-") == 0)
            continue;
        if (strcmp(held, cells[0]) != 0) {
            fl_error error = {0};
            fl_trace_free(trace);
            snprintf(held, sizeof held, "%s", cells[0]);
            snprintf(path, sizeof path, CONFORMANCE "scripts/%s.txt", held);
            if (fl_read_file(path, NULL, &trace, &error) != FL_OK)
                fail_msg("%s", error.text);
        }
        requests += foretell(trace, cells[0], cells[1]);
    }
    fl_trace_free(trace);
    table_close(&t);
    assert_true(requests > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(requests_do_what_was_foretold)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
