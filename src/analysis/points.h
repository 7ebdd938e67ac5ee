/* The fragmentation points of a replay: the first events at which memory that was free did not
 * serve.
 *
 * They are found from the changes alone, in one pass that costs some additions a change, whatever
 * the policy.  What stood in the way at each is asked of the policy in a second pass
 * (analysis/diagnose.h). */
#ifndef FL_ANALYSIS_POINTS_H
#define FL_ANALYSIS_POINTS_H

#include "analysis/owners.h"

#include <fraglab/observe.h>

typedef enum fl_point_kind {
    FL_POINT_FIRST_GROWTH, /* new memory was taken, or a request refused, though enough was free */
    FL_POINT_PEAK_GROWTH,  /* the growth to the most that was ever reserved */
    FL_POINT_OOM,          /* the first request that failed */
    FL_POINT_COUNT
} fl_point_kind;

/* `first_growth`, `peak_growth`, `oom`. */
const char *fl_point_name(fl_point_kind kind);

typedef struct fl_points {
    uint64_t events[FL_POINT_COUNT]; /* FL_NO_EVENT: there is none */
    fl_totals now;
    uint64_t most_reserved_bytes;
} fl_points;

void fl_points_init(fl_points *points);

/* For the watcher of a replay, after every op. */
void fl_points_view(fl_points *points, const fl_view *view);

#endif
