/* Snapshots as JSON, written: the reverse of snapshot_record.c.
 *
 * Keys that nothing is known of are left out rather than made up, so the releases that the keys of
 * a snapshot would tell stand in a key of our own, as does what else a snapshot has no key for;
 * other readers of snapshots pass it over.  JSON shares nothing, so a stack is written in full with
 * each event that has it. */
#include "reader/json_write.h"

#include "reader/script_write.h"
#include "reader/snapshot.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define LINE_SIZE 320

typedef struct json_writer {
    const fl_trace *trace;
    const fl_write_options *options;
    size_t device;
    const fl_note *notes; /* of the device, the next ones */
    size_t note_count;
    fl_error *error;
} json_writer;

/* Everything here is true, or false with the error filled. */
static bool put(json_writer *writer, const char *data, size_t size)
{
    if (size == 0 || writer->options->write(writer->options->user, data, size))
        return true;
    fl_fail(writer->error, FL_ERR_OUTPUT, "a snapshot could not be written");
    return false;
}

static bool put_format(json_writer *writer, const char *format, ...) FL_PRINTF(2, 3);

static bool put_format(json_writer *writer, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return put(writer, line, (size_t)length);
}

/* What stands between quotes; it is UTF-8. */
static bool put_characters(json_writer *writer, const char *text)
{
    bool fits = true;
    while (fits && *text != '\0') {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\')
            plain++;
        fits = put(writer, text, plain);
        text += plain;
        if (fits && *text != '\0')
            fits = put_format(writer, "\\u%04x", (unsigned)(unsigned char)*text++);
    }
    return fits;
}

static bool put_text(json_writer *writer, const char *text)
{
    return put(writer, "\"", 1) && put_characters(writer, text) && put(writer, "\"", 1);
}

static bool put_category(json_writer *writer, uint32_t category)
{
    return put_format(writer, ", \"category\": ") &&
           put_text(writer, fl_trace_names(writer->trace)->texts[category]);
}

static bool put_frames(json_writer *writer, uint32_t stack)
{
    size_t depth = fl_trace_stack_depth(writer->trace, stack);
    bool fits = put(writer, "[", 1);
    for (size_t i = 0; i < depth && fits; i++) {
        fl_frame frame = fl_trace_stack_frame(writer->trace, stack, i);
        fits = put_format(writer, "%s{\"name\": ", i > 0 ? ", " : "") &&
               put_text(writer, frame.name) && put_format(writer, ", \"filename\": ") &&
               put_text(writer, frame.file) && put_format(writer, ", \"line\": %u}", frame.line);
    }
    return fits && put(writer, "]", 1);
}

/* ---- lines of a script ------------------------------------------------------------------------
 */

/* Takes a line of a script into a text. */
static bool quote_piece(void *user, const char *data, size_t size)
{
    json_writer *writer = user;
    for (size_t i = 0; i < size; i++) {
        bool is_plain = data[i] != '"' && data[i] != '\\';
        if (data[i] != '\n' &&
            !(is_plain ? put(writer, &data[i], 1) : put_format(writer, "\\%c", data[i])))
            return false;
    }
    return true;
}

static fl_write_options quoting(json_writer *writer)
{
    return (fl_write_options){.write = quote_piece, .user = writer};
}

/* ---- the final state ------------------------------------------------------------------------- */

static bool put_block(json_writer *writer, const fl_block_view *block, uint32_t stack)
{
    static const uint8_t states[] = {[FL_BLOCK_LIVE] = WORD_ACTIVE_ALLOCATED,
                                     [FL_BLOCK_PENDING] = WORD_ACTIVE_PENDING_FREE,
                                     [FL_BLOCK_FREE] = WORD_INACTIVE};
    return put_format(writer,
                      "{\"address\": %" PRIu64 ", \"size\": %" PRIu64
                      ", \"requested_size\": %" PRIu64 ", \"state\": \"%s\", \"frames\": ",
                      block->address, block->size, block->requested,
                      fl_snapshot_words[states[block->state]]) &&
           put_frames(writer, stack) && put(writer, "}", 1);
}

struct segment_sums {
    uint64_t allocated, active, requested;
};

