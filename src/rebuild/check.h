/* A record against itself, without a replay: what cannot be, whatever the allocator. */
#ifndef FL_REBUILD_CHECK_H
#define FL_REBUILD_CHECK_H

#include "trace/trace.h"

#include <fraglab/verify.h>

typedef struct fl_record_faults {
    uint64_t counts[FL_DECISION_COUNT]; /* decisions that contradict others, each once */
    uint64_t all[FL_DECISION_COUNT];    /* decisions that the record has */
    bool has_first;
    fl_difference first; /* the earliest; valid where `has_first` */
} fl_record_faults;

/* Looks for two blocks or two segments at one place, frees of what is not there or was freed
 * before, sizes and addresses that no allocator gives, a walk back that breaks, and a final state
 * whose parts do not fit.  What may have been there before a cut window is no fault, nor is what
 * follows from a kind of event that was not recorded. */
fl_status fl_check_record(const fl_trace *trace, size_t device, const fl_host *host,
                          fl_record_faults *ret_faults, fl_error *error);

/* Does every free name the size that was asked for?  That is all that a replay does not notice. */
fl_status fl_check_frees(const fl_trace *trace, size_t device, const fl_host *host, bool *ret_fits,
                         fl_error *error);

#endif
