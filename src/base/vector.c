/* Growth of arrays by half, with every size checked. */
#include "base/vector.h"

bool fl_vector_grow(const fl_host *host, void **items, size_t *capacity, size_t count, size_t extra,
                    size_t item_size, fl_error *error)
{
    size_t wanted = *capacity + *capacity / 2 + 16;
    if (extra > SIZE_MAX - count || wanted < count + extra)
        wanted = extra > SIZE_MAX - count ? SIZE_MAX : count + extra;
    void *grown = NULL;
    if (wanted <= SIZE_MAX / item_size)
        grown = host->resize(host->user, *items, *capacity * item_size, wanted * item_size);
    if (grown == NULL) {
        fl_fail(error, FL_ERR_RESOURCE, "out of memory: %zu items of %zu bytes asked from the host",
                wanted, item_size);
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

void fl_vector_drop(const fl_host *host, void **items, size_t *count, size_t *capacity,
                    size_t item_size)
{
    if (*items != NULL)
        host->resize(host->user, *items, *capacity * item_size, 0);
    *items = NULL;
    *count = 0;
    *capacity = 0;
}
