/* From what was mapped and in use before the first event to a state that a policy can take over.
 *
 * Sizes: a block still there at the end shows its size.  One that was freed in the window shows
 * only what was asked for.  Its real size is the rounded request and a tail, which is left where
 * the rest was too small to be split off (section 8.1 of docs/allocator-rules.md): never in the
 * small pool or with expandable segments; in the large pool at most 1 MiB, all of which a gap of at
 * most 1 MiB to the next block must be, since every free block there is larger.  In a wider gap the
 * first request that landed there shows where the free part began, because requests take the low
 * end.  Where none did, there was most likely no tail.
 *
 * Ranges of expandable segments: runs of one pool and stream that lie within the length of one
 * range.  Whatever is left between blocks is free, and between runs unmapped. */
#include "rebuild/start.h"

#include "base/extents.h"
#include "base/memory.h"
#include "base/table.h"
#include "rebuild/ages.h"
#include "rebuild/births.h"
#include "rebuild/tails.h"
#include "rules/sizes.h"
#include "trace/build.h"

#include <stdlib.h>

/* The card that a range is sized for where nothing tells its size. */
#define START_NOMINAL_TOTAL (UINT64_C(1) << 40)

struct mapped_at { /* one mapping of the window */
    uint64_t address;
    uint16_t stream;
    bool is_small;
};

FL_VECTOR(mapped_vector, struct mapped_at);

struct placing {
    const fl_host *host;
    fl_trace *trace;
    fl_trace_device *device;
    const fl_profile *profile;
    const fl_settings *settings;
    uint64_t total_bytes;
    struct fl_block_vector blocks; /* in use, with their sizes */
    fl_extents gaps; /* behind blocks with a tail that is not known; owner: index of the block */
    struct mapped_vector maps; /* by address, and how far the runs so far have come in it */
    size_t next_map;
    fl_table last_run; /* by kind of run: the last expandable one so far */
    fl_error *error;
};

/* ---- sizes ----------------------------------------------------------------------------------- */

/* The end of what block `i` may reach to: the next block of the run, or its end. */
static uint64_t block_bound(const struct fl_block_vector *blocks, size_t i,
                            const fl_segment_view *run)
{
    uint64_t end = run->address + run->size;
    return i + 1 < blocks->count && blocks->items[i + 1].address < end
               ? blocks->items[i + 1].address
               : end;
}

static void note_tail(struct placing *placing, uint64_t bytes)
{
    placing->device->start.hidden_tails++;
    placing->device->start.hidden_tail_bytes += bytes;
}

static bool size_block(struct placing *placing, size_t i, const fl_segment_view *run)
{
    fl_block_view *block = &placing->blocks.items[i];
    const fl_settings *settings = placing->settings;
    uint64_t room = block_bound(&placing->blocks, i, run) - block->address;
    uint64_t rounded = fl_round_size(placing->profile, settings, block->requested);
    block->size = rounded < room ? rounded : room;
    uint64_t gap = room - block->size;
    if (gap == 0 || run->is_small || (settings->expandable && run->is_expandable))
        return true;
    bool is_plain = !settings->expandable && !run->is_expandable; /* and has always been */
    bool is_oversize = rounded >= settings->max_split_bytes;
    bool fills_run = block->address == run->address && room == run->size;
    if (is_plain && (gap <= FL_SMALL_SIZE || (is_oversize && fills_run))) {
        note_tail(placing, room - block->size);
        block->size = room;
        return true;
    }
    fl_extent extent = {block->address + block->size, gap, (uint32_t)i};
    return fl_extents_insert(placing->host, &placing->gaps, extent, placing->error);
}

static bool size_blocks(struct placing *placing)
{
    fl_trace_start *start = &placing->device->start;
    size_t at = 0;
    for (size_t i = 0; i < start->segments.count; i++) {
        const fl_segment_view *run = &start->segments.items[i];
        for (; at < placing->blocks.count &&
               placing->blocks.items[at].address - run->address < run->size;
             at++)
            if (placing->blocks.items[at].size == 0 && !size_block(placing, at, run))
                return false;
    }
    return true;
}

/* Is a tail of that size possible? */
static bool is_tail(const struct placing *placing, const fl_block_view *block, uint64_t size)
{
    return size <= fl_tails_most(placing->profile, placing->settings, block->requested) &&
           size % FL_MIN_BLOCK == 0;
}

static bool is_end_of_block(const struct placing *placing, uint8_t kind)
{
    return kind == FL_OP_FREE_DONE ||
           (kind == FL_OP_FREE && fl_trace_has_whole_frees(placing->device));
}

/* No address shows the tail in a gap; maybe a decision did. */
static bool leave_open(struct placing *placing, const fl_extent *gap)
{
    fl_trace_start *start = &placing->device->start;
    fl_block_view *block = &placing->blocks.items[gap->owner];
    uint64_t tail = fl_tails_known(start, block->address);
    bool is_learnt = tail > 0 && tail <= gap->size;
    block->size += is_learnt ? tail : 0;
    if (is_learnt)
        note_tail(placing, tail);
    start->open_tails += !is_learnt;
    if (!fl_vector_reserve(placing->host, &start->open, 1, placing->error))
        return false;
    start->open.items[start->open.count++] = gap->owner;
    return true;
}

