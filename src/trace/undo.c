/* The walk back from the final state of a trace: what is mapped and what is in use, and events
 * undone in it, last to first.  Sizes of blocks that were freed are not recorded; they are left
 * open here, since they follow from the settings. */
#include "trace/undo.h"

#include "base/units.h"

#include <fraglab/units.h>

#define SMALL_SIZE    FL_MIB        /* largest request of the small pool */
#define SMALL_SEGMENT (2 * FL_MIB)  /* segment of the small pool */
#define LARGE_PAGE    (20 * FL_MIB) /* page of the large pool, unless set */

/* What is known of the pool of a run. */
enum { KIND_SMALL, KIND_LARGE, KIND_OPEN };

/* ---- the books ------------------------------------------------------------------------------- */

/* A contradiction is noted and is not a failure: always true. */
static bool undo_break(fl_undo *undo, fl_break_kind kind, uint64_t address, uint64_t size)
{
    if (!fl_undo_is_broken(undo))
        undo->broken = (fl_break){kind, undo->event, address, size};
    return true;
}

static bool lacks(const fl_undo *undo, uint8_t kind)
{
    return (undo->device->unrecorded >> kind & 1) != 0;
}

/* False: no room, with the error filled. */
static bool undo_add_run(fl_undo *undo, uint64_t address, uint64_t size, const fl_undo_run *run)
{
    const fl_host *host = undo->host;
    if (size == 0 || fl_extents_overlap(&undo->runs, address, size))
        return undo_break(undo, FL_BREAK_RUN_TWICE, address, size);
    if (!fl_vector_reserve(host, &undo->known, 1, undo->error))
        return false;
    fl_extent extent = {address, size, (uint32_t)undo->known.count};
    undo->known.items[undo->known.count++] = *run;
    return fl_extents_insert(host, &undo->runs, extent, undo->error);
}

static bool undo_add_block(fl_undo *undo, const fl_block_view *block)
{
    const fl_host *host = undo->host;
    uint64_t reach = block->size > 0 ? block->size : block->requested;
    reach = reach > 0 ? reach : 1;
    if (fl_extents_overlap(&undo->active, block->address, reach))
        return undo_break(undo, FL_BREAK_BLOCK_TWICE, block->address, reach);
    if (!fl_vector_reserve(host, &undo->blocks, 1, undo->error))
        return false;
    fl_extent extent = {block->address, reach, (uint32_t)undo->blocks.count};
    undo->blocks.items[undo->blocks.count++] = *block;
    return fl_extents_insert(host, &undo->active, extent, undo->error);
}

static fl_block_view *block_at(fl_undo *undo, uint64_t address)
{
    fl_extent extent;
    if (!fl_extents_floor(&undo->active, address, &extent) || extent.address != address)
        return NULL;
    return &undo->blocks.items[extent.owner];
}

bool fl_undo_begin(fl_undo *undo)
{
    const fl_trace_device *device = undo->device;
    for (size_t i = 0; i < device->segments.count; i++) {
        const fl_segment_view *segment = &device->segments.items[i];
        fl_undo_run run = {segment->stream, segment->pool,
                           segment->is_small ? KIND_SMALL : KIND_LARGE, segment->is_expandable};
        if (!undo_add_run(undo, segment->address, segment->size, &run))
            return false;
    }
    for (size_t i = 0; i < device->blocks.count; i++) {
        const fl_block_view *block = &device->blocks.items[i];
        if (block->state != FL_BLOCK_FREE && !undo_add_block(undo, block))
            return false;
    }
    return true;
}

/* ---- undoing one event ----------------------------------------------------------------------- */

static bool undo_alloc(fl_undo *undo, const fl_undo_event *event)
{
    const fl_block_view *block = block_at(undo, event->address);
    if (block == NULL)
        return undo_break(undo, FL_BREAK_BLOCK_MISSING, event->address, event->size);
    bool is_live = block->state == FL_BLOCK_LIVE || lacks(undo, FL_OP_FREE);
    if (!is_live || block->requested != event->size)
        return undo_break(undo, FL_BREAK_BLOCK_OTHER, event->address, event->size);
    fl_extents_remove(&undo->active, event->address, NULL);
    return true;
}

