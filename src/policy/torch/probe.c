/* What would become of a request, without it happening.
 *
 * Nearly always that is one search of the free set, the one that the request itself would make.
 * Where frees wait for events that are complete by now, the request would first return those
 * blocks to their pools, merged with their neighbours: then the pieces that it would find are
 * gathered from all blocks, and the same rules applied to them.  Where the free set has nothing,
 * two ways are left that ask nothing of the device: a mapped block that mapping would find (the end
 * of 11.4), and, below a limit, the pools marked use-on-oom (12.6). */
#include "base/memory.h"
#include "policy/torch/search.h"

#include <stdlib.h>

/* A free block, with what is about to become free beside it. */
struct probe_piece {
    uint64_t size, age, tie; /* its place in the free set */
    uint64_t reach;
    uint32_t first;
    bool is_expandable;
};

FL_VECTOR(probe_pieces, struct probe_piece);

struct probe {
    const torch *st;
    struct torch_request request;
    uint32_t *done;  /* by block: about to become free; NULL: none is */
    uint32_t served; /* where the block begins that would serve it, or NO_BLOCK */
    fl_error *error;
};

static bool probe_is_free(const struct probe *probe, uint32_t index)
{
    return (torch_block_at(probe->st, index)->flags & BLOCK_MAPPED) &&
           torch_will_be_free(probe->st, index, probe->done);
}

/* The piece that begins at a block; false: it begins earlier, or there is none. */
static bool probe_piece_at(const struct probe *probe, uint32_t index, struct probe_piece *ret_piece)
{
    const torch *st = probe->st;
    const struct torch_block *block = torch_block_at(st, index);
    if (block->size == 0 || !probe_is_free(probe, index) || probe_is_free(probe, block->previous))
        return false;
    uint64_t age = st->segments.items[block->segment].age;
    *ret_piece = (struct probe_piece){
        .age = st->tie == FL_TIE_SEGMENT ? age : 0,
        .tie = st->tie == FL_TIE_BLOCK ? block->tie : block->address,
        .first = index,
        .is_expandable = torch_is_expandable(block),
    };
    uint32_t last = index;
    for (; probe_is_free(probe, index); index = torch_block_at(st, index)->next) {
        ret_piece->size += torch_block_at(st, index)->size;
        last = index;
    }
    ret_piece->reach = ret_piece->size - torch_block_at(st, last)->size +
                       torch_reach(st, torch_block_at(st, last));
    return true;
}

static int probe_compare(const void *left, const void *right)
{
    const struct probe_piece *a = left, *b = right;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    if (a->age != b->age)
        return a->age < b->age ? -1 : 1;
    return a->tie < b->tie ? -1 : a->tie > b->tie;
}

/* The pieces of a request's pool and stream that are large enough, in order of the free set. */
static bool probe_gather(const struct probe *probe, const struct torch_request *request,
                         struct probe_pieces *pieces)
{
    const torch *st = probe->st;
    const struct torch_lane *lane = torch_lane_find(st, request->pool, request->stream);
    for (uint32_t i = 1; lane != NULL && i < st->blocks.count; i++) {
        struct probe_piece piece = {0};
        if (torch_lane_of(st, torch_block_at(st, i)) != lane || !probe_piece_at(probe, i, &piece) ||
            piece.size < request->rounded)
            continue;
        if (!fl_vector_reserve(st->host, pieces, 1, probe->error))
            return false;
        pieces->items[pieces->count++] = piece;
    }
    if (pieces->count > 0)
        qsort(pieces->items, pieces->count, sizeof *pieces->items, probe_compare);
    return true;
}

/* The search of 5.2 over pieces. */
static uint32_t probe_search_pieces(const torch *st, const struct torch_request *request,
                                    const struct probe_pieces *pieces)
{
    size_t at = 0;
    while (at < pieces->count && pieces->items[at].is_expandable) {
        bool is_last = at + 1 == pieces->count;
        if (request->expandable &&
            (is_last || pieces->items[at + 1].reach >= pieces->items[at].reach))
            break;
        at++;
    }
    if (at == pieces->count || torch_is_oversize(st, request, pieces->items[at].size))
        return NO_BLOCK;
    return pieces->items[at].first;
}

