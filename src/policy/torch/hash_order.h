/* The iteration order of the hash maps inside the released allocator (22.3).
 *
 * It decides in which order streams' events are looked at and pools are released, so it is a rule.
 * Open addressing with linear displacement: an entry further from its home slot displaces a nearer
 * one; the table starts with 4 slots, doubles when more than half full or after too long a probe,
 * and never shrinks. */
#ifndef FL_POLICY_TORCH_HASH_ORDER_H
#define FL_POLICY_TORCH_HASH_ORDER_H

#include <fraglab/base.h>

struct hash_slot {
    uint64_t hash;
    uint32_t value; /* FL_NONE: an empty slot */
    uint32_t distance;
};

struct hash_order {
    struct hash_slot *slots;
    uint32_t count, capacity, length; /* length = capacity + longest probe */
};

/* What the released hash functions make of a stream on device 0, and of a pool. */
static inline uint64_t hash_of_stream(uint64_t stream)
{
    return UINT64_C(1) << 56 | (stream & ((UINT64_C(1) << 48) - 1));
}
static inline uint64_t hash_of_pool(uint64_t first, uint64_t second)
{
    return first != 0 ? first : second;
}

void hash_order_deinit(const fl_host *host, struct hash_order *map);

/* Is the value in the map?  `hash` is always the value's own; other values may share it. */
bool hash_order_has(const struct hash_order *map, uint64_t hash, uint32_t value);

/* Adds a value that is not in the map; false if the host has no memory or too many hashes agree. */
bool hash_order_put(const fl_host *host, struct hash_order *map, uint64_t hash, uint32_t value);

/* Takes out a value that is in the map. */
void hash_order_erase(struct hash_order *map, uint64_t hash, uint32_t value);

/* Values in order of iteration, into `ret_values` which has room for `map->count`. */
void hash_order_list(const struct hash_order *map, uint32_t *ret_values);

#endif
