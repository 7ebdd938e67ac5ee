/* fraglab/observe.h - looking at a replay while it runs: a read-only view after every op.
 *
 * An observer is one const table in its own file under src/observer/.  It gathers from the view
 * and emits its own record. */
#ifndef FRAGLAB_OBSERVE_H
#define FRAGLAB_OBSERVE_H

#include <fraglab/base.h>
#include <fraglab/heap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why free bytes cannot serve a request (docs/metrics.md). */
typedef enum fl_unusable {
    FL_UNUSABLE_POOL,    /* in another pool: small, large or private; or of the other kind of
                            segment, expandable or not */
    FL_UNUSABLE_STREAM,  /* of another stream */
    FL_UNUSABLE_PENDING, /* freed, but an event is outstanding */
    FL_UNUSABLE_PINNED,  /* too small a piece, between live blocks */
    FL_UNUSABLE_SPLIT,   /* large enough, but the split limit forbids it */
    FL_UNUSABLE_DEVICE,  /* not in the cache: left on the device, but less than a segment; a policy
                            leaves it 0, fl_replay_probe fills it in */
    FL_UNUSABLE_COUNT
} fl_unusable;

/* `pool`, `stream`, `pending`, `pinned`, `split_limit`, `device`; NULL beyond the last. */
FL_API const char *fl_unusable_name(fl_unusable cause);

/* The answer to "what if this request came now?".  Usable and unusable bytes in the cache add up to
 * what is reserved and not allocated. */
typedef struct fl_probe {
    bool usable;                   /* it would be served without any call to the device */
    uint64_t usable_bytes;         /* free bytes in blocks that could serve it */
    uint64_t largest_usable_bytes; /* the largest piece that its stream and pool could use */
    uint64_t unusable_bytes[FL_UNUSABLE_COUNT];
    /* What the request comes to. */
    uint64_t rounded_bytes; /* what a block must hold */
    uint64_t segment_bytes; /* what the device would be asked for */
    uint64_t most_bytes;    /* a block must be smaller than this; UINT64_MAX: no such limit */
    uint32_t pool, stream;  /* dense; pool FL_NONE: it would fail before any search */
    bool is_small;
} fl_probe;

/* Valid during the call only. */
typedef struct fl_view {
    uint64_t event;   /* its number in the trace */
    bool is_inferred; /* an op that is not in the file */
    int64_t time_us;  /* FL_TIME_UNKNOWN where not recorded */
    uint32_t stack;
    const fl_op *op;
    const fl_result *result;
    const fl_change *changes; /* what this op did, in order */
    size_t change_count;
    /* What if this request came now, after the op?  Called with `prober`; changes nothing.  NULL
     * where the policy has no answer. */
    fl_status (*probe)(const void *prober, const fl_op *request, fl_probe *ret_probe,
                       fl_error *error);
    const void *prober;
} fl_view;

struct fl_observer_state;

/* Totals at one moment, in bytes. */
typedef struct fl_totals {
    uint64_t requested_bytes, allocated_bytes, active_bytes, reserved_bytes;
} fl_totals;

#ifdef __cplusplus
}
#endif

#endif
