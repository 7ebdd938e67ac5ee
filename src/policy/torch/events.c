/* Blocks that other streams use: their frees wait for events (9.4 to 9.6, 12.5). */
#include "policy/torch/torch.h"

static uint64_t events_stream_hash(const torch *st, uint32_t stream)
{
    return hash_of_stream(st->names->streams[stream]);
}

static bool events_fail(torch *st)
{
    fl_fail(st->error, FL_ERR_RESOURCE, "out of memory: no room for another stream's use");
    return false;
}

static uint32_t events_new_uses(torch *st)
{
    uint32_t index = st->unused_uses;
    if (index != FL_NONE) {
        st->unused_uses = st->use_sets.items[index].next_unused;
        return index;
    }
    if (!fl_vector_reserve(st->host, &st->use_sets, 1, st->error))
        return FL_NONE;
    st->use_sets.items[st->use_sets.count] = (struct torch_uses){.next_unused = FL_NONE};
    return (uint32_t)st->use_sets.count++;
}

void torch_uses_drop(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    struct torch_uses *uses = &st->use_sets.items[block->uses];
    /* A set that grew would iterate in another order than a new one: start afresh. */
    hash_order_deinit(st->host, &uses->streams);
    hash_order_deinit(st->host, &uses->in_capture);
    uses->next_unused = st->unused_uses;
    st->unused_uses = block->uses;
    block->uses = FL_NONE;
}

static bool events_note(torch *st, struct hash_order *set, uint64_t hash, uint32_t stream)
{
    return hash_order_has(set, hash, stream) || hash_order_put(st->host, set, hash, stream) ||
           events_fail(st);
}

bool torch_use(torch *st, uint32_t index, uint32_t stream)
{
    struct torch_block *block = torch_block_at(st, index);
    if (stream == torch_lane_of(st, block)->stream)
        return true;
    if (block->uses == FL_NONE)
        block->uses = events_new_uses(st);
    if (block->uses == FL_NONE)
        return false;
    struct torch_uses *uses = &st->use_sets.items[block->uses];
    uint64_t hash = events_stream_hash(st, stream);
    if (!events_note(st, &uses->streams, hash, stream))
        return false;
    return !torch_in_capture(st, stream) || events_note(st, &uses->in_capture, hash, stream);
}

static bool events_push(torch *st, uint32_t stream, uint32_t index)
{
    if (stream >= st->queues.count) {
        if (!fl_vector_reserve(st->host, &st->queues, stream + 1 - st->queues.count, st->error))
            return false;
        while (st->queues.count <= stream)
            st->queues.items[st->queues.count++] = (struct torch_queue){0};
    }
    struct torch_queue *queue = &st->queues.items[stream];
    uint64_t hash = events_stream_hash(st, stream);
    if (!hash_order_has(&st->queue_order, hash, stream) &&
        !hash_order_put(st->host, &st->queue_order, hash, stream))
        return events_fail(st);
    if (!fl_vector_reserve(st->host, &queue->events, 1, st->error))
        return false;
    queue->events.items[queue->events.count++] = (struct torch_event){st->events_recorded++, index};
    return true;
}

/* A copy of what a map lists, since the map changes under way; into the scratch list. */
static bool events_list(torch *st, const struct hash_order *map)
{
    st->scratch.count = 0;
    if (!fl_vector_reserve(st->host, &st->scratch, map->count, st->error))
        return false;
    hash_order_list(map, st->scratch.items);
    st->scratch.count = map->count;
    return true;
}

bool torch_insert_events(torch *st, uint32_t index)
{
    const struct torch_uses *uses = &st->use_sets.items[torch_block_at(st, index)->uses];
    if (!events_list(st, &uses->streams))
        return false;
    torch_uses_drop(st, index);
    for (size_t i = 0; i < st->scratch.count; i++) {
        torch_block_at(st, index)->events++;
        if (!events_push(st, st->scratch.items[i], index))
            return false;
    }
    return true;
}

