/* Blocks by ascending address, each pulled in front of those that it is known to be older than:
 * a block comes once all that are older have come. */
#include "rebuild/births.h"

#include "base/memory.h"

#include <stdlib.h>

struct elder { /* by their indices in the list */
    uint32_t younger, older;
};

FL_VECTOR(birth_elders, struct elder);

struct births {
    const fl_host *host;
    struct fl_u64_vector all;   /* by address */
    struct birth_elders elders; /* by the younger */
    struct fl_u64_vector *out;
    uint8_t *has_come; /* by index; 1: it waits for older ones */
    struct fl_u32_vector waiting;
};

static int numbers_ascend(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

static int elders_by_younger(const void *a, const void *b)
{
    const struct elder *left = a, *right = b;
    if (left->younger != right->younger)
        return left->younger < right->younger ? -1 : 1;
    return left->older < right->older ? -1 : left->older > right->older;
}

static bool births_add(struct births *births, uint64_t address, fl_error *error)
{
    if (!fl_vector_reserve(births->host, &births->all, 1, error))
        return false;
    births->all.items[births->all.count++] = address;
    return true;
}

/* Each block, and what may be unmapped behind a run or in front of the first. */
static fl_status list_all(struct births *births, const fl_trace_start *start, fl_error *error)
{
    for (size_t i = 0; i < start->blocks.count; i++)
        if (!births_add(births, start->blocks.items[i].address, error))
            return FL_ERR_RESOURCE;
    for (size_t i = 0; i < start->segments.count; i++) {
        const fl_segment_view *run = &start->segments.items[i];
        uint64_t base = start->ranges.items[run->segment].address;
        if (run->is_expandable && (!births_add(births, run->address + run->size, error) ||
                                   !births_add(births, base, error)))
            return FL_ERR_RESOURCE;
    }
    if (births->all.count > 0)
        qsort(births->all.items, births->all.count, sizeof *births->all.items, numbers_ascend);
    size_t kept = 0;
    for (size_t i = 0; i < births->all.count; i++)
        if (i == 0 || births->all.items[i] != births->all.items[kept - 1])
            births->all.items[kept++] = births->all.items[i];
    births->all.count = kept;
    return FL_OK;
}

static uint32_t index_of(const struct births *births, uint64_t address)
{
    if (births->all.count == 0)
        return FL_NONE;
    const uint64_t *found =
        bsearch(&address, births->all.items, births->all.count, sizeof address, numbers_ascend);
    return found != NULL ? (uint32_t)(found - births->all.items) : FL_NONE;
}

static fl_status list_elders(struct births *births, const struct fl_u64_vector *ages,
                             fl_error *error)
{
    struct birth_elders *elders = &births->elders;
    if (!fl_vector_reserve(births->host, elders, ages->count / 2, error))
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i + 1 < ages->count; i += 2) {
        uint32_t older = index_of(births, ages->items[i]);
        uint32_t younger = index_of(births, ages->items[i + 1]);
        if (older != FL_NONE && younger != FL_NONE)
            elders->items[elders->count++] = (struct elder){younger, older};
    }
    if (elders->count > 0)
        qsort(elders->items, elders->count, sizeof *elders->items, elders_by_younger);
    return FL_OK;
}

/* The first of the elders of a block, or of a later one. */
static size_t first_elder(const struct birth_elders *elders, uint32_t younger)
{
    size_t low = 0, high = elders->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (elders->items[middle].younger < younger)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An elder that has not come and does not wait itself, which would be a circle; FL_NONE: none. */
static uint32_t next_elder(const struct births *births, uint32_t younger)
{
    const struct birth_elders *elders = &births->elders;
    for (size_t i = first_elder(elders, younger);
         i < elders->count && elders->items[i].younger == younger; i++)
        if (births->has_come[elders->items[i].older] == 0)
            return elders->items[i].older;
    return FL_NONE;
}

static fl_status come(struct births *births, uint32_t index, fl_error *error)
{
    struct fl_u32_vector *waiting = &births->waiting;
    waiting->items[waiting->count++] = index;
    births->has_come[index] = 1;
    while (waiting->count > 0) {
        uint32_t last = waiting->items[waiting->count - 1];
        uint32_t elder = next_elder(births, last);
        if (elder == FL_NONE) {
            births->out->items[births->out->count++] = births->all.items[last];
            waiting->count--;
            continue;
        }
        if (!fl_vector_reserve(births->host, waiting, 1, error))
            return FL_ERR_RESOURCE;
        births->has_come[elder] = 1;
        waiting->items[waiting->count++] = elder;
    }
    return FL_OK;
}

static fl_status put_in_order(struct births *births, fl_error *error)
{
    size_t count = births->all.count;
    births->out->count = 0;
    births->has_come = fl_new(births->host, count, error);
    if (births->has_come == NULL || !fl_vector_reserve(births->host, births->out, count, error) ||
        !fl_vector_reserve(births->host, &births->waiting, 1, error))
        return FL_ERR_RESOURCE;
    fl_status status = FL_OK;
    for (uint32_t i = 0; i < count && status == FL_OK; i++)
        if (births->has_come[i] == 0)
            status = come(births, i, error);
    return status;
}

fl_status fl_births_place(const fl_host *host, fl_trace_start *start, fl_error *error)
{
    struct births births = {.host = host, .out = &start->births};
    fl_status status = list_all(&births, start, error);
    if (status == FL_OK)
        status = list_elders(&births, &start->ages, error);
    if (status == FL_OK)
        status = put_in_order(&births, error);
    fl_delete(host, births.has_come, births.all.count);
    fl_vector_deinit(host, &births.all);
    fl_vector_deinit(host, &births.elders);
    fl_vector_deinit(host, &births.waiting);
    return status;
}
