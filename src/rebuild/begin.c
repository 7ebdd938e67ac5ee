/* What was there before some event in the middle: a replay up to there tells.
 *
 * A history is replayed over its own record, so its blocks lie where they were recorded, each with
 * its real size.  A script has no record: there, what was is what its allocator would have had. */
#include "rebuild/rebuild.h"

#include "base/memory.h"
#include "base/vector.h"
#include "replay/replay.h"
#include "trace/build.h"

#include <fraglab/verify.h>

#include <stdlib.h>

struct beginning {
    fl_trace *trace;
    const fl_host *host;
    fl_trace_start found;
    struct fl_range_vector known; /* by the policy's number of a segment; page 0: not expandable */
    fl_error *error;
    bool has_room;
};

static bool know_range(struct beginning *all, uint32_t segment, const fl_start_range *range)
{
    while (all->known.count <= segment) {
        if (!fl_vector_reserve(all->host, &all->known, 1, all->error))
            return false;
        all->known.items[all->known.count++] = (fl_start_range){0};
    }
    if (range->page == 0)
        all->known.items[segment] = *range;
    else
        all->known.items[segment].page = range->page;
    return true;
}

/* Where each segment begins, and how large the pages are of one that is mapped. */
static fl_status begin_watch(void *user, const fl_view *view, fl_error *error)
{
    (void)error;
    struct beginning *all = user;
    bool has_room = true;
    if (view->op->kind == FL_OP_NONE)
        return FL_OK; /* ranges of what was there before are known */
    for (size_t i = 0; i < view->change_count && has_room; i++) {
        const fl_change *change = &view->changes[i];
        fl_start_range range = {.address = change->address};
        if (change->kind == FL_CHANGE_MAP)
            range.page = change->requested;
        if (change->kind == FL_CHANGE_ACQUIRE || change->kind == FL_CHANGE_RESERVE ||
            change->kind == FL_CHANGE_MAP)
            has_room = know_range(all, change->segment, &range);
    }
    return has_room ? FL_OK : FL_ERR_RESOURCE;
}

static void begin_segment(void *user, const fl_segment_view *segment)
{
    struct beginning *all = user;
    all->has_room =
        all->has_room && fl_vector_reserve(all->host, &all->found.segments, 1, all->error);
    if (all->has_room)
        all->found.segments.items[all->found.segments.count++] = *segment;
}

