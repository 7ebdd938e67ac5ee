/* Growth of arrays by half, with every size checked.  The typed pointer is read and written as
 * bytes: it is no `void *`, and must not be looked at as one. */
#include "base/vector.h"

#include <string.h>

bool fl_vector_grow(const fl_host *host, void *items, size_t *capacity, size_t count, size_t extra,
                    size_t item_size, fl_error *error)
{
    size_t needed = extra > SIZE_MAX - count ? SIZE_MAX : count + extra;
    size_t wanted = *capacity + *capacity / 2 + 16;
    if (wanted < needed)
        wanted = needed;
    void *piece, *grown = NULL;
    memcpy(&piece, items, sizeof piece);
    if (wanted <= SIZE_MAX / item_size)
        grown = host->resize(host->user, piece, *capacity * item_size, wanted * item_size);
    if (grown == NULL) {
        fl_fail(error, FL_ERR_RESOURCE, "out of memory: %zu items of %zu bytes asked from the host",
                wanted, item_size);
        return false;
    }
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

void fl_vector_drop(const fl_host *host, void *items, size_t *count, size_t *capacity,
                    size_t item_size)
{
    void *piece;
    memcpy(&piece, items, sizeof piece);
    if (piece != NULL)
        host->resize(host->user, piece, *capacity * item_size, 0);
    piece = NULL;
    memcpy(items, &piece, sizeof piece);
    *count = 0;
    *capacity = 0;
}
