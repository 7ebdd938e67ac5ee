/* Memory by pool: the small and the large side of each, default and private. */
#include "observer/shares.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct fl_observer_state {
    const fl_host *host;
    const fl_names *names;
    struct fl_shares shares; /* by pool; the small side, then the large one */
};

static fl_status pools_open(struct fl_observer_state *state, const fl_observer_env *env,
                            fl_error *error)
{
    (void)error;
    state->host = env->host;
    state->names = env->names;
    return FL_OK;
}

static fl_status pools_view(struct fl_observer_state *state, const fl_view *view, fl_error *error)
{
    for (size_t i = 0; i < view->change_count; i++) {
        const fl_change *change = &view->changes[i];
        size_t index = (size_t)change->pool * 2 + ((change->flags & FL_CHANGE_SMALL) == 0);
        fl_share *share = fl_shares_at(&state->shares, state->host, index, error);
        if (share == NULL)
            return FL_ERR_RESOURCE;
        fl_share_change(share, change);
    }
    return FL_OK;
}

static void pools_emit(const struct fl_observer_state *state, fl_emit *emit)
{
    fl_emit_column columns[2 + FL_SHARE_COLUMNS] = {
        {"pool", "pool", FL_EMIT_TEXT},
        {"side", "side", FL_EMIT_TEXT},
    };
    memcpy(columns + 2, fl_share_columns, sizeof fl_share_columns);
    fl_emit_table_begin(emit, "pools", "by pool", columns, 2 + FL_SHARE_COLUMNS);
    for (size_t i = 0; i < state->shares.count; i++) {
        const fl_share *share = &state->shares.items[i];
        const fl_pool_name *name = &state->names->pools[i / 2];
        char pool[48];
        if (share->most.reserved_bytes == 0 && share->placed == 0)
            continue;
        snprintf(pool, sizeof pool, "%" PRIu64 ".%" PRIu64, name->first, name->second);
        fl_emit_value cells[2 + FL_SHARE_COLUMNS] = {fl_emit_text(pool),
                                                     fl_emit_text(i % 2 == 0 ? "small" : "large")};
        fl_share_cells(share, cells + 2);
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

static void pools_close(struct fl_observer_state *state)
{
    if (state->host != NULL)
        fl_vector_deinit(state->host, &state->shares);
}

const fl_observer_ops fl_observer_pools = {
    .name = "pools",
    .summary = "memory by pool, the small and the large side of each",
    .state_size = sizeof(struct fl_observer_state),
    .open = pools_open,
    .view = pools_view,
    .emit = pools_emit,
    .close = pools_close,
};
