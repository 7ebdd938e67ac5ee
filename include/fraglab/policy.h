/* fraglab/policy.h - an allocation policy: one const table in its own file under src/policy/.
 *
 * src/policy/passthrough.c is the commented file to copy.  The replay adapts what a policy lacks:
 * without FL_CAN_STREAMS every request is on stream 0, without FL_CAN_POOLS in pool 0. */
#ifndef FRAGLAB_POLICY_H
#define FRAGLAB_POLICY_H

#include <fraglab/base.h>
#include <fraglab/device.h>
#include <fraglab/heap.h>
#include <fraglab/message.h>
#include <fraglab/observe.h>
#include <fraglab/param.h>
#include <fraglab/settings.h>
#include <fraglab/stats.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fl_policy_state; /* each policy defines its own under this tag */

enum {                           /* fl_policy_ops.capabilities */
       FL_CAN_STREAMS = 1 << 0,  /* keeps streams apart; record_stream delays frees */
       FL_CAN_POOLS = 1 << 1,    /* scopes and private pools */
       FL_NEEDS_FUTURE = 1 << 2, /* wants the whole trace before the first op */
       FL_CAN_SETTINGS = 1 << 3, /* takes a release and a settings text */
       FL_KEEPS_STATS = 1 << 4   /* facts tell PyTorch's statistics */
};

/* What a policy is given when it opens.  Everything outlives the policy. */
typedef struct fl_policy_env {
    const fl_host *host;
    fl_device *device;
    const fl_sink *sink; /* NULL: nobody listens */
    const fl_oracle *oracle;
    const fl_names *names;        /* grows while the policy is open */
    const fl_param_value *params; /* one per row of the table's `params` */
    const fl_profile *profile;    /* FL_CAN_SETTINGS only, as are the next two */
    const fl_settings *settings;
    double fraction; /* set_per_process_memory_fraction before the first op; < 0: none */
    bool is_tracked; /* next_value will be asked: keep what its answer needs */
} fl_policy_env;

/* The last refusal, and the statistics. */
typedef struct fl_refusal {
    uint64_t requested_bytes;
    uint64_t rounded_bytes;
    uint64_t segment_bytes;     /* what the device was asked for */
    uint64_t device_free_bytes; /* what the device had left */
    uint64_t cached_free_bytes; /* free in the cache, all pools and streams */
    /* What a release's message tells beside these. */
    uint64_t total_bytes; /* of the card; FL_UNLIMITED: nothing tells */
    uint64_t limit_bytes; /* FL_UNLIMITED: none */
    uint64_t allocated_bytes, reserved_bytes;
    uint64_t private_free_bytes; /* free in private pools */
    uint64_t reserve_bytes;      /* range of a new expandable segment, before rounding to pages;
                                    FL_UNLIMITED: no setting names one */
    bool is_expandable;          /* the setting, not what would have served this request */
    bool is_rejected;            /* by a setting, before anything was tried */
} fl_refusal;

typedef struct fl_facts {
    const fl_stats *stats;      /* as they are now, until the next call; NULL: none are kept */
    const fl_refusal *refusal;  /* NULL: nothing was refused so far */
    const fl_pool_stats *pools; /* private pools that ever had memory */
    size_t pool_count;
} fl_facts;

/* The message of a refusal as `profile` prints it: fl_oom_message, or fl_rejection_message.
 * `device`: its number; processes as the driver's library would list them. */
FL_API size_t fl_refusal_message(const fl_profile *profile, const fl_refusal *refusal,
                                 unsigned device, const fl_process *processes, size_t process_count,
                                 char *buffer, size_t size);

/* What has become of an allocation, as a replay must know it: one byte each. */
typedef enum fl_fate {
    FL_FATE_UNSEEN = 0,
    FL_FATE_LIVE,
    FL_FATE_NOTHING,  /* refused, or a request for 0 bytes: frees and uses are ignored */
    FL_FATE_PENDING,  /* freed by its owner, not yet back in its pool */
    FL_FATE_WITHHELD, /* the same, kept back from a policy that knows no streams */
    FL_FATE_DONE
} fl_fate;

