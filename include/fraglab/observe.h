/* fraglab/observe.h - looking at a replay while it runs: a read-only view after every op.
 *
 * An observer is one const table in its own file under src/observer/.  It gathers from the view
 * and emits its own record. */
#ifndef FRAGLAB_OBSERVE_H
#define FRAGLAB_OBSERVE_H

#include <fraglab/base.h>
#include <fraglab/heap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Valid during the call only. */
typedef struct fl_view {
    uint64_t event;   /* its number in the trace */
    bool is_inferred; /* an op that is not in the file */
    int64_t time_us;  /* FL_TIME_UNKNOWN where not recorded */
    uint32_t stack;
    const fl_op *op;
    const fl_result *result;
    const fl_change *changes; /* what this op did, in order */
    size_t change_count;
} fl_view;

struct fl_observer_state;

/* Totals at one moment, in bytes. */
typedef struct fl_totals {
    uint64_t requested_bytes, allocated_bytes, active_bytes, reserved_bytes;
} fl_totals;

#ifdef __cplusplus
}
#endif

#endif
