#include "cli/memory.h"

#include <string.h>

static size_t bytes_of(size_t count, size_t item_size)
{
    return (count > 0 ? count : 1) * item_size;
}

void *fl_cli_new(const fl_host *host, size_t count, size_t item_size, fl_error *error)
{
    size_t size = bytes_of(count, item_size);
    void *items = size / item_size < count ? NULL : host->resize(host->user, NULL, 0, size);
    if (items == NULL) {
        fl_fail(error, FL_ERR_RESOURCE, "out of memory: %zu times %zu bytes asked from the host",
                count, item_size);
        return NULL;
    }
    memset(items, 0, size);
    return items;
}

void fl_cli_delete(const fl_host *host, void *items, size_t count, size_t item_size)
{
    if (items != NULL)
        host->resize(host->user, items, bytes_of(count, item_size), 0);
}
