/* Taking over a start state: what the allocator held before the first op.
 *
 * Segments get their ages in the order given, oldest first, below those of every segment to come.
 * Frees that wait complete when the trace says so.  What no start state tells begins anew: peaks,
 * sums and counters (14); and in a cut window the ages by which collection judges (10.1).  A
 * private pool has one owner, who has not let go of it; its count of allocations, which is no true
 * one (11.5), is taken for the most that it can be, so that no release fails for it. */
#include "base/checked.h"
#include "policy/torch/block.h"

#include <stdlib.h>

/* Where the run under way goes. */
struct adopt_run {
    const fl_segment_view *view;
    struct torch_lane *lane;
    uint32_t last; /* the block before, in the same segment; NO_BLOCK: none */
};

static fl_status adopt_broke(torch *st)
{
    return fl_device_failure(st->device, st->error);
}

static fl_status adopt_invalid(torch *st, uint64_t address, const char *what)
{
    return fl_fail(st->error, FL_ERR_INPUT, "start state: at 0x%llx: %s",
                   (unsigned long long)address, what);
}

/* ---- segments -------------------------------------------------------------------------------- */

/* How far a range reaches: as far as the card has it, or what was mapped in it on a larger one. */
static uint64_t adopt_length(const torch *st, const fl_start_range *range,
                             const fl_segment_view *last)
{
    uint64_t size = fl_round_up(torch_reserve_bytes(st), range->page), end;
    bool has_end = last != NULL && last->address >= range->address &&
                   fl_add(last->address - range->address, last->size, &end);
    if (has_end && end > size)
        size = end;
    return size <= range->room ? size : range->room / range->page * range->page;
}

/* `last`: the highest run in it, or NULL. */
static fl_status adopt_range(torch *st, const fl_start_range *range, const fl_segment_view *last)
{
    uint64_t size = last != NULL ? last->size : 0;
    if (range->page > 0)
        size = adopt_length(st, range, last);
    fl_answer answer = range->page > 0 ? fl_device_reserve_at(st->device, size, range->address)
                                       : fl_device_acquire_at(st->device, size, range->address);
    if (answer == FL_ANSWER_FULL)
        return fl_fail(st->error, FL_ERR_UNAVAILABLE,
                       "the device is smaller than what was there before the first event");
    if (answer != FL_ANSWER_OK)
        return adopt_broke(st);
    uint64_t age = st->segment_age++;
    return torch_segment_new(st, range->address, size, range->page, age) != FL_NONE
               ? FL_OK
               : FL_ERR_RESOURCE;
}

/* The size of each plain segment is that of its run. */
static fl_status adopt_ranges(torch *st, const fl_start *start)
{
    struct torch_indices run_of = {0};
    if (!fl_vector_reserve(st->host, &run_of, start->range_count, st->error))
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < start->range_count; i++)
        run_of.items[run_of.count++] = FL_NONE;
    for (size_t i = 0; i < start->segment_count; i++)
        run_of.items[start->segments[i].segment] = (uint32_t)i;
    fl_status status = FL_OK;
    for (size_t i = 0; i < start->range_count && status == FL_OK; i++) {
        uint32_t run = run_of.items[i];
        status = adopt_range(st, &start->ranges[i], run != FL_NONE ? &start->segments[run] : NULL);
    }
    fl_vector_deinit(st->host, &run_of);
    return status;
}

/* 16 TiB of the smallest pages: pages are kept one by one, and a file may claim anything. */
#define ADOPT_MOST_PAGES (UINT64_C(1) << 23)

