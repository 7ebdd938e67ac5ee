/* Scripts, written: the reverse of script.c, over the same grammar.
 *
 * A free that waits for its completion is told from one that does not by the `d` that follows, so
 * one that waits to the end needs a `d` there. */
#include "base/memory.h"
#include "trace/trace.h"

#include <fraglab/units.h>
#include <fraglab/write.h>

#include <inttypes.h>
#include <stdio.h>

#define LINE_SIZE     192
#define FRACTION_SIZE 72

typedef struct script_writer {
    const fl_trace *trace;
    const fl_write_options *options;
    bool *is_pending; /* by id: freed, and waiting */
    fl_error *error;
} script_writer;

static fl_status put(script_writer *writer, const char *data, size_t size)
{
    if (writer->options->write(writer->options->user, data, size))
        return FL_OK;
    return fl_fail(writer->error, FL_ERR_OUTPUT, "a script could not be written");
}

/* A line of its own, and in it nothing that would end it. */
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
    return status == FL_OK ? put(writer, "\n", 1) : status;
}

static uint64_t original(const script_writer *writer, uint32_t id)
{
    return fl_trace_original_id(writer->trace, writer->options->trace_device, id);
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

static fl_status write_id(script_writer *writer, char letter, uint32_t id)
{
    char line[LINE_SIZE];
    int length = snprintf(line, sizeof line, "%c %" PRIu64 "\n", letter, original(writer, id));
    return put(writer, line, (size_t)length);
}

static fl_status write_alloc(script_writer *writer, const fl_op *op)
{
    char line[LINE_SIZE];
    int length = snprintf(line, sizeof line, "a %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                          original(writer, op->id), op->size,
                          fl_trace_names(writer->trace)->streams[op->stream]);
    return put(writer, line, (size_t)length);
}

/* What was there before a cut window has a number behind those of the window, or none. */
static bool is_from_before(const script_writer *writer, uint32_t id)
{
    const fl_trace_device *device = &writer->trace->devices.items[writer->options->trace_device];
    return id == FL_NONE || (!device->is_complete && id >= device->start.first_id);
}

static fl_status write_free(script_writer *writer, const fl_op *op)
{
    if (is_from_before(writer, op->id))
        return fl_fail(writer->error, FL_ERR_UNAVAILABLE,
                       "%s: the window is cut: an allocation from before it is freed",
                       fl_trace_path(writer->trace));
    writer->is_pending[op->id] = op->flags & FL_OP_HELD;
    return write_id(writer, 'f', op->id);
}

static fl_status write_free_done(script_writer *writer, const fl_op *op)
{
    if (op->id == FL_NONE || !writer->is_pending[op->id])
        return FL_OK;
    writer->is_pending[op->id] = false;
    return write_id(writer, 'd', op->id);
}

static fl_status write_use(script_writer *writer, const fl_op *op)
{
    if (op->id == FL_NONE)
        return FL_OK;
    char line[LINE_SIZE];
    int length =
        snprintf(line, sizeof line, "r %" PRIu64 " %" PRIu64 "\n", original(writer, op->id),
                 fl_trace_names(writer->trace)->streams[op->stream]);
    return put(writer, line, (size_t)length);
}

static fl_status write_scope(script_writer *writer, const fl_op *op)
{
    const fl_names *names = fl_trace_names(writer->trace);
    char line[LINE_SIZE], pool[48], stream[32] = "";
    format_pool(names->pools[op->pool], pool);
    if (op->stream != FL_NONE)
        snprintf(stream, sizeof stream, " stream=%" PRIu64, names->streams[op->stream]);
    int length = snprintf(line, sizeof line, "b %s%s%s%s%s\n", pool, stream,
                          op->flags & FL_OP_CAPTURE ? " capture=1" : "",
                          op->flags & FL_OP_NO_SPLIT ? " nosplit=1" : "",
                          op->flags & FL_OP_USE_ON_OOM ? " use_on_oom=1" : "");
    return put(writer, line, (size_t)length);
}

static fl_status write_pool(script_writer *writer, char letter, const fl_op *op)
{
    char line[LINE_SIZE], pool[48] = "";
    if (op->pool != FL_NONE && op->pool != 0)
        format_pool(fl_trace_names(writer->trace)->pools[op->pool], pool);
    int length = snprintf(line, sizeof line, "%c%s%s\n", letter, *pool != '\0' ? " " : "", pool);
    return put(writer, line, (size_t)length);
}

static fl_status write_op(script_writer *writer, const fl_op *op)
{
    const char *const *texts = fl_trace_names(writer->trace)->texts;
    char line[LINE_SIZE], fraction[FRACTION_SIZE];
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
        format_fraction(op->fraction, fraction);
        return put_text(writer, "F ", fraction);
    case FL_OP_CONFIGURE:
        return put_text(writer, "C ", texts[op->text]);
    case FL_OP_MARK:
        return put_text(writer, "m ", texts[op->text]);
    case FL_OP_OUTSIDE:
        snprintf(line, sizeof line, "%" PRIu64, op->size);
        return put_text(writer, "o ", line);
    case FL_OP_EVENTS_HOLD:
        return put(writer, "p\n", 2);
    case FL_OP_EVENTS_COMPLETE:
        return put(writer, "c\n", 2);
    case FL_OP_SHOW_SEGMENTS:
        return put(writer, "s\n", 2);
    case FL_OP_SHOW_COUNTERS:
        return put(writer, "t\n", 2);
    default:
        return FL_OK;
    }
}

