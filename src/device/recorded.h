/* What a recorded allocator did with its device, for the device that plays it back.
 *
 * A snapshot says which segments came and went, and where, but not what the device refused.  A
 * refusal shows in what comes next: a call is granted if the record goes on with it, and refused
 * if it goes on with memory being given back, or with nothing. */
#ifndef FL_DEVICE_RECORDED_H
#define FL_DEVICE_RECORDED_H

#include <fraglab/device.h>

typedef enum fl_recorded_kind {
    FL_RECORDED_ALLOC,
    FL_RECORDED_FREE,
    FL_RECORDED_MAP,
    FL_RECORDED_UNMAP
} fl_recorded_kind;

typedef struct fl_recorded_event {
    uint64_t event; /* its number in the trace */
    uint64_t address, size;
    uint32_t stream; /* dense */
    fl_recorded_kind kind;
} fl_recorded_event;

/* A range that was there before the first event: what of it was ever mapped lies in [address,
 * address + size). */
typedef struct fl_recorded_start {
    uint64_t address, size, mapped_bytes;
    uint32_t stream;
} fl_recorded_start;

/* Ascending by event; outlives the device. */
typedef struct fl_device_record {
    const fl_recorded_event *events;
    size_t count;
    const fl_recorded_start *ranges;
    size_t range_count;
} fl_device_record;

/* To be called before each op, on a device that was opened as `recorded`.  What the op may be
 * granted are the records from `begin` up to, but not including, `end`:
 *
 * - `begin` is the number of the event after the previous op that the record holds; an op that is
 *   only inferred has the `begin` of the next recorded one, since they share what lies between;
 * - `end` is the number of the op's own event, or the one that an inferred op comes before.
 *
 * As long as `begin` stays the same, what was played back stays played back. */
void fl_device_recorded_seek(fl_device *device, uint64_t begin, uint64_t end);

#endif