/* Events of a trace to be played in one go, and how far a policy came. */
typedef struct fl_stretch {
    const uint8_t *kind, *flags; /* columns by event */
    const uint16_t *stream;
    const uint32_t *id;
    const uint64_t *size;
    uint8_t *fates; /* fl_fate by id: read, and kept up to date */
    uint32_t fate_count;
    uint64_t event, stop; /* the next one, and the one before which to stop */
    uint64_t allocs, frees;
    fl_result result; /* of the last request, where it was not granted */
} fl_stretch;

typedef struct fl_policy_ops {
    const char *name;
    const char *summary;
    uint32_t capabilities;
    size_t state_size; /* open() receives this much zeroed memory */
    const fl_param *params;

    /* Required.  A status other than FL_OK ends the replay: the host failed, or the op makes no
     * sense (an unknown id).  Everything else is an outcome in `ret_result`.  The replay keeps
     * away: requests of 0 bytes, a number that was asked for before, a free of what is not live or
     * was refused.  It does not keep away sizes up to 2^64 - 1; they are refused. */
    fl_status (*open)(struct fl_policy_state *state, const fl_policy_env *env, fl_error *error);
    fl_status (*alloc)(struct fl_policy_state *state, const fl_op *op, fl_result *ret_result,
                       fl_error *error);
    fl_status (*free)(struct fl_policy_state *state, const fl_op *op, fl_result *ret_result,
                      fl_error *error);
    fl_status (*control)(struct fl_policy_state *state, const fl_op *op, fl_result *ret_result,
                         fl_error *error);                                    /* every other op */
    fl_status (*check)(const struct fl_policy_state *state, fl_error *error); /* every invariant */
    void (*close)(struct fl_policy_state *state); /* accepts a half-opened state */

    /* Optional: NULL says that a policy has no answer, and nothing complains.  Without `facts` a
     * refusal has no numbers and no message, without `walk` there is no picture of the heap and no
     * comparison of it with the changes.
     * adopt: takes over what was there before the first op, right after open; peaks are then what
     * is current, sums and counters 0.  FL_ERR_UNAVAILABLE: not this start state. */
    fl_status (*adopt)(struct fl_policy_state *state, const fl_start *start, fl_error *error);
    /* probe: what if this request came now?  Usable says that `alloc` would call the device for
     * nothing; frees that would complete on the way count as complete.  Pure, and made of alloc's
     * own predicates; O(blocks).  FL_ERR_RESOURCE. */
    fl_status (*probe)(const struct fl_policy_state *state, const fl_op *request,
                       fl_probe *ret_probe, fl_error *error);
    /* The next larger value of a parameter at which any comparison made so far would have gone
     * the other way, or a smaller one where that is not known; UINT64_MAX: none, also for a
     * parameter that the policy does not have.  Only where the env said `is_tracked`.
     * `max_split_size`: the limit given at the start, in bytes.  `capacity`: the size that the
     * device tells of itself, what it grants and refuses aside; without this hook a policy looks
     * at nothing but that. */
    uint64_t (*next_value)(const struct fl_policy_state *state, const char *parameter);
    void (*facts)(const struct fl_policy_state *state, fl_facts *ret_facts);
    fl_status (*walk)(const struct fl_policy_state *state, const fl_walk *walk, fl_error *error);
    /* Plays requests and frees that have no flags, as alloc and free would with nobody listening,
     * until one ahead is something else, or not as its fate wants it (a request of what was seen, a
     * free of what is not live), or asks for 0 bytes, or was not granted: that one is played and
     * in `result`.  Of an op that failed `event` is the number. */
    fl_status (*stretch)(struct fl_policy_state *state, fl_stretch *stretch, fl_error *error);
} fl_policy_ops;

FL_API const fl_policy_ops *fl_policy_at(size_t index); /* NULL beyond the last */
FL_API const fl_policy_ops *fl_policy_find(const char *name);

#ifdef __cplusplus
}
#endif

#endif
