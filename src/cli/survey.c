/* Three passes over the events: what was live before the first one, when most was live, and who
 * that was.  Live means not yet freed by the program; blocks freed and pending do not count.
 *
 * What lived before the first event shows by being freed without having been allocated, or by
 * standing in the final state without an event.  Sizes are those the file tells: what was asked
 * for, not what the allocator made of it. */
#include "cli/survey.h"

#include "cli/memory.h"

#include <stdlib.h>
#include <string.h>

/* One allocation. */
struct owner {
    uint64_t bytes;
    uint32_t stack;
    bool is_seen;   /* some event or block has told of it */
    bool is_before; /* live before the first event */
    bool is_live;   /* in the current pass */
};

struct census {
    const fl_host *host;
    const fl_trace *trace;
    size_t device;
    struct owner *owners;
    uint32_t owner_count;
    uint64_t old_bytes, old_blocks; /* live all the time: no event names them */
    uint64_t bytes, blocks;         /* live now */
};

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

const char *fl_survey_kind_name(size_t kind)
{
    static const char *const names[FL_EVENT_KIND_END] = {
        [FL_OP_ALLOC] = "alloc",
        [FL_OP_FREE] = "free",
        [FL_OP_USE] = "use",
        [FL_OP_SCOPE_BEGIN] = "scope_begin",
        [FL_OP_SCOPE_END] = "scope_end",
        [FL_OP_POOL_RELEASE] = "pool_release",
        [FL_OP_TRIM] = "empty_cache",
        [FL_OP_LIMIT] = "fraction",
        [FL_OP_CONFIGURE] = "configure",
        [FL_OP_EVENTS_HOLD] = "events_hold",
        [FL_OP_EVENTS_COMPLETE] = "events_complete",
        [FL_OP_FREE_DONE] = "free_done",
        [FL_OP_MARK] = "mark",
        [FL_OP_OUTSIDE] = "outside",
        [FL_OP_SHOW_SEGMENTS] = "show_segments",
        [FL_OP_SHOW_COUNTERS] = "show_counters",
        [FL_OP_RESET_PEAKS] = "reset_peaks",
        [FL_OP_RESET_SUMS] = "reset_sums",
        [FL_EVENT_SEGMENT_ALLOC] = "segment_alloc",
        [FL_EVENT_SEGMENT_FREE] = "segment_free",
        [FL_EVENT_SEGMENT_MAP] = "segment_map",
        [FL_EVENT_SEGMENT_UNMAP] = "segment_unmap",
        [FL_EVENT_SNAPSHOT] = "snapshot",
        [FL_EVENT_OTHER] = "other",
    };
    return kind < FL_EVENT_KIND_END ? names[kind] : NULL;
}

static void count_event(const fl_event *event, fl_survey *survey, bool *streams, bool *pools)
{
    if (event->flags & FL_EVENT_OOM)
        survey->refused++;
    else if (event->kind < FL_EVENT_KIND_END)
        survey->kinds[event->kind]++;
    if (event->stream != FL_NONE)
        streams[event->stream] = true;
    if (event->pool != FL_NONE || event->kind == FL_OP_ALLOC)
        pools[event->pool != FL_NONE ? event->pool : 0] = true;
    survey->has_stacks = survey->has_stacks || event->stack != FL_NONE;
    if (event->time_us == FL_TIME_UNKNOWN)
        return;
    if (!survey->has_times || event->time_us < survey->first_us)
        survey->first_us = event->time_us;
    if (!survey->has_times || event->time_us > survey->last_us)
        survey->last_us = event->time_us;
    survey->has_times = true;
}

/* Segments of the final state may be of streams and pools that no event names. */
static void mark_final(const struct census *census, bool *streams, bool *pools)
{
    size_t count;
    const fl_segment_view *segments =
        fl_trace_final_segments(census->trace, census->device, &count);
    for (size_t i = 0; i < count; i++) {
        if (segments[i].stream != FL_NONE)
            streams[segments[i].stream] = true;
        if (segments[i].pool != FL_NONE)
            pools[segments[i].pool] = true;
    }
}

