/* Copies of many small strings, in chunks that never move. */
#ifndef FL_TRACE_ARENA_H
#define FL_TRACE_ARENA_H

#include "base/vector.h"

typedef struct fl_arena_chunk {
    char *bytes;
    size_t used, size;
} fl_arena_chunk;

FL_VECTOR(fl_arena, fl_arena_chunk);

/* A copy with a NUL behind it, which lives as long as the arena; NULL with `error` filled where the
 * host has no memory. */
const char *fl_arena_copy(const fl_host *host, struct fl_arena *arena, const char *bytes,
                          size_t length, fl_error *error);

void fl_arena_deinit(const fl_host *host, struct fl_arena *arena);

#endif
