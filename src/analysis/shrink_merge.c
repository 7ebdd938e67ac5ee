/* The step that makes one allocation of several: of a model's weights, say, it only matters how
 * much they are.  Those that are never freed are merged with each other, and so are those that are;
 * the first one stays.  As in delta debugging long runs come first. */
#include "analysis/shrink_state.h"

#include "base/checked.h"
#include "base/memory.h"

#define MOST_BYTES (UINT64_C(1) << 59) /* from 2^60 on a request fails whatever the memory */

typedef struct merge {
    fl_shrink_state *state;
    uint32_t *items; /* ops that are requests of one kind, ascending */
    size_t count;
} merge;

static void note_freed(fl_program *program)
{
    for (uint32_t id = 0; id < program->alloc_count; id++)
        program->numbers[id] = false;
    for (size_t i = 0; i < program->ops.count; i++) {
        const fl_op *op = &program->ops.items[i];
        if (op->kind == FL_OP_FREE)
            program->numbers[op->id] = true;
    }
}

/* Those that are freed, or those that are not, but for the target. */
static void find_items(merge *m, bool is_freed)
{
    fl_program *program = &m->state->program;
    note_freed(program);
    m->count = 0;
    for (size_t i = 0; i < program->ops.count; i++) {
        const fl_op *op = &program->ops.items[i];
        m->state->is_kept[i] = true;
        if (op->kind == FL_OP_ALLOC && op->id != program->target &&
            program->numbers[op->id] == is_freed)
            m->items[m->count++] = (uint32_t)i;
    }
}

/* The sum of a run's sizes; 0 where it is no run: another stream, or too much. */
static uint64_t sum_run(const merge *m, size_t begin, size_t end)
{
    const fl_op *ops = m->state->program.ops.items;
    uint64_t sum = 0;
    for (size_t i = begin; i < end; i++) {
        const fl_op *op = &ops[m->items[i]];
        if (op->stream != ops[m->items[begin]].stream || op->size > MOST_BYTES - sum)
            return 0;
        sum += op->size;
    }
    return sum;
}

/* What is asked about an allocation goes with it. */
static void keep_run(merge *m, size_t begin, size_t end, bool is_kept)
{
    for (size_t i = begin + 1; i < end; i++)
        m->state->is_kept[m->items[i]] = is_kept;
}

/* Makes the first request of a run [begin, end) the only one, if that still shows it. */
static fl_status try_run(merge *m, size_t begin, size_t end, bool *ret_shows, fl_error *error)
{
    fl_op *first = &m->state->program.ops.items[m->items[begin]];
    uint64_t before = first->size, sum = sum_run(m, begin, end);
    *ret_shows = false;
    if (sum == 0)
        return FL_OK;
    first->size = sum;
    keep_run(m, begin, end, false);
    fl_status status = fl_shrink_try(m->state, m->state->is_kept, ret_shows, error);
    if (status != FL_OK || !*ret_shows) {
        first->size = before;
        keep_run(m, begin, end, true);
        return status;
    }
    memmove(m->items + begin + 1, m->items + end, (m->count - end) * sizeof *m->items);
    m->count -= end - begin - 1;
    return FL_OK;
}

/* Tries every run of that length once, the last one first. */
static fl_status merge_pass(merge *m, size_t length, bool *ret_any, fl_error *error)
{
    fl_status status = FL_OK;
    for (size_t end = m->count; end >= length && status == FL_OK;) {
        bool shows;
        status = try_run(m, end - length, end, &shows, error);
        *ret_any |= shows;
        end -= shows ? length - 1 : 1 + (length - 2) / 2;
    }
    return status;
}

static fl_status merge_kind(merge *m, bool is_freed, bool *ret_any, fl_error *error)
{
    fl_status status = FL_OK;
    find_items(m, is_freed);
    for (size_t length = m->count; length >= 2 && status == FL_OK; length /= 2)
        status = merge_pass(m, length, ret_any, error);
    fl_program_compact(&m->state->program, m->state->is_kept);
    return status;
}

fl_status fl_shrink_merge(fl_shrink_state *state, bool *ret_any, fl_error *error)
{
    size_t room = state->program.ops.count;
    merge m = {.state = state};
    m.items = fl_new(state->host, room * sizeof *m.items, error);
    if (m.items == NULL)
        return FL_ERR_RESOURCE;
    fl_status status = merge_kind(&m, false, ret_any, error);
    if (status == FL_OK)
        status = merge_kind(&m, true, ret_any, error);
    fl_delete(state->host, m.items, room * sizeof *m.items);
    return status;
}