/* What a search would find once frees are complete. */
static bool probe_search(const struct probe *probe, const struct torch_request *request,
                         uint32_t *ret_first)
{
    if (probe->done == NULL) {
        *ret_first = torch_find_free(probe->st, request);
        return true;
    }
    struct probe_pieces pieces = {0};
    bool ok = probe_gather(probe, request, &pieces);
    if (ok)
        *ret_first = probe_search_pieces(probe->st, request, &pieces);
    fl_vector_deinit(probe->st->host, &pieces);
    return ok;
}

/* ---- without the free set -------------------------------------------------------------------- */

/* The piece that mapping would find and that needs no mapping, with nothing before it in the way;
 * NO_BLOCK: there is none. */
static uint32_t probe_expanded(const struct probe *probe)
{
    const torch *st = probe->st;
    const struct torch_request *request = &probe->request;
    bool is_private = st->pools.items[request->pool]->owner != FL_NONE;
    if (!request->expandable || (is_private && !st->profile->expandable_in_private_pools))
        return NO_BLOCK;
    if (!torch_is_within_limit(st, request) || torch_is_rejected(st, request) ||
        torch_would_collect(st, probe->done))
        return NO_BLOCK;
    uint32_t index = torch_find_expandable(st, request, probe->done);
    struct probe_piece piece = {0};
    bool is_there = index != NO_BLOCK && probe_piece_at(probe, index, &piece);
    return is_there && piece.size >= request->rounded ? index : NO_BLOCK;
}

/* The piece of a request for an exact address (17). */
static uint32_t probe_exact(const struct probe *probe, uint64_t address)
{
    const torch *st = probe->st;
    const struct torch_request *request = &probe->request;
    const struct torch_lane *lane = torch_lane_find(st, request->pool, request->stream);
    if (!st->profile->has_exact_address || address % FL_MIN_BLOCK != 0 || lane == NULL)
        return NO_BLOCK;
    for (uint32_t i = 1; i < st->blocks.count; i++) {
        const struct torch_block *block = torch_block_at(st, i);
        struct probe_piece piece = {0};
        if (torch_lane_of(st, block) != lane || block->address > address ||
            !probe_piece_at(probe, i, &piece) || piece.size < request->rounded)
            continue;
        if (address - block->address <= piece.size - request->rounded)
            return i;
    }
    return NO_BLOCK;
}

/* Before a limit refuses it for good, a request is looked for in use-on-oom pools: at once, or
 * after everything free was given back, which is not free of device calls. */
static bool probe_fallback(struct probe *probe)
{
    const torch *st = probe->st;
    struct torch_request search = probe->request;
    if (st->profile->use_on_oom != FL_USE_ON_OOM_EARLY || st->use_on_oom.count == 0 ||
        st->pools.items[search.pool]->owner != FL_NONE || torch_is_within_limit(st, &search) ||
        torch_would_collect(st, probe->done))
        return true;
    uint32_t count = st->use_on_oom.count;
    uint32_t *pools = fl_new(st->host, count * sizeof *pools, probe->error);
    if (pools == NULL)
        return false;
    hash_order_list(&st->use_on_oom, pools);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count && probe->served == NO_BLOCK; i++) {
        uint32_t index = st->private_of.items[pools[i]];
        if (index == FL_NONE)
            continue; /* it would be made anew, with nothing in it */
        if (!torch_may_open(st, pools[i]))
            break; /* an assertion would fail */
        const struct torch_private *owner = &st->privates.items[index];
        search.pool = search.rounded <= FL_SMALL_SIZE ? owner->small : owner->large;
        if (st->profile->fallback_splits_plainly)
            search.expandable = false;
        ok = probe_search(probe, &search, &probe->served);
    }
    fl_delete(st->host, pools, count * sizeof *pools);
    return ok;
}

static bool probe_find(struct probe *probe, const fl_op *op)
{
    if (probe->request.pool == FL_NONE)
        return true;
    if (op->flags & FL_OP_AT) {
        probe->served = probe_exact(probe, op->address);
        return true;
    }
    if (!probe_search(probe, &probe->request, &probe->served))
        return false;
    if (probe->served == NO_BLOCK)
        probe->served = probe_expanded(probe);
    return probe->served != NO_BLOCK || probe_fallback(probe);
}