static struct segment_sums sum_blocks(const fl_block_view *blocks, size_t count)
{
    struct segment_sums sums = {0};
    for (size_t i = 0; i < count; i++) {
        sums.allocated += blocks[i].state == FL_BLOCK_LIVE ? blocks[i].size : 0;
        sums.active += blocks[i].state != FL_BLOCK_FREE ? blocks[i].size : 0;
        sums.requested += blocks[i].state != FL_BLOCK_FREE ? blocks[i].requested : 0;
    }
    return sums;
}

/* A segment and its blocks, which begin at `first`. */
static bool put_segment(json_writer *writer, const fl_segment_view *segment, size_t first,
                        size_t count)
{
    const fl_trace_device *device = &writer->trace->devices.items[writer->device];
    const fl_names *names = fl_trace_names(writer->trace);
    const fl_pool_name *pool = &names->pools[segment->pool];
    struct segment_sums sums = sum_blocks(device->blocks.items + first, count);
    bool fits = put_format(writer,
                           "{\"device\": %zu, \"address\": %" PRIu64 ", \"total_size\": %" PRIu64
                           ", \"allocated_size\": %" PRIu64 ", \"active_size\": %" PRIu64
                           ", \"requested_size\": %" PRIu64 ", ",
                           writer->device, segment->address, segment->size, sums.allocated,
                           sums.active, sums.requested) &&
                put_format(writer, "\"stream\": %" PRIu64 ", \"segment_type\": \"%s\", ",
                           names->streams[segment->stream], segment->is_small ? "small" : "large");
    if (fits && !writer->trace->lacks_pools)
        fits = put_format(writer, "\"segment_pool_id\": [%" PRIu64 ", %" PRIu64 "], ", pool->first,
                          pool->second);
    fits = fits && put_format(writer, "\"is_expandable\": %s, \"frames\": [], \"blocks\": [",
                              segment->is_expandable ? "true" : "false");
    for (size_t i = 0; i < count && fits; i++)
        fits = put_format(writer, i > 0 ? ", " : "") &&
               put_block(writer, &device->blocks.items[first + i],
                         device->block_stacks.items[first + i]);
    return fits && put(writer, "]}", 2);
}

