/* fraglab/capacity.h - on which cards does a trace run?
 *
 * "It fits" is not monotonic in the size of the card: a trace may run on 6374 MiB, fail on some
 * cards above, and run on all from 6404 MiB on.  So there are two numbers, and a curve.
 *
 * They are exact, not sampled.  A replay on a card does the same on every card from the most memory
 * it was granted up to the least total it was refused, so the search walks from one such stretch to
 * the next.  Where the policy also looks at the size of the card itself (a memory fraction, garbage
 * collection, the end of an expandable range), no stretch is known beyond the card that was tried:
 * there it tries the multiples of `step_bytes`, each of which stands for the cards up to the next.
 */
#ifndef FRAGLAB_CAPACITY_H
#define FRAGLAB_CAPACITY_H

#include <fraglab/base.h>
#include <fraglab/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Cards on which a replay does the same, up to its first refusal if it has one. */
typedef struct fl_capacity_interval {
    uint64_t first_bytes, end_bytes; /* half open; end FL_UNLIMITED: every larger card */
    bool works;                      /* nothing was refused */
    bool is_replayed; /* false: less than what is live at once, so nothing that follows is known */
    uint64_t refused_event; /* of the first refusal; FL_UNLIMITED: none */
    uint64_t peak_reserved_bytes;
    uint64_t driver_malloc, driver_free, driver_map, driver_unmap;
    uint64_t alloc_retries; /* FL_UNLIMITED: the policy keeps no such count */
} fl_capacity_interval;

typedef enum fl_capacity_extent {
    FL_CAPACITY_ALL,     /* the whole curve */
    FL_CAPACITY_SMALLEST /* only from the smallest card on, and what fails just below it */
} fl_capacity_extent;

typedef struct fl_capacity_options {
    /* How to replay.  Its card, on_oom, watch and progress are not used. */
    fl_replay_options replay;
    fl_capacity_extent extent;
    /* Cards from here on are taken to work, and not tried; 0: all are asked about. */
    uint64_t end_bytes;
    uint64_t most_tries; /* SMALLEST only: then FL_ERR_NO; 0: as many as it takes */
    unsigned jobs;       /* threads that share the work; 0 and 1: the caller's alone */
    /* Now and then, from the caller's thread: `done` of `total` bytes of the curve.  False ends
     * the search with FL_ERR_NO.  May be NULL. */
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} fl_capacity_options;

typedef struct fl_capacity {
    const fl_host *host;
    uint64_t smallest_card_bytes; /* from here on every card works; FL_UNLIMITED: none does */
    uint64_t lowest_fit_bytes; /* the smallest that works; FL_UNLIMITED: none does, or not asked */
    uint64_t step_bytes;       /* 0: all of the curve is exact */
    fl_capacity_interval *items; /* ascending, without gaps, to the end of all sizes */
    size_t count, room;
} fl_capacity;

/* Searches.  The same result, whatever `jobs` is.  On success the caller ends *ret_capacity with
 * fl_capacity_deinit; on failure it is untouched.  The host's `resize` is called from all threads.
 * FL_ERR_NO: `progress` said so. */
FL_API fl_status fl_capacity_find(const fl_trace *trace, const fl_capacity_options *options,
                                  fl_capacity *ret_capacity, fl_error *error);
FL_API void fl_capacity_deinit(fl_capacity *capacity); /* accepts a zeroed one */

#ifdef __cplusplus
}
#endif

#endif
