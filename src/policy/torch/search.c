/* What may be taken from the free set (5.2, 8.1). */
#include "base/memory.h"
#include "policy/torch/torch.h"

static bool search_note_lane(torch *st, struct torch_pool *pool, uint32_t stream, uint32_t lane)
{
    if (stream >= pool->lanes.count) {
        size_t missing = stream + 1 - pool->lanes.count;
        if (!fl_vector_reserve(st->host, &pool->lanes, missing, st->error))
            return false;
        while (pool->lanes.count <= stream)
            pool->lanes.items[pool->lanes.count++] = FL_NONE;
    }
    pool->lanes.items[stream] = lane;
    return true;
}

uint32_t torch_lane_make(torch *st, uint32_t pool_index, uint32_t stream)
{
    const struct torch_lane *found = torch_lane_find(st, pool_index, stream);
    if (found != NULL)
        return (uint32_t)(found - st->lanes.items);
    if (!fl_vector_reserve(st->host, &st->lanes, 1, st->error))
        return FL_NONE;
    struct torch_lane lane = {.pool = pool_index};
    lane.bins = fl_new(st->host, sizeof *lane.bins, st->error);
    if (lane.bins == NULL)
        return FL_NONE;
    uint32_t index = (uint32_t)st->lanes.count++;
    st->lanes.items[index] = lane;
    return search_note_lane(st, &st->pools.items[pool_index], stream, index) ? index : FL_NONE;
}

bool torch_free_insert(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    const struct torch_lane *lane = &st->lanes.items[block->lane];
    block->free_since = st->pools.items[lane->pool].calls;
    return torch_bins_insert(st, lane->bins, index);
}

void torch_free_remove(torch *st, uint32_t index)
{
    torch_bins_remove(st, st->lanes.items[torch_block_at(st, index)->lane].bins, index);
}

bool torch_unmapped_insert(torch *st, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    struct torch_lane *lane = &st->lanes.items[block->lane];
    if (fl_ordered_insert(st->host, &lane->unmapped, block->address, block->segment, index))
        return true;
    fl_fail(st->error, FL_ERR_RESOURCE, "out of memory: the unmapped set cannot grow");
    return false;
}

void torch_unmapped_remove(torch *st, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    struct torch_lane *lane = &st->lanes.items[block->lane];
    fl_ordered_remove(st->host, &lane->unmapped, block->address, block->segment);
}

/* Size of a block with the unmapped range behind it: how far it could grow. */
static uint64_t search_reach(const torch *st, const struct torch_block *block)
{
    if (block->next == FL_NONE)
        return block->size;
    const struct torch_block *next = torch_block_at(st, block->next);
    return block->size + (next->flags & BLOCK_MAPPED ? 0 : next->size);
}

/* Step 3 of the search: with expandable segments on, prefer what could grow least; with them off,
 * pass their blocks by. */
static uint32_t search_step_expandable(const torch *st, const struct torch_bins *bins,
                                       bool is_expandable, uint32_t index)
{
    while (index != FL_NONE && torch_is_expandable(torch_block_at(st, index))) {
        uint32_t next = torch_bins_next(st, bins, index);
        if (is_expandable && (next == FL_NONE || search_reach(st, torch_block_at(st, next)) >=
                                                     search_reach(st, torch_block_at(st, index))))
            break;
        index = next;
    }
    return index;
}

/* Steps 2 to 4 in one lane. */
static uint32_t search_lane(const torch *st, const struct torch_request *request,
                            const struct torch_bins *bins)
{
    uint32_t index = torch_bins_seek(st, bins, request->rounded);
    index = search_step_expandable(st, bins, request->expandable, index);
    if (index == FL_NONE)
        return FL_NONE;
    uint64_t size = torch_block_at(st, index)->size;
    uint64_t most = st->settings.max_split_bytes;
    if (request->rounded < most && size >= most)
        return FL_NONE;
    if (request->rounded >= most &&
        size - request->rounded >= st->settings.non_split_rounding_bytes)
        return FL_NONE;
    return index;
}

uint32_t torch_find_free(const torch *st, const struct torch_request *request)
{
    const struct torch_lane *lane = torch_lane_find(st, request->pool, request->stream);
    return lane != NULL ? search_lane(st, request, lane->bins) : FL_NONE;
}

uint32_t torch_take_free(torch *st, const struct torch_request *request)
{
    if (st->limit != FL_UNLIMITED && st->settings.collect_threshold > 0)
        st->pools.items[request->pool].calls++;
    uint32_t index = torch_find_free(st, request);
    if (index != FL_NONE)
        torch_free_remove(st, index);
    return index;
}

