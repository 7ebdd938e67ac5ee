/* The caching allocator of PyTorch, all releases: the calls between its files.
 *
 *     state.h       what it holds
 *     torch.c       the policy table; one op in, one result out
 *     request.c     a request, step by step (6), the ladder of an out-of-memory included
 *     stretch.c     many plain requests and frees in one go
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
 * Section numbers are those of docs/allocator-rules.md. */
#ifndef FL_POLICY_TORCH_TORCH_H
#define FL_POLICY_TORCH_TORCH_H

#include "base/branch.h"
#include "policy/torch/counts.h"
#include "policy/torch/state.h"

static inline struct torch_lane *torch_lane_of(const torch *st, const struct torch_block *block)
{
    return st->lanes.items[block->lane];
}

static inline struct torch_pool *torch_pool_of(const torch *st, const struct torch_block *block)
{
    return torch_lane_of(st, block)->pool;
}

static inline struct torch_lane *torch_lane_find(const torch *st, uint32_t pool_index,
                                                 uint32_t stream)
{
    const struct torch_pool *pool = st->pools.items[pool_index];
    return FL_LIKELY(stream < pool->lanes.count) ? pool->lanes.items[stream] : NULL;
}

static inline bool torch_is_split(const struct torch_block *block)
{
    return (block->previous | block->next) != NO_BLOCK;
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

/* The limit, or a part of it, was exceeded. */
static inline void torch_track_limit(const torch *st)
{
    if (st->limit_is_part)
        torch_track_total(st);
}

static inline torch_step torch_forbid(torch *st, const char *why)
{
    st->forbidden = why;
    return STEP_FORBIDDEN;
}

/* The segment size A for a request (4.3). */
static inline uint64_t torch_segment_of(const torch *st, const struct torch_request *request)
{
    return fl_segment_size(&st->settings, request->rounded);
}

/* The whole segment counts, also where less would be mapped (7 step 3). */
static inline bool torch_is_within_limit(const torch *st, const struct torch_request *request)
{
    uint64_t wanted;
    return st->limit == FL_UNLIMITED ||
           (fl_add(st->held, torch_segment_of(st, request), &wanted) && wanted <= st->limit);
}

/* The device answered with an error, not with a refusal. */
static inline torch_step torch_device_broke(const torch *st)
{
    fl_device_failure(st->device, st->error);
    return STEP_BROKEN;
}

/* ---- block.c ------------------------------------------------------------------------------- */

/* A new object (NO_BLOCK, with the error filled, if the host has no memory).  Invalidates pointers
 * to blocks. */
bool torch_blocks_grow(torch *st); /* room for more objects */
void torch_blocks_deinit(torch *st);
uint32_t torch_block_new(torch *st, const struct torch_block *like, uint64_t address, uint64_t size,
                         uint8_t flags);
/* The owner lets go (9.1), and the return to the pool (9.2). */
fl_status torch_free_op(torch *st, const fl_op *op, fl_result *ret_result, fl_error *error);
torch_step torch_free(torch *st, uint32_t index, bool is_held);
bool torch_free_done(torch *st, uint32_t index);
/* A block begins or ends to be pending, between these two. */
void torch_note_active(torch *st, const struct torch_pool *pool);
void torch_count_pending(torch *st, const struct torch_block *block, bool is_pending);
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

/* The lane of a pool and stream, made if need be; NULL: the host failed. */
struct torch_lane *torch_lane_make(torch *st, uint32_t pool, uint32_t stream);
bool torch_unmapped_insert(torch *st, uint32_t index);
void torch_unmapped_remove(torch *st, uint32_t index);
/* What a request would take from the free set (5.2 steps 2 to 4); NO_BLOCK: nothing.  Pure. */
uint32_t torch_find_free(const torch *st, const struct torch_request *request);
/* Size of a block with the unmapped range behind it: how far it could grow. */
uint64_t torch_reach(const torch *st, const struct torch_block *block);
/* Every free block of a pool in order of the free set, into st->scratch. */
bool torch_list_free(torch *st, uint32_t pool);
/* ---- probe.c ------------------------------------------------------------------------------- */

fl_status torch_probe(const torch *st, const fl_op *op, fl_probe *ret_probe, fl_error *error);

/* ---- request.c ----------------------------------------------------------------------------- */

fl_status torch_alloc(torch *st, const fl_op *op, fl_result *ret_result, fl_error *error);

/* ---- stretch.c ----------------------------------------------------------------------------- */

fl_status torch_stretch(torch *st, fl_stretch *stretch, fl_error *error);

/* ---- exact.c ------------------------------------------------------------------------------- */

fl_status torch_alloc_at(torch *st, const fl_op *op, fl_result *ret_result);
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

/* The block from which a request could be served by mapping; NO_BLOCK: needs a new segment.
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
bool torch_meet_new_stream(torch *st, uint32_t stream);
bool torch_meet_new_id(torch *st, uint32_t id);

static inline bool torch_meet_stream(torch *st, uint32_t stream)
{
    return FL_LIKELY(stream < st->stream_order.count) || torch_meet_new_stream(st, stream);
}

static inline bool torch_meet_id(torch *st, uint32_t id)
{
    return FL_LIKELY(id < st->block_of.count) || torch_meet_new_id(st, id);
}

/* The block of an allocation; NO_BLOCK for one of 0 bytes, or whose free is complete. */
static inline uint32_t torch_block_of(const torch *st, uint32_t id)
{
    return id < st->block_of.count ? st->block_of.items[id] : NO_BLOCK;
}

/* After every change of settings or limit. */
void torch_settle(torch *st);
/* What a step means to the caller. */
fl_status torch_finish(torch *st, torch_step step, fl_result *ret_result);

/* ---- adopt.c ------------------------------------------------------------------------------- */

fl_status torch_adopt(torch *st, const fl_start *start, fl_error *error);

/* ---- tracking.c ---------------------------------------------------------------------------- */

bool torch_tracking_begin(torch *st);
/* A comparison turns out otherwise where the range behind `block` is larger by `growth`. */
void torch_track_range(const torch *st, const struct torch_block *block, uint64_t growth);
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
