/* The loop: from an event of the trace to an op, from an op to the policy, and what came of it.
 *
 * Events that record what the allocator did ask nothing and cost one comparison.  Requests and
 * frees, nearly all of the rest, are handled without a table; every other op goes through one.
 * Without a watcher the loop adds the reading of four columns, one byte of fate per allocation and
 * the counting of changes to what the policy itself does. */
#include "replay/replay.h"

#include "heap/totals.h"

#include <string.h>

/* What a watcher is told beside the op and its result. */
struct place {
    uint64_t event;
    bool is_inferred;
};

static inline void raise_peak(uint64_t *peak, uint64_t now)
{
    if (now > *peak)
        *peak = now;
}

static void note_placed(fl_replay *replay)
{
    const fl_totals *now = &replay->now;
    fl_totals *peak = &replay->peak;
    raise_peak(&peak->requested_bytes, now->requested_bytes);
    raise_peak(&peak->active_bytes, now->active_bytes);
    if (now->allocated_bytes > peak->allocated_bytes) {
        peak->allocated_bytes = now->allocated_bytes;
        replay->peak_allocated_event = replay->event;
    }
}

static void note_reserved(fl_replay *replay)
{
    if (replay->now.reserved_bytes > replay->peak.reserved_bytes) {
        replay->peak.reserved_bytes = replay->now.reserved_bytes;
        replay->peak_reserved_event = replay->event;
    }
}

static void keep_change(fl_replay *replay, const fl_change *change)
{
    if (fl_vector_reserve(replay->host, &replay->changes, 1, &replay->change_error))
        replay->changes.items[replay->changes.count++] = *change;
}

void fl_replay_take_change(void *user, const fl_change *change)
{
    fl_replay *replay = user;
    fl_totals_change(&replay->now, change);
    if (change->kind == FL_CHANGE_PLACE)
        note_placed(replay);
    else if (change->kind == FL_CHANGE_FREE_DONE && change->id < replay->fate_count)
        replay->fates[change->id] = FL_FATE_DONE;
    else if (change->kind == FL_CHANGE_ACQUIRE || change->kind == FL_CHANGE_MAP)
        note_reserved(replay);
    if (replay->options.watch != NULL)
        keep_change(replay, change);
}

static fl_status probe_now(const void *prober, const fl_op *request, fl_probe *ret_probe,
                           fl_error *error)
{
    const fl_replay *replay = prober;
    return fl_replay_probe(replay, request, ret_probe, error);
}

static fl_status tell_watcher(fl_replay *replay, const struct place *place, const fl_op *op,
                              const fl_result *result, fl_error *error)
{
    if (replay->change_error.status != FL_OK)
        return fl_fail(error, replay->change_error.status, "%s", replay->change_error.text);
    const fl_columns *columns = replay->columns;
    bool in_trace = place->event < columns->count;
    fl_view view = {
        .event = place->event,
        .is_inferred = place->is_inferred,
        .time_us =
            in_trace && columns->time_us != NULL ? columns->time_us[place->event] : FL_TIME_UNKNOWN,
        .stack = in_trace && !place->is_inferred && columns->stack != NULL
                     ? columns->stack[place->event]
                     : FL_NONE,
        .op = op,
        .result = result,
        .changes = replay->changes.items,
        .change_count = replay->changes.count,
        .probe = replay->policy->probe != NULL ? probe_now : NULL,
        .prober = replay,
    };
    fl_status status = replay->options.watch(replay->options.user, &view, error);
    replay->changes.count = 0;
    return status;
}

/* After every op. */
static inline fl_status finish(fl_replay *replay, const struct place *place, const fl_op *op,
                               const fl_result *result, fl_error *error)
{
    if (replay->options.check_every_op) {
        fl_status status = replay->policy->check(replay->policy_state, error);
        if (status != FL_OK)
            return status;
    }
    if (replay->options.watch == NULL)
        return FL_OK;
    return tell_watcher(replay, place, op, result, error);
}

