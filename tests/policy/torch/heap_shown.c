#include "heap_shown.h"

#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *shown_size(uint64_t size, char *buffer, size_t capacity)
{
    const uint64_t near = 4 * FL_KIB;
    uint64_t mib = (size + near) / FL_MIB, over = size % FL_MIB;
    if (size < near * 2 || (over > near && over < FL_MIB - near)) {
        bool whole = size > 0 && size % FL_KIB == 0;
        snprintf(buffer, capacity, whole ? "%" PRIu64 "KiB" : "%" PRIu64,
                 whole ? size / FL_KIB : size);
    } else if (over == 0) {
        snprintf(buffer, capacity, "%" PRIu64 "MiB", mib);
    } else {
        snprintf(buffer, capacity, "%" PRIu64 "MiB%c%" PRIu64, mib, over <= near ? '+' : '-',
                 over <= near ? over : FL_MIB - over);
    }
    return buffer;
}

void shown_add(heap *h, const char *format, ...)
{
    if (h->length + 256 > h->capacity) {
        h->capacity = h->capacity * 2 + 1024;
        h->text = realloc(h->text, h->capacity);
        assert_non_null(h->text);
    }
    va_list args;
    va_start(args, format);
    h->length += (size_t)vsnprintf(h->text + h->length, h->capacity - h->length, format, args);
    va_end(args);
}

void shown_next(heap *h)
{
    shown_flush(h);
    if (h->length > 0)
        shown_add(h, "; ");
}

/* A free that was asked for and is not done yet is shown as pending. */
void shown_flush(heap *h)
{
    if (h->asked == FL_NONE)
        return;
    uint32_t id = h->asked;
    h->asked = FL_NONE;
    shown_next(h);
    shown_add(h, "f %u", id);
}

static void show_address(heap *h, uint32_t segment, uint64_t address)
{
    char offset[32];
    assert_true(segment < h->bases.count && address >= h->bases.items[segment]);
    shown_add(h, " %u:%s", segment,
              shown_size(address - h->bases.items[segment], offset, sizeof offset));
}

static void show_size(heap *h, uint64_t size)
{
    char text[32];
    shown_add(h, " %s", shown_size(size, text, sizeof text));
}

static void show_place(heap *h, uint32_t stream, uint32_t pool)
{
    if (h->streams[stream] != 0)
        shown_add(h, " stream %" PRIu64, h->streams[stream]);
    if (pool != 0)
        shown_add(h, " pool %" PRIu64, h->pools[pool].second);
}

static void show_segment(heap *h, const fl_change *change, const char *mark)
{
    if (change->kind == FL_CHANGE_ACQUIRE || change->kind == FL_CHANGE_RESERVE) {
        assert_int_equal(change->segment, h->bases.count);
        h->bases.items = realloc(h->bases.items, (h->bases.count + 1) * sizeof *h->bases.items);
        assert_non_null(h->bases.items);
        h->bases.items[h->bases.count++] = change->address;
    }
    assert_int_equal(change->address, h->bases.items[change->segment]);
    shown_add(h, "%s %u", mark, change->segment);
    show_size(h, change->size);
    if (change->kind == FL_CHANGE_ACQUIRE || change->kind == FL_CHANGE_RESERVE)
        show_place(h, change->stream, change->pool);
}

static void show_block(heap *h, const fl_change *change, const char *mark)
{
    shown_add(h, "%s %u", mark, change->id);
    if (change->kind != FL_CHANGE_PLACE)
        return;
    show_address(h, change->segment, change->address);
    show_size(h, change->size);
}

static void show_run(heap *h, const fl_change *change, const char *mark)
{
    shown_add(h, "%s", mark);
    show_address(h, change->segment, change->address);
    show_size(h, change->size);
}

static void show_refused(heap *h, const fl_change *change, const char *mark)
{
    shown_add(h, "%s", mark);
    show_size(h, change->size);
}

static const struct {
    const char *mark;
    void (*show)(heap *h, const fl_change *change, const char *mark);
} kinds[FL_CHANGE_KIND_COUNT] = {
    [FL_CHANGE_ACQUIRE] = {"+", show_segment},
    [FL_CHANGE_RELEASE] = {"-", show_segment},
    [FL_CHANGE_RESERVE] = {"R", show_segment},
    [FL_CHANGE_UNRESERVE] = {"r", show_segment},
    [FL_CHANGE_MAP] = {"M", show_run},
    [FL_CHANGE_UNMAP] = {"U", show_run},
    [FL_CHANGE_NO_SEGMENT] = {"!", show_refused},
    [FL_CHANGE_NO_PAGE] = {"C!", show_refused},
    [FL_CHANGE_PLACE] = {"A", show_block},
    [FL_CHANGE_FREE_DONE] = {"d", show_block},
};

void shown_change(void *user, const fl_change *change)
{
    static const char *const causes[FL_CAUSE_COUNT] = {
        [FL_CAUSE_REQUEST] = "",
        [FL_CAUSE_COLLECT] = " collect",
        [FL_CAUSE_RELEASE_AVAILABLE] = " available",
        [FL_CAUSE_RELEASE_ALL] = " all",
        [FL_CAUSE_TRIM] = " trim",
    };
    heap *h = user;
    if (change->kind == FL_CHANGE_FREE_ASKED) {
        shown_flush(h);
        h->asked = change->id;
        return;
    }
    bool at_once = change->kind == FL_CHANGE_FREE_DONE && change->id == h->asked;
    if (at_once)
        h->asked = FL_NONE;
    shown_next(h);
    kinds[change->kind].show(h, change, at_once ? "F" : kinds[change->kind].mark);
    shown_add(h, "%s", causes[change->cause]);
}

struct viewer {
    heap *h;
    uint64_t end; /* blocks must tile the segment up to here */
};

static void view_segment(void *user, const fl_segment_view *segment)
{
    struct viewer *viewer = user;
    shown_next(viewer->h);
    shown_add(viewer->h, "S");
    show_address(viewer->h, segment->segment, segment->address);
    show_size(viewer->h, segment->size);
    shown_add(viewer->h, segment->is_small ? " small" : " large");
    show_place(viewer->h, segment->stream, segment->pool);
    if (segment->is_expandable)
        shown_add(viewer->h, " exp");
    viewer->end = segment->address;
}

static void view_block(void *user, const fl_block_view *block)
{
    static const char *const states[] = {
        [FL_BLOCK_LIVE] = "live", [FL_BLOCK_PENDING] = "pend", [FL_BLOCK_FREE] = "free"};
    struct viewer *viewer = user;
    assert_int_equal(block->address, viewer->end);
    viewer->end += block->size;
    shown_next(viewer->h);
    shown_add(viewer->h, "B");
    show_size(viewer->h, block->size);
    show_size(viewer->h, block->requested);
    shown_add(viewer->h, " %s", states[block->state]);
}

fl_status shown_heap(heap *h, fl_error *error)
{
    struct viewer viewer = {.h = h};
    fl_walk walk = {view_segment, view_block, &viewer};
    return fl_policy_torch.walk(h->state, &walk, error);
}
