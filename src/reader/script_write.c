/* Scripts, written: the reverse of script.c, over the same grammar.
 *
 * A free that waits for its completion is told from one that does not by the `d` that follows; one
 * that waits to the end says so itself.  Every line carries what it has of device, time, stack and
 * parts that nobody knows. */
#include "reader/script_write.h"

#include "base/memory.h"
#include "base/table.h"
#include "trace/trace.h"

#include <fraglab/units.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define LINE_SIZE     256
#define FRACTION_SIZE 72
#define LOST_SIZE     200

/* What is known of an allocation: it is freed and waits; its completion comes somewhere. */
enum { MARK_PENDING = 1, MARK_COMPLETES = 2, MARK_FREED = 4 };

typedef struct script_writer {
    const fl_trace *trace;
    const fl_write_options *options;
    size_t device;
    uint64_t event;       /* whose parts a line carries; UINT64_MAX: none, it is inferred */
    const fl_note *notes; /* the next ones */
    size_t note_count;
    uint8_t *marks; /* by id */
    fl_table live;  /* names of what is there and not freed */
    bool is_line;   /* one alone, of which nothing else is known */
    fl_error *error;
} script_writer;

static fl_status put(script_writer *writer, const char *data, size_t size)
{
    if (writer->options->write(writer->options->user, data, size))
        return FL_OK;
    return fl_fail(writer->error, FL_ERR_OUTPUT, "a script could not be written");
}

static fl_status put_format(script_writer *writer, const char *format, ...) FL_PRINTF(2, 3);

static fl_status put_format(script_writer *writer, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return put(writer, line, (size_t)length);
}

/* A text, and in it nothing that would end the line. */
static fl_status put_text(script_writer *writer, const char *start, const char *text)
{
    fl_status status = put(writer, start, strlen(start));
    while (status == FL_OK && *text != '\0') {
        size_t length = strcspn(text, "\r\n");
        status = put(writer, text, length);
        text += length;
        if (status == FL_OK && *text != '\0') {
            status = put(writer, " ", 1);
            text++;
        }
    }
    return status;
}

static fl_status put_line(script_writer *writer, const char *start, const char *text)
{
    fl_status status = put_text(writer, start, text);
    return status == FL_OK ? put(writer, "\n", 1) : status;
}

/* ---- what every line may carry --------------------------------------------------------------- */

/* A script's own stack is one frame, named by its number. */
static bool stack_is_number(const fl_trace *trace, uint32_t stack)
{
    if (fl_trace_stack_depth(trace, stack) != 1)
        return false;
    fl_frame frame = fl_trace_stack_frame(trace, stack, 0);
    return *frame.file == '\0' && frame.line == 0 && *frame.name != '\0' &&
           strspn(frame.name, "0123456789") == strlen(frame.name);
}

static fl_status put_stack(script_writer *writer, uint32_t stack)
{
    if (stack_is_number(writer->trace, stack))
        return put_format(writer, " stack=%s", fl_trace_stack_frame(writer->trace, stack, 0).name);
    return put_format(writer, " stack=%" PRIu32, stack);
}

static fl_status put_event_parts(script_writer *writer)
{
    const fl_columns *columns = fl_trace_columns(writer->trace, writer->device);
    const char *const *texts = fl_trace_names(writer->trace)->texts;
    uint64_t i = writer->event;
    fl_status status = FL_OK;
    if (columns->time_us != NULL && columns->time_us[i] != FL_TIME_UNKNOWN)
        status = put_format(writer, " t=%" PRId64, columns->time_us[i]);
    if (status == FL_OK && columns->stack != NULL && columns->stack[i] != FL_NONE)
        status = put_stack(writer, columns->stack[i]);
    for (; status == FL_OK && writer->note_count > 0 && writer->notes->event <= i;
         writer->notes++, writer->note_count--)
        if (writer->notes->event == i)
            status = put_text(writer, " ", texts[writer->notes->text]);
    return status;
}

