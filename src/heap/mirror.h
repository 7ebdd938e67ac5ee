/* The heap as it follows from the changes alone: segments, mapped runs of expandable ones, and
 * placements; gaps are derived.
 *
 * Made to be what every view of a heap shows, so that no policy need be asked.  So far no command
 * shows one; tests check a policy that can be walked against it.  Placements and segments are found
 * by their dense numbers; a change of a placement takes constant time, one of mapped memory O(log
 * n). */
#ifndef FL_HEAP_MIRROR_H
#define FL_HEAP_MIRROR_H

#include <fraglab/heap.h>
#include <fraglab/observe.h>

#include "base/extents.h"
#include "base/vector.h"

struct fl_mirror_segment {
    uint64_t address, size; /* of an expandable one: the reserved range */
    uint64_t mapped_bytes;
    uint32_t stream, pool;
    uint32_t blocks; /* placements in it */
    bool is_small, is_expandable, is_there;
};

struct fl_mirror_block {
    uint64_t address, size, requested;
    uint32_t id, segment;
    bool is_pending;
};

FL_VECTOR(fl_mirror_segments, struct fl_mirror_segment);
FL_VECTOR(fl_mirror_blocks, struct fl_mirror_block);
FL_VECTOR(fl_mirror_places, uint32_t);

typedef struct fl_mirror {
    const fl_host *host;
    struct fl_mirror_segments segments; /* by segment number, also those given back */
    struct fl_mirror_blocks blocks;     /* live and pending, in no order */
    struct fl_mirror_places places;     /* by id: index into blocks + 1, or 0 */
    fl_extents mapped;                  /* maximal runs of a segment; owner: its number */
    fl_totals totals;
} fl_mirror;

/* An empty heap.  Free it with fl_mirror_deinit, also after a failure. */
void fl_mirror_init(fl_mirror *mirror, const fl_host *host);
void fl_mirror_deinit(fl_mirror *mirror);

/* Takes over one change.  FL_ERR_INTERNAL: it does not fit what came before (a block of that id is
 * there already, memory is mapped twice); FL_ERR_RESOURCE.  On failure the mirror is as it was. */
fl_status fl_mirror_apply(fl_mirror *mirror, const fl_change *change, fl_error *error);

/* Segments and runs by address, each followed by its blocks; gaps are free blocks that requested 0.
 * FL_ERR_INTERNAL: a block overlaps another or lies outside mapped memory; what was walked until
 * then has been told. */
fl_status fl_mirror_walk(const fl_mirror *mirror, const fl_walk *walk, fl_error *error);

/* Do blocks and gaps tile the mapped memory, and do the totals agree?  O(n log n). */
fl_status fl_mirror_check(const fl_mirror *mirror, fl_error *error);

#endif
