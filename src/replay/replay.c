/* Opening and closing a replay, and what can be asked of one.
 *
 * A replay owns its device and its policy; the trace is the caller's.  The loop itself is in
 * loop.c. */
#include "replay/replay.h"

#include "base/memory.h"

#include <string.h>

#define PROGRESS_STEP 65536

static bool event_complete(void *user, uint64_t event)
{
    const fl_replay_events *events = user;
    return event < events->complete_before;
}

static void events_hold(void *user, uint64_t recorded)
{
    fl_replay_events *events = user;
    events->complete_before = recorded;
}

static void events_complete(void *user)
{
    fl_replay_events *events = user;
    events->complete_before = UINT64_MAX;
}

/* Parses the text of a plugin's options against its rows; the values live as long as the replay. */
static fl_status parse_params(const fl_host *host, const char *name, const fl_param *rows,
                              const char *text, fl_param_value **ret_values, size_t *ret_count,
                              fl_error *error)
{
    size_t count = fl_param_count(rows);
    fl_param_value *values = fl_new(host, count * sizeof *values, error);
    if (values == NULL)
        return FL_ERR_RESOURCE;
    fl_status status = fl_param_parse(rows, text, values, error);
    if (status != FL_OK) {
        fl_delete(host, values, count * sizeof *values);
        fl_prefix(error, "%s", name);
        return status;
    }
    *ret_values = values;
    *ret_count = count;
    return FL_OK;
}

static fl_status open_device(fl_replay *replay, fl_error *error)
{
    const fl_replay_options *options = &replay->options;
    const fl_device_ops *ops = options->device;
    if (ops == NULL)
        ops = fl_device_find("sim");
    if (ops == NULL)
        return fl_fail(error, FL_ERR_UNAVAILABLE, "this build has no device 'sim'");
    fl_status status = parse_params(replay->host, ops->name, ops->params, options->device_params,
                                    &replay->device_params, &replay->device_param_count, error);
    if (status != FL_OK)
        return status;
    replay->plays_record = ops->needs_record;
    if (replay->plays_record)
        status = fl_record_init(&replay->record, replay->host, replay->columns, error);
    if (status == FL_OK && replay->plays_record && replay->start.segment_count > 0)
        status = fl_record_add_start(&replay->record, replay->host, &replay->start, error);
    if (status != FL_OK)
        return status;
    fl_device_env env = {
        .host = replay->host,
        .capacity_bytes = options->capacity_bytes,
        .total_bytes = options->total_bytes,
        .params = replay->device_params,
        .record = replay->plays_record ? &replay->record.view : NULL,
    };
    return fl_device_open(ops, &env, &replay->device, error);
}

/* The very first op, if it was found: in a history, or in a script that was made from one. */
static bool find_first(const fl_replay *replay, fl_op *ret_op)
{
    size_t count;
    const fl_insertion *list =
        fl_trace_insertions(replay->trace, replay->options.trace_device, &count);
    if (count > 0 && list[0].event == 0)
        *ret_op = list[0].op;
    else if (replay->columns->count > 0 && replay->columns->kind[0] < FL_OP_KIND_COUNT)
        fl_columns_op(replay->columns, 0, ret_op);
    else
        return false;
    return true;
}

/* The settings that a recorded program began with, where it was found that they changed later. */
static const char *first_settings(const fl_replay *replay)
{
    fl_op op;
    bool is_first = replay->options.first_event == 0 && find_first(replay, &op) &&
                    op.kind == FL_OP_CONFIGURE && (op.flags & FL_OP_INFERRED) &&
                    !fl_replay_overrules(replay, &op);
    return is_first ? fl_trace_names(replay->trace)->texts[op.text] : NULL;
}

