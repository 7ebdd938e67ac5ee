/* A replay over its own record with a comparison alongside, shared by rebuild and verify. */
#ifndef FL_REBUILD_REBUILD_H
#define FL_REBUILD_REBUILD_H

#include "rebuild/compare.h"
#include "rebuild/guess.h"

/* The options under which a history is replayed over what was recorded with it: the file's own
 * settings, the device that plays the record back, and nothing that ends early. */
fl_status fl_record_options(const fl_trace *trace, size_t device, const fl_profile *profile,
                            const fl_host *host, fl_replay_options *ret_options, fl_error *error);

/* NULL stands for the newest release. */
const fl_profile *fl_record_profile(const fl_profile *profile);

/* The settings that a file tells are part of it: what a release refuses it cannot have run under.
 */
fl_status fl_record_conf(const fl_trace *trace, const fl_profile *profile,
                         fl_settings *ret_settings, fl_error *error);

/* How far a guess carries. */
typedef struct fl_attempt {
    bool is_explained; /* every decision came out as recorded */
    fl_excuse excuse;  /* else the first difference may come of what was before the window */
    uint64_t forced;   /* segments given back because the device, or the limit, was in the way */
    uint64_t steps;    /* events of all replays that were made for it, about */
    uint64_t most_granted_bytes, least_refused_bytes; /* of the recorded card, where explained */
    uint64_t reached; /* the event at which the first difference shows, or their number */
    bool has_miss;    /* else the replay could not go on */
    fl_miss miss;
} fl_attempt;

/* Reads the bursts of a history under a guess, and leaves what is inferred in the trace.  With
 * `ret_attempt` it stops at the first difference, but begins anew as long as that shows something
 * of what was there before the window, which the guess then knows; without, what comes behind the
 * difference is read from its form.  FL_OK whatever comes out. */
fl_status fl_rebuild_try(fl_trace *trace, size_t device, const fl_profile *profile, fl_guess *guess,
                         fl_attempt *ret_attempt, fl_error *error);

/* fl_rebuild, always anew; what the file does not state is sought only if asked.  *ret_attempt says
 * how far what the trace then holds carries; of a script or of all ops nothing. */
fl_status fl_rebuild_anew(fl_trace *trace, size_t device, const fl_profile *profile,
                          bool is_seeking, fl_attempt *ret_attempt, fl_error *error);

#endif
