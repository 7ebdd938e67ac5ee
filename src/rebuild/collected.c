/* Garbage collection gives back what has been free for longer than free segments are on the average
 * (section 10.1 of docs/allocator-rules.md).  No file tells how long that is for one that was free
 * before a cut window; as long as one is there that nothing has used since, the average hangs on
 * it. */
#include "rebuild/collected.h"

static bool has_limit(const fl_replay *replay, const fl_trace *trace, size_t device, uint64_t event)
{
    size_t count;
    const fl_insertion *list = fl_trace_insertions(trace, device, &count);
    for (size_t i = 0; i < count && list[i].event <= event; i++)
        if (list[i].op.kind == FL_OP_LIMIT)
            return true;
    return replay->options.fraction >= 0;
}

/* Is the difference one of a segment that was collected, or should have been? */
static bool is_collection(const fl_miss *miss, const fl_columns *columns)
{
    if (miss->decision != FL_DECISION_SEGMENT)
        return false;
    bool is_recorded =
        miss->recorded < columns->count && columns->kind[miss->recorded] == FL_EVENT_SEGMENT_FREE;
    return is_recorded || (miss->has_change && miss->change.kind == FL_CHANGE_RELEASE &&
                           miss->change.cause == FL_CAUSE_COLLECT);
}

/* Only whole segments of the default pool's large blocks are collected. */
static bool was_free(const fl_trace_start *start, const fl_segment_view *run)
{
    bool counts = !run->is_small && !run->is_expandable && run->pool == 0;
    for (size_t i = 0; i < start->in_use.count && counts; i++)
        counts = start->in_use.items[i].address - run->address >= run->size;
    return counts;
}

static bool was_used(const fl_columns *columns, const fl_segment_view *run, uint64_t end)
{
    for (uint64_t i = 0; i < end; i++) {
        bool is_refused = (columns->flags[i] & FL_EVENT_OOM) != 0;
        bool is_use = (columns->kind[i] == FL_OP_ALLOC && !is_refused) ||
                      columns->kind[i] == FL_EVENT_SEGMENT_FREE;
        if (is_use && columns->address[i] - run->address < run->size)
            return true;
    }
    return false;
}

/* The event behind the last thing that was asked for before. */
static uint64_t burst_begin(const fl_columns *columns, uint64_t event)
{
    uint64_t begin = event < columns->count ? event : columns->count;
    while (begin > 0 && (fl_kind_is_segment(columns->kind[begin - 1]) ||
                         columns->kind[begin - 1] == FL_OP_FREE_DONE))
        begin--;
    return begin;
}

bool fl_collected_judge(const fl_miss *miss, const fl_trace *trace, size_t device,
                        const fl_replay *replay)
{
    const fl_trace_device *of = &trace->devices.items[device];
    const fl_columns *columns = &of->columns;
    if (of->is_complete || columns->address == NULL || !is_collection(miss, columns) ||
        !(replay->settings.collect_threshold > 0) || !has_limit(replay, trace, device, miss->event))
        return false;
    uint64_t first = miss->recorded < miss->event ? miss->recorded : miss->event;
    uint64_t begin = burst_begin(columns, first);
    for (size_t i = 0; i < of->start.segments.count; i++) {
        const fl_segment_view *run = &of->start.segments.items[i];
        if (was_free(&of->start, run) && !was_used(columns, run, begin))
            return true;
    }
    return false;
}
