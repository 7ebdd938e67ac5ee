/* Is a window complete, that is, did the allocator own nothing before its first event?
 *
 * A walk back from the final state undoes the events, last to first, and looks at what is left.
 * Only the sum is asked for, so nothing has to be kept in order: a mapped range counts +1 at its
 * start and -1 at its end, taking it away counts the reverse, and what is left is nothing exactly
 * where every count is 0.  Counts that reach 0 leave the table, so it holds no more than what is
 * mapped at one time.  Blocks are told apart by their numbers: one without was there before. */
#include "trace/build.h"

#include "base/memory.h"

#define COUNT_ZERO 0x80000000u

typedef struct walk_back {
    const fl_host *host;
    fl_table edges;
    fl_error *error;
} walk_back;

static bool edge_count(walk_back *walk, uint64_t address, bool is_up)
{
    uint32_t count = fl_table_get(&walk->edges, address);
    if (count == FL_TABLE_EMPTY)
        count = COUNT_ZERO;
    count = is_up ? count + 1 : count - 1;
    if (count == COUNT_ZERO) {
        fl_table_take(&walk->edges, address);
        return true;
    }
    return fl_table_set(walk->host, &walk->edges, address, count, walk->error);
}

/* A range appears or goes; the end of a range may wrap, which only means that it does not match. */
static bool range_count(walk_back *walk, uint64_t address, uint64_t size, bool appears)
{
    return edge_count(walk, address, appears) && edge_count(walk, address + size, !appears);
}

static bool undo_memory(walk_back *walk, const fl_columns *columns)
{
    for (uint64_t i = columns->count; i-- > 0;) {
        uint8_t kind = columns->kind[i];
        bool taken = kind == FL_EVENT_SEGMENT_ALLOC || kind == FL_EVENT_SEGMENT_MAP;
        bool given = kind == FL_EVENT_SEGMENT_FREE || kind == FL_EVENT_SEGMENT_UNMAP;
        uint64_t address = columns->address != NULL ? columns->address[i] : 0;
        if ((taken || given) && !range_count(walk, address, columns->size[i], given))
            return false;
    }
    return true;
}

/* Do the blocks of the window account for each other and for the final ones? */
static bool blocks_match(const fl_trace *trace, const fl_trace_device *device)
{
    const fl_columns *columns = &device->columns;
    bool has_whole_frees = fl_trace_has_whole_frees(device);
    uint64_t live = 0;
    for (uint64_t i = 0; i < columns->count; i++) {
        uint8_t kind = columns->kind[i];
        if (fl_trace_is_unwritten(trace, columns, i))
            continue;
        if (kind == FL_OP_ALLOC && (columns->flags[i] & FL_EVENT_OOM) == 0)
            live++;
        bool is_end = kind == FL_OP_FREE_DONE || (kind == FL_OP_FREE && has_whole_frees);
        if (is_end && (columns->id[i] == FL_NONE || live-- == 0))
            return false;
    }
    for (size_t i = 0; i < device->blocks.count; i++) {
        const fl_block_view *block = &device->blocks.items[i];
        if (block->state != FL_BLOCK_FREE && (block->id == FL_NONE || live-- == 0))
            return false;
    }
    return live == 0;
}

/* Without a final state: nothing is freed that was not seen to come, and memory came first. */
static bool starts_from_nothing(const fl_columns *columns)
{
    bool has_memory = false;
    for (uint64_t i = 0; i < columns->count; i++) {
        uint8_t kind = columns->kind[i];
        bool is_free = kind == FL_OP_FREE || kind == FL_OP_FREE_DONE;
        bool is_alloc = kind == FL_OP_ALLOC && (columns->flags[i] & FL_EVENT_OOM) == 0;
        bool gives = kind == FL_EVENT_SEGMENT_FREE || kind == FL_EVENT_SEGMENT_UNMAP;
        has_memory |= kind == FL_EVENT_SEGMENT_ALLOC || kind == FL_EVENT_SEGMENT_MAP;
        if ((is_free && columns->id[i] == FL_NONE) || ((is_alloc || gives) && !has_memory))
            return false;
    }
    return true;
}

fl_status fl_trace_judge_window(const fl_trace *trace, const fl_trace_device *device,
                                bool *ret_complete, fl_error *error)
{
    bool is_told = device->start.segments.count > 0; /* that something was there */
    if (is_told || trace->format == FL_FORMAT_SCRIPT || !device->has_final_state) {
        *ret_complete = !is_told && (trace->format == FL_FORMAT_SCRIPT ||
                                     starts_from_nothing(&device->columns));
        return FL_OK;
    }
    walk_back walk = {.host = trace->host, .error = error};
    bool fits = true;
    for (size_t i = 0; fits && i < device->segments.count; i++) {
        const fl_segment_view *segment = &device->segments.items[i];
        fits = range_count(&walk, segment->address, segment->size, true);
    }
    fits = fits && undo_memory(&walk, &device->columns);
    if (fits)
        *ret_complete = walk.edges.count == 0 && blocks_match(trace, device);
    fl_table_deinit(trace->host, &walk.edges);
    return fits ? FL_OK : FL_ERR_RESOURCE;
}
