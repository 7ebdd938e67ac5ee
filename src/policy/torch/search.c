/* What may be taken from the free set (5.2, 8.1). */
#include "policy/torch/search.h"
#include "base/memory.h"

static bool search_note_lane(torch *st, struct torch_pool *pool, uint32_t stream,
                             struct torch_lane *lane)
{
    if (stream >= pool->lanes.count) {
        size_t missing = stream + 1 - pool->lanes.count;
        if (!fl_vector_reserve(st->host, &pool->lanes, missing, st->error))
            return false;
        while (pool->lanes.count <= stream)
            pool->lanes.items[pool->lanes.count++] = NULL;
    }
    pool->lanes.items[stream] = lane;
    return true;
}

struct torch_lane *torch_lane_make(torch *st, uint32_t pool_index, uint32_t stream)
{
    struct torch_pool *pool = st->pools.items[pool_index];
    struct torch_lane *lane = torch_lane_find(st, pool_index, stream);
    if (lane != NULL)
        return lane;
    if (!fl_vector_reserve(st->host, &st->lanes, 1, st->error))
        return NULL;
    lane = fl_new(st->host, sizeof *lane, st->error);
    if (lane == NULL)
        return NULL;
    lane->pool = pool;
    lane->pool_index = pool_index;
    lane->stream = stream;
    lane->index = (uint32_t)st->lanes.count;
    st->lanes.items[st->lanes.count++] = lane;
    return search_note_lane(st, pool, stream, lane) ? lane : NULL;
}

bool torch_unmapped_insert(torch *st, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    struct torch_lane *lane = torch_lane_of(st, block);
    if (fl_ordered_insert(st->host, &lane->unmapped, block->address, block->segment, index))
        return true;
    fl_fail(st->error, FL_ERR_RESOURCE, "out of memory: the unmapped set cannot grow");
    return false;
}

void torch_unmapped_remove(torch *st, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    struct torch_lane *lane = torch_lane_of(st, block);
    fl_ordered_remove(st->host, &lane->unmapped, block->address, block->segment);
}

/* Size of a block with the unmapped range behind it: how far it could grow. */
uint64_t torch_reach(const torch *st, const struct torch_block *block)
{
    if (block->next == NO_BLOCK)
        return block->size;
    const struct torch_block *next = torch_block_at(st, block->next);
    return block->size + (next->flags & BLOCK_MAPPED ? 0 : next->size);
}

/* Does it, or the unmapped range behind it, end a range that might be larger on a larger card? */
static bool search_is_open(const torch *st, const struct torch_block *block)
{
    if (!st->segments.items[block->segment].follows_card)
        return false;
    if (block->next == NO_BLOCK)
        return true;
    const struct torch_block *next = torch_block_at(st, block->next);
    return !(next->flags & BLOCK_MAPPED) && next->next == NO_BLOCK;
}

/* Could `index` grow no further than `next`?  What reaches to the end of its range reaches further
 * on a larger card. */
static bool search_grows_least(const torch *st, uint32_t index, uint32_t next)
{
    const struct torch_block *block = torch_block_at(st, index), *other = torch_block_at(st, next);
    uint64_t reach = torch_reach(st, block), other_reach = torch_reach(st, other);
    bool is_least = other_reach >= reach;
    if (st->tracking == NULL)
        return is_least;
    bool is_open = search_is_open(st, block), other_is_open = search_is_open(st, other);
    if (is_open && other_is_open)
        torch_track_total(st);
    else if (is_least && is_open)
        torch_track_range(st, block, other_reach - reach + 1);
    else if (!is_least && other_is_open)
        torch_track_range(st, other, reach - other_reach);
    return is_least;
}

/* Step 3 of the search: with expandable segments on, prefer what could grow least; with them off,
 * pass their blocks by. */
uint32_t torch_step_expandable(const torch *st, const struct torch_bins *bins, bool is_expandable,
                               uint32_t index)
{
    while (torch_is_expandable(torch_block_at(st, index))) {
        uint32_t next = torch_bins_next(st, bins, index);
        if (is_expandable && (next == NO_BLOCK || search_grows_least(st, index, next)))
            break;
        index = next;
    }
    return index;
}

uint32_t torch_find_free(const torch *st, const struct torch_request *request)
{
    const struct torch_lane *lane = torch_lane_find(st, request->pool, request->stream);
    return lane != NULL ? torch_search_lane(st, request, &lane->bins) : NO_BLOCK;
}

bool torch_list_free(torch *st, uint32_t pool_index)
{
    st->scratch.count = 0;
    for (size_t i = 0; i < st->stream_order.count; i++) {
        uint32_t stream = st->stream_order.items[i];
        const struct torch_lane *lane = torch_lane_find(st, pool_index, stream);
        if (lane == NULL)
            continue;
        const struct torch_bins *bins = &lane->bins;
        uint32_t index = torch_bins_seek(st, bins, 0);
        for (; index != NO_BLOCK; index = torch_bins_next(st, bins, index)) {
            if (!fl_vector_reserve(st->host, &st->scratch, 1, st->error))
                return false;
            st->scratch.items[st->scratch.count++] = index;
        }
    }
    return true;
}
