/* One card tried, and all cards of a range, shared by several workers. */
#ifndef FL_ANALYSIS_CAPACITY_WALK_H
#define FL_ANALYSIS_CAPACITY_WALK_H

#include "base/vector.h"

#include <fraglab/capacity.h>

FL_VECTOR(fl_capacity_vector, fl_capacity_interval);

/* What all tries have in common; read only. */
typedef struct fl_capacity_question {
    const fl_trace *trace;
    const fl_host *host;
    fl_replay_options replay; /* for any card, lean and tracked */
} fl_capacity_question;

/* Replays on one card: *ret_interval begins with it and ends where anything could be otherwise.
 * *ret_is_stepped: the end is not known, and stands for the next multiple of the step. */
fl_status fl_capacity_try(const fl_capacity_question *question, uint64_t card_bytes,
                          fl_capacity_interval *ret_interval, bool *ret_is_stepped,
                          fl_error *error);

/* Walks from `first` up to `end`, of which the cards from `end` on are known, and appends what it
 * finds to `found`, ascending and without gaps. */
fl_status fl_capacity_walk(const fl_capacity_question *question, uint64_t first, uint64_t end,
                           const fl_capacity_options *options, struct fl_capacity_vector *found,
                           bool *ret_is_stepped, fl_error *error);

/* Puts stretches in order and drops what one before holds already. */
void fl_capacity_tidy(struct fl_capacity_vector *found);

#endif
