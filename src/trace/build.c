/* Making a trace.  Tables grow by half, columns double, texts lie in chunks that never move; so a
 * pointer to a text stays valid while the trace lives. */
#include "trace/build.h"

#include "base/memory.h"
#include "trace/columns.h"
#include "trace/intern.h"
#include "trace/utf8.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

static void device_deinit(const fl_host *host, fl_trace_device *device)
{
    fl_columns_deinit(host, &device->columns);
    fl_vector_deinit(host, &device->originals);
    fl_vector_deinit(host, &device->categories);
    fl_vector_deinit(host, &device->insertions);
    fl_vector_deinit(host, &device->notes);
    fl_vector_deinit(host, &device->segments);
    fl_vector_deinit(host, &device->blocks);
    fl_vector_deinit(host, &device->block_stacks);
    fl_vector_deinit(host, &device->block_frees);
    fl_vector_deinit(host, &device->end.log);
    fl_trace_drop_start(host, &device->start);
}

void fl_trace_free(fl_trace *trace)
{
    if (trace == NULL)
        return;
    const fl_host *host = trace->host;
    for (size_t i = 0; i < trace->devices.count; i++)
        device_deinit(host, &trace->devices.items[i]);
    fl_vector_deinit(host, &trace->devices);
    fl_vector_deinit(host, &trace->streams);
    fl_vector_deinit(host, &trace->pools);
    fl_vector_deinit(host, &trace->texts);
    fl_vector_deinit(host, &trace->frames);
    fl_vector_deinit(host, &trace->stack_frames);
    fl_vector_deinit(host, &trace->stack_ends);
    fl_vector_deinit(host, &trace->warnings);
    fl_arena_deinit(host, &trace->arena);
    fl_table_deinit(host, &trace->stream_numbers);
    fl_table_deinit(host, &trace->pool_numbers);
    fl_table_deinit(host, &trace->text_numbers);
    fl_table_deinit(host, &trace->frame_numbers);
    fl_table_deinit(host, &trace->stack_numbers);
    fl_vector_deinit(host, &trace->image);
    fl_mapping_close(&trace->mapping);
    fl_delete(host, trace, sizeof *trace);
}

/* No text like others: it says where the trace is, not what is in it. */
static bool keep_path(fl_trace *trace, const char *path, fl_error *error)
{
    size_t length = strlen(path);
    char *clean = fl_new(trace->host, 3 * length + 1, error);
    if (clean == NULL)
        return false;
    size_t clean_length = fl_utf8_clean(path, length, clean);
    trace->path = fl_arena_copy(trace->host, &trace->arena, clean, clean_length, error);
    fl_delete(trace->host, clean, 3 * length + 1);
    return trace->path != NULL;
}

fl_trace *fl_trace_new(const fl_host *host, const char *path, fl_error *error)
{
    fl_trace *trace = fl_new(host, sizeof *trace, error);
    if (trace == NULL)
        return NULL;
    trace->host = host;
    trace->conf = trace->release = FL_NONE;
    trace->capacity_bytes = UINT64_MAX;
    trace->fraction = -1;
    uint32_t default_pool;
    if (fl_trace_add_device(trace, 0, error) == FL_OK &&
        fl_trace_intern_pool(trace, (fl_pool_name){0, 0}, &default_pool, error) == FL_OK &&
        keep_path(trace, path, error))
        return trace;
    fl_trace_free(trace);
    return NULL;
}

fl_status fl_trace_add_device(fl_trace *trace, uint64_t device, fl_error *error)
{
    if (device > FL_TRACE_MAX_DEVICE)
        return fl_fail(error, FL_ERR_INPUT, "device %llu is beyond %d, the highest supported",
                       (unsigned long long)device, FL_TRACE_MAX_DEVICE);
    while (trace->devices.count <= device) {
        if (!fl_vector_reserve(trace->host, &trace->devices, 1, error))
            return FL_ERR_RESOURCE;
        trace->devices.items[trace->devices.count++] = (fl_trace_device){0};
    }
    return FL_OK;
}

/* Tables of numbers. */

static bool stream_same(const void *owner, uint32_t number, const void *item)
{
    const fl_trace *trace = owner;
    return trace->streams.items[number] == *(const uint64_t *)item;
}

static bool pool_same(const void *owner, uint32_t number, const void *item)
{
    const fl_trace *trace = owner;
    const fl_pool_name *a = &trace->pools.items[number], *b = item;
    return a->first == b->first && a->second == b->second;
}

