/* PyTorch's own view of its memory, at the end of a replay: memory_stats and memory_summary. */
#ifndef FL_CLI_STATISTICS_H
#define FL_CLI_STATISTICS_H

#include "cli/session.h"

#include <fraglab/replay.h>

/* What --stats and --summary show.  `pools` may be reordered. */
typedef struct fl_statistics {
    const fl_profile *profile;
    const fl_stats *stats;
    fl_pool_stats *pools;
    size_t pool_count;
    unsigned device;
    const char *const *left_out; /* keys that the trace does not determine; ends with NULL */
} fl_statistics;

/* `memory_stats`, `memory_stats_left_out` and `memory_summary` of the record, as far as they were
 * asked for. */
void fl_statistics_emit(fl_session *session, const fl_statistics *statistics);

/* The same as text: a line `KEY VALUE` for each, then the table, as PyTorch prints it. */
fl_status fl_statistics_print(fl_session *session, const fl_statistics *statistics,
                              fl_error *error);

#endif
