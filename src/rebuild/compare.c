/* Counting of equal and different decisions, and the facts of the first difference. */
#include "rebuild/compare.h"

#include <stdlib.h>
#include <string.h>

/* The recorded event that a change corresponds to; 0: none. */
static const uint8_t event_of_change[FL_CHANGE_KIND_COUNT] = {
    [FL_CHANGE_ACQUIRE] = FL_EVENT_SEGMENT_ALLOC,
    [FL_CHANGE_RELEASE] = FL_EVENT_SEGMENT_FREE,
    [FL_CHANGE_MAP] = FL_EVENT_SEGMENT_MAP,
    [FL_CHANGE_UNMAP] = FL_EVENT_SEGMENT_UNMAP,
};

void fl_compare_init(fl_compare *compare, const fl_host *host, const fl_trace *trace, size_t device)
{
    *compare = (fl_compare){
        .host = host,
        .trace = trace,
        .device = device,
        .columns = fl_trace_columns(trace, device),
    };
}

static void count_equal(fl_compare *compare, fl_decision decision)
{
    compare->tallies[decision].checked++;
    compare->tallies[decision].equal++;
}

static void count_excused(fl_compare *compare, fl_decision decision, fl_excuse excuse,
                          uint64_t count)
{
    compare->tallies[decision].checked += count;
    compare->tallies[decision].excused += count;
    compare->excused[excuse] += count;
}

static void count_different(fl_compare *compare, const fl_miss *miss)
{
    if (compare->excuse != FL_EXCUSE_NONE) {
        count_excused(compare, miss->decision, compare->excuse, 1);
        return;
    }
    compare->tallies[miss->decision].checked++;
    compare->tallies[miss->decision].different++;
    if (compare->differences++ == 0)
        compare->first = *miss;
}

void fl_compare_excuse(fl_compare *compare, fl_excuse excuse)
{
    if (excuse == FL_EXCUSE_NONE)
        return;
    for (size_t i = 0; i < FL_DECISION_COUNT; i++) {
        fl_tally *tally = &compare->tallies[i];
        compare->excused[excuse] += tally->different;
        tally->excused += tally->different;
        tally->different = 0;
    }
    compare->differences = 0;
    compare->excuse = excuse;
}

/* The next recorded segment event before `limit`, or UINT64_MAX. */
static uint64_t next_recorded(fl_compare *compare, uint64_t limit)
{
    const fl_columns *columns = compare->columns;
    while (compare->next < limit && compare->next < columns->count) {
        if (fl_kind_is_segment(columns->kind[compare->next]))
            return compare->next;
        compare->next++;
    }
    return UINT64_MAX;
}

static uint64_t recorded_address(const fl_columns *columns, uint64_t event)
{
    return columns->address != NULL ? columns->address[event] : 0;
}

static bool is_same_step(const fl_columns *columns, uint64_t event, const fl_change *change)
{
    return columns->kind[event] == event_of_change[change->kind] &&
           recorded_address(columns, event) == change->address &&
           columns->size[event] == change->size && columns->stream[event] == change->stream;
}

static void compare_change(fl_compare *compare, const fl_view *view, const fl_change *change)
{
    if (event_of_change[change->kind] == 0)
        return;
    if (change->kind == FL_CHANGE_RELEASE || change->kind == FL_CHANGE_UNMAP)
        compare->releases_by_cause[change->cause]++;
    uint64_t recorded = next_recorded(compare, view->event);
    if (recorded != UINT64_MAX)
        compare->next = recorded + 1;
    if (recorded != UINT64_MAX && is_same_step(compare->columns, recorded, change)) {
        count_equal(compare, FL_DECISION_SEGMENT);
        return;
    }
    fl_miss miss = {
        .decision = FL_DECISION_SEGMENT,
        .event = recorded != UINT64_MAX ? recorded : view->event,
        .recorded = recorded,
        .has_change = true,
        .change = *change,
        .op = *view->op,
        .result = *view->result,
    };
    count_different(compare, &miss);
}

