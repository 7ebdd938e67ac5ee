/* From 2.13 on the age of their segments decides between free blocks of one size, in 2.12 that of
 * the block's object.  How old what was there before a cut window is, no file tells; by ascending
 * address is a guess.  Where a decision took the other of two equals, it shows which is older: that
 * is kept, and the history is replayed anew.  Objects of blocks come and go with splits and merges;
 * the policy tells which one a block is by its birth, and those from before the window have the
 * first numbers. */
#include "rebuild/ages.h"

#include "rebuild/look.h"
#include "rules/profile.h"
#include "trace/build.h"

#include <string.h>

/* Where the range of the start state begins that an address lies in; false: in none.  Plain
 * segments and mapped runs count. */
static bool find_range(const fl_trace_start *start, uint64_t address, uint64_t *ret_range)
{
    for (size_t i = 0; i < start->segments.count; i++) {
        const fl_segment_view *run = &start->segments.items[i];
        if (address - run->address < run->size) {
            *ret_range = start->ranges.items[run->segment].address;
            return true;
        }
    }
    return false;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* ---- of segments ---- */

static bool show_ranges(const fl_trace_start *start, uint64_t recorded, uint64_t replayed,
                        fl_ages_shown *shown)
{
    uint64_t older = 0, younger = 0;
    if (!find_range(start, recorded, &older) || !find_range(start, replayed, &younger) ||
        older == younger)
        return false;
    shown->pairs[shown->count++] = (fl_age_pair){older, younger};
    return true;
}

/* ---- of blocks ---- */

/* A block was taken for older than all that are its equals. */
struct oldest {
    const fl_trace_start *start;
    const fl_segment_view *segment; /* of the block */
    uint64_t birth, size;
    bool is_like; /* for the walk: is the run of the same pool and stream? */
    fl_ages_shown *shown;
};

static bool is_like(const fl_segment_view *a, const fl_segment_view *b)
{
    return a->stream == b->stream && a->pool == b->pool && a->is_small == b->is_small;
}

static void show_older(const struct oldest *oldest, uint64_t birth)
{
    const struct fl_u64_vector *births = &oldest->start->births;
    fl_ages_shown *shown = oldest->shown;
    if (birth < oldest->birth && shown->count < FL_AGE_PAIRS)
        shown->pairs[shown->count++] =
            (fl_age_pair){births->items[oldest->birth], births->items[birth]};
}

static void oldest_segment(void *user, const fl_segment_view *segment)
{
    struct oldest *oldest = user;
    oldest->is_like = is_like(segment, oldest->segment);
}

static void oldest_block(void *user, const fl_block_view *block)
{
    struct oldest *oldest = user;
    if (oldest->is_like && block->state == FL_BLOCK_FREE && block->size == oldest->size)
        show_older(oldest, block->birth);
}

/* What was taken is free no more, but its rest has its birth, if there is one. */
static fl_status show_taken(const fl_trace_start *start, const fl_look *expected,
                            const fl_look *taken, const fl_replay *replay, bool *ret_is_order,
                            fl_ages_shown *shown, fl_error *error)
{
    struct oldest oldest = {.start = start,
                            .segment = &expected->segment,
                            .birth = expected->block.birth,
                            .size = expected->block.size,
                            .shown = shown};
    uint64_t birth = fl_look_is_cut(taken) ? taken->behind.birth : taken->block.birth;
    *ret_is_order = oldest.birth < start->births.count && birth < oldest.birth;
    if (!*ret_is_order)
        return FL_OK;
    show_older(&oldest, birth);
    fl_walk walk = {oldest_segment, oldest_block, &oldest};
    return fl_replay_walk(replay, &walk, error);
}

/* What the op gave back is gone; the changes tell what it was. */
static bool show_released(const fl_trace_start *start, uint64_t recorded, const fl_miss *miss,
                          const fl_replay *replay, fl_ages_shown *shown)
{
    struct oldest oldest = {.start = start, .birth = UINT64_MAX, .shown = shown};
    for (size_t i = 0; i < replay->changes.count; i++) {
        const fl_change *change = &replay->changes.items[i];
        if (change->kind == FL_CHANGE_RELEASE && change->address == recorded)
            oldest.birth = change->requested;
    }
    if (oldest.birth >= start->births.count || miss->change.requested >= oldest.birth)
        return false;
    show_older(&oldest, miss->change.requested);
    return true;
}

/* ---- both ---- */

/* A free block that was taken lies there still, less what was cut off behind. */
static fl_status judge_request(const fl_miss *miss, const fl_trace_start *start, uint64_t recorded,
                               const fl_replay *replay, bool *ret_is_order,
                               fl_ages_shown *ret_shown, fl_error *error)
{
    fl_look expected, taken;
    fl_status status = fl_look_at(replay, recorded, &expected, error);
    if (status == FL_OK)
        status = fl_look_at(replay, miss->result.address, &taken, error);
    if (status != FL_OK || !expected.found || !taken.found ||
        expected.block.state != FL_BLOCK_FREE ||
        expected.block.size != fl_look_size_before(&taken) ||
        !is_like(&expected.segment, &taken.segment))
        return status;
    if (replay->options.profile->tie == FL_TIE_BLOCK)
        return show_taken(start, &expected, &taken, replay, ret_is_order, ret_shown, error);
    *ret_is_order = show_ranges(start, recorded, miss->result.address, ret_shown);
    return FL_OK;
}

/* Of unmapped blocks nothing is told that would show how old they were. */
static bool judge_release(const fl_miss *miss, const fl_trace_start *start, uint8_t kind,
                          uint64_t recorded, const fl_replay *replay, fl_ages_shown *ret_shown)
{
    bool is_free = kind == FL_EVENT_SEGMENT_FREE && miss->change.kind == FL_CHANGE_RELEASE;
    bool is_unmap = kind == FL_EVENT_SEGMENT_UNMAP && miss->change.kind == FL_CHANGE_UNMAP;
    if (!is_free && !is_unmap)
        return false;
    if (replay->options.profile->tie == FL_TIE_BLOCK)
        return is_unmap || show_released(start, recorded, miss, replay, ret_shown);
    return show_ranges(start, recorded, miss->change.address, ret_shown);
}

fl_status fl_ages_judge(const fl_miss *miss, const fl_trace *trace, size_t device,
                        const fl_replay *replay, bool *ret_is_order, fl_ages_shown *ret_shown,
                        fl_error *error)
{
    const fl_trace_device *of = &trace->devices.items[device];
    const fl_columns *columns = &of->columns;
    fl_ages_shown shown = {.count = 0};
    bool is_order = false;
    fl_status status = FL_OK;
    *ret_is_order = false;
    if (replay->options.profile->tie == FL_TIE_ADDRESS || of->is_complete ||
        miss->recorded >= columns->count || columns->address == NULL)
        return FL_OK;
    uint64_t recorded = columns->address[miss->recorded];
    if (miss->decision == FL_DECISION_ADDRESS && miss->op.kind == FL_OP_ALLOC &&
        miss->result.outcome == FL_DONE)
        status = judge_request(miss, &of->start, recorded, replay, &is_order, &shown, error);
    if (miss->decision == FL_DECISION_SEGMENT && miss->has_change &&
        columns->size[miss->recorded] == miss->change.size)
        is_order = judge_release(miss, &of->start, columns->kind[miss->recorded], recorded, replay,
                                 &shown);
    if (status != FL_OK)
        return status;
    *ret_is_order = is_order;
    *ret_shown = shown;
    return FL_OK;
}

/* ---- learning -------------------------------------------------------------------------------- */

fl_status fl_ages_learn(const fl_host *host, struct fl_u64_vector *ages, const fl_age_pair *pair,
                        bool *ret_is_new, fl_error *error)
{
    for (size_t i = 0; i + 1 < ages->count; i += 2)
        if (ages->items[i] == pair->older && ages->items[i + 1] == pair->younger)
            return FL_OK;
    if (!fl_vector_reserve(host, ages, 2, error))
        return FL_ERR_RESOURCE;
    ages->items[ages->count++] = pair->older;
    ages->items[ages->count++] = pair->younger;
    *ret_is_new = true;
    return FL_OK;
}

static size_t index_of(const fl_trace_start *start, uint64_t address)
{
    size_t i = 0;
    while (i < start->ranges.count && start->ranges.items[i].address != address)
        i++;
    return i;
}

/* Runs name their range by its index. */
static void renumber_runs(fl_trace_start *start, size_t from, size_t to)
{
    for (size_t i = 0; i < start->segments.count; i++) {
        uint32_t *range = &start->segments.items[i].segment;
        if (*range == from)
            *range = (uint32_t)to;
        else if (*range >= to && *range < from)
            ++*range;
    }
}

/* Moves the older of a pair right in front of the younger. */
static bool move_older(fl_trace_start *start, uint64_t older, uint64_t younger)
{
    size_t from = index_of(start, older), to = index_of(start, younger);
    if (from >= start->ranges.count || to >= start->ranges.count || from < to)
        return false;
    fl_start_range range = start->ranges.items[from];
    memmove(&start->ranges.items[to + 1], &start->ranges.items[to], (from - to) * sizeof range);
    start->ranges.items[to] = range;
    renumber_runs(start, from, to);
    return true;
}

void fl_ages_sort(fl_trace_start *start)
{
    bool has_moved = true;
    for (size_t pass = 0; pass <= start->ages.count / 2 && has_moved; pass++) {
        has_moved = false;
        for (size_t i = 0; i + 1 < start->ages.count; i += 2)
            has_moved |= move_older(start, start->ages.items[i], start->ages.items[i + 1]);
    }
}
