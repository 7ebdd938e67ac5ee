/* All values of a range, stretch by stretch, shared by several workers.
 *
 * For questions whose answer at one value holds up to another that comes with it: a card, a split
 * limit.  A visit to a value settles every value up to the end of its stretch, and the sweep goes
 * on there.  A worker that has nothing left takes the upper half of the longest span of another, so
 * a stretch may be visited more than once, but each visit finds the same end. */
#ifndef FL_ANALYSIS_SWEEP_H
#define FL_ANALYSIS_SWEEP_H

#include <fraglab/base.h>

#include <stddef.h>

#define FL_SWEEP_FOUND_MOST 512

typedef struct fl_sweep {
    uint64_t first, end; /* half open */
    uint64_t grain;      /* spans are cut at its multiples */
    unsigned jobs;
    /* Answers for `at` and what follows, up to *ret_end, which is above `at`.  What it writes to
     * `found` (FL_SWEEP_FOUND_MOST bytes, for any type) goes to `keep`.  Called by all workers. */
    fl_status (*visit)(void *user, uint64_t at, void *found, uint64_t *ret_end, fl_error *error);
    /* Called by one worker at a time, in no order. */
    fl_status (*keep)(void *user, const void *found, fl_error *error);
    /* From the caller's thread; false ends the sweep with FL_ERR_NO.  May be NULL. */
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user, *progress_user;
} fl_sweep;

fl_status fl_sweep_run(const fl_sweep *sweep, fl_error *error);

#endif
