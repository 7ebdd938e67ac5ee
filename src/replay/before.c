/* What a program had asked before the range that is replayed, as far as it still matters there.
 *
 * Blocks and segments are taken over as they lie.  The rest of the state is in no block: limits,
 * settings, which events are complete, who uses and has freed the blocks that are there, and who
 * holds on to private pools.  So those ops are asked again, in their order; what they came to is
 * not counted. */
#include "replay/replay.h"

#include "base/memory.h"

FL_VECTOR(before_scopes, fl_op);

struct before {
    fl_replay *replay;
    struct before_scopes open; /* scopes that have begun and not ended */
    int64_t *holds;            /* by pool: begun less released */
    size_t pool_count;
};

static fl_status note_scope(struct before *before, const fl_op *op, fl_error *error)
{
    struct before_scopes *open = &before->open;
    if (op->kind == FL_OP_SCOPE_BEGIN) {
        if (!fl_vector_reserve(before->replay->host, open, 1, error))
            return FL_ERR_RESOURCE;
        open->items[open->count++] = *op;
        before->holds[op->pool]++;
        return FL_OK;
    }
    for (size_t i = open->count; i-- > 0;) {
        if (open->items[i].pool != op->pool)
            continue;
        memmove(&open->items[i], &open->items[i + 1], (--open->count - i) * sizeof *open->items);
        break;
    }
    return FL_OK;
}

static fl_status ask_again(struct before *before, fl_op *op, fl_error *error)
{
    fl_replay *replay = before->replay;
    switch (op->kind) {
    case FL_OP_SCOPE_BEGIN:
    case FL_OP_SCOPE_END:
        return note_scope(before, op, error);
    case FL_OP_POOL_RELEASE:
        before->holds[op->pool]--;
        return FL_OK;
    case FL_OP_USE:
    case FL_OP_FREE:
        return op->id < replay->fate_count && replay->fates[op->id] == FL_FATE_LIVE
                   ? fl_replay_ask(replay, op, error)
                   : FL_OK;
    case FL_OP_LIMIT:
    case FL_OP_CONFIGURE:
    case FL_OP_EVENTS_HOLD:
    case FL_OP_EVENTS_COMPLETE:
    case FL_OP_OUTSIDE:
        return fl_replay_ask(replay, op, error);
    default:
        return FL_OK;
    }
}

static fl_status ask_events(struct before *before, fl_error *error)
{
    const fl_replay *replay = before->replay;
    size_t next = 0;
    fl_status status = FL_OK;
    for (uint64_t i = 0; i < replay->options.first_event && status == FL_OK; i++) {
        fl_op op;
        for (; next < replay->insertion_count && replay->insertions[next].event <= i &&
               status == FL_OK;
             next++) {
            op = replay->insertions[next].op;
            status = ask_again(before, &op, error);
        }
        if (status != FL_OK || replay->columns->kind[i] >= FL_OP_KIND_COUNT)
            continue;
        fl_columns_op(replay->columns, i, &op);
        status = ask_again(before, &op, error);
    }
    return status;
}

static fl_status ask_pool(struct before *before, fl_op_kind kind, uint32_t pool, fl_error *error)
{
    fl_op op = {
        .kind = (uint8_t)kind, .id = FL_NONE, .stream = FL_NONE, .pool = pool, .text = FL_NONE};
    return fl_replay_ask(before->replay, &op, error);
}

/* A pool that came with the start state is held once, and once more by each scope that is open. */
static fl_status settle_pool(struct before *before, uint32_t pool, bool is_there, fl_error *error)
{
    int64_t missing = before->holds[pool] - is_there;
    for (size_t i = 0; i < before->open.count; i++)
        missing -= before->open.items[i].pool == pool;
    fl_status status = FL_OK;
    for (; missing > 0 && status == FL_OK; missing--) {
        status = ask_pool(before, FL_OP_SCOPE_BEGIN, pool, error);
        if (status == FL_OK)
            status = ask_pool(before, FL_OP_SCOPE_END, pool, error);
    }
    return status;
}

/* Once scopes are open, what holds too much lets go. */
static fl_status release_pool(struct before *before, uint32_t pool, bool is_there, fl_error *error)
{
    int64_t held = is_there;
    for (size_t i = 0; i < before->open.count; i++)
        held += before->open.items[i].pool == pool;
    int64_t wanted = before->holds[pool] > 0 ? before->holds[pool] : 0;
    return held > wanted ? ask_pool(before, FL_OP_POOL_RELEASE, pool, error) : FL_OK;
}

static fl_status settle_pools(struct before *before, fl_error *error)
{
    const fl_start *start = &before->replay->start;
    bool *is_there = fl_new(before->replay->host, before->pool_count, error);
    if (is_there == NULL)
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < start->segment_count; i++)
        is_there[start->segments[i].pool] = true;
    fl_status status = FL_OK;
    for (uint32_t pool = 1; pool < before->pool_count && status == FL_OK; pool++)
        status = settle_pool(before, pool, is_there[pool], error);
    for (size_t i = 0; i < before->open.count && status == FL_OK; i++)
        status = fl_replay_ask(before->replay, &before->open.items[i], error);
    for (uint32_t pool = 1; pool < before->pool_count && status == FL_OK; pool++)
        status = release_pool(before, pool, is_there[pool], error);
    fl_delete(before->replay->host, is_there, before->pool_count);
    return status;
}

static fl_status reset_counts(struct before *before, fl_error *error)
{
    static const uint8_t resets[] = {FL_OP_RESET_PEAKS, FL_OP_RESET_SUMS};
    fl_status status = FL_OK;
    for (size_t i = 0; i < sizeof resets && status == FL_OK; i++) {
        fl_op reset = {
            .kind = resets[i], .id = FL_NONE, .stream = FL_NONE, .pool = FL_NONE, .text = FL_NONE};
        status = fl_replay_ask(before->replay, &reset, error);
    }
    return status;
}

fl_status fl_replay_ask_before(fl_replay *replay, fl_error *error)
{
    struct before before = {.replay = replay,
                            .pool_count = fl_trace_names(replay->trace)->pool_count};
    size_t size = before.pool_count * sizeof *before.holds;
    before.holds = fl_new(replay->host, size, error);
    if (before.holds == NULL)
        return FL_ERR_RESOURCE;
    fl_status status = ask_events(&before, error);
    if (status == FL_OK && (replay->policy->capabilities & FL_CAN_POOLS))
        status = settle_pools(&before, error);
    if (status == FL_OK)
        status = reset_counts(&before, error);
    fl_delete(replay->host, before.holds, size);
    fl_vector_deinit(replay->host, &before.open);
    return status;
}