static bool frame_same(const void *owner, uint32_t number, const void *item)
{
    const fl_trace *trace = owner;
    const fl_frame_row *a = &trace->frames.items[number], *b = item;
    return a->name == b->name && a->file == b->file && a->line == b->line;
}

typedef struct slice {
    const void *items;
    size_t count;
} slice;

static bool text_same(const void *owner, uint32_t number, const void *item)
{
    const fl_trace *trace = owner;
    const slice *text = item;
    const char *known = trace->texts.items[number];
    return strncmp(known, text->items, text->count) == 0 && known[text->count] == '\0';
}

static bool stack_same(const void *owner, uint32_t number, const void *item)
{
    const fl_trace *trace = owner;
    const slice *frames = item;
    uint64_t start = number > 0 ? trace->stack_ends.items[number - 1] : 0;
    return trace->stack_ends.items[number] - start == frames->count &&
           memcmp(trace->stack_frames.items + start, frames->items,
                  frames->count * sizeof *trace->stack_frames.items) == 0;
}

static fl_status intern_remember(fl_trace *trace, fl_table *table, fl_interned found, size_t number,
                                 fl_error *error)
{
    if (number >= FL_NONE)
        return fl_fail(error, FL_ERR_INPUT, "more than %u different items in one table",
                       FL_NONE - 1);
    if (found.has_key && !fl_table_set(trace->host, table, found.key, (uint32_t)number, error))
        return FL_ERR_RESOURCE;
    return FL_OK;
}

fl_status fl_trace_intern_stream(fl_trace *trace, uint64_t value, uint32_t *ret_stream,
                                 fl_error *error)
{
    fl_interned found =
        fl_intern_find(&trace->stream_numbers, fl_hash_word(0, value), stream_same, trace, &value);
    if (found.number != FL_TABLE_EMPTY) {
        *ret_stream = found.number;
        return FL_OK;
    }
    size_t number = trace->streams.count;
    if (number >= FL_NONE16)
        return fl_fail(error, FL_ERR_INPUT, "more than %u different streams", FL_NONE16);
    if (!fl_vector_reserve(trace->host, &trace->streams, 1, error))
        return FL_ERR_RESOURCE;
    fl_status status = intern_remember(trace, &trace->stream_numbers, found, number, error);
    if (status != FL_OK)
        return status;
    trace->streams.items[trace->streams.count++] = value;
    trace->names.streams = trace->streams.items;
    trace->names.stream_count = trace->streams.count;
    *ret_stream = (uint32_t)number;
    return FL_OK;
}

fl_status fl_trace_intern_pool(fl_trace *trace, fl_pool_name name, uint32_t *ret_pool,
                               fl_error *error)
{
    uint64_t hash = fl_hash_word(fl_hash_word(0, name.first), name.second);
    fl_interned found = fl_intern_find(&trace->pool_numbers, hash, pool_same, trace, &name);
    if (found.number != FL_TABLE_EMPTY) {
        *ret_pool = found.number;
        return FL_OK;
    }
    size_t number = trace->pools.count;
    if (number >= FL_NONE16)
        return fl_fail(error, FL_ERR_INPUT, "more than %u different pools", FL_NONE16);
    if (!fl_vector_reserve(trace->host, &trace->pools, 1, error))
        return FL_ERR_RESOURCE;
    fl_status status = intern_remember(trace, &trace->pool_numbers, found, number, error);
    if (status != FL_OK)
        return status;
    trace->pools.items[trace->pools.count++] = name;
    trace->names.pools = trace->pools.items;
    trace->names.pool_count = trace->pools.count;
    *ret_pool = (uint32_t)number;
    return FL_OK;
}

static fl_status intern_clean_text(fl_trace *trace, const char *text, size_t length,
                                   uint32_t *ret_text, fl_error *error)
{
    slice item = {text, length};
    fl_interned found =
        fl_intern_find(&trace->text_numbers, fl_hash_bytes(text, length), text_same, trace, &item);
    if (found.number != FL_TABLE_EMPTY) {
        *ret_text = found.number;
        return FL_OK;
    }
    size_t number = trace->texts.count;
    if (!fl_vector_reserve(trace->host, &trace->texts, 1, error))
        return FL_ERR_RESOURCE;
    const char *copy = fl_arena_copy(trace->host, &trace->arena, text, length, error);
    if (copy == NULL)
        return FL_ERR_RESOURCE;
    fl_status status = intern_remember(trace, &trace->text_numbers, found, number, error);
    if (status != FL_OK)
        return status;
    trace->texts.items[trace->texts.count++] = copy;
    trace->names.texts = trace->texts.items;
    trace->names.text_count = trace->texts.count;
    *ret_text = (uint32_t)number;
    return FL_OK;
}