/* Ends a line. */
static fl_status put_parts(script_writer *writer)
{
    fl_status status = FL_OK;
    if (writer->device > 0)
        status = put_format(writer, " dev=%zu", writer->device);
    if (status == FL_OK && writer->event != UINT64_MAX)
        status = put_event_parts(writer);
    return status == FL_OK ? put(writer, "\n", 1) : status;
}

/* ---- operations ------------------------------------------------------------------------------ */

static uint64_t original(const script_writer *writer, uint32_t id)
{
    return fl_trace_original_id(writer->trace, writer->device, id);
}

/* The fewest digits that read back as the same number; a locale changes only the point. */
static void format_fraction(double fraction, char buffer[FRACTION_SIZE])
{
    for (int places = 1; places < FRACTION_SIZE - 4; places++) {
        double back;
        snprintf(buffer, FRACTION_SIZE, "%.*f", places, fraction);
        buffer[strspn(buffer, "0123456789")] = '.';
        if (fl_parse_real(buffer, strlen(buffer), &back) && back == fraction)
            return;
    }
}

static void format_pool(fl_pool_name pool, char buffer[48])
{
    if (pool.first == 0)
        snprintf(buffer, 48, "%" PRIu64, pool.second);
    else
        snprintf(buffer, 48, "%" PRIu64 ".%" PRIu64, pool.first, pool.second);
}

static fl_status write_category(script_writer *writer, uint32_t id)
{
    uint32_t category = fl_trace_category(writer->trace, writer->device, id);
    if (category == FL_NONE)
        return FL_OK;
    fl_status status = put_format(writer, "# cat: %" PRIu64, original(writer, id));
    return status == FL_OK ? put_line(writer, " ", fl_trace_names(writer->trace)->texts[category])
                           : status;
}

/* A history may hold what no program can do, and a script must not. */
static fl_status fail_event(script_writer *writer, const char *what)
{
    return fl_fail(writer->error, FL_ERR_UNAVAILABLE, "%s: event %" PRIu64 ": %s",
                   fl_trace_path(writer->trace), writer->event, what);
}

static fl_status name_begin(script_writer *writer, uint32_t id)
{
    uint64_t name = original(writer, id);
    if (!writer->is_line && fl_table_get(&writer->live, name) != FL_TABLE_EMPTY)
        return fail_event(writer, "a second allocation by the name of one that is live");
    bool is_set = writer->is_line ||
                  fl_table_set(writer->trace->host, &writer->live, name, id, writer->error);
    return is_set ? FL_OK : FL_ERR_RESOURCE;
}

static fl_status name_end(script_writer *writer, uint32_t id)
{
    bool is_live =
        writer->is_line || fl_table_take(&writer->live, original(writer, id)) != FL_TABLE_EMPTY;
    return is_live ? FL_OK : fail_event(writer, "free of an allocation that is not live");
}

static fl_status write_alloc(script_writer *writer, const fl_op *op)
{
    fl_status status = name_begin(writer, op->id);
    if (status == FL_OK)
        status = put_format(writer, "a %" PRIu64 " %" PRIu64 " %" PRIu64, original(writer, op->id),
                            op->size, fl_trace_names(writer->trace)->streams[op->stream]);
    if (status == FL_OK && (op->flags & FL_OP_AT))
        status = put_format(writer, " at=0x%" PRIx64, op->address);
    if (status == FL_OK)
        status = put_parts(writer);
    return status == FL_OK ? write_category(writer, op->id) : status;
}

static fl_status write_free(script_writer *writer, const fl_op *op)
{
    if (op->id == FL_NONE)
        return fail_event(writer, "free of an allocation that the file never made");
    fl_status status = name_end(writer, op->id);
    uint8_t *marks = &writer->marks[op->id];
    bool is_held = (op->flags & FL_OP_HELD) != 0;
    *marks = (uint8_t)((*marks & MARK_COMPLETES) | MARK_FREED | (is_held ? MARK_PENDING : 0));
    if (status == FL_OK)
        status = put_format(writer, "f %" PRIu64 "%s", original(writer, op->id),
                            is_held && !(*marks & MARK_COMPLETES) ? " held=1" : "");
    return status == FL_OK ? put_parts(writer) : status;
}