/* Backs a mapped run with pages. */
static fl_status adopt_pages(torch *st, const fl_segment_view *view)
{
    struct torch_segment *segment = &st->segments.items[view->segment];
    uint64_t offset = view->address - segment->address;
    if (offset % segment->page != 0 || view->size % segment->page != 0 || offset > segment->size ||
        view->size > segment->size - offset)
        return adopt_invalid(st, view->address, "a mapped run does not fit the pages of its range");
    if ((offset + view->size) / segment->page > ADOPT_MOST_PAGES)
        return adopt_invalid(st, view->address, "a mapped run is larger than any card");
    size_t first = (size_t)(offset / segment->page);
    size_t end = first + (size_t)(view->size / segment->page);
    if (end > segment->pages.count &&
        !fl_vector_reserve(st->host, &segment->pages, end - segment->pages.count, st->error))
        return FL_ERR_RESOURCE;
    while (segment->pages.count < end)
        segment->pages.items[segment->pages.count++] = 0;
    for (size_t slot = first; slot < end; slot++) {
        uint64_t *page = &segment->pages.items[slot];
        uint64_t address = segment->address + slot * segment->page;
        fl_answer answer = fl_device_page_create(st->device, segment->page, page);
        if (answer == FL_ANSWER_FULL)
            return fl_fail(st->error, FL_ERR_UNAVAILABLE,
                           "the device is smaller than what was there before the first event");
        if (answer != FL_ANSWER_OK ||
            fl_device_map(st->device, address, segment->page, *page) != FL_ANSWER_OK)
            return adopt_broke(st);
    }
    return FL_OK;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static uint32_t adopt_link(torch *st, struct adopt_run *run, uint64_t address, uint64_t size,
                           uint8_t flags)
{
    struct torch_block like = {.lane = run->lane->index, .segment = run->view->segment};
    flags |= (uint8_t)((run->view->is_small ? BLOCK_SMALL : 0) |
                       (run->view->is_expandable ? BLOCK_EXPANDABLE : 0));
    uint32_t index = torch_block_new(st, &like, address, size, flags);
    if (index == NO_BLOCK)
        return NO_BLOCK;
    torch_block_at(st, index)->previous = run->last;
    torch_block_at(st, run->last)->next = index;
    run->last = index;
    return index;
}

static bool adopt_unmapped(torch *st, struct adopt_run *run, uint64_t address, uint64_t size)
{
    uint32_t index = adopt_link(st, run, address, size, BLOCK_FREE);
    return index != NO_BLOCK && torch_unmapped_insert(st, index);
}

/* A block that is not free: whose it is, and what it counts for. */
static bool adopt_active(torch *st, uint32_t index, const fl_block_view *view)
{
    if (!torch_meet_id(st, view->id))
        return false;
    struct torch_block *block = torch_block_at(st, index);
    const struct torch_pool *pool = torch_pool_of(st, block);
    bool is_live = view->state == FL_BLOCK_LIVE;
    st->block_of.items[view->id] = index;
    block->id = view->id;
    block->events = is_live ? 0 : 1;
    block->uses = FL_NONE;
    torch_raise(st, pool, FL_STAT_REQUESTED_BYTES, block->requested);
    if (!is_live) {
        torch_count_pending(st, block, true);
        if (!fl_vector_reserve(st->host, &st->waiting, 1, st->error))
            return false;
        st->waiting.items[st->waiting.count++] = index;
        return true;
    }
    torch_raise(st, pool, FL_STAT_ALLOCATION, 1);
    torch_raise(st, pool, FL_STAT_ALLOCATED_BYTES, block->size);
    if (block->size >= st->settings.max_split_bytes)
        torch_raise_one(&st->stats.oversize_allocations, 1);
    return true;
}

static bool adopt_block(torch *st, struct adopt_run *run, const fl_block_view *view)
{
    static const uint8_t flags[] = {[FL_BLOCK_LIVE] = BLOCK_MAPPED | BLOCK_ALLOCATED,
                                    [FL_BLOCK_PENDING] = BLOCK_MAPPED | BLOCK_HELD,
                                    [FL_BLOCK_FREE] = BLOCK_MAPPED | BLOCK_FREE};
    uint32_t index = adopt_link(st, run, view->address, view->size, flags[view->state]);
    if (index == NO_BLOCK)
        return false;
    torch_block_at(st, index)->requested = view->requested;
    if (view->state != FL_BLOCK_FREE)
        return adopt_active(st, index, view);
    torch_block_at(st, index)->free_since = (uint32_t)view->age; /* until it is in the free set */
    return true;
}

/* ---- births ---------------------------------------------------------------------------------- */

struct adopt_birth {
    uint64_t address;
    uint32_t block;
    bool is_known;
};

static int births_by_address(const void *a, const void *b)
{
    const struct adopt_birth *left = a, *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

static void adopt_known_birth(torch *st, struct adopt_birth *list, size_t count, uint64_t address,
                              uint64_t birth)
{
    struct adopt_birth key = {.address = address};
    struct adopt_birth *found = bsearch(&key, list, count, sizeof *list, births_by_address);
    if (found == NULL || found->is_known)
        return;
    found->is_known = true;
    torch_block_at(st, found->block)->tie = birth;
}

/* Numbers the blocks from `from` on anew.  Places of the list count, whether or not a block is
 * there, so that a birth below its length is a place in it. */
static bool adopt_births(torch *st, const fl_start *start, size_t from)
{
    FL_VECTOR(adopt_birth_vector, struct adopt_birth) list = {0};
    if (st->tie != FL_TIE_BLOCK || start->birth_count == 0)
        return true;
    if (!fl_vector_reserve(st->host, &list, st->blocks.count - from, st->error))
        return false;
    for (size_t i = from; i < st->blocks.count; i++)
        list.items[list.count++] =
            (struct adopt_birth){torch_block_at(st, (uint32_t)i)->address, (uint32_t)i, false};
    if (list.count > 0)
        qsort(list.items, list.count, sizeof *list.items, births_by_address);
    for (size_t i = 0; i < start->birth_count && list.count > 0; i++)
        adopt_known_birth(st, list.items, list.count, start->births[i], i);
    st->block_age = start->birth_count;
    for (size_t i = 0; i < list.count; i++)
        if (!list.items[i].is_known)
            torch_block_at(st, list.items[i].block)->tie = st->block_age++;
    fl_vector_deinit(st->host, &list);
    return true;
}

/* Free blocks enter the free set once their neighbours are known. */
static bool adopt_free_blocks(torch *st, size_t from)
{
    for (size_t i = from; i < st->blocks.count; i++) {
        const struct torch_block *block = torch_block_at(st, (uint32_t)i);
        if (!torch_is_free(block) || !(block->flags & BLOCK_MAPPED))
            continue;
        uint32_t age = block->free_since;
        if (!torch_free_insert(st, (uint32_t)i))
            return false;
        torch_block_at(st, (uint32_t)i)->free_since -= age;
        const struct torch_pool *pool = torch_pool_of(st, block);
        if (!torch_is_split(block) || torch_is_expandable(block))
            continue;
        torch_raise(st, pool, FL_STAT_INACTIVE_SPLIT, 1);
        torch_raise(st, pool, FL_STAT_INACTIVE_SPLIT_BYTES, block->size);
    }
    return true;
}

/* The pool that a run belongs to; FL_NONE: the host failed. */
static uint32_t adopt_pool(torch *st, const fl_segment_view *view)
{
    if (view->pool == 0)
        return view->is_small ? 0 : 1;
    struct torch_private *owner = torch_private_make(st, view->pool);
    return owner == NULL ? FL_NONE : view->is_small ? owner->small : owner->large;
}

static void adopt_count(torch *st, const fl_segment_view *view)
{
    if (view->pool == 0)
        return;
    uint64_t page = st->segments.items[view->segment].page;
    struct torch_private *owner = &st->privates.items[st->private_of.items[view->pool]];
    owner->device_allocs += view->is_expandable ? (int64_t)(view->size / page) : 1;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* What lies between the last run of a range and this one, or the end of the range. */
static bool adopt_hole(torch *st, struct adopt_run *run, uint64_t end)
{
    const struct torch_segment *segment = &st->segments.items[run->view->segment];
    uint64_t from = segment->address;
    if (run->last != NO_BLOCK)
        from = torch_block_at(st, run->last)->address + torch_block_at(st, run->last)->size;
    return from >= end || adopt_unmapped(st, run, from, end - from);
}

static fl_status adopt_run(torch *st, struct adopt_run *run, const fl_block_view *blocks,
                           size_t count)
{
    const fl_segment_view *view = run->view;
    uint32_t pool = adopt_pool(st, view);
    if (pool != FL_NONE)
        run->lane = torch_lane_make(st, pool, view->stream);
    if (pool == FL_NONE || run->lane == NULL)
        return FL_ERR_RESOURCE;
    adopt_count(st, view);
    if (view->is_expandable) {
        if (run->last == NO_BLOCK)
            run->lane->ranges += st->segments.items[view->segment].follows_card;
        fl_status status = adopt_pages(st, view);
        if (status != FL_OK)
            return status;
        if (!adopt_hole(st, run, view->address))
            return FL_ERR_RESOURCE;
    } else {
        torch_raise(st, st->pools.items[pool], FL_STAT_SEGMENT, 1);
        if (view->size >= st->settings.max_split_bytes)
            torch_raise_one(&st->stats.oversize_segments, 1);
    }
    for (size_t i = 0; i < count; i++)
        if (!adopt_block(st, run, &blocks[i]))
            return FL_ERR_RESOURCE;
    st->held += view->size;
    torch_raise_reserved(st, st->pools.items[pool], view->size);
    return FL_OK;
}

/* Runs of one range follow each other by address, though others may lie between them: `lasts` holds
 * the last block so far of each range. */
static fl_status adopt_runs(torch *st, const fl_start *start, uint32_t *lasts)
{
    size_t at = 0;
    for (size_t i = 0; i < start->segment_count; i++) {
        const fl_segment_view *view = &start->segments[i];
        size_t first = at;
        while (at < start->block_count && start->blocks[at].address - view->address < view->size)
            at++;
        struct adopt_run run = {.view = view, .last = lasts[view->segment]};
        fl_status status = adopt_run(st, &run, start->blocks + first, at - first);
        if (status != FL_OK)
            return status;
        lasts[view->segment] = run.last;
    }
    for (size_t i = 0; i < start->segment_count; i++) {
        const fl_segment_view *view = &start->segments[i];
        const struct torch_segment *segment = &st->segments.items[view->segment];
        struct adopt_run run = {.view = view, .last = lasts[view->segment]};
        if (!view->is_expandable || run.last == NO_BLOCK)
            continue;
        run.lane = torch_lane_of(st, torch_block_at(st, run.last));
        if (!adopt_hole(st, &run, segment->address + segment->size))
            return FL_ERR_RESOURCE;
        lasts[view->segment] = run.last;
    }
    return FL_OK;
}

static fl_status adopt_check(torch *st, const fl_start *start)
{
    for (size_t i = 0; i < start->segment_count; i++) {
        const fl_segment_view *view = &start->segments[i];
        if (view->pool >= st->names->pool_count)
            return adopt_invalid(st, view->address, "a pool without a name");
        if (view->segment >= start->range_count)
            return adopt_invalid(st, view->address, "a run without a range");
        if (view->stream == FL_NONE || !torch_meet_stream(st, view->stream))
            return FL_ERR_RESOURCE;
    }
    return FL_OK;
}

fl_status torch_adopt(torch *st, const fl_start *start, fl_error *error)
{
    st->error = error;
    fl_status status = adopt_check(st, start);
    if (status == FL_OK)
        status = adopt_ranges(st, start);
    if (status != FL_OK)
        return status;
    struct torch_indices lasts = {0};
    if (!fl_vector_reserve(st->host, &lasts, start->range_count, error))
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < start->range_count; i++)
        lasts.items[lasts.count++] = NO_BLOCK;
    size_t from = st->blocks.count;
    status = adopt_runs(st, start, lasts.items);
    fl_vector_deinit(st->host, &lasts);
    if (status == FL_OK && (!adopt_births(st, start, from) || !adopt_free_blocks(st, from)))
        status = FL_ERR_RESOURCE;
    if (status != FL_OK)
        return status;
    fl_device_begin(st->device);
    torch_reset_peaks(st);
    torch_reset_sums(st);
    return FL_OK;
}
