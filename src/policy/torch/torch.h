/* The caching allocator of PyTorch, all releases: its state and the calls between its files.
 *
 *     torch.c       the policy table; one op in, one result out
 *     request.c     a request, step by step (6), the ladder of an out-of-memory included
 *     exact.c       a request for an exact address (17)
 *     bins.c        the free set of one pool and stream, in order (5.1)
 *     search.c      what may be taken from it (5.2, 8.1)
 *     probe.c       what would become of a request
 *     block.c       block objects: split, hand out, merge, free (8, 9)
 *     events.c      record_stream, event queues, deferred frees (9.4 to 9.6, 12.5)
 *     release.c     collection, release-available, release-all, empty_cache (10)
 *     expandable.c  expandable segments (11)
 *     pools.c       scopes and private pools (12)
 *     adopt.c       a start state
 *     tracking.c    which larger value of a setting would change anything
 *     view.c        walk, check, facts
 *
 * Blocks, segments and pools are indices into arrays.  Section numbers are those of
 * docs/allocator-rules.md. */
#ifndef FL_POLICY_TORCH_TORCH_H
#define FL_POLICY_TORCH_TORCH_H

#include "base/ordered.h"
#include "base/vector.h"
#include "policy/torch/bins.h"
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

FL_VECTOR(torch_indices, uint32_t);

/* One cache line. */
struct torch_block {
    uint64_t address, size;
    uint64_t requested; /* of a free block: of the last allocation that used this object */
    uint64_t tie;       /* its place among free blocks of its size, set when it becomes free; but
                           FL_TIE_BLOCK: the number of the object, from its making on */
    uint32_t previous, next; /* neighbours in the segment, or FL_NONE */
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
    uint16_t stream;
    uint8_t flags;
};

_Static_assert(sizeof(struct torch_block) == 64, "a block fills one cache line");

struct torch_segment {
    uint64_t address, size;                 /* size of the range where expandable */
    uint64_t page;                          /* 0: not expandable */
    uint64_t age;                           /* its number, as FL_TIE_SEGMENT counts */
    FL_VECTOR(torch_pages, uint64_t) pages; /* handle by slot, as far as any was mapped */
};

struct torch_lane { /* free and unmapped blocks of one pool and stream */
    uint32_t pool;
    uint32_t ranges; /* expandable ones */
    struct torch_bins *bins;
    fl_ordered unmapped; /* (address, segment) */
};

struct torch_pool {
    bool is_small;
    uint32_t owner;             /* private pool, or FL_NONE */
    uint32_t calls;             /* searches so far, as far as collection counts them */
    struct torch_indices lanes; /* by dense stream; FL_NONE: nothing was ever there */
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

/* Statistics of one kind of pool, in the leanest form: what was counted up is
 * current + freed - start, and "all" is the sum of both kinds but for its peak. */
struct torch_counts {
    uint64_t current[FL_STAT_COUNT], peak[FL_STAT_COUNT], freed[FL_STAT_COUNT];
    uint64_t start[FL_STAT_COUNT]; /* current when sums were last set to 0 */
};

/* What next_value tells. */
struct torch_tracking {
    uint64_t next_split;    /* least larger split limit at which a comparison turns out otherwise */
    bool is_split_replaced; /* an op has set another limit than the one given at the start */
    bool depends_on_total;  /* a comparison may turn out otherwise on a larger card */
};

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
    uint64_t limit;                  /* FL_UNLIMITED: none (13) */
    uint64_t total;                  /* what the card reports */
    struct torch_tracking *tracking; /* NULL: nobody asks */
    fl_error *error;                 /* of the op under way */
    const char *forbidden;           /* the assertion that this op would fail */
    fl_cause cause;                  /* why memory is being given back */

