/* Numbers for what was there before a cut window.
 *
 * Events and final blocks that no request of the window explains speak of it.  An address tells
 * such blocks apart, until the window itself places something there; the numbers ascend with the
 * addresses.  Whether all that is possible is not asked here: that costs a walk back, and only a
 * replay needs to know. */
#include "trace/build.h"

#include <stdlib.h>

typedef struct before {
    const fl_host *host;
    fl_table numbers; /* by address */
    struct fl_u64_vector addresses;
    fl_error *error;
} before;

static bool is_free(uint8_t kind)
{
    return kind == FL_OP_FREE || kind == FL_OP_FREE_DONE;
}

static bool before_meet(before *all, uint64_t address)
{
    if (fl_table_get(&all->numbers, address) != FL_TABLE_EMPTY)
        return true;
    if (!fl_vector_reserve(all->host, &all->addresses, 1, all->error))
        return false;
    all->addresses.items[all->addresses.count++] = address;
    return fl_table_set(all->host, &all->numbers, address, 0, all->error);
}

static bool before_find(before *all, const fl_trace_device *device)
{
    const fl_columns *columns = &device->columns;
    for (uint64_t i = 0; columns->address != NULL && i < columns->count; i++)
        if (columns->id[i] == FL_NONE && is_free(columns->kind[i]) &&
            !before_meet(all, columns->address[i]))
            return false;
    for (size_t i = 0; i < device->blocks.count; i++) {
        const fl_block_view *block = &device->blocks.items[i];
        if (block->state != FL_BLOCK_FREE && block->id == FL_NONE &&
            !before_meet(all, block->address))
            return false;
    }
    return true;
}

static int compare_addresses(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static fl_status before_number(before *all, fl_trace *trace, size_t device)
{
    if (all->addresses.count > 0)
        qsort(all->addresses.items, all->addresses.count, sizeof *all->addresses.items,
              compare_addresses);
    for (size_t i = 0; i < all->addresses.count; i++) {
        uint32_t id, name = trace->devices.items[device].alloc_count;
        fl_status status = fl_trace_new_id(trace, device, name, &id, all->error);
        if (status == FL_OK &&
            !fl_table_set(all->host, &all->numbers, all->addresses.items[i], id, all->error))
            status = FL_ERR_RESOURCE;
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}

static void before_mark(before *all, fl_trace_device *device)
{
    fl_columns *columns = &device->columns;
    for (uint64_t i = 0; columns->address != NULL && i < columns->count; i++) {
        uint8_t kind = columns->kind[i];
        if (columns->id[i] == FL_NONE && is_free(kind))
            columns->id[i] = kind == FL_OP_FREE_DONE
                                 ? fl_table_take(&all->numbers, columns->address[i])
                                 : fl_table_get(&all->numbers, columns->address[i]);
    }
    for (size_t i = 0; i < device->blocks.count; i++) {
        fl_block_view *block = &device->blocks.items[i];
        if (block->state != FL_BLOCK_FREE && block->id == FL_NONE)
            block->id = fl_table_get(&all->numbers, block->address);
    }
}

fl_status fl_trace_number_before(fl_trace *trace, size_t device, fl_error *error)
{
    fl_trace_device *of = &trace->devices.items[device];
    before all = {.host = trace->host, .error = error};
    of->start.first_id = of->alloc_count;
    fl_status status = before_find(&all, of) ? FL_OK : FL_ERR_RESOURCE;
    if (status == FL_OK)
        status = before_number(&all, trace, device);
    if (status == FL_OK)
        before_mark(&all, of);
    fl_table_deinit(trace->host, &all.numbers);
    fl_vector_deinit(trace->host, &all.addresses);
    return status;
}
