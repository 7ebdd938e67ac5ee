/* Profiler traces as Kineto writes them, of which the `[memory]` entries are read.
 *
 * An entry tells the size of a block when it is handed out, and the same with a minus when its
 * owner lets go of it.  So requests have the sizes of blocks, which round to themselves; what was
 * asked for, streams, segments and the end of waiting are not in the file.  Entries of several
 * threads are not in the order of time, so all are kept until the file ends: 40 bytes each.  Blocks
 * from before the profile that are freed in it are requested first, by ascending address. */
#include "reader/json.h"
#include "reader/reader.h"

#include "base/checked.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

enum kineto_word {
    KEY_EVENTS = 1,
    KEY_SCHEMA,
    KEY_NAME,
    KEY_TS,
    KEY_ARGS,
    KEY_BYTES,
    KEY_ADDR,
    KEY_DEVICE_TYPE,
    KEY_DEVICE_ID,
    KEY_TOTAL_ALLOCATED,
    KEY_LAST,
    WORD_MEMORY = FL_KEY_LIMIT,
    WORD_END
};

static const char *const words[WORD_END] = {
    [KEY_EVENTS] = "traceEvents",  [KEY_SCHEMA] = "schemaVersion",
    [KEY_NAME] = "name",           [KEY_TS] = "ts",
    [KEY_ARGS] = "args",           [KEY_BYTES] = "Bytes",
    [KEY_ADDR] = "Addr",           [KEY_DEVICE_TYPE] = "Device Type",
    [KEY_DEVICE_ID] = "Device Id", [KEY_TOTAL_ALLOCATED] = "Total Allocated",
    [WORD_MEMORY] = "[memory]",
};

#define DEVICE_TYPE_CUDA 1

struct kineto_entry {
    double time_us;
    uint64_t address, size, total;
    uint32_t index; /* in the file, among its like */
    uint16_t device;
    bool is_free;
};

FL_VECTOR(kineto_entries, struct kineto_entry);

/* A block from before the profile. */
struct kineto_block {
    uint64_t address, size;
};

FL_VECTOR(kineto_blocks, struct kineto_block);

typedef struct kineto_reader {
    const fl_host *host;
    fl_trace *trace;
    struct kineto_entries entries;
    struct kineto_entry args; /* of the entry that is being read */
    bool has_args, has_events;
    uint64_t others; /* entries of other memory than a CUDA device's */
} kineto_reader;

/* ---- reading --------------------------------------------------------------------------------- */

static const fl_value *kineto_field(const fl_record *record, uint8_t key)
{
    return (record->has >> key & 1) != 0 ? &record->values[key] : NULL;
}

static bool field_is(const fl_record *record, uint8_t key, int64_t wanted)
{
    const fl_value *value = kineto_field(record, key);
    return value != NULL && value->tag == FL_TAG_INT && (int64_t)value->bits == wanted;
}

/* Arguments of some entry; whether it is one of memory shows later. */
static fl_status kineto_args(void *user, fl_closing *closing, fl_error *error)
{
    (void)error;
    kineto_reader *reader = user;
    const fl_record *record = closing->record;
    const fl_value *bytes = kineto_field(record, KEY_BYTES), *addr = kineto_field(record, KEY_ADDR);
    const fl_value *device = kineto_field(record, KEY_DEVICE_ID);
    const fl_value *total = kineto_field(record, KEY_TOTAL_ALLOCATED);
    reader->has_args = bytes != NULL && bytes->tag == FL_TAG_INT && addr != NULL &&
                       fl_value_is_count(addr) && device != NULL && device->tag == FL_TAG_INT &&
                       field_is(record, KEY_DEVICE_TYPE, DEVICE_TYPE_CUDA) &&
                       device->bits <= FL_TRACE_MAX_DEVICE;
    if (!reader->has_args)
        return FL_OK;
    int64_t size = (int64_t)bytes->bits;
    reader->args = (struct kineto_entry){
        .address = addr->bits,
        .size = size < 0 ? 0 - (uint64_t)size : (uint64_t)size,
        .total = total != NULL && fl_value_is_count(total) ? total->bits : 0,
        .device = (uint16_t)device->bits,
        .is_free = size < 0,
    };
    return FL_OK;
}