static fl_status count_events(const struct census *census, fl_survey *survey, fl_error *error)
{
    const fl_names *names = fl_trace_names(census->trace);
    size_t streams = names->stream_count, count = streams + names->pool_count;
    bool *is_used = fl_cli_new(census->host, count, sizeof *is_used, error); /* then the pools */
    if (is_used == NULL)
        return FL_ERR_RESOURCE;
    for (uint64_t i = 0; i < survey->events; i++) {
        fl_event event;
        fl_trace_event(census->trace, census->device, i, &event);
        count_event(&event, survey, is_used, is_used + streams);
    }
    mark_final(census, is_used, is_used + streams);
    for (size_t i = 0; i < count; i++)
        *(i < streams ? &survey->stream_count : &survey->pool_count) += is_used[i];
    fl_cli_delete(census->host, is_used, count, sizeof *is_used);
    return FL_OK;
}

static void note_before(struct owner *owner, uint64_t bytes, uint32_t stack)
{
    owner->bytes = bytes;
    owner->stack = stack;
    owner->is_before = true;
}

static void note_owner(struct census *census, const fl_event *event)
{
    if (event->id >= census->owner_count)
        return;
    struct owner *owner = &census->owners[event->id];
    if (event->kind == FL_OP_FREE && !owner->is_seen)
        note_before(owner, event->size, event->stack);
    if (event->kind == FL_OP_ALLOC || event->kind == FL_OP_FREE || event->kind == FL_OP_FREE_DONE)
        owner->is_seen = true;
}

/* Live at the end, and so it was before the first event, which no event shows. */
static bool block_is_old(const struct census *census, const fl_block_view *block)
{
    return block->state == FL_BLOCK_LIVE && block->id >= census->owner_count;
}

static void find_before(struct census *census, fl_survey *survey)
{
    for (uint64_t i = 0; i < survey->events; i++) {
        fl_event event;
        fl_trace_event(census->trace, census->device, i, &event);
        note_owner(census, &event);
    }
    size_t count;
    const fl_block_view *blocks = fl_trace_final_blocks(census->trace, census->device, &count);
    for (size_t i = 0; i < count; i++) {
        survey->block_counts[blocks[i].state]++;
        if (block_is_old(census, &blocks[i])) {
            census->old_bytes = add(census->old_bytes, blocks[i].requested);
            census->old_blocks++;
        }
        if (blocks[i].state != FL_BLOCK_LIVE || blocks[i].id >= census->owner_count)
            continue;
        struct owner *owner = &census->owners[blocks[i].id];
        if (!owner->is_seen)
            note_before(owner, blocks[i].requested,
                        fl_trace_final_stack(census->trace, census->device, i));
        owner->is_seen = true;
    }
}

static void begin_pass(struct census *census)
{
    census->bytes = census->old_bytes;
    census->blocks = census->old_blocks;
    for (uint32_t id = 0; id < census->owner_count; id++) {
        struct owner *owner = &census->owners[id];
        owner->is_live = owner->is_before;
        if (owner->is_live) {
            census->bytes = add(census->bytes, owner->bytes);
            census->blocks++;
        }
    }
}

static void step(struct census *census, uint64_t index)
{
    fl_event event;
    fl_trace_event(census->trace, census->device, index, &event);
    if (event.id >= census->owner_count)
        return;
    struct owner *owner = &census->owners[event.id];
    if (event.kind == FL_OP_ALLOC && (event.flags & FL_EVENT_OOM) == 0 && !owner->is_live) {
        owner->bytes = event.size;
        owner->stack = event.stack;
        owner->is_live = true;
        census->bytes = add(census->bytes, owner->bytes);
        census->blocks++;
    } else if (event.kind == FL_OP_FREE && owner->is_live) {
        owner->is_live = false;
        census->bytes -= owner->bytes < census->bytes ? owner->bytes : census->bytes;
        census->blocks--;
    }
}

/* Bytes that are live from before the first event to where the pass has come. */
static uint64_t count_kept(const struct census *census)
{
    uint64_t kept = census->old_bytes;
    for (uint32_t id = 0; id < census->owner_count; id++)
        if (census->owners[id].is_before && census->owners[id].is_live)
            kept = add(kept, census->owners[id].bytes);
    return kept;
}

static void hold(fl_holder *holders, size_t stacks, uint32_t stack, uint64_t bytes)
{
    fl_holder *holder = &holders[stack < stacks ? stack : stacks];
    holder->stack = stack;
    holder->bytes = add(holder->bytes, bytes);
    holder->blocks++;
}

