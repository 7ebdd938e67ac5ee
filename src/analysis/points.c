#include "analysis/points.h"

#include "heap/totals.h"

const char *fl_point_name(fl_point_kind kind)
{
    static const char *const names[FL_POINT_COUNT] = {"first_growth", "peak_growth", "oom"};
    return names[kind];
}

void fl_points_init(fl_points *points)
{
    *points = (fl_points){.events = {FL_NO_EVENT, FL_NO_EVENT, FL_NO_EVENT}};
}

static void points_note(fl_points *points, fl_point_kind kind, uint64_t event)
{
    if (points->events[kind] == FL_NO_EVENT)
        points->events[kind] = event;
}

/* Would what is free in the cache, wherever it lies, suffice? */
static bool points_is_enough_free(const fl_points *points, uint64_t size)
{
    return size > 0 && points->now.reserved_bytes - points->now.allocated_bytes >= size;
}

/* Frees that complete first do not count as a step with the device; what is given back for the
 * request does. */
static bool points_take_changes(fl_points *points, const fl_view *view)
{
    bool is_asked = false, was_enough = false;
    for (size_t i = 0; i < view->change_count; i++) {
        const fl_change *change = &view->changes[i];
        if (!is_asked && change->kind <= FL_CHANGE_NO_PAGE) {
            is_asked = true;
            was_enough = points_is_enough_free(points, view->op->size);
        }
        fl_totals_change(&points->now, change);
    }
    bool is_refused = view->result->outcome == FL_REFUSED || view->result->outcome == FL_REJECTED;
    if (!is_asked && is_refused) /* by a limit, without a word to the device */
        was_enough = points_is_enough_free(points, view->op->size);
    return was_enough;
}

void fl_points_view(fl_points *points, const fl_view *view)
{
    bool is_request = view->op->kind == FL_OP_ALLOC && !view->is_inferred;
    bool was_enough = points_take_changes(points, view);
    if (points->now.reserved_bytes > points->most_reserved_bytes) {
        points->most_reserved_bytes = points->now.reserved_bytes;
        if (is_request)
            points->events[FL_POINT_PEAK_GROWTH] = view->event;
    }
    if (!is_request)
        return;
    if (was_enough)
        points_note(points, FL_POINT_FIRST_GROWTH, view->event);
    if (view->result->outcome != FL_DONE)
        points_note(points, FL_POINT_OOM, view->event);
}
