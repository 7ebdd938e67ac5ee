#include "reader/script_take.h"

#include "trace/told.h"

fl_status fl_script_take_names(fl_trace *trace, const fl_script_line *line, fl_event *event,
                               fl_error *error)
{
    fl_status status = FL_OK;
    if (line->has_stream)
        status = fl_trace_intern_stream(trace, line->stream, &event->stream, error);
    if (status == FL_OK && line->has_pool)
        status = fl_trace_intern_pool(trace, line->pool, &event->pool, error);
    if (status == FL_OK && fl_kind_has_text(event->kind))
        status = fl_trace_intern_text(trace, line->text.at, line->text.length, &event->text, error);
    return status;
}

fl_status fl_script_take_parts(fl_trace *trace, const fl_script_line *line, uint64_t event,
                               fl_error *error)
{
    fl_piece rest = line->parts, part;
    while (fl_script_next_unknown(line, &rest, &part)) {
        uint32_t text;
        fl_status status = fl_trace_intern_text(trace, part.at, part.length, &text, error);
        if (status == FL_OK)
            status = fl_trace_add_note(trace, line->device, event, text, error);
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}

static fl_status check_is_first(const fl_trace *trace, const fl_script_line *line, fl_error *error)
{
    if (fl_trace_event_count(trace, line->device) == 0)
        return FL_OK;
    return fl_fail(error, FL_ERR_INPUT,
                   "what was there before the first operation comes before it");
}

fl_status fl_script_take_run(fl_trace *trace, const fl_script_line *line, fl_error *error)
{
    fl_segment_view run = {
        .is_small = line->is_small,
        .is_expandable = line->page > 0,
        .address = line->event.address,
        .size = line->event.size,
    };
    fl_status status = check_is_first(trace, line, error);
    if (status == FL_OK)
        status = fl_trace_intern_stream(trace, line->stream, &run.stream, error);
    if (status == FL_OK && line->has_pool)
        status = fl_trace_intern_pool(trace, line->pool, &run.pool, error);
    if (status == FL_OK)
        status = fl_told_add_run(trace, line->device, &run, line->range_base, line->page, error);
    return status;
}

fl_status fl_script_take_block(fl_trace *trace, const fl_script_line *line, uint32_t *ret_id,
                               fl_error *error)
{
    fl_block_view block = {
        .state = line->is_pending ? FL_BLOCK_PENDING : FL_BLOCK_LIVE,
        .address = line->event.address,
        .size = line->event.size,
        .requested = line->requested,
    };
    fl_status status = check_is_first(trace, line, error);
    if (status == FL_OK)
        status = fl_trace_new_id(trace, line->device, line->id, &block.id, error);
    if (status == FL_OK)
        status = fl_told_add_block(trace, line->device, &block, error);
    if (status == FL_OK)
        *ret_id = block.id;
    return status;
}
