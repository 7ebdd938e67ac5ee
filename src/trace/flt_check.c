/* Is what a .flt file says possible?
 *
 * The readers of other formats make sure of what the rest relies on: numbers are those of something
 * that is there, requests are numbered in their order, states tile their segments.  A .flt is used
 * as it lies, so the same is asked of it here, in one pass over the events. */
#include "trace/flt.h"

#include "base/checked.h"

#include <string.h>

/* What an event's id is. */
enum { ID_NOTHING, ID_REQUEST, ID_ALLOC, ID_TEXT };

/* What a kind of event may have. */
typedef struct check_rule {
    uint8_t is_known, id, flags; /* fl_event.flags; FL_EVENT_INSERTED any event may have */
    uint8_t needs_stream, needs_pool, has_range;
} check_rule;

static const check_rule rules[FL_EVENT_KIND_END] = {
    [FL_OP_ALLOC] = {1, ID_REQUEST, FL_OP_AT | FL_EVENT_OOM, 1, 0, 1},
    [FL_OP_FREE] = {1, ID_ALLOC, FL_OP_HELD, 0, 0, 1},
    [FL_OP_USE] = {1, ID_ALLOC, 0, 1, 0, 0},
    [FL_OP_SCOPE_BEGIN] = {1, ID_NOTHING, FL_OP_CAPTURE | FL_OP_NO_SPLIT | FL_OP_USE_ON_OOM, 0, 1,
                           0},
    [FL_OP_SCOPE_END] = {1, ID_NOTHING, 0, 0, 1, 0},
    [FL_OP_POOL_RELEASE] = {1, ID_NOTHING, 0, 0, 1, 0},
    [FL_OP_TRIM] = {1, ID_NOTHING, 0, 0, 0, 0},
    [FL_OP_LIMIT] = {1, ID_NOTHING, FL_OP_BYTES | FL_OP_INFERRED, 0, 0, 0},
    [FL_OP_CONFIGURE] = {1, ID_TEXT, FL_OP_INFERRED, 0, 0, 0},
    [FL_OP_EVENTS_HOLD] = {1, ID_NOTHING, 0, 0, 0, 0},
    [FL_OP_EVENTS_COMPLETE] = {1, ID_NOTHING, 0, 0, 0, 0},
    [FL_OP_FREE_DONE] = {1, ID_ALLOC, FL_EVENT_SILENT, 0, 0, 1},
    [FL_OP_MARK] = {1, ID_TEXT, 0, 0, 0, 0},
    [FL_OP_OUTSIDE] = {1, ID_NOTHING, 0, 0, 0, 0},
    [FL_OP_SHOW_SEGMENTS] = {1, ID_NOTHING, 0, 0, 0, 0},
    [FL_OP_SHOW_COUNTERS] = {1, ID_NOTHING, 0, 0, 0, 0},
    [FL_OP_RESET_PEAKS] = {1, ID_NOTHING, 0, 0, 0, 0},
    [FL_OP_RESET_SUMS] = {1, ID_NOTHING, 0, 0, 0, 0},
    [FL_EVENT_SEGMENT_ALLOC] = {1, ID_NOTHING, 0, 1, 0, 1},
    [FL_EVENT_SEGMENT_FREE] = {1, ID_NOTHING, 0, 1, 0, 1},
    [FL_EVENT_SEGMENT_MAP] = {1, ID_NOTHING, 0, 1, 0, 1},
    [FL_EVENT_SEGMENT_UNMAP] = {1, ID_NOTHING, 0, 1, 0, 1},
    [FL_EVENT_SNAPSHOT] = {1, ID_NOTHING, 0, 0, 0, 0},
    [FL_EVENT_OTHER] = {1, ID_NOTHING, 0, 0, 0, 0},
};

/* ---- events ---------------------------------------------------------------------------------- */

static bool limit_is_valid(uint8_t flags, uint64_t bits)
{
    double fraction;
    if (flags & FL_OP_BYTES)
        return true;
    memcpy(&fraction, &bits, sizeof fraction);
    return fraction >= 0 && fraction <= 1; /* no NaN, either */
}

