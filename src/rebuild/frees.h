/* Which frees of a history wait for a completion of their own. */
#ifndef FL_REBUILD_FREES_H
#define FL_REBUILD_FREES_H

#include "trace/trace.h"

/* Flags the events: a free that waits is held, and a completion that is part of its free asks for
 * nothing. */
void fl_frees_mark(fl_trace *trace, size_t device);

/* Inserts, behind the last event, frees that were not recorded and still wait at the end. */
fl_status fl_frees_finish(fl_trace *trace, size_t device, fl_error *error);

#endif
