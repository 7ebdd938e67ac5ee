/* What was there before the first event of a cut window: taken over by the policy as it lay, or
 * asked for anew.
 *
 * A policy that takes it over tells no changes, for nothing has changed.  A watcher, who knows of
 * the heap by changes alone, is told of it by one view in front of the first event, without an op:
 * segments and blocks come, and what was freed goes pending. */
#include "replay/replay.h"

#include "base/memory.h"

void fl_replay_find_start(fl_replay *replay)
{
    const fl_trace_device *device = &replay->trace->devices.items[replay->options.trace_device];
    const fl_trace_start *start = &device->start;
    replay->has_begun = true;
    if (!start->is_placed || replay->options.first_event != start->event)
        return;
    replay->start = (fl_start){
        start->segments.items, start->segments.count, start->blocks.items, start->blocks.count,
        start->ranges.items,   start->ranges.count,   start->births.items, start->births.count,
    };
    replay->has_begun = start->segments.count == 0 && replay->options.first_event == 0;
}

fl_status fl_replay_adopt(fl_replay *replay, fl_error *error)
{
    const fl_start *start = &replay->start;
    if (start->segment_count == 0 || replay->options.start != FL_START_RECORDED)
        return FL_OK;
    if (replay->policy->adopt == NULL) {
        fl_fail(error, FL_ERR_UNAVAILABLE,
                "policy '%s' cannot take over what was there before the first event",
                replay->policy->name);
        return fl_hint(error, "--start fresh asks for it anew");
    }
    fl_status status = replay->policy->adopt(replay->policy_state, start, error);
    if (status == FL_ERR_INPUT && error != NULL)
        fl_prefix(error, "%s", fl_trace_path(replay->trace));
    if (status == FL_ERR_UNAVAILABLE)
        fl_hint(error, "--start fresh asks for it anew");
    for (size_t i = 0; status == FL_OK && i < start->block_count; i++) {
        const fl_block_view *block = &start->blocks[i];
        if (block->state != FL_BLOCK_FREE)
            replay->fates[block->id] =
                block->state == FL_BLOCK_LIVE ? FL_FATE_LIVE : FL_FATE_PENDING;
    }
    return status;
}

/* ---- telling --------------------------------------------------------------------------------- */

static fl_change change_of_run(const fl_segment_view *run, fl_change_kind kind)
{
    return (fl_change){
        .kind = (uint8_t)kind,
        .flags = (uint8_t)((run->is_small ? FL_CHANGE_SMALL : 0) |
                           (run->is_expandable ? FL_CHANGE_EXPANDABLE : 0)),
        .id = FL_NONE,
        .segment = run->segment,
        .stream = run->stream,
        .pool = run->pool,
        .address = run->address,
        .size = run->size,
    };
}

static void tell_run(fl_replay *replay, const fl_segment_view *run)
{
    fl_change change = change_of_run(run, run->is_expandable ? FL_CHANGE_MAP : FL_CHANGE_ACQUIRE);
    if (run->is_expandable)
        change.requested = replay->start.ranges[run->segment].page;
    fl_replay_take_change(replay, &change);
}

static void tell_block(fl_replay *replay, const fl_segment_view *run, const fl_block_view *block)
{
    if (block->state == FL_BLOCK_FREE)
        return;
    fl_change change = change_of_run(run, FL_CHANGE_PLACE);
    change.id = block->id;
    change.address = block->address;
    change.size = block->size;
    change.requested = block->requested;
    fl_replay_take_change(replay, &change);
    change.kind = FL_CHANGE_FREE_ASKED;
    if (block->state == FL_BLOCK_PENDING)
        fl_replay_take_change(replay, &change);
}

static fl_status tell_start(fl_replay *replay, fl_error *error)
{
    const fl_start *start = &replay->start;
    size_t at = 0;
    for (size_t i = 0; i < start->segment_count; i++) {
        const fl_segment_view *run = &start->segments[i];
        tell_run(replay, run);
        while (at < start->block_count && start->blocks[at].address - run->address < run->size)
            tell_block(replay, run, &start->blocks[at++]);
    }
    static const fl_op nothing = {
        .id = FL_NONE, .stream = FL_NONE, .pool = FL_NONE, .text = FL_NONE};
    return fl_replay_tell(replay, &nothing, error);
}

