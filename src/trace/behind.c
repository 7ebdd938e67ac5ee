/* Events behind the end of a range: read, and not kept.
 *
 * What a snapshot shows at its end is what they came to.  So those that placed or freed something
 * are noted until the end of the file is read, and then undone in the final state, which becomes
 * the state behind the range.  A block that came and went behind it leaves nothing to undo;
 * dropping such blocks now and then bounds the notes by what is in use, not by how long the file
 * goes on.
 *
 * A snapshot is taken between two operations, never within one.  So a range ends behind the last
 * event of an operation, and a few more events may be kept than were asked for. */
#include "trace/build.h"

#include "base/checked.h"
#include "base/table.h"
#include "trace/undo.h"

#include <stdlib.h>

void fl_trace_end_at(fl_trace *trace, const fl_range_end *end)
{
    trace->end = *end;
}

/* ---- while reading --------------------------------------------------------------------------- */

static bool is_refusal(const fl_event *event)
{
    return event->kind == FL_OP_ALLOC && (event->flags & FL_EVENT_OOM) != 0;
}

static bool end_is_reached(const fl_trace *trace, fl_trace_device *device, const fl_event *event)
{
    const fl_range_end *at = &trace->end;
    fl_trace_end *end = &device->end;
    if (end->is_reached || !at->is_time)
        return end->is_reached || device->columns.count >= at->event;
    if (event->time_us == FL_TIME_UNKNOWN)
        return false;
    if (!end->has_begin)
        end->begin_us = event->time_us;
    end->has_begin = true;
    return ((double)event->time_us - (double)end->begin_us) / 1e6 >= at->seconds;
}

bool fl_trace_is_behind(const fl_trace *trace, fl_trace_device *device, const fl_event *event)
{
    const fl_columns *columns = &device->columns;
    if (device->end.behind.events > 0)
        return true;
    device->end.is_reached = end_is_reached(trace, device, event);
    if (!device->end.is_reached || columns->count == 0)
        return false;
    bool is_new_op = columns->kind[columns->count - 1] == FL_OP_ALLOC || event->kind == FL_OP_FREE;
    return trace->format == FL_FORMAT_SCRIPT || is_new_op;
}

static void note_bytes(uint64_t *sum, uint64_t bytes)
{
    if (!fl_add(*sum, bytes, sum))
        *sum = UINT64_MAX;
}

static void note_segment(fl_trace_end *end, const fl_event *event)
{
    bool adds = event->kind == FL_EVENT_SEGMENT_ALLOC || event->kind == FL_EVENT_SEGMENT_MAP;
    note_bytes(adds ? &end->added_bytes : &end->returned_bytes, event->size);
    end->behind.gives_back |= !adds;
    if (end->added_bytes > end->returned_bytes &&
        end->added_bytes - end->returned_bytes > end->behind.grown_bytes)
        end->behind.grown_bytes = end->added_bytes - end->returned_bytes;
}

/* What tells of the card. */
static void note_card(fl_trace_end *end, const fl_event *event)
{
    fl_behind *behind = &end->behind;
    if (fl_kind_is_segment(event->kind))
        note_segment(end, event);
    if (!is_refusal(event) || behind->has_refusal)
        return;
    behind->has_refusal = true;
    behind->refused_bytes = event->size;
    behind->free_bytes = event->address;
    behind->added_bytes = end->added_bytes;
    behind->returned_bytes = end->returned_bytes;
}

static bool is_of(const fl_table *ids, const fl_undo_event *event)
{
    return event->kind < FL_OP_KIND_COUNT && event->id != FL_NONE &&
           fl_table_get(ids, event->id) != FL_TABLE_EMPTY;
}

/* Drops the blocks that came and went behind the end. */
static fl_status log_settle(const fl_host *host, fl_trace_end *end, fl_error *error)
{
    fl_table gone = {0};
    fl_status status = FL_OK;
    for (size_t i = 0; i < end->log.count && status == FL_OK; i++) {
        const fl_undo_event *event = &end->log.items[i];
        bool ends = event->kind == FL_OP_FREE_DONE && event->id != FL_NONE;
        if (ends && event->id >= end->first_id && !fl_table_set(host, &gone, event->id, 1, error))
            status = FL_ERR_RESOURCE;
    }
    size_t kept = 0;
    for (size_t i = 0; i < end->log.count && status == FL_OK; i++)
        if (!is_of(&gone, &end->log.items[i]))
            end->log.items[kept++] = end->log.items[i];
    if (status == FL_OK)
        end->log.count = end->settled = kept;
    fl_table_deinit(host, &gone);
    return status;
}