/* What is wrong with an event, the rarer things; NULL: nothing. */
static const char *check_rare(const fl_trace *trace, const fl_columns *columns, uint64_t i,
                              const check_rule *rule)
{
    uint64_t address = columns->address != NULL ? columns->address[i] : 0, end;
    uint16_t pool = columns->pool != NULL ? columns->pool[i] : FL_NONE16;
    if (rule->needs_pool && (pool == 0 || pool == FL_NONE16))
        return "a scope without a pool";
    if (columns->kind[i] == FL_OP_LIMIT && !limit_is_valid(columns->flags[i], columns->size[i]))
        return "a fraction that is not from 0 to 1";
    if (columns->flags[i] & FL_OP_AT && columns->kind[i] == FL_OP_ALLOC && address == 0)
        return "a request for no address";
    bool is_place = rule->has_range && (columns->flags[i] & FL_EVENT_OOM) == 0;
    if (trace->format == FL_FORMAT_SNAPSHOT && is_place && !fl_add(address, columns->size[i], &end))
        return "an address range beyond 2^64";
    return NULL;
}

/* Are there numbers in an optional column that are no index below `count`?  All ones: none. */
static bool pools_fit(const uint16_t *pools, uint64_t count, size_t limit)
{
    uint16_t most = 0;
    for (uint64_t i = 0; pools != NULL && i < count; i++) {
        uint16_t above = (uint16_t)(pools[i] + 1);
        most = above > most ? above : most;
    }
    return most <= limit;
}

static bool stacks_fit(const uint32_t *stacks, uint64_t count, size_t limit)
{
    uint32_t most = 0;
    for (uint64_t i = 0; stacks != NULL && i < count; i++)
        most = stacks[i] + 1 > most ? stacks[i] + 1 : most;
    return most <= limit;
}

/* An id below its limit, or all ones where there may be none. */
static bool id_fits(uint8_t what, uint32_t id, const uint32_t limits[4])
{
    if (what == ID_REQUEST || what == ID_TEXT)
        return id < limits[what];
    return id == FL_NONE || id < limits[what];
}

/* The number of the next request: those of blocks from before the first event are taken. */
static uint32_t next_request(const fl_trace_start *start, uint64_t before, uint32_t id)
{
    return id == start->first_id ? id + (uint32_t)before : id;
}

const char *fl_flt_check_events(const fl_trace *trace, const fl_trace_device *device,
                                uint64_t before, uint64_t *ret_index)
{
    const fl_columns *columns = &device->columns;
    const fl_trace_start *start = &device->start;
    uint32_t next = next_request(start, before, 0);
    const uint32_t limits[] = {[ID_NOTHING] = 0,
                               [ID_REQUEST] = device->alloc_count,
                               [ID_ALLOC] = device->alloc_count,
                               [ID_TEXT] = (uint32_t)trace->texts.count};
    bool is_snapshot = trace->format == FL_FORMAT_SNAPSHOT;
    *ret_index = 0;
    if (!pools_fit(columns->pool, columns->count, trace->pools.count))
        return "some event has a pool that is not there";
    if (!stacks_fit(columns->stack, columns->count, trace->stack_ends.count))
        return "some event has a stack that is not there";
    for (uint64_t i = 0; i < columns->count; i++) {
        *ret_index = i;
        if (columns->kind[i] >= FL_EVENT_KIND_END || !rules[columns->kind[i]].is_known)
            return "a kind that is not known";
        const check_rule *rule = &rules[columns->kind[i]];
        uint32_t id = columns->id[i];
        uint16_t stream = columns->stream[i];
        if (columns->flags[i] & ~(rule->flags | FL_EVENT_INSERTED))
            return "a flag that means nothing here";
        if (stream >= trace->streams.count && (rule->needs_stream || stream != FL_NONE16))
            return "a stream that is not there";
        if (!id_fits(rule->id, id, limits) || (rule->id == ID_REQUEST && id != next))
            return "a number that is not there";
        if (rule->id == ID_REQUEST)
            next = next_request(start, before, id + 1);
        bool is_rare = rule->needs_pool || columns->kind[i] == FL_OP_LIMIT ||
                       (columns->flags[i] & FL_OP_AT) || (is_snapshot && rule->has_range);
        const char *wrong = is_rare ? check_rare(trace, columns, i, rule) : NULL;
        if (wrong != NULL)
            return wrong;
    }
    return next == device->alloc_count ? NULL : "fewer requests than there are numbers";
}

