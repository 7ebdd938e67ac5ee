/* Inside of the search for settings, shared by its files:
 *
 *     tune.c         the order of the steps, and the choice
 *     tune_list.c    which settings there are to try, and which of them could not differ
 *     tune_try.c     candidates on a card, side by side; their smallest cards
 *     tune_split.c   every split limit, stretch by stretch
 *     perturb.c      traces a little different */
#ifndef FL_ANALYSIS_TUNE_H
#define FL_ANALYSIS_TUNE_H

#include "base/vector.h"

#include <fraglab/tune.h>

FL_VECTOR(fl_tune_candidates, fl_tune_candidate);
FL_VECTOR(fl_tune_intervals, fl_tune_interval);
FL_VECTOR(fl_tune_sizes, uint64_t);

/* One search.  What lies above `lists` is read only while candidates are tried. */
typedef struct fl_tune_state {
    const fl_host *host;
    const fl_trace *const *traces;
    size_t trace_count;
    const fl_tune_options *options;
    fl_prices prices;
    uint64_t card_bytes;
    uint64_t events;            /* of all traces together */
    uint64_t most_events;       /* that may be replayed */
    struct fl_tune_sizes sizes; /* every size that is asked for, ascending, each once */
    bool has_limit;             /* the traces themselves set a memory fraction */
    bool is_configured;         /* or other settings, on their way */

    struct fl_tune_candidates candidates;
    struct fl_tune_sizes signatures; /* of the candidates */
    struct fl_tune_intervals intervals;
    uint64_t done, planned; /* candidates, for progress */
    bool is_sampled, was_stopped;
} fl_tune_state;

/* ---- tune_list.c --------------------------------------------------------------------------- */

/* Learns which sizes the traces ask for. */
fl_status fl_tune_survey(fl_tune_state *state, fl_error *error);

/* Adds a candidate, unless the release refuses it or an earlier one must do the same. */
fl_status fl_tune_add(fl_tune_state *state, const fl_tune_candidate *candidate, fl_error *error);

/* Adds the settings that people try first, and the one in force before all. */
fl_status fl_tune_add_usual(fl_tune_state *state, fl_error *error);
/* Adds what else could help, once it is known which of the usual ones do. */
fl_status fl_tune_add_further(fl_tune_state *state, fl_error *error);
/* Adds the changes of the program. */
fl_status fl_tune_add_changes(fl_tune_state *state, fl_error *error);

/* ---- tune_try.c ---------------------------------------------------------------------------- */

/* The replay options of a candidate for one of the traces.  `ops` (room for two) holds the ops of
 * its change. */
fl_replay_options fl_tune_replay_options(const fl_tune_state *state, size_t trace,
                                         const fl_tune_candidate *candidate, fl_insertion *ops);

/* Replays a candidate on a card over all traces, up to the first refusal.  *ret_next (may be NULL):
 * the next larger split limit in bytes at which anything would differ. */
fl_status fl_tune_try(const fl_tune_state *state, const fl_tune_candidate *candidate,
                      uint64_t card_bytes, fl_tune_outcome *ret_outcome, uint64_t *ret_next,
                      fl_error *error);

/* Tries the candidates from `first` on, on the card, on all workers. */
fl_status fl_tune_try_all(fl_tune_state *state, size_t first, fl_error *error);

/* Finds the smallest card, up to the one in question, of each candidate that fits it and that is
 * not known yet, at most `most_tries` replays each; of those only that also fit `card_bytes`. */
fl_status fl_tune_measure_all(fl_tune_state *state, uint64_t card_bytes, uint64_t most_tries,
                              fl_error *error);

/* The same for one of them. */
fl_status fl_tune_measure_one(const fl_tune_state *state, fl_tune_candidate *candidate,
                              uint64_t card_bytes, uint64_t most_tries, fl_error *error);

/* The smallest card of one candidate for all traces, over all cards or only those below `end`. */
fl_status fl_tune_measure(const fl_tune_state *state, const fl_tune_candidate *candidate,
                          uint64_t end, uint64_t most_tries, uint64_t *ret_bytes, fl_error *error);

/* ---- tune_split.c -------------------------------------------------------------------------- */

/* Tries every split limit, and adds one candidate for each stretch that does the same. */
fl_status fl_tune_sweep_split(fl_tune_state *state, fl_error *error);

#endif
