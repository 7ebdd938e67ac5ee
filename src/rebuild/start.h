/* What a start state needs beside the walk back: sizes, free blocks, ranges. */
#ifndef FL_REBUILD_START_H
#define FL_REBUILD_START_H

#include "trace/trace.h"

#include <fraglab/settings.h>

/* Places what the walk back has found: gives every block its size under `settings`, fills what is
 * left with free blocks, and tells which runs are of one range.  `total_bytes` is the card's, 0:
 * not known.  What was placed before is replaced: no replay may be open over it. */
fl_status fl_start_place(fl_trace *trace, size_t device, const fl_profile *profile,
                         const fl_settings *settings, uint64_t total_bytes, fl_error *error);

#endif
