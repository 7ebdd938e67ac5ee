/* The state of one shrinking, shared by the steps that it is made of. */
#ifndef FL_ANALYSIS_SHRINK_STATE_H
#define FL_ANALYSIS_SHRINK_STATE_H

#include "analysis/program.h"
#include "analysis/shrink.h"

typedef struct fl_shrink_state {
    const fl_host *host;
    const fl_shrink_options *options;
    fl_program program;  /* the best so far */
    bool keeps_scopes;   /* opening, closing and releasing must not fail an assertion */
    uint64_t operations; /* tried, in all */
    fl_shrink_report report;
    /* For delta debugging: which unit each op belongs to (FL_NONE: it always stays), and which ops
     * are kept.  As long as the program was at first. */
    uint32_t *units;
    bool *is_kept;
    size_t room;
} fl_shrink_state;

/* `options` must outlive the state.  On failure there is nothing to close. */
fl_status fl_shrink_open(fl_shrink_state *state, const fl_trace *trace,
                         const fl_shrink_options *options, fl_error *error);
void fl_shrink_close(fl_shrink_state *state);

/* Does the program, reduced to the ops with a flag (NULL: to all), show it?  FL_ERR_NO: the search
 * ends here; the report says why. */
fl_status fl_shrink_try(fl_shrink_state *state, const bool *is_kept, bool *ret_shows,
                        fl_error *error);

/* Steps.  Each leaves the program better or as it was, also on failure, and sets *ret_any where it
 * is better. */
fl_status fl_shrink_allocations(fl_shrink_state *state, bool *ret_any, fl_error *error);
fl_status fl_shrink_operations(fl_shrink_state *state, bool *ret_any, fl_error *error);
fl_status fl_shrink_streams(fl_shrink_state *state, bool *ret_any, fl_error *error);
fl_status fl_shrink_merge(fl_shrink_state *state, bool *ret_any, fl_error *error);
fl_status fl_shrink_sizes(fl_shrink_state *state, bool *ret_any, fl_error *error);

#endif
