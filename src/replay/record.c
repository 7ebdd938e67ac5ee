/* From the segment events of a trace to the list that a device plays back. */
#include "replay/record.h"

static fl_recorded_kind recorded_kind(uint8_t kind)
{
    static const fl_recorded_kind kinds[] = {
        [FL_EVENT_SEGMENT_ALLOC - FL_EVENT_SEGMENT_ALLOC] = FL_RECORDED_ALLOC,
        [FL_EVENT_SEGMENT_FREE - FL_EVENT_SEGMENT_ALLOC] = FL_RECORDED_FREE,
        [FL_EVENT_SEGMENT_MAP - FL_EVENT_SEGMENT_ALLOC] = FL_RECORDED_MAP,
        [FL_EVENT_SEGMENT_UNMAP - FL_EVENT_SEGMENT_ALLOC] = FL_RECORDED_UNMAP,
    };
    return kinds[kind - FL_EVENT_SEGMENT_ALLOC];
}

fl_status fl_record_init(fl_record *record, const fl_host *host, const fl_columns *columns,
                         fl_error *error)
{
    size_t count = 0;
    for (uint64_t i = 0; i < columns->count; i++)
        count += fl_kind_is_segment(columns->kind[i]);
    if (!fl_vector_reserve(host, &record->events, count, error))
        return FL_ERR_RESOURCE;
    for (uint64_t i = 0; i < columns->count; i++) {
        if (!fl_kind_is_segment(columns->kind[i]))
            continue;
        record->events.items[record->events.count++] = (fl_recorded_event){
            .event = i,
            .address = columns->address != NULL ? columns->address[i] : 0,
            .size = columns->size[i],
            .stream = columns->stream[i] != FL_NONE16 ? columns->stream[i] : FL_NONE,
            .kind = recorded_kind(columns->kind[i]),
        };
    }
    record->view = (fl_device_record){record->events.items, record->events.count};
    return FL_OK;
}

void fl_record_deinit(fl_record *record, const fl_host *host)
{
    fl_vector_deinit(host, &record->events);
    record->view = (fl_device_record){0};
}
