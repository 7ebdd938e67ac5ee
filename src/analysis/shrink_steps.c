/* The steps that take something away: allocations, operations, streams. */
#include "analysis/delta.h"
#include "analysis/shrink_state.h"

#include "base/memory.h"

/* ---- units ----------------------------------------------------------------------------------- */

static void keep_units(fl_shrink_state *state, const bool *is_unit_kept)
{
    for (size_t i = 0; i < state->program.ops.count; i++) {
        uint32_t unit = state->units[i];
        state->is_kept[i] = unit == FL_NONE || is_unit_kept[unit];
    }
}

static fl_status test_units(void *user, const bool *is_unit_kept, bool *ret_shows, fl_error *error)
{
    fl_shrink_state *state = user;
    keep_units(state, is_unit_kept);
    return fl_shrink_try(state, state->is_kept, ret_shows, error);
}

/* Delta debugging over units [0, count), as state->units has them. */
static fl_status reduce_units(fl_shrink_state *state, uint32_t count, bool *ret_any,
                              fl_error *error)
{
    size_t before = state->program.ops.count;
    bool *is_unit_kept = fl_new(state->host, count * sizeof *is_unit_kept, error);
    if (is_unit_kept == NULL)
        return FL_ERR_RESOURCE;
    memset(is_unit_kept, true, count * sizeof *is_unit_kept);
    fl_status status = fl_delta_run(state->host, is_unit_kept, count, test_units, state, error);
    keep_units(state, is_unit_kept);
    fl_program_compact(&state->program, state->is_kept);
    fl_delete(state->host, is_unit_kept, count * sizeof *is_unit_kept);
    *ret_any = state->program.ops.count < before;
    return status;
}

/* An allocation is one unit, with what is asked about it; so all that has no allocation stays. */
fl_status fl_shrink_allocations(fl_shrink_state *state, bool *ret_any, fl_error *error)
{
    const fl_program *program = &state->program;
    uint32_t count = program->alloc_count;
    for (size_t i = 0; i < program->ops.count; i++) {
        uint32_t id = program->ops.items[i].id;
        state->units[i] = id == program->target ? FL_NONE : id;
    }
    return reduce_units(state, count, ret_any, error);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* Scopes of one pool by their units. */
typedef struct pool_scopes {
    uint32_t latest;     /* opened last */
    uint32_t unreleased; /* the first one whose release is still to come */
} pool_scopes;

typedef struct scope_table {
    pool_scopes *pools;
    size_t count;
    uint32_t *next; /* by unit: the one that its pool opened next */
} scope_table;

static uint32_t scope_begin(scope_table *table, pool_scopes *pool, uint32_t unit)
{
    if (pool->latest != FL_NONE)
        table->next[pool->latest] = unit;
    if (pool->unreleased == FL_NONE)
        pool->unreleased = unit;
    table->next[unit] = FL_NONE;
    pool->latest = unit;
    return unit;
}

/* Opening, closing and releasing number n of a pool are one unit: so no pool is ever closed or
 * released more often than it was opened.  FL_NONE: not a scope's op, or one without a beginning.
 */
static uint32_t scope_unit(scope_table *table, const fl_op *op, uint32_t next_unit)
{
    pool_scopes *pool = op->pool < table->count ? &table->pools[op->pool] : NULL;
    if (pool == NULL)
        return FL_NONE;
    if (op->kind == FL_OP_SCOPE_BEGIN)
        return scope_begin(table, pool, next_unit);
    if (op->kind == FL_OP_SCOPE_END)
        return pool->latest;
    if (op->kind != FL_OP_POOL_RELEASE || pool->unreleased == FL_NONE)
        return FL_NONE;
    uint32_t unit = pool->unreleased;
    pool->unreleased = table->next[unit];
    return unit;
}

/* Every op but requests is a unit of its own; those of one scope are one. */
static uint32_t number_units(fl_shrink_state *state, scope_table *table)
{
    uint32_t count = 0;
    for (size_t i = 0; i < state->program.ops.count; i++) {
        const fl_op *op = &state->program.ops.items[i];
        uint32_t unit = FL_NONE;
        if (op->kind != FL_OP_ALLOC) {
            unit = scope_unit(table, op, count);
            if (unit == FL_NONE)
                unit = count;
            count += unit == count;
        }
        state->units[i] = unit;
    }
    return count;
}

fl_status fl_shrink_operations(fl_shrink_state *state, bool *ret_any, fl_error *error)
{
    size_t operations = state->program.ops.count;
    scope_table table = {.count = fl_trace_names(state->program.source)->pool_count};
    table.pools = fl_new(state->host, table.count * sizeof *table.pools, error);
    table.next = fl_new(state->host, operations * sizeof *table.next, error);
    fl_status status = FL_ERR_RESOURCE;
    if (table.pools != NULL && table.next != NULL) {
        for (size_t i = 0; i < table.count; i++)
            table.pools[i] = (pool_scopes){FL_NONE, FL_NONE};
        status = reduce_units(state, number_units(state, &table), ret_any, error);
    }
    fl_delete(state->host, table.pools, table.count * sizeof *table.pools);
    fl_delete(state->host, table.next, operations * sizeof *table.next);
    return status;
}

/* ---- streams --------------------------------------------------------------------------------- */

/* The stream that others are merged into: the default one if the source has it, else its first. */
static uint32_t common_stream(const fl_names *names)
{
    for (size_t i = 0; i < names->stream_count; i++) {
        if (names->streams[i] == 0)
            return (uint32_t)i;
    }
    return 0;
}

/* Renames a stream in all ops, and notes in `is_kept` where. */
static bool stream_merge(fl_shrink_state *state, uint32_t from, uint32_t to)
{
    bool is_any = false;
    for (size_t i = 0; i < state->program.ops.count; i++) {
        fl_op *op = &state->program.ops.items[i];
        state->is_kept[i] = op->stream == from;
        is_any |= op->stream == from;
        if (op->stream == from)
            op->stream = to;
    }
    return is_any;
}

static void stream_split(fl_shrink_state *state, uint32_t from)
{
    for (size_t i = 0; i < state->program.ops.count; i++) {
        if (state->is_kept[i])
            state->program.ops.items[i].stream = from;
    }
}

fl_status fl_shrink_streams(fl_shrink_state *state, bool *ret_any, fl_error *error)
{
    const fl_names *names = fl_trace_names(state->program.source);
    uint32_t common = common_stream(names);
    for (uint32_t stream = 0; stream < names->stream_count; stream++) {
        bool shows = false;
        if (stream == common || !stream_merge(state, stream, common))
            continue;
        fl_status status = fl_shrink_try(state, NULL, &shows, error);
        if (status != FL_OK || !shows)
            stream_split(state, stream);
        if (status != FL_OK)
            return status;
        *ret_any |= shows;
    }
    return FL_OK;
}
