/* What a snapshot that we wrote tells beyond others: the operations of which a recorder writes
 * nothing, as lines of a script in entries of their own, and what its requests are called. */
#include "reader/script_line.h"
#include "reader/snapshot.h"

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

static fl_status ops_names(snapshot_reader *reader, const fl_script_line *line, fl_event *event,
                           fl_error *error)
{
    fl_trace *trace = reader->trace;
    fl_status status = FL_OK;
    if (line->has_stream)
        status = fl_trace_intern_stream(trace, line->stream, &event->stream, error);
    if (status == FL_OK && line->has_pool)
        status = fl_trace_intern_pool(trace, line->pool, &event->pool, error);
    if (status == FL_OK && fl_kind_has_text(event->kind))
        status = fl_trace_intern_text(trace, line->text.at, line->text.length, &event->text, error);
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
    const fl_value *text = ops_field(closing->record, KEY_OP);
    if (text == NULL || text->tag != FL_TAG_TEXT)
        return fl_fail(error, FL_ERR_INPUT, "expected 'op', a text, of an operation");
    fl_piece piece;
    fl_script_line line;
    char why[200];
    piece.at = fl_pickle_text(closing->pickle, text, &piece.length);
    fl_piece_trim(&piece);
    if (!fl_script_parse(piece, &line, why, sizeof why))
        return fl_fail(error, FL_ERR_INPUT, "'op': %s", why);
    bool is_recorded = line.event.kind >= FL_OP_KIND_COUNT || line.event.kind == FL_OP_FREE ||
                       (line.event.kind == FL_OP_ALLOC && line.event.size > 0);
    if (is_recorded)
        return fl_fail(error, FL_ERR_INPUT, "'op': an operation that has an entry of its own kind");
    line.event.time_us = event->time_us;
    line.event.stack = event->stack;
    fl_status status = ops_names(reader, &line, &line.event, error);
    if (status == FL_OK)
        *event = line.event;
    return status;
}

void fl_snapshot_take_world(snapshot_reader *reader, const fl_record *record)
{
    const fl_value *capacity = ops_field(record, KEY_CAPACITY);
    reader->trace->has_ops = ops_flag(record, KEY_OPS);
    if (capacity != NULL && fl_value_is_count(capacity))
        reader->trace->capacity_bytes = capacity->bits;
}

/* No completion asks for anything: where one does, that is an operation. */
void fl_snapshot_settle_ops(snapshot_reader *reader)
{
    for (size_t device = 0; device < reader->trace->devices.count; device++) {
        const fl_columns *columns = fl_trace_columns(reader->trace, device);
        for (uint64_t i = 0; i < columns->count; i++)
            if (columns->kind[i] == FL_OP_FREE_DONE && columns->address != NULL &&
                columns->address[i] != 0)
                fl_trace_set_flags(reader->trace, device, i, FL_EVENT_SILENT);
    }
}
