/* What a snapshot that we wrote tells beyond others: the operations of which a recorder writes
 * nothing, as lines of a script in entries of their own, what its requests are called, what was
 * there before the first event, and what a script had beside its operations. */
#include "reader/script_take.h"
#include "reader/snapshot.h"
#include "trace/told.h"

static const fl_value *ops_field(const fl_record *record, uint8_t key)
{
    return (record->has >> key & 1) != 0 ? &record->values[key] : NULL;
}

static bool ops_flag(const fl_record *record, uint8_t key)
{
    const fl_value *value = ops_field(record, key);
    return value != NULL && value->tag == FL_TAG_BOOL && value->bits != 0;
}

static fl_status ops_new_id(snapshot_reader *reader, uint64_t name, uint32_t *ret_id,
                            fl_error *error)
{
    fl_status status = fl_trace_new_id(reader->trace, reader->device, name, ret_id, error);
    if (status == FL_OK &&
        !fl_table_set(reader->host, &reader->named[reader->device], name, *ret_id, error))
        return FL_ERR_RESOURCE;
    return status;
}

fl_status fl_snapshot_identify(snapshot_reader *reader, const fl_record *record, fl_event *event,
                               fl_error *error)
{
    fl_table *live = &reader->live[reader->device];
    const fl_value *name = ops_field(record, KEY_ID);
    if (event->kind == FL_OP_FREE && ops_flag(record, KEY_HELD))
        event->flags |= FL_OP_HELD;
    if (event->kind != FL_OP_ALLOC || name == NULL || !fl_value_is_count(name))
        return fl_trace_identify(reader->trace, reader->device, live, event, error);
    const fl_value *at = ops_field(record, KEY_AT);
    if (at != NULL && fl_value_is_count(at) && at->bits != 0) {
        event->flags |= FL_OP_AT;
        event->address = at->bits;
    }
    fl_status status = ops_new_id(reader, name->bits, &event->id, error);
    if (status == FL_OK && (event->flags & FL_EVENT_OOM) == 0 &&
        !fl_table_set(reader->host, live, event->address, event->id, error))
        return FL_ERR_RESOURCE;
    return status;
}

/* The text of a key as a piece. */
static bool ops_piece(const fl_closing *closing, uint8_t key, fl_piece *ret_piece)
{
    const fl_value *text = ops_field(closing->record, key);
    if (text == NULL || text->tag != FL_TAG_TEXT)
        return false;
    ret_piece->at = fl_pickle_text(closing->pickle, text, &ret_piece->length);
    return true;
}

static fl_status ops_line(const fl_closing *closing, fl_script_line *ret_line, fl_error *error)
{
    fl_piece piece;
    char why[200];
    if (!ops_piece(closing, KEY_OP, &piece))
        return fl_fail(error, FL_ERR_INPUT, "expected 'op', a text, of an operation");
    fl_piece_trim(&piece);
    if (!fl_script_parse(piece, ret_line, why, sizeof why))
        return fl_fail(error, FL_ERR_INPUT, "'op': %s", why);
    return FL_OK;
}

static fl_status ops_names(snapshot_reader *reader, const fl_script_line *line, fl_event *event,
                           fl_error *error)
{
    fl_status status = fl_script_take_names(reader->trace, line, event, error);
    if (status != FL_OK || !line->has_id)
        return status;
    if (event->kind == FL_OP_ALLOC)
        return ops_new_id(reader, line->id, &event->id, error);
    event->id = fl_table_get(&reader->named[reader->device], line->id);
    if (event->id == FL_TABLE_EMPTY)
        return fl_fail(error, FL_ERR_INPUT, "an operation on id %llu, which was not requested",
                       (unsigned long long)line->id);
    return FL_OK;
}

fl_status fl_snapshot_operation(snapshot_reader *reader, fl_closing *closing, fl_event *event,
                                fl_error *error)
{
    fl_script_line line;
    fl_status status = ops_line(closing, &line, error);
    if (status != FL_OK)
        return status;
    bool is_recorded = line.event.kind >= FL_OP_KIND_COUNT ||
                       (line.event.kind == FL_OP_ALLOC && line.event.size > 0);
    if (is_recorded)
        return fl_fail(error, FL_ERR_INPUT, "'op': an operation that has an entry of its own kind");
    line.event.time_us = event->time_us;
    line.event.stack = event->stack;
    status = ops_names(reader, &line, &line.event, error);
    if (status == FL_OK)
        *event = line.event;
    return status;
}

static fl_status keep_category(snapshot_reader *reader, const fl_closing *closing, size_t device,
                               uint32_t id, fl_error *error)
{
    fl_piece piece;
    uint32_t text;
    if (!ops_piece(closing, KEY_CATEGORY, &piece))
        return FL_OK;
    fl_status status = fl_trace_intern_text(reader->trace, piece.at, piece.length, &text, error);
    return status == FL_OK ? fl_trace_set_category(reader->trace, device, id, text, error) : status;
}