/* ---- bytes by cause -------------------------------------------------------------------------- */

/* Why a free piece of the request's own pool and stream would not serve it. */
static fl_unusable probe_cause(const struct probe *probe, const struct probe_piece *piece)
{
    const struct torch_request *request = &probe->request;
    if (piece->size < request->rounded)
        return FL_UNUSABLE_PINNED;
    if (piece->is_expandable && !request->expandable)
        return FL_UNUSABLE_POOL;
    if (probe->served == NO_BLOCK || torch_is_oversize(probe->st, request, piece->size))
        return FL_UNUSABLE_SPLIT; /* if not by itself, then by what the search met before it */
    return FL_UNUSABLE_COUNT;
}

static void probe_count_piece(const struct probe *probe, const struct probe_piece *piece,
                              fl_probe *result)
{
    const torch *st = probe->st;
    const struct torch_block *block = torch_block_at(st, piece->first);
    fl_unusable cause = FL_UNUSABLE_COUNT;
    if (piece->first != probe->served) {
        if (torch_lane_of(st, block)->pool_index != probe->request.pool)
            cause = FL_UNUSABLE_POOL;
        else if (torch_lane_of(st, block)->stream != probe->request.stream)
            cause = FL_UNUSABLE_STREAM;
        else
            cause = probe_cause(probe, piece);
    }
    if (cause == FL_UNUSABLE_COUNT)
        result->usable_bytes += piece->size;
    else
        result->unusable_bytes[cause] += piece->size;
    bool is_own = cause == FL_UNUSABLE_COUNT || cause == FL_UNUSABLE_PINNED;
    if (is_own && piece->size > result->largest_usable_bytes)
        result->largest_usable_bytes = piece->size;
}

static void probe_count(const struct probe *probe, fl_probe *result)
{
    const torch *st = probe->st;
    for (uint32_t i = 1; i < st->blocks.count; i++) {
        const struct torch_block *block = torch_block_at(st, i);
        struct probe_piece piece = {0};
        if (probe_piece_at(probe, i, &piece))
            probe_count_piece(probe, &piece, result);
        else if (block->size > 0 && (block->flags & BLOCK_MAPPED) &&
                 !(block->flags & BLOCK_ALLOCATED) && !probe_is_free(probe, i))
            result->unusable_bytes[FL_UNUSABLE_PENDING] += block->size;
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* From this size on no block is taken. */
static uint64_t probe_most(const torch *st, const struct torch_request *request)
{
    uint64_t most = st->settings.max_split_bytes;
    if (request->rounded >= most &&
        !fl_add(request->rounded, st->settings.non_split_rounding_bytes, &most))
        most = UINT64_MAX;
    return most;
}

fl_status torch_probe(const torch *st, const fl_op *op, fl_probe *ret_probe, fl_error *error)
{
    struct probe probe = {.st = st,
                          .request = torch_request_of(st, op->size, op->stream, op->id),
                          .served = NO_BLOCK,
                          .error = error};
    const struct torch_request *request = &probe.request;
    size_t room = st->blocks.count * sizeof *probe.done;
    if ((st->deferred.count > 0 || st->queue_order.count > 0) &&
        !torch_in_capture(st, request->stream)) {
        probe.done = fl_new(st->host, room, error);
        if (probe.done == NULL)
            return FL_ERR_RESOURCE;
        torch_foresee_events(st, probe.done);
    }
    bool ok = probe_find(&probe, op);
    if (ok) {
        bool has_pool = request->pool != FL_NONE;
        const struct torch_pool *pool = has_pool ? st->pools.items[request->pool] : NULL;
        *ret_probe = (fl_probe){
            .usable = op->size == 0 || probe.served != NO_BLOCK,
            .rounded_bytes = request->rounded,
            .segment_bytes = torch_segment_of(st, request),
            .most_bytes = probe_most(st, request),
            .stream = request->stream,
            .pool = !has_pool                ? FL_NONE
                    : pool->owner == FL_NONE ? 0
                                             : st->privates.items[pool->owner].name,
            .is_small = has_pool && pool->is_small,
        };
        probe_count(&probe, ret_probe);
    }
    if (probe.done != NULL)
        fl_delete(st->host, probe.done, room);
    return ok ? FL_OK : FL_ERR_RESOURCE;
}
