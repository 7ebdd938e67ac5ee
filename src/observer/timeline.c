/* Memory over time: the four totals, at their most in each stretch of events. */
#include "base/memory.h"
#include "heap/totals.h"
#include "observer/spans.h"

struct row {
    fl_totals most;
    int64_t time_us; /* of its first event that has one */
    uint64_t ooms;
    bool is_seen;
};

struct fl_observer_state {
    const fl_host *host;
    fl_spans spans;
    fl_totals now;
    struct row *rows;
    size_t count, seen; /* seen: up to the last row with an event */
};

static fl_status timeline_open(struct fl_observer_state *state, const fl_observer_env *env,
                               fl_error *error)
{
    state->host = env->host;
    fl_spans_init(&state->spans, env);
    state->count = fl_spans_count(&state->spans);
    state->rows = fl_new(env->host, state->count * sizeof *state->rows, error);
    return state->rows != NULL ? FL_OK : FL_ERR_RESOURCE;
}

static inline void timeline_raise(uint64_t *most, uint64_t now)
{
    if (now > *most)
        *most = now;
}

static void timeline_note(struct row *row, const fl_totals *now)
{
    timeline_raise(&row->most.requested_bytes, now->requested_bytes);
    timeline_raise(&row->most.allocated_bytes, now->allocated_bytes);
    timeline_raise(&row->most.active_bytes, now->active_bytes);
    timeline_raise(&row->most.reserved_bytes, now->reserved_bytes);
}

static fl_status timeline_view(struct fl_observer_state *state, const fl_view *view,
                               fl_error *error)
{
    (void)error;
    size_t index = fl_spans_at(&state->spans, view->event);
    struct row *row = &state->rows[index];
    if (!row->is_seen) {
        *row = (struct row){.most = state->now, .time_us = view->time_us, .is_seen = true};
        state->seen = index + 1;
    }
    for (size_t i = 0; i < view->change_count; i++) {
        fl_totals_change(&state->now, &view->changes[i]);
        timeline_note(row, &state->now);
    }
    if (view->result->outcome != FL_DONE && view->op->kind == FL_OP_ALLOC)
        row->ooms++;
    return FL_OK;
}

static void timeline_emit(const struct fl_observer_state *state, fl_emit *emit)
{
    static const fl_emit_column columns[] = {
        {"event", "event", FL_EMIT_COUNT},
        {"time_us", "time", FL_EMIT_REAL},
        {"requested_bytes", "requested", FL_EMIT_BYTES},
        {"allocated_bytes", "allocated", FL_EMIT_BYTES},
        {"active_bytes", "active", FL_EMIT_BYTES},
        {"reserved_bytes", "reserved", FL_EMIT_BYTES},
        {"ooms", "refused", FL_EMIT_COUNT},
    };
    fl_emit_table_begin(emit, "timeline", "memory over time", columns,
                        sizeof columns / sizeof *columns);
    for (size_t i = 0; i < state->seen; i++) {
        const struct row *row = &state->rows[i];
        if (!row->is_seen)
            continue;
        const fl_emit_value cells[] = {
            fl_emit_count(fl_spans_begin(&state->spans, i)),
            row->time_us != INT64_MIN ? fl_emit_real((double)row->time_us) : fl_emit_null(),
            fl_emit_bytes(row->most.requested_bytes),
            fl_emit_bytes(row->most.allocated_bytes),
            fl_emit_bytes(row->most.active_bytes),
            fl_emit_bytes(row->most.reserved_bytes),
            fl_emit_count(row->ooms),
        };
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

static void timeline_close(struct fl_observer_state *state)
{
    if (state->rows != NULL)
        fl_delete(state->host, state->rows, state->count * sizeof *state->rows);
    state->rows = NULL;
}

const fl_observer_ops fl_observer_timeline = {
    .name = "timeline",
    .summary = "requested, allocated, active and reserved bytes over time",
    .state_size = sizeof(struct fl_observer_state),
    .open = timeline_open,
    .view = timeline_view,
    .emit = timeline_emit,
    .close = timeline_close,
};
