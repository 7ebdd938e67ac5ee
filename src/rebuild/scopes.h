/* The operations that route requests to private pools, which leave no entry.
 *
 * Given the pool of every request, a scope is opened where the first of a run of requests goes to a
 * pool, and ended right behind the last.  A run ends where the scope would catch a request that is
 * not the pool's.  Whoever opens a pool holds on to it, so all scopes of a pool but the first let
 * go of it at once; its owner lets go of it where its memory goes back to the device, since before
 * that it would have stayed (sections 10.3 and 12.2 of docs/allocator-rules.md). */
#ifndef FL_REBUILD_SCOPES_H
#define FL_REBUILD_SCOPES_H

#include "rebuild/places.h"

/* What is taken for true of a pool. */
typedef struct fl_pool_guess {
    uint8_t flags;           /* of its SCOPE_BEGIN */
    bool is_named;           /* by the file, not only by a search before */
    bool is_open_before;     /* it has memory before the first event */
    uint64_t released_event; /* its owner has let go before this event; UINT64_MAX: never */
} fl_pool_guess;

/* An op to be inserted.  Of those at one event, what is late comes behind an empty_cache. */
typedef struct fl_planned {
    uint64_t event;
    bool is_late;
    uint8_t setup; /* before all else at its event, in this order; 0: not so */
    fl_op op;
} fl_planned;

FL_VECTOR(fl_plan, fl_planned);

/* Plans the ops for `asked`, the pool of each request by event (other events count for nothing),
 * and fills `released_event` of `pools` (by dense pool, as many as the trace has).  Adds to `plan`,
 * and puts all of it in order.  FL_ERR_RESOURCE. */
fl_status fl_scopes_plan(const fl_trace *trace, size_t device, const fl_places *places,
                         const uint16_t *asked, fl_pool_guess *pools, struct fl_plan *plan,
                         fl_error *error);

#endif
