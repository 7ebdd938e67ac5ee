/* One pass over the events keeps what is live and what is mapped, as the record has it.
 *
 * It is run where a replay came out another way or could not run: a record that contradicts itself
 * is told by the contradiction, not by what a replay made of it.  In a complete window everything
 * is known; in a cut one only what the window itself shows, so there less is found. */
#include "rebuild/check.h"

#include "base/checked.h"
#include "base/extents.h"
#include "base/memory.h"

#include <fraglab/units.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* No allocator that PyTorch can be given returns less aligned memory, and blocks lie at multiples
 * of 512 behind the begin of theirs (section 2 of docs/allocator-rules.md). */
#define LEAST_ALIGNMENT 16

/* What is known of an allocation. */
struct check_block {
    uint64_t size;
    bool is_live, is_asked, is_counted;
};

struct checking {
    const fl_host *host;
    const fl_trace *trace;
    const fl_trace_device *device;
    const fl_columns *columns;
    size_t number;     /* of the device */
    fl_extents live;   /* owner: the allocation */
    fl_extents memory; /* mapped by events, and what was there before */
    struct check_block *blocks;
    uint32_t block_count;
    bool knows_start; /* nothing was there before but what `live` and `memory` begin with */
    bool has_whole_frees;
    bool lacks_ends, lacks_returns; /* of blocks, of memory */
    uint64_t event;
    fl_record_faults *faults;
    fl_error *error;
};

/* ---- counting -------------------------------------------------------------------------------- */

static void note_fault(struct checking *checking, fl_decision decision, uint32_t id,
                       const char *expected, const char *got, const char *format, ...)
    FL_PRINTF(6, 7);

/* An allocation counts once. */
static void note_fault(struct checking *checking, fl_decision decision, uint32_t id,
                       const char *expected, const char *got, const char *format, ...)
{
    fl_record_faults *faults = checking->faults;
    if (id < checking->block_count) {
        if (checking->blocks[id].is_counted)
            return;
        checking->blocks[id].is_counted = true;
    }
    faults->counts[decision]++;
    if (faults->has_first && faults->first.event <= checking->event)
        return;
    va_list args;
    fl_difference *first = &faults->first;
    faults->has_first = true;
    *first = (fl_difference){.event = checking->event};
    snprintf(first->expected, sizeof first->expected, "%s", expected);
    snprintf(first->got, sizeof first->got, "%s", got);
    va_start(args, format);
    int used = snprintf(first->because, sizeof first->because, "the record contradicts itself: ");
    vsnprintf(first->because + used, sizeof first->because - (size_t)used, format, args);
    va_end(args);
}

struct words {
    char text[120];
};

