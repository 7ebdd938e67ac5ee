#include "heap/picture.h"

#include <inttypes.h>
#include <stdio.h>

void fl_picture_init(fl_picture *picture, const fl_host *host)
{
    *picture = (fl_picture){.host = host};
}

void fl_picture_deinit(fl_picture *picture)
{
    if (picture->host == NULL)
        return;
    fl_vector_deinit(picture->host, &picture->segments);
    fl_vector_deinit(picture->host, &picture->blocks);
}

static void picture_draw_segment(void *user, const fl_segment_view *segment)
{
    fl_picture *picture = user;
    if (picture->error.status != FL_OK ||
        !fl_vector_reserve(picture->host, &picture->segments, 1, &picture->error))
        return;
    picture->segments.items[picture->segments.count++] =
        (struct fl_picture_segment){*segment, picture->blocks.count, 0};
}

/* Is `block` free, and right behind the segment's last block, free as well? */
static bool picture_continues(const fl_picture *picture, const struct fl_picture_segment *segment,
                              const fl_block_view *block)
{
    if (segment->block_count == 0 || block->state != FL_BLOCK_FREE)
        return false;
    const fl_block_view *last = &picture->blocks.items[picture->blocks.count - 1];
    return last->state == FL_BLOCK_FREE && last->address + last->size == block->address;
}

static void picture_draw_block(void *user, const fl_block_view *block)
{
    fl_picture *picture = user;
    if (picture->error.status != FL_OK)
        return;
    if (picture->segments.count == 0) {
        fl_fail(&picture->error, FL_ERR_INTERNAL, "a block without a segment");
        return;
    }
    struct fl_picture_segment *segment = &picture->segments.items[picture->segments.count - 1];
    if (picture_continues(picture, segment, block)) {
        picture->blocks.items[picture->blocks.count - 1].size += block->size;
        return;
    }
    if (!fl_vector_reserve(picture->host, &picture->blocks, 1, &picture->error))
        return;
    picture->blocks.items[picture->blocks.count++] = *block;
    segment->block_count++;
}

fl_walk fl_picture_walk(fl_picture *picture)
{
    return (fl_walk){picture_draw_segment, picture_draw_block, picture};
}

enum { TEXT_SIZE = 160 };

static void picture_print_segment(const fl_picture *picture, size_t index, char text[TEXT_SIZE])
{
    if (index >= picture->segments.count) {
        snprintf(text, TEXT_SIZE, "no segment");
        return;
    }
    const fl_segment_view *view = &picture->segments.items[index].view;
    snprintf(text, TEXT_SIZE,
             "%s%s segment %" PRIu32 " at 0x%" PRIx64 ", %" PRIu64 " bytes, stream %" PRIu32
             ", pool %" PRIu32,
             view->is_expandable ? "expandable " : "", view->is_small ? "small" : "large",
             view->segment, view->address, view->size, view->stream, view->pool);
}

static void picture_print_block(const fl_picture *picture, size_t segment, size_t index,
                                char text[TEXT_SIZE])
{
    static const char *const states[] = {"live", "pending", "free"};
    const struct fl_picture_segment *drawn = &picture->segments.items[segment];
    if (index >= drawn->block_count) {
        snprintf(text, TEXT_SIZE, "no block");
        return;
    }
    const fl_block_view *view = &picture->blocks.items[drawn->first_block + index];
    int length = snprintf(text, TEXT_SIZE, "%s block at 0x%" PRIx64 ", %" PRIu64 " bytes",
                          states[view->state], view->address, view->size);
    if (view->state != FL_BLOCK_FREE)
        snprintf(text + length, TEXT_SIZE - (size_t)length, " for %" PRIu64 ", number %" PRIu32,
                 view->requested, view->id);
}

static bool picture_is_same_segment(const fl_segment_view *a, const fl_segment_view *b)
{
    return a->segment == b->segment && a->stream == b->stream && a->pool == b->pool &&
           a->is_small == b->is_small && a->is_expandable == b->is_expandable &&
           a->address == b->address && a->size == b->size;
}

static bool picture_is_same_block(const fl_block_view *a, const fl_block_view *b)
{
    return a->state == b->state && a->id == b->id && a->address == b->address &&
           a->size == b->size && (a->state == FL_BLOCK_FREE || a->requested == b->requested);
}

/* The first block of a segment that both hold in which they differ; SIZE_MAX: none. */
static size_t picture_find_block(const fl_picture *left, const fl_picture *right, size_t index)
{
    const struct fl_picture_segment *a = &left->segments.items[index];
    const struct fl_picture_segment *b = &right->segments.items[index];
    size_t i = 0;
    while (i < a->block_count && i < b->block_count &&
           picture_is_same_block(&left->blocks.items[a->first_block + i],
                                 &right->blocks.items[b->first_block + i]))
        i++;
    return i == a->block_count && i == b->block_count ? SIZE_MAX : i;
}

fl_status fl_picture_compare(const fl_picture *left, const char *left_name, const fl_picture *right,
                             const char *right_name, fl_error *error)
{
    char ours[TEXT_SIZE], theirs[TEXT_SIZE];
    const fl_picture *spoilt = left->error.status != FL_OK ? left : right;
    if (spoilt->error.status != FL_OK)
        return fl_fail(error, spoilt->error.status, "%s", spoilt->error.text);
    size_t most =
        left->segments.count > right->segments.count ? left->segments.count : right->segments.count;
    for (size_t i = 0; i < most; i++) {
        bool is_same =
            i < left->segments.count && i < right->segments.count &&
            picture_is_same_segment(&left->segments.items[i].view, &right->segments.items[i].view);
        size_t block = is_same ? picture_find_block(left, right, i) : 0;
        if (is_same && block == SIZE_MAX)
            continue;
        if (is_same) {
            picture_print_block(left, i, block, ours);
            picture_print_block(right, i, block, theirs);
        } else {
            picture_print_segment(left, i, ours);
            picture_print_segment(right, i, theirs);
        }
        return fl_fail(error, FL_ERR_NO, "%s: %s; %s: %s", left_name, ours, right_name, theirs);
    }
    return FL_OK;
}