static bool search_is_no_split(const torch *st, const struct torch_pool *pool)
{
    return pool->owner != FL_NONE && st->no_split.items[st->privates.items[pool->owner].name];
}

bool torch_should_split(const torch *st, const struct torch_block *block,
                        const struct torch_request *request)
{
    if (st->privates.count > 0 && search_is_no_split(st, torch_pool_of(st, block)))
        return false;
    uint64_t rest = block->size - request->rounded;
    bool as_expandable =
        request->expandable && !(request->from_fallback && st->profile->fallback_splits_plainly);
    if (torch_is_small(block) || as_expandable)
        return rest >= FL_MIN_BLOCK;
    return request->rounded < st->settings.max_split_bytes && rest > FL_SMALL_SIZE;
}

bool torch_list_free(torch *st, uint32_t pool_index)
{
    st->scratch.count = 0;
    for (size_t i = 0; i < st->stream_order.count; i++) {
        uint32_t stream = st->stream_order.items[i];
        const struct torch_lane *lane = torch_lane_find(st, pool_index, stream);
        if (lane == NULL)
            continue;
        const struct torch_bins *bins = lane->bins;
        if (!fl_vector_reserve(st->host, &st->scratch, bins->count, st->error))
            return false;
        uint32_t index = torch_bins_seek(st, bins, 0);
        for (; index != FL_NONE; index = torch_bins_next(st, bins, index))
            st->scratch.items[st->scratch.count++] = index;
    }
    return true;
}

/* The block that mapping would find and that needs no mapping, with nothing before it in the way;
 * FL_NONE: there is none (the end of 11.4). */
static uint32_t search_expanded(const torch *st, const struct torch_request *request)
{
    bool is_private = st->pools.items[request->pool].owner != FL_NONE;
    if (!request->expandable || (is_private && !st->profile->expandable_in_private_pools))
        return FL_NONE;
    if (!torch_is_within_limit(st, request) || torch_is_rejected(st, request) ||
        torch_would_collect(st))
        return FL_NONE;
    uint32_t index = torch_find_expandable(st, request);
    if (index == FL_NONE || !(torch_block_at(st, index)->flags & BLOCK_MAPPED) ||
        torch_block_at(st, index)->size < request->rounded)
        return FL_NONE;
    return index;
}

/* The cause for which a free block of the request's own lane cannot serve it. */
static fl_unusable search_cause(const torch *st, const struct torch_request *request,
                                const struct torch_block *block)
{
    uint64_t most = st->settings.max_split_bytes;
    if (block->size < request->rounded)
        return FL_UNUSABLE_PINNED;
    if (request->rounded < most && block->size >= most)
        return FL_UNUSABLE_SPLIT;
    if (request->rounded >= most &&
        block->size - request->rounded >= st->settings.non_split_rounding_bytes)
        return FL_UNUSABLE_SPLIT;
    return FL_UNUSABLE_COUNT;
}

/* Adds a block to the probe; `served` is the one that would serve the request, or FL_NONE. */
static void search_account(const torch *st, const struct torch_request *request, uint32_t index,
                           uint32_t served, fl_probe *probe)
{
    const struct torch_block *block = torch_block_at(st, index);
    fl_unusable cause;
    if ((block->flags & BLOCK_ALLOCATED) || !(block->flags & BLOCK_MAPPED) || block->size == 0)
        return;
    if (index == served)
        cause = FL_UNUSABLE_COUNT;
    else if (!torch_is_free(block))
        cause = FL_UNUSABLE_PENDING;
    else if (st->lanes.items[block->lane].pool != request->pool)
        cause = FL_UNUSABLE_POOL;
    else if (block->stream != request->stream)
        cause = FL_UNUSABLE_STREAM;
    else
        cause = search_cause(st, request, block);
    if (cause != FL_UNUSABLE_COUNT) {
        probe->unusable_bytes[cause] += block->size;
        if (cause != FL_UNUSABLE_PINNED)
            return;
    } else {
        probe->usable_bytes += block->size;
    }
    if (block->size > probe->largest_usable_bytes)
        probe->largest_usable_bytes = block->size;
}

void torch_probe(const torch *st, const fl_op *op, fl_probe *ret_probe)
{
    struct torch_request request = torch_request_of(st, op);
    uint32_t served = FL_NONE;
    if (request.pool != FL_NONE)
        served = torch_find_free(st, &request);
    if (request.pool != FL_NONE && served == FL_NONE)
        served = search_expanded(st, &request);
    *ret_probe = (fl_probe){.usable = op->size == 0 || served != FL_NONE};
    for (size_t i = 0; i < st->blocks.count; i++)
        search_account(st, &request, (uint32_t)i, served, ret_probe);
}
