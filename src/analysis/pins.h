/* Who pins it: for a request that found no room, the cheapest sets of live blocks whose absence
 * would make some.
 *
 * In each segment of the request's own pool and stream that is the window of neighbouring blocks
 * with the fewest live bytes that, with the free pieces in it, holds the request: an exact answer,
 * by one pass of a sliding window.  Where the split limit forbids so large a block, a window does
 * not count.  In every other segment of the default pools, and in those too small, it is all live
 * blocks: then the segment goes back to the device, and what the device has left may do. */
#ifndef FL_ANALYSIS_PINS_H
#define FL_ANALYSIS_PINS_H

#include "base/vector.h"
#include "heap/picture.h"

#include <fraglab/observe.h>

typedef struct fl_pin_set {
    size_t segment;            /* index into the picture */
    size_t first_block, count; /* of the picture's blocks: the window */
    uint64_t pinned_bytes;     /* live, to be freed */
    size_t pin_count;
    uint64_t gained_bytes; /* in one piece, or what goes back to the device */
    bool goes_back;        /* the whole segment, to the device; else it serves from the cache */
} fl_pin_set;

FL_VECTOR(fl_pin_sets, fl_pin_set);

/* The cheapest set of every segment that has one, by pinned bytes, then number of blocks, then
 * address.  `probe` is that of the request, `room` what the device has left beside what goes back.
 * On failure `sets` may hold some; the caller ends it with fl_vector_deinit either way. */
fl_status fl_pins_find(const fl_host *host, const fl_picture *picture, const fl_probe *probe,
                       struct fl_pin_sets *sets, fl_error *error);

/* Could freeing this set alone serve the request? */
bool fl_pins_suffice(const fl_pin_set *set, const fl_probe *probe, uint64_t room);

#endif