static fl_status read_settings(fl_replay *replay, fl_error *error)
{
    fl_replay_options *options = &replay->options;
    if ((replay->policy->capabilities & FL_CAN_SETTINGS) == 0) {
        if (options->conf != NULL || options->profile != NULL || options->fraction >= 0)
            return fl_fail(error, FL_ERR_USAGE,
                           "policy '%s' knows no PyTorch release, settings or memory fraction",
                           replay->policy->name);
        return FL_OK;
    }
    if (options->profile == NULL)
        options->profile = fl_profile_newest();
    fl_settings_default(options->profile, &replay->settings);
    const char *first = first_settings(replay), *conf = first != NULL ? first : options->conf;
    if (conf == NULL)
        return FL_OK;
    fl_error refusal = {0};
    fl_status status = fl_settings_parse(options->profile, conf, &replay->settings, &refusal);
    if (status != FL_ERR_USAGE || first == NULL)
        return fl_pass_on(&refusal, error);
    return fl_fail(error, FL_ERR_INPUT, "%s: event 0: %s", fl_trace_path(replay->trace),
                   refusal.text);
}

static fl_status open_policy(fl_replay *replay, fl_error *error)
{
    const fl_replay_options *options = &replay->options;
    const fl_policy_ops *policy = replay->policy;
    fl_status status =
        parse_params(replay->host, policy->name, policy->params, options->policy_params,
                     &replay->policy_params, &replay->policy_param_count, error);
    if (status != FL_OK)
        return status;
    replay->policy_state = fl_new(replay->host, policy->state_size, error);
    if (replay->policy_state == NULL)
        return FL_ERR_RESOURCE;
    replay->events.complete_before = UINT64_MAX;
    replay->oracle = (fl_oracle){event_complete, events_hold, events_complete, &replay->events};
    replay->sink = (fl_sink){fl_replay_take_change, replay};
    fl_policy_env env = {
        .host = replay->host,
        .device = replay->device,
        .sink = fl_replay_is_lean(replay) ? NULL : &replay->sink,
        .oracle = &replay->oracle,
        .names = fl_trace_names(replay->trace),
        .params = replay->policy_params,
        .profile = options->profile,
        .settings = &replay->settings,
        .fraction = options->fraction,
        .is_tracked = options->is_tracked,
    };
    replay->is_policy_open = true;
    return policy->open(replay->policy_state, &env, error);
}

static fl_status find_range(fl_replay *replay, fl_error *error)
{
    const fl_replay_options *options = &replay->options;
    const fl_trace *trace = replay->trace;
    size_t device = options->trace_device;
    if (device >= fl_trace_device_count(trace))
        return fl_fail(error, FL_ERR_USAGE, "%s: there is no trace of device %zu",
                       fl_trace_path(trace), device);
    uint64_t count = fl_trace_event_count(trace, device);
    bool is_all = options->first_event == 0 && options->end_event == 0;
    uint64_t end = is_all ? count : options->end_event;
    if (options->first_event > end || end > count)
        return fl_fail(error, FL_ERR_USAGE,
                       "%s: range %llu:%llu is outside of the %llu events of device %zu",
                       fl_trace_path(trace), (unsigned long long)options->first_event,
                       (unsigned long long)end, (unsigned long long)count, device);
    replay->columns = fl_trace_columns(trace, device);
    replay->insertions = fl_trace_insertions(trace, device, &replay->insertion_count);
    replay->event = options->first_event;
    replay->unanswered = options->first_event;
    replay->end_event = end;
    while (replay->next_insertion < replay->insertion_count &&
           replay->insertions[replay->next_insertion].event < replay->event)
        replay->next_insertion++;
    return FL_OK;
}

static fl_status replay_init(fl_replay *replay, fl_error *error)
{
    fl_status status = find_range(replay, error);
    if (status != FL_OK)
        return status;
    replay->policy = replay->options.policy;
    if (replay->policy == NULL)
        replay->policy = fl_policy_find("torch");
    if (replay->policy == NULL)
        return fl_fail(error, FL_ERR_UNAVAILABLE, "this build has no policy 'torch'");
    if (replay->policy->capabilities & FL_NEEDS_FUTURE)
        return fl_fail(error, FL_ERR_UNAVAILABLE, "policy '%s' wants to see the whole trace first",
                       replay->policy->name);
    uint32_t recorded = fl_trace_alloc_count(replay->trace, replay->options.trace_device);
    if (replay->options.inserted_count > FL_NONE - 1 - recorded)
        return fl_fail(error, FL_ERR_USAGE, "more ops than can be numbered");
    replay->fate_count = recorded + (uint32_t)replay->options.inserted_count;
    replay->fates = fl_new(replay->host, replay->fate_count, error);
    if (replay->fates == NULL)
        return FL_ERR_RESOURCE;
    fl_replay_find_start(replay);
    if ((status = read_settings(replay, error)) != FL_OK ||
        (status = open_device(replay, error)) != FL_OK)
        return status;
    status = open_policy(replay, error);
    return status == FL_OK ? fl_replay_adopt(replay, error) : status;
}

