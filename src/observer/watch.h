/* All observers of this build at one replay. */
#ifndef FL_OBSERVER_WATCH_H
#define FL_OBSERVER_WATCH_H

#include "observer/observer.h"

enum { FL_OBSERVERS_MOST = 32 };

/* Zeroed memory is closed. */
typedef struct fl_watch {
    const fl_host *host;
    struct fl_observer_state *states[FL_OBSERVERS_MOST]; /* in order of fl_observer_at */
    size_t count;
} fl_watch;

/* Opens every observer.  End it with fl_watch_close, also after a failure. */
fl_status fl_watch_open(fl_watch *watch, const fl_observer_env *env, fl_error *error);
void fl_watch_close(fl_watch *watch);

/* For `watch` of a replay, with the fl_watch as its user. */
fl_status fl_watch_view(void *watch, const fl_view *view, fl_error *error);

/* The record of one of them, into the object that is open. */
void fl_watch_emit(const fl_watch *watch, size_t index, fl_emit *emit);

#endif
