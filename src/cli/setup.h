/* How the allocator of a replay is chosen: from what was typed, from what the file says, and from
 * defaults, and for each of them where it came from. */
#ifndef FL_CLI_SETUP_H
#define FL_CLI_SETUP_H

#include "cli/gpus.h"
#include "cli/session.h"

#include <fraglab/replay.h>

/* Where a choice came from; in JSON and, in words, in text. */
typedef enum fl_origin {
    FL_FROM_NOWHERE, /* "default": nobody said anything */
    FL_FROM_OPTION,  /* "option" */
    FL_FROM_FILE,    /* "file": its marks, its settings, a script's cap= */
    FL_FROM_EVENTS,  /* "recorded_events": what they show of settings that the file lacks */
    FL_FROM_CARD,    /* "card": a named card less the context */
    FL_FROM_OOM,     /* "recorded_oom": reserved + free at the first recorded out-of-memory */
    FL_FROM_REFUSAL, /* "recorded_refusal": what it gave before the record shows a refusal */
    FL_FROM_LIMIT,   /* "recorded_limit": the smallest that explains the record with --fraction */
    FL_ORIGIN_COUNT
} fl_origin;

typedef struct fl_setup {
    const fl_policy_ops *policy;
    const char *policy_params;
    const fl_profile *profile; /* NULL where the policy knows no releases */
    fl_origin profile_from;
    const fl_profile *recorded; /* the release to understand a snapshot's history by */
    const char *conf;           /* NULL: none */
    fl_origin conf_from;
    const fl_device_ops *backing;
    uint64_t capacity_bytes, total_bytes; /* FL_UNLIMITED; 0: the same */
    fl_origin gpu_from;
    const fl_gpu *gpu;
    uint64_t context_bytes;
    size_t trace_device;
    fl_range_end range[2];
    uint64_t first_event, end_event; /* both 0: all */
    fl_on_oom on_oom;
    fl_start_choice start;  /* where what was there before the first event goes */
    const char *start_word; /* --start, or what was chosen where a window is cut; else NULL */
} fl_setup;

/* What the options alone decide; before anything is read, so that a mistyped option costs no
 * time. */
fl_status fl_setup_from_options(fl_session *session, fl_setup *ret_setup, fl_error *error);

/* The whole of a command that reads one file: its options, the file, and `run` over it. */
fl_status fl_setup_run_file(fl_session *session,
                            fl_status (*run)(fl_session *session, fl_setup *setup, fl_trace *trace,
                                             fl_error *error),
                            fl_error *error);

/* The rest, from the file.  Choosing a release may try several over the history, which writes what
 * each of them infers into the trace; fl_rebuild puts the last word there. */
fl_status fl_setup_from_trace(fl_session *session, fl_trace *trace, fl_setup *setup,
                              fl_error *error);

/* What must be known of the trace before it can be replayed: what a history does not say, and what
 * was there before the first event of a range. */
fl_status fl_setup_rebuild(const fl_session *session, fl_trace *trace, const fl_setup *setup,
                           fl_error *error);

/* FL_ERR_UNAVAILABLE: something is live before the first event of a range, and the command cannot
 * start with that. */
fl_status fl_setup_check_range(const fl_session *session, const fl_trace *trace,
                               const fl_setup *setup, fl_error *error);

/* What the card is said to have in all; 0: nothing is said. */
uint64_t fl_setup_total(const fl_setup *setup);

/* Are the settings those of the file? */
bool fl_setup_keeps_conf(const fl_setup *setup, const fl_trace *trace);

/* The setup as the replay takes it. */
fl_replay_options fl_setup_replay_options(const fl_session *session, const fl_setup *setup);

/* Into `config` of the envelope: enough to run it again. */
void fl_setup_emit_config(const fl_session *session, const fl_setup *setup);

/* The part of it on the card: `gpu` and `fraction`. */
void fl_setup_emit_card(const fl_session *session, const fl_setup *setup);

/* The same for people. */
void fl_setup_emit_text(const fl_session *session, const fl_trace *trace, const fl_setup *setup);

/* Settings for people: `default` where there are none, `not recorded` for NULL. */
const char *fl_conf_words(const char *conf);

/* The release that --torch, which must be given, names.  Warns where a patch level is not known. */
fl_status fl_setup_torch(fl_session *session, const fl_profile **ret_profile, fl_error *error);

/* The one that the file names, which is its own word and needs no proof: fl_trace_release is not
 * NULL.  Warns likewise. */
fl_status fl_setup_stated(fl_session *session, const fl_trace *trace,
                          const fl_profile **ret_profile, fl_error *error);

/* Those in words: `2.9`, `2.10 to 2.12`, or `not told`. */
void fl_setup_marks_words(const fl_trace *trace, char *buffer, size_t size);

/* FL_ERR_UNAVAILABLE: this build has none of them. */
fl_status fl_setup_fail_marks(const fl_trace *trace, fl_error *error);

/* The releases that the file's marks allow, oldest first: at most `most`, which a caller has room
 * for. */
void fl_setup_marked_releases(const fl_trace *trace, const fl_profile **ret_profiles, size_t most,
                              size_t *ret_count);

/* Which device's events: --trace-device, else the one with most.  Warns where there was a
 * choice. */
fl_status fl_setup_trace_device(fl_session *session, const fl_trace *trace, size_t *ret_device,
                                fl_error *error);

/* What is replayed, and by which release a history is understood; for a policy that knows no
 * releases only the latter.  Both may learn the size of the card. */
fl_status fl_setup_take_releases(fl_session *session, fl_trace *trace, fl_setup *setup,
                                 fl_error *error);
fl_status fl_setup_take_recorded(fl_session *session, fl_trace *trace, fl_setup *setup,
                                 fl_error *error);

/* Reserved bytes just before an event, as the recorded segments tell; FL_UNLIMITED: their sizes
 * make no sense. */
uint64_t fl_setup_reserved_at(const fl_trace *trace, size_t device, uint64_t event);

/* Was something refused for which the card had room? */
bool fl_setup_shows_limit(const fl_trace *trace, size_t device);

/* The parts of fl_setup_from_options and fl_setup_from_trace that have files of their own. */
fl_status fl_setup_gpu_from_options(fl_session *session, fl_setup *setup, fl_error *error);
void fl_setup_gpu_from_trace(fl_session *session, const fl_trace *trace, fl_setup *setup);
fl_status fl_setup_range_from_options(fl_session *session, fl_setup *setup, fl_error *error);
/* Events of a device, with those behind the range that are not kept. */
uint64_t fl_setup_event_total(const fl_trace *trace, size_t device);
fl_status fl_setup_range_from_trace(const fl_trace *trace, fl_setup *setup, fl_error *error);

#endif
