/* Runs of requests that went to one pool, and the scopes around them. */
#include "rebuild/scopes.h"

#include <stdlib.h>

struct scopes {
    const fl_host *host;
    const fl_columns *columns;
    const fl_places *places;
    const uint16_t *asked;
    fl_pool_guess *pools;
    size_t pool_count;
    struct fl_plan *plan;
    fl_error *error;
};

/* Requests from `first` to `last`, both included, of one pool: what a scope over `stream` (FL_NONE:
 * every stream) may hold. */
struct run {
    uint64_t first, last, count;
    uint32_t pool, stream;
};

static bool is_request(const struct scopes *scopes, uint64_t event)
{
    return scopes->columns->kind[event] == FL_OP_ALLOC;
}

/* Memory of another pool that goes back: a release for a request, or an empty_cache, neither of
 * which an open scope lets pass. */
static bool ends_scopes(const struct scopes *scopes, uint64_t event, uint32_t pool)
{
    uint8_t kind = scopes->columns->kind[event];
    if (kind != FL_EVENT_SEGMENT_FREE && kind != FL_EVENT_SEGMENT_UNMAP)
        return false;
    uint32_t place = scopes->places->of[event];
    return place == FL_NONE || scopes->places->items.items[place].pool != pool;
}

static struct run find_run(const struct scopes *scopes, uint64_t first, uint32_t stream)
{
    const fl_columns *columns = scopes->columns;
    struct run run = {first, first, 0, scopes->asked[first], stream};
    for (uint64_t i = first; i < columns->count; i++) {
        if (ends_scopes(scopes, i, run.pool))
            break;
        if (!is_request(scopes, i))
            continue;
        bool is_ours = scopes->asked[i] == run.pool;
        bool is_caught = stream == FL_NONE || columns->stream[i] == stream;
        if (is_ours != is_caught)
            break;
        if (!is_ours)
            continue;
        run.last = i;
        run.count++;
    }
    return run;
}

/* A capture names its stream; a scope of a program covers what its thread does. */
static struct run find_longest(const struct scopes *scopes, uint64_t first)
{
    struct run every = find_run(scopes, first, FL_NONE);
    struct run one = find_run(scopes, first, scopes->columns->stream[first]);
    bool is_capture = (scopes->pools[every.pool].flags & FL_OP_CAPTURE) != 0;
    return one.count > every.count || (one.count == every.count && is_capture) ? one : every;
}

static bool plan_op(struct scopes *scopes, uint64_t event, const struct run *run, uint8_t kind)
{
    if (!fl_vector_reserve(scopes->host, scopes->plan, 1, scopes->error))
        return false;
    bool is_begin = kind == FL_OP_SCOPE_BEGIN;
    scopes->plan->items[scopes->plan->count++] = (fl_planned){
        .event = event,
        .is_late = is_begin,
        .op = {.kind = kind,
               .flags = is_begin ? scopes->pools[run->pool].flags : 0,
               .id = FL_NONE,
               .stream = is_begin ? run->stream : FL_NONE,
               .pool = run->pool,
               .text = FL_NONE},
    };
    return true;
}

static bool plan_run(struct scopes *scopes, const struct run *run, bool is_first)
{
    return plan_op(scopes, run->first, run, FL_OP_SCOPE_BEGIN) &&
           plan_op(scopes, run->last + 1, run, FL_OP_SCOPE_END) &&
           (is_first || plan_op(scopes, run->last + 1, run, FL_OP_POOL_RELEASE));
}

/* What a pool from before the first event is like, a scope says that holds nothing. */
static bool plan_setup(struct scopes *scopes)
{
    static const uint8_t kinds[] = {FL_OP_SCOPE_BEGIN, FL_OP_SCOPE_END, FL_OP_POOL_RELEASE};
    for (uint32_t pool = 1; pool < scopes->pool_count; pool++) {
        const fl_pool_guess *guess = &scopes->pools[pool];
        struct run run = {.pool = pool, .stream = FL_NONE};
        bool is_special = (guess->flags & (FL_OP_NO_SPLIT | FL_OP_USE_ON_OOM)) != 0;
        for (uint8_t i = 0; guess->is_open_before && is_special && i < sizeof kinds; i++) {
            if (!plan_op(scopes, 0, &run, kinds[i]))
                return false;
            fl_planned *planned = &scopes->plan->items[scopes->plan->count - 1];
            planned->setup = i + 1;
            planned->is_late = false;
        }
    }
    return true;
}