/* A run whose kind is open takes that of the blocks in it. */
static void settle_kind(fl_undo *undo, uint64_t address, uint64_t size)
{
    fl_extent extent;
    if (!fl_extents_floor(&undo->runs, address, &extent))
        return;
    fl_undo_run *run = &undo->known.items[extent.owner];
    if (run->kind == KIND_OPEN)
        run->kind = size <= SMALL_SIZE ? KIND_SMALL : KIND_LARGE;
}

static bool undo_free_done(fl_undo *undo, const fl_undo_event *event)
{
    settle_kind(undo, event->address, event->size);
    return undo_add_block(undo, &(fl_block_view){.state = FL_BLOCK_PENDING,
                                                 .id = event->id,
                                                 .address = event->address,
                                                 .requested = event->size});
}

static bool undo_free(fl_undo *undo, const fl_undo_event *event)
{
    fl_block_view *block = block_at(undo, event->address);
    if (block == NULL && fl_trace_has_whole_frees(undo->device)) {
        if (!undo_free_done(undo, event))
            return false;
        block = block_at(undo, event->address);
    }
    if (block == NULL)
        return undo_break(undo, FL_BREAK_BLOCK_MISSING, event->address, event->size);
    if (block->state != FL_BLOCK_PENDING || block->requested != event->size)
        return undo_break(undo, FL_BREAK_BLOCK_OTHER, event->address, event->size);
    block->state = FL_BLOCK_LIVE;
    return true;
}

static bool undo_segment_alloc(fl_undo *undo, const fl_undo_event *event)
{
    fl_extent extent;
    if (!fl_extents_floor(&undo->runs, event->address, &extent) ||
        extent.address != event->address || extent.size != event->size)
        return undo_break(undo, FL_BREAK_RUN_MISSING, event->address, event->size);
    if (fl_extents_overlap(&undo->active, event->address, event->size))
        return undo_break(undo, FL_BREAK_RUN_IN_USE, event->address, event->size);
    fl_extents_remove(&undo->runs, event->address, NULL);
    return true;
}

static bool undo_segment_free(fl_undo *undo, const fl_undo_event *event)
{
    fl_undo_run run = {event->stream, event->pool,
                       event->size == SMALL_SEGMENT ? KIND_SMALL : KIND_LARGE, false};
    return undo_add_run(undo, event->address, event->size, &run);
}

/* Cuts a range out of an expandable run. */
static bool undo_map(fl_undo *undo, const fl_undo_event *event)
{
    fl_extent extent;
    bool is_in = fl_extents_floor(&undo->runs, event->address, &extent) &&
                 undo->known.items[extent.owner].is_expandable && event->size <= extent.size &&
                 event->address - extent.address <= extent.size - event->size;
    if (!is_in || event->size == 0)
        return undo_break(undo, FL_BREAK_RUN_MISSING, event->address, event->size);
    if (fl_extents_overlap(&undo->active, event->address, event->size))
        return undo_break(undo, FL_BREAK_RUN_IN_USE, event->address, event->size);
    fl_undo_run run = undo->known.items[extent.owner];
    uint64_t before = event->address - extent.address;
    uint64_t behind = extent.size - before - event->size;
    fl_extents_remove(&undo->runs, extent.address, NULL);
    return (before == 0 || undo_add_run(undo, extent.address, before, &run)) &&
           (behind == 0 || undo_add_run(undo, event->address + event->size, behind, &run));
}

static bool is_same_range(const fl_undo_run *a, const fl_undo_run *b)
{
    return a->is_expandable && b->is_expandable && a->stream == b->stream &&
           (a->pool == b->pool || a->pool == FL_NONE || b->pool == FL_NONE) &&
           (a->kind == b->kind || a->kind == KIND_OPEN || b->kind == KIND_OPEN);
}

