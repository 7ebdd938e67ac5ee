/* A request, step by step (6, 7). */
#include "policy/torch/torch.h"

struct torch_request torch_request_of(const torch *st, const fl_op *op)
{
    struct torch_request request = {.size = op->size,
                                    .stream = op->stream,
                                    .id = op->id,
                                    .expandable = st->settings.expandable};
    request.rounded = fl_round_size(st->profile, &st->settings, op->size);
    request.segment = fl_segment_size(&st->settings, request.rounded);
    request.pool = torch_pool_for(st, request.rounded, op->stream);
    return request;
}

/* A whole segment from the device, not in the free set. */
static torch_step request_segment(torch *st, const struct torch_request *request,
                                  uint32_t *ret_block)
{
    uint64_t address;
    bool small = st->pools.items[request->pool].is_small;
    uint32_t owner = st->pools.items[request->pool].owner;
    fl_change change = {
        .kind = FL_CHANGE_NO_SEGMENT,
        .flags = small ? FL_CHANGE_SMALL : 0,
        .id = FL_NONE,
        .segment = FL_NONE,
        .stream = request->stream,
        .pool = owner == FL_NONE ? 0 : st->privates.items[owner].name,
        .size = request->segment,
    };
    fl_answer answer = fl_device_acquire(st->device, request->segment, request->stream, &address);
    if (answer == FL_ANSWER_ERROR)
        return torch_device_broke(st);
    if (answer == FL_ANSWER_FULL) {
        torch_tell(st, &change);
        return STEP_NO;
    }
    uint32_t segment = torch_segment_new(st, address, request->segment, 0, st->segment_age++);
    if (segment == FL_NONE)
        return STEP_BROKEN;
    if (owner != FL_NONE)
        st->privates.items[owner].device_allocs++;
    st->held += request->segment;
    struct torch_block like = {.lane = torch_lane_make(st, request->pool, request->stream),
                               .stream = (uint16_t)request->stream,
                               .segment = segment};
    if (like.lane == FL_NONE)
        return STEP_BROKEN;
    uint8_t flags = BLOCK_MAPPED | BLOCK_FREE | (small ? BLOCK_SMALL : 0);
    *ret_block = torch_block_new(st, &like, address, request->segment, flags);
    if (*ret_block == FL_NONE)
        return STEP_BROKEN;
    torch_raise(st, FL_STAT_SEGMENT, small, 1);
    torch_raise_reserved(st, &st->pools.items[request->pool], request->segment);
    if (request->segment >= st->settings.max_split_bytes)
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
    bool is_beyond = !fl_add(st->held, request->segment, &wanted) || wanted > bound;
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
        torch_track_total(st);
        return STEP_NO;
    }
    *ret_rejected = torch_is_rejected(st, request);
    if (*ret_rejected) {
        st->stats.oom_rejections++;
        return STEP_NO;
    }
    uint32_t owner = st->pools.items[request->pool].owner;
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
        .segment_bytes = request->segment,
        .device_free_bytes = fl_device_free_bytes(st->device),
        .cached_free_bytes =
            torch_current(st, FL_STAT_RESERVED_BYTES) - torch_current(st, FL_STAT_ACTIVE_BYTES),
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
static bool request_is_absurd(const struct torch_request *request)
{
    return request->rounded == UINT64_MAX || request->segment == UINT64_MAX;
}

torch_step torch_request(torch *st, struct torch_request *request, uint32_t *ret_block)
{
    if (!torch_in_capture(st, request->stream) && !torch_process_events(st))
        return STEP_BROKEN;
    if (request->pool == FL_NONE)
        return torch_forbid(st, "the pool of the open scope was deleted");
    uint32_t index = torch_take_free(st, request);
    if (index == FL_NONE) {
        bool rejected = false;
        torch_step step =
            request_is_absurd(request) ? STEP_NO : request_ladder(st, request, &rejected, &index);
        st->cause = FL_CAUSE_REQUEST;
        if (step == STEP_NO) {
            if (!rejected)
                st->stats.ooms++;
            request_note_refusal(st, request, rejected);
            st->forbidden = rejected ? "throw_on_cudamalloc_oom" : NULL;
        }
        if (step != STEP_YES)
            return step;
    }
    bool split = torch_should_split(st, torch_block_at(st, index), request);
    return torch_hand_out(st, index, request, split, ret_block) ? STEP_YES : STEP_BROKEN;
}