static fl_status write_free_done(script_writer *writer, const fl_op *op)
{
    if (op->id != FL_NONE && (writer->marks[op->id] & (MARK_FREED | MARK_PENDING)) == 0)
        return fail_event(writer, "completed free of an allocation which nobody freed");
    if (op->id == FL_NONE || (writer->marks[op->id] & MARK_PENDING) == 0)
        return FL_OK;
    writer->marks[op->id] &= (uint8_t)~MARK_PENDING;
    fl_status status = put_format(writer, "d %" PRIu64, original(writer, op->id));
    return status == FL_OK ? put_parts(writer) : status;
}

static fl_status write_use(script_writer *writer, const fl_op *op)
{
    if (op->id == FL_NONE)
        return FL_OK;
    fl_status status = put_format(writer, "r %" PRIu64 " %" PRIu64, original(writer, op->id),
                                  fl_trace_names(writer->trace)->streams[op->stream]);
    return status == FL_OK ? put_parts(writer) : status;
}

static fl_status write_scope(script_writer *writer, const fl_op *op)
{
    const fl_names *names = fl_trace_names(writer->trace);
    char pool[48], stream[32] = "";
    format_pool(names->pools[op->pool], pool);
    if (op->stream != FL_NONE)
        snprintf(stream, sizeof stream, " stream=%" PRIu64, names->streams[op->stream]);
    fl_status status = put_format(writer, "b %s%s%s%s%s", pool, stream,
                                  op->flags & FL_OP_CAPTURE ? " capture=1" : "",
                                  op->flags & FL_OP_NO_SPLIT ? " nosplit=1" : "",
                                  op->flags & FL_OP_USE_ON_OOM ? " use_on_oom=1" : "");
    return status == FL_OK ? put_parts(writer) : status;
}

static fl_status write_pool(script_writer *writer, char letter, const fl_op *op)
{
    char pool[48] = "";
    if (op->pool != FL_NONE && op->pool != 0)
        format_pool(fl_trace_names(writer->trace)->pools[op->pool], pool);
    fl_status status = put_format(writer, "%c%s%s", letter, *pool != '\0' ? " " : "", pool);
    return status == FL_OK ? put_parts(writer) : status;
}

static fl_status write_words(script_writer *writer, const char *start, const char *text)
{
    fl_status status = put_text(writer, start, text);
    return status == FL_OK ? put_parts(writer) : status;
}

/* What was found rather than told says so. */
static fl_status write_found(script_writer *writer, const fl_op *op, const char *start,
                             const char *text)
{
    fl_status status = put_text(writer, start, text);
    if (status == FL_OK && (op->flags & FL_OP_INFERRED))
        status = put_format(writer, " inferred=1");
    return status == FL_OK ? put_parts(writer) : status;
}

static fl_status write_op(script_writer *writer, const fl_op *op)
{
    const char *const *texts = fl_trace_names(writer->trace)->texts;
    char number[FRACTION_SIZE];
    switch (op->kind) {
    case FL_OP_ALLOC:
        return write_alloc(writer, op);
    case FL_OP_FREE:
        return write_free(writer, op);
    case FL_OP_FREE_DONE:
        return write_free_done(writer, op);
    case FL_OP_USE:
        return write_use(writer, op);
    case FL_OP_SCOPE_BEGIN:
        return write_scope(writer, op);
    case FL_OP_SCOPE_END:
        return write_pool(writer, 'q', op);
    case FL_OP_POOL_RELEASE:
        return write_pool(writer, 'x', op);
    case FL_OP_TRIM:
        return write_pool(writer, 'e', op);
    case FL_OP_LIMIT:
        if (op->flags & FL_OP_BYTES)
            snprintf(number, sizeof number, "%" PRIu64 "B", op->size);
        else
            format_fraction(op->fraction, number);
        return write_found(writer, op, "F ", number);
    case FL_OP_CONFIGURE:
        return write_found(writer, op, "C ", texts[op->text]);
    case FL_OP_MARK:
        return write_words(writer, "m ", texts[op->text]);
    case FL_OP_OUTSIDE:
        snprintf(number, sizeof number, "%" PRIu64, op->size);
        return write_words(writer, "o ", number);
    case FL_OP_EVENTS_HOLD:
        return write_words(writer, "p", "");
    case FL_OP_EVENTS_COMPLETE:
        return write_words(writer, "c", "");
    case FL_OP_SHOW_SEGMENTS:
        return write_words(writer, "s", "");
    case FL_OP_SHOW_COUNTERS:
        return write_words(writer, "t", "");
    case FL_OP_RESET_PEAKS:
        return write_words(writer, "z ", "peak");
    case FL_OP_RESET_SUMS:
        return write_words(writer, "z ", "accumulated");
    default:
        return FL_OK;
    }
}

