/* Scripts: one operation a line, written by people, generators and `convert`.
 *
 * A line is a letter, fields, and parts `key=value`; rows say which fields a letter takes.  Lines
 * are read one at a time and never held; what is kept beside the trace is a table of live ids.  An
 * id may be used again once it was freed, and each use gets a number of its own. */
#include "reader/reader.h"
#include "reader/script_take.h"
#include "reader/script_write.h"
#include "trace/told.h"

#include "base/memory.h"
#include "base/units.h"

#define LINE_MOST ((size_t)64 * 1024)

/* Ids of one device.  `freed` maps ids whose free a `d` may complete to the event of that free; it
 * is kept from the first `d` on. */
typedef struct script_ids {
    fl_table live, freed, waiting; /* `waiting`: pending from before the first operation */
    bool knows_freed;
} script_ids;

typedef struct script_reader {
    fl_input *input;
    const fl_host *host;
    fl_trace *trace;
    fl_error *error;
    uint64_t line;
    size_t device; /* of the last operation */
    script_ids ids[FL_TRACE_MAX_DEVICE + 1];
} script_reader;

static fl_status script_intern(script_reader *reader, fl_piece text, uint32_t *ret_text)
{
    return fl_trace_intern_text(reader->trace, text.at, text.length, ret_text, reader->error);
}

/* Ids. */

static fl_status ids_alloc(script_reader *reader, const fl_script_line *line, fl_event *event)
{
    script_ids *ids = &reader->ids[line->device];
    if (fl_table_get(&ids->live, line->id) != FL_TABLE_EMPTY)
        return fl_fail(reader->error, FL_ERR_INPUT, "id %llu is live already",
                       (unsigned long long)line->id);
    fl_status status =
        fl_trace_new_id(reader->trace, line->device, line->id, &event->id, reader->error);
    if (status != FL_OK)
        return status;
    if (!fl_table_set(reader->host, &ids->live, line->id, event->id, reader->error))
        return FL_ERR_RESOURCE;
    if (ids->knows_freed)
        fl_table_take(&ids->freed, line->id);
    return FL_OK;
}

static fl_status ids_free(script_reader *reader, const fl_script_line *line, fl_event *event)
{
    script_ids *ids = &reader->ids[line->device];
    event->id = fl_table_take(&ids->live, line->id);
    if (event->id == FL_TABLE_EMPTY)
        return fl_fail(reader->error, FL_ERR_INPUT, "free of id %llu which is not live",
                       (unsigned long long)line->id);
    uint32_t at = (uint32_t)fl_trace_event_count(reader->trace, line->device);
    if (ids->knows_freed && !fl_table_set(reader->host, &ids->freed, line->id, at, reader->error))
        return FL_ERR_RESOURCE;
    return FL_OK;
}

/* Finds the frees so far that were not followed by another use of their id. */
static fl_status ids_learn_freed(script_reader *reader, size_t device)
{
    script_ids *ids = &reader->ids[device];
    const fl_columns *columns = fl_trace_columns(reader->trace, device);
    for (uint64_t i = 0; i < columns->count; i++) {
        if (columns->kind[i] != FL_OP_FREE && columns->kind[i] != FL_OP_ALLOC)
            continue;
        uint64_t id = fl_trace_original_id(reader->trace, device, columns->id[i]);
        if (columns->kind[i] == FL_OP_ALLOC)
            fl_table_take(&ids->freed, id);
        else if (!fl_table_set(reader->host, &ids->freed, id, (uint32_t)i, reader->error))
            return FL_ERR_RESOURCE;
    }
    ids->knows_freed = true;
    return FL_OK;
}

