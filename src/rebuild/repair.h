/* Finding the guess that explains a history. */
#ifndef FL_REBUILD_REPAIR_H
#define FL_REBUILD_REPAIR_H

#include "rebuild/rebuild.h"

/* Rebuilds a history under the most likely guess.  Where that does not explain it, and what was
 * before the window is no excuse, it changes the guess idea by idea, if `is_seeking`; what is
 * inferred under one that explains it, else under the one that came furthest to what was before the
 * window, else under the first, is left in the trace.  FL_OK also
 * where nothing explains the history. */
fl_status fl_repair(fl_trace *trace, size_t device, const fl_profile *profile, bool is_seeking,
                    fl_attempt *ret_attempt, fl_error *error);

#endif
