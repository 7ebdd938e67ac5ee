/* Finding equal items by number, for trace/build.c and readers.
 *
 * A table maps hashes to numbers.  Two items with one hash take neighbouring keys; a file that is
 * made to collide more often than FL_INTERN_TRIES loses sharing, not correctness or time. */
#ifndef FL_TRACE_INTERN_H
#define FL_TRACE_INTERN_H

#include "base/table.h"

#include <string.h>

#define FL_INTERN_TRIES 8

/* Is the item with this number equal to `item`? */
typedef bool fl_same(const void *owner, uint32_t number, const void *item);

typedef struct fl_interned {
    uint32_t number; /* FL_TABLE_EMPTY: not there yet */
    uint64_t key;    /* then: where to set its number, if it has_key */
    bool has_key;
} fl_interned;

static inline fl_interned fl_intern_find(const fl_table *table, uint64_t hash, fl_same *same,
                                         const void *owner, const void *item)
{
    for (uint64_t i = 0; i < FL_INTERN_TRIES; i++) {
        uint32_t number = fl_table_get(table, hash + i);
        if (number == FL_TABLE_EMPTY)
            return (fl_interned){FL_TABLE_EMPTY, hash + i, true};
        if (same(owner, number, item))
            return (fl_interned){number, 0, false};
    }
    return (fl_interned){FL_TABLE_EMPTY, 0, false};
}

static inline uint64_t fl_hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ (hash >> 32);
}

static inline uint64_t fl_hash_bytes(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t hash = length;
    for (; length >= 8; length -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        hash = fl_hash_word(hash, word);
    }
    uint64_t rest = 0;
    for (size_t i = 0; i < length; i++)
        rest |= (uint64_t)at[i] << (8 * i);
    return fl_hash_word(hash, rest);
}

#endif
