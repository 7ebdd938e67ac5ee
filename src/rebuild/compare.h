/* Replay against record, decision by decision, while a replay runs.
 *
 * Segments: what the allocator did with the device is recorded as events of its own, in order; the
 * changes of an op must be those that stand in front of the op's event, one by one.  Addresses:
 * each request's event says where it landed or that it was refused.  Final state: the snapshot's
 * segments and blocks (docs/verify.md). */
#ifndef FL_REBUILD_COMPARE_H
#define FL_REBUILD_COMPARE_H

#include "base/vector.h"
#include "trace/trace.h"

#include <fraglab/verify.h>

FL_VECTOR(fl_compare_segments, fl_segment_view);
FL_VECTOR(fl_compare_blocks, fl_block_view);

/* The facts of a difference; what is not there is NULL, or has a size of 0. */
typedef struct fl_miss {
    fl_decision decision;
    uint64_t event;    /* at which it shows */
    uint64_t recorded; /* event of the recorded decision, or UINT64_MAX: none was recorded */
    bool has_change;   /* SEGMENT: what the replay did in its place */
    fl_change change;
    fl_op op; /* ADDRESS, SEGMENT: the op under way; kind NONE after the last */
    fl_result result;
    fl_segment_view expected_segment, got_segment; /* FINAL_STATE */
    fl_block_view expected_block, got_block;
} fl_miss;

typedef struct fl_compare {
    const fl_host *host;
    const fl_trace *trace;
    size_t device;
    const fl_columns *columns;
    uint64_t next; /* recorded segment events before this one are accounted for */
    fl_tally tallies[FL_DECISION_COUNT];
    uint64_t releases_by_cause[FL_CAUSE_COUNT];
    uint64_t excused[FL_EXCUSE_COUNT];
    fl_excuse excuse; /* of what comes out another way; NONE: it is different */
    uint64_t differences;
    fl_miss first; /* valid where `differences` > 0 */
} fl_compare;

/* A comparison that has seen nothing.  It owns nothing. */
void fl_compare_init(fl_compare *compare, const fl_host *host, const fl_trace *trace,
                     size_t device);

/* Excuses what came out another way so far, and all that does from now on, since it may follow from
 * that; NONE: does nothing. */
void fl_compare_excuse(fl_compare *compare, fl_excuse excuse);

/* Compares what one op brought. */
void fl_compare_view(fl_compare *compare, const fl_view *view);

/* Counts recorded segment events before `event` that no op brought. */
void fl_compare_catch_up(fl_compare *compare, uint64_t event);

/* Counts the recorded segment events that are left as excused: the op they belong to was cut off
 * with the end of the file. */
void fl_compare_excuse_rest(fl_compare *compare);

/* Compares the state that `replay` has reached with the snapshot's. */
fl_status fl_compare_final_state(fl_compare *compare, const fl_replay *replay, fl_error *error);

/* Counts what has not been looked at as different: the replay could not go on. */
void fl_compare_abandon(fl_compare *compare, uint64_t event);

#endif
