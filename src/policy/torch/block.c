/* Block objects: made, split, handed out, freed and merged (8, 9).
 *
 * Object identity is a rule: a split makes a new object for the part handed out, and in a merge
 * the block being freed survives.  It shows in stale requested sizes, and in one era in the order
 * of the free set. */
#include "policy/torch/torch.h"

uint32_t torch_block_new(torch *st, const struct torch_block *like, uint64_t address, uint64_t size,
                         uint8_t flags)
{
    /* Growing the array may move what `like` points to. */
    uint32_t segment = like->segment, lane = like->lane;
    uint16_t stream = like->stream;
    uint32_t index = st->unused_block;
    if (index != FL_NONE) {
        st->unused_block = torch_block_at(st, index)->next;
    } else {
        if (!fl_vector_reserve(st->host, &st->blocks, 1, st->error))
            return FL_NONE;
        index = (uint32_t)st->blocks.count++;
    }
    struct torch_block *block = torch_block_at(st, index);
    block->address = address;
    block->size = size;
    block->requested = 0;
    if (st->tie == FL_TIE_BLOCK)
        block->tie = st->block_age++;
    block->previous = block->next = FL_NONE;
    block->segment = segment;
    block->lane = lane;
    block->stream = stream;
    block->flags = flags;
    return index;
}

void torch_block_drop(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    block->next = st->unused_block;
    block->flags = 0;
    block->size = 0;
    st->unused_block = index;
}

void torch_tell_of(const torch *st, fl_change_kind kind, const struct torch_block *block)
{
    const struct torch_pool *pool = torch_pool_of(st, block);
    torch_tell(st, &(fl_change){
                       .kind = (uint8_t)kind,
                       .flags = (uint8_t)((pool->is_small ? FL_CHANGE_SMALL : 0) |
                                          (torch_is_expandable(block) ? FL_CHANGE_EXPANDABLE : 0)),
                       .id = block->id,
                       .segment = block->segment,
                       .stream = block->stream,
                       .pool = pool->owner == FL_NONE ? 0 : st->privates.items[pool->owner].name,
                       .address = block->address,
                       .size = block->size,
                       .requested = block->requested,
                   });
}

/* The low part becomes a new object; the old one is the remainder and returns to the free set. */
static uint32_t block_split(torch *st, uint32_t old_index, uint64_t size)
{
    const struct torch_block *like = torch_block_at(st, old_index);
    uint32_t index = torch_block_new(st, like, like->address, size, like->flags);
    if (index == FL_NONE)
        return FL_NONE;
    struct torch_block *rest = torch_block_at(st, old_index);
    struct torch_block *head = torch_block_at(st, index);
    head->previous = rest->previous;
    if (head->previous != FL_NONE)
        torch_block_at(st, head->previous)->next = index;
    head->next = old_index;
    rest->previous = index;
    rest->address += size;
    rest->size -= size;
    return torch_free_insert(st, old_index) ? index : FL_NONE;
}

/* What handing out a block does to inactive_split (8.2): `rest` is its remainder, or FL_NONE. */
static void block_count_split(torch *st, uint32_t index, uint32_t rest, bool was_split)
{
    const struct torch_block *block = torch_block_at(st, index);
    if (torch_is_expandable(block))
        return;
    bool small = torch_is_small(block);
    if (rest != FL_NONE && was_split) {
        torch_lower(st, FL_STAT_INACTIVE_SPLIT_BYTES, small, block->size);
    } else if (rest != FL_NONE) {
        torch_raise(st, FL_STAT_INACTIVE_SPLIT, small, 1);
        torch_raise(st, FL_STAT_INACTIVE_SPLIT_BYTES, small, torch_block_at(st, rest)->size);
    } else if (was_split) {
        torch_lower(st, FL_STAT_INACTIVE_SPLIT, small, 1);
        torch_lower(st, FL_STAT_INACTIVE_SPLIT_BYTES, small, block->size);
    }
}

