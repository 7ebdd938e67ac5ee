/* What lies at an address of a replay's heap, and on both sides of it. */
#ifndef FL_REBUILD_LOOK_H
#define FL_REBUILD_LOOK_H

#include "replay/replay.h"

typedef struct fl_look {
    uint64_t address;
    bool found;                          /* a block begins there, or holds it */
    fl_segment_view segment;             /* of the block */
    fl_block_view before, block, behind; /* size 0: none of the same segment or run */
    bool is_wide, is_behind;             /* for the walk */
    fl_segment_view walked;
    fl_block_view last;
} fl_look;

fl_status fl_look_at(const fl_replay *replay, uint64_t address, fl_look *ret_look, fl_error *error);

/* The same of the block that holds an address. */
fl_status fl_look_around(const fl_replay *replay, uint64_t address, fl_look *ret_look,
                         fl_error *error);

/* Was something cut off from the free block from which the one that was looked at has just been
 * taken?  It lies behind it, since free neighbours are one. */
static inline bool fl_look_is_cut(const fl_look *look)
{
    return look->behind.size > 0 && look->behind.state == FL_BLOCK_FREE;
}

/* The size that this free block had. */
static inline uint64_t fl_look_size_before(const fl_look *look)
{
    return look->block.size + (fl_look_is_cut(look) ? look->behind.size : 0);
}

#endif
