/* Logs of RMM's logging resource: a table with one request or free a line.
 *
 * The pointer tells which request is freed.  A free of what never came was requested before the log
 * began and is left out; a request that failed is none.  Times are those of a day, and go on over
 * midnight. */
#include "reader/reader.h"

#include "base/checked.h"
#include "base/memory.h"

#include <inttypes.h>

#define RMM_HEAD  "Thread,Time,Action,Pointer,Size,Stream"
#define RMM_LINE  ((size_t)64 * 1024)
#define RMM_CELLS 6
#define RMM_DAY   INT64_C(86400000000) /* microseconds */

struct rmm_cell {
    const char *at;
    size_t length;
};

struct rmm_reader {
    fl_input *input;
    fl_trace *trace;
    fl_table live; /* pointer to allocation */
    uint64_t line, strangers, failures;
    int64_t last_us, days_us;
    fl_error *error;
};

static fl_status rmm_fail(const struct rmm_reader *reader, const char *what)
{
    return fl_fail(reader->error, FL_ERR_INPUT, "%s:%" PRIu64 ": expected %s", reader->input->name,
                   reader->line, what);
}

static bool cell_is(const struct rmm_cell *cell, const char *word)
{
    return cell->length == strlen(word) && memcmp(cell->at, word, cell->length) == 0;
}

