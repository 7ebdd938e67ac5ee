/* Pools: the default pair, private pairs, and the scopes that route requests to them (12). */
#include "base/memory.h"
#include "policy/torch/search.h"

uint32_t torch_pool_new(torch *st, bool is_small, uint32_t owner)
{
    if (!fl_vector_reserve(st->host, &st->pools, 1, st->error))
        return FL_NONE;
    struct torch_pool *pool = fl_new(st->host, sizeof *pool, st->error);
    if (pool == NULL)
        return FL_NONE;
    pool->is_small = is_small;
    pool->owner = owner;
    pool->counts = &st->counts[is_small ? 0 : 1];
    pool->other = &st->counts[is_small ? 1 : 0];
    st->pools.items[st->pools.count] = pool;
    return (uint32_t)st->pools.count++;
}

uint64_t torch_pool_hash(const torch *st, uint32_t pool)
{
    const fl_pool_name *name = &st->names->pools[pool];
    return hash_of_pool(name->first, name->second);
}

uint32_t torch_pool_in_scopes(const torch *st, uint64_t rounded, uint32_t stream)
{
    bool small = rounded <= FL_SMALL_SIZE;
    size_t count = st->scopes.count;
    for (size_t i = 0; i < count; i++) {
        size_t at = st->profile->newest_scope_first ? count - 1 - i : i;
        const struct torch_scope *scope = &st->scopes.items[at];
        if (scope->stream != FL_NONE && scope->stream != stream)
            continue;
        uint32_t owner = st->private_of.items[scope->pool];
        if (owner == FL_NONE)
            return FL_NONE;
        return small ? st->privates.items[owner].small : st->privates.items[owner].large;
    }
    return small ? 0 : 1;
}

bool torch_scopes_capture(const torch *st, uint32_t stream)
{
    if (st->profile->scope_is_capture)
        return true;
    for (size_t i = 0; i < st->scopes.count; i++) {
        const struct torch_scope *scope = &st->scopes.items[i];
        if (scope->is_capture &&
            (stream == FL_NONE || scope->stream == FL_NONE || scope->stream == stream))
            return true;
    }
    return false;
}

/* A pool that is made anew goes on with the statistics of the one that had its id before. */
static uint32_t pools_stats_of(const torch *st, uint32_t pool)
{
    const fl_pool_name *name = &st->names->pools[pool];
    for (size_t i = 0; i < st->pool_stats.count; i++) {
        const uint64_t *id = st->pool_stats.items[i].id;
        if (id[0] == name->first && id[1] == name->second)
            return (uint32_t)i;
    }
    return FL_NONE;
}

void torch_raise_reserved(torch *st, const struct torch_pool *pool, uint64_t bytes)
{
    torch_raise(st, pool, FL_STAT_RESERVED_BYTES, bytes);
    if (pool->owner == FL_NONE)
        return;
    struct torch_private *owner = &st->privates.items[pool->owner];
    if (owner->stats == FL_NONE)
        owner->stats = pools_stats_of(st, owner->name);
    if (owner->stats == FL_NONE) { /* there is room: pools_create has seen to it */
        const fl_pool_name *name = &st->names->pools[owner->name];
        owner->stats = (uint32_t)st->pool_stats.count++;
        st->pool_stats.items[owner->stats] = (fl_pool_stats){.id = {name->first, name->second}};
    }
    fl_stat *reserved = st->pool_stats.items[owner->stats].reserved;
    torch_raise_one(&reserved[FL_STAT_ALL], bytes);
    torch_raise_one(&reserved[pool->is_small ? FL_STAT_SMALL : FL_STAT_LARGE], bytes);
}

void torch_lower_reserved(torch *st, const struct torch_pool *pool, uint64_t bytes)
{
    torch_lower(pool, FL_STAT_RESERVED_BYTES, bytes);
    if (pool->owner == FL_NONE)
        return;
    fl_stat *reserved = st->pool_stats.items[st->privates.items[pool->owner].stats].reserved;
    torch_lower_one(&reserved[FL_STAT_ALL], bytes);
    torch_lower_one(&reserved[pool->is_small ? FL_STAT_SMALL : FL_STAT_LARGE], bytes);
}

uint64_t torch_private_free(const torch *st)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < st->pools.count; i++) {
        const struct torch_pool *pool = st->pools.items[i];
        for (uint32_t stream = 0; pool->owner != FL_NONE && stream < pool->lanes.count; stream++) {
            const struct torch_lane *lane = torch_lane_find(st, (uint32_t)i, stream);
            if (lane == NULL)
                continue;
            for (uint32_t at = torch_bins_seek(st, &lane->bins, 0); at != NO_BLOCK;
                 at = torch_bins_next(st, &lane->bins, at))
                sum += torch_block_at(st, at)->size;
        }
    }
    return sum;
}

static uint32_t pools_private_of(const torch *st, uint32_t pool)
{
    return pool < st->private_of.count ? st->private_of.items[pool] : FL_NONE;
}

/* A list by dense pool that reaches `pool`, new places filled. */
static bool pools_reach(torch *st, struct torch_indices *list, uint32_t pool, uint32_t filling)
{
    if (pool < list->count)
        return true;
    if (!fl_vector_reserve(st->host, list, pool + 1 - list->count, st->error))
        return false;
    while (list->count <= pool)
        list->items[list->count++] = filling;
    return true;
}