/* The free that is completed here did not complete at once: it was held. */
static fl_status ids_free_done(script_reader *reader, const fl_script_line *line, fl_event *event)
{
    script_ids *ids = &reader->ids[line->device];
    fl_trace *trace = reader->trace;
    event->id = fl_table_take(&ids->waiting, line->id);
    if (event->id != FL_TABLE_EMPTY)
        return FL_OK;
    if (!ids->knows_freed && fl_trace_behind(trace, line->device).events > 0) {
        trace->needs_whole = true; /* the free may lie behind the end */
        return FL_OK;
    }
    if (!ids->knows_freed && ids_learn_freed(reader, line->device) != FL_OK)
        return FL_ERR_RESOURCE;
    uint32_t at = fl_table_take(&ids->freed, line->id);
    if (at == FL_TABLE_EMPTY)
        return fl_fail(reader->error, FL_ERR_INPUT, "id %llu has no free that could complete here",
                       (unsigned long long)line->id);
    if (at >= fl_trace_event_count(trace, line->device))
        return FL_OK; /* behind the end, as this is */
    event->id = fl_trace_columns(trace, line->device)->id[at];
    fl_trace_set_flags(trace, line->device, at, FL_OP_HELD);
    return FL_OK;
}

static fl_status ids_resolve(script_reader *reader, const fl_script_line *line, fl_event *event)
{
    switch (event->kind) {
    case FL_OP_ALLOC:
        return ids_alloc(reader, line, event);
    case FL_OP_FREE:
        return ids_free(reader, line, event);
    case FL_OP_FREE_DONE:
        return ids_free_done(reader, line, event);
    case FL_OP_USE: /* of an unknown id does nothing */
        event->id = fl_table_get(&reader->ids[line->device].live, line->id);
        return FL_OK;
    default:
        return FL_OK;
    }
}

/* Numbers for the names on the line. */
static fl_status names_resolve(script_reader *reader, const fl_script_line *line, fl_event *event)
{
    fl_trace *trace = reader->trace;
    fl_status status = fl_script_take_names(trace, line, event, reader->error);
    if (status != FL_OK || line->stack.at == NULL)
        return status;
    uint32_t frame;
    fl_frame_row row = {.line = 0};
    status = script_intern(reader, line->stack, &row.name);
    if (status == FL_OK)
        status = script_intern(reader, (fl_piece){"", 0}, &row.file);
    if (status == FL_OK)
        status = fl_trace_intern_frame(trace, row, &frame, reader->error);
    if (status == FL_OK)
        status = fl_trace_intern_stack(trace, &frame, 1, &event->stack, reader->error);
    return status;
}

/* What was there before the first operation. */

static fl_status script_block(script_reader *reader, const fl_script_line *line)
{
    script_ids *ids = &reader->ids[line->device];
    uint32_t id;
    if (fl_table_get(&ids->live, line->id) != FL_TABLE_EMPTY ||
        fl_table_get(&ids->waiting, line->id) != FL_TABLE_EMPTY)
        return fl_fail(reader->error, FL_ERR_INPUT, "id %llu is live already",
                       (unsigned long long)line->id);
    fl_status status = fl_script_take_block(reader->trace, line, &id, reader->error);
    if (status == FL_OK &&
        !fl_table_set(reader->host, line->is_pending ? &ids->waiting : &ids->live, line->id, id,
                      reader->error))
        status = FL_ERR_RESOURCE;
    return status;
}

static fl_status script_operation(script_reader *reader, fl_piece text)
{
    fl_script_line line;
    char why[200];
    if (!fl_script_parse(text, &line, why, sizeof why))
        return fl_fail(reader->error, FL_ERR_INPUT, "%s", why);
    fl_event event = line.event;
    reader->device = line.device;
    fl_status status = fl_trace_add_device(reader->trace, line.device, reader->error);
    if (status == FL_OK && line.event.kind >= FL_SCRIPT_SEGMENT)
        return line.event.kind == FL_SCRIPT_SEGMENT
                   ? fl_script_take_run(reader->trace, &line, reader->error)
                   : script_block(reader, &line);
    if (status == FL_OK)
        status = names_resolve(reader, &line, &event);
    if (status == FL_OK)
        status = ids_resolve(reader, &line, &event);
    if (status != FL_OK)
        return status;
    uint64_t at = fl_trace_event_count(reader->trace, line.device);
    status = fl_trace_append(reader->trace, line.device, &event, reader->error);
    if (status == FL_OK && line.has_unknown)
        status = fl_script_take_parts(reader->trace, &line, at, reader->error);
    return status;
}