/* The first request in a gap ends the tail; the block's own free ends what can be learnt. */
static bool read_gaps(struct placing *placing)
{
    const fl_columns *columns = &placing->device->columns;
    uint32_t first_id = placing->device->start.first_id;
    fl_extent gap;
    for (uint64_t i = 0; columns->address != NULL && i < columns->count; i++) {
        if (placing->gaps.count == 0)
            return true;
        bool is_alloc = columns->kind[i] == FL_OP_ALLOC && (columns->flags[i] & FL_EVENT_OOM) == 0;
        uint64_t address = columns->address[i];
        if (is_alloc && fl_extents_floor(&placing->gaps, address, &gap) &&
            address - gap.address < gap.size) {
            fl_extents_remove(&placing->gaps, gap.address, NULL);
            uint64_t tail = address - gap.address;
            if (tail > 0 && is_tail(placing, &placing->blocks.items[gap.owner], tail)) {
                placing->blocks.items[gap.owner].size += tail;
                note_tail(placing, tail);
            }
        } else if (is_end_of_block(placing, columns->kind[i]) && columns->id[i] != FL_NONE &&
                   columns->id[i] >= first_id &&
                   columns->id[i] - first_id < placing->blocks.count) {
            const fl_block_view *block = &placing->blocks.items[columns->id[i] - first_id];
            if (fl_extents_remove(&placing->gaps, block->address + block->size, &gap) &&
                !leave_open(placing, &gap))
                return false;
        }
    }
    for (uint64_t from = 0; fl_extents_ceiling(&placing->gaps, from, &gap); from = gap.address + 1)
        if (!leave_open(placing, &gap))
            return false;
    return true;
}

/* ---- free blocks ----------------------------------------------------------------------------- */

static bool add_block(struct placing *placing, const fl_block_view *block)
{
    struct fl_block_vector *tiles = &placing->device->start.blocks;
    if (!fl_vector_reserve(placing->host, tiles, 1, placing->error))
        return false;
    tiles->items[tiles->count++] = *block;
    return true;
}

static bool add_free(struct placing *placing, uint64_t address, uint64_t end)
{
    fl_block_view block = {
        .state = FL_BLOCK_FREE, .id = FL_NONE, .address = address, .size = end - address};
    return address == end || add_block(placing, &block);
}

