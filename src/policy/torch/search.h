/* What may be taken from the free set (5.2, 8.1), inline; the rest is in search.c. */
#ifndef FL_POLICY_TORCH_SEARCH_H
#define FL_POLICY_TORCH_SEARCH_H

#include "policy/torch/bins.h"
#include "policy/torch/torch.h"

static inline struct torch_request torch_request_of(const torch *st, uint64_t size, uint32_t stream,
                                                    uint32_t id)
{
    uint64_t rounded = FL_LIKELY(st->rounds_plainly)
                           ? fl_round_plainly(size)
                           : fl_round_size(st->profile, &st->settings, size);
    return (struct torch_request){
        .size = size,
        .rounded = rounded,
        .stream = stream,
        .pool = torch_pool_for(st, rounded, stream),
        .id = id,
        .expandable = st->settings.expandable,
    };
}

/* What comes before the search (6). */
static inline torch_step torch_prepare(torch *st, const struct torch_request *request)
{
    if (!torch_in_capture(st, request->stream) && !torch_process_events(st))
        return STEP_BROKEN;
    if (FL_UNLIKELY(request->pool == FL_NONE))
        return torch_forbid(st, "the pool of the open scope was deleted");
    return STEP_YES;
}

/* Step 3 of the search, where the block that step 2 found is of an expandable segment. */
uint32_t torch_step_expandable(const torch *st, const struct torch_bins *bins, bool is_expandable,
                               uint32_t index);

/* Does the split limit forbid a block of this size, at least the request's (5.2 step 4)? */
static inline bool torch_is_oversize(const torch *st, const struct torch_request *request,
                                     uint64_t size)
{
    uint64_t most = st->settings.max_split_bytes;
    if (FL_LIKELY(request->rounded < most)) {
        if (FL_LIKELY(size < most))
            return false;
        torch_track_split(st, size + 1);
        return true;
    }
    torch_track_split(st, request->rounded + 1);
    return size - request->rounded >= st->settings.non_split_rounding_bytes;
}

/* Steps 2 to 4 in one lane. */
static inline uint32_t torch_search_lane(const torch *st, const struct torch_request *request,
                                         const struct torch_bins *bins)
{
    uint32_t index = torch_bins_seek(st, bins, request->rounded);
    if (torch_is_expandable(torch_block_at(st, index)))
        index = torch_step_expandable(st, bins, request->expandable, index);
    if (index == NO_BLOCK || torch_is_oversize(st, request, torch_block_at(st, index)->size))
        return NO_BLOCK;
    return index;
}

/* The whole of 5.2: counts the call and takes the block out of the free set. */
static inline uint32_t torch_take_free(torch *st, const struct torch_request *request)
{
    if (FL_UNLIKELY(st->counts_calls))
        st->pools.items[request->pool]->calls++;
    struct torch_lane *lane = torch_lane_find(st, request->pool, request->stream);
    if (lane == NULL)
        return NO_BLOCK;
    uint32_t index = torch_search_lane(st, request, &lane->bins);
    if (index != NO_BLOCK)
        torch_bins_remove(st, &lane->bins, index);
    return index;
}

static inline bool torch_is_no_split(const torch *st, const struct torch_pool *pool)
{
    return pool->owner != FL_NONE && st->no_split.items[st->privates.items[pool->owner].name];
}

static inline bool torch_should_split(const torch *st, const struct torch_block *block,
                                      const struct torch_request *request)
{
    if (st->privates.count > 0 && torch_is_no_split(st, torch_pool_of(st, block)))
        return false;
    uint64_t rest = block->size - request->rounded;
    bool as_expandable =
        request->expandable && !(request->from_fallback && st->profile->fallback_splits_plainly);
    if (torch_is_small(block) || as_expandable)
        return rest >= FL_MIN_BLOCK;
    if (rest <= FL_SMALL_SIZE)
        return false;
    if (FL_UNLIKELY(request->rounded >= st->settings.max_split_bytes))
        torch_track_split(st, request->rounded + 1);
    return request->rounded < st->settings.max_split_bytes;
}

#endif
