/* What the allocator owned before the first event of a cut window.
 *
 * A walk back from the final state undoes the events, last to first, and keeps what is mapped and
 * what is in use.  What is left at the first event was there before.  Sizes of blocks that were
 * freed in the window are not recorded; they are left open here, since they follow from the
 * settings.  A contradiction (events out of order, kinds that were not recorded) leaves no start
 * state at all: a wrong one would be worse. */
#include "trace/build.h"

#include "base/checked.h"
#include "base/extents.h"
#include "base/memory.h"
#include "base/units.h"

#include <fraglab/units.h>

#define START_SMALL_SIZE    FL_MIB        /* largest request of the small pool */
#define START_SMALL_SEGMENT (2 * FL_MIB)  /* segment of the small pool */
#define START_LARGE_PAGE    (20 * FL_MIB) /* page of the large pool, unless set */

/* What is known of the pool of a run. */
enum { KIND_SMALL, KIND_LARGE, KIND_OPEN };

struct start_run {
    uint32_t stream, pool; /* FL_NONE: no event tells the pool */
    uint8_t kind;
    bool is_expandable;
};

FL_VECTOR(start_runs, struct start_run);

struct start_walk {
    fl_trace *trace;
    fl_trace_device *device;
    fl_extents runs;   /* owner: index into `known` */
    fl_extents active; /* blocks in use, as far as they reach for sure; owner: into `blocks` */
    struct start_runs known;
    struct fl_block_vector blocks;
    uint64_t event;  /* that is being undone */
    fl_break broken; /* events and states contradict each other */
    fl_error *error;
};

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

/* ---- the books ------------------------------------------------------------------------------- */

static bool is_broken(const struct start_walk *walk)
{
    return walk->broken.kind != FL_BREAK_NONE;
}

/* A contradiction is noted and is not a failure: always true. */
static bool start_break(struct start_walk *walk, fl_break_kind kind, uint64_t address,
                        uint64_t size)
{
    if (!is_broken(walk))
        walk->broken = (fl_break){kind, walk->event, address, size};
    return true;
}

static bool lacks(const struct start_walk *walk, uint8_t kind)
{
    return (walk->device->unrecorded >> kind & 1) != 0;
}

/* False: no room, with the error filled. */
static bool start_add_run(struct start_walk *walk, uint64_t address, uint64_t size,
                          const struct start_run *run)
{
    const fl_host *host = walk->trace->host;
    if (size == 0 || fl_extents_overlap(&walk->runs, address, size))
        return start_break(walk, FL_BREAK_RUN_TWICE, address, size);
    if (!fl_vector_reserve(host, &walk->known, 1, walk->error))
        return false;
    fl_extent extent = {address, size, (uint32_t)walk->known.count};
    walk->known.items[walk->known.count++] = *run;
    return fl_extents_insert(host, &walk->runs, extent, walk->error);
}

static bool start_add_block(struct start_walk *walk, const fl_block_view *block)
{
    const fl_host *host = walk->trace->host;
    uint64_t reach = block->size > 0 ? block->size : block->requested;
    reach = reach > 0 ? reach : 1;
    if (fl_extents_overlap(&walk->active, block->address, reach))
        return start_break(walk, FL_BREAK_BLOCK_TWICE, block->address, reach);
    if (!fl_vector_reserve(host, &walk->blocks, 1, walk->error))
        return false;
    fl_extent extent = {block->address, reach, (uint32_t)walk->blocks.count};
    walk->blocks.items[walk->blocks.count++] = *block;
    return fl_extents_insert(host, &walk->active, extent, walk->error);
}

static fl_block_view *start_block_at(struct start_walk *walk, uint64_t address)
{
    fl_extent extent;
    if (!fl_extents_floor(&walk->active, address, &extent) || extent.address != address)
        return NULL;
    return &walk->blocks.items[extent.owner];
}

static bool start_begin(struct start_walk *walk)
{
    const fl_trace_device *device = walk->device;
    for (size_t i = 0; i < device->segments.count; i++) {
        const fl_segment_view *segment = &device->segments.items[i];
        struct start_run run = {segment->stream, segment->pool,
                                segment->is_small ? KIND_SMALL : KIND_LARGE,
                                segment->is_expandable};
        if (!start_add_run(walk, segment->address, segment->size, &run))
            return false;
    }
    for (size_t i = 0; i < device->blocks.count; i++) {
        const fl_block_view *block = &device->blocks.items[i];
        if (block->state != FL_BLOCK_FREE && !start_add_block(walk, block))
            return false;
    }
    return true;
}

/* ---- undoing one event ----------------------------------------------------------------------- */

struct start_event {
    uint64_t address, size;
    uint32_t id, stream, pool;
};

static bool undo_alloc(struct start_walk *walk, const struct start_event *event)
{
    const fl_block_view *block = start_block_at(walk, event->address);
    if (block == NULL)
        return start_break(walk, FL_BREAK_BLOCK_MISSING, event->address, event->size);
    bool is_live = block->state == FL_BLOCK_LIVE || lacks(walk, FL_OP_FREE);
    if (!is_live || block->requested != event->size)
        return start_break(walk, FL_BREAK_BLOCK_OTHER, event->address, event->size);
    fl_extents_remove(&walk->active, event->address, NULL);
    return true;
}

