/* Kinds of events that happened, but were left out while recording (skip_actions, from 2.11 on).
 *
 * A ring of a few events has no event of most kinds; that alone tells nothing.  What tells is an
 * event that cannot be without one of the other kind, of which there is none: the completion of a
 * free that nobody asked for; a free whose block is in the end neither pending nor there; a block
 * freed twice, which nobody asked for in between; memory that comes to where memory is.  Releases
 * before 2.11 leave nothing out, so there it is a contradiction instead. */
#include "trace/build.h"

#include "base/memory.h"

#define KIND_BIT(kind) (UINT64_C(1) << (kind))
#define SKIPS_SINCE    11 /* release 2.x */

struct kind_counts {
    uint64_t allocs, frees, dones;
    uint64_t unasked; /* completions of blocks of the window */
    uint64_t numbered_frees;
};

static bool may_leave_out(const fl_trace *trace)
{
    const fl_release_range *releases = &trace->releases;
    bool is_older = releases->last_major < 2 ||
                    (releases->last_major == 2 && releases->last_minor < SKIPS_SINCE);
    return trace->format != FL_FORMAT_SCRIPT && !(releases->known && is_older);
}

static uint64_t count_pending(const fl_trace_device *device)
{
    uint64_t count = 0;
    for (size_t i = 0; i < device->blocks.count; i++)
        count += device->blocks.items[i].state == FL_BLOCK_PENDING;
    return count;
}

/* `asked` has a place for each of `count` allocations. */
static struct kind_counts count_kinds(const fl_columns *columns, uint8_t *asked, uint32_t count)
{
    struct kind_counts counts = {0};
    for (uint64_t i = 0; i < columns->count; i++) {
        uint32_t id = columns->id[i];
        bool is_numbered = id < count;
        switch (columns->kind[i]) {
        case FL_OP_ALLOC:
            counts.allocs += (columns->flags[i] & FL_EVENT_OOM) == 0;
            break;
        case FL_OP_FREE:
            counts.frees++;
            counts.numbered_frees += is_numbered;
            if (is_numbered)
                asked[id] = 1;
            break;
        case FL_OP_FREE_DONE:
            counts.dones++;
            counts.unasked += is_numbered && !asked[id];
            break;
        default:
            break;
        }
    }
    return counts;
}

/* Is one block freed twice?  Asked where no request is recorded at all. */
static fl_status find_twice_freed(const fl_trace *trace, const fl_columns *columns,
                                  bool *ret_is_twice, fl_error *error)
{
    fl_table seen = {0};
    fl_status status = FL_OK;
    for (uint64_t i = 0; i < columns->count && status == FL_OK && !*ret_is_twice; i++) {
        if (columns->kind[i] != FL_OP_FREE_DONE || columns->address == NULL)
            continue;
        *ret_is_twice = fl_table_get(&seen, columns->address[i]) != FL_TABLE_EMPTY;
        if (!fl_table_set(trace->host, &seen, columns->address[i], 1, error))
            status = FL_ERR_RESOURCE;
    }
    fl_table_deinit(trace->host, &seen);
    return status;
}

/* What there is of a free is all of it. */
static void make_frees(fl_columns *columns)
{
    for (uint64_t i = 0; i < columns->count; i++)
        if (columns->kind[i] == FL_OP_FREE_DONE)
            columns->kind[i] = FL_OP_FREE;
}

fl_status fl_trace_judge_kinds(const fl_trace *trace, fl_trace_device *device, fl_error *error)
{
    device->unrecorded = 0;
    if (trace->has_ops || !may_leave_out(trace) || device->columns.count == 0)
        return FL_OK;
    uint8_t *asked = fl_new(trace->host, device->alloc_count, error);
    if (asked == NULL)
        return FL_ERR_RESOURCE;
    struct kind_counts counts = count_kinds(&device->columns, asked, device->alloc_count);
    fl_delete(trace->host, asked, device->alloc_count);
    bool is_twice = false;
    fl_status status = counts.allocs == 0 && counts.dones > 1
                           ? find_twice_freed(trace, &device->columns, &is_twice, error)
                           : FL_OK;
    if (is_twice)
        device->unrecorded |= KIND_BIT(FL_OP_ALLOC);
    if (counts.dones == 0 && device->has_final_state &&
        counts.numbered_frees > count_pending(device))
        device->unrecorded |= KIND_BIT(FL_OP_FREE_DONE);
    if (counts.frees == 0 && counts.unasked > 0) {
        device->unrecorded |= KIND_BIT(FL_OP_FREE);
        make_frees(&device->columns);
    }
    return status;
}

static bool has_kind(const fl_columns *columns, uint8_t kind)
{
    for (uint64_t i = 0; i < columns->count; i++)
        if (columns->kind[i] == kind)
            return true;
    return false;
}

/* Where no free completes and none was asked for, both are missing. */
static uint64_t missing_other_half(const fl_columns *columns, uint8_t missing)
{
    return missing == FL_OP_FREE_DONE && !has_kind(columns, FL_OP_FREE) ? KIND_BIT(FL_OP_FREE) : 0;
}

uint64_t fl_trace_judge_break(const fl_trace *trace, const fl_trace_device *device)
{
    /* Where the walk back breaks at an event of the first kind, the second is missing. */
    static const struct {
        uint8_t what, at, missing;
    } rows[] = {
        {FL_BREAK_RUN_MISSING, FL_EVENT_SEGMENT_ALLOC, FL_EVENT_SEGMENT_FREE},
        {FL_BREAK_RUN_MISSING, FL_EVENT_SEGMENT_MAP, FL_EVENT_SEGMENT_UNMAP},
        {FL_BREAK_RUN_TWICE, FL_EVENT_SEGMENT_FREE, FL_EVENT_SEGMENT_ALLOC},
        {FL_BREAK_RUN_TWICE, FL_EVENT_SEGMENT_UNMAP, FL_EVENT_SEGMENT_MAP},
        {FL_BREAK_BLOCK_MISSING, FL_OP_ALLOC, FL_OP_FREE_DONE},
        {FL_BREAK_BLOCK_TWICE, FL_OP_FREE_DONE, FL_OP_ALLOC},
    };
    const fl_break *broken = &device->start.broken;
    const fl_columns *columns = &device->columns;
    if (trace->has_ops || !may_leave_out(trace) || broken->event >= columns->count)
        return 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (broken->kind == rows[i].what && columns->kind[broken->event] == rows[i].at &&
            !has_kind(columns, rows[i].missing))
            return KIND_BIT(rows[i].missing) | missing_other_half(columns, rows[i].missing);
    if (broken->kind != FL_BREAK_BLOCK_OUTSIDE)
        return 0;
    uint8_t missing =
        has_kind(columns, FL_EVENT_SEGMENT_MAP) ? FL_EVENT_SEGMENT_UNMAP : FL_EVENT_SEGMENT_FREE;
    return has_kind(columns, missing) ? 0 : KIND_BIT(missing);
}