static bool read_time(const fl_value *value, double *ret_time)
{
    if (value == NULL || (value->tag != FL_TAG_REAL && !fl_value_is_count(value)))
        return false;
    if (value->tag == FL_TAG_REAL)
        memcpy(ret_time, &value->bits, sizeof *ret_time);
    else
        *ret_time = (double)value->bits;
    return *ret_time >= 0 && *ret_time < 9e18;
}

static fl_status kineto_event_begin(void *user, fl_error *error)
{
    (void)error;
    kineto_reader *reader = user;
    reader->has_args = false;
    return FL_OK;
}

static fl_status kineto_event(void *user, fl_closing *closing, fl_error *error)
{
    kineto_reader *reader = user;
    const fl_value *name = kineto_field(closing->record, KEY_NAME);
    bool is_memory = name != NULL && name->tag == FL_TAG_TEXT && name->word == WORD_MEMORY;
    if (!is_memory)
        return FL_OK;
    if (!reader->has_args) {
        reader->others++;
        return FL_OK;
    }
    if (!read_time(kineto_field(closing->record, KEY_TS), &reader->args.time_us))
        return fl_fail(error, FL_ERR_INPUT, "expected 'ts', a time, of a [memory] entry");
    if (reader->entries.count >= FL_TRACE_MAX_EVENTS / 2)
        return fl_fail(error, FL_ERR_INPUT, "more than %u [memory] entries",
                       FL_TRACE_MAX_EVENTS / 2);
    if (!fl_vector_reserve(reader->host, &reader->entries, 1, error))
        return FL_ERR_RESOURCE;
    reader->args.index = (uint32_t)reader->entries.count;
    reader->entries.items[reader->entries.count++] = reader->args;
    return FL_OK;
}

static fl_status kineto_events(void *user, fl_closing *closing, fl_error *error)
{
    (void)closing;
    (void)error;
    kineto_reader *reader = user;
    reader->has_events = true;
    return FL_OK;
}

static fl_status kineto_unknown_key(void *user, const char *key, size_t length, const char *what,
                                    fl_error *error)
{
    (void)user;
    (void)key;
    (void)length;
    (void)what;
    (void)error;
    return FL_OK;
}

enum { SHAPE_TOP = FL_SHAPE_NONE + 1, SHAPE_EVENTS, SHAPE_EVENT, SHAPE_ARGS, SHAPE_END };

static const fl_shape_child top_children[] = {{KEY_EVENTS, SHAPE_EVENTS}, {0, 0}};
static const fl_shape_child event_children[] = {{KEY_ARGS, SHAPE_ARGS}, {0, 0}};

static const fl_shape shapes[SHAPE_END] = {
    [SHAPE_TOP] = {"a profiler trace", .is_lenient = true, .children = top_children},
    [SHAPE_EVENTS] = {"the list of entries", .is_list = true, .element = SHAPE_EVENT,
                      .close = kineto_events},
    [SHAPE_EVENT] = {"an entry", .is_lenient = true, .children = event_children,
                     .open = kineto_event_begin, .close = kineto_event},
    [SHAPE_ARGS] = {"the arguments of an entry", .is_lenient = true, .is_loose = true,
                    .close = kineto_args},
};

static const fl_schema kineto_schema = {
    .shapes = shapes,
    .shape_count = SHAPE_END,
    .root = SHAPE_TOP,
    .words = words,
    .word_count = WORD_END,
    .unknown_key = kineto_unknown_key,
};

/* ---- making events --------------------------------------------------------------------------- */

