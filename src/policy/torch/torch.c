/* The caching allocator of PyTorch as a policy: ops in, results out.
 *
 * One set of rules serves every release; what differs is asked of the profile row.  It models one
 * device of one process, one op at a time, as the allocator's own lock does. */
#include "policy/torch/torch.h"

#include "base/memory.h"
#include "policy/torch/bins.h"

/* ---- open and close -------------------------------------------------------------------------- */

/* The limit that a fraction sets (13). */
static void torch_set_fraction(torch *st, double fraction)
{
    if (fraction == 1.0 && st->profile->fraction_one_is_no_limit)
        st->limit = FL_UNLIMITED;
    else if (st->profile->limit_is_rounded)
        st->limit = fl_truncate(fraction * (double)st->total + 0.5);
    else
        st->limit = fl_truncate(fraction * (double)st->total);
    st->limit_is_part = true;
}

void torch_settle(torch *st)
{
    st->counts_calls = st->limit != FL_UNLIMITED && st->settings.collect_threshold > 0;
    st->rounds_plainly = true;
    for (size_t i = 0; i < FL_ROUNDUP_SLOTS; i++)
        st->rounds_plainly &= st->settings.divisions[i] == 0;
}

static fl_status torch_check_fraction(const torch *st, double fraction, fl_error *error)
{
    if (!(fraction >= 0 && fraction <= 1))
        return fl_fail(error, FL_ERR_USAGE, "a memory fraction lies between 0 and 1, got %g",
                       fraction);
    if (st->total == FL_UNLIMITED) {
        fl_fail(error, FL_ERR_USAGE, "a memory fraction needs the size of the card");
        return fl_hint(error, "--gpu SIZE gives one");
    }
    return FL_OK;
}

/* What NO_BLOCK is: see there. */
static bool torch_make_no_block(torch *st)
{
    if (!torch_blocks_grow(st))
        return false;
    st->blocks.items[st->blocks.count++] =
        (struct torch_block){.size = UINT64_MAX, .tie = UINT64_MAX};
    return true;
}

static fl_status torch_open(torch *st, const fl_policy_env *env, fl_error *error)
{
    st->host = env->host;
    st->device = env->device;
    st->sink = env->sink;
    st->oracle = env->oracle;
    st->names = env->names;
    st->profile = env->profile;
    st->tie = env->profile->tie;
    st->settings = *env->settings;
    st->total = fl_device_get_info(env->device)->total_bytes;
    st->limit = FL_UNLIMITED;
    st->unused_uses = FL_NONE;
    st->error = error;
    st->stats.max_split_bytes = st->settings.max_split_bytes;
    double fraction = env->fraction >= 0 ? env->fraction : st->settings.process_fraction;
    if (env->fraction >= 0 || fraction < 1) {
        fl_status status = torch_check_fraction(st, fraction, error);
        if (status != FL_OK)
            return status;
        torch_set_fraction(st, fraction);
    }
    torch_settle(st);
    st->shown = fl_new(st->host, sizeof *st->shown, error);
    if (st->shown == NULL || (env->is_tracked && !torch_tracking_begin(st)) ||
        !torch_make_no_block(st) || torch_pool_new(st, true, FL_NONE) == FL_NONE ||
        torch_pool_new(st, false, FL_NONE) == FL_NONE)
        return FL_ERR_RESOURCE;
    return FL_OK;
}

static void torch_pool_free(const torch *st, struct torch_pool *pool)
{
    fl_vector_deinit(st->host, &pool->lanes);
    fl_delete(st->host, pool, sizeof *pool);
}

static void torch_lane_free(const torch *st, struct torch_lane *lane)
{
    fl_ordered_deinit(st->host, &lane->unmapped);
    torch_bins_deinit(st->host, &lane->bins);
    fl_delete(st->host, lane, sizeof *lane);
}

