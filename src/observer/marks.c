/* Marks: where phases, steps and whatever else a program names begin, and where the next of the
 * same kind does. */
#include "base/vector.h"
#include "observer/observer.h"

#include <string.h>

typedef enum mark_kind { MARK_PHASE, MARK_STEP, MARK_OTHER, MARK_KIND_COUNT } mark_kind;

struct mark {
    uint64_t event, end_event;
    uint32_t text;
    mark_kind kind;
};

FL_VECTOR(marks, struct mark);

struct fl_observer_state {
    const fl_host *host;
    const fl_names *names;
    uint64_t end_event;
    struct marks marks;
    size_t last[MARK_KIND_COUNT]; /* index + 1 of the last of its kind */
};

static fl_status marks_open(struct fl_observer_state *state, const fl_observer_env *env,
                            fl_error *error)
{
    (void)error;
    state->host = env->host;
    state->names = env->names;
    state->end_event = env->end_event;
    return FL_OK;
}

static mark_kind marks_kind(const char *text)
{
    if (strncmp(text, "phase:", 6) == 0)
        return MARK_PHASE;
    return strncmp(text, "step:", 5) == 0 ? MARK_STEP : MARK_OTHER;
}

static fl_status marks_view(struct fl_observer_state *state, const fl_view *view, fl_error *error)
{
    if (view->op->kind != FL_OP_MARK)
        return FL_OK;
    if (!fl_vector_reserve(state->host, &state->marks, 1, error))
        return FL_ERR_RESOURCE;
    mark_kind kind = marks_kind(state->names->texts[view->op->text]);
    if (state->last[kind] > 0)
        state->marks.items[state->last[kind] - 1].end_event = view->event;
    state->marks.items[state->marks.count++] =
        (struct mark){view->event, state->end_event, view->op->text, kind};
    state->last[kind] = state->marks.count;
    return FL_OK;
}

static void marks_emit(const struct fl_observer_state *state, fl_emit *emit)
{
    static const char *const kinds[MARK_KIND_COUNT] = {"phase", "step", "mark"};
    static const fl_emit_column columns[] = {
        {"event", "event", FL_EMIT_COUNT},
        {"end_event", "until", FL_EMIT_COUNT},
        {"kind", "kind", FL_EMIT_TEXT},
        {"text", "mark", FL_EMIT_TEXT},
    };
    fl_emit_table_begin(emit, "marks", "marks", columns, 4);
    for (size_t i = 0; i < state->marks.count; i++) {
        const struct mark *mark = &state->marks.items[i];
        const fl_emit_value cells[] = {
            fl_emit_count(mark->event),
            fl_emit_count(mark->end_event),
            fl_emit_text(kinds[mark->kind]),
            fl_emit_text(state->names->texts[mark->text]),
        };
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

static void marks_close(struct fl_observer_state *state)
{
    if (state->host != NULL)
        fl_vector_deinit(state->host, &state->marks);
}

const fl_observer_ops fl_observer_marks = {
    .name = "marks",
    .summary = "where phases and steps of the program begin",
    .state_size = sizeof(struct fl_observer_state),
    .open = marks_open,
    .view = marks_view,
    .emit = marks_emit,
    .close = marks_close,
};