static void note_refusal(fl_replay *replay, const struct place *place, const fl_op *op,
                         const fl_result *result)
{
    replay->ooms++;
    if (replay->options.on_oom == FL_ON_OOM_STOP)
        replay->has_ended = true;
    if (replay->has_oom)
        return;
    replay->has_oom = true;
    replay->oom = (fl_oom){
        .event = place->event, .id = op->id, .outcome = result->outcome, .why = result->why};
    replay->oom.refusal.requested_bytes = op->size;
    fl_facts facts = {0};
    if (replay->policy->facts != NULL)
        replay->policy->facts(replay->policy_state, &facts);
    replay->oom.has_probe = replay->policy->probe != NULL &&
                            fl_replay_probe(replay, op, &replay->oom.probe, NULL) == FL_OK;
    if (facts.refusal != NULL && result->outcome != FL_FORBIDDEN) {
        replay->oom.has_refusal = true;
        replay->oom.refusal = *facts.refusal;
    }
}

static fl_status replay_alloc(fl_replay *replay, const struct place *place, fl_op *op,
                              fl_error *error)
{
    if (op->id >= replay->fate_count)
        return fl_fail(error, FL_ERR_INPUT, "a request without a number");
    uint8_t *fate = &replay->fates[op->id];
    if (*fate != FL_FATE_UNSEEN)
        return fl_fail(error, FL_ERR_INPUT, "allocation number %u is asked for twice", op->id);
    replay->allocs++;
    fl_result result = {0};
    if (op->size == 0) {
        *fate = FL_FATE_NOTHING;
        return finish(replay, place, op, &result, error);
    }
    fl_status status = replay->policy->alloc(replay->policy_state, op, &result, error);
    if (status != FL_OK)
        return status;
    *fate = result.outcome == FL_DONE ? FL_FATE_LIVE : FL_FATE_NOTHING;
    if (result.outcome != FL_DONE)
        note_refusal(replay, place, op, &result);
    return finish(replay, place, op, &result, error);
}

/* How the file itself calls an allocation: a script by its own number. */
static fl_status complain(const fl_replay *replay, uint32_t id, const char *what, fl_error *error)
{
    if (id >= replay->fate_count)
        return fl_fail(error, FL_ERR_INPUT, "%s an allocation that the file never made", what);
    uint64_t name = fl_trace_original_id(replay->trace, replay->options.trace_device, id);
    return fl_fail(error, FL_ERR_INPUT, "%s id %llu which is not live", what,
                   (unsigned long long)name);
}

/* Without streams a policy cannot keep a block pending, so the loop keeps the free. */
static bool must_withhold(const fl_replay *replay, const fl_op *op)
{
    return (op->flags & FL_OP_HELD) && (replay->policy->capabilities & FL_CAN_STREAMS) == 0;
}

static fl_status replay_free(fl_replay *replay, const struct place *place, fl_op *op,
                             fl_error *error)
{
    uint8_t fate = op->id < replay->fate_count ? replay->fates[op->id] : FL_FATE_UNSEEN;
    fl_result result = {0};
    if (fate == FL_FATE_NOTHING) {
        replay->fates[op->id] = FL_FATE_DONE;
        return finish(replay, place, op, &result, error);
    }
    if (fate == FL_FATE_UNSEEN && replay->options.first_event > 0)
        return FL_OK; /* allocated before the range that is replayed */
    if (fate != FL_FATE_LIVE)
        return complain(replay, op->id, "free of", error);
    replay->frees++;
    if (must_withhold(replay, op)) {
        replay->fates[op->id] = FL_FATE_WITHHELD;
        return finish(replay, place, op, &result, error);
    }
    replay->fates[op->id] = FL_FATE_PENDING;
    fl_status status = replay->policy->free(replay->policy_state, op, &result, error);
    if (status != FL_OK)
        return status;
    return finish(replay, place, op, &result, error);
}