/* Comments. */

static fl_status script_header(script_reader *reader, fl_piece text)
{
    fl_piece rest = text, word;
    if (fl_piece_skip(&rest, "cap=") && fl_piece_word(&rest, &word) &&
        (!fl_parse_size(word.at, word.length, &reader->trace->capacity_bytes) ||
         reader->trace->capacity_bytes == 0))
        return fl_fail(reader->error, FL_ERR_INPUT,
                       "expected a capacity of at least a byte, got '%.*s'", (int)word.length,
                       word.at);
    fl_piece_blanks(&rest);
    if (fl_piece_skip(&rest, "conf="))
        return script_intern(reader, rest, &reader->trace->conf);
    return FL_OK;
}

static fl_status script_category(script_reader *reader, fl_piece text)
{
    uint64_t id;
    fl_piece word;
    if (!fl_piece_word(&text, &word) || !fl_piece_number(word, &id))
        return FL_OK;
    uint32_t live = fl_table_get(&reader->ids[reader->device].live, id);
    fl_piece_blanks(&text);
    if (live == FL_TABLE_EMPTY || text.length == 0)
        return FL_OK;
    uint32_t name;
    fl_status status = script_intern(reader, text, &name);
    if (status != FL_OK)
        return status;
    return fl_trace_set_category(reader->trace, reader->device, live, name, reader->error);
}

static fl_status script_mark(script_reader *reader, fl_piece text)
{
    fl_event event = {
        .kind = FL_OP_MARK,
        .id = FL_NONE,
        .stream = FL_NONE,
        .pool = FL_NONE,
        .stack = FL_NONE,
        .time_us = FL_TIME_UNKNOWN,
    };
    fl_status status = script_intern(reader, text, &event.text);
    if (status == FL_OK)
        status = fl_trace_append(reader->trace, reader->device, &event, reader->error);
    return status;
}

/* The release under which the operations are what they are. */
static fl_status script_release(script_reader *reader, fl_piece text)
{
    fl_piece word;
    return fl_piece_word(&text, &word) ? script_intern(reader, word, &reader->trace->release)
                                       : FL_OK;
}

/* Where the operations come from. */
static fl_status script_origin(script_reader *reader, fl_piece text)
{
    fl_piece word;
    reader->trace->is_inferred |= fl_piece_word(&text, &word) && fl_piece_is(word, "inferred");
    return FL_OK;
}

static fl_status script_comment(script_reader *reader, fl_piece text)
{
    fl_piece rest = text;
    if (reader->line == 1 && (fl_piece_starts(text, "cap=") || fl_piece_starts(text, "conf=")))
        return script_header(reader, text);
    if (fl_piece_skip(&rest, "cat:"))
        return script_category(reader, rest);
    if (fl_piece_skip(&rest, "torch:"))
        return script_release(reader, rest);
    if (fl_piece_skip(&rest, "operations:"))
        return script_origin(reader, rest);
    if (fl_piece_starts(text, "phase:") || fl_piece_starts(text, "step:"))
        return script_mark(reader, text);
    return FL_OK;
}

/* Lines. */

static fl_status script_take_line(script_reader *reader, fl_piece line)
{
    fl_piece_trim(&line);
    if (line.length == 0)
        return FL_OK;
    if (!fl_piece_skip(&line, "#"))
        return script_operation(reader, line);
    fl_piece_blanks(&line);
    return script_comment(reader, line);
}

