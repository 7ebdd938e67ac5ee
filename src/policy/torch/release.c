/* Giving memory back to the device (10). */
#include "policy/torch/block.h"

enum { DEFAULT_SMALL, DEFAULT_LARGE }; /* pools that are always there */

/* One whole segment goes back (10.5). */
static torch_step release_block(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    struct torch_pool *pool = torch_pool_of(st, block);
    if (torch_is_expandable(block))
        return torch_forbid(st, "an expandable block cannot be released as a segment");
    if (torch_is_split(block))
        return torch_forbid(st, "a split block cannot be released as a segment");
    if (block->flags & BLOCK_LOST)
        return torch_forbid(st, "the driver is given a segment that went back already");
    fl_change change = {
        .kind = FL_CHANGE_RELEASE,
        .cause = (uint8_t)st->cause,
        .flags = pool->is_small ? FL_CHANGE_SMALL : 0,
        .id = FL_NONE,
        .segment = block->segment,
        .stream = torch_lane_of(st, block)->stream,
        .pool = pool->owner == FL_NONE ? 0 : st->privates.items[pool->owner].name,
        .address = block->address,
        .size = block->size,
        .requested = st->tie == FL_TIE_BLOCK ? block->tie : 0,
    };
    st->stats.device_frees++;
    torch_tell(st, &change);
    if (fl_device_release(st->device, block->address, block->size) != FL_ANSWER_OK)
        return torch_device_broke(st);
    st->held -= block->size;
    if (pool->owner != FL_NONE) {
        struct torch_private *owner = &st->privates.items[pool->owner];
        if (owner->device_allocs <= 0) {
            block->flags |= BLOCK_LOST;
            st->lost += block->size;
            return torch_forbid(st, "a private pool's allocation count is not above zero");
        }
        owner->device_allocs--;
    }
    torch_lower(pool, FL_STAT_SEGMENT, 1);
    torch_lower_reserved(st, pool, block->size);
    if (block->size >= st->settings.max_split_bytes)
        torch_lower_one(&st->stats.oversize_segments, 1);
    torch_free_remove(st, index);
    torch_block_drop(st, index);
    return STEP_YES;
}

/* Collection and release-available pass expandable blocks by, in releases that know of them there.
 */
static bool release_is_passed_by(const torch *st, const struct torch_block *block)
{
    return torch_is_expandable(block) && st->profile->expandable_not_released;
}

/* ---- garbage collection (10.1) --------------------------------------------------------------- */

struct collection {
    uint64_t target, reclaimed, total_age;
    uint32_t count; /* unsplit free blocks left */
};

/* One pass: everything at least as old as the average, which is fixed for the pass. */
static torch_step release_collect_pass(torch *st, struct collection *run, bool *ret_freed)
{
    double average = (double)run->total_age / run->count;
    *ret_freed = false;
    for (size_t i = 0; i < st->scratch.count; i++) {
        uint32_t index = st->scratch.items[i];
        if (index == NO_BLOCK)
            continue;
        const struct torch_block *block = torch_block_at(st, index);
        uint32_t age = torch_free_age(st, block);
        if (torch_is_split(block) || age < average || release_is_passed_by(st, block))
            continue;
        uint64_t size = block->size;
        torch_step step = release_block(st, index);
        if (step != STEP_YES)
            return step;
        run->reclaimed += size;
        run->total_age -= age;
        run->count--;
        st->scratch.items[i] = NO_BLOCK;
        *ret_freed = true;
    }
    return STEP_YES;
}

static uint64_t release_threshold(const torch *st)
{
    return fl_truncate(st->settings.collect_threshold * (double)st->limit);
}

/* Is the free block that begins at `index`, with what is about to become free behind it, a whole
 * segment? */
static bool release_is_whole(const torch *st, uint32_t index, const uint32_t *done)
{
    if (torch_block_at(st, index)->previous != NO_BLOCK)
        return false;
    while (torch_will_be_free(st, index, done) && (torch_block_at(st, index)->flags & BLOCK_MAPPED))
        index = torch_block_at(st, index)->next;
    return index == NO_BLOCK;
}

bool torch_would_collect(const torch *st, const uint32_t *done)
{
    if (st->limit == FL_UNLIMITED || !(st->settings.collect_threshold > 0) ||
        st->held <= release_threshold(st))
        return false;
    uint64_t total_age = 0, count = 0;
    int64_t oldest = -1;
    for (size_t i = 1; i < st->blocks.count; i++) {
        const struct torch_block *block = torch_block_at(st, (uint32_t)i);
        if (block->size == 0 || torch_lane_of(st, block)->pool_index != DEFAULT_LARGE ||
            !torch_will_be_free(st, (uint32_t)i, done) || !release_is_whole(st, (uint32_t)i, done))
            continue;
        bool is_fresh = !torch_is_free(block) || torch_is_split(block); /* merged only then */
        uint32_t age = is_fresh ? 0 : torch_free_age(st, block);
        total_age += age;
        count++;
        if (age > oldest && !release_is_passed_by(st, block))
            oldest = age;
    }
    return oldest >= 0 && (double)oldest >= (double)total_age / (double)count;
}

torch_step torch_collect(torch *st)
{
    uint64_t threshold = release_threshold(st);
    if (st->held <= threshold)
        return STEP_NO;
    torch_track_limit(st);
    struct collection run = {.target = st->held - threshold};
    if (!torch_list_free(st, DEFAULT_LARGE))
        return STEP_BROKEN;
    for (size_t i = 0; i < st->scratch.count; i++) {
        const struct torch_block *block = torch_block_at(st, st->scratch.items[i]);
        if (torch_is_split(block))
            continue;
        run.total_age += torch_free_age(st, block);
        run.count++;
    }
    st->cause = FL_CAUSE_COLLECT;
    bool freed = true;
    while (run.reclaimed < run.target && freed && run.count > 0) {
        torch_step step = release_collect_pass(st, &run, &freed);
        if (step != STEP_YES)
            return step;
    }
    return STEP_NO;
}

