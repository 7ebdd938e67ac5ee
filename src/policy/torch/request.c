/* A request, step by step (6, 7). */
#include "policy/torch/request.h"

/* A whole segment from the device, not in the free set. */
static torch_step request_segment(torch *st, const struct torch_request *request,
                                  uint32_t *ret_block)
{
    uint64_t address;
    bool small = st->pools.items[request->pool]->is_small;
    uint32_t owner = st->pools.items[request->pool]->owner;
    fl_change change = {
        .kind = FL_CHANGE_NO_SEGMENT,
        .flags = small ? FL_CHANGE_SMALL : 0,
        .id = FL_NONE,
        .segment = FL_NONE,
        .stream = request->stream,
        .pool = owner == FL_NONE ? 0 : st->privates.items[owner].name,
        .size = torch_segment_of(st, request),
    };
    fl_answer answer =
        fl_device_acquire(st->device, torch_segment_of(st, request), request->stream, &address);
    if (answer == FL_ANSWER_ERROR)
        return torch_device_broke(st);
    if (answer == FL_ANSWER_FULL) {
        torch_tell(st, &change);
        return STEP_NO;
    }
    uint32_t segment =
        torch_segment_new(st, address, torch_segment_of(st, request), 0, st->segment_age++);
    if (segment == FL_NONE)
        return STEP_BROKEN;
    if (owner != FL_NONE)
        st->privates.items[owner].device_allocs++;
    st->held += torch_segment_of(st, request);
    const struct torch_lane *lane = torch_lane_make(st, request->pool, request->stream);
    if (lane == NULL)
        return STEP_BROKEN;
    struct torch_block like = {.lane = lane->index, .segment = segment};
    uint8_t flags = BLOCK_MAPPED | BLOCK_FREE | (small ? BLOCK_SMALL : 0);
    *ret_block = torch_block_new(st, &like, address, torch_segment_of(st, request), flags);
    if (*ret_block == NO_BLOCK)
        return STEP_BROKEN;
    torch_raise(st, st->pools.items[request->pool], FL_STAT_SEGMENT, 1);
    torch_raise_reserved(st, st->pools.items[request->pool], torch_segment_of(st, request));
    if (torch_segment_of(st, request) >= st->settings.max_split_bytes)
        torch_raise_one(&st->stats.oversize_segments, 1);
    st->stats.device_allocs++;
    change.kind = FL_CHANGE_ACQUIRE;
    change.segment = segment;
    change.address = address;
    torch_tell(st, &change);
    return STEP_YES;
}

bool torch_is_rejected(const torch *st, const struct torch_request *request)
{
    if (!st->settings.reject_on_oom || st->total == FL_UNLIMITED)
        return false;
    uint64_t bound = fl_truncate(st->settings.process_fraction * (double)st->total);
    uint64_t wanted;
    bool is_beyond = !fl_add(st->held, torch_segment_of(st, request), &wanted) || wanted > bound;
    if (is_beyond)
        torch_track_total(st);
    return is_beyond;
}

/* One attempt to get memory from the device (7). */
static torch_step request_attempt(torch *st, const struct torch_request *request, bool is_retry,
                                  bool *ret_rejected, uint32_t *ret_block)
{
    if (is_retry)
        st->stats.alloc_retries++;
    if (!torch_is_within_limit(st, request)) {
        torch_track_limit(st);
        return STEP_NO;
    }
    *ret_rejected = torch_is_rejected(st, request);
    if (*ret_rejected) {
        st->stats.oom_rejections++;
        return STEP_NO;
    }
    uint32_t owner = st->pools.items[request->pool]->owner;
    if (!request->expandable || (owner != FL_NONE && !st->profile->expandable_in_private_pools))
        return request_segment(st, request, ret_block);
    torch_step step = torch_expand(st, request, ret_block);
    if (step == STEP_YES && owner != FL_NONE)
        st->privates.items[owner].device_allocs++;
    return step;
}