/* Recorded steps before `limit` that the replay did not take. */
static void count_missing(fl_compare *compare, uint64_t limit, const fl_op *op,
                          const fl_result *result)
{
    uint64_t recorded;
    while ((recorded = next_recorded(compare, limit)) != UINT64_MAX) {
        fl_miss miss = {
            .decision = FL_DECISION_SEGMENT,
            .event = recorded,
            .recorded = recorded,
            .op = op != NULL ? *op : (fl_op){0},
            .result = result != NULL ? *result : (fl_result){0},
        };
        compare->next = recorded + 1;
        count_different(compare, &miss);
    }
}

static void compare_address(fl_compare *compare, const fl_view *view)
{
    const fl_columns *columns = compare->columns;
    bool was_refused = (columns->flags[view->event] & FL_EVENT_OOM) != 0;
    bool is_refused = view->result->outcome != FL_DONE;
    bool is_equal = was_refused || is_refused
                        ? was_refused == is_refused
                        : recorded_address(columns, view->event) == view->result->address;
    if (is_equal) {
        count_equal(compare, FL_DECISION_ADDRESS);
        return;
    }
    fl_miss miss = {
        .decision = FL_DECISION_ADDRESS,
        .event = view->event,
        .recorded = view->event,
        .op = *view->op,
        .result = *view->result,
    };
    count_different(compare, &miss);
}

void fl_compare_view(fl_compare *compare, const fl_view *view)
{
    if (view->op->kind == FL_OP_NONE)
        return; /* what was there before */
    for (size_t i = 0; i < view->change_count; i++)
        compare_change(compare, view, &view->changes[i]);
    if (view->is_inferred)
        return; /* what it did not bring, the op after it may */
    count_missing(compare, view->event, view->op, view->result);
    if (view->op->kind == FL_OP_ALLOC)
        compare_address(compare, view);
}

void fl_compare_catch_up(fl_compare *compare, uint64_t event)
{
    count_missing(compare, event, NULL, NULL);
}

void fl_compare_excuse_rest(fl_compare *compare)
{
    uint64_t recorded;
    while ((recorded = next_recorded(compare, UINT64_MAX)) != UINT64_MAX) {
        compare->next = recorded + 1;
        count_excused(compare, FL_DECISION_SEGMENT, FL_EXCUSE_CUT_OFF, 1);
    }
}

/* ---- the final state ------------------------------------------------------------------------- */

/* What a walk gathers; its callbacks return nothing. */
struct gathering {
    const fl_host *host;
    struct fl_compare_segments segments;
    struct fl_compare_blocks blocks;
    fl_error error;
};

static void gather_segment(void *user, const fl_segment_view *segment)
{
    struct gathering *gathering = user;
    if (fl_vector_reserve(gathering->host, &gathering->segments, 1, &gathering->error))
        gathering->segments.items[gathering->segments.count++] = *segment;
}

static void gather_block(void *user, const fl_block_view *block)
{
    struct gathering *gathering = user;
    if (fl_vector_reserve(gathering->host, &gathering->blocks, 1, &gathering->error))
        gathering->blocks.items[gathering->blocks.count++] = *block;
}