static bool put_segments(json_writer *writer, bool *is_first)
{
    const fl_trace_device *device = &writer->trace->devices.items[writer->device];
    bool fits = true;
    size_t at = 0;
    for (size_t i = 0; i < device->segments.count && fits; i++) {
        const fl_segment_view *segment = &device->segments.items[i];
        size_t first = at;
        while (at < device->blocks.count &&
               device->blocks.items[at].address - segment->address < segment->size)
            at++;
        fits = put_format(writer, "%s\n  ", *is_first ? "" : ",") &&
               put_segment(writer, segment, first, at - first);
        *is_first = false;
    }
    return fits;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* A completion stands for its free where frees were not recorded: fl_trace_judge_kinds. */
static const char *action_word(const fl_trace_device *device, const fl_event *event)
{
    static const uint8_t words[FL_EVENT_KIND_END] = {
        [FL_OP_ALLOC] = WORD_ALLOC,
        [FL_OP_FREE] = WORD_FREE_REQUESTED,
        [FL_OP_FREE_DONE] = WORD_FREE_COMPLETED,
        [FL_EVENT_SEGMENT_ALLOC] = WORD_SEGMENT_ALLOC,
        [FL_EVENT_SEGMENT_FREE] = WORD_SEGMENT_FREE,
        [FL_EVENT_SEGMENT_MAP] = WORD_SEGMENT_MAP,
        [FL_EVENT_SEGMENT_UNMAP] = WORD_SEGMENT_UNMAP,
        [FL_EVENT_SNAPSHOT] = WORD_SNAPSHOT,
    };
    if (event->flags & FL_EVENT_OOM)
        return fl_snapshot_words[WORD_OOM];
    if (event->kind == FL_OP_FREE && (device->unrecorded >> FL_OP_FREE & 1) != 0)
        return fl_snapshot_words[WORD_FREE_COMPLETED];
    return words[event->kind] != 0 ? fl_snapshot_words[words[event->kind]] : "other";
}

/* A category and parts that nobody knows, as scripts have them. */
static bool put_kept(json_writer *writer, uint64_t index, const fl_event *event)
{
    const char *const *texts = fl_trace_names(writer->trace)->texts;
    uint32_t category = event->kind == FL_OP_ALLOC
                            ? fl_trace_category(writer->trace, writer->device, event->id)
                            : FL_NONE;
    bool fits = category == FL_NONE || put_category(writer, category);
    const char *start = ", \"parts\": \"";
    bool is_open = false;
    for (; writer->note_count > 0 && writer->notes->event <= index && fits;
         writer->notes++, writer->note_count--) {
        if (writer->notes->event < index)
            continue;
        fits = put_format(writer, "%s", is_open ? " " : start) &&
               put_characters(writer, texts[writer->notes->text]);
        is_open = true;
    }
    return fits && (!is_open || put(writer, "\"", 1));
}

/* When and from where; ends the entry. */
static bool put_circumstances(json_writer *writer, uint64_t index, const fl_event *event)
{
    bool fits = put_kept(writer, index, event);
    if (fits && event->time_us != FL_TIME_UNKNOWN)
        fits = put_format(writer, ", \"time_us\": %" PRId64, event->time_us);
    if (fits && event->stack != FL_NONE)
        fits = put_format(writer, ", \"frames\": ") && put_frames(writer, event->stack);
    return fits && put(writer, "}", 1);
}

static bool put_operation(json_writer *writer, uint64_t index, const fl_event *event)
{
    fl_op op;
    fl_columns_op(fl_trace_columns(writer->trace, writer->device), index, &op);
    fl_write_options line = quoting(writer);
    return put_format(writer, "{\"action\": \"operation\", \"addr\": 0, \"size\": 0, "
                              "\"stream\": 0, \"op\": \"") &&
           fl_script_write_op(writer->trace, writer->device, &op, &line, writer->error) == FL_OK &&
           put(writer, "\"", 1) && put_circumstances(writer, index, event);
}

/* What an entry needs to be an operation in full. */
static bool put_own(json_writer *writer, const fl_event *event)
{
    if (!writer->trace->has_ops)
        return true;
    if (event->kind == FL_OP_FREE && (event->flags & FL_OP_HELD))
        return put_format(writer, ", \"is_held\": true");
    if (event->kind != FL_OP_ALLOC)
        return true;
    bool fits = put_format(writer, ", \"id\": %" PRIu64,
                           fl_trace_original_id(writer->trace, writer->device, event->id));
    if (fits && (event->flags & FL_OP_AT))
        fits = put_format(writer, ", \"at\": %" PRIu64, event->address);
    return fits;
}

static bool put_event(json_writer *writer, uint64_t index, const fl_event *event)
{
    const fl_names *names = fl_trace_names(writer->trace);
    bool is_oom = (event->flags & FL_EVENT_OOM) != 0;
    bool is_refused_place = is_oom && writer->trace->has_ops && (event->flags & FL_OP_AT);
    uint64_t address = is_refused_place ? 0 : event->address; /* of no block: asked for in vain */
    uint64_t stream = event->stream != FL_NONE ? names->streams[event->stream] : 0;
    bool fits = put_format(writer,
                           "{\"action\": \"%s\", \"%s\": %" PRIu64 ", \"size\": %" PRIu64
                           ", \"stream\": %" PRIu64,
                           action_word(&writer->trace->devices.items[writer->device], event),
                           is_oom ? "device_free" : "addr", address, event->size, stream);
    if (fits && event->pool != FL_NONE)
        fits = put_format(writer, ", \"pool_id\": [%" PRIu64 ", %" PRIu64 "]",
                          names->pools[event->pool].first, names->pools[event->pool].second);
    return fits && put_own(writer, event) && put_circumstances(writer, index, event);
}

static bool put_device_trace(json_writer *writer)
{
    uint64_t count = fl_trace_event_count(writer->trace, writer->device);
    writer->notes = fl_trace_notes(writer->trace, writer->device, &writer->note_count);
    bool fits = put_format(writer, "%s\n  [", writer->device > 0 ? "," : "");
    for (uint64_t i = 0; i < count && fits; i++) {
        fl_event event;
        fl_trace_event(writer->trace, writer->device, i, &event);
        bool is_op = fl_trace_is_unwritten(writer->trace,
                                           fl_trace_columns(writer->trace, writer->device), i);
        fits = put_format(writer, "%s\n    ", i > 0 ? "," : "") &&
               (is_op ? put_operation(writer, i, &event) : put_event(writer, i, &event));
    }
    return fits && put(writer, "]", 1);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool put_settings(json_writer *writer)
{
    const char *conf = fl_trace_conf(writer->trace);
    if (fl_trace_lacks_conf(writer->trace))
        return true;
    if (conf == NULL)
        return put_format(writer, ",\n \"allocator_settings\": {}");
    return put_format(writer, ",\n \"allocator_settings\": {\"PYTORCH_CUDA_ALLOC_CONF\": ") &&
           put_text(writer, conf) && put(writer, "}", 1);
}

static bool put_start_block(json_writer *writer, const fl_block_view *block)
{
    fl_write_options line = quoting(writer);
    uint32_t category = fl_trace_category(writer->trace, writer->device, block->id);
    return put_format(writer, ",\n  {\"op\": \"") &&
           fl_script_write_block(writer->trace, writer->device, block, &line, writer->error) ==
               FL_OK &&
           put(writer, "\"", 1) && (category == FL_NONE || put_category(writer, category)) &&
           put(writer, "}", 1);
}

static bool put_start_device(json_writer *writer, bool *is_first)
{
    const fl_trace_start *start = &writer->trace->devices.items[writer->device].start;
    fl_write_options line = quoting(writer);
    size_t at = 0;
    bool fits = true;
    for (size_t i = 0; i < start->segments.count && fits; i++) {
        const fl_segment_view *run = &start->segments.items[i];
        fits = put_format(writer, "%s\n  {\"op\": \"", *is_first ? "" : ",") &&
               fl_script_write_run(writer->trace, writer->device, run, &line, writer->error) ==
                   FL_OK &&
               put(writer, "\"}", 2);
        *is_first = false;
        for (; fits && at < start->blocks.count &&
               start->blocks.items[at].address - run->address < run->size;
             at++)
            fits = start->blocks.items[at].state == FL_BLOCK_FREE ||
                   put_start_block(writer, &start->blocks.items[at]);
    }
    return fits;
}

/* What was there before the first event, where the trace was told of it. */
static bool put_start(json_writer *writer)
{
    bool is_first = true, fits = put_format(writer, ", \"start\": [");
    for (writer->device = 0; writer->device < writer->trace->devices.count && fits;
         writer->device++)
        fits = put_start_device(writer, &is_first);
    return fits && put(writer, "]", 1);
}

static bool tells_start(const fl_trace *trace)
{
    bool has_start = false;
    for (size_t i = 0; i < trace->devices.count; i++)
        has_start |= trace->devices.items[i].start.segments.count > 0;
    return trace->has_ops && has_start;
}

/* That nothing is to be inferred, the card, and where it starts. */
static bool put_world(json_writer *writer)
{
    uint64_t capacity = fl_trace_capacity(writer->trace);
    if (!writer->trace->has_ops)
        return true;
    bool fits = put_format(writer, "\"has_operations\": true");
    if (fits && fl_trace_is_inferred(writer->trace))
        fits = put_format(writer, ", \"is_inferred\": true");
    if (fits && capacity != UINT64_MAX)
        fits = put_format(writer, ", \"capacity\": %" PRIu64, capacity);
    return fits && (!tells_start(writer->trace) || put_start(writer));
}

/* How much there was of what is counted and not kept. */
static bool put_beside(json_writer *writer, const char *separator)
{
    const fl_beside *beside = &writer->trace->beside;
    const struct {
        uint8_t key;
        uint64_t count;
    } rows[] = {
        {KEY_EXTERNAL_ANNOTATIONS, beside->annotations},
        {KEY_HOST_SEGMENTS, beside->host_segments},
        {KEY_HOST_BYTES, beside->host_bytes},
        {KEY_HOST_TRACES, beside->host_events},
    };
    bool fits = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && fits; i++) {
        if (rows[i].count == 0)
            continue;
        fits = put_format(writer, "%s\"%s\": %" PRIu64, separator, fl_snapshot_words[rows[i].key],
                          rows[i].count);
        separator = ", ";
    }
    return fits;
}

static bool put_releases(json_writer *writer, const char *separator)
{
    fl_release_range releases = fl_trace_releases(writer->trace);
    const char *stated = writer->options->release;
    if (stated == NULL)
        stated = fl_trace_release(writer->trace);
    if (stated != NULL)
        return put_format(writer, "%s\"release\": ", separator) && put_text(writer, stated);
    if (!releases.known)
        return true;
    return put_format(writer, "%s\"first_release\": \"%u.%u\", \"last_release\": \"%u.%u\"",
                      separator, releases.first_major, releases.first_minor, releases.last_major,
                      releases.last_minor);
}

/* What the keys of a snapshot do not tell.  It comes first, since the start comes before the
 * events.
 */
static bool put_fraglab(json_writer *writer)
{
    const fl_beside *beside = &writer->trace->beside;
    bool has_beside = beside->annotations > 0 || beside->host_segments > 0 ||
                      beside->host_bytes > 0 || beside->host_events > 0;
    const char *separator = writer->trace->has_ops ? ", " : "";
    return put_format(writer, "{\"fraglab\": {") && put_world(writer) &&
           put_beside(writer, separator) && put_releases(writer, has_beside ? ", " : separator) &&
           put(writer, "},\n ", 4);
}

static bool write_all(json_writer *writer)
{
    size_t devices = writer->trace->devices.count;
    bool is_first = true, fits = put_fraglab(writer) && put_format(writer, "\"segments\": [");
    for (writer->device = 0; writer->device < devices && fits; writer->device++)
        fits = put_segments(writer, &is_first);
    fits = fits && put_format(writer, "],\n \"device_traces\": [");
    for (writer->device = 0; writer->device < devices && fits; writer->device++)
        fits = put_device_trace(writer);
    return fits && put(writer, "]", 1) && put_settings(writer) && put(writer, "}\n", 2);
}

static fl_status check_trace(const fl_trace *trace, fl_error *error)
{
    if (trace->format == FL_FORMAT_SCRIPT)
        return fl_fail(error, FL_ERR_UNAVAILABLE,
                       "%s: a script has no history, which a snapshot in JSON needs",
                       fl_trace_path(trace));
    for (size_t i = 0; i < trace->devices.count; i++)
        if (!trace->devices.items[i].has_final_state && fl_trace_event_count(trace, i) > 0)
            return fl_fail(error, FL_ERR_UNAVAILABLE,
                           "%s: device %zu has no final state, without which there is no snapshot",
                           fl_trace_path(trace), i);
    return FL_OK;
}

static void tell(const fl_write_options *options, uint64_t count, const char *what)
{
    char text[LINE_SIZE];
    snprintf(text, sizeof text, "%" PRIu64 " %s", count, what);
    if (count > 0 && options->lost != NULL)
        options->lost(options->lost_user, text);
}

/* What is not known of a trace from which a history was made. */
static void tell_unknown(const fl_trace *trace, const fl_write_options *options)
{
    char text[LINE_SIZE];
    if (options->lost == NULL)
        return;
    for (size_t device = 0; device < trace->devices.count; device++) {
        if (!trace->devices.items[device].starts_late)
            continue;
        snprintf(text, sizeof text, "that device %zu had memory before the first event", device);
        options->lost(options->lost_user, text);
    }
    if (trace->has_block_sizes)
        options->lost(options->lost_user, "that sizes are those of blocks");
}

static void tell_lost(const fl_trace *trace, const fl_write_options *options)
{
    uint64_t others = 0, left_out = 0;
    for (size_t device = 0; device < trace->devices.count; device++) {
        const fl_columns *columns = fl_trace_columns(trace, device);
        for (uint64_t i = 0; i < columns->count; i++)
            others += columns->kind[i] == FL_EVENT_OTHER;
        left_out += trace->devices.items[device].left_out;
    }
    tell(options, others, "entries that this build does not know: only that they were there is");
    tell(options, left_out, "events before a gap");
    tell_unknown(trace, options);
    tell(options, trace->beside.annotations, "annotations: only their number is");
    tell(options, trace->beside.host_segments,
         "segments of pinned host memory: only their number and bytes are");
    tell(options, trace->beside.host_events, "events of pinned host memory: only their number is");
}

fl_status fl_json_write(const fl_trace *trace, const fl_write_options *options, fl_error *error)
{
    fl_status status = check_trace(trace, error);
    if (status != FL_OK)
        return status;
    tell_lost(trace, options);
    json_writer writer = {.trace = trace, .options = options, .error = error};
    return write_all(&writer) ? FL_OK : FL_ERR_OUTPUT;
}
