/* fraglab/stats.h - the statistics of torch.cuda.memory_stats, as numbers (14). */
#ifndef FRAGLAB_STATS_H
#define FRAGLAB_STATS_H

#include <fraglab/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fl_stat_kind {
    FL_STAT_ALLOCATION,
    FL_STAT_SEGMENT,
    FL_STAT_ACTIVE,
    FL_STAT_INACTIVE_SPLIT,
    FL_STAT_ALLOCATED_BYTES,
    FL_STAT_RESERVED_BYTES,
    FL_STAT_ACTIVE_BYTES,
    FL_STAT_INACTIVE_SPLIT_BYTES,
    FL_STAT_REQUESTED_BYTES,
    FL_STAT_COUNT
} fl_stat_kind;

enum { FL_STAT_ALL, FL_STAT_SMALL, FL_STAT_LARGE, FL_STAT_GROUPS };

typedef struct fl_stat {
    uint64_t current;
    uint64_t peak;
    uint64_t allocated; /* sum of increases */
    uint64_t freed;     /* sum of decreases */
} fl_stat;

typedef struct fl_stats {
    fl_stat stat[FL_STAT_COUNT][FL_STAT_GROUPS];
    fl_stat oversize_allocations, oversize_segments;
    uint64_t alloc_retries, ooms, sync_all_streams, device_allocs, device_frees, oom_rejections;
    uint64_t max_split_bytes; /* at creation; FL_UNLIMITED prints as -1 */
} fl_stats;

/* The name PyTorch gives a statistic ("allocated_bytes"); NULL beyond the last. */
FL_API const char *fl_stat_name(fl_stat_kind kind);

#ifdef __cplusplus
}
#endif

#endif
