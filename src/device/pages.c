#include "device/pages.h"

#include "base/checked.h"

#include <inttypes.h>

void fl_pages_deinit(fl_pages *pages)
{
    if (pages->host == NULL)
        return;
    fl_vector_deinit(pages->host, &pages->pages);
    fl_extents_deinit(pages->host, &pages->mapped);
}

uint64_t fl_pages_footprint(uint64_t size)
{
    return fl_round_up(size, FL_DEVICE_GRANULE);
}

static bool pages_is_known(const fl_pages *pages, uint64_t page)
{
    if (page == 0 || page > pages->pages.count)
        return false;
    const struct fl_page *found = &pages->pages.items[page - 1];
    return found->is_held || found->mappings > 0;
}

const struct fl_page *fl_pages_get(const fl_pages *pages, uint64_t page)
{
    return pages_is_known(pages, page) ? &pages->pages.items[page - 1] : NULL;
}

static fl_answer pages_fail(const fl_pages *pages, const char *call, uint64_t place,
                            const char *because)
{
    fl_fail(pages->error, FL_ERR_INTERNAL, "%s of 0x%" PRIx64 ": %s", call, place, because);
    return FL_ANSWER_ERROR;
}

/* A page that is neither held nor mapped stops counting, and its handle becomes free. */
static void pages_retire(fl_pages *pages, uint32_t number)
{
    struct fl_page *page = &pages->pages.items[number];
    if (page->is_held || page->mappings > 0)
        return;
    pages->used_bytes -= fl_pages_footprint(page->size);
    page->spare = pages->spare;
    pages->spare = number + 1;
}

/* A place for one more page, index + 1; 0, with the error filled, where there is none. */
static uint32_t pages_new_link(fl_pages *pages)
{
    uint32_t link = pages->spare;
    if (link != 0) {
        pages->spare = pages->pages.items[link - 1].spare;
        return link;
    }
    if (pages->pages.count == UINT32_MAX - 1) {
        fl_fail(pages->error, FL_ERR_RESOURCE, "more than %zu pages", pages->pages.count);
        return 0;
    }
    if (!fl_vector_reserve(pages->host, &pages->pages, 1, pages->error))
        return 0;
    return (uint32_t)++pages->pages.count;
}

fl_answer fl_pages_create(fl_pages *pages, uint64_t size, uint64_t *ret_page)
{
    uint64_t used;
    if (size == 0)
        return pages_fail(pages, "creating a page", 0, "0 bytes asked");
    if (!fl_add(pages->used_bytes, fl_pages_footprint(size), &used))
        return FL_ANSWER_FULL;
    uint32_t link = pages_new_link(pages);
    if (link == 0)
        return FL_ANSWER_ERROR;
    pages->pages.items[link - 1] = (struct fl_page){.size = size, .is_held = true};
    pages->used_bytes = used;
    *ret_page = link;
    return FL_ANSWER_OK;
}

fl_answer fl_pages_free(fl_pages *pages, uint64_t page)
{
    if (!pages_is_known(pages, page) || !pages->pages.items[page - 1].is_held)
        return pages_fail(pages, "freeing page", page, "it is not held");
    pages->pages.items[page - 1].is_held = false;
    pages_retire(pages, (uint32_t)page - 1);
    return FL_ANSWER_OK;
}

fl_answer fl_pages_map(fl_pages *pages, uint64_t address, uint64_t size, uint64_t page)
{
    if (!pages_is_known(pages, page) || !pages->pages.items[page - 1].is_held)
        return pages_fail(pages, "mapping", address, "the page is not held");
    struct fl_page *found = &pages->pages.items[page - 1];
    if (size != found->size)
        return pages_fail(pages, "mapping", address, "the page has another size");
    if (fl_extents_overlap(&pages->mapped, address, size))
        return pages_fail(pages, "mapping", address, "something is mapped there");
    fl_extent extent = {.address = address, .size = size, .owner = (uint32_t)page - 1};
    if (!fl_extents_insert(pages->host, &pages->mapped, extent, pages->error))
        return FL_ANSWER_ERROR;
    found->mappings++;
    found->was_mapped = true;
    return FL_ANSWER_OK;
}

/* Is [address, address + size) covered by mappings that begin and end with it? */
static bool pages_is_covered(const fl_pages *pages, uint64_t address, uint64_t size)
{
    fl_extent extent;
    while (size > 0) {
        if (!fl_extents_ceiling(&pages->mapped, address, &extent) || extent.address != address ||
            extent.size > size)
            return false;
        address += extent.size;
        size -= extent.size;
    }
    return true;
}

fl_answer fl_pages_unmap(fl_pages *pages, uint64_t address, uint64_t size)
{
    if (size == 0 || size > UINT64_MAX - address || !pages_is_covered(pages, address, size))
        return pages_fail(pages, "unmapping", address, "the range is not mapped as a whole");
    for (uint64_t at = address; at < address + size;) {
        fl_extent extent;
        fl_extents_remove(&pages->mapped, at, &extent);
        pages->pages.items[extent.owner].mappings--;
        pages_retire(pages, extent.owner);
        at += extent.size;
    }
    return FL_ANSWER_OK;
}
