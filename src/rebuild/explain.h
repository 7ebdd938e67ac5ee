/* Words for a difference between replay and record. */
#ifndef FL_REBUILD_EXPLAIN_H
#define FL_REBUILD_EXPLAIN_H

#include "rebuild/compare.h"

/* Fills `ret_difference` with what was recorded, what the replay did, and why, judged by the state
 * of the replay right after.  `profile` and `settings` are those of the replay. */
fl_status fl_explain_miss(const fl_miss *miss, const fl_trace *trace, size_t device,
                          const fl_replay *replay, const fl_profile *profile,
                          const fl_settings *settings, fl_difference *ret_difference,
                          fl_error *error);

#endif
