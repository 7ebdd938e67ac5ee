/* What nearly every request and free does to blocks (8, 9), inline; the rest is in block.c.
 *
 * Object identity is a rule: a split makes a new object for the part handed out, and in a merge the
 * block being freed survives.  It shows in stale requested sizes, and in one era in the order of
 * the free set. */
#ifndef FL_POLICY_TORCH_BLOCK_H
#define FL_POLICY_TORCH_BLOCK_H

#include "policy/torch/bins.h"
#include "policy/torch/torch.h"

/* An object that nothing uses; NO_BLOCK, with the error filled, if the host has no memory.
 * Invalidates pointers to blocks. */
static inline uint32_t torch_block_pick(torch *st)
{
    uint32_t index = st->unused_block;
    if (FL_LIKELY(index != NO_BLOCK)) {
        st->unused_block = torch_block_at(st, index)->next;
        return index;
    }
    if (st->blocks.count == st->blocks.capacity && !torch_blocks_grow(st))
        return NO_BLOCK;
    return (uint32_t)st->blocks.count++;
}

static inline void torch_block_drop(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    block->next = st->unused_block;
    block->flags = 0;
    block->size = 0;
    st->unused_block = index;
}

/* Into the free set of its lane, and out of it. */
static inline bool torch_free_insert(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    struct torch_lane *lane = torch_lane_of(st, block);
    block->free_since = lane->pool->calls;
    return torch_bins_insert(st, &lane->bins, index);
}

/* Searches of its pool since a free block became one. */
static inline uint32_t torch_free_age(const torch *st, const struct torch_block *block)
{
    return torch_pool_of(st, block)->calls - block->free_since;
}

static inline void torch_free_remove(torch *st, uint32_t index)
{
    torch_bins_remove(st, &torch_lane_of(st, torch_block_at(st, index))->bins, index);
}

/* The low part becomes a new object; the old one is the remainder and returns to the free set. */
static inline uint32_t torch_block_split(torch *st, uint32_t old_index, uint64_t size)
{
    uint32_t index = torch_block_pick(st);
    if (index == NO_BLOCK)
        return NO_BLOCK;
    struct torch_block *rest = torch_block_at(st, old_index);
    struct torch_block *head = torch_block_at(st, index);
    head->address = rest->address;
    head->size = size;
    if (st->tie == FL_TIE_BLOCK)
        head->tie = st->block_age++;
    head->segment = rest->segment;
    head->lane = rest->lane;
    head->flags = rest->flags;
    head->previous = rest->previous;
    head->next = old_index;
    torch_block_at(st, head->previous)->next = index;
    rest->previous = index;
    rest->address += size;
    rest->size -= size;
    return torch_free_insert(st, old_index) ? index : NO_BLOCK;
}

/* What handing out `size` bytes does to inactive_split (8.2): of a block that was split already or
 * not, leaving `rest` bytes, or the whole of it. */
static inline void torch_count_split(torch *st, const struct torch_pool *pool, uint64_t size,
                                     uint64_t rest, bool was_split)
{
    if (rest > 0 && was_split) {
        torch_lower(pool, FL_STAT_INACTIVE_SPLIT_BYTES, size);
    } else if (rest > 0) {
        torch_raise(st, pool, FL_STAT_INACTIVE_SPLIT, 1);
        torch_raise(st, pool, FL_STAT_INACTIVE_SPLIT_BYTES, rest);
    } else if (was_split) {
        torch_lower(pool, FL_STAT_INACTIVE_SPLIT, 1);
        torch_lower(pool, FL_STAT_INACTIVE_SPLIT_BYTES, size);
    }
}

/* Splits if asked, hands the block out and counts it (8.2).  NO_BLOCK: the host failed. */
FL_INLINE uint32_t torch_hand_out(torch *st, uint32_t index, const struct torch_request *request,
                                  bool split)
{
    struct torch_block *block = torch_block_at(st, index);
    const struct torch_pool *pool = torch_pool_of(st, block);
    bool was_split = torch_is_split(block), is_expandable = torch_is_expandable(block);
    uint64_t rest = 0;
    if (split) {
        rest = block->size - request->rounded;
        index = torch_block_split(st, index, request->rounded);
        if (index == NO_BLOCK)
            return NO_BLOCK;
        block = torch_block_at(st, index);
    }
    block->flags ^= BLOCK_FREE | BLOCK_ALLOCATED;
    block->requested = request->size;
    block->id = request->id;
    block->events = 0;
    block->uses = FL_NONE;
    uint64_t size = block->size;
    if (!is_expandable)
        torch_count_split(st, pool, size, rest, was_split);
    torch_raise(st, pool, FL_STAT_ALLOCATION, 1);
    torch_raise(st, pool, FL_STAT_ALLOCATED_BYTES, size);
    torch_raise(st, pool, FL_STAT_REQUESTED_BYTES, request->size);
    if (FL_UNLIKELY((pool->counts->pending | pool->other->pending) != 0))
        torch_note_active(st, pool);
    if (size >= st->settings.max_split_bytes)
        torch_raise_one(&st->stats.oversize_allocations, 1);
    torch_tell_block(st, FL_CHANGE_PLACE, block);
    return index;
}

