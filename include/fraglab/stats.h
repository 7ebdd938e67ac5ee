/* fraglab/stats.h - the statistics of torch.cuda.memory_stats, as numbers (14). */
#ifndef FRAGLAB_STATS_H
#define FRAGLAB_STATS_H

#include <fraglab/base.h>
#include <fraglab/settings.h>

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

/* Reserved bytes of one private pool, as 2.13 and later report them. */
typedef struct fl_pool_stats {
    uint64_t id[2]; /* the pool's pair of numbers */
    fl_stat reserved[FL_STAT_GROUPS];
} fl_pool_stats;

/* Calls `visit` with each key and value of torch.cuda.memory_stats, as that release names and
 * orders them.  Keys live as long as the call.  `pools` (NULL: none) is sorted in place into the
 * order of the keys; releases that do not report pools ignore it. */
FL_API void fl_stats_list(const fl_profile *profile, const fl_stats *stats, fl_pool_stats *pools,
                          size_t pool_count,
                          void (*visit)(void *user, const char *key, int64_t value), void *user);

/* The table of torch.cuda.memory_summary, lines ended by newlines; the same in every release from
 * 2.0 on.  At most FL_SUMMARY_SIZE bytes with the NUL, cut to `size`; returns the length of the
 * whole. */
#define FL_SUMMARY_SIZE 8192
FL_API size_t fl_stats_summary(const fl_stats *stats, unsigned device, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