static torch_step pools_create(torch *st, uint32_t pool)
{
    size_t without = st->privates.count + 1 - st->pool_stats.count; /* each may come to have some */
    if (!fl_vector_reserve(st->host, &st->privates, 1, st->error) ||
        !fl_vector_reserve(st->host, &st->pool_stats, without, st->error) ||
        !pools_reach(st, &st->private_of, pool, FL_NONE) ||
        !pools_reach(st, &st->no_split, pool, false))
        return STEP_BROKEN;
    uint32_t index = (uint32_t)st->privates.count;
    struct torch_private owner = {.name = pool, .use_count = 1, .stats = FL_NONE};
    owner.small = torch_pool_new(st, true, index);
    owner.large = torch_pool_new(st, false, index);
    if (owner.small == FL_NONE || owner.large == FL_NONE)
        return STEP_BROKEN;
    st->privates.items[st->privates.count++] = owner;
    st->private_of.items[pool] = index;
    return STEP_YES;
}

struct torch_private *torch_private_make(torch *st, uint32_t pool)
{
    uint32_t owner = pools_private_of(st, pool);
    if (owner == FL_NONE && pools_create(st, pool) != STEP_YES)
        return NULL;
    return &st->privates.items[pools_private_of(st, pool)];
}

static torch_step pools_open(torch *st, uint32_t pool, uint32_t stream, bool is_capture)
{
    uint32_t owner = pools_private_of(st, pool);
    if (owner != FL_NONE && st->privates.items[owner].use_count == 0)
        return torch_forbid(st, "a released pool that still exists cannot be opened");
    if (owner != FL_NONE)
        st->privates.items[owner].use_count++;
    else if (pools_create(st, pool) != STEP_YES)
        return STEP_BROKEN;
    for (size_t i = 0; i < st->scopes.count; i++)
        if (st->scopes.items[i].pool == pool)
            return torch_forbid(st, "beginAllocateToPool: already recording to mempool_id");
    if (!fl_vector_reserve(st->host, &st->scopes, 1, st->error))
        return STEP_BROKEN;
    st->scopes.items[st->scopes.count++] = (struct torch_scope){pool, stream, is_capture};
    return STEP_YES;
}

bool torch_may_open(const torch *st, uint32_t pool)
{
    for (size_t i = 0; i < st->scopes.count; i++)
        if (st->scopes.items[i].pool == pool)
            return false;
    return st->privates.items[pools_private_of(st, pool)].use_count > 0;
}

torch_step torch_scope_begin(torch *st, const fl_op *op)
{
    torch_step step = pools_open(st, op->pool, op->stream, (op->flags & FL_OP_CAPTURE) != 0);
    if (step != STEP_YES)
        return step;
    if ((op->flags & FL_OP_NO_SPLIT) && st->profile->has_no_split)
        st->no_split.items[op->pool] = true;
    uint64_t hash = torch_pool_hash(st, op->pool);
    if ((op->flags & FL_OP_USE_ON_OOM) && st->profile->use_on_oom != FL_USE_ON_OOM_NEVER &&
        !hash_order_has(&st->use_on_oom, hash, op->pool) &&
        !hash_order_put(st->host, &st->use_on_oom, hash, op->pool))
        return STEP_BROKEN;
    return STEP_YES;
}

torch_step torch_scope_end(torch *st, uint32_t pool)
{
    for (size_t i = 0; i < st->scopes.count; i++) {
        if (st->scopes.items[i].pool != pool)
            continue;
        st->scopes.count--;
        for (; i < st->scopes.count; i++)
            st->scopes.items[i] = st->scopes.items[i + 1];
        return STEP_YES;
    }
    return torch_forbid(st, "endAllocatePool: not currently recording to mempool_id");
}

torch_step torch_pool_release(torch *st, uint32_t pool)
{
    uint32_t index = pools_private_of(st, pool);
    if (index == FL_NONE || st->privates.items[index].use_count == 0)
        return torch_forbid(st, "a pool is released more often than it was opened");
    struct torch_private *owner = &st->privates.items[index];
    if (--owner->use_count > 0)
        return STEP_YES;
    if (st->profile->no_split_ends_with_pool)
        st->no_split.items[pool] = false;
    uint64_t hash = torch_pool_hash(st, pool);
    return hash_order_has(&st->freeable, hash, pool) ||
                   hash_order_put(st->host, &st->freeable, hash, pool)
               ? STEP_YES
               : STEP_BROKEN;
}

/* Opens one pool as a scope, searches it, and closes it again, errors and all (22.11). */
static torch_step pools_search_one(torch *st, uint32_t pool, struct torch_request *request,
                                   uint32_t *ret_block)
{
    torch_step step = pools_open(st, pool, FL_NONE, false);
    if (step != STEP_YES)
        return step;
    const struct torch_private *owner = &st->privates.items[pools_private_of(st, pool)];
    struct torch_request search = *request;
    search.pool = request->rounded <= FL_SMALL_SIZE ? owner->small : owner->large;
    if (st->profile->fallback_splits_plainly)
        search.expandable = false;
    *ret_block = torch_take_free(st, &search);
    step = torch_scope_end(st, pool);
    if (step == STEP_YES)
        step = torch_pool_release(st, pool);
    if (step != STEP_YES)
        return step;
    request->from_fallback = *ret_block != NO_BLOCK;
    return *ret_block != NO_BLOCK ? STEP_YES : STEP_NO;
}

torch_step torch_fallback(torch *st, struct torch_request *request, uint32_t *ret_block)
{
    if (st->pools.items[request->pool]->owner != FL_NONE || st->use_on_oom.count == 0)
        return STEP_NO;
    struct torch_indices list = {0};
    if (!fl_vector_reserve(st->host, &list, st->use_on_oom.count, st->error))
        return STEP_BROKEN;
    hash_order_list(&st->use_on_oom, list.items);
    list.count = st->use_on_oom.count;
    torch_step step = STEP_NO;
    for (size_t i = 0; step == STEP_NO && i < list.count; i++)
        step = pools_search_one(st, list.items[i], request, ret_block);
    fl_vector_deinit(st->host, &list);
    return step;
}
