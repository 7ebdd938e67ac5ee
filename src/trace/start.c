/* What the allocator owned before the first event of a cut window.
 *
 * A walk back from the final state undoes the events, last to first, and keeps what is mapped and
 * what is in use.  What is left at the first event was there before.  A contradiction (events out
 * of order, kinds that were not recorded) leaves no start state at all: a wrong one would be worse.
 */
#include "trace/build.h"

#include "trace/undo.h"

void fl_trace_drop_start(const fl_host *host, fl_trace_start *start)
{
    fl_vector_deinit(host, &start->segments);
    fl_vector_deinit(host, &start->in_use);
    fl_vector_deinit(host, &start->blocks);
    fl_vector_deinit(host, &start->ranges);
    fl_vector_deinit(host, &start->births);
    fl_vector_deinit(host, &start->ages);
    fl_vector_deinit(host, &start->tails);
    fl_vector_deinit(host, &start->open);
    *start = (fl_trace_start){.first_id = start->first_id}; /* events hold these numbers */
}

static bool undo_at(fl_undo *undo, uint64_t i)
{
    const fl_columns *columns = &undo->device->columns;
    uint16_t stream = columns->stream[i];
    uint16_t pool = columns->pool != NULL ? columns->pool[i] : FL_NONE16;
    fl_undo_event event = {
        .kind = columns->kind[i],
        .flags = columns->flags[i],
        .address = columns->address != NULL ? columns->address[i] : 0,
        .size = columns->size[i],
        .id = columns->id[i],
        .event = i,
        .stack = FL_NONE,
        .stream = stream != FL_NONE16 ? stream : FL_NONE,
        .pool = pool != FL_NONE16 ? pool : FL_NONE,
    };
    undo->event = i;
    return fl_undo_one(undo, &event);
}

static bool keep_break(fl_undo *undo, fl_break_kind kind, uint64_t address, uint64_t size)
{
    undo->broken = (fl_break){kind, undo->event, address, size};
    return true;
}

/* Each block lies in a run, and is what was there before, all of it, in order of its numbers. */
static bool keep_blocks(fl_undo *undo, uint32_t count, fl_trace_start *start)
{
    const fl_block_view *block;
    uint64_t from = 0, end;
    if (!fl_vector_reserve(undo->host, &start->in_use, undo->active.count, undo->error))
        return false;
    while ((block = fl_undo_next_block(undo, from, &end)) != NULL) {
        uint64_t reach = end - block->address;
        if (block->id != start->first_id + start->in_use.count ||
            !fl_extents_hold(&undo->runs, block->address, reach))
            return keep_break(undo, FL_BREAK_BLOCK_OUTSIDE, block->address, reach);
        start->in_use.items[start->in_use.count++] = *block;
        from = end;
    }
    return start->first_id + start->in_use.count == count ||
           keep_break(undo, FL_BREAK_BLOCK_OTHER, 0, 0);
}

static bool walk_back(fl_undo *undo, fl_trace_start *start)
{
    const fl_trace_device *device = undo->device;
    undo->event = device->columns.count;
    bool has_room = fl_undo_begin(undo);
    for (uint64_t i = device->columns.count; has_room && !fl_undo_is_broken(undo) && i-- > 0;)
        has_room = undo_at(undo, i);
    if (has_room && !fl_undo_is_broken(undo))
        has_room =
            fl_undo_runs(undo, &start->segments) && keep_blocks(undo, device->alloc_count, start);
    return has_room;
}

fl_status fl_trace_find_start(fl_trace *trace, size_t device, fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    const fl_host *host = trace->host;
    fl_undo undo = {.host = host, .device = of, .error = error};
    fl_status status = walk_back(&undo, &of->start) ? FL_OK : FL_ERR_RESOURCE;
    of->start.is_known = status == FL_OK && !fl_undo_is_broken(&undo);
    fl_undo_deinit(&undo);
    if (status != FL_OK || of->start.is_known)
        return status;
    fl_trace_drop_start(host, &of->start);
    of->start.broken = undo.broken;
    of->unrecorded |= fl_trace_judge_break(trace, of);
    return FL_OK;
}
