/* Memory by stream. */
#include "observer/shares.h"

#include <string.h>

struct fl_observer_state {
    const fl_host *host;
    const fl_names *names;
    struct fl_shares shares; /* by stream */
};

static fl_status streams_open(struct fl_observer_state *state, const fl_observer_env *env,
                              fl_error *error)
{
    (void)error;
    state->host = env->host;
    state->names = env->names;
    return FL_OK;
}

static fl_status streams_view(struct fl_observer_state *state, const fl_view *view, fl_error *error)
{
    for (size_t i = 0; i < view->change_count; i++) {
        const fl_change *change = &view->changes[i];
        fl_share *share = fl_shares_at(&state->shares, state->host, change->stream, error);
        if (share == NULL)
            return FL_ERR_RESOURCE;
        fl_share_change(share, change);
    }
    return FL_OK;
}

static void streams_emit(const struct fl_observer_state *state, fl_emit *emit)
{
    fl_emit_column columns[1 + FL_SHARE_COLUMNS] = {{"stream", "stream", FL_EMIT_ADDRESS}};
    memcpy(columns + 1, fl_share_columns, sizeof fl_share_columns);
    fl_emit_table_begin(emit, "streams", "by stream", columns, 1 + FL_SHARE_COLUMNS);
    for (size_t i = 0; i < state->shares.count; i++) {
        const fl_share *share = &state->shares.items[i];
        if (share->most.reserved_bytes == 0 && share->placed == 0)
            continue;
        fl_emit_value cells[1 + FL_SHARE_COLUMNS] = {fl_emit_address(state->names->streams[i])};
        fl_share_cells(share, cells + 1);
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

static void streams_close(struct fl_observer_state *state)
{
    if (state->host != NULL)
        fl_vector_deinit(state->host, &state->shares);
}

const fl_observer_ops fl_observer_streams = {
    .name = "streams",
    .summary = "memory by stream",
    .state_size = sizeof(struct fl_observer_state),
    .open = streams_open,
    .view = streams_view,
    .emit = streams_emit,
    .close = streams_close,
};
