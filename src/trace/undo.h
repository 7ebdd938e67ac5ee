/* Undoing events, from the final state of a trace back. */
#ifndef FL_TRACE_UNDO_H
#define FL_TRACE_UNDO_H

#include "base/extents.h"
#include "trace/trace.h"

typedef struct fl_undo_run {
    uint32_t stream, pool; /* FL_NONE: no event tells the pool */
    uint8_t kind;
    bool is_expandable;
} fl_undo_run;

FL_VECTOR(fl_undo_runs_vector, fl_undo_run);

typedef struct fl_undo {
    const fl_host *host;
    const fl_trace_device *device;
    fl_error *error;
    fl_extents runs;   /* owner: index into `known` */
    fl_extents active; /* blocks in use, as far as they reach for sure; owner: into `blocks` */
    struct fl_undo_runs_vector known;
    struct fl_block_vector blocks; /* size 0 where it is not known */
    uint64_t event;                /* that is being undone; set by the caller */
    fl_break broken;               /* events and states contradict each other */
} fl_undo;

/* These return false where the host has no room, with `error` filled.  Contradictions are noted in
 * `broken`, and are no failure. */
bool fl_undo_begin(fl_undo *undo); /* with the final state of the device */
bool fl_undo_one(fl_undo *undo, const fl_undo_event *event);

/* Adds what is mapped, by address, segments not numbered yet. */
bool fl_undo_runs(const fl_undo *undo, struct fl_segment_vector *segments);

/* The first block in use from an address on, and where it ends for sure; NULL: none. */
const fl_block_view *fl_undo_next_block(const fl_undo *undo, uint64_t from, uint64_t *ret_end);

/* Is the pool of a run not known yet, so that events before may still tell it? */
bool fl_undo_is_open(const fl_undo *undo);

void fl_undo_deinit(fl_undo *undo);

static inline bool fl_undo_is_broken(const fl_undo *undo)
{
    return undo->broken.kind != FL_BREAK_NONE;
}

#endif
