/* Block objects: made, freed and merged (9); block.h has the other half. */
#include "policy/torch/block.h"

#include "base/memory.h"

enum { BLOCKS_MOST = 1 << 29 }; /* half of what an index in a free set may be */

/* Bytes before the first object in memory at `memory`: objects lie at multiples of their size, each
 * in one cache line. */
static size_t blocks_lead(const void *memory)
{
    size_t size = sizeof(struct torch_block);
    return (size - (uintptr_t)memory % size) % size;
}

bool torch_blocks_grow(torch *st)
{
    size_t size = sizeof *st->blocks.items, capacity = st->blocks.capacity;
    size_t grown = capacity < BLOCKS_MOST ? capacity + capacity / 2 + 64 : 0;
    size_t lead = blocks_lead(st->block_memory);
    size_t before = capacity > 0 ? (capacity + 1) * size : 0;
    char *memory = NULL;
    if (grown > 0)
        memory = st->host->resize(st->host->user, st->block_memory, before, (grown + 1) * size);
    if (memory == NULL) {
        fl_fail(st->error, FL_ERR_RESOURCE, "out of memory: more than %zu blocks", capacity);
        return false;
    }
    if (capacity > 0 && blocks_lead(memory) != lead)
        memmove(memory + blocks_lead(memory), memory + lead, st->blocks.count * size);
    void *items = memory + blocks_lead(memory);
    st->block_memory = memory;
    st->blocks.items = items;
    st->blocks.capacity = grown;
    return true;
}

void torch_blocks_deinit(torch *st)
{
    fl_delete(st->host, st->block_memory, (st->blocks.capacity + 1) * sizeof *st->blocks.items);
}

uint32_t torch_block_new(torch *st, const struct torch_block *like, uint64_t address, uint64_t size,
                         uint8_t flags)
{
    /* Growing the array may move what `like` points to. */
    uint32_t segment = like->segment, lane = like->lane;
    uint32_t index = torch_block_pick(st);
    if (index == NO_BLOCK)
        return NO_BLOCK;
    *torch_block_at(st, index) = (struct torch_block){
        .address = address,
        .size = size,
        .tie = st->tie == FL_TIE_BLOCK ? st->block_age++ : 0,
        .segment = segment,
        .lane = lane,
        .flags = flags,
    };
    return index;
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
                       .stream = torch_lane_of(st, block)->stream,
                       .pool = pool->owner == FL_NONE ? 0 : st->privates.items[pool->owner].name,
                       .address = block->address,
                       .size = block->size,
                       .requested = block->requested,
                   });
}

static void block_note_peak(torch *st, const struct torch_pool *pool, fl_stat_kind kind,
                            uint64_t current, uint64_t all)
{
    if (current > pool->counts->peak[kind])
        pool->counts->peak[kind] = current;
    if (all > st->peaks[kind])
        st->peaks[kind] = all;
}

/* Peaks of what is active while some of it is pending. */
FL_COLD void torch_note_active(torch *st, const struct torch_pool *pool)
{
    const struct torch_counts *counts = pool->counts;
    block_note_peak(st, pool, FL_STAT_ACTIVE, counts->current[FL_STAT_ALLOCATION] + counts->pending,
                    torch_current(st, FL_STAT_ALLOCATION) + counts->pending + pool->other->pending);
    block_note_peak(st, pool, FL_STAT_ACTIVE_BYTES,
                    counts->current[FL_STAT_ALLOCATED_BYTES] + counts->pending_bytes,
                    torch_active_bytes(st));
}

void torch_count_pending(torch *st, const struct torch_block *block, bool is_pending)
{
    struct torch_counts *counts = torch_pool_of(st, block)->counts;
    counts->pending += is_pending ? 1 : UINT64_MAX;
    counts->pending_bytes += is_pending ? block->size : 0 - block->size;
}

uint64_t torch_merge(torch *st, uint32_t into, uint32_t from)
{
    return torch_merge_inline(st, into, from);
}

bool torch_free_done(torch *st, uint32_t index)
{
    return torch_return(st, index);
}

FL_COLD torch_step torch_wait(torch *st, uint32_t index, bool is_held)
{
    struct torch_block *block = torch_block_at(st, index);
    torch_count_pending(st, block, true);
    if (!is_held && !torch_in_capture(st, torch_lane_of(st, block)->stream))
        return torch_insert_events(st, index) ? STEP_YES : STEP_BROKEN;
    struct torch_indices *list = is_held ? &st->waiting : &st->deferred;
    if (!fl_vector_reserve(st->host, list, 1, st->error))
        return STEP_BROKEN;
    list->items[list->count++] = index;
    if (is_held) {
        if (block->uses != FL_NONE)
            torch_uses_drop(st, index);
        block->flags |= BLOCK_HELD;
        block->events++;
    }
    return STEP_YES;
}

torch_step torch_free(torch *st, uint32_t index, bool is_held)
{
    return torch_let_go(st, index, is_held);
}

fl_status torch_free_op(torch *st, const fl_op *op, fl_result *ret_result, fl_error *error)
{
    st->error = error;
    torch_step step = torch_free_id(st, op->id, (op->flags & FL_OP_HELD) != 0);
    if (FL_UNLIKELY(step != STEP_YES))
        return torch_finish(st, step, ret_result);
    *ret_result = (fl_result){0};
    return FL_OK;
}
