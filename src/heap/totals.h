/* What one change does to the four totals.  Requested and active bytes go down when a block really
 * returns to its pool, allocated bytes as soon as its owner lets go: so PyTorch counts (section 14
 * of docs/allocator-rules.md). */
#ifndef FL_HEAP_TOTALS_H
#define FL_HEAP_TOTALS_H

#include <fraglab/heap.h>
#include <fraglab/observe.h>

static inline void fl_totals_change(fl_totals *totals, const fl_change *change)
{
    switch (change->kind) {
    case FL_CHANGE_PLACE:
        totals->requested_bytes += change->requested;
        totals->allocated_bytes += change->size;
        totals->active_bytes += change->size;
        break;
    case FL_CHANGE_FREE_ASKED:
        totals->allocated_bytes -= change->size;
        break;
    case FL_CHANGE_FREE_DONE:
        totals->requested_bytes -= change->requested;
        totals->active_bytes -= change->size;
        break;
    case FL_CHANGE_ACQUIRE:
    case FL_CHANGE_MAP:
        totals->reserved_bytes += change->size;
        break;
    case FL_CHANGE_RELEASE:
    case FL_CHANGE_UNMAP:
        totals->reserved_bytes -= change->size;
        break;
    default:
        break;
    }
}

#endif
