/* Packing a memo.  A page that is written to again stays unpacked from then on, so that no order of
 * writes costs more than the first of each page. */
#include "reader/memo.h"

#include "base/memory.h"

#include <assert.h>

#define BUCKETS (2 * MEMO_PAGE)

/* The different entries of a page, in the order in which they are met. */
struct palette {
    memo_entry colours[MEMO_PAGE];
    uint16_t count;
    uint16_t buckets[BUCKETS]; /* place in `colours` + 1, or 0 */
};

static bool entry_same(memo_entry a, memo_entry b)
{
    return a.number == b.number && a.tag == b.tag && a.word == b.word;
}

static uint16_t palette_place(struct palette *palette, memo_entry entry)
{
    uint32_t mixed = (entry.number + (uint32_t)entry.tag * 0x10001u) * 0x9E3779B1u;
    uint32_t bucket = (mixed ^ entry.word) >> 16 & (BUCKETS - 1);
    for (; palette->buckets[bucket] != 0; bucket = (bucket + 1) & (BUCKETS - 1))
        if (entry_same(palette->colours[palette->buckets[bucket] - 1], entry))
            return (uint16_t)(palette->buckets[bucket] - 1);
    palette->colours[palette->count] = entry;
    palette->buckets[bucket] = ++palette->count;
    return (uint16_t)(palette->count - 1);
}

static uint16_t place_bits(uint16_t colours)
{
    return colours <= 1 ? 0 : colours <= 2 ? 1 : colours <= 4 ? 2 : colours <= 16 ? 4 : 8;
}

#define PLACES_MOST 256 /* of 8 bits; a page of more colours lies plainly */

static size_t page_size(uint16_t colours, uint16_t bits)
{
    return colours * sizeof(memo_entry) + (size_t)MEMO_PAGE * bits / 8;
}

static bool page_is_plain(const memo_page *page)
{
    return page->colours == MEMO_PAGE;
}

static uint8_t *page_places(const memo_page *page)
{
    return (uint8_t *)(page->palette + page->colours);
}

static bool page_plain(const fl_host *host, const memo_entry *entries, memo_page *ret_page,
                       fl_error *error)
{
    memo_entry *palette = fl_new(host, page_size(MEMO_PAGE, 0), error);
    if (palette == NULL)
        return false;
    memcpy(palette, entries, page_size(MEMO_PAGE, 0));
    *ret_page = (memo_page){palette, MEMO_PAGE, 0};
    return true;
}

static bool page_pack(const fl_host *host, const memo_entry *entries, memo_page *ret_page,
                      fl_error *error)
{
    struct palette palette = {.count = 0};
    uint16_t places[MEMO_PAGE];
    for (size_t i = 0; i < MEMO_PAGE; i++)
        places[i] = palette_place(&palette, entries[i]);
    if (palette.count > PLACES_MOST)
        return page_plain(host, entries, ret_page, error);
    memo_page page = {.colours = palette.count, .bits = place_bits(palette.count)};
    page.palette = fl_new(host, page_size(page.colours, page.bits), error);
    if (page.palette == NULL)
        return false;
    memcpy(page.palette, palette.colours, palette.count * sizeof *palette.colours);
    for (size_t i = 0; i < MEMO_PAGE && page.bits > 0; i++) {
        size_t bit = i * page.bits;
        page_places(&page)[bit / 8] |= (uint8_t)(places[i] << bit % 8);
    }
    *ret_page = page;
    return true;
}

static memo_entry page_get(const memo_page *page, size_t i)
{
    if (page_is_plain(page))
        return page->palette[i];
    if (page->bits == 0)
        return page->palette[0];
    size_t bit = i * page->bits;
    return page->palette[page_places(page)[bit / 8] >> bit % 8 & ((1 << page->bits) - 1)];
}

memo_entry fl_memo_packed(const fl_memo *memo, uint64_t index)
{
    assert(index >= MEMO_HEAD && index < memo->first);
    const memo_page *page = &memo->pages.items[(index - MEMO_HEAD) / MEMO_PAGE];
    return page_get(page, index % MEMO_PAGE);
}

static void page_deinit(const fl_host *host, memo_page *page)
{
    fl_delete(host, page->palette, page_size(page->colours, page->bits));
}

static bool page_put(const fl_host *host, memo_page *page, size_t i, memo_entry entry,
                     fl_error *error)
{
    if (!page_is_plain(page)) {
        memo_entry entries[MEMO_PAGE];
        memo_page plain;
        for (size_t k = 0; k < MEMO_PAGE; k++)
            entries[k] = page_get(page, k);
        if (!page_plain(host, entries, &plain, error))
            return false;
        page_deinit(host, page);
        *page = plain;
    }
    page->palette[i] = entry;
    return true;
}

bool fl_memo_put(const fl_host *host, fl_memo *memo, uint64_t index, memo_entry entry,
                 fl_error *error)
{
    assert(index < memo->count);
    if (index >= memo->first)
        memo->open[index - memo->first] = entry;
    else if (index < MEMO_HEAD)
        memo->head.items[index] = entry;
    else
        return page_put(host, &memo->pages.items[(index - MEMO_HEAD) / MEMO_PAGE],
                        index % MEMO_PAGE, entry, error);
    return true;
}

static bool head_grow(const fl_host *host, fl_memo *memo, fl_error *error)
{
    memo->head.count = (size_t)memo->count;
    if (!fl_vector_reserve(host, &memo->head, 1, error))
        return false;
    memo->open = memo->head.items;
    memo->end = memo->head.capacity < MEMO_HEAD ? memo->head.capacity : MEMO_HEAD;
    return true;
}

/* The head is full. */
static bool tail_begin(const fl_host *host, fl_memo *memo, fl_error *error)
{
    memo->tail = fl_new(host, MEMO_TAIL * sizeof *memo->tail, error);
    if (memo->tail == NULL)
        return false;
    memo->open = memo->tail;
    memo->first = memo->count;
    memo->end = memo->first + MEMO_TAIL;
    return true;
}

static bool tail_pack(const fl_host *host, fl_memo *memo, fl_error *error)
{
    if (!fl_vector_reserve(host, &memo->pages, MEMO_TAIL / MEMO_PAGE, error))
        return false;
    for (size_t i = 0; i < MEMO_TAIL; i += MEMO_PAGE, memo->pages.count++)
        if (!page_pack(host, memo->tail + i, &memo->pages.items[memo->pages.count], error))
            return false;
    memo->first = memo->count;
    memo->end = memo->first + MEMO_TAIL;
    return true;
}

bool fl_memo_reserve(const fl_host *host, fl_memo *memo, fl_error *error)
{
    if (memo->count < memo->end)
        return true;
    if (memo->count < MEMO_HEAD)
        return head_grow(host, memo, error);
    return memo->tail == NULL ? tail_begin(host, memo, error) : tail_pack(host, memo, error);
}

void fl_memo_deinit(const fl_host *host, fl_memo *memo)
{
    for (size_t i = 0; i < memo->pages.count; i++)
        page_deinit(host, &memo->pages.items[i]);
    fl_vector_deinit(host, &memo->pages);
    fl_vector_deinit(host, &memo->head);
    fl_delete(host, memo->tail, MEMO_TAIL * sizeof *memo->tail);
    *memo = (fl_memo){0};
}
