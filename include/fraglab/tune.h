/* fraglab/tune.h - which settings make a trace fit a card, and at which price?
 *
 * Every setting that a release accepts and that can change the trace is replayed on the card.  The
 * objective is the card needed and the time lost to the driver, never the memory reserved alone: a
 * split limit may let that grow twelvefold and still need the smallest card.
 *
 * Assumed is that the program asks for the same in the same order whatever the settings, and that
 * events complete as recorded. */
#ifndef FRAGLAB_TUNE_H
#define FRAGLAB_TUNE_H

#include <fraglab/base.h>
#include <fraglab/prices.h>
#include <fraglab/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FL_TUNE_CONF_SIZE 320

/* A change of the program instead of its settings. */
typedef enum fl_tune_change {
    FL_TUNE_NO_CHANGE,
    FL_TUNE_EMPTY_CACHE,  /* one empty_cache() before an event */
    FL_TUNE_LARGEST_FIRST /* the largest request is made once, and let go, before everything else */
} fl_tune_change;

/* What a replay on the card says; of several files the worst of each, sums for calls. */
typedef struct fl_tune_outcome {
    bool fits;
    size_t worst_file; /* that is refused, or else reserves most */
    uint64_t peak_reserved_bytes;
    uint64_t driver_malloc, driver_free, driver_map, driver_unmap;
    uint64_t alloc_retries;
    double cost_us; /* of those calls */
} fl_tune_outcome;

enum {                               /* fl_tune_candidate.flags */
       FL_TUNE_BASE = 1 << 0,        /* what is in force now */
       FL_TUNE_USUAL = 1 << 1,       /* what people try first */
       FL_TUNE_CONFLICTING = 1 << 2, /* known to go wrong elsewhere; never recommended */
       FL_TUNE_PARETO = 1 << 3       /* nothing needs less card and loses less time */
};

typedef struct fl_tune_candidate {
    char conf[FL_TUNE_CONF_SIZE];
    double fraction; /* set_per_process_memory_fraction at the start; < 0: none */
    fl_tune_change change;
    uint64_t change_event;
    unsigned flags;
    fl_tune_outcome outcome;
    /* From here on every card works, up to the one asked about; FL_UNLIMITED: it does not fit, or
     * that took more tries than allowed. */
    uint64_t smallest_card_bytes;
} fl_tune_candidate;

/* Split limits that do the same on the card. */
typedef struct fl_tune_interval {
    uint64_t first_mebibytes, last_mebibytes; /* last FL_UNLIMITED: every larger one, and none */
    fl_tune_outcome outcome;
} fl_tune_interval;

typedef enum fl_tune_reason {
    FL_TUNE_RECOMMENDED,
    FL_TUNE_NONE_NEEDED, /* it fits as it is; without a card: nothing needs less */
    FL_TUNE_NONE_FITS
} fl_tune_reason;

/* The recommendation on traces whose sizes differ by up to 2 % and whose operations on different
 * streams come in another order. */
typedef struct fl_tune_robustness {
    unsigned trials, fitting;
    uint64_t least_reserved_bytes, most_reserved_bytes; /* of those that fit */
} fl_tune_robustness;

typedef struct fl_tune_options {
    fl_replay_options replay; /* release, settings in force, start, range; policy torch */
    /* What every trace is: their replay options differ in this alone. */
    const size_t *trace_devices;
    uint64_t card_bytes;     /* 0: none given; the best setting's, and 5 % */
    const fl_prices *prices; /* NULL: the defaults */
    uint64_t most_events;    /* to be replayed by the searches; 0: the default */
    unsigned jobs;
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} fl_tune_options;

typedef struct fl_tuning {
    const fl_host *host;
    fl_tune_reason reason;
    uint64_t card_bytes;
    bool is_card_given;
    bool is_sampled;    /* some values were left out: the search would have taken too long */
    bool was_stopped;   /* `progress` said so: the best so far */
    size_t recommended; /* a candidate, or SIZE_MAX */
    uint64_t
        best_card_bytes; /* NONE_FITS: what the settings tried need at least, or FL_UNLIMITED */
    /* Of the recommendation, from replays of their own. */
    uint64_t exact_card_bytes; /* from here on every card works; FL_UNLIMITED: not known */
    fl_tune_robustness robustness;
    fl_tune_candidate *candidates; /* the one in force first */
    size_t candidate_count, candidate_room;
    fl_tune_interval *intervals; /* over whole MiB, without gaps, unless sampled */
    size_t interval_count, interval_room;
} fl_tuning;

/* Searches settings for `count` traces together.  On success the caller ends *ret_tuning with
 * fl_tuning_deinit.  FL_ERR_NO is not among its failures: nothing that fits is a result.  The same
 * result whatever `jobs` is, unless it was stopped. */
FL_API fl_status fl_tune(const fl_trace *const *traces, size_t count,
                         const fl_tune_options *options, fl_tuning *ret_tuning, fl_error *error);
FL_API void fl_tuning_deinit(fl_tuning *tuning); /* accepts a zeroed one */

#ifdef __cplusplus
}
#endif

#endif