/* Takes a neighbour of [*address, *address + *size) into it, if they are of one range. */
static void join_run(fl_undo *undo, const fl_extent *other, uint64_t *address, uint64_t *size,
                     fl_undo_run *run)
{
    const fl_undo_run *known = &undo->known.items[other->owner];
    if (!is_same_range(known, run))
        return;
    if (run->kind == KIND_OPEN)
        run->kind = known->kind;
    if (run->pool == FL_NONE)
        run->pool = known->pool;
    fl_extents_remove(&undo->runs, other->address, NULL);
    if (other->address < *address)
        *address = other->address;
    *size += other->size;
}

static bool undo_unmap(fl_undo *undo, const fl_undo_event *event)
{
    fl_undo_run run = {event->stream, event->pool, KIND_OPEN, true};
    uint64_t address = event->address, size = event->size;
    fl_extent other;
    if (size == 0 || fl_extents_overlap(&undo->runs, address, size))
        return undo_break(undo, FL_BREAK_RUN_TWICE, address, size);
    if (fl_extents_floor(&undo->runs, address, &other) && other.address + other.size == address)
        join_run(undo, &other, &address, &size, &run);
    if (fl_extents_ceiling(&undo->runs, address, &other) && other.address == address + size)
        join_run(undo, &other, &address, &size, &run);
    return undo_add_run(undo, address, size, &run);
}

bool fl_undo_one(fl_undo *undo, const fl_undo_event *event)
{
    switch (event->kind) {
    case FL_OP_ALLOC:
        return (event->flags & FL_EVENT_OOM) != 0 || undo_alloc(undo, event);
    case FL_OP_FREE:
        return undo_free(undo, event);
    case FL_OP_FREE_DONE:
        return undo_free_done(undo, event);
    case FL_EVENT_SEGMENT_ALLOC:
        return undo_segment_alloc(undo, event);
    case FL_EVENT_SEGMENT_FREE:
        return undo_segment_free(undo, event);
    case FL_EVENT_SEGMENT_MAP:
        return undo_map(undo, event);
    case FL_EVENT_SEGMENT_UNMAP:
        return undo_unmap(undo, event);
    default:
        return true;
    }
}

/* ---- what is left ---------------------------------------------------------------------------- */

bool fl_undo_runs(const fl_undo *undo, struct fl_segment_vector *segments)
{
    fl_extent extent;
    uint64_t from = 0;
    if (!fl_vector_reserve(undo->host, segments, undo->runs.count, undo->error))
        return false;
    while (fl_extents_ceiling(&undo->runs, from, &extent)) {
        const fl_undo_run *run = &undo->known.items[extent.owner];
        bool is_small =
            run->kind == KIND_SMALL || (run->kind == KIND_OPEN && extent.size % LARGE_PAGE != 0);
        segments->items[segments->count++] = (fl_segment_view){
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

bool fl_undo_is_open(const fl_undo *undo)
{
    fl_extent extent;
    for (uint64_t from = 0; fl_extents_ceiling(&undo->runs, from, &extent);
         from = extent.address + extent.size)
        if (undo->known.items[extent.owner].kind == KIND_OPEN ||
            undo->known.items[extent.owner].pool == FL_NONE)
            return true;
    return false;
}

const fl_block_view *fl_undo_next_block(const fl_undo *undo, uint64_t from, uint64_t *ret_end)
{
    fl_extent extent;
    if (!fl_extents_ceiling(&undo->active, from, &extent))
        return NULL;
    *ret_end = extent.address + extent.size;
    return &undo->blocks.items[extent.owner];
}

void fl_undo_deinit(fl_undo *undo)
{
    fl_extents_deinit(undo->host, &undo->runs);
    fl_extents_deinit(undo->host, &undo->active);
    fl_vector_deinit(undo->host, &undo->known);
    fl_vector_deinit(undo->host, &undo->blocks);
}
