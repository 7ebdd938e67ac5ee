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
    record->view =
        (fl_device_record){.events = record->events.items, .count = record->events.count};
    return FL_OK;
}

fl_status fl_record_add_start(fl_record *record, const fl_host *host, const fl_start *start,
                              fl_error *error)
{
    struct fl_recorded_start_vector *ranges = &record->ranges;
    if (!fl_vector_reserve(host, ranges, start->range_count, error))
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < start->range_count; i++)
        ranges->items[ranges->count++] = (fl_recorded_start){.address = start->ranges[i].address};
    for (size_t i = 0; i < start->segment_count; i++) {
        const fl_segment_view *run = &start->segments[i];
        fl_recorded_start *range = &ranges->items[run->segment];
        range->stream = run->stream;
        range->mapped_bytes += run->size;
        range->size = run->address + run->size - range->address;
    }
    size_t kept = 0;
    for (size_t i = 0; i < start->range_count; i++)
        if (start->ranges[i].page > 0)
            ranges->items[kept++] = ranges->items[i];
    ranges->count = kept;
    record->view.ranges = ranges->items;
    record->view.range_count = kept;
    return FL_OK;
}

void fl_record_deinit(fl_record *record, const fl_host *host)
{
    fl_vector_deinit(host, &record->events);
    fl_vector_deinit(host, &record->ranges);
    record->view = (fl_device_record){0};
}