static void begin_block(void *user, const fl_block_view *block)
{
    struct beginning *all = user;
    all->has_room =
        all->has_room && fl_vector_reserve(all->host, &all->found.blocks, 1, all->error);
    if (all->has_room)
        all->found.blocks.items[all->found.blocks.count++] = *block;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

struct numbered_base {
    uint64_t address;
    uint32_t index;
};

static int bases_by_address(const void *a, const void *b)
{
    const struct numbered_base *left = a, *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

/* Each reaches up to where the next one begins. */
static bool bound_ranges(struct beginning *all)
{
    struct fl_range_vector *ranges = &all->found.ranges;
    size_t size = ranges->count * sizeof(struct numbered_base);
    struct numbered_base *bases = fl_new(all->host, size, all->error);
    if (bases == NULL)
        return false;
    for (size_t i = 0; i < ranges->count; i++)
        bases[i] = (struct numbered_base){ranges->items[i].address, (uint32_t)i};
    if (ranges->count > 0)
        qsort(bases, ranges->count, sizeof *bases, bases_by_address);
    for (size_t i = 0; i < ranges->count; i++)
        ranges->items[bases[i].index].room =
            i + 1 < ranges->count ? bases[i + 1].address - bases[i].address : UINT64_MAX;
    fl_delete(all->host, bases, size);
    return true;
}

/* Ranges with something in them, oldest first, as the policy numbers segments. */
static bool find_ranges(struct beginning *all)
{
    struct fl_segment_vector *segments = &all->found.segments;
    size_t size = all->known.count * sizeof(uint32_t);
    uint32_t *numbers = fl_new(all->host, size, all->error);
    if (numbers == NULL ||
        !fl_vector_reserve(all->host, &all->found.ranges, all->known.count + 1, all->error)) {
        fl_delete(all->host, numbers, size);
        return false;
    }
    for (size_t i = 0; i < segments->count; i++)
        numbers[segments->items[i].segment] = 1;
    for (size_t i = 0; i < all->known.count; i++) {
        if (numbers[i] == 0)
            continue;
        numbers[i] = (uint32_t)all->found.ranges.count;
        all->found.ranges.items[all->found.ranges.count++] = all->known.items[i];
    }
    for (size_t i = 0; i < segments->count; i++) {
        fl_segment_view *segment = &segments->items[i];
        segment->segment = numbers[segment->segment];
        if (!segment->is_expandable)
            all->found.ranges.items[segment->segment].page = 0;
    }
    fl_delete(all->host, numbers, size);
    return bound_ranges(all);
}

/* ---- births ---------------------------------------------------------------------------------- */

struct born_at {
    uint64_t birth, address;
};

static int borns_by_birth(const void *a, const void *b)
{
    const struct born_at *left = a, *right = b;
    return left->birth < right->birth ? -1 : left->birth > right->birth;
}

/* In which order the blocks came to be, where the policy goes by it. */
static fl_status find_births(struct beginning *all)
{
    const struct fl_block_vector *blocks = &all->found.blocks;
    struct fl_u64_vector *births = &all->found.births;
    size_t count = 0, size = blocks->count * sizeof(struct born_at);
    struct born_at *borns = fl_new(all->host, size, all->error);
    if (borns == NULL || !fl_vector_reserve(all->host, births, blocks->count, all->error)) {
        fl_delete(all->host, borns, size);
        return FL_ERR_RESOURCE;
    }
    bool has_births = false;
    for (size_t i = 0; i < blocks->count; i++) {
        borns[count++] = (struct born_at){blocks->items[i].birth, blocks->items[i].address};
        has_births = has_births || blocks->items[i].birth > 0;
    }
    if (has_births)
        qsort(borns, count, sizeof *borns, borns_by_birth);
    for (size_t i = 0; i < count && has_births; i++)
        births->items[births->count++] = borns[i].address;
    fl_delete(all->host, borns, size);
    return FL_OK;
}

/* Blocks whose free is among the events before wait anew once that free is asked again. */
static void wake_freed(const struct beginning *all, const fl_columns *columns, uint64_t event,
                       uint8_t *was_freed)
{
    for (uint64_t i = 0; i < event; i++)
        if (columns->kind[i] == FL_OP_FREE && columns->id[i] != FL_NONE)
            was_freed[columns->id[i]] = 1;
    for (size_t i = 0; i < all->found.blocks.count; i++) {
        fl_block_view *block = &all->found.blocks.items[i];
        if (block->state == FL_BLOCK_PENDING && block->id != FL_NONE && was_freed[block->id])
            block->state = FL_BLOCK_LIVE;
    }
}

/* ---- the replay ------------------------------------------------------------------------------ */

static fl_status look_at(struct beginning *all, const fl_replay *replay, fl_error *error)
{
    fl_walk walk = {begin_segment, begin_block, all};
    fl_status status = fl_replay_walk(replay, &walk, error);
    if (status != FL_OK)
        return status;
    return all->has_room && find_ranges(all) ? find_births(all) : FL_ERR_RESOURCE;
}

static fl_status replay_to(struct beginning *all, const fl_replay_options *options, fl_error *error)
{
    const fl_trace_start *before = &all->trace->devices.items[options->trace_device].start;
    for (size_t i = 0; i < before->ranges.count; i++) {
        fl_start_range base = {.address = before->ranges.items[i].address};
        if (!know_range(all, (uint32_t)i, &base))
            return FL_ERR_RESOURCE;
        all->known.items[i].page = before->ranges.items[i].page;
    }
    fl_replay *replay = NULL;
    fl_status status = fl_replay_open(all->trace, options, &replay, error);
    if (status == FL_OK)
        status = fl_replay_run(replay, error);
    if (status == FL_OK)
        status = look_at(all, replay, error);
    fl_replay_close(replay);
    return status;
}

static fl_status begin_options(fl_trace *trace, size_t device, const fl_profile *profile,
                               const fl_replay_options *options, fl_replay_options *ret_options,
                               fl_error *error)
{
    if (trace->format == FL_FORMAT_SNAPSHOT)
        return fl_record_options(trace, device, profile, trace->host, ret_options, error);
    *ret_options = *options;
    return FL_OK;
}

/* Takes the place of the state before the first event. */
static fl_status take_state(struct beginning *all, size_t device, uint64_t event, fl_error *error)
{
    fl_trace_device *of = &all->trace->devices.items[device];
    uint8_t *was_freed = fl_new(all->host, of->alloc_count, error);
    if (was_freed == NULL)
        return FL_ERR_RESOURCE;
    wake_freed(all, &of->columns, event, was_freed);
    fl_delete(all->host, was_freed, of->alloc_count);
    fl_trace_drop_start(all->host, &of->start);
    all->found.first_id = of->start.first_id;
    all->found.is_known = all->found.is_placed = true;
    all->found.event = event;
    of->start = all->found;
    all->found = (fl_trace_start){0};
    return FL_OK;
}

fl_status fl_start_at(fl_trace *trace, size_t device, const fl_profile *profile, uint64_t event,
                      const fl_replay_options *options, fl_error *error)
{
    fl_replay_options before;
    fl_status status = begin_options(trace, device, profile, options, &before, error);
    if (status != FL_OK)
        return status;
    struct beginning all = {.trace = trace, .host = trace->host, .error = error, .has_room = true};
    before.trace_device = device;
    before.first_event = 0;
    before.end_event = event;
    before.on_oom = FL_ON_OOM_SKIP;
    before.start = FL_START_RECORDED;
    before.is_lean = false;
    before.watch = begin_watch;
    before.progress = NULL;
    before.user = &all;
    status = replay_to(&all, &before, error);
    if (status == FL_OK)
        status = take_state(&all, device, event, error);
    fl_trace_drop_start(trace->host, &all.found);
    fl_vector_deinit(trace->host, &all.known);
    return status;
}
