/* What the caching allocator holds: blocks, free sets, pools, and the books over them.
 *
 * Blocks, segments and pools are indices into arrays.  Section numbers are those of
 * docs/allocator-rules.md. */
#ifndef FL_POLICY_TORCH_STATE_H
#define FL_POLICY_TORCH_STATE_H

#include "base/ordered.h"
#include "base/vector.h"
#include "policy/torch/hash_order.h"
#include "rules/sizes.h"

#include <fraglab/policy.h>

enum {                           /* torch_block.flags */
       BLOCK_ALLOCATED = 1 << 0, /* its owner has it */
       BLOCK_MAPPED = 1 << 1,    /* backed by memory; only ranges of expandable segments are not */
       BLOCK_EXPANDABLE = 1 << 2,
       BLOCK_FREE = 1 << 3,  /* in no use, no event outstanding: in the free or the unmapped set */
       BLOCK_HELD = 1 << 4,  /* freed; completes when the trace says so */
       BLOCK_SMALL = 1 << 5, /* of a small pool */
       BLOCK_LOST = 1 << 6   /* its segment went back, but an assertion kept the block (10.5) */
};

/* No block: an index that no block has.  What lies there is in no state and larger than any, so
 * that what follows links and lists need not ask whether they end. */
enum { NO_BLOCK = 0 };

FL_VECTOR(torch_indices, uint32_t);

/* One cache line. */
struct torch_block {
    uint64_t address, size;
    uint64_t requested; /* of a free block: of the last allocation that used this object */
    uint64_t tie;       /* its place among free blocks of its size, set when it becomes free; but
                           FL_TIE_BLOCK: the number of the object, from its making on */
    uint32_t previous, next; /* neighbours in the segment, or NO_BLOCK */
    union {
        struct { /* free */
            uint32_t bin_previous, bin_next;
            uint32_t free_since; /* the pool's call counter when it entered the free set */
        };
        struct { /* allocated, or freed and pending */
            uint32_t id;
            uint32_t events; /* outstanding */
            uint32_t uses;   /* index of its set of other streams, or FL_NONE */
        };
    };
    uint32_t segment, lane;
    uint16_t bin;   /* free: where in its free set */
    uint16_t flags; /* no bytes: what writes those may have written anything */
};

_Static_assert(sizeof(struct torch_block) == 64, "a block fills one cache line");

struct torch_segment {
    uint64_t address, size;                 /* size of the range where expandable */
    uint64_t page;                          /* 0: not expandable */
    uint64_t age;                           /* its number, as FL_TIE_SEGMENT counts */
    bool follows_card;                      /* a range that a larger card might make larger */
    FL_VECTOR(torch_pages, uint64_t) pages; /* handle by slot, as far as any was mapped */
};

enum {
    BINS_WORDS = 64, /* of a bitmap, and groups of as many bins */
    BINS_SHIFT = 7   /* every power of two is cut into 128 bins */
};

/* Free blocks in order of (size, tie), by bins of like size. */
struct torch_bins {
    uint64_t summary;             /* words that are not zero */
    uint64_t words[BINS_WORDS];   /* bins that are not empty */
    uint32_t *groups[BINS_WORDS]; /* heads of 64 bins, made when first needed */
};

/* Statistics of one kind of pool, in the leanest form: what was counted up is
 * current + freed - start, and "all" is the sum of both kinds but for its peak.
 *
 * Of active blocks only the pending ones are counted, since the rest is what is allocated; and
 * their peak only while there are pending ones, since at other times it is that of what is
 * allocated. */
struct torch_counts {
    uint64_t current[FL_STAT_COUNT], peak[FL_STAT_COUNT], freed[FL_STAT_COUNT];
    uint64_t start[FL_STAT_COUNT]; /* current when sums were last set to 0 */
    uint64_t pending, pending_bytes;
};

struct torch_lane;

struct torch_pool {
    bool is_small;
    struct torch_counts *counts, *other; /* of its kind, and of the other kind */
    uint32_t owner;                      /* private pool, or FL_NONE */
    uint32_t calls;                      /* searches so far, as far as collection counts them */
    FL_VECTOR(torch_lane_of_stream, struct torch_lane *) lanes; /* NULL: nothing was ever there */
};

struct torch_lane { /* free and unmapped blocks of one pool and stream */
    struct torch_pool *pool;
    uint32_t index, pool_index, stream;
    uint32_t ranges; /* expandable ones that follow the card */
    struct torch_bins bins;
    fl_ordered unmapped; /* (address, segment) */
};

struct torch_private {
    uint32_t name; /* dense pool number */
    uint32_t small, large;
    uint32_t use_count;
    int64_t device_allocs; /* not a true count: 11.5 */
    uint32_t stats;        /* index of its statistics; FL_NONE: it never had memory */
};

