/* Collection that hangs on how long something had lain unused before a cut window. */
#ifndef FL_REBUILD_COLLECTED_H
#define FL_REBUILD_COLLECTED_H

#include "rebuild/compare.h"
#include "replay/replay.h"

/* Is a difference one of what was collected, while a free segment from before the window counted
 * for the average age?  Judged by the replay right after. */
bool fl_collected_judge(const fl_miss *miss, const fl_trace *trace, size_t device,
                        const fl_replay *replay);

#endif