static void torch_close(torch *st)
{
    if (st->host == NULL)
        return;
    for (size_t i = 0; i < st->pools.count; i++)
        torch_pool_free(st, st->pools.items[i]);
    for (size_t i = 0; i < st->lanes.count; i++)
        torch_lane_free(st, st->lanes.items[i]);
    fl_vector_deinit(st->host, &st->lanes);
    for (size_t i = 0; i < st->segments.count; i++)
        fl_vector_deinit(st->host, &st->segments.items[i].pages);
    for (size_t i = 0; i < st->queues.count; i++)
        fl_vector_deinit(st->host, &st->queues.items[i].events);
    for (size_t i = 0; i < st->use_sets.count; i++) {
        hash_order_deinit(st->host, &st->use_sets.items[i].streams);
        hash_order_deinit(st->host, &st->use_sets.items[i].in_capture);
    }
    fl_delete(st->host, st->shown, sizeof *st->shown);
    torch_tracking_end(st);
    hash_order_deinit(st->host, &st->queue_order);
    hash_order_deinit(st->host, &st->freeable);
    hash_order_deinit(st->host, &st->use_on_oom);
    torch_blocks_deinit(st);
    fl_vector_deinit(st->host, &st->block_of);
    fl_vector_deinit(st->host, &st->segments);
    fl_vector_deinit(st->host, &st->pools);
    fl_vector_deinit(st->host, &st->stream_order);
    fl_vector_deinit(st->host, &st->privates);
    fl_vector_deinit(st->host, &st->pool_stats);
    fl_vector_deinit(st->host, &st->private_of);
    fl_vector_deinit(st->host, &st->no_split);
    fl_vector_deinit(st->host, &st->scopes);
    fl_vector_deinit(st->host, &st->queues);
    fl_vector_deinit(st->host, &st->use_sets);
    fl_vector_deinit(st->host, &st->deferred);
    fl_vector_deinit(st->host, &st->waiting);
    fl_vector_deinit(st->host, &st->scratch);
    for (size_t i = 0; i < st->bin_sets.count; i++)
        fl_ordered_deinit(st->host, &st->bin_sets.items[i]);
    fl_vector_deinit(st->host, &st->bin_sets);
    fl_vector_deinit(st->host, &st->unused_bin_sets);
}

/* ---- ops ------------------------------------------------------------------------------------- */

/* Keeps streams in order of their original numbers: the order in which a free set is walked. */
bool torch_meet_new_stream(torch *st, uint32_t stream)
{
    if (stream >= UINT16_MAX) {
        fl_fail(st->error, FL_ERR_RESOURCE, "more than %d streams", UINT16_MAX - 1);
        return false;
    }
    while (st->stream_order.count <= stream) {
        if (!fl_vector_reserve(st->host, &st->stream_order, 1, st->error))
            return false;
        uint32_t fresh = (uint32_t)st->stream_order.count;
        size_t at = st->stream_order.count++;
        for (; at > 0; at--) {
            uint32_t before = st->stream_order.items[at - 1];
            if (st->names->streams[before] < st->names->streams[fresh])
                break;
            st->stream_order.items[at] = before;
        }
        st->stream_order.items[at] = fresh;
    }
    return true;
}

/* Knows every id that there is room for, so that most requests meet none that is new. */
bool torch_meet_new_id(torch *st, uint32_t id)
{
    size_t known = st->block_of.count;
    if (!fl_vector_reserve(st->host, &st->block_of, id + (size_t)1 - known, st->error))
        return false;
    st->block_of.count = st->block_of.capacity;
    memset(st->block_of.items + known, 0,
           (st->block_of.count - known) * sizeof *st->block_of.items);
    return true;
}

fl_status torch_finish(torch *st, torch_step step, fl_result *ret_result)
{
    *ret_result = (fl_result){0};
    switch (step) {
    case STEP_YES:
        return FL_OK;
    case STEP_NO:
        ret_result->outcome = st->forbidden != NULL ? FL_REJECTED : FL_REFUSED;
        break;
    case STEP_FORBIDDEN:
        ret_result->outcome = FL_FORBIDDEN;
        break;
    case STEP_BROKEN:
        if (st->error != NULL && st->error->status != FL_OK)
            return st->error->status;
        return fl_fail(st->error, FL_ERR_RESOURCE, "out of memory: no room for the heap's books");
    }
    ret_result->why = st->forbidden;
    st->forbidden = NULL;
    st->cause = FL_CAUSE_REQUEST;
    return FL_OK;
}