/* What no event names is live whenever one looks. */
static void hold_old(const struct census *census, fl_holder *holders, size_t stacks)
{
    size_t count;
    const fl_block_view *blocks = fl_trace_final_blocks(census->trace, census->device, &count);
    for (size_t i = 0; i < count; i++) {
        if (block_is_old(census, &blocks[i]))
            hold(holders, stacks, fl_trace_final_stack(census->trace, census->device, i),
                 blocks[i].requested);
    }
}

static int compare_holders(const void *a, const void *b)
{
    const fl_holder *left = a, *right = b;
    if (left->bytes != right->bytes)
        return left->bytes < right->bytes ? 1 : -1;
    return left->stack < right->stack ? -1 : left->stack > right->stack;
}

/* Groups what is live now by stack. */
static fl_status list_holders(const struct census *census, fl_live *live, fl_error *error)
{
    size_t stacks = fl_trace_stack_count(census->trace);
    size_t room = stacks + 1; /* the last: no stack */
    fl_holder *holders = fl_cli_new(census->host, room, sizeof *holders, error);
    if (holders == NULL)
        return FL_ERR_RESOURCE;
    for (uint32_t id = 0; id < census->owner_count; id++) {
        const struct owner *owner = &census->owners[id];
        if (owner->is_live)
            hold(holders, stacks, owner->stack, owner->bytes);
    }
    hold_old(census, holders, stacks);
    size_t count = 0;
    for (size_t i = 0; i <= stacks; i++) {
        if (holders[i].blocks > 0)
            holders[count++] = holders[i];
    }
    qsort(holders, count, sizeof *holders, compare_holders);
    live->bytes = census->bytes;
    live->blocks = census->blocks;
    live->holders = holders;
    live->holder_count = count;
    live->holder_room = room;
    return FL_OK;
}

static fl_status find_live(struct census *census, fl_survey *survey, fl_error *error)
{
    begin_pass(census);
    survey->before_bytes = census->bytes;
    survey->before_blocks = census->blocks;
    uint64_t peak = census->bytes, peak_steps = 0;
    for (uint64_t i = 0; i < survey->events; i++) {
        step(census, i);
        if (census->bytes > peak) {
            peak = census->bytes;
            peak_steps = i + 1;
        }
    }
    survey->end.event = survey->events;
    survey->kept_bytes = count_kept(census);
    fl_status status = list_holders(census, &survey->end, error);
    if (status != FL_OK)
        return status;
    begin_pass(census);
    for (uint64_t i = 0; i < peak_steps; i++)
        step(census, i);
    survey->peak.event = peak_steps > 0 ? peak_steps - 1 : 0;
    return list_holders(census, &survey->peak, error);
}

fl_status fl_survey_trace(const fl_host *host, const fl_trace *trace, size_t device,
                          fl_survey *ret_survey, fl_error *error)
{
    struct census census = {.host = host, .trace = trace, .device = device};
    fl_survey survey = {.events = fl_trace_event_count(trace, device),
                        .is_complete = fl_trace_is_complete(trace, device),
                        .has_final_state = fl_trace_has_final_state(trace, device),
                        .is_state_newer = fl_trace_is_state_newer(trace, device)};
    census.owner_count = fl_trace_alloc_count(trace, device);
    census.owners = fl_cli_new(host, census.owner_count, sizeof *census.owners, error);
    if (census.owners == NULL)
        return FL_ERR_RESOURCE;
    const fl_segment_view *segments = fl_trace_final_segments(trace, device, &survey.segment_count);
    for (size_t i = 0; i < survey.segment_count; i++)
        survey.reserved_bytes = add(survey.reserved_bytes, segments[i].size);
    find_before(&census, &survey);
    fl_status status = count_events(&census, &survey, error);
    if (status == FL_OK)
        status = find_live(&census, &survey, error);
    fl_cli_delete(host, census.owners, census.owner_count, sizeof *census.owners);
    if (status == FL_OK)
        *ret_survey = survey;
    else
        fl_survey_deinit(host, &survey);
    return status;
}

void fl_survey_deinit(const fl_host *host, fl_survey *survey)
{
    fl_cli_delete(host, survey->peak.holders, survey->peak.holder_room, sizeof(fl_holder));
    fl_cli_delete(host, survey->end.holders, survey->end.holder_room, sizeof(fl_holder));
}
