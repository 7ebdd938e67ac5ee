/* Is the final state newer than the last event?
 *
 * Recording may be stopped before a snapshot is taken.  Then the events do not lead to the final
 * state, and the walk back from it meets what cannot be, though nothing is wrong with either.  The
 * events are that of a run from its begin where they fit each other in a walk forward: blocks lie
 * in memory that came before, none over another, and what goes was there.  The state is newer where
 * something of what they leave behind is not in it, or lies where they put nothing.  One block
 * asked for anew in the same place is no proof: a wrong byte looks like that, too. */
#include "trace/build.h"

#include "base/extents.h"
#include "base/memory.h"

#define FREE_ASKED 1

struct newer_walk {
    const fl_host *host;
    const fl_trace_device *device;
    fl_extents memory;
    fl_extents live; /* owner: the allocation */
    uint8_t *asked;  /* by allocation: FREE_ASKED or 0 */
    bool fits;
    fl_error *error;
};

/* ---- forward --------------------------------------------------------------------------------- */

static bool newer_alloc(struct newer_walk *walk, uint32_t id, uint64_t address, uint64_t size)
{
    walk->fits = id < walk->device->alloc_count && size > 0 &&
                 fl_extents_hold(&walk->memory, address, 1) &&
                 !fl_extents_overlap(&walk->live, address, size);
    return !walk->fits ||
           fl_extents_insert(walk->host, &walk->live, (fl_extent){address, size, id}, walk->error);
}

static void newer_free(struct newer_walk *walk, uint32_t id, uint64_t address, uint64_t size,
                       bool is_done)
{
    fl_extent extent;
    walk->fits = fl_extents_floor(&walk->live, address, &extent) && extent.address == address &&
                 extent.owner == id && extent.size == size &&
                 is_done == (walk->asked[id] == FREE_ASKED);
    if (!walk->fits)
        return;
    walk->asked[id] = FREE_ASKED;
    if (is_done)
        fl_extents_remove(&walk->live, address, NULL);
}

static bool newer_take(struct newer_walk *walk, uint64_t address, uint64_t size)
{
    walk->fits = size > 0 && !fl_extents_overlap(&walk->memory, address, size);
    return !walk->fits ||
           fl_extents_insert(walk->host, &walk->memory, (fl_extent){address, size, 0}, walk->error);
}

static bool newer_give(struct newer_walk *walk, uint64_t address, uint64_t size)
{
    uint64_t taken = 0;
    walk->fits = size > 0 && !fl_extents_overlap(&walk->live, address, size);
    if (!walk->fits)
        return true;
    if (!fl_extents_take(walk->host, &walk->memory, address, size, &taken, walk->error))
        return false;
    walk->fits = taken == size;
    return true;
}

/* False: no room, with the error filled. */
static bool newer_event(struct newer_walk *walk, uint64_t i)
{
    const fl_columns *columns = &walk->device->columns;
    uint64_t address = columns->address[i], size = columns->size[i];
    uint32_t id = columns->id[i];
    switch (columns->kind[i]) {
    case FL_OP_ALLOC:
        return (columns->flags[i] & FL_EVENT_OOM) != 0 || newer_alloc(walk, id, address, size);
    case FL_OP_FREE:
    case FL_OP_FREE_DONE:
        newer_free(walk, id, address, size, columns->kind[i] == FL_OP_FREE_DONE);
        return true;
    case FL_EVENT_SEGMENT_ALLOC:
    case FL_EVENT_SEGMENT_MAP:
        return newer_take(walk, address, size);
    case FL_EVENT_SEGMENT_FREE:
    case FL_EVENT_SEGMENT_UNMAP:
        return newer_give(walk, address, size);
    default:
        return true;
    }
}

/* ---- beside the final state ------------------------------------------------------------------ */

/* What the final state has another way than the events leave it. */
struct newer_signs {
    uint64_t gone, come, anew;
};

static void compare_blocks(const struct newer_walk *walk, struct newer_signs *signs)
{
    const struct fl_block_vector *blocks = &walk->device->blocks;
    uint64_t met = 0;
    for (size_t i = 0; i < blocks->count; i++) {
        const fl_block_view *block = &blocks->items[i];
        fl_extent extent;
        if (block->state == FL_BLOCK_FREE)
            continue;
        bool is_met = fl_extents_floor(&walk->live, block->address, &extent) &&
                      extent.address == block->address;
        met += is_met;
        if (!is_met) {
            signs->come += fl_extents_hold(&walk->memory, block->address, 1);
            continue;
        }
        bool was_asked = walk->asked[extent.owner] == FREE_ASKED;
        signs->anew += extent.size != block->requested;
        signs->gone += was_asked != (block->state == FL_BLOCK_PENDING);
    }
    signs->gone += walk->live.count - met;
}

static bool compare_memory(const struct newer_walk *walk, struct newer_signs *signs)
{
    const struct fl_segment_vector *segments = &walk->device->segments;
    fl_extents now = {0};
    bool has_room = true;
    for (size_t i = 0; i < segments->count && has_room; i++) {
        fl_extent extent = {segments->items[i].address, segments->items[i].size, 0};
        has_room = fl_extents_overlap(&now, extent.address, extent.size) ||
                   fl_extents_insert(walk->host, &now, extent, walk->error);
    }
    fl_extent extent = {0, 0, 0};
    for (uint64_t from = 0; has_room && fl_extents_ceiling(&walk->memory, from, &extent);
         from = extent.address + extent.size)
        signs->gone += !fl_extents_hold(&now, extent.address, extent.size);
    fl_extents_deinit(walk->host, &now);
    return has_room;
}

static bool judge(struct newer_walk *walk, bool *ret_is_newer)
{
    struct newer_signs signs = {0, 0, 0};
    bool has_room = true;
    for (uint64_t i = 0; i < walk->device->columns.count && has_room && walk->fits; i++)
        has_room = newer_event(walk, i);
    if (!has_room || !walk->fits)
        return has_room;
    compare_blocks(walk, &signs);
    if (!compare_memory(walk, &signs))
        return false;
    *ret_is_newer = signs.gone + signs.come > 0 || signs.anew > 1;
    return true;
}

/* Pieces that do not follow each other are another matter, and so is what was left out. */
static bool may_be_newer(const fl_trace *trace, const fl_trace_device *device)
{
    const fl_columns *columns = &device->columns;
    bool is_asked = !device->is_complete && device->has_final_state && !device->start.is_known &&
                    device->impossible_parts == 0 && device->unrecorded == 0 && !trace->has_ops &&
                    columns->address != NULL;
    for (uint64_t i = 1; is_asked && columns->time_us != NULL && i < columns->count; i++)
        is_asked = columns->time_us[i] >= columns->time_us[i - 1];
    return is_asked;
}

fl_status fl_trace_judge_newer(fl_trace *trace, size_t device, fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    bool is_newer = false;
    if (!may_be_newer(trace, of))
        return FL_OK;
    struct newer_walk walk = {.host = trace->host, .device = of, .fits = true, .error = error};
    walk.asked = fl_new(trace->host, of->alloc_count, error);
    bool has_room = walk.asked != NULL && judge(&walk, &is_newer);
    fl_extents_deinit(trace->host, &walk.memory);
    fl_extents_deinit(trace->host, &walk.live);
    fl_delete(trace->host, walk.asked, of->alloc_count);
    if (!has_room)
        return FL_ERR_RESOURCE;
    if (!is_newer)
        return FL_OK;
    of->is_complete = of->is_newer = true;
    return fl_trace_warn(trace, error,
                         "the final state of device %zu is newer than its last event: what came in "
                         "between was not recorded",
                         device);
}