struct torch_scope {
    uint32_t pool;   /* dense; it may be deleted while the scope is open (22.10) */
    uint32_t stream; /* FL_NONE: every stream */
    bool is_capture;
};

struct torch_event {
    uint64_t number;
    uint32_t block;
};

struct torch_queue {
    FL_VECTOR(torch_events, struct torch_event) events;
    size_t head;
};

struct torch_uses {
    struct hash_order streams;    /* hash of stream -> dense stream */
    struct hash_order in_capture; /* those recorded during a capture */
    uint32_t next_unused;
};

/* What next_value tells. */
struct torch_tracking {
    uint64_t next_split;    /* least larger split limit at which a comparison turns out otherwise */
    bool is_split_replaced; /* an op has set another limit than the one given at the start */
    uint64_t next_total;    /* least larger card on which one does, as far as that is known ... */
    bool depends_on_total;  /* ... and one that may on any */
};

/* How a step of a request ended. */
typedef enum torch_step {
    STEP_NO, /* nothing found, nothing obtained */
    STEP_YES,
    STEP_FORBIDDEN, /* the release would fail an assertion; `forbidden` says which */
    STEP_BROKEN     /* the host or the device failed; `error` says how */
} torch_step;

struct fl_policy_state {
    /* Where it runs. */
    const fl_host *host;
    fl_device *device;
    const fl_sink *sink;
    const fl_oracle *oracle;
    const fl_names *names;
    const fl_profile *profile;
    fl_tie tie; /* the profile's */
    fl_settings settings;
    bool rounds_plainly, counts_calls; /* what the settings come to for every request */
    bool limit_is_part;                /* of the card: `limit` comes from a fraction */
    uint64_t limit;                    /* FL_UNLIMITED: none (13) */
    uint64_t total;                    /* what the card reports */
    struct torch_tracking *tracking;   /* NULL: nobody asks */
    fl_error *error;                   /* of the op under way */
    const char *forbidden;             /* the assertion that this op would fail */
    torch_step step;                   /* how the last request ended that got nothing */
    fl_cause cause;                    /* why memory is being given back */

    /* What it holds. */
    FL_VECTOR(torch_blocks, struct torch_block) blocks; /* the first is NO_BLOCK; see block.c */
    void *block_memory;                                 /* what they lie in */
    uint32_t unused_block;         /* head of the list of unused objects, linked by `next` */
    struct torch_indices block_of; /* by allocation id; NO_BLOCK: not live */
    FL_VECTOR(torch_segments, struct torch_segment) segments;
    FL_VECTOR(torch_lanes, struct torch_lane *) lanes;
    FL_VECTOR(torch_pools, struct torch_pool *) pools; /* 0 small, 1 large, then private pairs */
    struct torch_indices stream_order; /* dense streams by ascending original number */
    uint64_t held;                     /* T: bytes from the device and not returned */
    uint64_t lost;                     /* bytes in BLOCK_LOST blocks */
    uint64_t block_age, segment_age;

    /* Private pools (12). */
    FL_VECTOR(torch_privates, struct torch_private) privates;
    struct torch_indices private_of;                    /* by dense pool; FL_NONE: there is none */
    struct torch_indices no_split;                      /* by dense pool; may outlive the pair */
    FL_VECTOR(torch_scopes, struct torch_scope) scopes; /* oldest first */
    struct hash_order freeable, use_on_oom;             /* hash of pool -> dense pool */

    /* Frees that wait (9.4 to 9.6). */
    uint64_t events_recorded;
    struct hash_order queue_order; /* hash of stream -> dense stream, streams with a queue */
    FL_VECTOR(torch_queues, struct torch_queue) queues; /* by dense stream */
    FL_VECTOR(torch_use_sets, struct torch_uses) use_sets;
    uint32_t unused_uses;
    struct torch_indices deferred; /* blocks freed in a capture that other streams used */
    struct torch_indices waiting;  /* blocks freed and held by the trace, in order */

    struct torch_counts counts[2]; /* small pools, large pools */
    uint64_t peaks[FL_STAT_COUNT]; /* of both together */
    fl_stats stats;                /* the rest; `stat` is filled in when it is asked for */
    fl_stats *shown;
    FL_VECTOR(torch_pool_stats, fl_pool_stats) pool_stats; /* they outlive their pools */
    fl_refusal refusal;
    bool has_refusal;
    struct torch_indices scratch;
    FL_VECTOR(torch_bin_sets, fl_ordered) bin_sets; /* bins that grew long */
    struct torch_indices unused_bin_sets;
};

typedef struct fl_policy_state torch;

/* A request on its way through the steps. */
struct torch_request {
    uint64_t size;    /* n, asked for */
    uint64_t rounded; /* R */
    uint32_t stream, pool, id;
    bool expandable;
    bool from_fallback; /* found in a use-on-oom pool */
};

static inline struct torch_block *torch_block_at(const torch *st, uint32_t index)
{
    return &st->blocks.items[index];
}

#endif