/* ---- release-available (10.2) ---------------------------------------------------------------- */

/* The largest ones below what is wanted, from the top, as long as they are oversize. */
static torch_step release_from_top(torch *st, const struct torch_bins *bins, uint32_t index,
                                   uint64_t wanted)
{
    uint64_t released = 0;
    while (index != NO_BLOCK && released < wanted) {
        const struct torch_block *block = torch_block_at(st, index);
        if (block->size < st->settings.max_split_bytes)
            break;
        torch_track_split(st, block->size + 1);
        uint32_t before = torch_bins_previous(st, bins, index);
        if (!release_is_passed_by(st, block)) {
            released += block->size;
            torch_step step = release_block(st, index);
            if (step != STEP_YES)
                return step;
        }
        index = before;
    }
    if (released < wanted)
        return STEP_NO;
    torch_track_split(st, released + 1); /* a larger limit wants more than this */
    return STEP_YES;
}

torch_step torch_release_available(torch *st, const struct torch_request *request)
{
    uint64_t most = st->settings.max_split_bytes;
    const struct torch_lane *lane = torch_lane_find(st, request->pool, request->stream);
    if (most == FL_UNLIMITED || lane == NULL)
        return STEP_NO;
    const struct torch_bins *bins = &lane->bins;
    uint64_t wanted = request->rounded > most ? request->rounded : most;
    st->cause = FL_CAUSE_RELEASE_AVAILABLE;
    uint32_t index = torch_bins_seek(st, bins, wanted);
    if (index != NO_BLOCK)
        torch_track_split(st, torch_block_at(st, index)->size + 1);
    if (index == NO_BLOCK)
        return release_from_top(st, bins, torch_bins_last(st, bins), wanted);
    if (!release_is_passed_by(st, torch_block_at(st, index)))
        return release_block(st, index);
    return release_from_top(st, bins, torch_bins_previous(st, bins, index), wanted);
}

/* ---- release-all and empty_cache (10.3, 10.4, 10.6) ------------------------------------------ */

/* Whole segments first, then what can be unmapped of expandable ones. */
static torch_step release_pool(torch *st, uint32_t pool)
{
    if (!torch_list_free(st, pool))
        return STEP_BROKEN;
    struct torch_indices list = st->scratch;
    st->scratch = (struct torch_indices){0};
    torch_step step = STEP_YES;
    size_t expandable = 0;
    for (size_t i = 0; step == STEP_YES && i < list.count; i++) {
        const struct torch_block *block = torch_block_at(st, list.items[i]);
        if (torch_is_expandable(block))
            list.items[expandable++] = list.items[i];
        else if (!torch_is_split(block))
            step = release_block(st, list.items[i]);
    }
    for (size_t i = 0; step == STEP_YES && i < expandable; i++)
        step = torch_unmap(st, list.items[i]);
    fl_vector_deinit(st->host, &list);
    return step;
}

static torch_step release_private(torch *st, uint32_t index)
{
    torch_step step = release_pool(st, st->privates.items[index].small);
    if (step == STEP_YES)
        step = release_pool(st, st->privates.items[index].large);
    struct torch_private *owner = &st->privates.items[index];
    if (step != STEP_YES || owner->device_allocs != 0)
        return step;
    hash_order_erase(&st->freeable, torch_pool_hash(st, owner->name), owner->name);
    st->private_of.items[owner->name] = FL_NONE;
    return STEP_YES;
}

static torch_step release_freeable(torch *st, uint32_t only)
{
    struct torch_indices list = {0};
    if (!fl_vector_reserve(st->host, &list, st->freeable.count, st->error))
        return STEP_BROKEN;
    hash_order_list(&st->freeable, list.items);
    list.count = st->freeable.count;
    torch_step step = STEP_YES;
    for (size_t i = 0; step == STEP_YES && i < list.count; i++) {
        uint32_t owner = st->private_of.items[list.items[i]];
        if (only != FL_NONE && owner != only)
            continue;
        if (only != FL_NONE) {
            if (torch_in_capture(st, FL_NONE))
                step = torch_forbid(st, "events cannot be waited for during a capture");
            else if (!torch_sync_events(st, only))
                step = STEP_BROKEN;
        }
        if (step == STEP_YES)
            step = release_private(st, owner);
    }
    fl_vector_deinit(st->host, &list);
    return step;
}

torch_step torch_release_all(torch *st, uint32_t owner)
{
    if (owner == FL_NONE && !torch_in_capture(st, FL_NONE)) {
        if (!torch_sync_events(st, FL_NONE))
            return STEP_BROKEN;
        torch_step step = release_pool(st, DEFAULT_LARGE);
        if (step == STEP_YES)
            step = release_pool(st, DEFAULT_SMALL);
        if (step != STEP_YES)
            return step;
    }
    return release_freeable(st, owner);
}

torch_step torch_trim(torch *st, uint32_t pool)
{
    uint32_t owner = FL_NONE;
    if (st->profile->trim_refused_in_scope && torch_in_capture(st, FL_NONE))
        return torch_forbid(st, "empty_cache with an allocation scope open");
    if (pool != FL_NONE && pool != 0) {
        owner = pool < st->private_of.count ? st->private_of.items[pool] : FL_NONE;
        if (owner == FL_NONE)
            return STEP_YES;
    }
    st->cause = FL_CAUSE_TRIM;
    torch_step step = torch_release_all(st, owner);
    st->cause = FL_CAUSE_REQUEST;
    return step;
}
