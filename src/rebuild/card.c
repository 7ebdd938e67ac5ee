/* The size of the card matters to verify in one place: an expandable segment reserves addresses for
 * nine eighths of it (section 11.1 of docs/allocator-rules.md), and how much of a range is left
 * decides between free blocks that border unmapped addresses.
 *
 * A snapshot does not state it.  But drivers reserve ranges side by side, so the distance from one
 * base to the next is the length of a range; and an out-of-memory tells what was free on top of
 * what was reserved, which is less than the total by what lies outside of the allocator. */
#include "rebuild/card.h"

#include "base/checked.h"
#include "base/vector.h"

#include <stdlib.h>

/* What a driver may leave free between two ranges.  No page is smaller, so a range that has the
 * next one right behind it still comes out whole once it is rounded up to pages. */
#define RESERVE_GRANULE (UINT64_C(2) << 20)

#define SMALL_PAGE (UINT64_C(2) << 20)

struct span {
    uint64_t begin, end;
    uint32_t stream, pool; /* FL_NONE: nothing tells the pool */
    bool is_small;
};

FL_VECTOR(card_spans, struct span);

static int spans_by_begin(const void *a, const void *b)
{
    const struct span *left = a, *right = b;
    return left->begin < right->begin ? -1 : left->begin > right->begin;
}

static bool gather_spans(const fl_host *host, const fl_columns *columns,
                         const fl_trace_start *start, struct card_spans *spans, fl_error *error)
{
    for (size_t i = 0; start != NULL && i < start->segments.count; i++) {
        const fl_segment_view *run = &start->segments.items[i];
        if (!run->is_expandable)
            continue;
        if (!fl_vector_reserve(host, spans, 1, error))
            return false;
        spans->items[spans->count++] = (struct span){run->address, run->address + run->size,
                                                     run->stream, run->pool, run->is_small};
    }
    for (uint64_t i = 0; columns->address != NULL && i < columns->count; i++) {
        if (columns->kind[i] != FL_EVENT_SEGMENT_MAP)
            continue;
        uint16_t pool = columns->pool != NULL ? columns->pool[i] : FL_NONE16;
        struct span span = {
            .begin = columns->address[i],
            .stream = columns->stream[i],
            .pool = pool != FL_NONE16 ? pool : FL_NONE,
            .is_small = columns->size[i] == SMALL_PAGE, /* they come one at a time */
        };
        if (!fl_add(span.begin, columns->size[i], &span.end))
            continue;
        if (!fl_vector_reserve(host, spans, 1, error))
            return false;
        spans->items[spans->count++] = span;
    }
    return true;
}

/* May two spans be of one range? */
static bool is_one_range(const struct span *a, const struct span *b)
{
    return a->stream == b->stream && a->is_small == b->is_small &&
           (a->pool == b->pool || a->pool == FL_NONE || b->pool == FL_NONE);
}

/* The spans from *at on that are taken for one range, as one; *at is behind them.  A range fills
 * from its base on, so all that was ever mapped in it is one piece.  A cut window may have lost
 * some of that: there all that may be of one range is. */
static struct span next_range(const struct card_spans *spans, bool is_cut, size_t *at)
{
    struct span range = spans->items[(*at)++];
    for (; *at < spans->count; ++*at) {
        const struct span *span = &spans->items[*at];
        if (is_cut ? !is_one_range(&range, span) : span->begin > range.end)
            break;
        if (span->end > range.end)
            range.end = span->end;
        if (range.pool == FL_NONE)
            range.pool = span->pool;
    }
    return range;
}

/* What the mapped ranges tell. */
struct evidence {
    uint64_t longest;  /* that one of them reaches */
    uint64_t distance; /* the least from one base to the next, and not less; UINT64_MAX: none */
};

static struct evidence weigh_spans(const struct card_spans *spans, bool is_cut, uint64_t least)
{
    struct evidence evidence = {0, UINT64_MAX};
    for (size_t at = 0; at < spans->count;) {
        struct span range = next_range(spans, is_cut, &at);
        if (range.end - range.begin > evidence.longest)
            evidence.longest = range.end - range.begin;
    }
    if (is_cut && evidence.longest > least)
        least = evidence.longest;
    uint64_t base = UINT64_MAX;
    for (size_t at = 0; at < spans->count;) {
        struct span range = next_range(spans, is_cut, &at);
        uint64_t distance = range.begin - base;
        if (base != UINT64_MAX && distance >= least && distance < evidence.distance)
            evidence.distance = distance;
        base = range.begin;
    }
    return evidence;
}

uint64_t fl_reserved_after(const fl_columns *columns, uint64_t event, uint64_t reserved)
{
    uint64_t size = columns->size[event], sum;
    uint8_t kind = columns->kind[event];
    if (kind == FL_EVENT_SEGMENT_ALLOC || kind == FL_EVENT_SEGMENT_MAP)
        return fl_add(reserved, size, &sum) ? sum : UINT64_MAX;
    return fl_kind_is_segment(kind) ? reserved - (size < reserved ? size : reserved) : reserved;
}

/* The most that was reserved, and the most that is known to have been there for it. */
static void find_most(const fl_columns *columns, uint64_t reserved, uint64_t *ret_reserved,
                      uint64_t *ret_there)
{
    uint64_t most = reserved, there = 0;
    for (uint64_t i = 0; i < columns->count; i++) {
        uint64_t sum;
        uint8_t kind = columns->kind[i];
        reserved = fl_reserved_after(columns, i, reserved);
        if (reserved > most)
            most = reserved;
        bool is_refusal = kind == FL_OP_ALLOC && (columns->flags[i] & FL_EVENT_OOM) != 0;
        if (is_refusal && columns->address != NULL && fl_add(reserved, columns->address[i], &sum) &&
            sum > there)
            there = sum;
    }
    *ret_reserved = most;
    *ret_there = there;
}

uint64_t fl_start_reserved(const fl_trace_start *start)
{
    uint64_t reserved = 0;
    for (size_t i = 0; start != NULL && i < start->segments.count; i++)
        if (!fl_add(reserved, start->segments.items[i].size, &reserved))
            return UINT64_MAX;
    return reserved;
}

fl_status fl_card_estimate(const fl_host *host, const fl_columns *columns,
                           const fl_trace_start *start, uint64_t *ret_total, fl_error *error)
{
    struct card_spans spans = {0};
    if (!gather_spans(host, columns, start, &spans, error)) {
        fl_vector_deinit(host, &spans);
        return FL_ERR_RESOURCE;
    }
    uint64_t reserved, there;
    find_most(columns, fl_start_reserved(start), &reserved, &there);
    bool is_cut = start != NULL && start->segments.count > 0;
    if (spans.count > 0)
        qsort(spans.items, spans.count, sizeof *spans.items, spans_by_begin);
    struct evidence evidence = weigh_spans(&spans, is_cut, is_cut ? reserved : 0);
    fl_vector_deinit(host, &spans);
    bool has_range = evidence.distance != UINT64_MAX && evidence.distance > RESERVE_GRANULE;
    uint64_t total = has_range ? (evidence.distance - RESERVE_GRANULE) / 9 * 8 : 0;
    if (is_cut && there > 0 && there < evidence.longest / 9 * 8)
        there = evidence.longest / 9 * 8;
    *ret_total = total >= reserved && total >= there ? total : there;
    return FL_OK;
}
