/* Compression libraries free without telling sizes, so each piece carries its own in front. */
#ifndef FL_READER_CODEC_MEMORY_H
#define FL_READER_CODEC_MEMORY_H

#include "base/memory.h"

static inline void *fl_codec_alloc(const fl_host *host, size_t size)
{
    if (size > SIZE_MAX - sizeof(max_align_t))
        return NULL;
    size_t whole = size + sizeof(max_align_t);
    char *piece = host->resize(host->user, NULL, 0, whole);
    if (piece == NULL)
        return NULL;
    memcpy(piece, &whole, sizeof whole);
    return piece + sizeof(max_align_t);
}

static inline void fl_codec_free(const fl_host *host, void *address)
{
    if (address == NULL)
        return;
    char *piece = (char *)address - sizeof(max_align_t);
    size_t whole;
    memcpy(&whole, piece, sizeof whole);
    host->resize(host->user, piece, whole, 0);
}

#endif
