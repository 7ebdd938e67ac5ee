/* A trace as the list of what was asked, which can be thinned out, and made a trace again. */
#ifndef FL_ANALYSIS_PROGRAM_H
#define FL_ANALYSIS_PROGRAM_H

#include "trace/build.h"

FL_VECTOR(fl_op_vector, fl_op);

typedef struct fl_program {
    const fl_host *host;
    const fl_trace *source; /* whose streams, pools and texts the ops name; outlives the program */
    struct fl_op_vector ops;
    uint32_t alloc_count; /* ids are below; each has one ALLOC */
    uint32_t target;      /* an id to follow through renumbering, or FL_NONE */
    /* For the building of a trace, by id. */
    uint32_t *numbers; /* of the trace last built; FL_NONE: not in it */
    uint8_t *marks;
    size_t room; /* entries of the last two */
} fl_program;

/* The ops of events [first, end) of a device, inferred ones in their place, and before them a
 * set_per_process_memory_fraction where `fraction` is not negative.  An op on an allocation from
 * before is left out.  Every free that is held has its completion, at the end where the trace has
 * none.  On failure there is nothing to deinit. */
fl_status fl_program_init(fl_program *program, const fl_host *host, const fl_trace *trace,
                          size_t device, uint64_t first, uint64_t end, double fraction,
                          fl_error *error);
void fl_program_deinit(fl_program *program);

/* The trace, read as if from a script, of the ops that have a flag (NULL: of all).  What asks about
 * an allocation that is not in it is not in it either; a free is held where its completion is in
 * it. Allocations are named 1, 2, 3, ...  On success the caller owns *ret_trace. */
fl_status fl_program_trace(fl_program *program, const bool *is_kept, fl_trace **ret_trace,
                           fl_error *error);

/* Drops for good what fl_program_trace would leave out. */
void fl_program_compact(fl_program *program, const bool *is_kept);

#endif