/* A run whose kind is open takes that of the blocks in it. */
static void settle_kind(struct start_walk *walk, uint64_t address, uint64_t size)
{
    fl_extent extent;
    if (!fl_extents_floor(&walk->runs, address, &extent))
        return;
    struct start_run *run = &walk->known.items[extent.owner];
    if (run->kind == KIND_OPEN)
        run->kind = size <= START_SMALL_SIZE ? KIND_SMALL : KIND_LARGE;
}

static bool undo_free_done(struct start_walk *walk, const struct start_event *event)
{
    settle_kind(walk, event->address, event->size);
    return start_add_block(walk, &(fl_block_view){.state = FL_BLOCK_PENDING,
                                                  .id = event->id,
                                                  .address = event->address,
                                                  .requested = event->size});
}

static bool undo_free(struct start_walk *walk, const struct start_event *event)
{
    fl_block_view *block = start_block_at(walk, event->address);
    if (block == NULL && fl_trace_has_whole_frees(walk->device)) {
        if (!undo_free_done(walk, event))
            return false;
        block = start_block_at(walk, event->address);
    }
    if (block == NULL)
        return start_break(walk, FL_BREAK_BLOCK_MISSING, event->address, event->size);
    if (block->state != FL_BLOCK_PENDING || block->requested != event->size)
        return start_break(walk, FL_BREAK_BLOCK_OTHER, event->address, event->size);
    block->state = FL_BLOCK_LIVE;
    return true;
}

static bool undo_segment_alloc(struct start_walk *walk, const struct start_event *event)
{
    fl_extent extent;
    if (!fl_extents_floor(&walk->runs, event->address, &extent) ||
        extent.address != event->address || extent.size != event->size)
        return start_break(walk, FL_BREAK_RUN_MISSING, event->address, event->size);
    if (fl_extents_overlap(&walk->active, event->address, event->size))
        return start_break(walk, FL_BREAK_RUN_IN_USE, event->address, event->size);
    fl_extents_remove(&walk->runs, event->address, NULL);
    return true;
}

static bool undo_segment_free(struct start_walk *walk, const struct start_event *event)
{
    struct start_run run = {event->stream, event->pool,
                            event->size == START_SMALL_SEGMENT ? KIND_SMALL : KIND_LARGE, false};
    return start_add_run(walk, event->address, event->size, &run);
}

/* Cuts a range out of an expandable run. */
static bool undo_map(struct start_walk *walk, const struct start_event *event)
{
    fl_extent extent;
    bool is_in = fl_extents_floor(&walk->runs, event->address, &extent) &&
                 walk->known.items[extent.owner].is_expandable && event->size <= extent.size &&
                 event->address - extent.address <= extent.size - event->size;
    if (!is_in || event->size == 0)
        return start_break(walk, FL_BREAK_RUN_MISSING, event->address, event->size);
    if (fl_extents_overlap(&walk->active, event->address, event->size))
        return start_break(walk, FL_BREAK_RUN_IN_USE, event->address, event->size);
    struct start_run run = walk->known.items[extent.owner];
    uint64_t before = event->address - extent.address;
    uint64_t behind = extent.size - before - event->size;
    fl_extents_remove(&walk->runs, extent.address, NULL);
    return (before == 0 || start_add_run(walk, extent.address, before, &run)) &&
           (behind == 0 || start_add_run(walk, event->address + event->size, behind, &run));
}

static bool is_same_range(const struct start_run *a, const struct start_run *b)
{
    return a->is_expandable && b->is_expandable && a->stream == b->stream &&
           (a->pool == b->pool || a->pool == FL_NONE || b->pool == FL_NONE) &&
           (a->kind == b->kind || a->kind == KIND_OPEN || b->kind == KIND_OPEN);
}

/* Takes a neighbour of [*address, *address + *size) into it, if they are of one range. */
static void join_run(struct start_walk *walk, const fl_extent *other, uint64_t *address,
                     uint64_t *size, struct start_run *run)
{
    const struct start_run *known = &walk->known.items[other->owner];
    if (!is_same_range(known, run))
        return;
    if (run->kind == KIND_OPEN)
        run->kind = known->kind;
    if (run->pool == FL_NONE)
        run->pool = known->pool;
    fl_extents_remove(&walk->runs, other->address, NULL);
    if (other->address < *address)
        *address = other->address;
    *size += other->size;
}

static bool undo_unmap(struct start_walk *walk, const struct start_event *event)
{
    struct start_run run = {event->stream, event->pool, KIND_OPEN, true};
    uint64_t address = event->address, size = event->size;
    fl_extent other;
    if (size == 0 || fl_extents_overlap(&walk->runs, address, size))
        return start_break(walk, FL_BREAK_RUN_TWICE, address, size);
    if (fl_extents_floor(&walk->runs, address, &other) && other.address + other.size == address)
        join_run(walk, &other, &address, &size, &run);
    if (fl_extents_ceiling(&walk->runs, address, &other) && other.address == address + size)
        join_run(walk, &other, &address, &size, &run);
    return start_add_run(walk, address, size, &run);
}

