/* Replays a history over its own record and gives a verdict. */
#include "base/memory.h"
#include "rebuild/compare.h"
#include "rebuild/explain.h"
#include "rebuild/rebuild.h"
#include "replay/replay.h"

#include <inttypes.h>

struct verify {
    fl_trace *trace;
    size_t device;
    const fl_profile *profile;
    fl_replay_options options;
    fl_replay *replay;
    fl_compare compare;
    fl_verdict verdict;
};

/* Words for the first difference, as soon as it is there: later the state has moved on. */
static fl_status explain_first(struct verify *verify, fl_error *error)
{
    if (verify->compare.differences == 0 || verify->verdict.has_difference)
        return FL_OK;
    verify->verdict.has_difference = true;
    return fl_explain_miss(&verify->compare.first, verify->trace, verify->device, verify->replay,
                           verify->replay->options.profile, &verify->replay->settings,
                           &verify->verdict.first_difference, error);
}

static fl_status verify_watch(void *user, const fl_view *view, fl_error *error)
{
    struct verify *verify = user;
    fl_compare_view(&verify->compare, view);
    return explain_first(verify, error);
}

static void count_inferred(struct verify *verify)
{
    size_t count;
    const fl_insertion *list = fl_trace_insertions(verify->trace, verify->device, &count);
    for (size_t i = 0; i < count; i++) {
        verify->verdict.inferred_trims += list[i].op.kind == FL_OP_TRIM;
        verify->verdict.inferred_completions += list[i].op.kind == FL_OP_FREE_DONE;
        verify->verdict.inferred_scopes += list[i].op.kind == FL_OP_SCOPE_BEGIN;
        verify->verdict.inferred_pool_releases += list[i].op.kind == FL_OP_POOL_RELEASE;
    }
}

/* A replay that has left the record may come to an op that makes no sense to its policy; then what
 * is left counts as different.  Before the first difference it is a failure. */
static fl_status run_replay(struct verify *verify, fl_error *error)
{
    fl_error why = {0};
    fl_status status = fl_replay_run(verify->replay, &why);
    if (status == FL_OK) {
        if (verify->trace->devices.items[verify->device].has_final_state)
            fl_compare_catch_up(&verify->compare, verify->compare.columns->count);
        else
            fl_compare_excuse_rest(&verify->compare);
        status = explain_first(verify, error);
        if (status == FL_OK)
            status = fl_compare_final_state(&verify->compare, verify->replay, error);
        return status == FL_OK ? explain_first(verify, error) : status;
    }
    if (status == FL_ERR_RESOURCE || verify->compare.differences == 0) {
        fl_fail(error, status, "%s", why.text);
        if (why.hint[0] != '\0')
            fl_hint(error, "%s", why.hint);
        return status;
    }
    fl_compare_abandon(&verify->compare, verify->replay->event);
    return FL_OK;
}

static void fill_verdict(struct verify *verify)
{
    fl_verdict *verdict = &verify->verdict;
    const fl_compare *compare = &verify->compare;
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        verdict->decisions[i] = compare->tallies[i];
    for (size_t i = 0; i < FL_CAUSE_COUNT; i++)
        verdict->releases_by_cause[i] = compare->releases_by_cause[i];
    const fl_device_info *info = fl_replay_get_device_info(verify->replay);
    verdict->most_granted_bytes = info->most_granted_bytes;
    verdict->least_refused_bytes = info->least_refused_bytes;
    verdict->is_complete = fl_trace_is_complete(verify->trace, verify->device);
    if (!verdict->has_difference)
        verdict->profiles[verdict->profile_count++] = verify->replay->options.profile;
    count_inferred(verify);
    const fl_trace_start *start = &verify->trace->devices.items[verify->device].start;
    verdict->start_blocks = start->in_use.count;
    verdict->hidden_tails = start->hidden_tails;
    verdict->open_tails = start->open_tails;
}

/* A free repeats what its request asked for.  Another size is no decision that could differ, but a
 * record that contradicts itself.  `asked` has room for `count` numbers. */
static fl_status check_frees(const fl_trace *trace, const fl_columns *columns, uint64_t *asked,
                             uint32_t count, fl_error *error)
{
    for (uint64_t i = 0; i < columns->count; i++) {
        uint8_t kind = columns->kind[i];
        uint32_t id = columns->id[i];
        if (id >= count)
            continue;
        if (kind == FL_OP_ALLOC)
            asked[id] = columns->size[i];
        bool is_free = kind == FL_OP_FREE || kind == FL_OP_FREE_DONE;
        if (is_free && columns->size[i] != asked[id])
            return fl_fail(error, FL_ERR_INPUT,
                           "%s: event %" PRIu64 ": free of %" PRIu64 " bytes, where %" PRIu64
                           " were asked for",
                           fl_trace_path(trace), i, columns->size[i], asked[id]);
    }
    return FL_OK;
}

static fl_status check_record(const fl_trace *trace, size_t device, const fl_host *host,
                              fl_error *error)
{
    uint32_t count = fl_trace_alloc_count(trace, device);
    uint64_t *asked = fl_new(host, count * sizeof *asked, error);
    if (asked == NULL)
        return FL_ERR_RESOURCE;
    const fl_trace_start *start = &trace->devices.items[device].start;
    for (size_t i = 0; i < start->in_use.count; i++)
        asked[start->in_use.items[i].id] = start->in_use.items[i].requested;
    fl_status status = check_frees(trace, fl_trace_columns(trace, device), asked, count, error);
    fl_delete(host, asked, count * sizeof *asked);
    return status;
}

static fl_status verify_run(struct verify *verify, const fl_host *host, fl_error *error)
{
    fl_status status = fl_record_options(verify->trace, verify->device, verify->profile, host,
                                         &verify->options, error);
    if (status != FL_OK)
        return status;
    verify->options.watch = verify_watch;
    verify->options.user = verify;
    fl_compare_init(&verify->compare, host, verify->trace, verify->device);
    status = fl_replay_open(verify->trace, &verify->options, &verify->replay, error);
    if (status == FL_OK)
        status = run_replay(verify, error);
    if (status == FL_OK)
        fill_verdict(verify);
    fl_replay_close(verify->replay);
    return status;
}

fl_status fl_verify(fl_trace *trace, size_t device, const fl_profile *profile, const fl_host *host,
                    fl_verdict *ret_verdict, fl_error *error)
{
    if (fl_trace_format(trace) == FL_FORMAT_SCRIPT)
        return fl_fail(error, FL_ERR_USAGE, "%s: a script records no decisions to compare with",
                       fl_trace_path(trace));
    if (host == NULL)
        host = fl_host_default();
    fl_status status = fl_rebuild(trace, device, profile, error);
    if (status == FL_OK)
        status = check_record(trace, device, host, error);
    if (status != FL_OK)
        return status;
    struct verify verify = {.trace = trace, .device = device, .profile = profile};
    status = verify_run(&verify, host, error);
    if (status == FL_OK)
        *ret_verdict = verify.verdict;
    return status;
}
