/* Names of the statistics, as torch.cuda.memory_stats spells them (14). */
#include <fraglab/stats.h>

static const char *const stat_names[FL_STAT_COUNT] = {
    [FL_STAT_ALLOCATION] = "allocation",
    [FL_STAT_SEGMENT] = "segment",
    [FL_STAT_ACTIVE] = "active",
    [FL_STAT_INACTIVE_SPLIT] = "inactive_split",
    [FL_STAT_ALLOCATED_BYTES] = "allocated_bytes",
    [FL_STAT_RESERVED_BYTES] = "reserved_bytes",
    [FL_STAT_ACTIVE_BYTES] = "active_bytes",
    [FL_STAT_INACTIVE_SPLIT_BYTES] = "inactive_split_bytes",
    [FL_STAT_REQUESTED_BYTES] = "requested_bytes",
};

const char *fl_stat_name(fl_stat_kind kind)
{
    return (unsigned)kind < FL_STAT_COUNT ? stat_names[kind] : NULL;
}
