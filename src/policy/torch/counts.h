/* Statistics: each hits "all" and the kind of the pool (14). */
#ifndef FL_POLICY_TORCH_COUNTS_H
#define FL_POLICY_TORCH_COUNTS_H

#include "policy/torch/state.h"

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

static inline void torch_raise(torch *st, const struct torch_pool *pool, fl_stat_kind kind,
                               uint64_t amount)
{
    struct torch_counts *counts = pool->counts;
    uint64_t current = counts->current[kind] += amount;
    if (current > counts->peak[kind])
        counts->peak[kind] = current;
    uint64_t all = current + pool->other->current[kind];
    if (all > st->peaks[kind])
        st->peaks[kind] = all;
}

static inline void torch_lower(const struct torch_pool *pool, fl_stat_kind kind, uint64_t amount)
{
    pool->counts->current[kind] -= amount;
    pool->counts->freed[kind] += amount;
}

static inline uint64_t torch_current(const torch *st, fl_stat_kind kind)
{
    return st->counts[0].current[kind] + st->counts[1].current[kind];
}

static inline uint64_t torch_active_bytes(const torch *st)
{
    return torch_current(st, FL_STAT_ALLOCATED_BYTES) + st->counts[0].pending_bytes +
           st->counts[1].pending_bytes;
}

/* One single increase or decrease of a net amount. */
static inline void torch_move(torch *st, const struct torch_pool *pool, fl_stat_kind kind,
                              int64_t amount)
{
    if (amount > 0)
        torch_raise(st, pool, kind, (uint64_t)amount);
    else if (amount < 0)
        torch_lower(pool, kind, (uint64_t)-amount);
}

#endif
