#include "trace/told.h"

#include "base/checked.h"

static fl_status fail_place(const char *what, uint64_t address, fl_error *error)
{
    return fl_fail(error, FL_ERR_INPUT, "%s at 0x%llx does not lie behind the one before", what,
                   (unsigned long long)address);
}

/* What is left of the last run is one free block. */
static fl_status fill_to(const fl_host *host, fl_trace_start *start, uint64_t end, fl_error *error)
{
    if (start->segments.count == 0)
        return FL_OK;
    const fl_segment_view *run = &start->segments.items[start->segments.count - 1];
    const fl_block_view *last =
        start->blocks.count > 0 ? &start->blocks.items[start->blocks.count - 1] : NULL;
    bool is_first = last == NULL || last->address < run->address;
    uint64_t at = is_first ? run->address : last->address + last->size;
    if (at == end)
        return FL_OK;
    if (!fl_vector_reserve(host, &start->blocks, 1, error))
        return FL_ERR_RESOURCE;
    start->blocks.items[start->blocks.count++] =
        (fl_block_view){.state = FL_BLOCK_FREE, .id = FL_NONE, .address = at, .size = end - at};
    return FL_OK;
}

static fl_status fill_last_run(const fl_host *host, fl_trace_start *start, fl_error *error)
{
    if (start->segments.count == 0)
        return FL_OK;
    const fl_segment_view *run = &start->segments.items[start->segments.count - 1];
    return fill_to(host, start, run->address + run->size, error);
}

/* The first range that does not begin below an address; ranges ascend. */
static size_t range_at(const struct fl_range_vector *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The range with this base, a known or a new one. */
static fl_status find_range(const fl_host *host, fl_trace_start *start, uint64_t base,
                            uint64_t page, uint32_t *ret_range, fl_error *error)
{
    struct fl_range_vector *ranges = &start->ranges;
    size_t i = range_at(ranges, base);
    if (i < ranges->count && page > 0 && ranges->items[i].address == base &&
        ranges->items[i].page == page) {
        *ret_range = (uint32_t)i;
        return FL_OK;
    }
    if (i < ranges->count)
        return fail_place("a range", base, error);
    if (!fl_vector_reserve(host, ranges, 1, error))
        return FL_ERR_RESOURCE;
    *ret_range = (uint32_t)ranges->count;
    ranges->items[ranges->count++] = (fl_start_range){base, UINT64_MAX, page};
    return FL_OK;
}

fl_status fl_told_add_run(fl_trace *trace, size_t device, const fl_segment_view *run, uint64_t base,
                          uint64_t page, fl_error *error)
{
    const fl_host *host = trace->host;
    fl_trace_start *start = &trace->devices.items[device].start;
    fl_segment_view added = *run;
    uint64_t end;
    if (run->size == 0 || !fl_add(run->address, run->size, &end))
        return fl_fail(error, FL_ERR_INPUT, "a segment of no bytes, or beyond 2^64");
    if (start->segments.count > 0) {
        const fl_segment_view *last = &start->segments.items[start->segments.count - 1];
        if (run->address < last->address + last->size)
            return fail_place("a segment", run->address, error);
    }
    fl_status status = fill_last_run(host, start, error);
    if (status == FL_OK)
        status =
            find_range(host, start, page > 0 ? base : run->address, page, &added.segment, error);
    if (status != FL_OK)
        return status;
    if (!fl_vector_reserve(host, &start->segments, 1, error))
        return FL_ERR_RESOURCE;
    start->segments.items[start->segments.count++] = added;
    start->is_known = start->is_placed = true;
    return FL_OK;
}

fl_status fl_told_add_block(fl_trace *trace, size_t device, const fl_block_view *block,
                            fl_error *error)
{
    const fl_host *host = trace->host;
    fl_trace_start *start = &trace->devices.items[device].start;
    if (start->segments.count == 0)
        return fl_fail(error, FL_ERR_INPUT, "a block before its segment");
    const fl_segment_view *run = &start->segments.items[start->segments.count - 1];
    const fl_block_view *last =
        start->in_use.count > 0 ? &start->in_use.items[start->in_use.count - 1] : NULL;
    bool is_behind = block->address >= run->address &&
                     (last == NULL || block->address >= last->address + last->size);
    if (!is_behind)
        return fail_place("a block", block->address, error);
    if (block->requested > block->size)
        return fl_fail(error, FL_ERR_INPUT, "%llu bytes asked for in a block of %llu bytes",
                       (unsigned long long)block->requested, (unsigned long long)block->size);
    uint64_t offset = block->address - run->address;
    if (block->size == 0 || offset >= run->size || block->size > run->size - offset)
        return fl_fail(error, FL_ERR_INPUT, "the block at 0x%llx does not fit its segment",
                       (unsigned long long)block->address);
    fl_status status = fill_to(host, start, block->address, error);
    if (status != FL_OK)
        return status;
    if (!fl_vector_reserve(host, &start->in_use, 1, error) ||
        !fl_vector_reserve(host, &start->blocks, 1, error))
        return FL_ERR_RESOURCE;
    start->in_use.items[start->in_use.count++] = *block;
    start->blocks.items[start->blocks.count++] = *block;
    return FL_OK;
}

fl_status fl_told_finish(fl_trace *trace, size_t device, fl_error *error)
{
    fl_trace_start *start = &trace->devices.items[device].start;
    fl_status status = fill_last_run(trace->host, start, error);
    for (size_t i = 0; i + 1 < start->ranges.count; i++)
        start->ranges.items[i].room =
            start->ranges.items[i + 1].address - start->ranges.items[i].address;
    return status;
}