fl_status fl_replay_open(const fl_trace *trace, const fl_replay_options *options,
                         fl_replay **ret_replay, fl_error *error)
{
    if (trace == NULL || options == NULL || ret_replay == NULL)
        return fl_fail(error, FL_ERR_USAGE, "a replay needs a trace, options and a place to go");
    const fl_host *host = options->host != NULL ? options->host : fl_host_default();
    fl_replay *replay = fl_new(host, sizeof *replay, error);
    if (replay == NULL)
        return FL_ERR_RESOURCE;
    replay->host = host;
    replay->options = *options;
    replay->trace = trace;
    fl_status status = replay_init(replay, error);
    if (status != FL_OK) {
        fl_replay_close(replay);
        return status;
    }
    *ret_replay = replay;
    return FL_OK;
}

void fl_replay_close(fl_replay *replay)
{
    if (replay == NULL)
        return;
    const fl_host *host = replay->host;
    if (replay->is_policy_open)
        replay->policy->close(replay->policy_state);
    if (replay->policy_state != NULL)
        fl_delete(host, replay->policy_state, replay->policy->state_size);
    fl_device_close(replay->device);
    fl_delete(host, replay->device_params,
              replay->device_param_count * sizeof *replay->device_params);
    fl_delete(host, replay->policy_params,
              replay->policy_param_count * sizeof *replay->policy_params);
    fl_delete(host, replay->fates, replay->fate_count);
    fl_record_deinit(&replay->record, host);
    fl_vector_deinit(host, &replay->changes);
    fl_delete(host, replay, sizeof *replay);
}

/* The caller's own ops before the event that comes next. */
static fl_status ask_inserted(fl_replay *replay, fl_error *error)
{
    const fl_replay_options *options = &replay->options;
    fl_status status = FL_OK;
    while (status == FL_OK && !replay->has_ended &&
           replay->next_inserted < options->inserted_count &&
           options->inserted[replay->next_inserted].event <= replay->event) {
        fl_op op = options->inserted[replay->next_inserted++].op;
        status = fl_replay_ask(replay, &op, error);
    }
    return status;
}

fl_status fl_replay_step(fl_replay *replay, bool *ret_more, fl_error *error)
{
    fl_status begun = fl_replay_begin(replay, error);
    if (begun != FL_OK)
        return begun;
    begun = ask_inserted(replay, error);
    if (begun != FL_OK)
        return begun;
    if (!replay->has_ended) {
        fl_status status = replay->event < replay->end_event ? fl_replay_event(replay, error)
                                                             : fl_replay_inferred(replay, error);
        if (status != FL_OK)
            return status;
    }
    *ret_more = !replay->has_ended;
    return FL_OK;
}