static int by_address(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int segments_by_address(const void *a, const void *b)
{
    return by_address(((const fl_segment_view *)a)->address, ((const fl_segment_view *)b)->address);
}

static int blocks_by_address(const void *a, const void *b)
{
    return by_address(((const fl_block_view *)a)->address, ((const fl_block_view *)b)->address);
}

static bool is_same_segment(const fl_compare *compare, const fl_segment_view *a,
                            const fl_segment_view *b)
{
    return a->address == b->address && a->size == b->size && a->stream == b->stream &&
           (a->pool == b->pool || compare->trace->lacks_pools) && a->is_small == b->is_small &&
           a->is_expandable == b->is_expandable;
}

/* What a free block was last used for is stale, and no decision. */
static bool is_same_block(const fl_block_view *a, const fl_block_view *b)
{
    return a->address == b->address && a->size == b->size && a->state == b->state &&
           (a->state == FL_BLOCK_FREE || a->requested == b->requested);
}

/* Two lists that ascend by address, side by side: which of them have the next address.  What only
 * one list has is a difference. */
struct sides {
    bool left, right;
};

static struct sides next_sides(bool has_left, uint64_t left, bool has_right, uint64_t right)
{
    return (struct sides){
        .left = has_left && (!has_right || left <= right),
        .right = has_right && (!has_left || right <= left),
    };
}

static fl_miss final_miss(const fl_compare *compare)
{
    return (fl_miss){.decision = FL_DECISION_FINAL_STATE,
                     .event = compare->columns->count,
                     .recorded = UINT64_MAX};
}

static void compare_segments(fl_compare *compare, const fl_segment_view *expected,
                             size_t expected_count, const fl_segment_view *got, size_t got_count)
{
    size_t i = 0, k = 0;
    while (i < expected_count || k < got_count) {
        struct sides next =
            next_sides(i < expected_count, i < expected_count ? expected[i].address : 0,
                       k < got_count, k < got_count ? got[k].address : 0);
        fl_miss miss = final_miss(compare);
        if (next.left)
            miss.expected_segment = expected[i++];
        if (next.right)
            miss.got_segment = got[k++];
        if (next.left && next.right &&
            is_same_segment(compare, &miss.expected_segment, &miss.got_segment))
            count_equal(compare, FL_DECISION_FINAL_STATE);
        else
            count_different(compare, &miss);
    }
}

static void compare_blocks(fl_compare *compare, const fl_block_view *expected,
                           size_t expected_count, const fl_block_view *got, size_t got_count)
{
    size_t i = 0, k = 0;
    while (i < expected_count || k < got_count) {
        struct sides next =
            next_sides(i < expected_count, i < expected_count ? expected[i].address : 0,
                       k < got_count, k < got_count ? got[k].address : 0);
        fl_miss miss = final_miss(compare);
        if (next.left)
            miss.expected_block = expected[i++];
        if (next.right)
            miss.got_block = got[k++];
        if (next.left && next.right && is_same_block(&miss.expected_block, &miss.got_block))
            count_equal(compare, FL_DECISION_FINAL_STATE);
        else
            count_different(compare, &miss);
    }
}

static void compare_gathered(fl_compare *compare, struct gathering *gathering)
{
    struct fl_compare_segments *segments = &gathering->segments;
    struct fl_compare_blocks *blocks = &gathering->blocks;
    if (segments->count > 1)
        qsort(segments->items, segments->count, sizeof *segments->items, segments_by_address);
    if (blocks->count > 1)
        qsort(blocks->items, blocks->count, sizeof *blocks->items, blocks_by_address);
    size_t count;
    const fl_segment_view *expected =
        fl_trace_final_segments(compare->trace, compare->device, &count);
    compare_segments(compare, expected, count, segments->items, segments->count);
    const fl_block_view *expected_blocks =
        fl_trace_final_blocks(compare->trace, compare->device, &count);
    compare_blocks(compare, expected_blocks, count, blocks->items, blocks->count);
}

fl_status fl_compare_final_state(fl_compare *compare, const fl_replay *replay, fl_error *error)
{
    const fl_trace_device *device = &compare->trace->devices.items[compare->device];
    if (!device->has_final_state || device->end.behind.events > 0)
        return FL_OK; /* what was read ended before it */
    struct gathering gathering = {.host = compare->host};
    fl_walk walk = {gather_segment, gather_block, &gathering};
    fl_status status = fl_replay_walk(replay, &walk, error);
    if (status == FL_OK && gathering.error.status != FL_OK)
        status = fl_fail(error, gathering.error.status, "%s", gathering.error.text);
    if (status == FL_OK)
        compare_gathered(compare, &gathering);
    fl_vector_deinit(compare->host, &gathering.segments);
    fl_vector_deinit(compare->host, &gathering.blocks);
    return status;
}

void fl_compare_abandon(fl_compare *compare, uint64_t event)
{
    const fl_columns *columns = compare->columns;
    count_missing(compare, columns->count, NULL, NULL);
    for (uint64_t i = event; i < columns->count; i++) {
        if (columns->kind[i] != FL_OP_ALLOC)
            continue;
        fl_miss miss = {.decision = FL_DECISION_ADDRESS, .event = i, .recorded = i};
        count_different(compare, &miss);
    }
    size_t segment_count, block_count;
    fl_trace_final_segments(compare->trace, compare->device, &segment_count);
    fl_trace_final_blocks(compare->trace, compare->device, &block_count);
    for (size_t i = 0; i < segment_count + block_count; i++) {
        fl_miss miss = final_miss(compare);
        count_different(compare, &miss);
    }
}
