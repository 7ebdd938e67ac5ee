/* Numbers instead of streams: an event is complete if its number is not beyond the last complete
 * one.  What it gives up: two streams never overtake each other. */
#include "interpose/events.h"

#include "base/memory.h"

#include <stdatomic.h>

struct fl_event {
    uint64_t number; /* of its last recording, from 1; 0: never */
};

static atomic_uint_fast64_t events_recorded;
static atomic_uint_fast64_t events_complete = UINT64_MAX;

struct fl_event *fl_event_new(void)
{
    return fl_new(fl_host_default(), sizeof(struct fl_event), NULL);
}

void fl_event_free(struct fl_event *event)
{
    fl_delete(fl_host_default(), event, sizeof *event);
}

void fl_event_record(struct fl_event *event)
{
    event->number = atomic_fetch_add(&events_recorded, 1) + 1;
}

bool fl_event_is_complete(const struct fl_event *event)
{
    return event->number <= atomic_load(&events_complete);
}

void fl_events_hold(void)
{
    atomic_store(&events_complete, atomic_load(&events_recorded));
}

void fl_events_complete(void)
{
    atomic_store(&events_complete, UINT64_MAX);
}
