/* An observer: one const table in its own file under src/observer/.
 *
 * It gathers from the views of a replay, whose policy it does not know, and emits its own record.
 * It sees what happened and changes nothing. */
#ifndef FL_OBSERVER_OBSERVER_H
#define FL_OBSERVER_OBSERVER_H

#include "emit/emit.h"

#include <fraglab/observe.h>

struct fl_observer_state; /* each observer defines its own under this tag */

/* What an observer is told when it opens.  Everything outlives it. */
typedef struct fl_observer_env {
    const fl_host *host;
    const fl_names *names;           /* grows while the replay runs */
    uint64_t first_event, end_event; /* half open: what will be replayed */
    size_t rows;                     /* at most so many rows in a table over time, at least 1 */
} fl_observer_env;

typedef struct fl_observer_ops {
    const char *name;
    const char *summary; /* one line for `fraglab list observers` */
    size_t state_size;   /* open() receives this much zeroed memory */
    fl_status (*open)(struct fl_observer_state *state, const fl_observer_env *env, fl_error *error);
    /* After every op.  A status other than FL_OK ends the replay. */
    fl_status (*view)(struct fl_observer_state *state, const fl_view *view, fl_error *error);
    /* Writes the record into the object that is open.  Failures are kept by `emit`. */
    void (*emit)(const struct fl_observer_state *state, fl_emit *emit);
    void (*close)(struct fl_observer_state *state); /* accepts a half-opened state */
} fl_observer_ops;

/* Tables of this build, in order of name, or NULL beyond the last. */
const fl_observer_ops *fl_observer_at(size_t index);
const fl_observer_ops *fl_observer_find(const char *name);

#endif