/* ---- asking anew ----------------------------------------------------------------------------- */

static fl_status ask_block(fl_replay *replay, const fl_segment_view *run,
                           const fl_block_view *block, fl_error *error)
{
    fl_op op = {
        .kind = FL_OP_ALLOC,
        .id = block->id,
        .stream = run->stream,
        .pool = run->pool,
        .text = FL_NONE,
        .size = block->requested,
    };
    fl_status status = fl_replay_ask(replay, &op, error);
    if (status != FL_OK || block->state == FL_BLOCK_LIVE || replay->has_ended)
        return status;
    op = (fl_op){.kind = FL_OP_FREE,
                 .flags = FL_OP_HELD,
                 .id = block->id,
                 .stream = run->stream,
                 .pool = run->pool,
                 .text = FL_NONE};
    return fl_replay_ask(replay, &op, error);
}

static fl_status ask_scope(fl_replay *replay, fl_op_kind kind, uint32_t pool, fl_error *error)
{
    fl_op op = {
        .kind = (uint8_t)kind, .id = FL_NONE, .stream = FL_NONE, .pool = pool, .text = FL_NONE};
    return pool == 0 ? FL_OK : fl_replay_ask(replay, &op, error);
}

/* Every run of a private pool is asked for in a scope of its own, of which only the first holds on
 * to the pool. */
static fl_status end_scope(fl_replay *replay, uint32_t pool, bool *is_held, fl_error *error)
{
    fl_status status = ask_scope(replay, FL_OP_SCOPE_END, pool, error);
    if (status == FL_OK && *is_held)
        status = ask_scope(replay, FL_OP_POOL_RELEASE, pool, error);
    *is_held = true;
    return status;
}

/* `held` by dense pool: it has had its first scope. */
static fl_status ask_runs(fl_replay *replay, bool *held, fl_error *error)
{
    const fl_start *start = &replay->start;
    size_t at = 0;
    fl_status status = FL_OK;
    for (size_t i = 0; i < start->segment_count; i++) {
        const fl_segment_view *run = &start->segments[i];
        if (status == FL_OK)
            status = ask_scope(replay, FL_OP_SCOPE_BEGIN, run->pool, error);
        for (; at < start->block_count && start->blocks[at].address - run->address < run->size;
             at++) {
            const fl_block_view *block = &start->blocks[at];
            if (block->state != FL_BLOCK_FREE && status == FL_OK && !replay->has_ended)
                status = ask_block(replay, run, block, error);
        }
        if (status == FL_OK)
            status = end_scope(replay, run->pool, &held[run->pool], error);
    }
    return status;
}

static fl_status ask_start(fl_replay *replay, fl_error *error)
{
    size_t pools = fl_trace_names(replay->trace)->pool_count;
    bool *held = fl_new(replay->host, pools * sizeof *held, error);
    if (held == NULL)
        return FL_ERR_RESOURCE;
    fl_status status = ask_runs(replay, held, error);
    fl_delete(replay->host, held, pools * sizeof *held);
    if (status != FL_OK)
        return status;
    fl_op reset = {.kind = FL_OP_RESET_PEAKS,
                   .id = FL_NONE,
                   .stream = FL_NONE,
                   .pool = FL_NONE,
                   .text = FL_NONE};
    return fl_replay_ask(replay, &reset, error);
}

fl_status fl_replay_begin(fl_replay *replay, fl_error *error)
{
    if (replay->has_begun)
        return FL_OK;
    replay->has_begun = true;
    bool is_recorded = replay->options.start == FL_START_RECORDED;
    bool is_range = replay->options.first_event > 0;
    fl_status status = is_recorded ? tell_start(replay, error) : ask_start(replay, error);
    if (status == FL_OK && is_range && !replay->has_ended)
        status = fl_replay_ask_before(replay, error);
    replay->peak = replay->now;
    replay->peak_allocated_event = replay->peak_reserved_event = replay->event;
    if (!is_recorded || is_range)
        replay->allocs = replay->frees = 0;
    if (status != FL_OK && error != NULL)
        fl_prefix(error, "%s: before the first event", fl_trace_path(replay->trace));
    return status;
}