/* What follows the last newline may have lost its end, so it is never taken. */
static fl_status script_last_line(script_reader *reader, fl_piece line)
{
    uint64_t number = reader->line + 1;
    fl_piece_trim(&line);
    if (line.length == 0)
        return FL_OK;
    if (reader->input->options->accept_cut)
        return fl_trace_warn(reader->trace, reader->error,
                             "%s:%llu: the last line is incomplete and left out",
                             reader->input->name, (unsigned long long)number);
    fl_fail(reader->error, FL_ERR_INPUT,
            "%s:%llu: the last line is incomplete: it does not end with a newline",
            reader->input->name, (unsigned long long)number);
    return fl_hint(reader->error, "end it with a newline if nothing is missing; " FL_HINT_CUT);
}

static fl_status script_lines(script_reader *reader)
{
    fl_input *input = reader->input;
    for (;;) {
        size_t size = (size_t)(input->end - input->at);
        const uint8_t *newline = size > 0 ? memchr(input->at, '\n', size) : NULL;
        if (newline == NULL && !input->is_last && size <= LINE_MOST) {
            fl_status status = fl_input_fill(input, LINE_MOST + 1, reader->error);
            if (status != FL_OK)
                return status;
            continue;
        }
        size_t length = newline != NULL ? (size_t)(newline - input->at) : size;
        fl_piece line = {(const char *)input->at, length};
        if (newline == NULL && input->is_last && length <= LINE_MOST)
            return script_last_line(reader, line);
        reader->line++;
        if (length > LINE_MOST)
            return fl_fail(reader->error, FL_ERR_INPUT, "%s:%llu: a line of more than %zu bytes",
                           input->name, (unsigned long long)reader->line, LINE_MOST);
        fl_status status = script_take_line(reader, line);
        if (status == FL_ERR_INPUT)
            fl_prefix(reader->error, "%s:%llu", input->name, (unsigned long long)reader->line);
        if (status != FL_OK)
            return status;
        input->at = newline + 1;
    }
}

static fl_status script_read(fl_input *input, const fl_read_options *options, fl_trace *trace,
                             fl_error *error)
{
    script_reader *reader = fl_new(options->host, sizeof *reader, error);
    if (reader == NULL)
        return FL_ERR_RESOURCE;
    reader->input = input;
    reader->host = options->host;
    reader->trace = trace;
    reader->error = error;
    trace->format = FL_FORMAT_SCRIPT;
    fl_status status = script_lines(reader);
    for (size_t i = 0; status == FL_OK && i < trace->devices.count; i++)
        if ((status = fl_told_finish(trace, i, error)) == FL_ERR_INPUT)
            fl_prefix(error, "%s:%llu", input->name, (unsigned long long)reader->line);
    for (size_t i = 0; i <= FL_TRACE_MAX_DEVICE; i++) {
        fl_table_deinit(options->host, &reader->ids[i].live);
        fl_table_deinit(options->host, &reader->ids[i].freed);
        fl_table_deinit(options->host, &reader->ids[i].waiting);
    }
    fl_delete(options->host, reader, sizeof *reader);
    return status;
}

/* A comment, a blank line, or an operation's letter with a blank or the line's end behind it. */
static bool script_probe(const uint8_t *head, size_t size)
{
    size_t at = 0;
    while (at < size &&
           (head[at] == ' ' || head[at] == '\t' || head[at] == '\r' || head[at] == '\n'))
        at++;
    if (at == size)
        return size > 0;
    if (head[at] == '#')
        return true;
    bool is_alone = at + 1 == size || head[at + 1] == ' ' || head[at + 1] == '\t' ||
                    head[at + 1] == '\r' || head[at + 1] == '\n';
    return is_alone && fl_script_is_letter((char)head[at]);
}

const fl_reader_ops fl_reader_script = {
    .name = "script",
    .summary = "one operation a line: a ID BYTES STREAM, f ID, ...",
    .probe = script_probe,
    .read = script_read,
    .write = fl_script_write,
};