fl_status fl_snapshot_keep(snapshot_reader *reader, fl_closing *closing, const fl_event *event,
                           fl_error *error)
{
    fl_script_line line = {.event = {.kind = event->kind}, .device = reader->device};
    fl_status status = FL_OK;
    if (event->kind == FL_OP_ALLOC)
        status = keep_category(reader, closing, reader->device, event->id, error);
    if (status != FL_OK || !ops_piece(closing, KEY_PARTS, &line.parts))
        return status;
    if (!fl_script_is_unknown(event->kind, line.parts))
        return fl_fail(error, FL_ERR_INPUT,
                       "'parts': expected key=value with keys that an operation does not have");
    uint64_t at = fl_trace_event_count(reader->trace, reader->device) - 1;
    return fl_script_take_parts(reader->trace, &line, at, error);
}

/* What was there before the first event. */

static fl_status start_block(snapshot_reader *reader, const fl_script_line *line,
                             const fl_closing *closing, fl_error *error)
{
    fl_table *named = &reader->named[line->device], *live = &reader->live[line->device];
    uint32_t id;
    if (fl_table_get(named, line->id) != FL_TABLE_EMPTY)
        return fl_fail(error, FL_ERR_INPUT, "id %llu is live already",
                       (unsigned long long)line->id);
    fl_status status = fl_script_take_block(reader->trace, line, &id, error);
    if (status == FL_OK && (!fl_table_set(reader->host, named, line->id, id, error) ||
                            !fl_table_set(reader->host, live, line->event.address, id, error)))
        return FL_ERR_RESOURCE;
    return status == FL_OK ? keep_category(reader, closing, line->device, id, error) : status;
}

fl_status fl_snapshot_start_line(void *user, fl_closing *closing, fl_error *error)
{
    snapshot_reader *reader = user;
    fl_script_line line;
    fl_status status = ops_line(closing, &line, error);
    if (status != FL_OK)
        return status;
    if (line.event.kind < FL_SCRIPT_SEGMENT)
        return fl_fail(error, FL_ERR_INPUT, "'op': expected a segment or block, S or B");
    status = fl_trace_add_device(reader->trace, line.device, error);
    if (status != FL_OK)
        return status;
    return line.event.kind == FL_SCRIPT_SEGMENT ? fl_script_take_run(reader->trace, &line, error)
                                                : start_block(reader, &line, closing, error);
}

/* The whole. */

void fl_snapshot_take_world(snapshot_reader *reader, const fl_record *record)
{
    fl_trace *trace = reader->trace;
    const struct {
        uint8_t key;
        uint64_t *count;
    } rows[] = {
        {KEY_CAPACITY, &trace->capacity_bytes},
        {KEY_EXTERNAL_ANNOTATIONS, &reader->told.annotations},
        {KEY_HOST_SEGMENTS, &reader->told.host_segments},
        {KEY_HOST_BYTES, &reader->told.host_bytes},
        {KEY_HOST_TRACES, &reader->told.host_events},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const fl_value *value = ops_field(record, rows[i].key);
        if (value != NULL && fl_value_is_count(value))
            *rows[i].count = value->bits;
    }
    trace->has_ops = ops_flag(record, KEY_OPS);
    trace->is_inferred = ops_flag(record, KEY_INFERRED);
}

/* What the file counts itself, and what it says was counted where it was made from. */
static void settle_beside(snapshot_reader *reader)
{
    const fl_beside *told = &reader->told;
    fl_beside *beside = &reader->trace->beside;
    const struct {
        uint64_t *sum, told;
    } rows[] = {
        {&beside->annotations, told->annotations},
        {&beside->host_segments, told->host_segments},
        {&beside->host_bytes, told->host_bytes},
        {&beside->host_events, told->host_events},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!fl_add(*rows[i].sum, rows[i].told, rows[i].sum))
            *rows[i].sum = UINT64_MAX;
}

/* No completion asks for anything: where one does, that is an operation. */
static void settle_completions(fl_trace *trace, size_t device)
{
    const fl_columns *columns = fl_trace_columns(trace, device);
    for (uint64_t i = 0; i < columns->count; i++)
        if (columns->kind[i] == FL_OP_FREE_DONE && columns->address != NULL &&
            columns->address[i] != 0)
            fl_trace_set_flags(trace, device, i, FL_EVENT_SILENT);
}

fl_status fl_snapshot_settle_ops(snapshot_reader *reader, fl_error *error)
{
    fl_trace *trace = reader->trace;
    fl_status status = FL_OK;
    settle_beside(reader);
    for (size_t device = 0; device < trace->devices.count && status == FL_OK; device++) {
        if (trace->has_ops)
            settle_completions(trace, device);
        else if (trace->devices.items[device].start.segments.count > 0)
            return fl_fail(error, FL_ERR_INPUT, "'start' in a file without all operations");
        status = fl_told_finish(trace, device, error);
    }
    return status;
}
