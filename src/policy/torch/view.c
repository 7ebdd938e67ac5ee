/* Looking at the heap from outside: segments and blocks, every invariant, statistics. */
#include "policy/torch/block.h"
#include "policy/torch/torch.h"

#include <stdlib.h>

/* The first block of a mapped run. */
static bool view_is_head(const torch *st, const struct torch_block *block)
{
    if (block->size == 0 || !(block->flags & BLOCK_MAPPED))
        return false;
    return !(torch_block_at(st, block->previous)->flags & BLOCK_MAPPED);
}

struct view_head {
    uint64_t address;
    uint32_t block, padding;
};

static int view_by_address(const void *a, const void *b)
{
    const struct view_head *left = a, *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

static uint32_t view_behind(const torch *st, const struct torch_block *block)
{
    return torch_block_at(st, block->next)->flags & BLOCK_MAPPED ? block->next : NO_BLOCK;
}

static fl_block_state view_state(const struct torch_block *block)
{
    if (block->flags & BLOCK_ALLOCATED)
        return FL_BLOCK_LIVE;
    return torch_is_free(block) ? FL_BLOCK_FREE : FL_BLOCK_PENDING;
}

static void view_run(const torch *st, uint32_t head, const fl_walk *walk)
{
    const struct torch_block *block = torch_block_at(st, head);
    const struct torch_pool *pool = torch_pool_of(st, block);
    fl_segment_view run = {
        .segment = block->segment,
        .stream = torch_lane_of(st, block)->stream,
        .pool = pool->owner == FL_NONE ? 0 : st->privates.items[pool->owner].name,
        .is_small = pool->is_small,
        .is_expandable = torch_is_expandable(block),
        .address = block->address,
    };
    for (uint32_t i = head; i != NO_BLOCK; i = view_behind(st, torch_block_at(st, i)))
        run.size += torch_block_at(st, i)->size;
    walk->segment(walk->user, &run);
    for (uint32_t i = head; i != NO_BLOCK; i = view_behind(st, torch_block_at(st, i))) {
        block = torch_block_at(st, i);
        walk->block(walk->user, &(fl_block_view){
                                    .state = view_state(block),
                                    .id = torch_is_free(block) ? FL_NONE : block->id,
                                    .address = block->address,
                                    .size = block->size,
                                    .requested = block->requested,
                                    .birth = st->tie == FL_TIE_BLOCK ? block->tie : 0,
                                    .age = torch_is_free(block) ? torch_free_age(st, block) : 0,
                                });
    }
}

fl_status torch_walk(const torch *st, const fl_walk *walk, fl_error *error)
{
    FL_VECTOR(view_heads, struct view_head) heads = {0};
    fl_status status = FL_OK;
    for (uint32_t i = 1; i < st->blocks.count && status == FL_OK; i++) {
        const struct torch_block *block = torch_block_at(st, i);
        if (!view_is_head(st, block))
            continue;
        if (fl_vector_reserve(st->host, &heads, 1, error))
            heads.items[heads.count++] = (struct view_head){block->address, i, 0};
        else
            status = FL_ERR_RESOURCE;
    }
    if (status == FL_OK && heads.count > 0)
        qsort(heads.items, heads.count, sizeof *heads.items, view_by_address);
    for (size_t i = 0; i < heads.count && status == FL_OK; i++)
        view_run(st, heads.items[i].block, walk);
    fl_vector_deinit(st->host, &heads);
    return status;
}

/* Active blocks are the allocated ones and the pending ones; each of them was allocated once. */
static bool view_is_active(size_t kind)
{
    return kind == FL_STAT_ACTIVE || kind == FL_STAT_ACTIVE_BYTES;
}

static size_t view_allocated(size_t kind)
{
    return kind == FL_STAT_ACTIVE ? FL_STAT_ALLOCATION : FL_STAT_ALLOCATED_BYTES;
}

static uint64_t view_current(const struct torch_counts *counts, size_t kind)
{
    if (!view_is_active(kind))
        return counts->current[kind];
    return counts->current[view_allocated(kind)] +
           (kind == FL_STAT_ACTIVE ? counts->pending : counts->pending_bytes);
}

static uint64_t view_peak(const uint64_t *peaks, size_t kind)
{
    if (view_is_active(kind) && peaks[kind] < peaks[view_allocated(kind)])
        return peaks[view_allocated(kind)];
    return peaks[kind];
}

static fl_stat view_stat(const struct torch_counts *counts, size_t kind)
{
    size_t raised = view_is_active(kind) ? view_allocated(kind) : kind;
    fl_stat stat = {
        .current = view_current(counts, kind),
        .peak = view_peak(counts->peak, kind),
        .allocated = counts->current[raised] + counts->freed[raised] - counts->start[raised],
    };
    stat.freed = counts->start[kind] + stat.allocated - stat.current;
    return stat;
}

static void view_fill_stats(const torch *st)
{
    *st->shown = st->stats;
    for (size_t kind = 0; kind < FL_STAT_COUNT; kind++) {
        fl_stat *stat = st->shown->stat[kind];
        stat[FL_STAT_SMALL] = view_stat(&st->counts[0], kind);
        stat[FL_STAT_LARGE] = view_stat(&st->counts[1], kind);
        stat[FL_STAT_ALL] = (fl_stat){
            .current = stat[FL_STAT_SMALL].current + stat[FL_STAT_LARGE].current,
            .peak = view_peak(st->peaks, kind),
            .allocated = stat[FL_STAT_SMALL].allocated + stat[FL_STAT_LARGE].allocated,
            .freed = stat[FL_STAT_SMALL].freed + stat[FL_STAT_LARGE].freed,
        };
    }
}

void torch_facts(const torch *st, fl_facts *ret_facts)
{
    view_fill_stats(st);
    *ret_facts = (fl_facts){
        .stats = st->shown,
        .refusal = st->has_refusal ? &st->refusal : NULL,
        .pools = st->pool_stats.items,
        .pool_count = st->pool_stats.count,
    };
}

static void view_reset_peak(fl_stat *stat)
{
    stat->peak = stat->current;
}

static void view_reset_sums(fl_stat *stat)
{
    stat->allocated = stat->freed = 0;
}

/* Statistics that are kept in full. */
static void view_each_stat(torch *st, void (*change)(fl_stat *stat))
{
    change(&st->stats.oversize_allocations);
    change(&st->stats.oversize_segments);
    for (size_t i = 0; i < st->pool_stats.count; i++)
        for (size_t group = 0; group < FL_STAT_GROUPS; group++)
            change(&st->pool_stats.items[i].reserved[group]);
}

void torch_reset_peaks(torch *st)
{
    for (size_t kind = 0; kind < FL_STAT_COUNT; kind++) {
        st->peaks[kind] = 0;
        for (size_t group = 0; group < 2; group++) {
            uint64_t current = view_current(&st->counts[group], kind);
            st->counts[group].peak[kind] = current;
            st->peaks[kind] += current;
        }
    }
    view_each_stat(st, view_reset_peak);
}

void torch_reset_sums(torch *st)
{
    for (size_t group = 0; group < 2; group++) {
        struct torch_counts *counts = &st->counts[group];
        for (size_t kind = 0; kind < FL_STAT_COUNT; kind++) {
            counts->freed[kind] = 0;
            counts->start[kind] = view_current(counts, kind);
        }
    }
    view_each_stat(st, view_reset_sums);
    fl_stats *stats = &st->stats;
    stats->alloc_retries = stats->ooms = stats->sync_all_streams = 0;
    stats->device_allocs = stats->device_frees = stats->oom_rejections = 0;
}

/* ---- check ----------------------------------------------------------------------------------- */

struct view_sums {
    uint64_t reserved, active, allocated, requested, free_blocks, unmapped_blocks;
};

/* A block is in its free set if it is met in order from its own size on. */
static bool view_is_free_in(const torch *st, const struct torch_lane *lane, uint32_t index)
{
    uint64_t size = torch_block_at(st, index)->size;
    uint32_t i = torch_bins_seek(st, &lane->bins, size);
    while (i != NO_BLOCK && i != index && torch_block_at(st, i)->size == size)
        i = torch_bins_next(st, &lane->bins, i);
    return i == index;
}

static bool view_is_unmapped_in(const torch *st, const struct torch_lane *lane, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    fl_ordered_at at;
    return fl_ordered_seek(&lane->unmapped, block->address, block->segment, &at) &&
           fl_ordered_get(&lane->unmapped, at)->value == index;
}

static const char *view_check_links(const torch *st, uint32_t index,
                                    const struct torch_block *block)
{
    if (block->next == NO_BLOCK)
        return NULL;
    const struct torch_block *next = torch_block_at(st, block->next);
    if (next->previous != index || next->segment != block->segment)
        return "neighbours do not know each other";
    if (block->address + block->size != next->address)
        return "blocks of a segment do not tile it";
    bool same = (block->flags & BLOCK_MAPPED) == (next->flags & BLOCK_MAPPED);
    if (same && torch_is_free(block) && torch_is_free(next))
        return "two free neighbours were not merged";
    return NULL;
}

static const char *view_check_block(const torch *st, uint32_t index, struct view_sums *sums)
{
    const struct torch_block *block = torch_block_at(st, index);
    const struct torch_lane *lane = torch_lane_of(st, block);
    if (!(block->flags & BLOCK_MAPPED)) {
        sums->unmapped_blocks++;
        return view_is_unmapped_in(st, lane, index)
                   ? view_check_links(st, index, block)
                   : "an unmapped range is not in the unmapped set";
    }
    sums->reserved += block->size;
    if (torch_is_free(block)) {
        sums->free_blocks++;
        return view_is_free_in(st, lane, index) ? view_check_links(st, index, block)
                                                : "a free block is not in the free set";
    }
    sums->active += block->size;
    sums->requested += block->requested;
    if (block->flags & BLOCK_ALLOCATED)
        sums->allocated += block->size;
    if (st->block_of.items[block->id] != index)
        return "an active block is not known by its id";
    return view_check_links(st, index, block);
}

static const char *view_check_sums(const torch *st, const struct view_sums *sums)
{
    uint64_t free_blocks = 0, unmapped_blocks = 0;
    for (size_t i = 0; i < st->lanes.count; i++) {
        const struct torch_bins *bins = &st->lanes.items[i]->bins;
        for (uint32_t at = torch_bins_seek(st, bins, 0); at != NO_BLOCK;
             at = torch_bins_next(st, bins, at))
            free_blocks++;
        unmapped_blocks += st->lanes.items[i]->unmapped.count;
    }
    if (free_blocks != sums->free_blocks || unmapped_blocks != sums->unmapped_blocks)
        return "a set holds a block that does not exist";
    if (sums->reserved != st->held + st->lost ||
        sums->reserved != torch_current(st, FL_STAT_RESERVED_BYTES))
        return "reserved bytes do not add up";
    if (sums->active != torch_active_bytes(st) ||
        sums->requested != torch_current(st, FL_STAT_REQUESTED_BYTES) ||
        sums->allocated != torch_current(st, FL_STAT_ALLOCATED_BYTES))
        return "bytes in use do not add up";
    return NULL;
}

fl_status torch_check(const torch *st, fl_error *error)
{
    struct view_sums sums = {0};
    for (uint32_t i = 1; i < st->blocks.count; i++) {
        const struct torch_block *block = torch_block_at(st, i);
        if (block->size == 0)
            continue;
        const char *broken = view_check_block(st, i, &sums);
        if (broken != NULL)
            return fl_fail(error, FL_ERR_INTERNAL, "torch: block at 0x%llx: %s",
                           (unsigned long long)block->address, broken);
    }
    const char *broken = view_check_sums(st, &sums);
    if (broken != NULL)
        return fl_fail(error, FL_ERR_INTERNAL, "torch: %s", broken);
    return FL_OK;
}
