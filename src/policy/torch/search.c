/* The free set, and what may be taken from it (5, 8.1). */
#include "policy/torch/torch.h"

struct torch_lane *torch_lane_at(torch *st, uint32_t pool_index, uint32_t stream)
{
    struct torch_pool *pool = &st->pools.items[pool_index];
    if (stream < pool->lanes.count)
        return &pool->lanes.items[stream];
    size_t missing = stream + 1 - pool->lanes.count;
    if (!fl_vector_reserve(st->host, &pool->lanes, missing, st->error))
        return NULL;
    while (pool->lanes.count <= stream)
        pool->lanes.items[pool->lanes.count++] = (struct torch_lane){0};
    return &pool->lanes.items[stream];
}

/* What orders blocks of equal size (5.1): address, age of the object, or age of the segment in the
 * high bits over the offset in it. */
static uint64_t search_tie(const torch *st, const struct torch_block *block)
{
    switch (st->profile->tie) {
    case FL_TIE_BLOCK:
        return block->age;
    case FL_TIE_SEGMENT:
        return block->age << 36 |
               (block->address - st->segments.items[block->segment].address) / FL_MIN_BLOCK;
    case FL_TIE_ADDRESS:
        break;
    }
    return block->address;
}

static bool search_out_of_memory(torch *st)
{
    fl_fail(st->error, FL_ERR_RESOURCE, "out of memory: the free set cannot grow");
    return false;
}

bool torch_free_insert(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    struct torch_lane *lane = torch_lane_at(st, block->pool, block->stream);
    block->free_since = st->pools.items[block->pool].calls;
    return (lane != NULL && fl_ordered_insert(st->host, &lane->free, block->size,
                                              search_tie(st, block), index)) ||
           search_out_of_memory(st);
}

void torch_free_remove(torch *st, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    struct torch_lane *lane = &st->pools.items[block->pool].lanes.items[block->stream];
    fl_ordered_remove(st->host, &lane->free, block->size, search_tie(st, block));
}

bool torch_unmapped_insert(torch *st, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    struct torch_lane *lane = torch_lane_at(st, block->pool, block->stream);
    return (lane != NULL &&
            fl_ordered_insert(st->host, &lane->unmapped, block->address, block->segment, index)) ||
           search_out_of_memory(st);
}

void torch_unmapped_remove(torch *st, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    struct torch_lane *lane = &st->pools.items[block->pool].lanes.items[block->stream];
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
 * pass their blocks by.  False where that leads past the end. */
static bool search_step_expandable(const torch *st, const fl_ordered *free, bool is_expandable,
                                   fl_ordered_at *at)
{
    const struct torch_block *block = torch_block_at(st, fl_ordered_get(free, *at)->value);
    if (!torch_is_expandable(block))
        return true;
    fl_ordered_at next = *at;
    while (torch_is_expandable(block)) {
        if (!fl_ordered_next(free, &next))
            return is_expandable;
        const struct torch_block *after = torch_block_at(st, fl_ordered_get(free, next)->value);
        if (is_expandable && search_reach(st, after) >= search_reach(st, block))
            return true;
        *at = next;
        block = after;
    }
    return true;
}

/* Steps 2 to 4 in one lane. */
static uint32_t search_lane(const torch *st, const struct torch_request *request,
                            const struct torch_lane *lane)
{
    fl_ordered_at at;
    if (!fl_ordered_seek(&lane->free, request->rounded, 0, &at) ||
        !search_step_expandable(st, &lane->free, request->expandable, &at))
        return FL_NONE;
    uint32_t index = fl_ordered_get(&lane->free, at)->value;
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
    const struct torch_pool *pool = &st->pools.items[request->pool];
    if (request->stream >= pool->lanes.count)
        return FL_NONE;
    return search_lane(st, request, &pool->lanes.items[request->stream]);
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

bool torch_should_split(const torch *st, const struct torch_block *block,
                        const struct torch_request *request)
{
    const struct torch_pool *pool = &st->pools.items[block->pool];
    if (pool->owner != FL_NONE && st->privates.items[pool->owner].is_no_split)
        return false;
    uint64_t rest = block->size - request->rounded;
    bool as_expandable = request->expandable &&
                         !(request->from_fallback && st->profile->fallback_splits_plainly);
    if (pool->is_small || as_expandable)
        return rest >= FL_MIN_BLOCK;
    return request->rounded < st->settings.max_split_bytes && rest > FL_SMALL_SIZE;
}

bool torch_list_free(torch *st, uint32_t pool_index)
{
    const struct torch_pool *pool = &st->pools.items[pool_index];
    st->scratch.count = 0;
    for (size_t i = 0; i < st->stream_order.count; i++) {
        uint32_t stream = st->stream_order.items[i];
        if (stream >= pool->lanes.count)
            continue;
        const fl_ordered *free = &pool->lanes.items[stream].free;
        if (!fl_vector_reserve(st->host, &st->scratch, free->count, st->error))
            return false;
        fl_ordered_at at;
        for (bool more = fl_ordered_first(free, &at); more; more = fl_ordered_next(free, &at))
            st->scratch.items[st->scratch.count++] = fl_ordered_get(free, at)->value;
    }
    return true;
}

/* Would mapping find a block that needs no mapping?  (The end of 11.4: limit first.) */
static bool search_expands_for_nothing(const torch *st, const struct torch_request *request)
{
    bool is_private = st->pools.items[request->pool].owner != FL_NONE;
    if (!request->expandable || (is_private && !st->profile->expandable_in_private_pools))
        return false;
    if (!torch_is_within_limit(st, request))
        return false;
    uint32_t index = torch_find_expandable(st, request);
    return index != FL_NONE && (torch_block_at(st, index)->flags & BLOCK_MAPPED) &&
           torch_block_at(st, index)->size >= request->rounded;
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

static void search_account(const torch *st, const struct torch_request *request,
                           const struct torch_block *block, fl_probe *probe)
{
    fl_unusable cause;
    if ((block->flags & BLOCK_ALLOCATED) || !(block->flags & BLOCK_MAPPED) || block->size == 0)
        return;
    if (!torch_is_free(block))
        cause = FL_UNUSABLE_PENDING;
    else if (block->pool != request->pool)
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
    *ret_probe = (fl_probe){0};
    ret_probe->usable = op->size == 0 || torch_find_free(st, &request) != FL_NONE ||
                        search_expands_for_nothing(st, &request);
    for (size_t i = 0; i < st->blocks.count; i++)
        search_account(st, &request, torch_block_at(st, (uint32_t)i), ret_probe);
}
