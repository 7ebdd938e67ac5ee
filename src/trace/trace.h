/* The columns behind fl_trace: at most 40 bytes an event.
 *
 * One list of columns per device.  Streams, pools, texts and stacks are numbered once for the
 * whole file.  `address` and `time_us` are NULL where no event of the device has one. */
#ifndef FL_TRACE_TRACE_H
#define FL_TRACE_TRACE_H

#include <fraglab/trace.h>

typedef struct fl_columns {
    uint64_t count, capacity;
    uint8_t *kind;  /* fl_op_kind or fl_event_kind */
    uint8_t *flags;
    uint16_t *stream; /* FL_NONE16: none */
    uint16_t *pool;
    uint32_t *id; /* MARK and CONFIGURE keep their text index here */
    uint32_t *stack;
    uint64_t *size; /* LIMIT keeps the bits of its fraction here */
    uint64_t *address;
    int64_t *time_us;
} fl_columns;

#define FL_NONE16 UINT16_MAX

#endif
