/* Finding the guess that explains a history. */
#ifndef FL_REBUILD_REPAIR_H
#define FL_REBUILD_REPAIR_H

#include "rebuild/rebuild.h"

/* Rebuilds a history under the most likely guess, and changes it idea by idea as long as that leads
 * further, if the trace says that it is sought; what is inferred under the best is left in the
 * trace.  The caller owns *ret_guess. FL_OK also where nothing explains the history. */
fl_status fl_repair_guess(fl_trace *trace, size_t device, const fl_profile *profile,
                          fl_guess *ret_guess, fl_error *error);

#endif
