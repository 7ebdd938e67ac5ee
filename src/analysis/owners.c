#include "analysis/owners.h"

#include "base/memory.h"

#include <stdlib.h>

static const fl_owner nobody = {FL_NO_EVENT, FL_NO_EVENT, 0, FL_NONE, FL_NONE};

static void owners_note(fl_owners *owners, const fl_event *event, uint64_t index, uint32_t phase)
{
    if (event->id >= owners->count)
        return;
    fl_owner *owner = &owners->items[event->id];
    if (event->kind == FL_OP_ALLOC) {
        owner->made = index;
        owner->size = event->size;
        owner->stack = event->stack;
        owner->phase = phase;
    } else if (event->kind == FL_OP_FREE) {
        owner->freed = index;
        if (owner->stack == FL_NONE)
            owner->stack = event->stack; /* a record tells with a free who allocated it */
    }
}

/* What no event names may still stand in the final state. */
static void owners_note_final(fl_owners *owners)
{
    size_t count;
    const fl_block_view *blocks = fl_trace_final_blocks(owners->trace, owners->device, &count);
    for (size_t i = 0; i < count; i++) {
        if (blocks[i].id >= owners->count)
            continue;
        fl_owner *owner = &owners->items[blocks[i].id];
        if (owner->stack == FL_NONE)
            owner->stack = fl_trace_final_stack(owners->trace, owners->device, i);
        if (owner->freed == FL_NO_EVENT)
            owner->freed = fl_trace_final_free(owners->trace, owners->device, i);
    }
}

fl_status fl_owners_init(fl_owners *owners, const fl_host *host, const fl_trace *trace,
                         size_t device, fl_error *error)
{
    fl_owners fresh = {.host = host, .trace = trace, .device = device};
    fresh.count = fl_trace_alloc_count(trace, device);
    fresh.items = fl_new(host, fresh.count * sizeof *fresh.items, error);
    if (fresh.items == NULL)
        return FL_ERR_RESOURCE;
    for (uint32_t id = 0; id < fresh.count; id++)
        fresh.items[id] = nobody;
    uint32_t phase = FL_NONE;
    uint64_t events = fl_trace_event_count(trace, device);
    for (uint64_t i = 0; i < events; i++) {
        fl_event event;
        fl_trace_event(trace, device, i, &event);
        if (event.kind == FL_OP_MARK)
            phase = event.text;
        else
            owners_note(&fresh, &event, i, phase);
    }
    owners_note_final(&fresh);
    *owners = fresh;
    return FL_OK;
}

void fl_owners_deinit(fl_owners *owners)
{
    if (owners->items != NULL)
        fl_delete(owners->host, owners->items, owners->count * sizeof *owners->items);
    owners->items = NULL;
}

fl_owner fl_owners_get(const fl_owners *owners, uint32_t id)
{
    return id < owners->count ? owners->items[id] : nobody;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static uint32_t owners_key(const fl_owners *owners, uint32_t id, fl_grouping grouping)
{
    if (grouping == FL_BY_CATEGORY)
        return id < owners->count ? fl_trace_category(owners->trace, owners->device, id) : FL_NONE;
    fl_owner owner = fl_owners_get(owners, id);
    return grouping == FL_BY_STACK ? owner.stack : owner.phase;
}

static int owners_compare_keys(const void *left, const void *right)
{
    const fl_group *a = left, *b = right;
    return a->key < b->key ? -1 : a->key > b->key;
}

static int owners_compare_bytes(const void *left, const void *right)
{
    const fl_group *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return owners_compare_keys(left, right);
}

fl_status fl_owners_group(const fl_owners *owners, const fl_picture *picture, fl_grouping grouping,
                          struct fl_groups *groups, fl_error *error)
{
    for (size_t i = 0; i < picture->blocks.count; i++) {
        const fl_block_view *block = &picture->blocks.items[i];
        if (block->state != FL_BLOCK_LIVE)
            continue;
        if (!fl_vector_reserve(owners->host, groups, 1, error))
            return FL_ERR_RESOURCE;
        groups->items[groups->count++] =
            (fl_group){owners_key(owners, block->id, grouping), block->size, 1};
    }
    if (groups->count == 0)
        return FL_OK;
    qsort(groups->items, groups->count, sizeof *groups->items, owners_compare_keys);
    size_t kept = 0;
    for (size_t i = 1; i < groups->count; i++) {
        fl_group *last = &groups->items[kept];
        if (groups->items[i].key != last->key) {
            groups->items[++kept] = groups->items[i];
            continue;
        }
        last->bytes += groups->items[i].bytes;
        last->blocks++;
    }
    groups->count = kept + 1;
    qsort(groups->items, groups->count, sizeof *groups->items, owners_compare_bytes);
    return FL_OK;
}