/* For one line alone. */
static script_writer line_writer(const fl_trace *trace, size_t device,
                                 const fl_write_options *options, fl_error *error)
{
    return (script_writer){
        .trace = trace,
        .options = options,
        .device = device,
        .event = UINT64_MAX,
        .is_line = true,
        .error = error,
    };
}

fl_status fl_script_write_op(const fl_trace *trace, size_t device, const fl_op *op,
                             const fl_write_options *options, fl_error *error)
{
    script_writer writer = line_writer(trace, device, options, error);
    if (op->kind == FL_OP_FREE_DONE)
        return put_format(&writer, "d %" PRIu64 "\n", original(&writer, op->id));
    if (op->kind == FL_OP_FREE)
        return put_format(&writer, "f %" PRIu64 "%s\n", original(&writer, op->id),
                          op->flags & FL_OP_HELD ? " held=1" : "");
    return write_op(&writer, op);
}

/* ---- what stands before the operations ------------------------------------------------------- */

static const char *stated_release(const script_writer *writer)
{
    return writer->options->release != NULL ? writer->options->release
                                            : fl_trace_release(writer->trace);
}

static uint64_t stated_capacity(const script_writer *writer)
{
    uint64_t stated = fl_trace_capacity(writer->trace);
    return stated == UINT64_MAX && writer->options->capacity_bytes != 0
               ? writer->options->capacity_bytes
               : stated;
}

static fl_status write_header(script_writer *writer)
{
    const char *conf = fl_trace_conf(writer->trace), *release = stated_release(writer);
    uint64_t capacity = stated_capacity(writer);
    char start[LINE_SIZE] = "# ";
    if (capacity != UINT64_MAX)
        snprintf(start, sizeof start, "# cap=%" PRIu64 "%s", capacity, conf != NULL ? " " : "");
    if (conf != NULL)
        memcpy(start + strlen(start), "conf=", sizeof "conf=");
    fl_status status = FL_OK;
    if (capacity != UINT64_MAX || conf != NULL)
        status = put_line(writer, start, conf != NULL ? conf : "");
    if (status == FL_OK && release != NULL)
        status = put_line(writer, "# torch: ", release);
    if (status == FL_OK && writer->options->comment != NULL)
        status = put_line(writer, "# ", writer->options->comment);
    if (status == FL_OK && fl_trace_is_inferred(writer->trace))
        status = put_line(writer, "# operations: inferred", "");
    return status;
}

static fl_status write_run(script_writer *writer, const fl_segment_view *run)
{
    const fl_names *names = fl_trace_names(writer->trace);
    const fl_trace_start *start = &writer->trace->devices.items[writer->device].start;
    const fl_start_range *range = &start->ranges.items[run->segment];
    fl_status status =
        put_format(writer, "S 0x%" PRIx64 " %" PRIu64 " %" PRIu64 " small=%d", run->address,
                   run->size, names->streams[run->stream], run->is_small);
    if (status == FL_OK && run->pool != 0) {
        char pool[48];
        format_pool(names->pools[run->pool], pool);
        status = put_format(writer, " pool=%s", pool);
    }
    if (status == FL_OK && run->is_expandable)
        status =
            put_format(writer, " base=0x%" PRIx64 " page=%" PRIu64, range->address, range->page);
    return status == FL_OK ? put_parts(writer) : status;
}

