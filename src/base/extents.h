/* Address ranges that do not overlap, kept in order of address: segments of a device, mapped pages,
 * mapped runs.
 *
 * A height-balanced tree over array indices; every node knows the free gap in front of it and the
 * widest such gap below it, so that the lowest gap that holds a size is found on one way down.
 * Every call takes O(log n), whatever the addresses: they may come from a hostile file. */
#ifndef FL_BASE_EXTENTS_H
#define FL_BASE_EXTENTS_H

#include <fraglab/base.h>

#include "base/vector.h"

/* [address, address + size), size > 0, not beyond UINT64_MAX.  `owner` is the user's. */
typedef struct fl_extent {
    uint64_t address, size;
    uint32_t owner;
} fl_extent;

struct fl_extent_node {
    fl_extent extent;
    uint64_t gap;    /* free bytes between the end of the previous extent and this one */
    uint64_t widest; /* largest gap in this subtree */
    uint32_t left, right;
    uint32_t height;
};

FL_VECTOR(fl_extent_nodes, struct fl_extent_node);

/* Zeroed memory is an empty set that begins at address 0; `start` may be raised while it is
 * empty, and lowered to where the extent begins that is inserted next. */
typedef struct fl_extents {
    struct fl_extent_nodes nodes;
    uint32_t root, spare; /* index + 1; 0: none */
    uint64_t start;       /* no extent begins below, and gaps are counted from here */
    size_t count;
} fl_extents;

void fl_extents_deinit(const fl_host *host, fl_extents *set);

/* Adds an extent, which must overlap no other; false, with `error` filled and the set as it was,
 * where the host has no memory. */
bool fl_extents_insert(const fl_host *host, fl_extents *set, fl_extent extent, fl_error *error);

/* Takes out the extent that begins at `address`; false where there is none.  `ret_extent` may be
 * NULL. */
bool fl_extents_remove(fl_extents *set, uint64_t address, fl_extent *ret_extent);

/* Takes [address, address + size), size > 0, out of all extents that reach into it; *ret_taken: how
 * many bytes of it were there.  False, with `error` filled, where the host has no memory; then more
 * may be gone. */
bool fl_extents_take(const fl_host *host, fl_extents *set, uint64_t address, uint64_t size,
                     uint64_t *ret_taken, fl_error *error);

/* Gives the extent that begins at `address` another size > 0, with which it overlaps no other. */
void fl_extents_resize(fl_extents *set, uint64_t address, uint64_t size);

/* The last extent that begins at or below `address`, or the first at or above; false: none. */
bool fl_extents_floor(const fl_extents *set, uint64_t address, fl_extent *ret_extent);
bool fl_extents_ceiling(const fl_extents *set, uint64_t address, fl_extent *ret_extent);

/* Does any extent share a byte with [address, address + size)?  True where the sum does not fit. */
bool fl_extents_overlap(const fl_extents *set, uint64_t address, uint64_t size);

/* Does [address, address + size) lie within one extent? */
bool fl_extents_hold(const fl_extents *set, uint64_t address, uint64_t size);

/* The lowest address from `start` on with `size` free bytes behind it.  Behind the last extent
 * everything counts as free: the caller checks the end. */
uint64_t fl_extents_lowest_fit(const fl_extents *set, uint64_t size);

#endif
