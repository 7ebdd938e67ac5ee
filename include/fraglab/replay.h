/* fraglab/replay.h - running a trace against a policy over a device. */
#ifndef FRAGLAB_REPLAY_H
#define FRAGLAB_REPLAY_H

#include <fraglab/base.h>
#include <fraglab/device.h>
#include <fraglab/observe.h>
#include <fraglab/policy.h>
#include <fraglab/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fl_on_oom { FL_ON_OOM_STOP, FL_ON_OOM_SKIP } fl_on_oom;

/* Where what was there before the first event of a cut window goes. */
typedef enum fl_start_choice {
    FL_START_RECORDED, /* it keeps its place */
    FL_START_FRESH,    /* it is asked for anew, by ascending address; peaks begin after that */
    FL_START_NONE      /* only in a summary: there was nothing, or nothing is known of it */
} fl_start_choice;

enum {                              /* fl_replay_options.without */
       FL_WITHOUT_STREAMS = 1 << 0, /* everything on stream 0; no free waits for another stream */
       FL_WITHOUT_POOLS = 1 << 1,   /* no scopes: everything in the default pools */
       FL_WITHOUT_PENDING = 1 << 2, /* no free waits for another stream */
       FL_WITHOUT_OUTSIDE = 1 << 3  /* nobody else takes memory of the card */
};

typedef struct fl_replay_options {
    const fl_host *host;         /* NULL: the default host */
    const fl_policy_ops *policy; /* NULL: torch */
    const char *policy_params;   /* `key=value,...` or NULL */
    const fl_profile *profile;   /* FL_CAN_SETTINGS policies; NULL: the newest known */
    const char *conf;            /* settings text, or NULL: none */
    double fraction;             /* < 0: none */
    const fl_device_ops *device; /* NULL: sim; `recorded` plays back the trace's own record */
    const char *device_params;
    uint64_t capacity_bytes;         /* FL_UNLIMITED: no limit */
    uint64_t total_bytes;            /* 0: the same */
    size_t trace_device;             /* which device's events */
    uint64_t first_event, end_event; /* half open; both 0: all */
    /* What if the program also asked this?  Ops that are not in the trace, each before its event,
     * ascending; allocations of their own are numbered from fl_trace_alloc_count on.  The caller's,
     * longer than the replay. */
    const fl_insertion *inserted;
    size_t inserted_count;
    fl_on_oom on_oom;
    fl_start_choice start; /* RECORDED needs a policy that can adopt */
    uint32_t without;      /* FL_WITHOUT_*: what if the trace had none of these? */
    /* Skip what costs time on every op: the summary then lacks the events at which peaks stood,
     * and peaks start anew where the trace resets them.  Only without `watch`, and with a policy
     * that keeps statistics; else without effect. */
    bool is_lean;
    bool is_tracked;     /* fl_replay_next_value will be asked */
    bool check_every_op; /* run the policy's check after each op; slow */
    /* After every op, and now and then (progress).  Either may be NULL.  `watch` may return a
     * status other than FL_OK to end the replay with it. */
    fl_status (*watch)(void *user, const fl_view *view, fl_error *error);
    bool (*progress)(void *user, uint64_t done, uint64_t total);
    void *user;
} fl_replay_options;

/* The first request that failed. */
typedef struct fl_oom {
    uint64_t event;
    uint32_t id;
    fl_outcome outcome; /* FL_REFUSED, FL_REJECTED or FL_FORBIDDEN */
    const char *why;    /* static text for the latter two, else NULL */
    fl_refusal refusal;
    bool has_refusal; /* false: the policy tells no facts; only `requested_bytes` counts */
    bool has_probe;   /* false: the policy cannot be asked what stood in the way */
    fl_probe probe;   /* what it says of the request after all that it tried */
} fl_oom;

typedef struct fl_replay_summary {
    uint64_t events; /* taken from the trace */
    uint64_t allocs; /* requests, refused ones included */
    uint64_t frees;  /* of what was served */
    uint64_t ooms;   /* requests that failed, whatever the reason */
    fl_start_choice start;
    fl_totals peak; /* each the peak of its own */
    fl_totals end;
    uint64_t peak_reserved_event, peak_allocated_event;
    uint64_t driver_malloc, driver_free, driver_map, driver_unmap;
    bool has_oom;
    fl_oom oom;
    bool has_stats; /* the policy keeps PyTorch's statistics */
    fl_stats stats;
    const fl_pool_stats *pools; /* the replay's: good until its next step */
    size_t pool_count;
} fl_replay_summary;

typedef struct fl_replay fl_replay;

/* Opens policy and device for a trace, which must outlive the replay.  The caller owns
 * *ret_replay.  FL_ERR_USAGE: settings refused; FL_ERR_UNAVAILABLE: see the text. */
FL_API fl_status fl_replay_open(const fl_trace *trace, const fl_replay_options *options,
                                fl_replay **ret_replay, fl_error *error);
FL_API void fl_replay_close(fl_replay *replay); /* accepts NULL */

/* Runs to the end, or to the first refusal with FL_ON_OOM_STOP.  FL_OK whatever was refused. */
FL_API fl_status fl_replay_run(fl_replay *replay, fl_error *error);

/* One event (and the ops inferred before it).  *ret_more is false at the end. */
FL_API fl_status fl_replay_step(fl_replay *replay, bool *ret_more, fl_error *error);

FL_API void fl_replay_get_summary(const fl_replay *replay, fl_replay_summary *ret_summary);
FL_API const fl_device_info *fl_replay_get_device_info(const fl_replay *replay);
/* The next larger value of a parameter with which the policy would have done anything else so far,
 * or a smaller one (fl_policy_ops.next_value); UINT64_MAX: none.  Needs `is_tracked`. */
FL_API uint64_t fl_replay_next_value(const fl_replay *replay, const char *parameter);
/* Segments and blocks as they stand; FL_ERR_UNAVAILABLE where the policy cannot be walked. */
FL_API fl_status fl_replay_walk(const fl_replay *replay, const fl_walk *walk, fl_error *error);

/* What if this request came now?  Nothing changes.  FL_ERR_UNAVAILABLE: the policy has no answer;
 * FL_ERR_RESOURCE. */
FL_API fl_status fl_replay_probe(const fl_replay *replay, const fl_op *request, fl_probe *ret_probe,
                                 fl_error *error);

/* The decisions of a replay as lines of text, `m ADDR BYTES`, `A ID ADDR`, ..., in the order in
 * which they were taken (docs/verify.md).  For `watch`. */
typedef struct fl_decision_log {
    const fl_trace *trace;
    size_t trace_device;
    const fl_replay *replay;
    fl_status (*line)(void *user, const char *line, fl_error *error); /* no line end */
    void *user;
} fl_decision_log;

/* Hands the lines of one view to `line`; returns its first failure.  FL_ERR_UNAVAILABLE: the script
 * asks for segments or counters that the policy does not show. */
FL_API fl_status fl_decision_log_view(const fl_decision_log *log, const fl_view *view,
                                      fl_error *error);

#ifdef __cplusplus
}
#endif

#endif