/* ---- lists beside the events ----------------------------------------------------------------- */

static bool is_text(const fl_trace *trace, uint32_t text)
{
    return text < trace->texts.count;
}

static const char *check_insertion(const fl_trace *trace, const fl_trace_device *device,
                                   const fl_insertion *insertion)
{
    const fl_op *op = &insertion->op;
    const check_rule *rule = op->kind < FL_OP_KIND_COUNT ? &rules[op->kind] : &rules[FL_OP_NONE];
    if (!rule->is_known || rule->id == ID_REQUEST || (op->flags & ~rule->flags))
        return "an inferred operation that is not known";
    if (insertion->event > device->columns.count ||
        (op->id != FL_NONE && op->id >= device->alloc_count) ||
        (rule->id == ID_TEXT && !is_text(trace, op->text)) ||
        (op->stream >= trace->streams.count && (rule->needs_stream || op->stream != FL_NONE)) ||
        (op->pool >= trace->pools.count && op->pool != FL_NONE) ||
        (rule->needs_pool && (op->pool == 0 || op->pool == FL_NONE)) ||
        (op->kind == FL_OP_LIMIT && !limit_is_valid(op->flags, op->size)))
        return "an inferred operation with a number that is not there";
    return NULL;
}

const char *fl_flt_check_lists(const fl_trace *trace, const fl_trace_device *device)
{
    uint64_t last = 0;
    if (device->originals.count > device->alloc_count ||
        device->categories.count > device->alloc_count)
        return "names of more allocations than there are";
    for (size_t i = 0; i < device->categories.count; i++)
        if (device->categories.items[i] != FL_NONE && !is_text(trace, device->categories.items[i]))
            return "a category without a text";
    for (size_t i = 0; i < device->insertions.count; i++) {
        const fl_insertion *insertion = &device->insertions.items[i];
        const char *wrong = check_insertion(trace, device, insertion);
        if (wrong != NULL || insertion->event < last)
            return wrong != NULL ? wrong : "inferred operations out of order";
        last = insertion->event;
    }
    last = 0;
    for (size_t i = 0; i < device->notes.count; i++) {
        const fl_note *note = &device->notes.items[i];
        if (note->event >= device->columns.count || note->event < last ||
            !is_text(trace, note->text))
            return "notes of no event, or out of order";
        last = note->event;
    }
    return NULL;
}

const char *fl_flt_check_tables(const fl_trace *trace)
{
    const struct fl_pool_vector *pools = &trace->pools;
    if (trace->texts.count >= FL_NONE || trace->streams.count > FL_NONE16 ||
        pools->count > FL_NONE16 || trace->stack_ends.count >= FL_NONE)
        return "a table with too many entries";
    if (pools->count == 0 || pools->items[0].first != 0 || pools->items[0].second != 0)
        return "the first pool is not the default one";
    if ((trace->conf != FL_NONE && !is_text(trace, trace->conf)) ||
        (trace->release != FL_NONE && !is_text(trace, trace->release)))
        return "settings or a release without a text";
    for (size_t i = 0; i < trace->frames.count; i++)
        if (!is_text(trace, trace->frames.items[i].name) ||
            !is_text(trace, trace->frames.items[i].file))
            return "a frame without a text";
    uint64_t end = 0;
    for (size_t i = 0; i < trace->stack_ends.count; i++) {
        if (trace->stack_ends.items[i] < end)
            return "a stack that ends before it begins";
        end = trace->stack_ends.items[i];
    }
    if (end != trace->stack_frames.count)
        return "stacks that do not end with their frames";
    for (size_t i = 0; i < trace->stack_frames.count; i++)
        if (trace->stack_frames.items[i] >= trace->frames.count)
            return "a stack with a frame that is not there";
    for (size_t i = 0; i < trace->warnings.count; i++)
        if (!is_text(trace, trace->warnings.items[i]))
            return "a warning without a text";
    return NULL;
}

