#include "policy/torch/hash_order.h"

#include "base/checked.h"
#include "base/memory.h"

#include <fraglab/heap.h>

enum { HASH_MOST_SLOTS = 1 << 22 };

static uint32_t hash_longest_probe(uint32_t capacity)
{
    unsigned log = fl_log2(capacity);
    return log > 4 ? log : 4;
}

static uint32_t hash_home(const struct hash_order *map, uint64_t hash)
{
    return (uint32_t)((hash * 0x9E3779B97F4A7C15u) >> (64 - fl_log2(map->capacity)));
}

void hash_order_deinit(const fl_host *host, struct hash_order *map)
{
    fl_delete(host, map->slots, map->length * sizeof *map->slots);
    *map = (struct hash_order){0};
}

static uint32_t hash_find(const struct hash_order *map, uint64_t hash, uint32_t value)
{
    if (map->capacity == 0)
        return FL_NONE;
    uint32_t slot = hash_home(map, hash);
    uint32_t end = slot + hash_longest_probe(map->capacity);
    for (; slot < end && map->slots[slot].value != FL_NONE; slot++)
        if (map->slots[slot].value == value)
            return slot;
    return FL_NONE;
}

bool hash_order_has(const struct hash_order *map, uint64_t hash, uint32_t value)
{
    return hash_find(map, hash, value) != FL_NONE;
}

/* Robin Hood insertion.  False with the entry left over in *entry where the probe got too long. */
static bool hash_place(struct hash_order *map, struct hash_slot *entry)
{
    uint32_t slot = hash_home(map, entry->hash);
    uint32_t longest = hash_longest_probe(map->capacity);
    for (entry->distance = 0; entry->distance < longest; entry->distance++, slot++) {
        struct hash_slot *here = &map->slots[slot];
        if (here->value == FL_NONE) {
            *here = *entry;
            map->count++;
            return true;
        }
        if (here->distance < entry->distance) {
            struct hash_slot displaced = *here;
            *here = *entry;
            *entry = displaced;
        }
    }
    return false;
}

static bool hash_alloc(const fl_host *host, struct hash_order *map, uint32_t capacity)
{
    if (capacity > HASH_MOST_SLOTS)
        return false;
    uint32_t length = capacity + hash_longest_probe(capacity);
    struct hash_slot *slots = fl_new(host, length * sizeof *slots, NULL);
    if (slots == NULL)
        return false;
    for (uint32_t i = 0; i < length; i++)
        slots[i].value = FL_NONE;
    *map = (struct hash_order){slots, 0, capacity, length};
    return true;
}

/* Moves everything, and `extra` at last, to a table of at least `capacity` slots. */
static bool hash_rehash(const fl_host *host, struct hash_order *map, uint32_t capacity,
                        const struct hash_slot *extra)
{
    for (;; capacity *= 2) {
        struct hash_order bigger;
        if (!hash_alloc(host, &bigger, capacity))
            return false;
        bool fits = true;
        for (uint32_t i = 0; fits && i < map->length; i++) {
            struct hash_slot entry = map->slots[i];
            if (entry.value != FL_NONE)
                fits = hash_place(&bigger, &entry);
        }
        struct hash_slot last = extra != NULL ? *extra : (struct hash_slot){0};
        if (fits && extra != NULL)
            fits = hash_place(&bigger, &last);
        if (fits) {
            hash_order_deinit(host, map);
            *map = bigger;
            return true;
        }
        hash_order_deinit(host, &bigger);
    }
}

bool hash_order_put(const fl_host *host, struct hash_order *map, uint64_t hash, uint32_t value)
{
    if ((map->count + 1) * 2 > map->capacity &&
        !hash_rehash(host, map, map->capacity > 0 ? map->capacity * 2 : 4, NULL))
        return false;
    struct hash_slot entry = {hash, value, 0};
    if (hash_place(map, &entry))
        return true;
    return hash_rehash(host, map, map->capacity * 2, &entry);
}

void hash_order_erase(struct hash_order *map, uint64_t hash, uint32_t value)
{
    uint32_t slot = hash_find(map, hash, value);
    map->count--;
    for (; slot + 1 < map->length; slot++) {
        const struct hash_slot *next = &map->slots[slot + 1];
        if (next->value == FL_NONE || next->distance == 0)
            break;
        map->slots[slot] = *next;
        map->slots[slot].distance--;
    }
    map->slots[slot].value = FL_NONE;
}

void hash_order_list(const struct hash_order *map, uint32_t *ret_values)
{
    for (uint32_t i = 0; i < map->length; i++)
        if (map->slots[i].value != FL_NONE)
            *ret_values++ = map->slots[i].value;
}
