#include "observer/shares.h"

const fl_emit_column fl_share_columns[FL_SHARE_COLUMNS] = {
    {"blocks_placed", "blocks placed", FL_EMIT_COUNT},
    {"allocated_bytes", "allocated", FL_EMIT_BYTES},
    {"peak_allocated_bytes", "at most", FL_EMIT_BYTES},
    {"active_bytes", "active", FL_EMIT_BYTES},
    {"reserved_bytes", "reserved", FL_EMIT_BYTES},
    {"peak_reserved_bytes", "at most", FL_EMIT_BYTES},
    {"free_bytes", "free", FL_EMIT_BYTES},
};

fl_share *fl_shares_at(struct fl_shares *shares, const fl_host *host, size_t index, fl_error *error)
{
    if (index >= shares->count) {
        if (!fl_vector_reserve(host, shares, index + 1 - shares->count, error))
            return NULL;
        while (shares->count <= index)
            shares->items[shares->count++] = (fl_share){0};
    }
    return &shares->items[index];
}

void fl_share_cells(const fl_share *share, fl_emit_value *cells)
{
    const fl_totals *now = &share->now;
    *cells++ = fl_emit_count(share->placed);
    *cells++ = fl_emit_bytes(now->allocated_bytes);
    *cells++ = fl_emit_bytes(share->most.allocated_bytes);
    *cells++ = fl_emit_bytes(now->active_bytes);
    *cells++ = fl_emit_bytes(now->reserved_bytes);
    *cells++ = fl_emit_bytes(share->most.reserved_bytes);
    *cells++ = fl_emit_bytes(now->reserved_bytes - now->active_bytes);
}
