/* Growable arrays: a typed struct over one untyped growth routine.
 *
 *     FL_VECTOR(block_vector, struct block);
 *     struct block_vector blocks = {0};
 *     if (!fl_vector_reserve(host, &blocks, 1, error)) return FL_ERR_RESOURCE;
 *     blocks.items[blocks.count++] = block;
 */
#ifndef FL_BASE_VECTOR_H
#define FL_BASE_VECTOR_H

#include <fraglab/base.h>

#define FL_VECTOR(name, type)                                                                      \
    struct name {                                                                                  \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }

/* Room for `extra` more items; false, with `error` filled and the vector as it was, on failure. */
#define fl_vector_reserve(host, vector, extra, error)                                              \
    ((extra) <= (vector)->capacity - (vector)->count                                               \
         ? true                                                                                    \
         : fl_vector_grow(host, &(vector)->items, &(vector)->capacity, (vector)->count, extra,     \
                          sizeof *(vector)->items, error))

/* Gives the memory back; the vector is empty and usable again. */
#define fl_vector_deinit(host, vector)                                                             \
    fl_vector_drop(host, &(vector)->items, &(vector)->count, &(vector)->capacity,                  \
                   sizeof *(vector)->items)

/* What the macros call; `items` points to the typed pointer. */
bool fl_vector_grow(const fl_host *host, void *items, size_t *capacity, size_t count, size_t extra,
                    size_t item_size, fl_error *error);
void fl_vector_drop(const fl_host *host, void *items, size_t *count, size_t *capacity,
                    size_t item_size);

#endif