fl_status fl_trace_intern_text(fl_trace *trace, const char *text, size_t length, uint32_t *ret_text,
                               fl_error *error)
{
    if (fl_utf8_is_clean(text, length))
        return intern_clean_text(trace, text, length, ret_text, error);
    if (length > SIZE_MAX / 3 - 1)
        return fl_fail(error, FL_ERR_RESOURCE, "a text of %zu bytes", length);
    char *clean = fl_new(trace->host, 3 * length + 1, error);
    if (clean == NULL)
        return FL_ERR_RESOURCE;
    size_t clean_length = fl_utf8_clean(text, length, clean);
    fl_status status = intern_clean_text(trace, clean, clean_length, ret_text, error);
    fl_delete(trace->host, clean, 3 * length + 1);
    return status;
}

fl_status fl_trace_intern_frame(fl_trace *trace, fl_frame_row row, uint32_t *ret_frame,
                                fl_error *error)
{
    uint64_t hash = fl_hash_word(fl_hash_word(fl_hash_word(0, row.name), row.file), row.line);
    fl_interned found = fl_intern_find(&trace->frame_numbers, hash, frame_same, trace, &row);
    if (found.number != FL_TABLE_EMPTY) {
        *ret_frame = found.number;
        return FL_OK;
    }
    size_t number = trace->frames.count;
    if (!fl_vector_reserve(trace->host, &trace->frames, 1, error))
        return FL_ERR_RESOURCE;
    fl_status status = intern_remember(trace, &trace->frame_numbers, found, number, error);
    if (status != FL_OK)
        return status;
    trace->frames.items[trace->frames.count++] = row;
    *ret_frame = (uint32_t)number;
    return FL_OK;
}

fl_status fl_trace_intern_stack(fl_trace *trace, const uint32_t *frames, size_t depth,
                                uint32_t *ret_stack, fl_error *error)
{
    uint64_t hash = depth;
    for (size_t i = 0; i < depth; i++)
        hash = fl_hash_word(hash, frames[i]);
    slice item = {frames, depth};
    fl_interned found = fl_intern_find(&trace->stack_numbers, hash, stack_same, trace, &item);
    if (found.number != FL_TABLE_EMPTY) {
        *ret_stack = found.number;
        return FL_OK;
    }
    size_t number = trace->stack_ends.count;
    if (!fl_vector_reserve(trace->host, &trace->stack_ends, 1, error) ||
        !fl_vector_reserve(trace->host, &trace->stack_frames, depth, error))
        return FL_ERR_RESOURCE;
    fl_status status = intern_remember(trace, &trace->stack_numbers, found, number, error);
    if (status != FL_OK)
        return status;
    if (depth > 0)
        memcpy(trace->stack_frames.items + trace->stack_frames.count, frames,
               depth * sizeof *frames);
    trace->stack_frames.count += depth;
    trace->stack_ends.items[trace->stack_ends.count++] = trace->stack_frames.count;
    *ret_stack = (uint32_t)number;
    return FL_OK;
}

/* Allocations. */

fl_status fl_trace_new_id(fl_trace *trace, size_t device, uint64_t original, uint32_t *ret_id,
                          fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    uint32_t id = of->alloc_count;
    if (id >= FL_TRACE_MAX_EVENTS)
        return fl_fail(error, FL_ERR_INPUT, "more than %u allocations", FL_TRACE_MAX_EVENTS);
    if (of->originals.count > 0 || original != id) {
        size_t missing = id + (size_t)1 - of->originals.count;
        if (!fl_vector_reserve(trace->host, &of->originals, missing, error))
            return FL_ERR_RESOURCE;
        while (of->originals.count < id) {
            of->originals.items[of->originals.count] = of->originals.count;
            of->originals.count++;
        }
        of->originals.items[of->originals.count++] = original;
    }
    of->alloc_count++;
    *ret_id = id;
    return FL_OK;
}

