/* fraglab/verify.h - is the replay what the recorded allocator did? */
#ifndef FRAGLAB_VERIFY_H
#define FRAGLAB_VERIFY_H

#include <fraglab/base.h>
#include <fraglab/replay.h>
#include <fraglab/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of recorded decisions that are compared. */
typedef enum fl_decision {
    FL_DECISION_ADDRESS,     /* where each request landed, or that it was refused */
    FL_DECISION_SEGMENT,     /* each segment taken, given back, mapped, unmapped; and when */
    FL_DECISION_FINAL_STATE, /* each segment and block of the final state */
    FL_DECISION_COUNT
} fl_decision;

typedef struct fl_tally {
    uint64_t checked, equal, excused, different; /* checked = equal + excused + different */
} fl_tally;

/* Why a decision that came out another way is excused: what the file lacks, without which it cannot
 * be determined. */
typedef enum fl_excuse {
    FL_EXCUSE_NONE,
    FL_EXCUSE_CUT_OFF,       /* the file ends before the op that it belongs to */
    FL_EXCUSE_UNKNOWN_START, /* what was there before the window does not follow from the rest */
    FL_EXCUSE_NOT_RECORDED,  /* it follows from events of a kind that was not recorded */
    FL_EXCUSE_OUT_OF_ORDER,  /* the events are, and their order could not be restored */
    FL_EXCUSE_NO_SETTINGS,   /* the settings are not in the file */
    FL_EXCUSE_OLD_ORDER,     /* it hangs on which of two equals came first, before the window */
    FL_EXCUSE_OPEN_TAIL,     /* it hangs on the size of a block that nothing shows */
    FL_EXCUSE_NEWER_STATE,   /* the final state is newer than the last event */
    FL_EXCUSE_OLD_AGE,       /* it hangs on how long a segment was free before the window */
    FL_EXCUSE_COUNT
} fl_excuse;

/* "cut_off", "unknown_start", ... */
FL_API const char *fl_excuse_name(fl_excuse excuse);
/* "the file ends before ..." */
FL_API const char *fl_excuse_sentence(fl_excuse excuse);

/* The first place where replay and record differ, in words. */
typedef struct fl_difference {
    uint64_t event; /* the event at which it shows */
    char expected[160], got[160], because[256];
} fl_difference;

/* What a rebuild put into the trace that the file does not say. */
typedef struct fl_inferred {
    uint64_t trims, completions, scopes, pool_releases;
    uint64_t pools;    /* private ones that the file does not name */
    uint64_t settings; /* changes on the way, or from the start */
    uint64_t limits;
    uint64_t start_blocks; /* in use before the first event of a cut window */
    uint64_t hidden_tails; /* of these, larger than what was asked for, as their neighbours show */
    uint64_t hidden_tail_bytes;
    uint64_t open_tails; /* perhaps larger: nothing in the window tells */
    uint64_t ages;       /* which of two segments, or blocks, from before is older */
} fl_inferred;

typedef struct fl_verdict {
    fl_tally decisions[FL_DECISION_COUNT];
    uint64_t excused[FL_EXCUSE_COUNT]; /* by reason; together those of `decisions` */
    bool has_history; /* else only the final state is there, and its parts fit each other or not */
    bool is_complete; /* the window starts from an empty allocator */
    bool has_difference;
    fl_difference first_difference;
    const fl_profile *profiles[32]; /* releases that explain the file */
    size_t profile_count;
    fl_inferred inferred;
    uint64_t releases_by_cause[FL_CAUSE_COUNT];       /* segments given back, by why */
    uint64_t most_granted_bytes, least_refused_bytes; /* of the recorded card: fl_device_info */
} fl_verdict;

/* Infers what a recorded history does not say (empty_cache, which completions came by
 * synchronising, what was there before a cut window) and keeps it in the trace, so that it can be
 * replayed under other settings.  Where what the file states does not explain the history, the rest
 * is sought, as by fl_verify_sought, and found once: what the trace holds already for this release
 * stays.  A script needs nothing.  FL_ERR_UNAVAILABLE: the window is cut and the rest does not tell
 * what was there before.  No replay may be open over the trace. */
FL_API fl_status fl_rebuild(fl_trace *trace, size_t device, const fl_profile *profile,
                            fl_error *error);

/* The same by what the file states alone; *ret_is_explained tells whether that explains the
 * history, with nothing excused; false of a script and of a history that has all operations. */
FL_API fl_status fl_rebuild_stated(fl_trace *trace, size_t device, const fl_profile *profile,
                                   bool *ret_is_explained, fl_error *error);

/* What the last rebuild of a device put into the trace; of a script nothing. */
FL_API fl_inferred fl_rebuild_inferred(const fl_trace *trace, size_t device);

/* Runs a script and makes of it the history that a recorder would have kept, with the final state,
 * in which nothing has to be inferred: the ops that a recorder does not write are in it, too.  All
 * its devices are run under `options`, whatever device they name; a request that is refused is
 * passed over, and what the script tells of the time before its first operation stays in its place.
 * The caller owns *ret_history.  FL_ERR_UNAVAILABLE: the policy cannot be walked, or cannot take
 * over what was there before. */
FL_API fl_status fl_record_history(const fl_trace *script, const fl_replay_options *options,
                                   fl_trace **ret_history, fl_error *error);

/* Makes what a device held just before `event` the state from which a replay of the events from
 * there on starts: a history is replayed up to there over its own record, as fl_rebuild, which must
 * have been called, understood it; a script as `options` say.  FL_ERR_UNAVAILABLE: the policy
 * cannot be walked. */
FL_API fl_status fl_start_at(fl_trace *trace, size_t device, const fl_profile *profile,
                             uint64_t event, const fl_replay_options *options, fl_error *error);

/* Replays one device's history over its own record and compares every decision.  FL_OK whatever
 * the verdict. */
FL_API fl_status fl_verify(fl_trace *trace, size_t device, const fl_profile *profile,
                           const fl_host *host, fl_verdict *ret_verdict, fl_error *error);

/* The same.  Where what the file states does not explain the history, the rest is sought: settings
 * that changed on the way, a limit, private pools of which nothing is left.  It may find something
 * for a release that did not write the file. */
FL_API fl_status fl_verify_sought(fl_trace *trace, size_t device, const fl_profile *profile,
                                  const fl_host *host, fl_verdict *ret_verdict, fl_error *error);

/* The one of `profiles` (oldest first) that explains a device's history best: without a difference,
 * then with the least inferred that the file does not state, then the newest.  The verdict lists
 * all that explain it as well.  Where none explains it, the newest that can be replayed at all. */
FL_API fl_status fl_verify_best(fl_trace *trace, size_t device, const fl_profile *const *profiles,
                                size_t count, const fl_host *host, const fl_profile **ret_profile,
                                fl_verdict *ret_verdict, fl_error *error);

typedef struct fl_verify_choice {
    const fl_profile *profile; /* NULL: none explains the history; then the rest says nothing */
    uint64_t most_granted_bytes, least_refused_bytes; /* of the recorded card: fl_device_info */
} fl_verify_choice;

/* The same, but none where none explains it; what the file does not state is sought only with
 * `is_seeking`. */
FL_API fl_status fl_verify_choose(fl_trace *trace, size_t device, const fl_profile *const *profiles,
                                  size_t count, bool is_seeking, const fl_host *host,
                                  fl_verify_choice *ret_choice, fl_error *error);

#ifdef __cplusplus
}
#endif

#endif
