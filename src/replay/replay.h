/* Inside of a replay, shared by the files of this folder. */
#ifndef FL_REPLAY_REPLAY_H
#define FL_REPLAY_REPLAY_H

#include "base/vector.h"
#include "replay/record.h"
#include "trace/trace.h"

#include <fraglab/replay.h>

FL_VECTOR(fl_change_vector, fl_change);

/* The events of a simulated program: complete at once, or held back by EVENTS_HOLD. */
typedef struct fl_replay_events {
    uint64_t complete_before; /* events with a smaller number are complete */
} fl_replay_events;

struct fl_replay {
    const fl_host *host;
    fl_replay_options options;
    const fl_trace *trace;
    const fl_columns *columns;
    const fl_insertion *insertions;
    size_t insertion_count, next_insertion;
    size_t next_inserted; /* of the caller's own */
    uint64_t event;       /* the next one */
    uint64_t end_event;
    bool has_ended;
    fl_start start; /* what was there before the first event; nothing: no segments */
    bool has_begun; /* the start state has been told, or asked for */

    fl_device *device;
    bool plays_record; /* the device has to be told which events an op may use */
    fl_record record;
    uint64_t unanswered; /* the event after the last op that was in the trace */
    fl_param_value *device_params, *policy_params;
    size_t device_param_count, policy_param_count;
    const fl_policy_ops *policy;
    struct fl_policy_state *policy_state;
    bool is_policy_open;
    fl_settings settings;
    fl_replay_events events;
    fl_oracle oracle;
    fl_sink sink;

    uint8_t *fates; /* fl_fate by dense id */
    uint32_t fate_count;
    fl_totals now, peak;
    uint64_t allocs, frees, ooms, taken;
    uint64_t peak_reserved_event, peak_allocated_event;
    bool has_oom;
    fl_oom oom;
    struct fl_change_vector changes; /* of the current op; kept only for `watch` */
    fl_error change_error;           /* there was no room to keep one */
};

static inline bool fl_replay_is_lean(const fl_replay *replay)
{
    const uint32_t needed = FL_CAN_STREAMS | FL_CAN_POOLS | FL_KEEPS_STATS;
    return replay->options.is_lean && replay->options.watch == NULL &&
           replay->options.without == 0 && replay->policy->stretch != NULL &&
           (replay->policy->capabilities & needed) == needed;
}

/* The sink that a policy writes to; counts, and keeps the changes where somebody watches. */
void fl_replay_take_change(void *user, const fl_change *change);

/* start.c: takes over what was there before the first event, or nothing; and what happens to it
 * once the replay runs, which whoever runs it calls first. */
void fl_replay_find_start(fl_replay *replay);
fl_status fl_replay_adopt(fl_replay *replay, fl_error *error);
fl_status fl_replay_begin(fl_replay *replay, fl_error *error);

/* before.c: what was asked before a range and still matters there. */
fl_status fl_replay_ask_before(fl_replay *replay, fl_error *error);

/* loop.c: asks for an op on behalf of `event`, as if it were inferred, and tells the watcher what
 * the changes kept so far add up to. */
fl_status fl_replay_ask(fl_replay *replay, fl_op *op, fl_error *error);
fl_status fl_replay_tell(fl_replay *replay, const fl_op *op, fl_error *error);

/* One event of the trace, and the ops inferred before it. */
fl_status fl_replay_event(fl_replay *replay, fl_error *error);

/* Events up to `stop` of a lean replay: what the policy can play by itself it does. */
fl_status fl_replay_lean_stretch(fl_replay *replay, uint64_t stop, fl_error *error);

/* Is an op of no account, since it was only found to explain the history, and the caller asks for
 * other settings or another limit? */
bool fl_replay_overrules(const fl_replay *replay, const fl_op *op);

/* Ops inferred before the event that comes next, or after the last. */
fl_status fl_replay_inferred(fl_replay *replay, fl_error *error);

#endif