static int entries_by_time(const void *a, const void *b)
{
    const struct kineto_entry *left = a, *right = b;
    if (left->device != right->device)
        return left->device < right->device ? -1 : 1;
    if (left->time_us < right->time_us || left->time_us > right->time_us)
        return left->time_us < right->time_us ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

static int blocks_by_address(const void *a, const void *b)
{
    const struct kineto_block *left = a, *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

/* Entries of one device, in order of time. */
struct kineto_device {
    kineto_reader *reader;
    const struct kineto_entry *entries;
    size_t count;
    size_t number;
    uint32_t stream;
    struct kineto_blocks before;
    fl_table live;   /* address to allocation */
    uint64_t missed; /* blocks that came where one was, so that its free is not in the file */
    fl_error *error;
};

/* The blocks that are freed and never came. */
static fl_status find_before(struct kineto_device *device)
{
    const fl_host *host = device->reader->host;
    fl_table seen = {0}; /* address: 1 live, 0 gone */
    fl_status status = FL_OK;
    for (size_t i = 0; i < device->count && status == FL_OK; i++) {
        const struct kineto_entry *entry = &device->entries[i];
        bool is_known = fl_table_get(&seen, entry->address) != FL_TABLE_EMPTY;
        if (entry->is_free && !is_known) {
            if (!fl_vector_reserve(host, &device->before, 1, device->error))
                status = FL_ERR_RESOURCE;
            else
                device->before.items[device->before.count++] =
                    (struct kineto_block){entry->address, entry->size};
        }
        if (status == FL_OK && !is_known &&
            !fl_table_set(host, &seen, entry->address, 1, device->error))
            status = FL_ERR_RESOURCE;
    }
    fl_table_deinit(host, &seen);
    if (device->before.count > 0)
        qsort(device->before.items, device->before.count, sizeof *device->before.items,
              blocks_by_address);
    return status;
}

static fl_status add_event(struct kineto_device *device, uint8_t kind, uint32_t id,
                           uint64_t address, uint64_t size, int64_t time_us)
{
    fl_event event = {
        .kind = kind,
        .id = id,
        .stream = kind == FL_OP_ALLOC ? device->stream : FL_NONE,
        .pool = FL_NONE,
        .text = FL_NONE,
        .stack = FL_NONE,
        .address = address,
        .size = size,
        .time_us = time_us,
    };
    return fl_trace_append(device->reader->trace, device->number, &event, device->error);
}

static fl_status add_request(struct kineto_device *device, uint64_t address, uint64_t size,
                             int64_t time_us)
{
    fl_trace *trace = device->reader->trace;
    uint32_t id, next = fl_trace_alloc_count(trace, device->number);
    fl_status status = fl_trace_new_id(trace, device->number, next, &id, device->error);
    if (status == FL_OK &&
        !fl_table_set(device->reader->host, &device->live, address, id, device->error))
        status = FL_ERR_RESOURCE;
    return status == FL_OK ? add_event(device, FL_OP_ALLOC, id, address, size, time_us) : status;
}

static fl_status add_entry(struct kineto_device *device, const struct kineto_entry *entry)
{
    int64_t time_us = (int64_t)entry->time_us;
    uint32_t id = fl_table_take(&device->live, entry->address);
    fl_status status = FL_OK;
    if (id != FL_TABLE_EMPTY) {
        device->missed += !entry->is_free;
        status = add_event(device, FL_OP_FREE, id, entry->address, entry->size, time_us);
    } else if (entry->is_free) {
        device->missed++; /* freed twice */
    }
    if (status == FL_OK && !entry->is_free)
        status = add_request(device, entry->address, entry->size, time_us);
    return status;
}

/* What the device had at the beginning that no entry speaks of. */
static uint64_t untold_bytes(const struct kineto_device *device)
{
    const struct kineto_entry *first = device->entries;
    uint64_t before = first->total, told = 0;
    if (first->is_free)
        before = before > UINT64_MAX - first->size ? UINT64_MAX : before + first->size;
    else
        before = before > first->size ? before - first->size : 0;
    for (size_t i = 0; i < device->before.count; i++)
        if (!fl_add(told, device->before.items[i].size, &told))
            return 0;
    return before > told ? before - told : 0;
}

static fl_status warn_device(const struct kineto_device *device, const char *name)
{
    fl_trace *trace = device->reader->trace;
    uint64_t untold = untold_bytes(device);
    fl_status status = FL_OK;
    trace->devices.items[device->number].starts_late = device->before.count > 0 || untold > 0;
    if (device->before.count > 0)
        status = fl_trace_warn(trace, device->error,
                               "%s: device %zu: %zu blocks from before the profile are freed in "
                               "it; they are requested first",
                               name, device->number, device->before.count);
    if (status == FL_OK && untold > 0)
        status = fl_trace_warn(trace, device->error,
                               "%s: device %zu: %" PRIu64 " bytes were allocated before the "
                               "profile and are not in it",
                               name, device->number, untold);
    if (status == FL_OK && device->missed > 0)
        status = fl_trace_warn(trace, device->error,
                               "%s: device %zu: %" PRIu64 " requests or frees are missing", name,
                               device->number, device->missed);
    return status;
}

static fl_status make_device(struct kineto_device *device, const char *name)
{
    fl_status status = fl_trace_add_device(device->reader->trace, device->number, device->error);
    if (status == FL_OK)
        status = find_before(device);
    for (size_t i = 0; i < device->before.count && status == FL_OK; i++)
        status = add_request(device, device->before.items[i].address, device->before.items[i].size,
                             FL_TIME_UNKNOWN);
    for (size_t i = 0; i < device->count && status == FL_OK; i++)
        status = add_entry(device, &device->entries[i]);
    return status == FL_OK ? warn_device(device, name) : status;
}

static fl_status make_events(kineto_reader *reader, const char *name, fl_error *error)
{
    struct kineto_entries *entries = &reader->entries;
    uint32_t stream;
    fl_status status = fl_trace_intern_stream(reader->trace, 0, &stream, error);
    if (entries->count > 0)
        qsort(entries->items, entries->count, sizeof *entries->items, entries_by_time);
    for (size_t from = 0, to; from < entries->count && status == FL_OK; from = to) {
        for (to = from;
             to < entries->count && entries->items[to].device == entries->items[from].device;)
            to++;
        struct kineto_device device = {
            .reader = reader,
            .entries = entries->items + from,
            .count = to - from,
            .number = entries->items[from].device,
            .stream = stream,
            .error = error,
        };
        status = make_device(&device, name);
        fl_table_deinit(reader->host, &device.live);
        fl_vector_deinit(reader->host, &device.before);
    }
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static fl_status kineto_finish(kineto_reader *reader, fl_input *input, bool is_cut, fl_error *error)
{
    if (!reader->has_events && !is_cut)
        return fl_fail(error, FL_ERR_INPUT, "%s:%llu: expected 'traceEvents' among the keys",
                       input->name, (unsigned long long)input->offset_end);
    if (reader->entries.count == 0) {
        fl_fail(error, FL_ERR_INPUT, "%s:%llu: no [memory] entry of a CUDA device in the trace",
                input->name, (unsigned long long)input->offset_end);
        return fl_hint(error, "torch.profiler.profile(profile_memory=True) records them");
    }
    fl_status status = FL_OK;
    if (is_cut)
        status = fl_trace_warn(
            reader->trace, error, "%s:%llu: the file is cut off; %zu entries lie before the cut",
            input->name, (unsigned long long)input->offset_end, reader->entries.count);
    if (status == FL_OK && reader->others > 0)
        status = fl_trace_warn(reader->trace, error,
                               "%s: %" PRIu64 " entries of other memory than a CUDA device's are "
                               "left out",
                               input->name, reader->others);
    if (status == FL_OK)
        status = fl_trace_warn(reader->trace, error,
                               "%s: a profiler trace tells sizes of blocks, not what was asked "
                               "for, and no streams: all are taken as requests on stream 0",
                               input->name);
    return status == FL_OK ? make_events(reader, input->name, error) : status;
}

static fl_status kineto_read(fl_input *input, const fl_read_options *options, fl_trace *trace,
                             fl_error *error)
{
    kineto_reader reader = {.host = options->host, .trace = trace};
    bool is_cut = false;
    trace->format = FL_FORMAT_SCRIPT;
    trace->has_block_sizes = true;
    fl_status status = fl_json_read(input, &kineto_schema, &reader, &is_cut, error);
    if (status == FL_OK)
        status = kineto_finish(&reader, input, is_cut, error);
    fl_vector_deinit(options->host, &reader.entries);
    return status;
}

static bool kineto_probe(const uint8_t *head, size_t size)
{
    size_t blank = 0;
    while (blank < size && head[blank] != 0 && strchr(" \t\r\n", head[blank]) != NULL)
        blank++;
    return blank < size && head[blank] == '{' &&
           (fl_bytes_hold(head, size, "\"traceEvents\"") ||
            fl_bytes_hold(head, size, "\"schemaVersion\""));
}

const fl_reader_ops fl_reader_kineto = {
    .name = "kineto",
    .summary = "profiler traces with [memory] entries: sizes of blocks",
    .probe = kineto_probe,
    .read = kineto_read,
};