fl_status fl_trace_set_category(fl_trace *trace, size_t device, uint32_t id, uint32_t text,
                                fl_error *error)
{
    struct fl_u32_vector *categories = &trace->devices.items[device].categories;
    assert(id < trace->devices.items[device].alloc_count);
    if (id >= categories->count) {
        if (!fl_vector_reserve(trace->host, categories, id + (size_t)1 - categories->count, error))
            return FL_ERR_RESOURCE;
        while (categories->count <= id)
            categories->items[categories->count++] = FL_NONE;
    }
    categories->items[id] = text;
    return FL_OK;
}

fl_status fl_trace_identify(fl_trace *trace, size_t device, fl_table *live, fl_event *event,
                            fl_error *error)
{
    if (event->kind == FL_OP_FREE)
        event->id = fl_table_get(live, event->address);
    else if (event->kind == FL_OP_FREE_DONE)
        event->id = fl_table_take(live, event->address);
    if (event->kind != FL_OP_ALLOC)
        return FL_OK;
    uint32_t next = fl_trace_alloc_count(trace, device);
    fl_status status = fl_trace_new_id(trace, device, next, &event->id, error);
    if (status == FL_OK && (event->flags & FL_EVENT_OOM) == 0 &&
        !fl_table_set(trace->host, live, event->address, event->id, error))
        return FL_ERR_RESOURCE;
    return status;
}

/* Events. */

/* Is there a column to write this value to?  Makes it where the value is not the absent one. */
static fl_status column_ready(fl_trace *trace, fl_columns *columns, fl_column column,
                              bool has_value, bool *ret_write, fl_error *error)
{
    if (columns->capacity[column] == 0 && has_value &&
        !fl_columns_use(trace->host, columns, column, error))
        return FL_ERR_RESOURCE;
    *ret_write = columns->capacity[column] > 0;
    return FL_OK;
}

static fl_status append_optional(fl_trace *trace, fl_columns *columns, const fl_event *event,
                                 fl_error *error)
{
    bool pool, stack, address, time;
    if (column_ready(trace, columns, FL_COLUMN_POOL, event->pool != FL_NONE, &pool, error) ||
        column_ready(trace, columns, FL_COLUMN_STACK, event->stack != FL_NONE, &stack, error) ||
        column_ready(trace, columns, FL_COLUMN_ADDRESS, event->address != 0, &address, error) ||
        column_ready(trace, columns, FL_COLUMN_TIME, event->time_us != FL_TIME_UNKNOWN, &time,
                     error))
        return FL_ERR_RESOURCE;
    uint64_t at = columns->count;
    if (pool)
        columns->pool[at] = event->pool != FL_NONE ? (uint16_t)event->pool : FL_NONE16;
    if (stack)
        columns->stack[at] = event->stack;
    if (address)
        columns->address[at] = event->address;
    if (time)
        columns->time_us[at] = event->time_us;
    return FL_OK;
}

fl_status fl_trace_append(fl_trace *trace, size_t device, const fl_event *event, fl_error *error)
{
    fl_columns *columns = &trace->devices.items[device].columns;
    if (trace->end.is_given && fl_trace_is_behind(trace, &trace->devices.items[device], event))
        return fl_trace_add_behind(trace, &trace->devices.items[device], event, error);
    if (columns->count >= FL_TRACE_MAX_EVENTS)
        return fl_fail(error, FL_ERR_INPUT, "more than %u events", FL_TRACE_MAX_EVENTS);
    if (columns->count == columns->capacity[FL_COLUMN_KIND] &&
        !fl_columns_grow(trace->host, columns, error))
        return FL_ERR_RESOURCE;
    fl_status status = append_optional(trace, columns, event, error);
    if (status != FL_OK)
        return status;
    uint64_t at = columns->count++;
    columns->kind[at] = event->kind;
    columns->flags[at] = event->flags;
    columns->stream[at] = event->stream != FL_NONE ? (uint16_t)event->stream : FL_NONE16;
    columns->id[at] = fl_kind_has_text(event->kind) ? event->text : event->id;
    columns->size[at] = event->size;
    return FL_OK;
}

fl_status fl_trace_add_note(fl_trace *trace, size_t device, uint64_t event, uint32_t text,
                            fl_error *error)
{
    struct fl_note_vector *notes = &trace->devices.items[device].notes;
    if (!fl_vector_reserve(trace->host, notes, 1, error))
        return FL_ERR_RESOURCE;
    notes->items[notes->count++] = (fl_note){event, text};
    return FL_OK;
}