/* A number in a base; a base of 16 may have 0x in front. */
static bool cell_number(const struct rmm_cell *cell, unsigned base, uint64_t *ret_value)
{
    size_t i = base == 16 && cell->length > 2 && cell->at[0] == '0' && cell->at[1] == 'x' ? 2 : 0;
    uint64_t value = 0;
    if (i == cell->length)
        return false;
    for (; i < cell->length; i++) {
        char c = cell->at[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 99;
        if (digit >= base || !fl_mul(value, base, &value) || !fl_add(value, digit, &value))
            return false;
    }
    *ret_value = value;
    return true;
}

/* HH:MM:SS and, behind a colon or a point, microseconds. */
static bool cell_time(struct rmm_reader *reader, const struct rmm_cell *cell, int64_t *ret_time)
{
    static const uint64_t scales[] = {UINT64_C(3600000000), UINT64_C(60000000), 1000000, 1};
    int64_t time_us = 0;
    size_t part = 0, from = 0;
    for (size_t i = 0; i <= cell->length; i++) {
        if (i < cell->length && cell->at[i] != ':' && cell->at[i] != '.')
            continue;
        struct rmm_cell number = {cell->at + from, i - from};
        uint64_t value;
        if (part == 4 || number.length > 6 || !cell_number(&number, 10, &value))
            return false;
        time_us += (int64_t)(value * scales[part++]);
        from = i + 1;
    }
    if (part < 3)
        return false;
    if (time_us + reader->days_us + RMM_DAY / 2 < reader->last_us)
        reader->days_us += RMM_DAY;
    reader->last_us = *ret_time = time_us + reader->days_us;
    return true;
}

static fl_status rmm_request(struct rmm_reader *reader, uint64_t pointer, fl_event *event)
{
    fl_trace *trace = reader->trace;
    if (fl_table_get(&reader->live, pointer) != FL_TABLE_EMPTY)
        return rmm_fail(reader, "a pointer that is not in use");
    uint32_t next = fl_trace_alloc_count(trace, 0);
    fl_status status = fl_trace_new_id(trace, 0, next, &event->id, reader->error);
    if (status == FL_OK &&
        !fl_table_set(trace->host, &reader->live, pointer, event->id, reader->error))
        status = FL_ERR_RESOURCE;
    return status == FL_OK ? fl_trace_append(trace, 0, event, reader->error) : status;
}

static fl_status rmm_free(struct rmm_reader *reader, uint64_t pointer, fl_event *event)
{
    event->id = fl_table_take(&reader->live, pointer);
    reader->strangers += event->id == FL_TABLE_EMPTY;
    if (event->id == FL_TABLE_EMPTY)
        return FL_OK;
    event->stream = FL_NONE;
    return fl_trace_append(reader->trace, 0, event, reader->error);
}

static fl_status rmm_row(struct rmm_reader *reader, const struct rmm_cell cells[RMM_CELLS])
{
    uint64_t pointer, size, stream;
    fl_event event = {.pool = FL_NONE, .text = FL_NONE, .stack = FL_NONE};
    bool is_request = cell_is(&cells[2], "allocate");
    if (!cell_time(reader, &cells[1], &event.time_us))
        return rmm_fail(reader, "a time as HH:MM:SS.MICROSECONDS");
    if (cell_is(&cells[2], "allocate failure")) {
        reader->failures++;
        return FL_OK;
    }
    if (!is_request && !cell_is(&cells[2], "free"))
        return rmm_fail(reader, "allocate, free or allocate failure");
    if (!cell_number(&cells[3], 16, &pointer))
        return rmm_fail(reader, "a pointer");
    if (!cell_number(&cells[4], 10, &size))
        return rmm_fail(reader, "a size in bytes");
    if (!cell_number(&cells[5], 16, &stream))
        return rmm_fail(reader, "a stream");
    event.kind = is_request ? FL_OP_ALLOC : FL_OP_FREE;
    event.address = pointer;
    event.size = size;
    fl_status status = fl_trace_intern_stream(reader->trace, stream, &event.stream, reader->error);
    if (status != FL_OK)
        return status;
    return is_request ? rmm_request(reader, pointer, &event) : rmm_free(reader, pointer, &event);
}

static fl_status rmm_line(struct rmm_reader *reader, const char *at, size_t length)
{
    struct rmm_cell cells[RMM_CELLS];
    size_t count = 0, from = 0;
    reader->line++;
    if (length > 0 && at[length - 1] == '\r')
        length--;
    struct rmm_cell whole = {at, length};
    if (reader->line == 1)
        return cell_is(&whole, RMM_HEAD) ? FL_OK : rmm_fail(reader, "the line " RMM_HEAD);
    if (length == 0)
        return FL_OK;
    for (size_t i = 0; i <= length; i++) {
        if (i < length && at[i] != ',')
            continue;
        if (count == RMM_CELLS)
            return rmm_fail(reader, "6 cells");
        cells[count++] = (struct rmm_cell){at + from, i - from};
        from = i + 1;
    }
    return count == RMM_CELLS ? rmm_row(reader, cells) : rmm_fail(reader, "6 cells");
}

/* What follows the last line break may have lost its end. */
static fl_status rmm_rest(struct rmm_reader *reader, size_t length)
{
    reader->line++;
    if (length == 0)
        return FL_OK;
    if (reader->input->options->accept_cut)
        return fl_trace_warn(reader->trace, reader->error,
                             "%s:%" PRIu64 ": the last line is incomplete and left out",
                             reader->input->name, reader->line);
    rmm_fail(reader, "a line break at the end of the last line");
    return fl_hint(reader->error, FL_HINT_CUT);
}

static fl_status rmm_lines(struct rmm_reader *reader)
{
    fl_input *input = reader->input;
    for (;;) {
        size_t size = (size_t)(input->end - input->at);
        const uint8_t *end = size > 0 ? memchr(input->at, '\n', size) : NULL;
        fl_status status = FL_OK;
        if (end == NULL && !input->is_last && size <= RMM_LINE) {
            if ((status = fl_input_fill(input, RMM_LINE + 1, reader->error)) != FL_OK)
                return status;
            continue;
        }
        if (end == NULL && size > RMM_LINE) {
            reader->line++;
            return rmm_fail(reader, "a shorter line");
        }
        if (end == NULL)
            return rmm_rest(reader, size);
        status = rmm_line(reader, (const char *)input->at, (size_t)(end - input->at));
        if (status != FL_OK)
            return status;
        input->at = end + 1;
    }
}

static fl_status rmm_finish(struct rmm_reader *reader)
{
    const char *name = reader->input->name;
    fl_status status = FL_OK;
    reader->trace->devices.items[0].starts_late = reader->strangers > 0;
    if (reader->strangers > 0)
        status = fl_trace_warn(reader->trace, reader->error,
                               "%s: %" PRIu64 " frees of what was there before the log are left "
                               "out",
                               name, reader->strangers);
    if (status == FL_OK && reader->failures > 0)
        status = fl_trace_warn(reader->trace, reader->error,
                               "%s: %" PRIu64 " requests that failed are left out", name,
                               reader->failures);
    return status;
}

static fl_status rmm_read(fl_input *input, const fl_read_options *options, fl_trace *trace,
                          fl_error *error)
{
    struct rmm_reader reader = {.input = input, .trace = trace, .error = error};
    trace->format = FL_FORMAT_SCRIPT;
    fl_status status = rmm_lines(&reader);
    if (status == FL_OK)
        status = rmm_finish(&reader);
    fl_table_deinit(options->host, &reader.live);
    return status;
}

static bool rmm_probe(const uint8_t *head, size_t size)
{
    size_t length = strlen(RMM_HEAD);
    return size >= length && memcmp(head, RMM_HEAD, length) == 0;
}

const fl_reader_ops fl_reader_rmm = {
    .name = "rmm",
    .summary = "tables as RMM's logging resource writes them",
    .probe = rmm_probe,
    .read = rmm_read,
};