static bool fill_runs(struct placing *placing)
{
    const fl_trace_start *start = &placing->device->start;
    size_t i = 0;
    for (size_t k = 0; k < start->segments.count; k++) {
        const fl_segment_view *run = &start->segments.items[k];
        uint64_t at = run->address;
        for (; i < placing->blocks.count &&
               placing->blocks.items[i].address - run->address < run->size;
             i++) {
            const fl_block_view *block = &placing->blocks.items[i];
            if (!add_free(placing, at, block->address) || !add_block(placing, block))
                return false;
            at = block->address + block->size;
        }
        if (!add_free(placing, at, run->address + run->size))
            return false;
    }
    return true;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static uint64_t range_page(const struct placing *placing, const fl_segment_view *run)
{
    if (!run->is_expandable)
        return 0;
    return run->is_small ? FL_SMALL_SEGMENT : placing->settings->large_segment_bytes;
}

static int maps_by_address(const void *a, const void *b)
{
    const struct mapped_at *left = a, *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

/* Everything that is mapped in the window, by address. */
static bool list_maps(struct placing *placing)
{
    const fl_columns *columns = &placing->device->columns;
    for (uint64_t i = 0; columns->address != NULL && i < columns->count; i++) {
        if (columns->kind[i] != FL_EVENT_SEGMENT_MAP)
            continue;
        if (!fl_vector_reserve(placing->host, &placing->maps, 1, placing->error))
            return false;
        /* Small pages are mapped one at a time, which tells them from large ones. */
        placing->maps.items[placing->maps.count++] = (struct mapped_at){
            .address = columns->address[i],
            .stream = columns->stream[i],
            .is_small = columns->size[i] % placing->settings->large_segment_bytes != 0,
        };
    }
    if (placing->maps.count > 0)
        qsort(placing->maps.items, placing->maps.count, sizeof *placing->maps.items,
              maps_by_address);
    return true;
}

/* A range fills from its base: the lowest address of it that was ever mapped.  What was unmapped at
 * the start of the window, and is mapped in it, may lie lower than its first run, but not below
 * `lowest`.  Runs come by ascending address, so the list of what is mapped is gone through once. */
static uint64_t range_base(struct placing *placing, const fl_segment_view *run, uint64_t lowest)
{
    uint64_t page = range_page(placing, run);
    const struct mapped_at *maps = placing->maps.items;
    while (placing->next_map < placing->maps.count && maps[placing->next_map].address < lowest)
        placing->next_map++;
    size_t i = placing->next_map;
    for (; i < placing->maps.count && maps[i].address < run->address; i++)
        if (maps[i].stream == run->stream && maps[i].is_small == run->is_small &&
            (run->address - maps[i].address) % page == 0)
            return maps[i].address;
    return run->address;
}

/* How far a range reaches at most. */
static uint64_t range_length(const struct placing *placing, uint64_t page)
{
    uint64_t total = placing->total_bytes != 0 ? placing->total_bytes : START_NOMINAL_TOTAL;
    uint64_t length = UINT64_MAX;
    fl_add(total, total / 8, &length);
    return fl_round_up(length, page);
}

static uint64_t kind_of_run(const fl_segment_view *run)
{
    return (uint64_t)run->stream << 32 | (uint64_t)run->pool << 1 | run->is_small;
}

/* The range that a run belongs to, that of the run of its kind before it; FL_NONE: a new one. */
static uint32_t find_range(const struct placing *placing, const fl_segment_view *run)
{
    uint32_t before = fl_table_get(&placing->last_run, kind_of_run(run));
    if (!run->is_expandable || before == FL_TABLE_EMPTY)
        return FL_NONE;
    const fl_trace_start *start = &placing->device->start;
    uint32_t index = start->segments.items[before].segment;
    const fl_start_range *range = &start->ranges.items[index];
    uint64_t end = run->address + run->size;
    bool is_near = range->page > 0 && end - range->address <= range_length(placing, range->page);
    return is_near && (run->address - range->address) % range->page == 0 ? index : FL_NONE;
}

static bool note_run(struct placing *placing, size_t index)
{
    const fl_segment_view *run = &placing->device->start.segments.items[index];
    return !run->is_expandable || fl_table_set(placing->host, &placing->last_run, kind_of_run(run),
                                               (uint32_t)index, placing->error);
}

/* A base lies behind everything that S0 has below it. */
static uint64_t lowest_base(const fl_trace_start *start, size_t run_index)
{
    if (run_index == 0)
        return 0;
    const fl_segment_view *before = &start->segments.items[run_index - 1];
    return before->address + before->size;
}

static bool find_ranges(struct placing *placing)
{
    fl_trace_start *start = &placing->device->start;
    if (!list_maps(placing))
        return false;
    for (size_t i = 0; i < start->segments.count; i++) {
        fl_segment_view *run = &start->segments.items[i];
        run->segment = find_range(placing, run);
        if (!note_run(placing, i))
            return false;
        if (run->segment != FL_NONE)
            continue;
        if (!fl_vector_reserve(placing->host, &start->ranges, 1, placing->error))
            return false;
        fl_start_range range = {
            .address = run->address, .room = UINT64_MAX, .page = range_page(placing, run)};
        if (range.page > 0)
            range.address = range_base(placing, run, lowest_base(start, i));
        run->segment = (uint32_t)start->ranges.count;
        start->ranges.items[start->ranges.count++] = range;
    }
    return true;
}

/* Up to where the next range begins that is not the same; runs of others may not lie between. */
static void bound_ranges(fl_trace_start *start)
{
    for (size_t i = 0; i + 1 < start->ranges.count; i++)
        start->ranges.items[i].room =
            start->ranges.items[i + 1].address - start->ranges.items[i].address;
}

static bool place(struct placing *placing)
{
    fl_trace_start *start = &placing->device->start;
    size_t count = start->in_use.count;
    start->is_placed = false;
    start->blocks.count = start->ranges.count = 0;
    start->hidden_tails = start->hidden_tail_bytes = start->open_tails = 0;
    start->open.count = 0;
    if (!fl_vector_reserve(placing->host, &placing->blocks, count, placing->error))
        return false;
    for (size_t i = 0; i < count; i++)
        placing->blocks.items[placing->blocks.count++] = start->in_use.items[i];
    if (!size_blocks(placing))
        return false;
    if (!read_gaps(placing) || !fill_runs(placing) || !find_ranges(placing))
        return false;
    bound_ranges(start);
    fl_ages_sort(start);
    start->births.count = 0;
    if (placing->profile->tie == FL_TIE_BLOCK &&
        fl_births_place(placing->host, start, placing->error) != FL_OK)
        return false;
    start->is_placed = true;
    return true;
}

fl_status fl_start_place(fl_trace *trace, size_t device, const fl_profile *profile,
                         const fl_settings *settings, uint64_t total_bytes, fl_error *error)
{
    struct placing placing = {
        .host = trace->host,
        .trace = trace,
        .device = &trace->devices.items[device],
        .profile = profile,
        .settings = settings,
        .total_bytes = total_bytes,
        .error = error,
    };
    bool is_done = place(&placing);
    fl_extents_deinit(placing.host, &placing.gaps);
    fl_vector_deinit(placing.host, &placing.maps);
    fl_table_deinit(placing.host, &placing.last_run);
    fl_vector_deinit(placing.host, &placing.blocks);
    return is_done ? FL_OK : FL_ERR_RESOURCE;
}
