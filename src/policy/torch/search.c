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
uint64_t torch_reach(const torch *st, const struct torch_block *block)
{
    if (block->next == FL_NONE)
        return block->size;
    const struct torch_block *next = torch_block_at(st, block->next);
    return block->size + (next->flags & BLOCK_MAPPED ? 0 : next->size);
}

/* Does it, or the unmapped range behind it, end the range of its segment? */
static bool search_is_open(const torch *st, const struct torch_block *block)
{
    if (block->next == FL_NONE)
        return true;
    const struct torch_block *next = torch_block_at(st, block->next);
    return !(next->flags & BLOCK_MAPPED) && next->next == FL_NONE;
}

/* Could `index` grow no further than `next`?  What reaches to the end of its range reaches further
 * on a larger card. */
static bool search_grows_least(const torch *st, uint32_t index, uint32_t next)
{
    const struct torch_block *block = torch_block_at(st, index), *other = torch_block_at(st, next);
    bool is_least = torch_reach(st, other) >= torch_reach(st, block);
    if (search_is_open(st, is_least ? block : other))
        torch_track_total(st);
    return is_least;
}

/* Step 3 of the search: with expandable segments on, prefer what could grow least; with them off,
 * pass their blocks by. */
static uint32_t search_step_expandable(const torch *st, const struct torch_bins *bins,
                                       bool is_expandable, uint32_t index)
{
    while (index != FL_NONE && torch_is_expandable(torch_block_at(st, index))) {
        uint32_t next = torch_bins_next(st, bins, index);
        if (is_expandable && (next == FL_NONE || search_grows_least(st, index, next)))
            break;
        index = next;
    }
    return index;
}

bool torch_is_oversize(const torch *st, const struct torch_request *request, uint64_t size)
{
    uint64_t most = st->settings.max_split_bytes;
    if (request->rounded < most) {
        if (size < most)
            return false;
        torch_track_split(st, size + 1);
        return true;
    }
    torch_track_split(st, request->rounded + 1);
    return size - request->rounded >= st->settings.non_split_rounding_bytes;
}

/* Steps 2 to 4 in one lane. */
static uint32_t search_lane(const torch *st, const struct torch_request *request,
                            const struct torch_bins *bins)
{
    uint32_t index = torch_bins_seek(st, bins, request->rounded);
    index = search_step_expandable(st, bins, request->expandable, index);
    if (index == FL_NONE || torch_is_oversize(st, request, torch_block_at(st, index)->size))
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
    if (rest <= FL_SMALL_SIZE)
        return false;
    if (request->rounded >= st->settings.max_split_bytes)
        torch_track_split(st, request->rounded + 1);
    return request->rounded < st->settings.max_split_bytes;
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
