/* A replay cut into stretches of equally many events: the rows of every table over time.
 *
 * All events count: a row tells the most of its stretch, not a sample of it. */
#ifndef FL_OBSERVER_SPANS_H
#define FL_OBSERVER_SPANS_H

#include "observer/observer.h"

typedef struct fl_spans {
    uint64_t first_event, end_event, width;
    uint64_t next; /* the first event behind the current stretch */
    size_t current;
} fl_spans;

static inline void fl_spans_init(fl_spans *spans, const fl_observer_env *env)
{
    uint64_t events = env->end_event - env->first_event;
    uint64_t width = events / env->rows + (events % env->rows != 0);
    *spans = (fl_spans){.first_event = env->first_event,
                        .end_event = env->end_event,
                        .width = width > 0 ? width : 1};
    spans->next = env->first_event + spans->width;
}

/* How many stretches there are; what comes after the last event belongs to the last. */
static inline size_t fl_spans_count(const fl_spans *spans)
{
    uint64_t events = spans->end_event - spans->first_event;
    return events == 0 ? 1 : (size_t)((events - 1) / spans->width + 1);
}

/* The stretch of an event, which is not before the one asked for last. */
static inline size_t fl_spans_at(fl_spans *spans, uint64_t event)
{
    while (event >= spans->next && spans->next < spans->end_event) {
        spans->next += spans->width;
        spans->current++;
    }
    return spans->current;
}

static inline uint64_t fl_spans_begin(const fl_spans *spans, size_t index)
{
    return spans->first_event + index * spans->width;
}

#endif
