/* The record that a device plays back, taken from a trace. */
#ifndef FL_REPLAY_RECORD_H
#define FL_REPLAY_RECORD_H

#include "base/vector.h"
#include "device/recorded.h"
#include "trace/trace.h"

FL_VECTOR(fl_recorded_vector, fl_recorded_event);
FL_VECTOR(fl_recorded_start_vector, fl_recorded_start);

/* Zeroed memory holds nothing. */
typedef struct fl_record {
    struct fl_recorded_vector events;
    struct fl_recorded_start_vector ranges;
    fl_device_record view; /* what a device is given; valid until the record changes */
} fl_record;

/* Gathers the segment events of a trace.  Free it with fl_record_deinit, also after a failure. */
fl_status fl_record_init(fl_record *record, const fl_host *host, const fl_columns *columns,
                         fl_error *error);
/* Adds the ranges that a start state has memory in. */
fl_status fl_record_add_start(fl_record *record, const fl_host *host, const fl_start *start,
                              fl_error *error);
void fl_record_deinit(fl_record *record, const fl_host *host);

#endif