/* A completion that some earlier op already brought, by synchronising, is no news. */
static fl_status replay_free_done(fl_replay *replay, const struct place *place, fl_op *op,
                                  fl_error *error)
{
    uint8_t fate = op->id < replay->fate_count ? replay->fates[op->id] : FL_FATE_UNSEEN;
    fl_result result = {0};
    fl_status status = FL_OK;
    switch (fate) {
    case FL_FATE_PENDING:
        status = replay->policy->control(replay->policy_state, op, &result, error);
        break;
    case FL_FATE_WITHHELD:
        replay->fates[op->id] = FL_FATE_PENDING;
        op->kind = FL_OP_FREE;
        op->flags = 0;
        status = replay->policy->free(replay->policy_state, op, &result, error);
        break;
    case FL_FATE_DONE:
    case FL_FATE_NOTHING:
        return FL_OK;
    case FL_FATE_UNSEEN:
        if (replay->options.first_event > 0)
            return FL_OK;
        return complain(replay, op->id, "completed free of", error);
    default:
        return fl_fail(error, FL_ERR_INPUT, "completed free of allocation %u which nobody freed",
                       op->id);
    }
    return status == FL_OK ? finish(replay, place, op, &result, error) : status;
}

static fl_status replay_use(fl_replay *replay, const struct place *place, fl_op *op,
                            fl_error *error)
{
    fl_result result = {0};
    bool is_live = op->id < replay->fate_count && replay->fates[op->id] == FL_FATE_LIVE;
    if (is_live && (replay->policy->capabilities & FL_CAN_STREAMS)) {
        fl_status status = replay->policy->control(replay->policy_state, op, &result, error);
        if (status != FL_OK)
            return status;
    }
    return finish(replay, place, op, &result, error);
}

/* Marks and reports: for the watcher only. */
static fl_status replay_note(fl_replay *replay, const struct place *place, fl_op *op,
                             fl_error *error)
{
    fl_result result = {0};
    return replay->options.watch == NULL ? FL_OK : tell_watcher(replay, place, op, &result, error);
}

static fl_status replay_outside(fl_replay *replay, const struct place *place, fl_op *op,
                                fl_error *error)
{
    if (replay->plays_record) /* what the device granted tells of it */
        return replay_note(replay, place, op, error);
    fl_answer answer = fl_device_outside(replay->device, op->size);
    if (answer == FL_ANSWER_ERROR)
        return fl_fail(error, FL_ERR_UNAVAILABLE,
                       "device '%s' cannot have memory taken outside of the allocator",
                       fl_device_get_ops(replay->device)->name);
    if (answer == FL_ANSWER_FULL)
        return fl_fail(error, FL_ERR_INPUT, "%llu bytes outside of the allocator do not fit",
                       (unsigned long long)op->size);
    fl_result result = {0};
    return finish(replay, place, op, &result, error);
}

static fl_status replay_control(fl_replay *replay, const struct place *place, fl_op *op,
                                fl_error *error)
{
    fl_result result = {0};
    fl_status status = replay->policy->control(replay->policy_state, op, &result, error);
    return status == FL_OK ? finish(replay, place, op, &result, error) : status;
}

/* Whoever looks at the replay from outside goes by the same settings, if they are PyTorch's. */
static fl_status replay_configure(fl_replay *replay, const struct place *place, fl_op *op,
                                  fl_error *error)
{
    fl_result result = {0};
    fl_status status = replay->policy->control(replay->policy_state, op, &result, error);
    if (status != FL_OK)
        return status;
    /* What the policy refused leaves them as they were. */
    (void)fl_settings_parse(replay->options.profile, fl_trace_names(replay->trace)->texts[op->text],
                            &replay->settings, NULL);
    return finish(replay, place, op, &result, error);
}

