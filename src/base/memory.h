/* Short names for the host's allocator. */
#ifndef FL_BASE_MEMORY_H
#define FL_BASE_MEMORY_H

#include <fraglab/base.h>

#include <string.h>

/* Zeroed memory, or NULL with `error` filled. */
static inline void *fl_new(const fl_host *host, size_t size, fl_error *error)
{
    void *piece = host->resize(host->user, NULL, 0, size > 0 ? size : 1);
    if (piece == NULL) {
        fl_fail(error, FL_ERR_RESOURCE, "out of memory: %zu bytes asked from the host", size);
        return NULL;
    }
    memset(piece, 0, size);
    return piece;
}

/* Frees what fl_new gave; `size` as then. */
static inline void fl_delete(const fl_host *host, void *piece, size_t size)
{
    if (piece != NULL)
        host->resize(host->user, piece, size > 0 ? size : 1, 0);
}

#endif