static fl_status write_start_block(script_writer *writer, const fl_block_view *block)
{
    fl_status status =
        put_format(writer, "B %" PRIu64 " 0x%" PRIx64 " %" PRIu64 " %" PRIu64 "%s",
                   original(writer, block->id), block->address, block->size, block->requested,
                   block->state == FL_BLOCK_PENDING ? " pending=1" : "");
    return status == FL_OK ? put_parts(writer) : status;
}

/* A block in use, and what it is for. */
static fl_status write_start_place(script_writer *writer, const fl_block_view *block)
{
    bool is_pending = block->state == FL_BLOCK_PENDING;
    writer->marks[block->id] |= is_pending ? MARK_PENDING : 0;
    fl_status status = is_pending ? FL_OK : name_begin(writer, block->id);
    if (status == FL_OK)
        status = write_start_block(writer, block);
    return status == FL_OK && !is_pending ? write_category(writer, block->id) : status;
}

fl_status fl_script_write_run(const fl_trace *trace, size_t device, const fl_segment_view *run,
                              const fl_write_options *options, fl_error *error)
{
    script_writer writer = line_writer(trace, device, options, error);
    return write_run(&writer, run);
}

fl_status fl_script_write_block(const fl_trace *trace, size_t device, const fl_block_view *block,
                                const fl_write_options *options, fl_error *error)
{
    script_writer writer = line_writer(trace, device, options, error);
    return write_start_block(&writer, block);
}