static fl_status write_header(script_writer *writer)
{
    const char *conf = fl_trace_conf(writer->trace);
    uint64_t capacity = fl_trace_capacity(writer->trace);
    char start[LINE_SIZE] = "# ";
    if (capacity != UINT64_MAX)
        snprintf(start, sizeof start, "# cap=%" PRIu64 "%s", capacity, conf != NULL ? " " : "");
    if (conf != NULL)
        memcpy(start + strlen(start), "conf=", sizeof "conf=");
    fl_status status = FL_OK;
    if (capacity != UINT64_MAX || conf != NULL)
        status = put_text(writer, start, conf != NULL ? conf : "");
    if (status == FL_OK && writer->options->comment != NULL)
        status = put_text(writer, "# ", writer->options->comment);
    return status;
}

/* Ops inferred before `event`; moves on in the list. */
static fl_status write_inferred(script_writer *writer, const fl_insertion **next, size_t *left,
                                uint64_t event)
{
    fl_status status = FL_OK;
    for (; status == FL_OK && *left > 0 && (*next)->event <= event; ++*next, --*left)
        status = write_op(writer, &(*next)->op);
    return status;
}

static fl_status write_events(script_writer *writer)
{
    size_t device = writer->options->trace_device, left;
    const fl_columns *columns = fl_trace_columns(writer->trace, device);
    const fl_insertion *next = fl_trace_insertions(writer->trace, device, &left);
    fl_status status = FL_OK;
    for (uint64_t i = 0; i < columns->count && status == FL_OK; i++) {
        status = write_inferred(writer, &next, &left, i);
        if (status != FL_OK || columns->kind[i] >= FL_OP_KIND_COUNT ||
            (columns->flags[i] & FL_EVENT_SILENT))
            continue;
        fl_op op;
        fl_columns_op(columns, i, &op);
        status = write_op(writer, &op);
    }
    return status == FL_OK ? write_inferred(writer, &next, &left, columns->count) : status;
}

fl_status fl_write_script(const fl_trace *trace, const fl_write_options *options, fl_error *error)
{
    size_t device = options->trace_device;
    if (device >= fl_trace_device_count(trace))
        return fl_fail(error, FL_ERR_USAGE, "%s: there is no trace of device %zu",
                       fl_trace_path(trace), device);
    uint32_t ids = fl_trace_alloc_count(trace, device);
    bool *is_pending = fl_new(trace->host, ids * sizeof *is_pending, error);
    if (is_pending == NULL)
        return FL_ERR_RESOURCE;
    script_writer writer = {trace, options, is_pending, error};
    fl_status status = write_header(&writer);
    if (status == FL_OK)
        status = write_events(&writer);
    for (uint32_t id = 0; id < ids && status == FL_OK; id++) {
        if (is_pending[id])
            status = write_id(&writer, 'd', id);
    }
    fl_delete(trace->host, is_pending, ids * sizeof *is_pending);
    return status;
}
