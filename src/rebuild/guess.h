/* What is taken for true of a history beside its bursts: whose memory was whose, and the ops that
 * follow from it. */
#ifndef FL_REBUILD_GUESS_H
#define FL_REBUILD_GUESS_H

#include "rebuild/lessons.h"
#include "rebuild/scopes.h"

#include <fraglab/settings.h>

FL_VECTOR(fl_pool_guesses, fl_pool_guess);

/* A refused request of which nothing says where it went. */
typedef struct fl_refused {
    uint64_t event;
    uint32_t pool;
} fl_refused;

FL_VECTOR(fl_refused_vector, fl_refused);

typedef struct fl_guess {
    fl_places places;
    uint16_t *asked; /* by event: the pool of a request, as the two that follow have it */
    struct fl_refused_vector refused;
    struct fl_u64_vector hits;    /* requests that a pool of others served when all was full */
    struct fl_pool_guesses pools; /* by dense pool */
    struct fl_plan others;        /* settings and limits that change on the way, by event */
    fl_lessons lessons;           /* of what was there before the window */
    struct fl_plan plan;
    size_t next; /* in the plan: ops before it are in the trace */
} fl_guess;

/* Has the history anything to do with private pools, as far as the file says? */
bool fl_guess_has_pools(const fl_trace *trace, size_t device);

/* The most likely guess.  Zeroed memory is a guess of nothing.  FL_ERR_RESOURCE. */
fl_status fl_guess_make(const fl_trace *trace, size_t device, const fl_profile *profile,
                        const fl_settings *settings, fl_guess *ret_guess, fl_error *error);
void fl_guess_deinit(const fl_host *host, fl_guess *guess);

/* A pool that the file does not name becomes known to the guess.  FL_ERR_RESOURCE. */
fl_status fl_guess_add_pool(const fl_trace *trace, fl_guess *guess, uint32_t pool, fl_error *error);

/* Takes it that nobody was served by a pool of others. */
void fl_guess_drop_hits(fl_guess *guess);

/* Adds a change of settings (a text of the trace) or of the limit (bytes) before `event`, in place
 * of one of the same kind there.  FL_ERR_RESOURCE. */
fl_status fl_guess_add_settings(const fl_trace *trace, fl_guess *guess, uint64_t event,
                                uint32_t text, fl_error *error);
fl_status fl_guess_add_limit(const fl_trace *trace, fl_guess *guess, uint64_t event, uint64_t bytes,
                             fl_error *error);

/* Plans the ops anew after a change of mind. */
fl_status fl_guess_plan(const fl_trace *trace, size_t device, fl_guess *guess, fl_error *error);

/* Gives what was there before the first event to the pools that the guess has it in, and what it
 * has learnt of it to the trace.  No replay may be open over the trace.  FL_ERR_RESOURCE. */
fl_status fl_guess_place_start(fl_trace *trace, size_t device, const fl_guess *guess,
                               fl_error *error);

/* Inserts what is planned before `event` and, up to what comes behind an empty_cache, at it; with
 * `is_late` also that. */
fl_status fl_guess_insert(fl_trace *trace, size_t device, fl_guess *guess, uint64_t event,
                          bool is_late, fl_error *error);

/* Has the owner of a pool let go of it before `event`?  So has that of the default pool, of which
 * empty_cache gives back everything. */
static inline bool fl_guess_is_released(const fl_guess *guess, uint32_t pool, uint64_t event)
{
    return pool == 0 ||
           (pool < guess->pools.count && guess->pools.items[pool].released_event <= event);
}

#endif
