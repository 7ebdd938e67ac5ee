/* What belongs to each of many (pools, streams): the totals, now and at their most, and segments.
 */
#ifndef FL_OBSERVER_SHARES_H
#define FL_OBSERVER_SHARES_H

#include "base/vector.h"
#include "heap/totals.h"
#include "observer/observer.h"

typedef struct fl_share {
    fl_totals now, most;
    uint64_t placed;
} fl_share;

FL_VECTOR(fl_shares, fl_share);

/* Adds a change to a share. */
static inline void fl_share_change(fl_share *share, const fl_change *change)
{
    fl_totals *now = &share->now, *most = &share->most;
    fl_totals_change(now, change);
    if (change->kind == FL_CHANGE_PLACE) {
        share->placed++;
        if (now->allocated_bytes > most->allocated_bytes)
            most->allocated_bytes = now->allocated_bytes;
        if (now->active_bytes > most->active_bytes)
            most->active_bytes = now->active_bytes;
    } else if (now->reserved_bytes > most->reserved_bytes) {
        most->reserved_bytes = now->reserved_bytes;
    }
}

/* The share of a number, made if need be; NULL: the host has no memory. */
fl_share *fl_shares_at(struct fl_shares *shares, const fl_host *host, size_t index,
                       fl_error *error);

/* The columns that every share has, behind those that name it, and their cells. */
enum { FL_SHARE_COLUMNS = 7 };
extern const fl_emit_column fl_share_columns[FL_SHARE_COLUMNS];
void fl_share_cells(const fl_share *share, fl_emit_value *cells);

#endif
