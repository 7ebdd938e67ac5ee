/* Physical pages behind handles, and the addresses at which they are mapped: the books that every
 * device without hardware keeps. */
#ifndef FL_DEVICE_PAGES_H
#define FL_DEVICE_PAGES_H

#include <fraglab/device.h>

#include "base/extents.h"
#include "base/units.h"

/* Memory is handed out, and counts, in multiples of this: the granularity of the driver. */
#define FL_DEVICE_GRANULE (2 * FL_MIB)

struct fl_page {
    uint64_t size;     /* as asked for */
    uint32_t mappings; /* addresses at which it is mapped now */
    uint32_t spare;    /* next unused page, index + 1; 0: none */
    bool is_held;      /* created and not yet freed */
    bool was_mapped;
};

FL_VECTOR(fl_page_vector, struct fl_page);

/* Zeroed memory holds no pages. */
typedef struct fl_pages {
    const fl_host *host;
    fl_error *error; /* says what FL_ANSWER_ERROR means */
    struct fl_page_vector pages;
    uint32_t spare;
    fl_extents mapped; /* owner: page number */
    uint64_t used_bytes;
} fl_pages;

void fl_pages_deinit(fl_pages *pages);

/* `size` in whole granules; UINT64_MAX where that does not fit. */
uint64_t fl_pages_footprint(uint64_t size);

/* The calls of fl_device_ops.  `create` asks nothing about capacity.  Mapping checks that the page
 * is held and as large, and that no other mapping is in the way; unmapping, that the range begins
 * and ends with a mapping and has no hole. */
fl_answer fl_pages_create(fl_pages *pages, uint64_t size, uint64_t *ret_page);
fl_answer fl_pages_free(fl_pages *pages, uint64_t page);
fl_answer fl_pages_map(fl_pages *pages, uint64_t address, uint64_t size, uint64_t page);
fl_answer fl_pages_unmap(fl_pages *pages, uint64_t address, uint64_t size);

/* The page behind a handle, or NULL. */
const struct fl_page *fl_pages_get(const fl_pages *pages, uint64_t page);

#endif