/* Uses recorded during the capture make no events, from 2.4 on. */
static void events_forget_capture(torch *st, struct torch_uses *uses)
{
    for (uint32_t i = 0; st->profile->capture_uses_forgotten && i < uses->in_capture.length; i++) {
        const struct hash_slot *slot = &uses->in_capture.slots[i];
        if (slot->value != FL_NONE && hash_order_has(&uses->streams, slot->hash, slot->value))
            hash_order_erase(&uses->streams, slot->hash, slot->value);
    }
}

/* What was pending returns to its pool. */
static bool events_complete(torch *st, uint32_t index)
{
    torch_count_pending(st, torch_block_at(st, index), false);
    return torch_free_done(st, index);
}

static bool events_drain_deferred(torch *st)
{
    struct torch_indices list = st->deferred;
    st->deferred = (struct torch_indices){0};
    bool ok = true;
    for (size_t i = 0; ok && i < list.count; i++) {
        uint32_t index = list.items[i];
        events_forget_capture(st, &st->use_sets.items[torch_block_at(st, index)->uses]);
        ok = torch_insert_events(st, index);
        if (ok && torch_block_at(st, index)->events == 0)
            ok = events_complete(st, index);
    }
    fl_vector_deinit(st->host, &list);
    return ok;
}

/* One event fewer; the last one completes the free. */
static bool events_done(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    return --block->events > 0 || events_complete(st, index);
}

static void events_drop_empty_queue(torch *st, uint32_t stream)
{
    struct torch_queue *queue = &st->queues.items[stream];
    if (queue->head < queue->events.count)
        return;
    queue->head = queue->events.count = 0;
    hash_order_erase(&st->queue_order, events_stream_hash(st, stream), stream);
}

/* ---- what would complete (probe) ------------------------------------------------------------- */

static bool events_is_complete(const torch *st, uint64_t number)
{
    return st->oracle->event_complete(st->oracle->user, number);
}

/* Would an event recorded now on this stream, numbered so, be reached and found complete? */
static bool events_would_complete(const torch *st, uint32_t stream, uint64_t number)
{
    const struct torch_queue *queue = stream < st->queues.count ? &st->queues.items[stream] : NULL;
    for (size_t i = queue != NULL ? queue->head : 0; queue != NULL && i < queue->events.count; i++)
        if (!events_is_complete(st, queue->events.items[i].number))
            return false;
    return events_is_complete(st, number);
}

/* A block freed in a capture: events for its uses, as far as they are not forgotten. */
static bool events_foresee_deferred(const torch *st, uint32_t index, uint64_t *number)
{
    const struct torch_uses *uses = &st->use_sets.items[torch_block_at(st, index)->uses];
    bool completes = true;
    for (uint32_t i = 0; i < uses->streams.length; i++) {
        const struct hash_slot *slot = &uses->streams.slots[i];
        if (slot->value == FL_NONE || (st->profile->capture_uses_forgotten &&
                                       hash_order_has(&uses->in_capture, slot->hash, slot->value)))
            continue;
        completes = events_would_complete(st, slot->value, (*number)++) && completes;
    }
    return completes;
}

void torch_foresee_events(const torch *st, uint32_t *ret_done)
{
    uint64_t number = st->events_recorded;
    for (size_t i = 0; i < st->queues.count; i++) {
        const struct torch_queue *queue = &st->queues.items[i];
        for (size_t at = queue->head; at < queue->events.count; at++) {
            if (!events_is_complete(st, queue->events.items[at].number))
                break;
            ret_done[queue->events.items[at].block]++;
        }
    }
    for (uint32_t i = 1; i < st->blocks.count; i++)
        if (ret_done[i] > 0 && ret_done[i] < torch_block_at(st, i)->events)
            ret_done[i] = 0;
    for (size_t i = 0; i < st->deferred.count; i++)
        ret_done[st->deferred.items[i]] =
            events_foresee_deferred(st, st->deferred.items[i], &number);
}

