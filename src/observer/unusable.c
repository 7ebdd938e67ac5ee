/* Free bytes that do not serve, by cause, and the largest piece that would, over time.
 *
 * Free is free for a request.  Each stretch of events has one that stands for it, the largest of
 * it, and of those that were refused before others; and the policy is asked, right after it, what
 * one more like it would meet.  So it costs a few questions a stretch, however many events there
 * are. */
#include "base/memory.h"
#include "observer/spans.h"

struct row {
    uint64_t event, asked;
    fl_probe probe;
    bool is_refused;
};

struct fl_observer_state {
    const fl_host *host;
    fl_spans spans;
    struct row *rows;
    size_t count;
};

static fl_status unusable_open(struct fl_observer_state *state, const fl_observer_env *env,
                               fl_error *error)
{
    state->host = env->host;
    fl_spans_init(&state->spans, env);
    state->count = fl_spans_count(&state->spans);
    state->rows = fl_new(env->host, state->count * sizeof *state->rows, error);
    return state->rows != NULL ? FL_OK : FL_ERR_RESOURCE;
}

/* Does a request tell more than the one that stands for its stretch? */
static bool unusable_tells_more(const struct row *row, uint64_t asked, bool is_refused)
{
    return is_refused != row->is_refused ? is_refused : asked > row->asked;
}

static fl_status unusable_view(struct fl_observer_state *state, const fl_view *view,
                               fl_error *error)
{
    if (view->op->kind != FL_OP_ALLOC || view->probe == NULL)
        return FL_OK;
    struct row *row = &state->rows[fl_spans_at(&state->spans, view->event)];
    bool is_refused = view->result->outcome != FL_DONE;
    if (!unusable_tells_more(row, view->op->size, is_refused))
        return FL_OK;
    row->is_refused = is_refused;
    row->event = view->event;
    row->asked = view->op->size;
    return view->probe(view->prober, view->op, &row->probe, error);
}

static void unusable_emit(const struct fl_observer_state *state, fl_emit *emit)
{
    static const fl_emit_column columns[] = {
        {"event", "event", FL_EMIT_COUNT},
        {"asked_bytes", "asked", FL_EMIT_BYTES},
        {"refused", "refused", FL_EMIT_BOOL},
        {"usable_bytes", "usable", FL_EMIT_BYTES},
        {"largest_usable_bytes", "largest piece", FL_EMIT_BYTES},
        {"pool_bytes", "other pool", FL_EMIT_BYTES},
        {"stream_bytes", "other stream", FL_EMIT_BYTES},
        {"pending_bytes", "pending", FL_EMIT_BYTES},
        {"pinned_bytes", "pinned", FL_EMIT_BYTES},
        {"split_limit_bytes", "split limit", FL_EMIT_BYTES},
        {"device_bytes", "left on the card", FL_EMIT_BYTES},
    };
    fl_emit_table_begin(emit, "unusable", "free, but of no use", columns,
                        sizeof columns / sizeof *columns);
    for (size_t i = 0; i < state->count; i++) {
        const struct row *row = &state->rows[i];
        const uint64_t *unusable = row->probe.unusable_bytes;
        if (row->asked == 0)
            continue;
        const fl_emit_value cells[] = {
            fl_emit_count(row->event),
            fl_emit_bytes(row->asked),
            fl_emit_bool(row->is_refused),
            fl_emit_bytes(row->probe.usable_bytes),
            fl_emit_bytes(row->probe.largest_usable_bytes),
            fl_emit_bytes(unusable[FL_UNUSABLE_POOL]),
            fl_emit_bytes(unusable[FL_UNUSABLE_STREAM]),
            fl_emit_bytes(unusable[FL_UNUSABLE_PENDING]),
            fl_emit_bytes(unusable[FL_UNUSABLE_PINNED]),
            fl_emit_bytes(unusable[FL_UNUSABLE_SPLIT]),
            fl_emit_bytes(unusable[FL_UNUSABLE_DEVICE]),
        };
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

static void unusable_close(struct fl_observer_state *state)
{
    if (state->rows != NULL)
        fl_delete(state->host, state->rows, state->count * sizeof *state->rows);
    state->rows = NULL;
}

const fl_observer_ops fl_observer_unusable = {
    .name = "unusable",
    .summary = "free bytes that do not serve, by cause, and the largest piece that would",
    .state_size = sizeof(struct fl_observer_state),
    .open = unusable_open,
    .view = unusable_view,
    .emit = unusable_emit,
    .close = unusable_close,
};
