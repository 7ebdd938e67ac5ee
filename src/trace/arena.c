#include "trace/arena.h"

#include "base/memory.h"

#define CHUNK_SIZE ((size_t)64 * 1024)

static bool arena_reserve(const fl_host *host, struct fl_arena *arena, size_t size, fl_error *error)
{
    if (arena->count > 0) {
        const fl_arena_chunk *last = &arena->items[arena->count - 1];
        if (size <= last->size - last->used)
            return true;
    }
    if (!fl_vector_reserve(host, arena, 1, error))
        return false;
    size_t whole = size > CHUNK_SIZE ? size : CHUNK_SIZE;
    char *bytes = fl_new(host, whole, error);
    if (bytes == NULL)
        return false;
    arena->items[arena->count++] = (fl_arena_chunk){bytes, 0, whole};
    return true;
}

const char *fl_arena_copy(const fl_host *host, struct fl_arena *arena, const char *bytes,
                          size_t length, fl_error *error)
{
    if (!arena_reserve(host, arena, length + 1, error))
        return NULL;
    fl_arena_chunk *chunk = &arena->items[arena->count - 1];
    char *copy = chunk->bytes + chunk->used;
    if (length > 0)
        memcpy(copy, bytes, length);
    copy[length] = '\0';
    chunk->used += length + 1;
    return copy;
}

void fl_arena_deinit(const fl_host *host, struct fl_arena *arena)
{
    for (size_t i = 0; i < arena->count; i++)
        fl_delete(host, arena->items[i].bytes, arena->items[i].size);
    fl_vector_deinit(host, arena);
}