/* ---- states ---------------------------------------------------------------------------------- */

static const char *check_segments(const fl_trace *trace, const struct fl_segment_vector *segments)
{
    uint64_t end = 0;
    for (size_t i = 0; i < segments->count; i++) {
        const fl_segment_view *segment = &segments->items[i];
        if (segment->stream >= trace->streams.count || segment->pool >= trace->pools.count)
            return "a segment with a stream or pool that is not there";
        bool ascends = i == 0 || (segment->address > segments->items[i - 1].address &&
                                  segment->address >= end);
        if (!ascends || !fl_add(segment->address, segment->size, &end))
            return "segments that overlap or do not ascend";
    }
    return NULL;
}

/* Do the blocks lie one behind the other and fill the segments? */
static const char *check_tiles(const struct fl_segment_vector *segments,
                               const struct fl_block_vector *blocks)
{
    size_t at = 0;
    for (size_t i = 0; i < segments->count; i++) {
        uint64_t left = segments->items[i].size, address = segments->items[i].address;
        for (; left > 0 && at < blocks->count; at++) {
            const fl_block_view *block = &blocks->items[at];
            if (block->address != address || block->size > left)
                return "blocks that do not fill their segment";
            address += block->size;
            left -= block->size;
        }
        /* Blocks without a size, as hostile files of other formats have them, belong to it, too. */
        for (; at < blocks->count && blocks->items[at].size == 0 &&
               blocks->items[at].address == address;
             at++) {
        }
        if (left > 0)
            return "blocks that do not fill their segment";
    }
    return at == blocks->count ? NULL : "blocks outside of every segment";
}

const char *fl_flt_check_final(const fl_trace *trace, const fl_trace_device *device)
{
    if (!device->has_final_state)
        return device->segments.count == 0 && device->blocks.count == 0
                   ? NULL
                   : "a final state that the device does not have";
    const char *wrong = check_segments(trace, &device->segments);
    for (size_t i = 0; wrong == NULL && i < device->segments.count; i++)
        if (device->segments.items[i].segment != i)
            wrong = "segments out of order";
    if (wrong == NULL)
        wrong = check_tiles(&device->segments, &device->blocks);
    for (size_t i = 0; wrong == NULL && i < device->blocks.count; i++) {
        const fl_block_view *block = &device->blocks.items[i];
        uint32_t stack = device->block_stacks.items[i];
        bool is_free = block->state == FL_BLOCK_FREE;
        if (block->id != FL_NONE && (is_free || block->id >= device->alloc_count))
            wrong = "a block of an allocation that is not there";
        if (stack != FL_NONE && stack >= trace->stack_ends.count)
            wrong = "a block with a stack that is not there";
    }
    return wrong;
}

/* A start state that the file told of: runs with ranges, tiled by blocks, of which those in use are
 * numbered in their order. */
const char *fl_flt_check_start(const fl_trace *trace, const fl_trace_device *device,
                               uint64_t before)
{
    const fl_trace_start *start = &device->start;
    if (!start->is_known)
        return start->segments.count == 0 && start->blocks.count == 0 && start->ranges.count == 0
                   ? NULL
                   : "a start state that the device does not have";
    bool is_told = trace->format == FL_FORMAT_SCRIPT || trace->has_ops;
    if (!is_told || start->in_use.count != before)
        return "a start state that the file cannot have told of";
    const char *wrong = check_segments(trace, &start->segments);
    if (wrong == NULL)
        wrong = check_tiles(&start->segments, &start->blocks);
    for (size_t i = 0; wrong == NULL && i < start->segments.count; i++)
        if (start->segments.items[i].segment >= start->ranges.count ||
            start->segments.items[i].size == 0)
            wrong = "a segment before the first event that cannot be";
    for (size_t i = 0; wrong == NULL && i < start->in_use.count; i++)
        if (start->in_use.items[i].id != start->first_id + i)
            wrong = "blocks before the first event that are not numbered in their order";
    return wrong;
}