/* Segments and blocks from before the first event, each segment with its blocks behind it. */
static fl_status write_start(script_writer *writer)
{
    const fl_trace_device *device = &writer->trace->devices.items[writer->device];
    const fl_trace_start *start = &device->start;
    size_t at = 0;
    fl_status status = FL_OK;
    if (!start->is_placed && (start->segments.count > 0 || !device->is_complete))
        return fl_fail(writer->error, FL_ERR_UNAVAILABLE,
                       "%s: the window of device %zu is cut, and what was there before its first "
                       "event is not known",
                       fl_trace_path(writer->trace), writer->device);
    for (size_t i = 0; i < start->segments.count && status == FL_OK; i++) {
        const fl_segment_view *run = &start->segments.items[i];
        status = write_run(writer, run);
        for (; status == FL_OK && at < start->blocks.count &&
               start->blocks.items[at].address - run->address < run->size;
             at++)
            if (start->blocks.items[at].state != FL_BLOCK_FREE)
                status = write_start_place(writer, &start->blocks.items[at]);
    }
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Ops inferred before `event`; moves on in the list. */
static fl_status write_inferred(script_writer *writer, const fl_insertion **next, size_t *left,
                                uint64_t event)
{
    fl_status status = FL_OK;
    writer->event = UINT64_MAX;
    for (; status == FL_OK && *left > 0 && (*next)->event <= event; ++*next, --*left)
        status = write_op(writer, &(*next)->op);
    return status;
}

static fl_status write_events(script_writer *writer)
{
    size_t device = writer->device, left;
    const fl_columns *columns = fl_trace_columns(writer->trace, device);
    const fl_insertion *next = fl_trace_insertions(writer->trace, device, &left);
    writer->notes = fl_trace_notes(writer->trace, device, &writer->note_count);
    fl_status status = FL_OK;
    for (uint64_t i = 0; i < columns->count && status == FL_OK; i++) {
        status = write_inferred(writer, &next, &left, i);
        if (status != FL_OK || columns->kind[i] >= FL_OP_KIND_COUNT ||
            (columns->flags[i] & FL_EVENT_SILENT))
            continue;
        fl_op op;
        fl_columns_op(columns, i, &op);
        writer->event = i;
        status = write_op(writer, &op);
    }
    return status == FL_OK ? write_inferred(writer, &next, &left, columns->count) : status;
}

static void mark_completion(script_writer *writer, uint8_t kind, uint32_t id)
{
    if (kind == FL_OP_FREE_DONE && id != FL_NONE)
        writer->marks[id] |= MARK_COMPLETES;
}

static void mark_completions(script_writer *writer)
{
    size_t count;
    const fl_columns *columns = fl_trace_columns(writer->trace, writer->device);
    const fl_insertion *inferred = fl_trace_insertions(writer->trace, writer->device, &count);
    for (uint64_t i = 0; i < columns->count; i++)
        if ((columns->flags[i] & FL_EVENT_SILENT) == 0)
            mark_completion(writer, columns->kind[i], columns->id[i]);
    for (size_t i = 0; i < count; i++)
        mark_completion(writer, inferred[i].op.kind, inferred[i].op.id);
}

static fl_status write_device(script_writer *writer)
{
    const fl_host *host = writer->trace->host;
    uint32_t ids = fl_trace_alloc_count(writer->trace, writer->device);
    writer->marks = fl_new(host, ids, writer->error);
    if (writer->marks == NULL)
        return FL_ERR_RESOURCE;
    mark_completions(writer);
    writer->event = UINT64_MAX;
    fl_status status = write_start(writer);
    if (status == FL_OK)
        status = write_events(writer);
    fl_delete(host, writer->marks, ids);
    fl_table_deinit(host, &writer->live);
    return status;
}

static void tell(const fl_write_options *options, const char *format, ...) FL_PRINTF(2, 3);

static void tell(const fl_write_options *options, const char *format, ...)
{
    char text[LOST_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (options->lost != NULL)
        options->lost(options->lost_user, text);
}

/* Events, or a state to start from. */
static bool has_content(const fl_trace_device *device)
{
    return device->columns.count > 0 ||
           (device->start.is_placed && device->start.segments.count > 0);
}

/* What of the trace is in no line of a script. */
static void tell_lost(const fl_trace *trace, const fl_write_options *options)
{
    uint64_t outcomes = 0, stacks = 0, blocks = 0;
    for (size_t device = 0; device < trace->devices.count; device++) {
        const fl_columns *columns = fl_trace_columns(trace, device);
        for (uint64_t i = 0; i < columns->count; i++)
            outcomes += columns->kind[i] >= FL_EVENT_OUTCOMES;
        blocks += trace->devices.items[device].blocks.count;
        if (trace->devices.items[device].starts_late)
            tell(options, "that device %zu had memory before the first event", device);
        if (!has_content(&trace->devices.items[device]) &&
            trace->devices.items[device].blocks.count > 0)
            tell(options, "device %zu, which has a state but no events", device);
    }
    for (uint32_t i = 0; i < trace->stack_ends.count; i++)
        stacks += !stack_is_number(trace, i);
    if (outcomes > 0 || blocks > 0)
        tell(options,
             "what the recorded allocator did: addresses, %" PRIu64
             " events of segments and snapshots, %" PRIu64 " blocks of the final state",
             outcomes, blocks);
    if (stacks > 0)
        tell(options, "frames of %" PRIu64 " stacks, of which the numbers are kept", stacks);
    if (trace->has_block_sizes)
        tell(options, "that sizes are those of blocks");
    if (trace->beside.annotations > 0)
        tell(options, "%" PRIu64 " annotations", trace->beside.annotations);
    if (trace->beside.host_segments > 0 || trace->beside.host_events > 0)
        tell(options, "pinned host memory: %" PRIu64 " segments, %" PRIu64 " events",
             trace->beside.host_segments, trace->beside.host_events);
}

fl_status fl_script_write(const fl_trace *trace, const fl_write_options *options, fl_error *error)
{
    script_writer writer = {
        .trace = trace, .options = options, .event = UINT64_MAX, .error = error};
    tell_lost(trace, options);
    bool is_empty = true;
    fl_status status = write_header(&writer);
    for (; status == FL_OK && writer.device < trace->devices.count; writer.device++) {
        if (!has_content(&trace->devices.items[writer.device]))
            continue;
        is_empty = false;
        status = write_device(&writer);
    }
    return status == FL_OK && is_empty ? put_line(&writer, "# no operations", "") : status;
}
