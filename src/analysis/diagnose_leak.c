/* Does what is live grow step by step?
 *
 * A leak shows as blocks of one origin (a stack; where none is recorded, a size) that are never
 * freed and are made evenly over the run, while everything else comes and goes: several times what
 * is not of that kind rises and falls again.  A single forward pass also makes blocks evenly and
 * keeps them, but then nothing of the sort was freed before, and nothing else comes back to where
 * it was more than by the way: so both are asked for, and less is not called a leak. */
#include "analysis/diagnose_state.h"

#include "base/memory.h"

#include <stdlib.h>

enum {
    LEAK_BLOCKS_LEAST = 8, /* made by one origin */
    LEAK_CYCLES_LEAST = 3, /* of everything else */
    LEAK_SHARE = 5         /* at least a fifth of what is live */
};

struct leak_block {
    uint32_t stack, id;
    uint64_t size, made;
};

FL_VECTOR(leak_blocks, struct leak_block);

struct leak {
    const fl_diagnosing *d;
    struct leak_blocks blocks; /* live at the refusal, of one origin after the other */
    uint8_t *grows;            /* by id: of an origin that grows */
    uint8_t *has_freed;        /* by stack: something of it was freed */
    size_t stacks;
    uint64_t bytes; /* that grow */
    fl_group worst;
};

static bool leak_is_same(const struct leak_block *a, const struct leak_block *b)
{
    return a->stack == b->stack && (a->stack != FL_NONE || a->size == b->size);
}

static int leak_compare(const void *left, const void *right)
{
    const struct leak_block *a = left, *b = right;
    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    if (a->stack == FL_NONE && a->size != b->size)
        return a->size < b->size ? -1 : 1;
    if (a->made != b->made)
        return a->made < b->made ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static bool leak_gather(struct leak *leak, fl_error *error)
{
    const fl_diagnosing *d = leak->d;
    const fl_owners *owners = &d->result->owners;
    for (size_t i = 0; i < d->at_oom.blocks.count; i++) {
        const fl_block_view *block = &d->at_oom.blocks.items[i];
        fl_owner owner = fl_owners_get(owners, block->id);
        if (block->state != FL_BLOCK_LIVE || owner.made == FL_NO_EVENT)
            continue;
        if (!fl_vector_reserve(d->host, &leak->blocks, 1, error))
            return false;
        leak->blocks.items[leak->blocks.count++] =
            (struct leak_block){owner.stack, block->id, block->requested, owner.made};
    }
    if (leak->blocks.count > 0)
        qsort(leak->blocks.items, leak->blocks.count, sizeof *leak->blocks.items, leak_compare);
    for (uint32_t id = 0; id < owners->count; id++) {
        const fl_owner *owner = &owners->items[id];
        if (owner->freed != FL_NO_EVENT && owner->stack < leak->stacks)
            leak->has_freed[owner->stack] = 1;
    }
    return true;
}

/* Over more than half of the run, and never a quarter of that time without one. */
static bool leak_is_even(const struct leak_block *blocks, size_t count, uint64_t end)
{
    uint64_t span = end - blocks[0].made;
    if (count < LEAK_BLOCKS_LEAST || span < end / 2)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t next = i + 1 < count ? blocks[i + 1].made : end;
        if (next - blocks[i].made > span / 4)
            return false;
    }
    return true;
}

static void leak_judge_origin(struct leak *leak, const struct leak_block *blocks, size_t count,
                              uint64_t end)
{
    bool has_freed = blocks[0].stack < leak->stacks && leak->has_freed[blocks[0].stack];
    if (has_freed || !leak_is_even(blocks, count, end))
        return;
    fl_group group = {.key = blocks[0].stack, .blocks = count};
    for (size_t i = 0; i < count; i++) {
        leak->grows[blocks[i].id] = 1;
        group.bytes += blocks[i].size;
    }
    leak->bytes += group.bytes;
    if (group.bytes > leak->worst.bytes)
        leak->worst = group;
}

static void leak_judge_origins(struct leak *leak, uint64_t end)
{
    size_t first = 0;
    for (size_t i = 1; i <= leak->blocks.count; i++) {
        if (i < leak->blocks.count &&
            leak_is_same(&leak->blocks.items[first], &leak->blocks.items[i]))
            continue;
        leak_judge_origin(leak, &leak->blocks.items[first], i - first, end);
        first = i;
    }
}

/* How much of what does not grow is live, event by event. */
static void leak_follow(const struct leak *leak, uint64_t index, uint64_t *live)
{
    const fl_diagnosing *d = leak->d;
    fl_event event;
    fl_trace_event(d->trace, d->options.trace_device, index, &event);
    if (event.id >= d->result->owners.count || leak->grows[event.id])
        return;
    uint64_t size = d->result->owners.items[event.id].size;
    if (event.kind == FL_OP_ALLOC)
        *live = size < UINT64_MAX - *live ? *live + size : UINT64_MAX;
    else if (event.kind == FL_OP_FREE)
        *live -= size < *live ? size : *live;
}

/* How often the rest goes from its lower to its upper quarter and back. */
static size_t leak_count_cycles(const struct leak *leak, uint64_t first, uint64_t end)
{
    uint64_t live = 0, least = UINT64_MAX, most = 0;
    for (uint64_t i = first; i < end; i++) {
        leak_follow(leak, i, &live);
        least = live < least ? live : least;
        most = live > most ? live : most;
    }
    uint64_t quarter = most > least ? (most - least) / 4 : 0;
    if (quarter == 0)
        return 0;
    size_t cycles = 0;
    bool is_high = false;
    live = 0;
    for (uint64_t i = first; i < end; i++) {
        leak_follow(leak, i, &live);
        if (!is_high && live >= most - quarter)
            is_high = true;
        else if (is_high && live <= least + quarter)
            is_high = false, cycles++;
    }
    return cycles;
}

static bool leak_open(struct leak *leak, fl_error *error)
{
    const fl_diagnosing *d = leak->d;
    leak->stacks = fl_trace_stack_count(d->trace);
    leak->grows = fl_new(d->host, d->result->owners.count, error);
    leak->has_freed = fl_new(d->host, leak->stacks, error);
    return leak->grows != NULL && leak->has_freed != NULL;
}

static void leak_close(struct leak *leak)
{
    fl_vector_deinit(leak->d->host, &leak->blocks);
    fl_delete(leak->d->host, leak->grows, leak->d->result->owners.count);
    fl_delete(leak->d->host, leak->has_freed, leak->stacks);
}

fl_status fl_diagnose_find_leak(const fl_diagnosing *d, bool *ret_leaks, fl_error *error)
{
    struct leak leak = {.d = d};
    uint64_t end = d->result->points[FL_POINT_OOM].event;
    uint64_t first = d->options.first_event;
    *ret_leaks = false;
    bool ok = leak_open(&leak, error) && leak_gather(&leak, error);
    if (ok) {
        leak_judge_origins(&leak, end);
        bool is_much =
            leak.bytes > 0 &&
            leak.bytes >= d->result->points[FL_POINT_OOM].totals.allocated_bytes / LEAK_SHARE;
        *ret_leaks = is_much && leak_count_cycles(&leak, first, end) >= LEAK_CYCLES_LEAST;
        d->result->leak = leak.worst;
    }
    leak_close(&leak);
    return ok ? FL_OK : FL_ERR_RESOURCE;
}