/* Events up to the next moment at which progress is told. */
static fl_status run_stretch(fl_replay *replay, fl_error *error)
{
    uint64_t stop = replay->event + PROGRESS_STEP;
    if (stop > replay->end_event)
        stop = replay->end_event;
    fl_status asked = ask_inserted(replay, error);
    if (asked != FL_OK)
        return asked;
    const fl_replay_options *options = &replay->options;
    if (replay->next_inserted < options->inserted_count &&
        options->inserted[replay->next_inserted].event < stop)
        stop = options->inserted[replay->next_inserted].event;
    if (fl_replay_is_lean(replay) && !replay->plays_record && !replay->options.check_every_op)
        return fl_replay_lean_stretch(replay, stop, error);
    while (replay->event < stop && !replay->has_ended) {
        fl_status status = fl_replay_event(replay, error);
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}

fl_status fl_replay_run(fl_replay *replay, fl_error *error)
{
    const fl_replay_options *options = &replay->options;
    fl_status begun = fl_replay_begin(replay, error);
    if (begun != FL_OK)
        return begun;
    while (replay->event < replay->end_event && !replay->has_ended) {
        fl_status status = run_stretch(replay, error);
        if (status != FL_OK)
            return status;
        if (options->progress != NULL &&
            !options->progress(options->user, replay->event - options->first_event,
                               replay->end_event - options->first_event))
            return fl_fail(error, FL_ERR_NO, "the replay was stopped");
    }
    return replay->has_ended ? FL_OK : fl_replay_inferred(replay, error);
}

static uint64_t count_calls(const fl_device_info *info, fl_call call)
{
    uint64_t count = 0;
    for (size_t i = 0; i < 64; i++)
        count += info->calls[call][i];
    return count;
}

/* The policy's own statistics instead of what the changes add up to. */
static void take_totals(const fl_stats *stats, fl_replay_summary *summary)
{
    const fl_stat *requested = &stats->stat[FL_STAT_REQUESTED_BYTES][FL_STAT_ALL];
    const fl_stat *allocated = &stats->stat[FL_STAT_ALLOCATED_BYTES][FL_STAT_ALL];
    const fl_stat *active = &stats->stat[FL_STAT_ACTIVE_BYTES][FL_STAT_ALL];
    const fl_stat *reserved = &stats->stat[FL_STAT_RESERVED_BYTES][FL_STAT_ALL];
    summary->peak = (fl_totals){requested->peak, allocated->peak, active->peak, reserved->peak};
    summary->end =
        (fl_totals){requested->current, allocated->current, active->current, reserved->current};
}

void fl_replay_get_summary(const fl_replay *replay, fl_replay_summary *ret_summary)
{
    const fl_device_info *info = fl_device_get_info(replay->device);
    *ret_summary = (fl_replay_summary){
        .events = replay->taken,
        .allocs = replay->allocs,
        .frees = replay->frees,
        .ooms = replay->ooms,
        .start = replay->start.segment_count > 0 ? replay->options.start : FL_START_NONE,
        .peak = replay->peak,
        .end = replay->now,
        .peak_reserved_event = replay->peak_reserved_event,
        .peak_allocated_event = replay->peak_allocated_event,
        .driver_malloc = count_calls(info, FL_CALL_ACQUIRE),
        .driver_free = count_calls(info, FL_CALL_RELEASE),
        .driver_map = count_calls(info, FL_CALL_MAP),
        .driver_unmap = count_calls(info, FL_CALL_UNMAP),
        .has_oom = replay->has_oom,
        .oom = replay->oom,
    };
    fl_facts facts = {0};
    if (replay->policy->facts != NULL)
        replay->policy->facts(replay->policy_state, &facts);
    ret_summary->has_stats = facts.stats != NULL;
    if (facts.stats != NULL)
        ret_summary->stats = *facts.stats;
    ret_summary->pools = facts.pools;
    ret_summary->pool_count = facts.pool_count;
    if (facts.stats != NULL && fl_replay_is_lean(replay))
        take_totals(facts.stats, ret_summary);
}

const fl_device_info *fl_replay_get_device_info(const fl_replay *replay)
{
    return fl_device_get_info(replay->device);
}

uint64_t fl_replay_next_value(const fl_replay *replay, const char *parameter)
{
    if (replay->policy->next_value == NULL)
        return UINT64_MAX;
    return replay->policy->next_value(replay->policy_state, parameter);
}

fl_status fl_replay_walk(const fl_replay *replay, const fl_walk *walk, fl_error *error)
{
    if (replay->policy->walk == NULL)
        return fl_fail(error, FL_ERR_UNAVAILABLE, "policy '%s' cannot show its segments",
                       replay->policy->name);
    return replay->policy->walk(replay->policy_state, walk, error);
}

fl_status fl_replay_probe(const fl_replay *replay, const fl_op *request, fl_probe *ret_probe,
                          fl_error *error)
{
    if (replay->policy->probe == NULL)
        return fl_fail(error, FL_ERR_UNAVAILABLE, "policy '%s' cannot be asked what if",
                       replay->policy->name);
    fl_probe probe;
    fl_status status = replay->policy->probe(replay->policy_state, request, &probe, error);
    if (status != FL_OK)
        return status;
    uint64_t left = fl_device_free_bytes(replay->device);
    if (!probe.usable && left < probe.segment_bytes)
        probe.unusable_bytes[FL_UNUSABLE_DEVICE] = left;
    *ret_probe = probe;
    return FL_OK;
}