/* What becomes of each kind; `needs`: the capability without which an op means nothing. */
static const struct handler {
    fl_status (*run)(fl_replay *replay, const struct place *place, fl_op *op, fl_error *error);
    uint32_t needs;
} handlers[FL_OP_KIND_COUNT] = {
    [FL_OP_NONE] = {replay_note, 0},
    [FL_OP_ALLOC] = {replay_alloc, 0},
    [FL_OP_FREE] = {replay_free, 0},
    [FL_OP_USE] = {replay_use, 0},
    [FL_OP_SCOPE_BEGIN] = {replay_control, FL_CAN_POOLS},
    [FL_OP_SCOPE_END] = {replay_control, FL_CAN_POOLS},
    [FL_OP_POOL_RELEASE] = {replay_control, FL_CAN_POOLS},
    [FL_OP_TRIM] = {replay_control, 0},
    [FL_OP_LIMIT] = {replay_control, FL_CAN_SETTINGS},
    [FL_OP_CONFIGURE] = {replay_configure, FL_CAN_SETTINGS},
    [FL_OP_EVENTS_HOLD] = {replay_control, FL_CAN_STREAMS},
    [FL_OP_EVENTS_COMPLETE] = {replay_control, FL_CAN_STREAMS},
    [FL_OP_FREE_DONE] = {replay_free_done, 0},
    [FL_OP_MARK] = {replay_note, 0},
    [FL_OP_OUTSIDE] = {replay_outside, 0},
    [FL_OP_SHOW_SEGMENTS] = {replay_note, 0},
    [FL_OP_SHOW_COUNTERS] = {replay_note, 0},
    [FL_OP_RESET_PEAKS] = {replay_control, FL_CAN_SETTINGS},
    [FL_OP_RESET_SUMS] = {replay_control, FL_CAN_SETTINGS},
};

/* Is this an op that `without` leaves out?  Takes out of others what it leaves out of them. */
static bool leave_out(uint32_t without, fl_op *op)
{
    if (without & (FL_WITHOUT_PENDING | FL_WITHOUT_STREAMS)) {
        if (op->kind == FL_OP_FREE)
            op->flags &= (uint8_t)~FL_OP_HELD;
        if (op->kind == FL_OP_USE)
            return true;
    }
    if ((without & FL_WITHOUT_STREAMS) && op->stream != FL_NONE)
        op->stream = 0;
    if ((without & FL_WITHOUT_POOLS) && op->kind != FL_OP_TRIM && op->pool != FL_NONE)
        return handlers[op->kind].needs == FL_CAN_POOLS;
    return (without & FL_WITHOUT_OUTSIDE) && op->kind == FL_OP_OUTSIDE;
}

bool fl_replay_overrules(const fl_replay *replay, const fl_op *op)
{
    const char *conf = replay->options.conf, *stated = fl_trace_conf(replay->trace);
    bool is_limit = op->kind == FL_OP_LIMIT;
    if ((!is_limit && op->kind != FL_OP_CONFIGURE) || (op->flags & FL_OP_INFERRED) == 0)
        return false;
    return is_limit ? replay->options.fraction >= 0
                    : strcmp(conf != NULL ? conf : "", stated != NULL ? stated : "") != 0;
}

static inline fl_status run_op(fl_replay *replay, const struct place *place, fl_op *op,
                               fl_error *error)
{
    const struct handler *handler = &handlers[op->kind];
    uint32_t can = replay->policy->capabilities;
    if (handler->needs & ~can)
        return replay_note(replay, place, op, error);
    if (replay->options.without != 0 && leave_out(replay->options.without, op))
        return replay_note(replay, place, op, error);
    if ((can & FL_CAN_STREAMS) == 0)
        op->stream = 0;
    if ((can & FL_CAN_POOLS) == 0)
        op->pool = 0;
    if (op->kind == FL_OP_ALLOC)
        return replay_alloc(replay, place, op, error);
    if (op->kind == FL_OP_FREE)
        return replay_free(replay, place, op, error);
    return fl_replay_overrules(replay, op) ? FL_OK : handler->run(replay, place, op, error);
}

/* Puts the place in front of what the policy says. */
static fl_status add_place(const fl_replay *replay, uint64_t event, fl_status status,
                           fl_error *error)
{
    if (status == FL_ERR_USAGE) /* what an op asks is the file's doing, not the caller's */
        status = FL_ERR_INPUT;
    if (error != NULL && error->status == FL_ERR_USAGE)
        error->status = FL_ERR_INPUT;
    if (error != NULL && error->status != FL_OK)
        fl_prefix(error, "%s: event %llu", fl_trace_path(replay->trace), (unsigned long long)event);
    return status;
}

