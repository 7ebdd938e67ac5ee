/* Delta debugging: of many items, a few that still show what all of them show.
 *
 * Whole stretches are taken away first, then ever smaller ones.  What is left is 1-minimal: without
 * any single one of the items that are kept, the test fails.  (Zeller and Hildebrandt, "Simplifying
 * and isolating failure-inducing input", 2002; of its two steps only the reduction to complements,
 * the one that pays where most items do not matter.) */
#ifndef FL_ANALYSIS_DELTA_H
#define FL_ANALYSIS_DELTA_H

#include <fraglab/base.h>

/* Do the items with a flag in `is_kept` still show it?  The same answer to the same question.  A
 * status other than FL_OK ends the search. */
typedef fl_status (*fl_delta_test)(void *user, const bool *is_kept, bool *ret_shows,
                                   fl_error *error);

/* Clears flags of `is_kept[0..count)`, which must show it as they come; `count` is below 2^32.
 * Whatever is returned, `is_kept` is the last set that showed it. */
fl_status fl_delta_run(const fl_host *host, bool *is_kept, size_t count, fl_delta_test test,
                       void *user, fl_error *error);

#endif