static bool start_undo(struct start_walk *walk, uint64_t i)
{
    const fl_columns *columns = &walk->device->columns;
    walk->event = i;
    uint16_t stream = columns->stream[i];
    uint16_t pool = columns->pool != NULL ? columns->pool[i] : FL_NONE16;
    struct start_event event = {
        .address = columns->address != NULL ? columns->address[i] : 0,
        .size = columns->size[i],
        .id = columns->id[i],
        .stream = stream != FL_NONE16 ? stream : FL_NONE,
        .pool = pool != FL_NONE16 ? pool : FL_NONE,
    };
    switch (columns->kind[i]) {
    case FL_OP_ALLOC:
        return (columns->flags[i] & FL_EVENT_OOM) != 0 || undo_alloc(walk, &event);
    case FL_OP_FREE:
        return undo_free(walk, &event);
    case FL_OP_FREE_DONE:
        return undo_free_done(walk, &event);
    case FL_EVENT_SEGMENT_ALLOC:
        return undo_segment_alloc(walk, &event);
    case FL_EVENT_SEGMENT_FREE:
        return undo_segment_free(walk, &event);
    case FL_EVENT_SEGMENT_MAP:
        return undo_map(walk, &event);
    case FL_EVENT_SEGMENT_UNMAP:
        return undo_unmap(walk, &event);
    default:
        return true;
    }
}

/* ---- what is left ---------------------------------------------------------------------------- */

static bool keep_runs(struct start_walk *walk)
{
    fl_trace_start *start = &walk->device->start;
    fl_extent extent;
    uint64_t from = 0;
    if (!fl_vector_reserve(walk->trace->host, &start->segments, walk->runs.count, walk->error))
        return false;
    while (fl_extents_ceiling(&walk->runs, from, &extent)) {
        const struct start_run *run = &walk->known.items[extent.owner];
        bool is_small = run->kind == KIND_SMALL ||
                        (run->kind == KIND_OPEN && extent.size % START_LARGE_PAGE != 0);
        start->segments.items[start->segments.count++] = (fl_segment_view){
            .segment = FL_NONE,
            .stream = run->stream,
            .pool = run->pool != FL_NONE ? run->pool : 0,
            .is_small = is_small,
            .is_expandable = run->is_expandable,
            .address = extent.address,
            .size = extent.size,
        };
        from = extent.address + extent.size;
    }
    return true;
}

/* Each block lies in a run, and is what was there before, all of it, in order of its numbers. */
static bool keep_blocks(struct start_walk *walk)
{
    fl_trace_start *start = &walk->device->start;
    fl_extent extent, run;
    uint64_t from = 0;
    if (!fl_vector_reserve(walk->trace->host, &start->in_use, walk->active.count, walk->error))
        return false;
    while (fl_extents_ceiling(&walk->active, from, &extent)) {
        const fl_block_view *block = &walk->blocks.items[extent.owner];
        if (block->id != start->first_id + start->in_use.count ||
            !fl_extents_floor(&walk->runs, extent.address, &run) || extent.size > run.size ||
            extent.address - run.address > run.size - extent.size)
            return start_break(walk, FL_BREAK_BLOCK_OUTSIDE, extent.address, extent.size);
        start->in_use.items[start->in_use.count++] = *block;
        from = extent.address + extent.size;
    }
    if (start->first_id + start->in_use.count != walk->device->alloc_count)
        start_break(walk, FL_BREAK_BLOCK_OTHER, 0, 0);
    return true;
}

static bool walk_back(struct start_walk *walk)
{
    walk->event = walk->device->columns.count;
    bool has_room = start_begin(walk);
    for (uint64_t i = walk->device->columns.count; has_room && !is_broken(walk) && i-- > 0;)
        has_room = start_undo(walk, i);
    if (has_room && !is_broken(walk))
        has_room = keep_runs(walk) && keep_blocks(walk);
    return has_room;
}

fl_status fl_trace_find_start(fl_trace *trace, size_t device, fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    const fl_host *host = trace->host;
    struct start_walk walk = {.trace = trace, .device = of, .error = error};
    fl_status status = walk_back(&walk) ? FL_OK : FL_ERR_RESOURCE;
    of->start.is_known = status == FL_OK && !is_broken(&walk);
    fl_extents_deinit(host, &walk.runs);
    fl_extents_deinit(host, &walk.active);
    fl_vector_deinit(host, &walk.known);
    fl_vector_deinit(host, &walk.blocks);
    if (status != FL_OK || of->start.is_known)
        return status;
    fl_trace_drop_start(host, &of->start);
    of->start.broken = walk.broken;
    of->unrecorded |= fl_trace_judge_break(trace, of);
    return FL_OK;
}