#define LOG_LEAST 4096 /* events that are not worth looking through */

static fl_status log_add(const fl_host *host, fl_trace_end *end, uint64_t number,
                         const fl_event *event, fl_error *error)
{
    if (end->log.count > 2 * end->settled + LOG_LEAST) {
        fl_status status = log_settle(host, end, error);
        if (status != FL_OK)
            return status;
    }
    if (!fl_vector_reserve(host, &end->log, 1, error))
        return FL_ERR_RESOURCE;
    end->log.items[end->log.count++] = (fl_undo_event){
        .address = event->address,
        .size = event->size,
        .id = event->id,
        .stream = event->stream,
        .pool = event->pool,
        .stack = event->stack,
        .event = number,
        .kind = event->kind,
        .flags = event->flags,
    };
    return FL_OK;
}

/* Events out of order are put in order, or left out, by the times of all. */
static void note_time(const fl_columns *columns, fl_trace_end *end, const fl_event *event)
{
    if (end->behind.events == 0)
        end->last_us =
            columns->time_us != NULL ? columns->time_us[columns->count - 1] : FL_TIME_UNKNOWN;
    end->goes_back |= event->time_us < end->last_us;
    end->last_us = event->time_us;
}

fl_status fl_trace_add_behind(fl_trace *trace, fl_trace_device *device, const fl_event *event,
                              fl_error *error)
{
    fl_trace_end *end = &device->end;
    bool is_placing = event->kind == FL_OP_ALLOC && !is_refusal(event);
    bool is_ending = event->kind == FL_OP_FREE || event->kind == FL_OP_FREE_DONE;
    if (end->behind.events == 0)
        end->first_id = event->kind == FL_OP_ALLOC ? event->id : device->alloc_count;
    note_time(&device->columns, end, event);
    end->kinds |= UINT64_C(1) << event->kind;
    uint64_t number = device->columns.count + end->behind.events++;
    note_card(end, event);
    if (trace->format == FL_FORMAT_SCRIPT)
        return FL_OK;
    return is_placing || is_ending || fl_kind_is_segment(event->kind)
               ? log_add(trace->host, end, number, event, error)
               : FL_OK;
}

/* ---- in the end ------------------------------------------------------------------------------ */

static void drop_names(fl_trace_device *device)
{
    uint32_t count = device->end.first_id;
    device->alloc_count = count;
    if (device->originals.count > count)
        device->originals.count = count;
    if (device->categories.count > count)
        device->categories.count = count;
    struct fl_note_vector *notes = &device->notes;
    while (notes->count > 0 && notes->items[notes->count - 1].event >= device->columns.count)
        notes->count--;
}

static int compare_block(const void *key, const void *item)
{
    uint64_t address = *(const uint64_t *)key, at = ((const fl_block_view *)item)->address;
    return address < at ? -1 : address > at;
}

/* Who frees the blocks of the range: the notes of that, by address. */
static bool find_frees(const fl_host *host, const fl_trace_end *end, fl_table *frees,
                       fl_error *error)
{
    for (size_t i = 0; i < end->log.count; i++) {
        const fl_undo_event *event = &end->log.items[i];
        bool is_kept = event->id == FL_NONE || event->id < end->first_id;
        if (event->kind == FL_OP_FREE && is_kept &&
            !fl_table_set(host, frees, event->address, (uint32_t)i, error))
            return false;
    }
    return true;
}

struct fate {
    uint32_t stack;
    uint64_t free;
};

/* The file tells with the free of a block where it was allocated, and else in its final state. */
static struct fate fate_of(const fl_trace_device *device, const fl_table *frees,
                           const fl_block_view *block)
{
    const struct fl_block_vector *blocks = &device->blocks;
    uint32_t at = fl_table_get(frees, block->address);
    if (at != FL_TABLE_EMPTY)
        return (struct fate){device->end.log.items[at].stack, device->end.log.items[at].event};
    const fl_block_view *found =
        blocks->count == 0
            ? NULL
            : bsearch(&block->address, blocks->items, blocks->count, sizeof *block, compare_block);
    uint32_t stack = found != NULL ? device->block_stacks.items[found - blocks->items] : FL_NONE;
    return (struct fate){stack, UINT64_MAX};
}

struct state {
    struct fl_segment_vector segments;
    struct fl_block_vector blocks;
    struct fl_u32_vector stacks;
    struct fl_u64_vector frees;
};