/* Steps 5a to 5f: each of them may end the request, with a block or without. */
static torch_step request_ladder(torch *st, struct torch_request *request, bool *ret_rejected,
                                 uint32_t *ret_block)
{
    fl_use_on_oom era = st->profile->use_on_oom;
    torch_step step = STEP_NO;
    if (st->limit != FL_UNLIMITED && st->settings.collect_threshold > 0) {
        step = torch_collect(st);
        if (step == STEP_FORBIDDEN || step == STEP_BROKEN)
            return step;
    }
    step = request_attempt(st, request, false, ret_rejected, ret_block);
    if (step != STEP_NO || *ret_rejected)
        return step;
    if (era == FL_USE_ON_OOM_EARLY)
        step = torch_fallback(st, request, ret_block);
    if (step == STEP_NO) {
        step = torch_release_available(st, request);
        if (step == STEP_YES)
            step = request_attempt(st, request, false, ret_rejected, ret_block);
    }
    if (step == STEP_NO && !torch_in_capture(st, request->stream)) {
        st->cause = FL_CAUSE_RELEASE_ALL;
        step = torch_release_all(st, FL_NONE);
        if (step == STEP_YES)
            step = request_attempt(st, request, true, ret_rejected, ret_block);
    }
    if (step == STEP_NO && era == FL_USE_ON_OOM_LAST)
        step = torch_fallback(st, request, ret_block);
    return step;
}

static void request_note_refusal(torch *st, const struct torch_request *request, bool rejected)
{
    st->has_refusal = true;
    st->refusal = (fl_refusal){
        .requested_bytes = request->size,
        .rounded_bytes = request->rounded,
        .segment_bytes = torch_segment_of(st, request),
        .device_free_bytes = fl_device_free_bytes(st->device),
        .cached_free_bytes = torch_current(st, FL_STAT_RESERVED_BYTES) - torch_active_bytes(st),
        .total_bytes = st->total,
        .limit_bytes = st->limit,
        .allocated_bytes = torch_current(st, FL_STAT_ALLOCATED_BYTES),
        .reserved_bytes = torch_current(st, FL_STAT_RESERVED_BYTES),
        .private_free_bytes = torch_private_free(st),
        .reserve_bytes = st->settings.reserve.is_given ? torch_reserve_bytes(st) : FL_UNLIMITED,
        .is_expandable = st->settings.expandable,
        .is_rejected = rejected,
    };
}

/* Would a rounded size have wrapped round?  Such a request is refused without a trace. */
static bool request_is_absurd(const torch *st, const struct torch_request *request)
{
    return request->rounded == UINT64_MAX || torch_segment_of(st, request) == UINT64_MAX;
}

/* What the free set does not have comes from the device, or not at all. */
static torch_step request_obtain(torch *st, struct torch_request *request, uint32_t *ret_block)
{
    bool rejected = false;
    torch_step step = request_is_absurd(st, request)
                          ? STEP_NO
                          : request_ladder(st, request, &rejected, ret_block);
    st->cause = FL_CAUSE_REQUEST;
    if (step == STEP_NO) {
        if (!rejected)
            st->stats.ooms++;
        request_note_refusal(st, request, rejected);
        st->forbidden = rejected ? "throw_on_cudamalloc_oom" : NULL;
    }
    return step;
}

uint32_t torch_request_go_on(torch *st, uint64_t size, uint32_t stream, uint32_t id)
{
    uint32_t index = NO_BLOCK;
    struct torch_request request = torch_request_of(st, size, stream, id);
    st->step = request_obtain(st, &request, &index);
    return st->step == STEP_YES ? torch_give(st, &request, index) : NO_BLOCK;
}

fl_status torch_alloc(torch *st, const fl_op *op, fl_result *ret_result, fl_error *error)
{
    st->error = error;
    if (!torch_meet_stream(st, op->stream) || !torch_meet_id(st, op->id))
        return torch_finish(st, STEP_BROKEN, ret_result);
    if (op->size == 0)
        return torch_finish(st, STEP_YES, ret_result);
    if (op->flags & FL_OP_AT)
        return torch_alloc_at(st, op, ret_result);
    struct torch_request request = torch_request_of(st, op->size, op->stream, op->id);
    uint32_t index = torch_serve(st, &request);
    if (index == NO_BLOCK)
        return torch_finish(st, st->step, ret_result);
    const struct torch_block *block = torch_block_at(st, index);
    *ret_result = (fl_result){.address = block->address, .size = block->size};
    return FL_OK;
}
