#include "analysis/pins.h"

#include <stdlib.h>

/* A window of blocks [first, end) and what is in it. */
struct window {
    size_t first, end, pins;
    uint64_t bytes, pinned;
};

static void window_take(struct window *window, const fl_block_view *block)
{
    window->bytes += block->size;
    window->end++;
    if (block->state == FL_BLOCK_LIVE) {
        window->pinned += block->size;
        window->pins++;
    }
}

static void window_drop(struct window *window, const fl_block_view *block)
{
    window->bytes -= block->size;
    window->first++;
    if (block->state == FL_BLOCK_LIVE) {
        window->pinned -= block->size;
        window->pins--;
    }
}

static bool pins_is_free(const fl_picture *picture, size_t block)
{
    return picture->blocks.items[block].state == FL_BLOCK_FREE;
}

/* The piece that freeing a window leaves: with the free blocks at its ends. */
static uint64_t pins_piece(const fl_picture *picture, const struct fl_picture_segment *segment,
                           const struct window *window)
{
    uint64_t bytes = window->bytes;
    size_t end = segment->first_block + segment->block_count;
    if (window->first > segment->first_block && pins_is_free(picture, window->first - 1))
        bytes += picture->blocks.items[window->first - 1].size;
    if (window->end < end && pins_is_free(picture, window->end))
        bytes += picture->blocks.items[window->end].size;
    return bytes;
}

static bool pins_is_cheaper(const fl_pin_set *a, const fl_pin_set *b)
{
    if (a->pinned_bytes != b->pinned_bytes)
        return a->pinned_bytes < b->pinned_bytes;
    return a->pin_count < b->pin_count;
}

static void pins_consider(const fl_picture *picture, const struct fl_picture_segment *segment,
                          const struct window *window, uint64_t most, fl_pin_set *best)
{
    fl_pin_set set = {
        .segment = best->segment,
        .first_block = window->first,
        .count = window->end - window->first,
        .pinned_bytes = window->pinned,
        .pin_count = window->pins,
        .gained_bytes = pins_piece(picture, segment, window),
    };
    if (set.gained_bytes < most && set.pin_count > 0 &&
        (best->pin_count == 0 || pins_is_cheaper(&set, best)))
        *best = set;
}

/* For each last block the shortest window that holds the request; `best` has no pins where there
 * is none.  What is freed but pending cannot be freed again: no window reaches over it. */
static void pins_slide(const fl_picture *picture, const struct fl_picture_segment *segment,
                       const fl_probe *probe, fl_pin_set *best)
{
    struct window window = {.first = segment->first_block, .end = segment->first_block};
    size_t end = segment->first_block + segment->block_count;
    while (window.end < end) {
        const fl_block_view *block = &picture->blocks.items[window.end];
        if (block->state == FL_BLOCK_PENDING) {
            window = (struct window){.first = window.end + 1, .end = window.end + 1};
            continue;
        }
        window_take(&window, block);
        while (window.bytes - picture->blocks.items[window.first].size >= probe->rounded_bytes)
            window_drop(&window, &picture->blocks.items[window.first]);
        if (window.bytes >= probe->rounded_bytes)
            pins_consider(picture, segment, &window, probe->most_bytes, best);
    }
}

static void pins_take_all(const fl_picture *picture, const struct fl_picture_segment *segment,
                          fl_pin_set *best)
{
    struct window window = {.first = segment->first_block, .end = segment->first_block};
    for (size_t i = 0; i < segment->block_count; i++) {
        const fl_block_view *block = &picture->blocks.items[segment->first_block + i];
        if (block->state == FL_BLOCK_PENDING)
            return;
        window_take(&window, block);
    }
    best->first_block = window.first;
    best->count = segment->block_count;
    best->pinned_bytes = window.pinned;
    best->pin_count = window.pins;
    best->gained_bytes = segment->view.size;
    best->goes_back = true;
}

static int pins_compare(const void *left, const void *right)
{
    const fl_pin_set *a = left, *b = right;
    if (a->pinned_bytes != b->pinned_bytes)
        return a->pinned_bytes < b->pinned_bytes ? -1 : 1;
    if (a->pin_count != b->pin_count)
        return a->pin_count < b->pin_count ? -1 : 1;
    return a->segment < b->segment ? -1 : a->segment > b->segment;
}

fl_status fl_pins_find(const fl_host *host, const fl_picture *picture, const fl_probe *probe,
                       struct fl_pin_sets *sets, fl_error *error)
{
    for (size_t i = 0; i < picture->segments.count; i++) {
        const struct fl_picture_segment *segment = &picture->segments.items[i];
        const fl_segment_view *view = &segment->view;
        fl_pin_set best = {.segment = i};
        if (view->stream == probe->stream && view->pool == probe->pool &&
            view->is_small == probe->is_small)
            pins_slide(picture, segment, probe, &best);
        if (best.pin_count == 0 && view->pool == 0)
            pins_take_all(picture, segment, &best);
        if (best.pin_count == 0)
            continue;
        if (!fl_vector_reserve(host, sets, 1, error))
            return FL_ERR_RESOURCE;
        sets->items[sets->count++] = best;
    }
    if (sets->count > 0)
        qsort(sets->items, sets->count, sizeof *sets->items, pins_compare);
    return FL_OK;
}

bool fl_pins_suffice(const fl_pin_set *set, const fl_probe *probe, uint64_t room)
{
    return !set->goes_back || set->gained_bytes >= probe->segment_bytes ||
           room >= probe->segment_bytes - set->gained_bytes;
}
