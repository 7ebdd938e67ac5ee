/* Traces a little different from one: is a finding more than luck? */
#ifndef FL_ANALYSIS_PERTURB_H
#define FL_ANALYSIS_PERTURB_H

#include <fraglab/trace.h>

/* A copy of events [first, end) of a device, as a script, in which each size that is asked for has
 * become another by up to the part `spread` of it, all requests of one size the same other, and of
 * neighbouring requests and frees on different streams half have changed places.  The same for the
 * same seed.  On success the caller owns *ret_trace. */
fl_status fl_perturb(const fl_trace *trace, size_t device, uint64_t first, uint64_t end,
                     double spread, uint64_t seed, const fl_host *host, fl_trace **ret_trace,
                     fl_error *error);

#endif