    /* What it holds. */
    FL_VECTOR(torch_blocks, struct torch_block) blocks;
    uint32_t unused_block;         /* head of the list of unused objects, linked by `next` */
    struct torch_indices block_of; /* by allocation id; FL_NONE: not live */
    FL_VECTOR(torch_segments, struct torch_segment) segments;
    FL_VECTOR(torch_lanes, struct torch_lane) lanes;
    FL_VECTOR(torch_pools, struct torch_pool) pools; /* 0 small, 1 large, then private pairs */
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

/* How a step of a request ended. */
typedef enum torch_step {
    STEP_NO, /* nothing found, nothing obtained */
    STEP_YES,
    STEP_FORBIDDEN, /* the release would fail an assertion; `forbidden` says which */
    STEP_BROKEN     /* the host or the device failed; `error` says how */
} torch_step;

/* A request on its way through the steps. */
struct torch_request {
    uint64_t size;    /* n, asked for */
    uint64_t rounded; /* R */
    uint64_t segment; /* A */
    uint32_t stream, pool, id;
    bool expandable;
    bool from_fallback; /* found in a use-on-oom pool */
};

static inline struct torch_block *torch_block_at(const torch *st, uint32_t index)
{
    return &st->blocks.items[index];
}

static inline struct torch_pool *torch_pool_of(const torch *st, const struct torch_block *block)
{
    return &st->pools.items[st->lanes.items[block->lane].pool];
}

static inline const struct torch_lane *torch_lane_find(const torch *st, uint32_t pool_index,
                                                       uint32_t stream)
{
    const struct torch_pool *pool = &st->pools.items[pool_index];
    uint32_t lane = stream < pool->lanes.count ? pool->lanes.items[stream] : FL_NONE;
    return lane != FL_NONE ? &st->lanes.items[lane] : NULL;
}

static inline bool torch_is_split(const struct torch_block *block)
{
    return block->previous != FL_NONE || block->next != FL_NONE;
}

/* Not allocated, no events outstanding, no uses that wait for events; mapped or not. */
static inline bool torch_is_free(const struct torch_block *block)
{
    return (block->flags & BLOCK_FREE) != 0;
}

/* The same, with blocks that are about to become free (torch_foresee_events; NULL: none). */
static inline bool torch_will_be_free(const torch *st, uint32_t index, const uint32_t *done)
{
    return torch_is_free(torch_block_at(st, index)) || (done != NULL && done[index] > 0);
}

static inline bool torch_is_expandable(const struct torch_block *block)
{
    return (block->flags & BLOCK_EXPANDABLE) != 0;
}

static inline bool torch_is_small(const struct torch_block *block)
{
    return (block->flags & BLOCK_SMALL) != 0;
}

/* Statistics: each hits "all" and the kind of the pool (14). */
static inline void torch_raise_one(fl_stat *stat, uint64_t amount)
{
    stat->current += amount;
    stat->allocated += amount;
    if (stat->current > stat->peak)
        stat->peak = stat->current;
}

static inline void torch_lower_one(fl_stat *stat, uint64_t amount)
{
    stat->current -= amount;
    stat->freed += amount;
}

static inline void torch_raise(torch *st, fl_stat_kind kind, bool is_small, uint64_t amount)
{
    struct torch_counts *counts = &st->counts[is_small ? 0 : 1];
    uint64_t current = counts->current[kind] += amount;
    if (current > counts->peak[kind])
        counts->peak[kind] = current;
    uint64_t all = current + st->counts[is_small ? 1 : 0].current[kind];
    if (all > st->peaks[kind])
        st->peaks[kind] = all;
}

static inline void torch_lower(torch *st, fl_stat_kind kind, bool is_small, uint64_t amount)
{
    struct torch_counts *counts = &st->counts[is_small ? 0 : 1];
    counts->current[kind] -= amount;
    counts->freed[kind] += amount;
}

static inline uint64_t torch_current(const torch *st, fl_stat_kind kind)
{
    return st->counts[0].current[kind] + st->counts[1].current[kind];
}

/* One single increase or decrease of a net amount. */
static inline void torch_move(torch *st, fl_stat_kind kind, bool is_small, int64_t amount)
{
    if (amount > 0)
        torch_raise(st, kind, is_small, (uint64_t)amount);
    else if (amount < 0)
        torch_lower(st, kind, is_small, (uint64_t)-amount);
}

static inline void torch_tell(const torch *st, const fl_change *change)
{
    if (st->sink != NULL)
        st->sink->change(st->sink->user, change);
}

/* A comparison that turns out otherwise from a split limit of `value` on. */
static inline void torch_track_split(const torch *st, uint64_t value)
{
    if (st->tracking != NULL && value < st->tracking->next_split &&
        !st->tracking->is_split_replaced)
        st->tracking->next_split = value;
}

/* One that may turn out otherwise on any larger card. */
static inline void torch_track_total(const torch *st)
{
    if (st->tracking != NULL)
        st->tracking->depends_on_total = true;
}

static inline torch_step torch_forbid(torch *st, const char *why)
{
    st->forbidden = why;
    return STEP_FORBIDDEN;
}

/* The whole segment counts, also where less would be mapped (7 step 3). */
static inline bool torch_is_within_limit(const torch *st, const struct torch_request *request)
{
    uint64_t wanted;
    return st->limit == FL_UNLIMITED ||
           (fl_add(st->held, request->segment, &wanted) && wanted <= st->limit);
}

/* The device answered with an error, not with a refusal. */
static inline torch_step torch_device_broke(const torch *st)
{
    fl_device_failure(st->device, st->error);
    return STEP_BROKEN;
}

/* ---- block.c ------------------------------------------------------------------------------- */

/* A new object (FL_NONE, with the error filled, if the host has no memory).  Invalidates pointers
 * to blocks. */
uint32_t torch_block_new(torch *st, const struct torch_block *like, uint64_t address, uint64_t size,
                         uint8_t flags);
void torch_block_drop(torch *st, uint32_t index);

/* Splits if asked, hands the block out and counts it (8.2).  False: the host failed. */
bool torch_hand_out(torch *st, uint32_t index, const struct torch_request *request, bool split,
                    uint32_t *ret_block);
/* The owner lets go (9.1), and the return to the pool (9.2). */
torch_step torch_free(torch *st, uint32_t index, bool is_held);
bool torch_free_done(torch *st, uint32_t index);
/* Merges `from`, where it may be, into its neighbour `into` (9.3); the bytes gained, or 0. */
uint64_t torch_merge(torch *st, uint32_t into, uint32_t from);
void torch_tell_of(const torch *st, fl_change_kind kind, const struct torch_block *block);

static inline void torch_tell_block(const torch *st, fl_change_kind kind,
                                    const struct torch_block *block)
{
    if (st->sink != NULL)
        torch_tell_of(st, kind, block);
}

/* ---- search.c ------------------------------------------------------------------------------ */

/* The lane of a pool and stream: made if need be (FL_NONE: the host failed), or as it is (FL_NONE:
 * there is none). */
uint32_t torch_lane_make(torch *st, uint32_t pool, uint32_t stream);
bool torch_free_insert(torch *st, uint32_t index);
void torch_free_remove(torch *st, uint32_t index);
bool torch_unmapped_insert(torch *st, uint32_t index);
void torch_unmapped_remove(torch *st, uint32_t index);
/* What a request would take from the free set (5.2 steps 2 to 4); FL_NONE: nothing.  Pure. */
uint32_t torch_find_free(const torch *st, const struct torch_request *request);
/* Does the split limit forbid a block of this size, at least the request's (5.2 step 4)? */
bool torch_is_oversize(const torch *st, const struct torch_request *request, uint64_t size);
/* Size of a block with the unmapped range behind it: how far it could grow. */
uint64_t torch_reach(const torch *st, const struct torch_block *block);
/* The whole of 5.2: counts the call and takes the block out of the free set. */
uint32_t torch_take_free(torch *st, const struct torch_request *request);
bool torch_should_split(const torch *st, const struct torch_block *block,
                        const struct torch_request *request);
/* Every free block of a pool in order of the free set, into st->scratch. */
bool torch_list_free(torch *st, uint32_t pool);
/* ---- probe.c ------------------------------------------------------------------------------- */

fl_status torch_probe(const torch *st, const fl_op *op, fl_probe *ret_probe, fl_error *error);

/* ---- request.c ----------------------------------------------------------------------------- */

struct torch_request torch_request_of(const torch *st, const fl_op *op);
torch_step torch_request(torch *st, struct torch_request *request, uint32_t *ret_block);

/* ---- exact.c ------------------------------------------------------------------------------- */

torch_step torch_request_at(torch *st, struct torch_request *request, uint64_t address,
                            uint32_t *ret_block);
/* Is it beyond the bound of throw_on_cudamalloc_oom: the setting's fraction of the card (7 step 4)?
 */
bool torch_is_rejected(const torch *st, const struct torch_request *request);

/* ---- events.c ------------------------------------------------------------------------------ */

bool torch_use(torch *st, uint32_t index, uint32_t stream);
bool torch_insert_events(torch *st, uint32_t index);
bool torch_process_waiting(torch *st);

static inline bool torch_process_events(torch *st)
{
    return (st->deferred.count == 0 && st->queue_order.count == 0) || torch_process_waiting(st);
}

/* What torch_process_events would complete, without it: counts in `ret_done`, zeroed, one for each
 * block, above 0 for those.  Later events are numbered on. */
void torch_foresee_events(const torch *st, uint32_t *ret_done);

/* Waits for every event, or for those of one private pool (9.6). */
bool torch_sync_events(torch *st, uint32_t owner);
/* The trace says that this block's free completes now. */
bool torch_complete_now(torch *st, uint32_t index);
void torch_uses_drop(torch *st, uint32_t index);

/* ---- release.c ----------------------------------------------------------------------------- */

torch_step torch_collect(torch *st);
/* Would a request that found nothing collect, or fail in the attempt?  `done`: blocks that count as
 * free (torch_foresee_events), or NULL. */
bool torch_would_collect(const torch *st, const uint32_t *done);
torch_step torch_release_available(torch *st, const struct torch_request *request);
/* `owner` FL_NONE: the default id. */
torch_step torch_release_all(torch *st, uint32_t owner);
torch_step torch_trim(torch *st, uint32_t pool);

/* ---- expandable.c -------------------------------------------------------------------------- */

/* The block from which a request could be served by mapping; FL_NONE: needs a new segment.
 * `done`: blocks that count as free, not yet merged with their neighbours, or NULL. */
uint32_t torch_find_expandable(const torch *st, const struct torch_request *request,
                               const uint32_t *done);
torch_step torch_expand(torch *st, const struct torch_request *request, uint32_t *ret_block);
torch_step torch_unmap(torch *st, uint32_t index);
/* Bytes that a new range is to span, before rounding to pages (11.1, 18.6). */
uint64_t torch_reserve_bytes(const torch *st);
uint32_t torch_segment_new(torch *st, uint64_t address, uint64_t size, uint64_t page, uint64_t age);

/* ---- pools.c ------------------------------------------------------------------------------- */

uint32_t torch_pool_new(torch *st, bool is_small, uint32_t owner);
/* FL_NONE: the pool of the scope that matches was deleted. */
uint32_t torch_pool_in_scopes(const torch *st, uint64_t rounded, uint32_t stream);

static inline uint32_t torch_pool_for(const torch *st, uint64_t rounded, uint32_t stream)
{
    if (st->scopes.count > 0)
        return torch_pool_in_scopes(st, rounded, stream);
    return rounded <= FL_SMALL_SIZE ? 0 : 1;
}

/* Would opening a pool that is there fail no assertion? */
bool torch_may_open(const torch *st, uint32_t pool);
/* The private pool of that number, made if there is none; NULL: the host failed. */
struct torch_private *torch_private_make(torch *st, uint32_t pool);
torch_step torch_scope_begin(torch *st, const fl_op *op);
torch_step torch_scope_end(torch *st, uint32_t pool);
torch_step torch_pool_release(torch *st, uint32_t pool);
/* Are events left alone and everything kept, because a graph is being captured? */
bool torch_scopes_capture(const torch *st, uint32_t stream);

static inline bool torch_in_capture(const torch *st, uint32_t stream)
{
    return st->scopes.count > 0 && torch_scopes_capture(st, stream);
}

/* The search in pools marked use-on-oom (12.6). */
torch_step torch_fallback(torch *st, struct torch_request *request, uint32_t *ret_block);
uint64_t torch_pool_hash(const torch *st, uint32_t pool);
/* Reserved bytes of a pool, in the statistics of all and of the private pool that it belongs to. */
void torch_raise_reserved(torch *st, const struct torch_pool *pool, uint64_t bytes);
void torch_lower_reserved(torch *st, const struct torch_pool *pool, uint64_t bytes);
uint64_t torch_private_free(const torch *st); /* free bytes in private pools */

/* ---- torch.c ------------------------------------------------------------------------------- */

/* Makes a stream or an allocation number known; false: the host failed. */
bool torch_meet_stream(torch *st, uint32_t stream);
bool torch_meet_id(torch *st, uint32_t id);

/* ---- adopt.c ------------------------------------------------------------------------------- */

fl_status torch_adopt(torch *st, const fl_start *start, fl_error *error);

/* ---- tracking.c ---------------------------------------------------------------------------- */

bool torch_tracking_begin(torch *st);
void torch_tracking_end(torch *st);
uint64_t torch_next_value(const torch *st, const char *parameter);

/* ---- view.c -------------------------------------------------------------------------------- */

fl_status torch_walk(const torch *st, const fl_walk *walk, fl_error *error);
fl_status torch_check(const torch *st, fl_error *error);
void torch_facts(const torch *st, fl_facts *ret_facts);
/* The statistics start anew (14): peaks from what is current, sums and counters from 0. */
void torch_reset_peaks(torch *st);
void torch_reset_sums(torch *st);

#endif
