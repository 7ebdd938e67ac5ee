/* Shrinking: the shortest trace that still shows what a given one shows.
 *
 * What must stay is either the first refusal, or whatever a caller's question asks.  First whole
 * allocations go, with everything that is asked about them, then single operations (a scope only
 * together with its end), then streams are merged and sizes made smaller and rounder; and all
 * again, until nothing more can go.  The result depends on nothing but the input. */
#ifndef FL_ANALYSIS_SHRINK_H
#define FL_ANALYSIS_SHRINK_H

#include <fraglab/replay.h>

/* Where a refused request would have had room, had memory been in one piece. */
typedef enum fl_shrink_room {
    FL_SHRINK_NO_ROOM,       /* nowhere, or the policy does not tell */
    FL_SHRINK_ROOM_TOGETHER, /* in what the cache and the device had free together */
    FL_SHRINK_ROOM_IN_CACHE  /* in what the cache alone had free */
} fl_shrink_room;

/* Refusals are the same where the same request is met, for the same cause, with the same room. */
typedef struct fl_shrink_refusal {
    fl_outcome outcome;
    const char *why; /* of FL_REJECTED and FL_FORBIDDEN, else NULL */
    fl_shrink_room room;
} fl_shrink_refusal;

typedef enum fl_shrink_end {
    FL_SHRINK_MINIMAL,   /* without any one of its operations it does not show it */
    FL_SHRINK_EXHAUSTED, /* the bounds below were reached */
    FL_SHRINK_STOPPED    /* `progress` said so */
} fl_shrink_end;

typedef struct fl_shrink_options {
    /* Whose events, from where to where, and the allocator, its settings and its card.  Watcher,
     * progress and `on_oom` are not looked at. */
    fl_replay_options replay;
    /* Does a candidate still show it?  NULL: is its last request refused in the same way?  The same
     * answer to the same trace, please; a status other than FL_OK ends the search. */
    fl_status (*shows)(void *user, const fl_trace *candidate, bool *ret_shows, fl_error *error);
    /* Called before each candidate with the operations of the best one so far, and at the start.
     * False: stop and give that one.  May be NULL. */
    bool (*progress)(void *user, uint64_t left, uint64_t before);
    void *user;
    uint64_t most_tries;      /* candidates */
    uint64_t most_operations; /* in all candidates together */
} fl_shrink_options;

typedef struct fl_shrink_report {
    uint64_t operations_before, operations_after;
    uint64_t tries;
    fl_shrink_end end;
    fl_shrink_refusal refusal; /* where no question was given */
} fl_shrink_report;

/* Shrinks one device's events; a snapshot must have been through fl_rebuild.  The trace that comes
 * out is one as of a script: it states the card and the settings of `replay`, begins with its
 * memory fraction, and names allocations 1, 2, 3, ...  On success the caller owns *ret_trace.
 *
 * FL_ERR_NO: the whole trace does not show it; the error says what was missing. */
fl_status fl_shrink(const fl_trace *trace, const fl_shrink_options *options, fl_trace **ret_trace,
                    fl_shrink_report *ret_report, fl_error *error);

#endif
