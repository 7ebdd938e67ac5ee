/* From 2.13 on the age of their segments decides between free blocks of one size, in 2.12 that of
 * the block's object.  How old what was there before a cut window is, no file tells; by ascending
 * address is a guess.  Where a decision took the other of two equals, it shows which segment is
 * older: that is kept, and the history is replayed anew.  Objects come and go with splits and
 * merges, so of them nothing is learnt; what hangs on their order is excused. */
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

static bool fill_pair(const fl_trace_start *start, fl_tie tie, uint64_t recorded, uint64_t replayed,
                      fl_age_pair *ret_pair)
{
    uint64_t older = 0, younger = 0;
    bool has_older = find_range(start, recorded, &older);
    bool has_younger = find_range(start, replayed, &younger);
    bool is_told = tie == FL_TIE_SEGMENT && has_older && has_younger;
    *ret_pair = is_told ? (fl_age_pair){older, younger} : (fl_age_pair){0};
    return tie == FL_TIE_BLOCK || (has_older && has_younger && older != younger);
}

/* A free block that was taken lies there still, less what was cut off behind. */
static fl_status is_equal_choice(const fl_miss *miss, uint64_t recorded, const fl_replay *replay,
                                 bool *ret_is_equal, fl_error *error)
{
    fl_look expected, taken;
    *ret_is_equal = false;
    fl_status status = fl_look_at(replay, recorded, &expected, error);
    if (status == FL_OK)
        status = fl_look_at(replay, miss->result.address, &taken, error);
    if (status != FL_OK || !expected.found || !taken.found || expected.block.state != FL_BLOCK_FREE)
        return status;
    *ret_is_equal = expected.block.size == fl_look_size_before(&taken) &&
                    expected.segment.stream == taken.segment.stream &&
                    expected.segment.pool == taken.segment.pool &&
                    expected.segment.is_small == taken.segment.is_small;
    return FL_OK;
}

fl_status fl_ages_judge(const fl_miss *miss, const fl_trace *trace, size_t device,
                        const fl_replay *replay, bool *ret_is_order, fl_age_pair *ret_pair,
                        fl_error *error)
{
    const fl_trace_device *of = &trace->devices.items[device];
    const fl_columns *columns = &of->columns;
    fl_tie tie = replay->options.profile->tie;
    *ret_is_order = false;
    if (tie == FL_TIE_ADDRESS || of->is_complete || miss->recorded >= columns->count ||
        columns->address == NULL)
        return FL_OK;
    uint64_t recorded = columns->address[miss->recorded], replayed = miss->result.address;
    bool is_equal = false;
    fl_status status = FL_OK;
    if (miss->decision == FL_DECISION_ADDRESS && miss->op.kind == FL_OP_ALLOC &&
        miss->result.outcome == FL_DONE)
        status = is_equal_choice(miss, recorded, replay, &is_equal, error);
    if (miss->decision == FL_DECISION_SEGMENT && miss->has_change) {
        uint8_t kind = columns->kind[miss->recorded];
        bool is_free = kind == FL_EVENT_SEGMENT_FREE && miss->change.kind == FL_CHANGE_RELEASE;
        bool is_unmap = kind == FL_EVENT_SEGMENT_UNMAP && miss->change.kind == FL_CHANGE_UNMAP;
        is_equal = (is_free || is_unmap) && columns->size[miss->recorded] == miss->change.size;
        replayed = miss->change.address;
    }
    *ret_is_order = is_equal && fill_pair(&of->start, tie, recorded, replayed, ret_pair);
    return status;
}

/* ---- learning -------------------------------------------------------------------------------- */

fl_status fl_ages_learn(const fl_host *host, struct fl_u64_vector *ages, const fl_age_pair *pair,
                        bool *ret_is_new, fl_error *error)
{
    *ret_is_new = false;
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