static struct words range_words(const char *what, uint64_t address, uint64_t size)
{
    struct words words;
    snprintf(words.text, sizeof words.text, "%s of %" PRIu64 " bytes at 0x%" PRIx64, what, size,
             address);
    return words;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool set_live(struct checking *checking, uint32_t id, uint64_t address, uint64_t size)
{
    fl_extent extent = {address, size > 0 ? size : 1, id};
    if (fl_extents_overlap(&checking->live, address, extent.size))
        return true;
    checking->blocks[id].is_live = true;
    return fl_extents_insert(checking->host, &checking->live, extent, checking->error);
}

static bool check_alloc(struct checking *checking, uint32_t id, uint64_t address, uint64_t size)
{
    struct words asked = range_words("allocation", address, size);
    fl_extent other;
    checking->blocks[id].size = size;
    if (size == 0)
        note_fault(checking, FL_DECISION_ADDRESS, id, "no entry", asked.text,
                   "a request of 0 bytes never reaches the allocator");
    if (address % LEAST_ALIGNMENT != 0)
        note_fault(checking, FL_DECISION_ADDRESS, id, "an address that can be a block's",
                   asked.text, "no block lies at such an address");
    uint64_t last = size > 0 ? size - 1 : 0;
    bool overlaps = fl_extents_overlap(&checking->live, address, last + 1) &&
                    fl_extents_floor(&checking->live, address + last, &other);
    if (overlaps && !checking->lacks_ends)
        note_fault(checking, FL_DECISION_ADDRESS, id, "a place that is free", asked.text,
                   "the block at 0x%" PRIx64 " of %" PRIu64 " bytes was still live", other.address,
                   other.size);
    fl_extent run;
    bool has_memory =
        fl_extents_floor(&checking->memory, address, &run) && address - run.address < run.size;
    if (checking->knows_start && !checking->lacks_returns && !has_memory)
        note_fault(checking, FL_DECISION_ADDRESS, id, "a place in mapped memory", asked.text,
                   "no memory was there");
    return set_live(checking, id, address, size);
}

static void end_block(struct checking *checking, uint32_t id, uint64_t address)
{
    fl_extent extent;
    if (fl_extents_floor(&checking->live, address, &extent) && extent.address == address &&
        extent.owner == id)
        fl_extents_remove(&checking->live, address, NULL);
    checking->blocks[id].is_live = false;
}

static void check_end(struct checking *checking, uint32_t id, uint64_t address, uint64_t size,
                      bool is_done)
{
    struct words freed = range_words(is_done ? "completed free" : "free", address, size);
    if (id >= checking->block_count) {
        if (checking->knows_start)
            note_fault(checking, FL_DECISION_ADDRESS, id, "a block that is live", freed.text,
                       "nothing that was allocated lay there");
        return;
    }
    struct check_block *block = &checking->blocks[id];
    if (!checking->knows_start && id >= checking->device->start.first_id)
        return; /* it was there before */
    if (size != block->size)
        note_fault(checking, FL_DECISION_ADDRESS, id, "the size that was asked for", freed.text,
                   "%" PRIu64 " bytes were asked for", block->size);
    if (!block->is_live || (!is_done && block->is_asked))
        note_fault(checking, FL_DECISION_ADDRESS, id, "a block that is live", freed.text,
                   "it was freed before");
    if (is_done && !block->is_asked)
        note_fault(checking, FL_DECISION_ADDRESS, id, "a block that was freed", freed.text,
                   "nobody asked for that free");
    block->is_asked = true;
    if (is_done || checking->has_whole_frees)
        end_block(checking, id, address);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool add_memory(struct checking *checking, uint64_t address, uint64_t size)
{
    fl_extent extent = {address, size, 0};
    return size == 0 || fl_extents_overlap(&checking->memory, address, size) ||
           fl_extents_insert(checking->host, &checking->memory, extent, checking->error);
}

static bool check_taken(struct checking *checking, uint64_t address, uint64_t size)
{
    struct words memory = range_words("memory", address, size);
    if (size == 0)
        note_fault(checking, FL_DECISION_SEGMENT, FL_NONE, "memory of some size", memory.text,
                   "a step with the device of 0 bytes");
    else if (!checking->lacks_returns && fl_extents_overlap(&checking->memory, address, size))
        note_fault(checking, FL_DECISION_SEGMENT, FL_NONE, "memory where none is", memory.text,
                   "other memory was there already");
    return add_memory(checking, address, size);
}

static bool check_returned(struct checking *checking, uint64_t address, uint64_t size)
{
    struct words memory = range_words("memory", address, size);
    fl_extent block;
    uint64_t taken = 0;
    if (size > 0 &&
        !fl_extents_take(checking->host, &checking->memory, address, size, &taken, checking->error))
        return false;
    if (checking->knows_start && taken < size)
        note_fault(checking, FL_DECISION_SEGMENT, FL_NONE, "memory that is there", memory.text,
                   "given back, but not there");
    else if (size > 0 && !checking->lacks_ends &&
             fl_extents_overlap(&checking->live, address, size) &&
             fl_extents_floor(&checking->live, address + size - 1, &block))
        note_fault(checking, FL_DECISION_SEGMENT, FL_NONE, "memory without a live block",
                   memory.text, "given back with the block at 0x%" PRIx64 " in it", block.address);
    return true;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool check_event(struct checking *checking, uint64_t i)
{
    const fl_columns *columns = checking->columns;
    uint64_t address = columns->address != NULL ? columns->address[i] : 0;
    uint64_t size = columns->size[i];
    uint32_t id = columns->id[i];
    uint64_t end;
    checking->event = i;
    if (!fl_add(address, size, &end) || fl_trace_is_unwritten(checking->trace, columns, i))
        return true; /* readers let no such range pass; nothing was recorded */
    switch (columns->kind[i]) {
    case FL_OP_ALLOC:
        checking->faults->all[FL_DECISION_ADDRESS]++;
        return (columns->flags[i] & FL_EVENT_OOM) != 0 || id >= checking->block_count ||
               check_alloc(checking, id, address, size);
    case FL_OP_FREE:
    case FL_OP_FREE_DONE:
        check_end(checking, id, address, size, columns->kind[i] == FL_OP_FREE_DONE);
        return true;
    case FL_EVENT_SEGMENT_ALLOC:
    case FL_EVENT_SEGMENT_MAP:
        checking->faults->all[FL_DECISION_SEGMENT]++;
        return check_taken(checking, address, size);
    case FL_EVENT_SEGMENT_FREE:
    case FL_EVENT_SEGMENT_UNMAP:
        checking->faults->all[FL_DECISION_SEGMENT]++;
        return check_returned(checking, address, size);
    default:
        return true;
    }
}

static bool check_begin(struct checking *checking)
{
    const fl_trace_start *start = &checking->device->start;
    bool has_room = true;
    for (size_t i = 0; i < start->segments.count && has_room; i++)
        has_room =
            add_memory(checking, start->segments.items[i].address, start->segments.items[i].size);
    for (size_t i = 0; i < start->in_use.count && has_room; i++) {
        const fl_block_view *block = &start->in_use.items[i];
        checking->blocks[block->id].size = block->requested;
        checking->blocks[block->id].is_asked = block->state == FL_BLOCK_PENDING;
        has_room = set_live(checking, block->id, block->address,
                            block->size > 0 ? block->size : block->requested);
    }
    return has_room;
}

/* ---- what the reader and the walk back have found -------------------------------------------- */

static void note_break(struct checking *checking)
{
    static const struct {
        fl_decision decision;
        const char *what, *expected, *because;
    } rows[] = {
        [FL_BREAK_RUN_TWICE] = {FL_DECISION_SEGMENT, "memory", "memory that does not overlap",
                                "later, other memory is there without having come in between"},
        [FL_BREAK_RUN_MISSING] = {FL_DECISION_SEGMENT, "memory", "memory that stays or goes",
                                  "no later event gives it back, and it is not in the final state"},
        [FL_BREAK_RUN_IN_USE] = {FL_DECISION_SEGMENT, "memory", "memory without blocks",
                                 "a block lay there before the memory came"},
        [FL_BREAK_BLOCK_TWICE] = {FL_DECISION_ADDRESS, "block", "blocks that do not overlap",
                                  "another block is live there until later"},
        [FL_BREAK_BLOCK_MISSING] = {FL_DECISION_ADDRESS, "block", "a block that stays or goes",
                                    "no later event frees it, and it is not in the final state"},
        [FL_BREAK_BLOCK_OTHER] = {FL_DECISION_ADDRESS, "block", "the same block later on",
                                  "later it has another size, or was freed before"},
        [FL_BREAK_BLOCK_OUTSIDE] = {FL_DECISION_FINAL_STATE, "block", "a block in mapped memory",
                                    "no memory was there"},
    };
    const fl_break *broken = &checking->device->start.broken;
    if (broken->kind == FL_BREAK_NONE || checking->device->unrecorded != 0)
        return;
    bool is_end = broken->event == checking->columns->count;
    fl_decision decision = is_end ? FL_DECISION_FINAL_STATE : rows[broken->kind].decision;
    struct words got = range_words(rows[broken->kind].what, broken->address, broken->size);
    checking->event = broken->event;
    note_fault(checking, decision, FL_NONE, rows[broken->kind].expected, got.text, "%s",
               rows[broken->kind].because);
}

static void note_final_state(struct checking *checking)
{
    const fl_trace_device *device = checking->device;
    fl_record_faults *faults = checking->faults;
    faults->all[FL_DECISION_FINAL_STATE] = device->shown_parts;
    if (device->impossible_parts == 0)
        return;
    checking->event = checking->columns->count;
    note_fault(checking, FL_DECISION_FINAL_STATE, FL_NONE,
               "a state of segments that their blocks "
               "fill",
               "one that cannot be", "%s", checking->trace->texts.items[device->impossible]);
    faults->counts[FL_DECISION_FINAL_STATE] += device->impossible_parts - 1;
}

/* Events out of order seem to contradict each other. */
static void drop_faults(fl_record_faults *faults)
{
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        faults->counts[i] = 0;
    faults->has_first = false;
}

static bool check_all(struct checking *checking)
{
    bool has_room = check_begin(checking);
    for (uint64_t i = 0; i < checking->columns->count && has_room; i++)
        has_room = check_event(checking, i);
    if (!has_room)
        return false;
    if (checking->device->is_disordered)
        drop_faults(checking->faults);
    else
        note_break(checking);
    note_final_state(checking);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        if (checking->faults->all[i] < checking->faults->counts[i])
            checking->faults->all[i] = checking->faults->counts[i];
    return true;
}

static bool leaves_out(const fl_trace_device *device, uint8_t kind)
{
    return (device->unrecorded >> kind & 1) != 0;
}

/* `asked` has room for `count` numbers. */
static bool find_other_free(const fl_trace *trace, const fl_columns *columns, uint64_t *asked,
                            uint32_t count)
{
    for (uint64_t i = 0; i < columns->count; i++) {
        uint8_t kind = columns->kind[i];
        uint32_t id = columns->id[i];
        if (id >= count || fl_trace_is_unwritten(trace, columns, i))
            continue;
        if (kind == FL_OP_ALLOC)
            asked[id] = columns->size[i];
        if ((kind == FL_OP_FREE || kind == FL_OP_FREE_DONE) && columns->size[i] != asked[id])
            return true;
    }
    return false;
}

fl_status fl_check_frees(const fl_trace *trace, size_t device, const fl_host *host, bool *ret_fits,
                         fl_error *error)
{
    uint32_t count = fl_trace_alloc_count(trace, device);
    uint64_t *asked = fl_new(host, count * sizeof *asked, error);
    if (asked == NULL)
        return FL_ERR_RESOURCE;
    const fl_trace_start *start = &trace->devices.items[device].start;
    for (size_t i = 0; i < start->in_use.count; i++)
        asked[start->in_use.items[i].id] = start->in_use.items[i].requested;
    *ret_fits = !find_other_free(trace, fl_trace_columns(trace, device), asked, count);
    fl_delete(host, asked, count * sizeof *asked);
    return FL_OK;
}

fl_status fl_check_record(const fl_trace *trace, size_t device, const fl_host *host,
                          fl_record_faults *ret_faults, fl_error *error)
{
    const fl_trace_device *of = &trace->devices.items[device];
    fl_record_faults faults = {0};
    size_t size = of->alloc_count * sizeof(struct check_block);
    struct checking checking = {
        .host = host,
        .trace = trace,
        .device = of,
        .columns = &of->columns,
        .blocks = fl_new(host, size, error),
        .block_count = of->alloc_count,
        .knows_start = (of->is_complete || of->start.is_known) && !leaves_out(of, FL_OP_ALLOC),
        .lacks_ends = leaves_out(of, FL_OP_FREE) && leaves_out(of, FL_OP_FREE_DONE),
        .has_whole_frees = fl_trace_has_whole_frees(of),
        .lacks_returns = (of->unrecorded >> FL_EVENT_SEGMENT_ALLOC) != 0,
        .faults = &faults,
        .error = error,
    };
    if (checking.blocks == NULL)
        return FL_ERR_RESOURCE;
    bool is_done = check_all(&checking);
    fl_extents_deinit(host, &checking.live);
    fl_extents_deinit(host, &checking.memory);
    fl_delete(host, checking.blocks, size);
    if (!is_done)
        return FL_ERR_RESOURCE;
    *ret_faults = faults;
    return FL_OK;
}
