/* CUDA events of the process: numbered as they are recorded, complete when the program in control
 * says so.  At first everything completes at once. */
#ifndef FL_INTERPOSE_EVENTS_H
#define FL_INTERPOSE_EVENTS_H

#include <fraglab/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What cudaEvent_t points to. */
struct fl_event;

/* NULL: the host has no memory. */
FL_API struct fl_event *fl_event_new(void);
FL_API void fl_event_free(struct fl_event *event); /* accepts NULL */
FL_API void fl_event_record(struct fl_event *event);
/* An event that was never recorded counts as complete, as CUDA has it. */
FL_API bool fl_event_is_complete(const struct fl_event *event);

/* Events recorded so far are complete, later ones stay pending. */
FL_API void fl_events_hold(void);
/* Every event is complete, also later ones. */
FL_API void fl_events_complete(void);

#ifdef __cplusplus
}
#endif

#endif
