/* Where the memory of a history lay, and whose it was.
 *
 * A place is one segment from its coming to its going, or pages of one stream that touched each
 * other.  All of a place belongs to one pool.  Where the file names it (an entry, from 2.12 on, or
 * the final state) the pool is known; else it has to be found out. */
#ifndef FL_REBUILD_PLACES_H
#define FL_REBUILD_PLACES_H

#include "base/vector.h"
#include "trace/trace.h"

typedef struct fl_place {
    uint64_t first_event, end_event; /* half open; what was there before comes at 0 */
    uint64_t address, end;           /* of all that was ever there */
    uint32_t stream, pool;           /* dense */
    uint32_t same; /* index of the place that this one turned out to be part of, or its
                      own; only while they are found */
    bool is_known; /* the pool: else `pool` is 0 until somebody knows better */
    bool is_expandable;
} fl_place;

FL_VECTOR(fl_place_vector, fl_place);

typedef struct fl_places {
    struct fl_place_vector items;
    uint32_t *of; /* by event: the place of an ALLOC or of a step with the device, or FL_NONE */
    uint64_t event_count;
    struct fl_u32_vector of_start; /* by run of what was there before: its place, or FL_NONE */
} fl_places;

/* Reads the places of a device's history.  The caller owns *ret_places.  FL_ERR_RESOURCE. */
fl_status fl_places_find(const fl_trace *trace, size_t device, fl_places *ret_places,
                         fl_error *error);
void fl_places_deinit(const fl_host *host, fl_places *places);

#endif
