#include "base/ordered.h"

#include "base/memory.h"

#include <assert.h>

struct fl_ordered_chunk {
    uint32_t count;
    fl_ordered_entry entries[FL_CHUNK];
};

static bool ordered_below(const fl_ordered_entry *entry, uint64_t major, uint64_t minor)
{
    return entry->major < major || (entry->major == major && entry->minor < minor);
}

/* Index of the first chunk whose last entry is not below the pair; chunk_count if there is none. */
static uint32_t ordered_find_chunk(const fl_ordered *set, uint64_t major, uint64_t minor)
{
    uint32_t low = 0, count = set->chunk_count;
    while (count > 0) {
        uint32_t half = count / 2;
        const struct fl_ordered_chunk *chunk = set->chunks[low + half];
        if (ordered_below(&chunk->entries[chunk->count - 1], major, minor)) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

static uint32_t ordered_find_entry(const struct fl_ordered_chunk *chunk, uint64_t major,
                                   uint64_t minor)
{
    const fl_ordered_entry *base = chunk->entries;
    uint32_t count = chunk->count;
    while (count > 0) {
        uint32_t half = count / 2;
        bool below = ordered_below(&base[half], major, minor);
        base = below ? base + half + 1 : base;
        count = below ? count - half - 1 : half;
    }
    return (uint32_t)(base - chunk->entries);
}

void fl_ordered_deinit(const fl_host *host, fl_ordered *set)
{
    for (uint32_t i = 0; i < set->chunk_count; i++)
        fl_delete(host, set->chunks[i], sizeof *set->chunks[i]);
    fl_delete(host, set->chunks, set->chunk_capacity * sizeof *set->chunks);
    *set = (fl_ordered){0};
}

/* A new, empty chunk at `index` of the list. */
static struct fl_ordered_chunk *ordered_add_chunk(const fl_host *host, fl_ordered *set,
                                                  uint32_t index)
{
    if (set->chunk_count == set->chunk_capacity) {
        uint32_t capacity = set->chunk_capacity > 0 ? set->chunk_capacity * 2 : 4;
        void *grown =
            host->resize(host->user, set->chunks, set->chunk_capacity * sizeof *set->chunks,
                         capacity * sizeof *set->chunks);
        if (grown == NULL)
            return NULL;
        set->chunks = grown;
        set->chunk_capacity = capacity;
    }
    struct fl_ordered_chunk *chunk = host->resize(host->user, NULL, 0, sizeof *chunk);
    if (chunk == NULL)
        return NULL;
    chunk->count = 0;
    memmove(set->chunks + index + 1, set->chunks + index,
            (set->chunk_count - index) * sizeof *set->chunks);
    set->chunks[index] = chunk;
    set->chunk_count++;
    return chunk;
}

/* Moves the upper half of a full chunk into a new one behind it. */
static bool ordered_split_chunk(const fl_host *host, fl_ordered *set, uint32_t index)
{
    struct fl_ordered_chunk *upper = ordered_add_chunk(host, set, index + 1);
    if (upper == NULL)
        return false;
    struct fl_ordered_chunk *lower = set->chunks[index];
    upper->count = FL_CHUNK / 2;
    lower->count -= upper->count;
    memcpy(upper->entries, lower->entries + lower->count, upper->count * sizeof *upper->entries);
    return true;
}

bool fl_ordered_insert(const fl_host *host, fl_ordered *set, uint64_t major, uint64_t minor,
                       uint32_t value)
{
    if (set->chunk_count == 0 && ordered_add_chunk(host, set, 0) == NULL)
        return false;
    uint32_t index = set->count > 0 ? ordered_find_chunk(set, major, minor) : 0;
    if (index == set->chunk_count)
        index--;
    struct fl_ordered_chunk *chunk = set->chunks[index];
    uint32_t position = ordered_find_entry(chunk, major, minor);
    if (chunk->count == FL_CHUNK) {
        if (!ordered_split_chunk(host, set, index))
            return false;
        if (position > chunk->count) {
            position -= chunk->count;
            chunk = set->chunks[index + 1];
        }
    }
    fl_ordered_entry *hole = &chunk->entries[position];
    memmove(hole + 1, hole, (chunk->count - position) * sizeof *hole);
    *hole = (fl_ordered_entry){major, minor, value};
    chunk->count++;
    set->count++;
    return true;
}

static void ordered_drop_chunk(const fl_host *host, fl_ordered *set, uint32_t index)
{
    fl_delete(host, set->chunks[index], sizeof *set->chunks[index]);
    set->chunk_count--;
    memmove(set->chunks + index, set->chunks + index + 1,
            (set->chunk_count - index) * sizeof *set->chunks);
}

/* Joins a chunk that has become small with its neighbour behind, where both fit into half of one.
 */
static void ordered_join_chunk(const fl_host *host, fl_ordered *set, uint32_t index)
{
    if (index + 1 >= set->chunk_count)
        return;
    struct fl_ordered_chunk *lower = set->chunks[index], *upper = set->chunks[index + 1];
    if (lower->count + upper->count > FL_CHUNK / 2)
        return;
    memcpy(lower->entries + lower->count, upper->entries, upper->count * sizeof *upper->entries);
    lower->count += upper->count;
    ordered_drop_chunk(host, set, index + 1);
}

void fl_ordered_remove(const fl_host *host, fl_ordered *set, uint64_t major, uint64_t minor)
{
    uint32_t index = ordered_find_chunk(set, major, minor);
    assert(index < set->chunk_count);
    struct fl_ordered_chunk *chunk = set->chunks[index];
    uint32_t position = ordered_find_entry(chunk, major, minor);
    fl_ordered_entry *entry = &chunk->entries[position];
    assert(entry->major == major && entry->minor == minor);
    chunk->count--;
    set->count--;
    memmove(entry, entry + 1, (chunk->count - position) * sizeof *entry);
    /* The last chunk stays even when empty: a set that hovers around one entry is common. */
    if (chunk->count == 0 && set->chunk_count > 1)
        ordered_drop_chunk(host, set, index);
    else if (chunk->count < FL_CHUNK / 4)
        ordered_join_chunk(host, set, index);
}

bool fl_ordered_seek(const fl_ordered *set, uint64_t major, uint64_t minor, fl_ordered_at *ret_at)
{
    if (set->count == 0)
        return false;
    uint32_t index = ordered_find_chunk(set, major, minor);
    if (index == set->chunk_count)
        return false;
    *ret_at = (fl_ordered_at){index, ordered_find_entry(set->chunks[index], major, minor)};
    return true;
}

bool fl_ordered_first(const fl_ordered *set, fl_ordered_at *ret_at)
{
    if (set->count == 0)
        return false;
    *ret_at = (fl_ordered_at){0, 0};
    return true;
}

bool fl_ordered_last(const fl_ordered *set, fl_ordered_at *ret_at)
{
    if (set->count == 0)
        return false;
    uint32_t chunk = set->chunk_count - 1;
    *ret_at = (fl_ordered_at){chunk, set->chunks[chunk]->count - 1};
    return true;
}

bool fl_ordered_next(const fl_ordered *set, fl_ordered_at *at)
{
    if (at->entry + 1 < set->chunks[at->chunk]->count) {
        at->entry++;
        return true;
    }
    if (at->chunk + 1 == set->chunk_count)
        return false;
    *at = (fl_ordered_at){at->chunk + 1, 0};
    return true;
}

bool fl_ordered_previous(const fl_ordered *set, fl_ordered_at *at)
{
    if (at->entry > 0) {
        at->entry--;
        return true;
    }
    if (at->chunk == 0)
        return false;
    *at = (fl_ordered_at){at->chunk - 1, set->chunks[at->chunk - 1]->count - 1};
    return true;
}

const fl_ordered_entry *fl_ordered_get(const fl_ordered *set, fl_ordered_at at)
{
    return &set->chunks[at.chunk]->entries[at.entry];
}