/* ---- what completes (9.5) -------------------------------------------------------------------- */

bool torch_process_waiting(torch *st)
{
    if (st->deferred.count > 0 && !events_drain_deferred(st))
        return false;
    if (st->queue_order.count == 0)
        return true;
    if (!events_list(st, &st->queue_order))
        return false;
    for (size_t i = 0; i < st->scratch.count; i++) {
        uint32_t stream = st->scratch.items[i];
        struct torch_queue *queue = &st->queues.items[stream];
        while (
            queue->head < queue->events.count &&
            st->oracle->event_complete(st->oracle->user, queue->events.items[queue->head].number)) {
            if (!events_done(st, queue->events.items[queue->head++].block))
                return false;
        }
        events_drop_empty_queue(st, stream);
    }
    return true;
}

static bool events_is_of(const torch *st, uint32_t index, uint32_t owner)
{
    return owner == FL_NONE || torch_pool_of(st, torch_block_at(st, index))->owner == owner;
}

static bool events_sync_queue(torch *st, struct torch_queue *queue, uint32_t owner)
{
    size_t kept = 0;
    for (size_t i = queue->head; i < queue->events.count; i++) {
        struct torch_event event = queue->events.items[i];
        if (!events_is_of(st, event.block, owner))
            queue->events.items[kept++] = event;
        else if (!events_done(st, event.block))
            return false;
    }
    queue->head = 0;
    queue->events.count = kept;
    return true;
}

static bool events_sync_waiting(torch *st, uint32_t owner)
{
    size_t kept = 0;
    for (size_t i = 0; i < st->waiting.count; i++) {
        uint32_t index = st->waiting.items[i];
        if (!events_is_of(st, index, owner)) {
            st->waiting.items[kept++] = index;
            continue;
        }
        torch_block_at(st, index)->flags &= (uint8_t)~BLOCK_HELD;
        if (!events_done(st, index))
            return false;
    }
    st->waiting.count = kept;
    return true;
}

bool torch_sync_events(torch *st, uint32_t owner)
{
    st->stats.sync_all_streams++;
    if (st->deferred.count > 0 && !events_drain_deferred(st))
        return false;
    if (!events_list(st, &st->queue_order))
        return false;
    for (size_t i = 0; i < st->scratch.count; i++) {
        uint32_t stream = st->scratch.items[i];
        if (!events_sync_queue(st, &st->queues.items[stream], owner))
            return false;
        events_drop_empty_queue(st, stream);
    }
    return events_sync_waiting(st, owner);
}

static void events_forget_index(struct torch_indices *list, uint32_t index)
{
    size_t i = 0;
    while (i < list->count && list->items[i] != index)
        i++;
    if (i == list->count)
        return;
    list->count--;
    for (; i < list->count; i++)
        list->items[i] = list->items[i + 1];
}

static void events_forget_block(torch *st, uint32_t index)
{
    for (uint32_t stream = 0; stream < st->queues.count; stream++) {
        struct torch_queue *queue = &st->queues.items[stream];
        size_t kept = queue->head;
        for (size_t i = queue->head; i < queue->events.count; i++)
            if (queue->events.items[i].block != index)
                queue->events.items[kept++] = queue->events.items[i];
        bool removed = kept < queue->events.count;
        queue->events.count = kept;
        if (removed)
            events_drop_empty_queue(st, stream);
    }
}

bool torch_complete_now(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    if (block->flags & BLOCK_ALLOCATED)
        return true;
    if (block->flags & BLOCK_HELD) {
        events_forget_index(&st->waiting, index);
        block->flags &= (uint8_t)~BLOCK_HELD;
    } else if (block->uses != FL_NONE) {
        events_forget_index(&st->deferred, index);
        torch_uses_drop(st, index);
    } else {
        events_forget_block(st, index);
    }
    block->events = 0;
    return events_complete(st, index);
}
