/* Which of two segments, or blocks, from before a cut window is the older one. */
#ifndef FL_REBUILD_AGES_H
#define FL_REBUILD_AGES_H

#include "rebuild/compare.h"
#include "replay/replay.h"

/* Two ranges of a start state, or two blocks where their age decides, by where they begin. */
typedef struct fl_age_pair {
    uint64_t older, younger;
} fl_age_pair;

#define FL_AGE_PAIRS 16

/* What one decision shows; more than there is room for, others will. */
typedef struct fl_ages_shown {
    fl_age_pair pairs[FL_AGE_PAIRS];
    size_t count;
} fl_ages_shown;

/* Is a difference one of order among equals from before the window?  Then *ret_shown says what the
 * record shows of it, if anything.  Judged by the state of the replay right after. */
fl_status fl_ages_judge(const fl_miss *miss, const fl_trace *trace, size_t device,
                        const fl_replay *replay, bool *ret_is_order, fl_ages_shown *ret_shown,
                        fl_error *error);

/* Adds a pair to those in `ages`.  One that is there already has not helped; else *ret_is_new
 * becomes true.  FL_ERR_RESOURCE. */
fl_status fl_ages_learn(const fl_host *host, struct fl_u64_vector *ages, const fl_age_pair *pair,
                        bool *ret_is_new, fl_error *error);

/* Brings the ranges of a start state in the order that was learnt, as far as that agrees with
 * itself. */
void fl_ages_sort(fl_trace_start *start);

#endif