static torch_step torch_use_op(torch *st, const fl_op *op)
{
    uint32_t index = torch_block_of(st, op->id);
    if (!(torch_block_at(st, index)->flags & BLOCK_ALLOCATED))
        return STEP_YES;
    return torch_meet_stream(st, op->stream) && torch_use(st, index, op->stream) ? STEP_YES
                                                                                 : STEP_BROKEN;
}

static torch_step torch_complete_op(torch *st, const fl_op *op)
{
    uint32_t index = torch_block_of(st, op->id);
    return index == NO_BLOCK || torch_complete_now(st, index) ? STEP_YES : STEP_BROKEN;
}

static torch_step torch_limit_op(torch *st, const fl_op *op)
{
    if (op->flags & FL_OP_BYTES) {
        st->limit = op->size;
        st->limit_is_part = false;
        torch_settle(st);
        return STEP_YES;
    }
    if (torch_check_fraction(st, op->fraction, st->error) != FL_OK)
        return STEP_BROKEN;
    torch_set_fraction(st, op->fraction);
    torch_settle(st);
    return STEP_YES;
}

static torch_step torch_configure_op(torch *st, const fl_op *op)
{
    if (st->tracking != NULL)
        st->tracking->is_split_replaced = true;
    fl_status status =
        fl_settings_parse(st->profile, st->names->texts[op->text], &st->settings, st->error);
    torch_settle(st);
    return status == FL_OK ? STEP_YES : STEP_BROKEN;
}

static torch_step torch_hold_op(torch *st, bool hold)
{
    if (hold)
        st->oracle->hold(st->oracle->user, st->events_recorded);
    else
        st->oracle->complete(st->oracle->user);
    return STEP_YES;
}

static fl_status torch_control(torch *st, const fl_op *op, fl_result *ret_result, fl_error *error)
{
    st->error = error;
    torch_step step = STEP_YES;
    switch ((fl_op_kind)op->kind) {
    case FL_OP_USE:
        step = torch_use_op(st, op);
        break;
    case FL_OP_SCOPE_BEGIN:
        step = torch_scope_begin(st, op);
        break;
    case FL_OP_SCOPE_END:
        step = torch_scope_end(st, op->pool);
        break;
    case FL_OP_POOL_RELEASE:
        step = torch_pool_release(st, op->pool);
        break;
    case FL_OP_TRIM:
        step = torch_trim(st, op->pool);
        break;
    case FL_OP_LIMIT:
        step = torch_limit_op(st, op);
        break;
    case FL_OP_CONFIGURE:
        step = torch_configure_op(st, op);
        break;
    case FL_OP_EVENTS_HOLD:
        step = torch_hold_op(st, true);
        break;
    case FL_OP_EVENTS_COMPLETE:
        step = torch_hold_op(st, false);
        break;
    case FL_OP_FREE_DONE:
        step = torch_complete_op(st, op);
        break;
    case FL_OP_RESET_PEAKS:
        torch_reset_peaks(st);
        break;
    case FL_OP_RESET_SUMS:
        torch_reset_sums(st);
        break;
    default:
        break; /* marks and reports ask nothing of an allocator */
    }
    return torch_finish(st, step, ret_result);
}

const fl_policy_ops fl_policy_torch = {
    .name = "torch",
    .summary = "PyTorch's caching allocator, as each release has it",
    .capabilities = FL_CAN_STREAMS | FL_CAN_POOLS | FL_CAN_SETTINGS | FL_KEEPS_STATS,
    .state_size = sizeof(torch),
    .open = torch_open,
    .alloc = torch_alloc,
    .free = torch_free_op,
    .control = torch_control,
    .check = torch_check,
    .close = torch_close,
    .adopt = torch_adopt,
    .probe = torch_probe,
    .next_value = torch_next_value,
    .facts = torch_facts,
    .walk = torch_walk,
    .stretch = torch_stretch,
};
