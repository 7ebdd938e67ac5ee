/* Events that stand in the file in another order than they happened.
 *
 * The recorder's ring knows one place where it goes on.  If max_entries is changed while it runs,
 * nothing is moved: what is read out of it later is made of pieces, each in order, that do not
 * follow each other; and of a ring made smaller, the piece behind its new end is older than all
 * that the ring has lost since.  So where times go back, the events are put in order by them.  If
 * the walk back breaks in the order of the file, it is tried from the end over more and more
 * pieces, as far as it holds; what lies before that is behind a gap and is left out.  If it does
 * not, pieces may have come together that do not contradict each other: then their times decide, as
 * long as the walk holds over all of them. */
#include "trace/build.h"

#include "base/memory.h"
#include "trace/columns.h"

#include <stdlib.h>

struct ordered_event {
    int64_t time_us;
    uint32_t index; /* in the file */
};

static int ordered_by_time(const void *a, const void *b)
{
    const struct ordered_event *left = a, *right = b;
    if (left->time_us != right->time_us)
        return left->time_us < right->time_us ? -1 : 1;
    return left->index < right->index ? -1 : left->index > right->index;
}

/* How often that may be: each change of the size leaves two places where pieces meet.  A clock that
 * wavers goes back more often, and says nothing of the order. */
#define MOST_STEPS_BACK 16

static bool is_in_pieces(const fl_columns *columns)
{
    unsigned steps = 0;
    for (uint64_t i = 1; columns->time_us != NULL && i < columns->count; i++)
        if (columns->time_us[i] < columns->time_us[i - 1] && ++steps > MOST_STEPS_BACK)
            return false;
    return steps > 0;
}

/* ---- moving ---------------------------------------------------------------------------------- */

static fl_event gather_event(const fl_columns *columns, uint64_t i)
{
    return (fl_event){
        .kind = columns->kind[i],
        .flags = columns->flags[i],
        .id = FL_NONE,
        .stream = columns->stream[i] != FL_NONE16 ? columns->stream[i] : FL_NONE,
        .pool = columns->pool != NULL && columns->pool[i] != FL_NONE16 ? columns->pool[i] : FL_NONE,
        .text = FL_NONE,
        .stack = columns->stack != NULL ? columns->stack[i] : FL_NONE,
        .address = columns->address != NULL ? columns->address[i] : 0,
        .size = columns->size[i],
        .time_us = columns->time_us != NULL ? columns->time_us[i] : FL_TIME_UNKNOWN,
    };
}

/* The events of `old` from `first` on in `order`, with new numbers for their allocations. */
static fl_status fill_columns(fl_trace *trace, size_t device, const fl_columns *old,
                              const struct ordered_event *order, uint64_t first, fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    fl_table live = {0};
    fl_status status = FL_OK;
    for (uint64_t i = first; i < old->count && status == FL_OK; i++) {
        fl_event event = gather_event(old, order[i].index);
        status = fl_trace_identify(trace, device, &live, &event, error);
        if (status == FL_OK)
            status = fl_trace_append(trace, device, &event, error);
    }
    for (size_t i = 0; i < of->blocks.count; i++) {
        fl_block_view *block = &of->blocks.items[i];
        block->id = block->state != FL_BLOCK_FREE ? fl_table_get(&live, block->address) : FL_NONE;
    }
    fl_table_deinit(trace->host, &live);
    return status;
}

/* Makes the columns anew of `old`. */
static fl_status set_events(fl_trace *trace, size_t device, const fl_columns *old,
                            const struct ordered_event *order, uint64_t first, fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    fl_columns_deinit(trace->host, &of->columns);
    of->columns = (fl_columns){0};
    of->alloc_count = 0;
    of->originals.count = of->categories.count = of->notes.count = 0; /* only of forged files */
    fl_status status = fill_columns(trace, device, old, order, first, error);
    if (status == FL_OK && !fl_columns_trim(trace->host, &of->columns, error))
        status = FL_ERR_RESOURCE;
    return status == FL_OK ? fl_trace_number_before(trace, device, error) : status;
}

static fl_status find_whether_it_holds(fl_trace *trace, size_t device, bool *ret_holds,
                                       fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    fl_status status = fl_trace_find_start(trace, device, error);
    *ret_holds = status == FL_OK && of->start.is_known;
    fl_trace_drop_start(trace->host, &of->start);
    return status;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The begin of the piece that ends before `end`. */
static uint64_t piece_begin(const struct ordered_event *order, uint64_t end)
{
    uint64_t begin = end - 1;
    while (begin > 0 && order[begin - 1].index + 1 == order[begin].index)
        begin--;
    return begin;
}

/* Tries longer and longer ends. */
static fl_status find_longest(fl_trace *trace, size_t device, const fl_columns *old,
                              const struct ordered_event *order, uint64_t *ret_first,
                              fl_error *error)
{
    uint64_t best = old->count;
    bool holds = true;
    fl_status status = FL_OK;
    while (best > 0 && status == FL_OK && holds) {
        uint64_t begin = piece_begin(order, best);
        status = set_events(trace, device, old, order, begin, error);
        if (status == FL_OK)
            status = find_whether_it_holds(trace, device, &holds, error);
        if (holds)
            best = begin;
    }
    *ret_first = best;
    return status;
}

/* As they were in the file. */
static void set_file_order(struct ordered_event *order, const fl_columns *old)
{
    for (uint64_t i = 0; i < old->count; i++)
        order[i] = (struct ordered_event){old->time_us[i], (uint32_t)i};
}

/* `holds`: in the order of the file, too. */
static fl_status order_events(fl_trace *trace, size_t device, const fl_columns *old,
                              struct ordered_event *order, bool holds, fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    uint64_t first;
    set_file_order(order, old);
    qsort(order, old->count, sizeof *order, ordered_by_time);
    fl_status status = find_longest(trace, device, old, order, &first, error);
    if (status != FL_OK)
        return status;
    of->is_reordered = holds ? first == 0 : first < old->count;
    of->is_disordered = !of->is_reordered && !holds;
    if (!of->is_reordered) {
        set_file_order(order, old);
        return set_events(trace, device, old, order, 0, error);
    }
    of->left_out = first;
    status = set_events(trace, device, old, order, first, error);
    if (status != FL_OK)
        return status;
    return fl_trace_warn(trace, error,
                         "the events of device %zu are out of order, as they are where max_entries "
                         "was changed while recording: put in order by their times, and numbered "
                         "so; %llu older ones, from before a gap, are left out",
                         device, (unsigned long long)first);
}

fl_status fl_trace_restore_order(fl_trace *trace, size_t device, fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    bool holds;
    if (!is_in_pieces(&of->columns))
        return FL_OK;
    fl_status status = find_whether_it_holds(trace, device, &holds, error);
    if (status != FL_OK || of->unrecorded != 0)
        return status;
    if (of->end.behind.events > 0) {
        trace->needs_whole = true;
        return FL_OK;
    }
    fl_columns old = of->columns;
    size_t size = old.count * sizeof(struct ordered_event);
    struct ordered_event *order = fl_new(trace->host, size, error);
    if (order == NULL)
        return FL_ERR_RESOURCE;
    of->columns = (fl_columns){0};
    status = order_events(trace, device, &old, order, holds, error);
    of->unrecorded = 0; /* what tries seemed to show */
    fl_delete(trace->host, order, size);
    fl_columns_deinit(trace->host, &old);
    return status;
}