/* Runs in order of their first request.  `ends`, by pool: behind the last run so far; 0: none. */
static bool plan_runs(struct scopes *scopes, uint64_t *ends)
{
    for (uint64_t i = 0; i < scopes->columns->count; i++) {
        uint32_t pool = is_request(scopes, i) ? scopes->asked[i] : 0;
        if (pool == 0 || pool >= scopes->pool_count || i < ends[pool])
            continue;
        struct run run = find_longest(scopes, i);
        if (!plan_run(scopes, &run, ends[pool] == 0 && !scopes->pools[pool].is_open_before))
            return false;
        ends[pool] = run.last + 1;
    }
    return true;
}

/* The first of a pool's memory that goes back after its last request. */
static bool plan_releases(struct scopes *scopes, const uint64_t *ends)
{
    const fl_columns *columns = scopes->columns;
    for (uint64_t i = 0; i < columns->count; i++) {
        uint8_t kind = columns->kind[i];
        uint32_t place = scopes->places->of[i];
        if ((kind != FL_EVENT_SEGMENT_FREE && kind != FL_EVENT_SEGMENT_UNMAP) || place == FL_NONE)
            continue;
        struct run run = {.pool = scopes->places->items.items[place].pool};
        if (run.pool == 0 || run.pool >= scopes->pool_count || i < ends[run.pool])
            continue;
        fl_pool_guess *pool = &scopes->pools[run.pool];
        if (pool->released_event != UINT64_MAX || (ends[run.pool] == 0 && !pool->is_open_before))
            continue;
        pool->released_event = i;
        if (!plan_op(scopes, i, &run, FL_OP_POOL_RELEASE))
            return false;
    }
    return true;
}

/* At one event what holds from there on comes first; scopes end before pools are let go, and both
 * before anything begins. */
static int planned_rank(const fl_planned *planned)
{
    static const uint8_t ranks[FL_OP_KIND_COUNT] = {
        [FL_OP_SCOPE_END] = 1, [FL_OP_POOL_RELEASE] = 2, [FL_OP_SCOPE_BEGIN] = 3};
    return planned->setup > 0 ? planned->setup - 4 : ranks[planned->op.kind];
}

static int planned_by_event(const void *a, const void *b)
{
    const fl_planned *left = a, *right = b;
    if (left->event != right->event)
        return left->event < right->event ? -1 : 1;
    int rank = planned_rank(left) - planned_rank(right);
    if (rank != 0)
        return rank;
    if (left->op.pool != right->op.pool)
        return left->op.pool < right->op.pool ? -1 : 1;
    return left->op.kind < right->op.kind ? -1 : left->op.kind > right->op.kind;
}

fl_status fl_scopes_plan(const fl_trace *trace, size_t device, const fl_places *places,
                         const uint16_t *asked, fl_pool_guess *pools, struct fl_plan *plan,
                         fl_error *error)
{
    struct scopes scopes = {
        .host = trace->host,
        .columns = fl_trace_columns(trace, device),
        .places = places,
        .asked = asked,
        .pools = pools,
        .pool_count = trace->pools.count,
        .plan = plan,
        .error = error,
    };
    struct fl_u64_vector ends = {0};
    if (!fl_vector_reserve(trace->host, &ends, scopes.pool_count, error))
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < scopes.pool_count; i++) {
        ends.items[ends.count++] = 0;
        pools[i].released_event = UINT64_MAX;
    }
    bool is_done =
        plan_setup(&scopes) && plan_runs(&scopes, ends.items) && plan_releases(&scopes, ends.items);
    fl_vector_deinit(trace->host, &ends);
    if (is_done && plan->count > 1)
        qsort(plan->items, plan->count, sizeof *plan->items, planned_by_event);
    return is_done ? FL_OK : FL_ERR_RESOURCE;
}