bool torch_hand_out(torch *st, uint32_t index, const struct torch_request *request, bool split,
                    uint32_t *ret_block)
{
    bool was_split = torch_is_split(torch_block_at(st, index));
    uint32_t rest = FL_NONE;
    if (split) {
        rest = index;
        index = block_split(st, rest, request->rounded);
        if (index == FL_NONE)
            return false;
    }
    block_count_split(st, index, rest, was_split);
    struct torch_block *block = torch_block_at(st, index);
    block->flags = (uint8_t)((block->flags & ~BLOCK_FREE) | BLOCK_ALLOCATED);
    block->requested = request->size;
    block->id = request->id;
    block->events = 0;
    block->uses = FL_NONE;
    bool small = torch_is_small(block);
    torch_raise(st, FL_STAT_ALLOCATION, small, 1);
    torch_raise(st, FL_STAT_ALLOCATED_BYTES, small, block->size);
    torch_raise(st, FL_STAT_ACTIVE, small, 1);
    torch_raise(st, FL_STAT_ACTIVE_BYTES, small, block->size);
    torch_raise(st, FL_STAT_REQUESTED_BYTES, small, block->requested);
    if (block->size >= st->settings.max_split_bytes)
        torch_raise_one(&st->stats.oversize_allocations, 1);
    torch_tell_block(st, FL_CHANGE_PLACE, block);
    *ret_block = index;
    return true;
}

torch_step torch_free(torch *st, uint32_t index, bool is_held)
{
    struct torch_block *block = torch_block_at(st, index);
    bool small = torch_is_small(block);
    block->flags &= (uint8_t)~BLOCK_ALLOCATED;
    torch_lower(st, FL_STAT_ALLOCATION, small, 1);
    torch_lower(st, FL_STAT_ALLOCATED_BYTES, small, block->size);
    torch_tell_block(st, FL_CHANGE_FREE_ASKED, block);
    if (block->size >= st->settings.max_split_bytes)
        torch_lower_one(&st->stats.oversize_allocations, 1);
    if (is_held) {
        if (!fl_vector_reserve(st->host, &st->waiting, 1, st->error))
            return STEP_BROKEN;
        st->waiting.items[st->waiting.count++] = index;
        if (block->uses != FL_NONE)
            torch_uses_drop(st, index);
        block->flags |= BLOCK_HELD;
        block->events++;
        return STEP_YES;
    }
    if (block->uses == FL_NONE)
        return torch_free_done(st, index) ? STEP_YES : STEP_BROKEN;
    if (!torch_in_capture(st, block->stream))
        return torch_insert_events(st, index) ? STEP_YES : STEP_BROKEN;
    if (!fl_vector_reserve(st->host, &st->deferred, 1, st->error))
        return STEP_BROKEN;
    st->deferred.items[st->deferred.count++] = index;
    return STEP_YES;
}

uint64_t torch_merge(torch *st, uint32_t into, uint32_t from)
{
    if (from == FL_NONE)
        return 0;
    struct torch_block *winner = torch_block_at(st, into);
    const struct torch_block *loser = torch_block_at(st, from);
    if (!torch_is_free(loser) || (winner->flags & BLOCK_MAPPED) != (loser->flags & BLOCK_MAPPED))
        return 0;
    if (loser->flags & BLOCK_MAPPED)
        torch_free_remove(st, from);
    else
        torch_unmapped_remove(st, from);
    if (from == winner->previous) {
        winner->address = loser->address;
        winner->previous = loser->previous;
        if (winner->previous != FL_NONE)
            torch_block_at(st, winner->previous)->next = into;
    } else {
        winner->next = loser->next;
        if (winner->next != FL_NONE)
            torch_block_at(st, winner->next)->previous = into;
    }
    uint64_t gained = loser->size;
    winner->size += gained;
    torch_block_drop(st, from);
    return gained;
}

bool torch_free_done(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    torch_tell_block(st, FL_CHANGE_FREE_DONE, block);
    st->block_of.items[block->id] = FL_NONE;
    block->flags |= BLOCK_FREE;
    uint64_t size = block->size;
    uint32_t before = block->previous, behind = block->next;
    int64_t pieces = 0, bytes = 0;
    const uint32_t neighbours[] = {before, behind};
    for (size_t i = 0; i < 2; i++) {
        uint64_t gained = torch_merge(st, index, neighbours[i]);
        if (gained > 0) {
            pieces--;
            bytes -= (int64_t)gained;
        }
    }
    if (!torch_free_insert(st, index))
        return false;
    if (torch_is_split(block)) {
        pieces++;
        bytes += (int64_t)block->size;
    }
    bool small = torch_is_small(block);
    if (!torch_is_expandable(block)) {
        torch_move(st, FL_STAT_INACTIVE_SPLIT, small, pieces);
        torch_move(st, FL_STAT_INACTIVE_SPLIT_BYTES, small, bytes);
    }
    torch_lower(st, FL_STAT_ACTIVE, small, 1);
    torch_lower(st, FL_STAT_ACTIVE_BYTES, small, size);
    torch_lower(st, FL_STAT_REQUESTED_BYTES, small, block->requested);
    return true;
}