/* ---- a free and the merges that it makes (9.2, 9.3) ------------------------------------------ */

static inline uint64_t torch_merge_inline(torch *st, uint32_t into, uint32_t from)
{
    struct torch_block *winner = torch_block_at(st, into);
    const struct torch_block *loser = torch_block_at(st, from);
    if (!torch_is_free(loser) || ((winner->flags ^ loser->flags) & BLOCK_MAPPED))
        return 0;
    if (FL_LIKELY(loser->flags & BLOCK_MAPPED))
        torch_free_remove(st, from);
    else
        torch_unmapped_remove(st, from);
    if (from == winner->previous) {
        winner->address = loser->address;
        winner->previous = loser->previous;
        torch_block_at(st, winner->previous)->next = into;
    } else {
        winner->next = loser->next;
        torch_block_at(st, winner->next)->previous = into;
    }
    uint64_t gained = loser->size;
    winner->size += gained;
    torch_block_drop(st, from);
    return gained;
}

/* What the return of `size` bytes does to inactive_split, by the net: `merged` neighbours of
 * `gained` bytes are gone, and what is there now is split or not. */
static inline void torch_count_return(torch *st, const struct torch_pool *pool, uint64_t size,
                                      uint64_t gained, int64_t merged, bool is_split)
{
    torch_move(st, pool, FL_STAT_INACTIVE_SPLIT, is_split - merged);
    if (is_split)
        torch_raise(st, pool, FL_STAT_INACTIVE_SPLIT_BYTES, size);
    else if (gained > 0)
        torch_lower(pool, FL_STAT_INACTIVE_SPLIT_BYTES, gained);
}

FL_INLINE bool torch_return(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    const struct torch_pool *pool = torch_pool_of(st, block);
    torch_tell_block(st, FL_CHANGE_FREE_DONE, block);
    st->block_of.items[block->id] = NO_BLOCK;
    block->flags |= BLOCK_FREE;
    torch_lower(pool, FL_STAT_REQUESTED_BYTES, block->requested);
    uint64_t size = block->size;
    uint32_t before = block->previous, behind = block->next;
    uint64_t gained_before = torch_merge_inline(st, index, before);
    uint64_t gained_behind = torch_merge_inline(st, index, behind);
    if (!torch_free_insert(st, index))
        return false;
    if (!torch_is_expandable(block))
        torch_count_return(st, pool, size, gained_before + gained_behind,
                           (gained_before > 0) + (gained_behind > 0), torch_is_split(block));
    return true;
}

/* A free that has to wait: for the trace to say so, for events, or for the end of a capture. */
FL_COLD torch_step torch_wait(torch *st, uint32_t index, bool is_held);

/* The owner lets go (9.1). */
FL_INLINE torch_step torch_let_go(torch *st, uint32_t index, bool is_held)
{
    struct torch_block *block = torch_block_at(st, index);
    const struct torch_pool *pool = torch_pool_of(st, block);
    block->flags &= (uint8_t)~BLOCK_ALLOCATED;
    torch_lower(pool, FL_STAT_ALLOCATION, 1);
    torch_lower(pool, FL_STAT_ALLOCATED_BYTES, block->size);
    torch_tell_block(st, FL_CHANGE_FREE_ASKED, block);
    if (block->size >= st->settings.max_split_bytes)
        torch_lower_one(&st->stats.oversize_allocations, 1);
    if (FL_UNLIKELY(is_held || block->uses != FL_NONE))
        return torch_wait(st, index, is_held);
    return torch_return(st, index) ? STEP_YES : STEP_BROKEN;
}

/* A free of what is not live is none. */
FL_INLINE torch_step torch_free_id(torch *st, uint32_t id, bool is_held)
{
    uint32_t index = torch_block_of(st, id);
    bool is_live = torch_block_at(st, index)->flags & BLOCK_ALLOCATED;
    return FL_LIKELY(is_live) ? torch_let_go(st, index, is_held) : STEP_YES;
}

#endif
