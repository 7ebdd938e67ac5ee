/* Traces a little different from one: is a finding more than luck? */
#ifndef FL_ANALYSIS_PERTURB_H
#define FL_ANALYSIS_PERTURB_H

#include <fraglab/trace.h>

typedef struct fl_perturbation {
    size_t device; /* of which the events */
    uint64_t first_event, end_event;
    double spread; /* the part of itself by which a size may change: 2 % is 1/50 */
    uint64_t seed;
} fl_perturbation;

/* A copy of a trace, as a script, in which each size that is asked for has become another, all
 * requests of one size the same other, and of neighbouring requests and frees on different streams
 * half have changed places.  The same for the same seed.  On success the caller owns *ret_trace. */
fl_status fl_perturb(const fl_trace *trace, const fl_perturbation *how, const fl_host *host,
                     fl_trace **ret_trace, fl_error *error);

#endif