fl_status fl_trace_insert(fl_trace *trace, size_t device, uint64_t event, const fl_op *op,
                          fl_error *error)
{
    struct fl_insertion_vector *insertions = &trace->devices.items[device].insertions;
    assert(insertions->count == 0 || insertions->items[insertions->count - 1].event <= event);
    if (!fl_vector_reserve(trace->host, insertions, 1, error))
        return FL_ERR_RESOURCE;
    insertions->items[insertions->count++] = (fl_insertion){event, *op};
    if (event < trace->devices.items[device].columns.count)
        fl_trace_set_flags(trace, device, event, FL_EVENT_INSERTED);
    return FL_OK;
}

void fl_trace_drop_insertions(fl_trace *trace, size_t device, size_t kept)
{
    const fl_columns *columns = &trace->devices.items[device].columns;
    struct fl_insertion_vector *insertions = &trace->devices.items[device].insertions;
    while (insertions->count > kept) {
        uint64_t event = insertions->items[--insertions->count].event;
        bool is_last =
            insertions->count == 0 || insertions->items[insertions->count - 1].event != event;
        if (is_last && event < columns->count)
            fl_trace_clear_flags(trace, device, event, FL_EVENT_INSERTED);
    }
}

void fl_trace_set_flags(fl_trace *trace, size_t device, uint64_t event, uint8_t flags)
{
    trace->devices.items[device].columns.flags[event] |= flags;
}

void fl_trace_clear_flags(fl_trace *trace, size_t device, uint64_t event, uint8_t flags)
{
    trace->devices.items[device].columns.flags[event] &= (uint8_t)~flags;
}

fl_status fl_trace_warn(fl_trace *trace, fl_error *error, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    uint32_t text;
    if (!fl_vector_reserve(trace->host, &trace->warnings, 1, error) ||
        fl_trace_intern_text(trace, line, strlen(line), &text, error) != FL_OK)
        return FL_ERR_RESOURCE;
    trace->warnings.items[trace->warnings.count++] = text;
    return FL_OK;
}

/* The final state. */

fl_status fl_trace_add_segment(fl_trace *trace, size_t device, const fl_segment_view *segment,
                               fl_error *error)
{
    struct fl_segment_vector *segments = &trace->devices.items[device].segments;
    if (!fl_vector_reserve(trace->host, segments, 1, error))
        return FL_ERR_RESOURCE;
    segments->items[segments->count++] = *segment;
    return FL_OK;
}

fl_status fl_trace_add_block(fl_trace *trace, size_t device, const fl_block_view *block,
                             uint32_t stack, fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    if (!fl_vector_reserve(trace->host, &of->blocks, 1, error) ||
        !fl_vector_reserve(trace->host, &of->block_stacks, 1, error))
        return FL_ERR_RESOURCE;
    of->blocks.items[of->blocks.count++] = *block;
    of->block_stacks.items[of->block_stacks.count++] = stack;
    return FL_OK;
}

fl_status fl_trace_show_segment(fl_trace *trace, size_t device, size_t block_count,
                                const char *reason, fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    of->shown_parts += 1 + block_count;
    if (reason == NULL)
        return FL_OK;
    bool is_first = of->impossible_parts == 0;
    of->impossible_parts += 1 + block_count;
    return is_first ? fl_trace_intern_text(trace, reason, strlen(reason), &of->impossible, error)
                    : FL_OK;
}

fl_status fl_trace_finish(fl_trace *trace, fl_error *error)
{
    if (trace->is_judged)
        return FL_OK;
    trace->end.is_given = false; /* what is put in order from here on was read already */
    for (size_t i = 0; i < trace->devices.count; i++) {
        fl_trace_device *device = &trace->devices.items[i];
        if (!fl_columns_trim(trace->host, &device->columns, error))
            return FL_ERR_RESOURCE;
        fl_status status = fl_trace_finish_behind(trace, device, error);
        if (status == FL_OK)
            status = fl_trace_judge_kinds(trace, device, error);
        trace->needs_whole |= device->unrecorded != 0 && device->end.behind.events > 0;
        if (status == FL_OK)
            status = fl_trace_judge_window(trace, device, &device->is_complete, error);
        if (status == FL_OK)
            status = fl_trace_judge_newer(trace, i, error);
        if (status == FL_OK && !device->is_complete && !device->start.is_known)
            status = fl_trace_number_before(trace, i, error);
        if (status == FL_OK && !device->is_complete && device->has_final_state &&
            !device->start.is_known && !trace->has_ops)
            status = fl_trace_restore_order(trace, i, error);
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}
