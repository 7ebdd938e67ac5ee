/* In which order blocks from before a cut window came to be, where that decides. */
#ifndef FL_REBUILD_BIRTHS_H
#define FL_REBUILD_BIRTHS_H

#include "trace/trace.h"

/* Lists where blocks of a start state begin, mapped or not, in an order that the pairs in `ages`
 * allow, else by ascending address.  Pairs that contradict others have no effect.
 * FL_ERR_RESOURCE. */
fl_status fl_births_place(const fl_host *host, fl_trace_start *start, fl_error *error);

#endif
