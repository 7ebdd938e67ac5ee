/* A diagnosis as a record. */
#include "cli/diagnosed.h"

#include "cli/stacks.h"

static fl_emit_value bytes_if(bool has, uint64_t bytes)
{
    return has ? fl_emit_bytes(bytes) : fl_emit_null();
}

static fl_emit_value event_if(uint64_t event)
{
    return event != FL_NO_EVENT ? fl_emit_count(event) : fl_emit_null();
}

static fl_emit_value text_at(const fl_trace *trace, uint32_t text)
{
    const fl_names *names = fl_trace_names(trace);
    return fl_emit_text(text < names->text_count ? names->texts[text] : NULL);
}

static void emit_totals(fl_emit *emit, const fl_totals *totals)
{
    fl_emit_pair(emit, "requested_bytes", NULL, fl_emit_bytes(totals->requested_bytes));
    fl_emit_pair(emit, "allocated_bytes", NULL, fl_emit_bytes(totals->allocated_bytes));
    fl_emit_pair(emit, "active_bytes", NULL, fl_emit_bytes(totals->active_bytes));
    fl_emit_pair(emit, "reserved_bytes", NULL, fl_emit_bytes(totals->reserved_bytes));
}

static void emit_point(fl_emit *emit, const fl_trace *trace, fl_point_kind kind,
                       const fl_point *point)
{
    const char *name = fl_point_name(kind);
    const fl_probe *probe = &point->probe;
    if (point->event == FL_NO_EVENT) {
        fl_emit_pair(emit, name, NULL, fl_emit_null());
        return;
    }
    fl_emit_object_begin(emit, name, NULL);
    fl_emit_pair(emit, "event", NULL, fl_emit_count(point->event));
    fl_emit_pair(emit, "asked_bytes", NULL, fl_emit_bytes(point->requested_bytes));
    fl_emit_pair(emit, "rounded_bytes", NULL, bytes_if(point->has_probe, probe->rounded_bytes));
    fl_emit_pair(emit, "segment_bytes", NULL, bytes_if(point->has_probe, probe->segment_bytes));
    emit_totals(emit, &point->totals);
    fl_emit_pair(emit, "device_free_bytes", NULL,
                 bytes_if(point->device_free_bytes < UINT64_MAX / 2, point->device_free_bytes));
    fl_emit_pair(emit, "free_in_cache_bytes", NULL,
                 fl_emit_bytes(point->totals.reserved_bytes - point->totals.allocated_bytes));
    fl_emit_pair(emit, "usable_bytes", NULL, bytes_if(point->has_probe, probe->usable_bytes));
    fl_emit_pair(emit, "largest_usable_bytes", NULL,
                 bytes_if(point->has_probe, probe->largest_usable_bytes));
    fl_emit_object_begin(emit, "unusable_bytes", NULL);
    for (int cause = 0; cause < FL_UNUSABLE_COUNT; cause++)
        fl_emit_pair(emit, fl_unusable_name((fl_unusable)cause), NULL,
                     bytes_if(point->has_probe, probe->unusable_bytes[cause]));
    fl_emit_object_end(emit);
    fl_emit_pair(emit, "phase", NULL, text_at(trace, point->phase));
    fl_stack_emit(emit, trace, point->stack);
    fl_emit_object_end(emit);
}

