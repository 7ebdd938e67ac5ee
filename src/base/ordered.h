/* An ordered set of (major, minor) pairs, each with a 32-bit value.
 *
 * Entries lie in sorted chunks of up to FL_CHUNK entries under one sorted list of chunks, so that
 * lookups are two short binary searches, inserts move a few cache lines, and nothing is ever
 * rebalanced across the whole set.  Positions stay valid until the set changes. */
#ifndef FL_BASE_ORDERED_H
#define FL_BASE_ORDERED_H

#include <fraglab/base.h>

#define FL_CHUNK 32

typedef struct fl_ordered_entry {
    uint64_t major, minor;
    uint32_t value;
} fl_ordered_entry;

struct fl_ordered_chunk;

typedef struct fl_ordered {
    struct fl_ordered_chunk **chunks; /* none of them empty */
    uint32_t chunk_count, chunk_capacity;
    uint32_t count;
} fl_ordered;

typedef struct fl_ordered_at {
    uint32_t chunk, entry;
} fl_ordered_at;

void fl_ordered_deinit(const fl_host *host, fl_ordered *set);

/* Adds a pair that is not in the set.  False, with the set as it was, if the host has no memory. */
bool fl_ordered_insert(const fl_host *host, fl_ordered *set, uint64_t major, uint64_t minor,
                       uint32_t value);

/* Takes out a pair that is in the set. */
void fl_ordered_remove(const fl_host *host, fl_ordered *set, uint64_t major, uint64_t minor);

/* The first entry that is not below (major, minor); false where there is none. */
bool fl_ordered_seek(const fl_ordered *set, uint64_t major, uint64_t minor, fl_ordered_at *ret_at);

/* The first and last entry; false where the set is empty. */
bool fl_ordered_first(const fl_ordered *set, fl_ordered_at *ret_at);
bool fl_ordered_last(const fl_ordered *set, fl_ordered_at *ret_at);

/* Steps to a neighbour; false, with `at` as it was, at the end. */
bool fl_ordered_next(const fl_ordered *set, fl_ordered_at *at);
bool fl_ordered_previous(const fl_ordered *set, fl_ordered_at *at);

const fl_ordered_entry *fl_ordered_get(const fl_ordered *set, fl_ordered_at at);

#endif