fl_status fl_replay_ask(fl_replay *replay, fl_op *op, fl_error *error)
{
    struct place place = {replay->event, true};
    return run_op(replay, &place, op, error);
}

fl_status fl_replay_tell(fl_replay *replay, const fl_op *op, fl_error *error)
{
    struct place place = {replay->event, true};
    fl_result result = {0};
    return replay->options.watch == NULL ? FL_OK : tell_watcher(replay, &place, op, &result, error);
}

fl_status fl_replay_inferred(fl_replay *replay, fl_error *error)
{
    if (replay->event == replay->end_event)
        replay->has_ended = true;
    size_t device = replay->options.trace_device;
    bool is_range = replay->end_event < replay->columns->count ||
                    fl_trace_behind(replay->trace, device).events > 0;
    if (replay->event == replay->end_event && is_range)
        return FL_OK; /* they belong to an event after the range */
    replay->insertions =
        fl_trace_insertions(replay->trace, replay->options.trace_device, &replay->insertion_count);
    while (replay->next_insertion < replay->insertion_count &&
           replay->insertions[replay->next_insertion].event <= replay->event) {
        const fl_insertion *insertion = &replay->insertions[replay->next_insertion++];
        struct place place = {insertion->event, true};
        fl_op op = insertion->op;
        if (replay->plays_record)
            fl_device_recorded_seek(replay->device, replay->unanswered, insertion->event);
        fl_status status = run_op(replay, &place, &op, error);
        if (status != FL_OK)
            return add_place(replay, insertion->event, status, error);
    }
    return FL_OK;
}

fl_status fl_replay_event(fl_replay *replay, fl_error *error)
{
    const fl_columns *columns = replay->columns;
    uint64_t event = replay->event;
    uint8_t kind = columns->kind[event];
    uint8_t flags = columns->flags[event];
    if (flags & FL_EVENT_INSERTED) {
        fl_status status = fl_replay_inferred(replay, error);
        if (status != FL_OK)
            return status;
    }
    fl_status status = FL_OK;
    if (kind < FL_OP_KIND_COUNT && !(flags & FL_EVENT_SILENT)) {
        struct place place = {event, false};
        fl_op op;
        fl_columns_op(columns, event, &op);
        if (replay->plays_record) {
            fl_device_recorded_seek(replay->device, replay->unanswered, event);
            replay->unanswered = event + 1;
        }
        status = run_op(replay, &place, &op, error);
    }
    if (status != FL_OK)
        return add_place(replay, event, status, error);
    replay->taken++;
    replay->event = event + 1;
    return FL_OK;
}

/* As many events as the policy can play by itself; the refusal that may have ended them is noted.
 */
static fl_status lean_run(fl_replay *replay, uint64_t stop, fl_error *error)
{
    const fl_columns *columns = replay->columns;
    fl_stretch stretch = {
        .kind = columns->kind,
        .flags = columns->flags,
        .stream = columns->stream,
        .id = columns->id,
        .size = columns->size,
        .fates = replay->fates,
        .fate_count = replay->fate_count,
        .event = replay->event,
        .stop = stop,
    };
    fl_status status = replay->policy->stretch(replay->policy_state, &stretch, error);
    if (stretch.result.outcome != FL_DONE) {
        fl_op op;
        struct place place = {stretch.event - 1, false};
        fl_columns_op(columns, place.event, &op);
        note_refusal(replay, &place, &op, &stretch.result);
    }
    replay->allocs += stretch.allocs;
    replay->frees += stretch.frees;
    replay->taken += stretch.event - replay->event;
    replay->event = stretch.event;
    return status == FL_OK ? FL_OK : add_place(replay, stretch.event, status, error);
}

fl_status fl_replay_lean_stretch(fl_replay *replay, uint64_t stop, fl_error *error)
{
    fl_status status = FL_OK;
    while (status == FL_OK && replay->event < stop && !replay->has_ended) {
        status = lean_run(replay, stop, error);
        if (status == FL_OK && replay->event < stop && !replay->has_ended)
            status = fl_replay_event(replay, error);
    }
    return status;
}
