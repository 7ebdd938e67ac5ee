/* The walk goes from the last item to the first: what comes late in a trace often matters only for
 * what came before it, so taking it away first leaves less to try. */
#include "analysis/delta.h"

#include "base/memory.h"

#include <assert.h>

typedef struct delta {
    bool *is_kept;
    uint32_t *items; /* those that are kept, ascending */
    size_t count;
    fl_delta_test test;
    void *user;
    fl_error *error;
} delta;

static void stretch_set(delta *d, size_t begin, size_t end, bool is_kept)
{
    for (size_t i = begin; i < end; i++)
        d->is_kept[d->items[i]] = is_kept;
}

/* Takes items [begin, end) of the list away, unless they are needed. */
static fl_status stretch_try(delta *d, size_t begin, size_t end, bool *ret_taken)
{
    *ret_taken = false;
    stretch_set(d, begin, end, false);
    fl_status status = d->test(d->user, d->is_kept, ret_taken, d->error);
    if (status != FL_OK || !*ret_taken) {
        stretch_set(d, begin, end, true);
        return status;
    }
    memmove(d->items + begin, d->items + end, (d->count - end) * sizeof *d->items);
    d->count -= end - begin;
    return FL_OK;
}

/* Tries every stretch of that length once. */
static fl_status delta_pass(delta *d, size_t length, bool *ret_any)
{
    *ret_any = false;
    for (size_t end = d->count; end > 0;) {
        size_t begin = end > length ? end - length : 0;
        bool is_taken;
        fl_status status = stretch_try(d, begin, end, &is_taken);
        if (status != FL_OK)
            return status;
        *ret_any |= is_taken;
        end = begin;
    }
    return FL_OK;
}

static fl_status delta_search(delta *d)
{
    fl_status status = FL_OK;
    bool is_any;
    for (size_t length = d->count; length > 1 && status == FL_OK; length = (length + 1) / 2) {
        if (length > d->count)
            length = d->count;
        status = delta_pass(d, length, &is_any);
    }
    do {
        if (status != FL_OK)
            return status;
        status = delta_pass(d, 1, &is_any);
    } while (is_any);
    return status;
}

fl_status fl_delta_run(const fl_host *host, bool *is_kept, size_t count, fl_delta_test test,
                       void *user, fl_error *error)
{
    assert(count < UINT32_MAX);
    delta d = {.is_kept = is_kept, .test = test, .user = user, .error = error};
    d.items = fl_new(host, count * sizeof *d.items, error);
    if (d.items == NULL)
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < count; i++) {
        if (is_kept[i])
            d.items[d.count++] = (uint32_t)i;
    }
    fl_status status = delta_search(&d);
    fl_delete(host, d.items, count * sizeof *d.items);
    return status;
}
