/* The step that makes sizes smaller and rounder: fewer bytes first, then fewer significant bits.
 *
 * Requests of the same size usually come from the same line of a program, so they are changed
 * together before they are changed one by one.  Sizes only go down: a larger request would be
 * refused for a reason of its own. */
#include "analysis/shrink_state.h"

#include "base/checked.h"

#define LEAST_SIZE UINT64_C(512) /* the allocator's own unit */

/* Which requests: all of that size, or one alone. */
typedef struct size_set {
    uint64_t size;
    size_t only; /* SIZE_MAX: all */
} size_set;

static void set_sizes(fl_shrink_state *state, const size_set *set, uint64_t size)
{
    for (size_t i = 0; i < state->program.ops.count; i++) {
        fl_op *op = &state->program.ops.items[i];
        /* in a set of all of one size, is_kept tells them from others that have become alike */
        if (set->only == i || (set->only == SIZE_MAX && state->is_kept[i]))
            op->size = size;
    }
}

static void mark_sizes(fl_shrink_state *state, uint64_t size)
{
    for (size_t i = 0; i < state->program.ops.count; i++) {
        const fl_op *op = &state->program.ops.items[i];
        state->is_kept[i] = op->kind == FL_OP_ALLOC && op->size == size;
    }
}

/* Sets sizes to `size` if that still shows it; they are `set->size` then. */
static fl_status try_size(fl_shrink_state *state, size_set *set, uint64_t size, bool *ret_shows,
                          fl_error *error)
{
    *ret_shows = false;
    if (size >= set->size)
        return FL_OK;
    set_sizes(state, set, size);
    fl_status status = fl_shrink_try(state, NULL, ret_shows, error);
    if (status == FL_OK && *ret_shows)
        set->size = size;
    else
        set_sizes(state, set, set->size);
    return status;
}

/* The `bits` highest bits of a size. */
static uint64_t round_to_bits(uint64_t size, unsigned bits)
{
    unsigned log = fl_log2(size);
    return log < bits ? size : size >> (log + 1 - bits) << (log + 1 - bits);
}

/* As small as halving makes it, then as few significant bits as it takes. */
static fl_status shrink_set(fl_shrink_state *state, size_set *set, bool *ret_any, fl_error *error)
{
    uint64_t before = set->size;
    bool shows;
    fl_status status = try_size(state, set, LEAST_SIZE, &shows, error);
    for (bool goes_on = true; status == FL_OK && goes_on && set->size > LEAST_SIZE;) {
        status = try_size(state, set, set->size / 2, &shows, error);
        goes_on = shows;
    }
    for (unsigned bits = 1; status == FL_OK && set->size > LEAST_SIZE && bits < 64; bits++) {
        if (round_to_bits(set->size, bits) == set->size)
            break;
        status = try_size(state, set, round_to_bits(set->size, bits), &shows, error);
    }
    *ret_any |= set->size < before;
    return status;
}

/* Is this the first request of its size? */
static bool is_first(const fl_program *program, size_t at)
{
    for (size_t i = 0; i < at; i++) {
        if (program->ops.items[i].kind == FL_OP_ALLOC &&
            program->ops.items[i].size == program->ops.items[at].size)
            return false;
    }
    return true;
}

static fl_status shrink_together(fl_shrink_state *state, bool *ret_any, fl_error *error)
{
    fl_status status = FL_OK;
    for (size_t i = 0; i < state->program.ops.count && status == FL_OK; i++) {
        const fl_op *op = &state->program.ops.items[i];
        if (op->kind != FL_OP_ALLOC || op->size <= LEAST_SIZE || !is_first(&state->program, i))
            continue;
        size_set set = {op->size, SIZE_MAX};
        mark_sizes(state, op->size);
        status = shrink_set(state, &set, ret_any, error);
    }
    return status;
}

fl_status fl_shrink_sizes(fl_shrink_state *state, bool *ret_any, fl_error *error)
{
    fl_status status = shrink_together(state, ret_any, error);
    for (size_t i = 0; i < state->program.ops.count && status == FL_OK; i++) {
        const fl_op *op = &state->program.ops.items[i];
        size_set set = {op->size, i};
        if (op->kind == FL_OP_ALLOC && op->size > LEAST_SIZE)
            status = shrink_set(state, &set, ret_any, error);
    }
    return status;
}