static void state_deinit(const fl_host *host, struct state *state)
{
    fl_vector_deinit(host, &state->segments);
    fl_vector_deinit(host, &state->blocks);
    fl_vector_deinit(host, &state->stacks);
    fl_vector_deinit(host, &state->frees);
}

static bool state_fill(struct state *state, const fl_undo *undo, const fl_table *frees,
                       fl_error *error)
{
    const fl_host *host = undo->host;
    size_t count = undo->active.count;
    if (!fl_undo_runs(undo, &state->segments) ||
        !fl_vector_reserve(host, &state->blocks, count, error) ||
        !fl_vector_reserve(host, &state->stacks, count, error) ||
        !fl_vector_reserve(host, &state->frees, count, error))
        return false;
    const fl_block_view *block;
    for (uint64_t from = 0; (block = fl_undo_next_block(undo, from, &from)) != NULL;) {
        struct fate fate = fate_of(undo->device, frees, block);
        state->blocks.items[state->blocks.count++] = *block;
        state->stacks.items[state->stacks.count++] = fate.stack;
        state->frees.items[state->frees.count++] = fate.free;
    }
    for (size_t i = 0; i < state->segments.count; i++)
        state->segments.items[i].segment = (uint32_t)i;
    return true;
}

/* What `undo` has come to becomes the final state of the device. */
static fl_status state_take(const fl_undo *undo, fl_trace_device *device, fl_error *error)
{
    struct state state = {.segments = {0}};
    fl_table frees = {0};
    bool has_room = find_frees(undo->host, &device->end, &frees, error) &&
                    state_fill(&state, undo, &frees, error);
    fl_table_deinit(undo->host, &frees);
    if (has_room) {
        struct state old = {device->segments, device->blocks, device->block_stacks,
                            device->block_frees};
        device->segments = state.segments;
        device->blocks = state.blocks;
        device->block_stacks = state.stacks;
        device->block_frees = state.frees;
        state = old;
    }
    state_deinit(undo->host, &state);
    return has_room ? FL_OK : FL_ERR_RESOURCE;
}

/* No block of those behind the end is left. */
static bool names_are_kept(const fl_undo *undo)
{
    uint32_t count = undo->device->end.first_id;
    const fl_block_view *block;
    for (uint64_t from = 0; (block = fl_undo_next_block(undo, from, &from)) != NULL;)
        if (block->id != FL_NONE && block->id >= count)
            return false;
    return true;
}

static fl_status log_undo(const fl_host *host, fl_trace_device *device, bool *ret_is_undone,
                          fl_error *error)
{
    const struct fl_undo_event_vector *log = &device->end.log;
    fl_undo undo = {.host = host, .device = device, .error = error};
    bool has_room = fl_undo_begin(&undo);
    for (size_t i = log->count; has_room && !fl_undo_is_broken(&undo) && i-- > 0;)
        has_room = fl_undo_one(&undo, &log->items[i]);
    *ret_is_undone =
        has_room && !fl_undo_is_broken(&undo) && !fl_undo_is_open(&undo) && names_are_kept(&undo);
    fl_status status = has_room ? FL_OK : FL_ERR_RESOURCE;
    if (*ret_is_undone)
        status = state_take(&undo, device, error);
    fl_undo_deinit(&undo);
    return status;
}

/* Which kinds were left out while recording shows in the whole of the events only. */
static bool has_all_kinds(const fl_trace_device *device)
{
    uint64_t kinds = device->end.kinds;
    for (uint64_t i = 0; i < device->columns.count; i++)
        kinds |= UINT64_C(1) << device->columns.kind[i];
    bool has_alloc = kinds >> FL_OP_ALLOC & 1, has_free = kinds >> FL_OP_FREE & 1;
    bool has_done = kinds >> FL_OP_FREE_DONE & 1;
    return has_free == has_done && (has_alloc || !has_done);
}

fl_status fl_trace_finish_behind(fl_trace *trace, fl_trace_device *device, fl_error *error)
{
    bool is_undone = true;
    fl_status status = FL_OK;
    if (device->end.behind.events == 0)
        return FL_OK;
    drop_names(device);
    if (device->has_final_state)
        status = log_undo(trace->host, device, &is_undone, error);
    fl_vector_deinit(trace->host, &device->end.log);
    bool is_plain =
        trace->format == FL_FORMAT_SCRIPT || (!device->end.goes_back && has_all_kinds(device));
    trace->needs_whole |= trace->has_ops || !is_undone || !is_plain;
    return status;
}