static void emit_pin(fl_emit *emit, const fl_diagnosed *file, const fl_pin *pin)
{
    size_t device = file->setup.trace_device;
    uint64_t oom = file->diagnosis.points[FL_POINT_OOM].event;
    bool is_old = pin->owner.made == FL_NO_EVENT;
    fl_emit_object_begin(emit, NULL, NULL);
    fl_emit_pair(emit, "id", NULL,
                 fl_emit_count(fl_trace_original_id(file->trace, device, pin->id)));
    fl_emit_pair(emit, "address", NULL, fl_emit_address(pin->address));
    fl_emit_pair(emit, "size_bytes", NULL, fl_emit_bytes(pin->size));
    fl_emit_pair(emit, "requested_bytes", NULL, fl_emit_bytes(pin->requested));
    fl_emit_pair(emit, "allocated_event", NULL, event_if(pin->owner.made));
    fl_emit_pair(emit, "age_events", NULL,
                 is_old ? fl_emit_null() : fl_emit_count(oom - pin->owner.made));
    fl_emit_pair(emit, "freed_event", NULL, event_if(pin->owner.freed));
    fl_emit_pair(emit, "phase", NULL, text_at(file->trace, pin->owner.phase));
    fl_emit_pair(emit, "category", NULL,
                 text_at(file->trace, fl_trace_category(file->trace, device, pin->id)));
    fl_stack_emit(emit, file->trace, pin->owner.stack);
    fl_emit_object_end(emit);
}

static void emit_segments(fl_emit *emit, const fl_diagnosed *file)
{
    static const fl_emit_column columns[] = {
        {"address", NULL, FL_EMIT_ADDRESS}, {"size_bytes", NULL, FL_EMIT_BYTES},
        {"stream", NULL, FL_EMIT_ADDRESS},  {"pinned_bytes", NULL, FL_EMIT_BYTES},
        {"pins", NULL, FL_EMIT_COUNT},      {"gained_bytes", NULL, FL_EMIT_BYTES},
        {"goes_back", NULL, FL_EMIT_BOOL},  {"suffices", NULL, FL_EMIT_BOOL},
    };
    const fl_names *names = fl_trace_names(file->trace);
    fl_emit_table_begin(emit, "segments", NULL, columns, 8);
    for (size_t i = 0; i < file->diagnosis.segments.count; i++) {
        const fl_pinned_segment *pinned = &file->diagnosis.segments.items[i];
        const fl_emit_value cells[] = {
            fl_emit_address(pinned->segment.address),
            fl_emit_bytes(pinned->segment.size),
            fl_emit_address(names->streams[pinned->segment.stream]),
            fl_emit_bytes(pinned->pinned_bytes),
            fl_emit_count(pinned->pin_count),
            fl_emit_bytes(pinned->gained_bytes),
            fl_emit_bool(pinned->goes_back),
            fl_emit_bool(pinned->suffices),
        };
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

static void emit_groups(fl_session *session, const fl_diagnosed *file, fl_grouping by,
                        const char *key)
{
    fl_emit *emit = session->emit;
    const struct fl_groups *groups = &file->diagnosis.live[by];
    fl_emit_list_begin(emit, key, NULL);
    for (size_t i = 0; i < groups->count && i < session->options.top; i++) {
        const fl_group *group = &groups->items[i];
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "bytes", NULL, fl_emit_bytes(group->bytes));
        fl_emit_pair(emit, "blocks", NULL, fl_emit_count(group->blocks));
        if (by == FL_BY_STACK)
            fl_stack_emit(emit, file->trace, group->key);
        else
            fl_emit_pair(emit, by == FL_BY_PHASE ? "phase" : "category", NULL,
                         text_at(file->trace, group->key));
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
}

static void emit_peak(fl_session *session, const fl_diagnosed *file)
{
    fl_emit *emit = session->emit;
    const fl_diagnosis *d = &file->diagnosis;
    fl_emit_object_begin(emit, "peak", NULL);
    fl_emit_pair(emit, "event", NULL,
                 d->has_events ? fl_emit_count(d->peak_event) : fl_emit_null());
    emit_totals(emit, &d->peak);
    emit_groups(session, file, FL_BY_STACK, "by_stack");
    emit_groups(session, file, FL_BY_PHASE, "by_phase");
    emit_groups(session, file, FL_BY_CATEGORY, "by_category");
    fl_emit_object_end(emit);
}

static void emit_remedies(fl_emit *emit, const fl_diagnosis *d)
{
    static const fl_emit_column columns[] = {
        {"conf", NULL, FL_EMIT_TEXT},
        {"spare_percent", NULL, FL_EMIT_COUNT},
        {"peak_reserved_bytes", NULL, FL_EMIT_BYTES},
        {"driver_calls", NULL, FL_EMIT_COUNT},
    };
    fl_emit_table_begin(emit, "remedies", NULL, columns, 4);
    for (size_t i = 0; i < d->remedies.count; i++) {
        const fl_remedy *remedy = &d->remedies.items[i];
        const fl_emit_value cells[] = {
            fl_emit_text(remedy->conf), fl_emit_count(remedy->spare_percent),
            fl_emit_bytes(remedy->peak_reserved_bytes), fl_emit_count(remedy->driver_calls)};
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

void fl_diagnosed_emit(fl_session *session, const fl_diagnosed *file)
{
    fl_emit *emit = session->emit;
    const fl_diagnosis *d = &file->diagnosis;
    char counterfactual[FL_SENTENCE_SIZE];
    fl_diagnosis_counterfactual(d, counterfactual, sizeof counterfactual);
    fl_emit_pair(emit, "file", NULL, fl_emit_text(file->row.path));
    fl_emit_pair(emit, "verdict", NULL, fl_emit_text(fl_trouble_name(d->trouble)));
    fl_emit_pair(emit, "sentence", NULL, fl_emit_text(file->row.sentence));
    fl_emit_object_begin(emit, "points", NULL);
    for (int kind = 0; kind < FL_POINT_COUNT; kind++)
        emit_point(emit, file->trace, (fl_point_kind)kind, &d->points[kind]);
    fl_emit_object_end(emit);
    fl_emit_list_begin(emit, "pins", NULL);
    for (size_t i = 0; i < d->pins.count; i++)
        emit_pin(emit, file, &d->pins.items[i]);
    fl_emit_list_end(emit);
    fl_emit_pair(emit, "pinned_bytes", NULL, bytes_if(d->pins.count > 0, d->pinned_bytes));
    fl_emit_pair(emit, "counterfactual", NULL,
                 fl_emit_text(d->pins.count > 0 ? counterfactual : NULL));
    emit_segments(emit, file);
    emit_peak(session, file);
    fl_emit_pair(emit, "smallest_card_bytes", NULL,
                 bytes_if(d->smallest_card_bytes != FL_UNLIMITED, d->smallest_card_bytes));
    emit_remedies(emit, d);
    fl_emit_pair(emit, "remedies_tried", NULL, fl_emit_count(d->remedies_tried));
}

void fl_diagnosed_emit_rows(fl_emit *emit, const fl_diagnosed_row *rows, size_t count)
{
    static const fl_emit_column columns[] = {
        {"file", "file", FL_EMIT_TEXT},
        {"device", "device", FL_EMIT_COUNT},
        {"verdict", "verdict", FL_EMIT_TEXT},
        {"oom_event", "refused at", FL_EMIT_COUNT},
        {"asked_bytes", "asked", FL_EMIT_BYTES},
        {"peak_allocated_bytes", "peak live", FL_EMIT_BYTES},
        {"peak_reserved_bytes", "peak reserved", FL_EMIT_BYTES},
        {"pinned_bytes", "pinned by", FL_EMIT_BYTES},
    };
    fl_emit_table_begin(emit, "files", NULL, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const fl_diagnosed_row *row = &rows[i];
        const fl_emit_value cells[] = {
            fl_emit_text(row->path),
            fl_emit_count(row->device),
            fl_emit_text(fl_trouble_name(row->trouble)),
            row->has_oom ? fl_emit_count(row->oom_event) : fl_emit_null(),
            bytes_if(row->has_oom, row->requested_bytes),
            fl_emit_bytes(row->peak.allocated_bytes),
            fl_emit_bytes(row->peak.reserved_bytes),
            bytes_if(row->pinned_bytes > 0, row->pinned_bytes),
        };
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}
