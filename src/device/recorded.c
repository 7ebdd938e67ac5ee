/* Plays back the addresses and refusals of a recorded allocator.
 *
 * Within the records of one op, what is given back comes in any order: bytes given back are a
 * credit with which the cursor passes recorded frees and unmaps.  Whatever stands behind them is
 * the next grant; a call that it does not match is refused.  So an attempt that failed on the real
 * device, and left no mark, fails here too: the record goes on with what was freed because of it.
 *
 * Ranges of expandable segments leave no mark of their own either.  Their base is where they are
 * first mapped, because an empty range fills from its base, and a range whose last page is unmapped
 * is given up.  A stream's bases are handed out in order of first mapping, those for large and for
 * small pages apart; a range that was refused its first page loses its base to the range of an op
 * that maps it.  What no record tells: which of two ranges of one stream and page size came first,
 * where the older one was refused its first page for a whole op. */
#include "device/recorded.h"

#include "base/checked.h"
#include "base/extents.h"
#include "base/table.h"
#include "base/vector.h"
#include "device/pages.h"

#include <inttypes.h>

#define NO_BASE UINT32_MAX

/* Ranges without a recorded base lie so far above everything recorded that no other range, whose
 * true size nobody knows, reaches them. */
#define RECORDED_DISTANCE (UINT64_C(1) << 48)

/* Where a range was first mapped. */
struct recorded_base {
    uint64_t event, address, size;
    uint32_t next; /* the stream's next base, or NO_BASE */
    bool is_taken;
    uint64_t taken_begin; /* where the events of the op began that took it */
};

/* Bases of one stream, in order; `next` is where to look for one of small and of large pages. */
struct recorded_stream {
    uint32_t first, last;
    uint32_t next[2];
};

/* A range while the record is read through for bases. */
struct recorded_range {
    uint64_t mapped_bytes;
    uint32_t stream;
};

FL_VECTOR(recorded_bases, struct recorded_base);
FL_VECTOR(recorded_streams, struct recorded_stream);
FL_VECTOR(recorded_ranges, struct recorded_range);

struct fl_device_state {
    const fl_host *host;
    fl_error *error;
    const fl_device_record *record;
    uint64_t begin, end;                  /* events of the current op */
    size_t cursor;                        /* the first record not yet played back */
    uint64_t credit_bytes;                /* given back, and not yet met in the record */
    uint64_t created_bytes, mapped_bytes; /* of the mapping at the cursor */
    fl_extents segments;
    uint64_t segment_bytes; /* in granules */
    fl_pages pages;
    struct recorded_bases bases;
    struct recorded_streams streams;
    fl_table stream_numbers;
    uint64_t large_page; /* the largest that any range was reserved for */
    uint64_t next_range; /* above everything recorded */
    bool is_under_way;   /* the first op has begun; before, whatever is placed is granted */
    uint32_t last_base;  /* taken by the last reservation; NO_BASE: that took none */
};

/* ---- bases of ranges ------------------------------------------------------------------------- */

static bool recorded_add_base(struct fl_device_state *state, const fl_recorded_event *event,
                              fl_error *error)
{
    if (!fl_vector_reserve(state->host, &state->bases, 1, error))
        return false;
    uint32_t base = (uint32_t)state->bases.count;
    uint32_t number = fl_table_get(&state->stream_numbers, event->stream);
    if (number == FL_TABLE_EMPTY) {
        number = (uint32_t)state->streams.count;
        if (!fl_vector_reserve(state->host, &state->streams, 1, error) ||
            !fl_table_set(state->host, &state->stream_numbers, event->stream, number, error))
            return false;
        state->streams.items[state->streams.count++] =
            (struct recorded_stream){base, base, {base, base}};
    } else {
        state->bases.items[state->streams.items[number].last].next = base;
        state->streams.items[number].last = base;
    }
    state->bases.items[state->bases.count++] =
        (struct recorded_base){event->event, event->address, event->size, NO_BASE, false, 0};
    return true;
}

/* The ranges in use while the record is read: from the base to the highest byte ever mapped, beyond
 * which the next page of a range always comes. */
struct recorded_reading {
    fl_extents ranges; /* owner: index into `known` */
    struct recorded_ranges known;
};

static bool recorded_read_map(struct fl_device_state *state, struct recorded_reading *reading,
                              const fl_recorded_event *event, fl_error *error)
{
    fl_extent range;
    struct recorded_range *known = NULL;
    if (fl_extents_floor(&reading->ranges, event->address, &range))
        known = &reading->known.items[range.owner];
    uint64_t depth = known != NULL ? event->address - range.address : 0;
    bool is_new = known == NULL || depth > range.size ||
                  (depth == range.size && known->stream != event->stream);
    if (is_new) {
        if (fl_extents_overlap(&reading->ranges, event->address, event->size))
            return true;
        if (!fl_vector_reserve(state->host, &reading->known, 1, error))
            return false;
        range = (fl_extent){event->address, event->size, (uint32_t)reading->known.count};
        reading->known.items[reading->known.count++] =
            (struct recorded_range){event->size, event->stream};
        return fl_extents_insert(state->host, &reading->ranges, range, error) &&
               recorded_add_base(state, event, error);
    }
    fl_add(known->mapped_bytes, event->size, &known->mapped_bytes);
    if (event->size <= range.size - depth)
        return true;
    uint64_t end = range.address + range.size, wanted = depth + event->size;
    if (!fl_extents_overlap(&reading->ranges, end, wanted - range.size))
        fl_extents_resize(&reading->ranges, range.address, wanted);
    return true;
}

static void recorded_read_unmap(struct recorded_reading *reading, const fl_recorded_event *event)
{
    fl_extent range;
    if (!fl_extents_floor(&reading->ranges, event->address, &range))
        return;
    struct recorded_range *known = &reading->known.items[range.owner];
    if (event->size < known->mapped_bytes)
        known->mapped_bytes -= event->size;
    else
        fl_extents_remove(&reading->ranges, range.address, NULL);
}

static bool recorded_read_start(struct fl_device_state *state, struct recorded_reading *reading,
                                const fl_recorded_start *start, fl_error *error)
{
    if (start->size == 0 || fl_extents_overlap(&reading->ranges, start->address, start->size))
        return true;
    if (!fl_vector_reserve(state->host, &reading->known, 1, error))
        return false;
    fl_extent range = {start->address, start->size, (uint32_t)reading->known.count};
    reading->known.items[reading->known.count++] =
        (struct recorded_range){start->mapped_bytes, start->stream};
    if (start->address + start->size > state->next_range)
        state->next_range = start->address + start->size;
    return fl_extents_insert(state->host, &reading->ranges, range, error);
}

static bool recorded_read(struct fl_device_state *state, struct recorded_reading *reading,
                          fl_error *error)
{
    for (size_t i = 0; i < state->record->range_count; i++)
        if (!recorded_read_start(state, reading, &state->record->ranges[i], error))
            return false;
    for (size_t i = 0; i < state->record->count; i++) {
        const fl_recorded_event *event = &state->record->events[i];
        uint64_t end;
        if (event->size == 0 || !fl_add(event->address, event->size, &end))
            continue;
        if (end > state->next_range)
            state->next_range = end;
        if (event->kind == FL_RECORDED_MAP && !recorded_read_map(state, reading, event, error))
            return false;
        if (event->kind == FL_RECORDED_UNMAP)
            recorded_read_unmap(reading, event);
    }
    fl_add(state->next_range, RECORDED_DISTANCE, &state->next_range);
    state->next_range = fl_round_up(state->next_range, FL_DEVICE_GRANULE);
    return true;
}

static fl_status recorded_open(struct fl_device_state *state, const fl_device_env *env,
                               fl_error *error)
{
    if (env->record == NULL)
        return fl_fail(error, FL_ERR_USAGE, "device recorded plays back a record, and has none");
    state->host = env->host;
    state->error = env->error;
    state->record = env->record;
    state->pages.host = env->host;
    state->pages.error = env->error;
    state->large_page = 1;
    state->last_base = NO_BASE;
    if (state->record->count >= NO_BASE)
        return fl_fail(error, FL_ERR_RESOURCE, "more than %" PRIu32 " segment events", NO_BASE);
    struct recorded_reading reading = {0};
    bool is_read = recorded_read(state, &reading, error);
    fl_extents_deinit(state->host, &reading.ranges);
    fl_vector_deinit(state->host, &reading.known);
    return is_read ? FL_OK : FL_ERR_RESOURCE;
}

static void recorded_close(struct fl_device_state *state)
{
    if (state->host == NULL)
        return;
    fl_extents_deinit(state->host, &state->segments);
    fl_pages_deinit(&state->pages);
    fl_vector_deinit(state->host, &state->bases);
    fl_vector_deinit(state->host, &state->streams);
    fl_table_deinit(state->host, &state->stream_numbers);
}

/* ---- the cursor ------------------------------------------------------------------------------ */

/* The first record at or after an event. */
static size_t recorded_find(const fl_device_record *record, uint64_t event)
{
    size_t low = 0, count = record->count;
    while (count > 0) {
        size_t half = count / 2;
        if (record->events[low + half].event < event) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

static void recorded_pass(struct fl_device_state *state, size_t cursor)
{
    state->cursor = cursor;
    state->created_bytes = 0;
    state->mapped_bytes = 0;
}

void fl_device_recorded_seek(fl_device *device, uint64_t begin, uint64_t end)
{
    struct fl_device_state *state = fl_device_get_state(device);
    state->is_under_way = true;
    if (begin != state->begin) {
        recorded_pass(state, recorded_find(state->record, begin));
        state->credit_bytes = 0;
    }
    state->begin = begin;
    state->end = end;
}

/* What the record goes on with, behind everything that was given back; NULL: nothing. */
static const fl_recorded_event *recorded_next(struct fl_device_state *state)
{
    for (; state->cursor < state->record->count; recorded_pass(state, state->cursor + 1)) {
        const fl_recorded_event *next = &state->record->events[state->cursor];
        if (next->event >= state->end)
            return NULL;
        bool is_return = next->kind == FL_RECORDED_FREE || next->kind == FL_RECORDED_UNMAP;
        if (!is_return || next->size > state->credit_bytes)
            return next;
        state->credit_bytes -= next->size;
    }
    return NULL;
}

static void recorded_give_back(struct fl_device_state *state, uint64_t size)
{
    uint64_t credit = UINT64_MAX;
    fl_add(state->credit_bytes, size, &credit);
    state->credit_bytes = credit;
}

static bool recorded_is_taken(const struct fl_device_state *state, uint64_t address, uint64_t size)
{
    return fl_extents_overlap(&state->segments, address, size) ||
           fl_extents_overlap(&state->pages.mapped, address, size);
}

/* ---- the calls ------------------------------------------------------------------------------- */

static uint64_t recorded_used(const struct fl_device_state *state)
{
    uint64_t used = UINT64_MAX;
    fl_add(state->segment_bytes, state->pages.used_bytes, &used);
    return used;
}

static uint64_t recorded_footprint(const struct fl_device_state *state, uint64_t size)
{
    (void)state;
    return fl_pages_footprint(size);
}

static fl_answer recorded_acquire(struct fl_device_state *state, uint64_t size, uint32_t stream,
                                  uint64_t *ret_address)
{
    (void)stream;
    const fl_recorded_event *next = recorded_next(state);
    uint64_t used;
    if (next == NULL || next->kind != FL_RECORDED_ALLOC || next->size != size || size == 0 ||
        !fl_add(state->segment_bytes, fl_pages_footprint(size), &used) ||
        recorded_is_taken(state, next->address, size))
        return FL_ANSWER_FULL;
    fl_extent extent = {.address = next->address, .size = size};
    if (!fl_extents_insert(state->host, &state->segments, extent, state->error))
        return FL_ANSWER_ERROR;
    state->segment_bytes = used;
    *ret_address = next->address;
    recorded_pass(state, state->cursor + 1);
    return FL_ANSWER_OK;
}

static fl_answer recorded_acquire_at(struct fl_device_state *state, uint64_t size, uint64_t address)
{
    uint64_t used, end;
    if (size == 0 || !fl_add(address, size, &end) ||
        !fl_add(state->segment_bytes, fl_pages_footprint(size), &used) ||
        recorded_is_taken(state, address, size)) {
        fl_fail(state->error, FL_ERR_INPUT, "the start state has memory twice at 0x%" PRIx64,
                address);
        return FL_ANSWER_ERROR;
    }
    fl_extent extent = {.address = address, .size = size};
    if (!fl_extents_insert(state->host, &state->segments, extent, state->error))
        return FL_ANSWER_ERROR;
    state->segment_bytes = used;
    return FL_ANSWER_OK;
}

/* Ranges are not kept: what is mapped in them is. */
static fl_answer recorded_reserve_at(struct fl_device_state *state, uint64_t size, uint64_t address)
{
    (void)state, (void)size, (void)address;
    return FL_ANSWER_OK;
}

static fl_answer recorded_release(struct fl_device_state *state, uint64_t address, uint64_t size)
{
    fl_extent extent;
    if (!fl_extents_floor(&state->segments, address, &extent) || extent.address != address ||
        extent.size != size) {
        fl_fail(state->error, FL_ERR_INTERNAL, "releasing 0x%" PRIx64 ": no segment of that size",
                address);
        return FL_ANSWER_ERROR;
    }
    fl_extents_remove(&state->segments, address, NULL);
    state->segment_bytes -= fl_pages_footprint(size);
    recorded_give_back(state, size);
    return FL_ANSWER_OK;
}

/* Learns of a larger page; bases of large and small pages are then told apart anew. */
static void recorded_meet_page(struct fl_device_state *state, uint64_t page_size)
{
    if (page_size <= state->large_page)
        return;
    state->large_page = page_size;
    for (size_t i = 0; i < state->streams.count; i++) {
        struct recorded_stream *stream = &state->streams.items[i];
        stream->next[false] = stream->next[true] = stream->first;
    }
}

/* The stream's first base for pages of that size that is not taken, and that the record has not
 * passed; takes it.  A range that was refused its first page takes one on trust: where the op under
 * way is the one that maps it, it is this range's.  False: there is none. */
static bool recorded_take_base(struct fl_device_state *state, uint32_t stream, bool is_large,
                               uint64_t *ret_address)
{
    uint32_t number = fl_table_get(&state->stream_numbers, stream);
    if (number == FL_TABLE_EMPTY)
        return false;
    uint64_t event = state->cursor < state->record->count
                         ? state->record->events[state->cursor].event
                         : UINT64_MAX;
    uint32_t *next = &state->streams.items[number].next[is_large];
    for (uint32_t i = *next; i != NO_BASE; i = state->bases.items[i].next) {
        struct recorded_base *base = &state->bases.items[i];
        bool is_other = base->event < event || (base->size % state->large_page == 0) != is_large;
        if (is_other && i == *next)
            *next = base->next;
        bool is_due = base->event < state->end && base->taken_begin != state->begin;
        if (is_other || (base->is_taken && !is_due))
            continue;
        base->is_taken = true;
        base->taken_begin = state->begin;
        state->last_base = i;
        *ret_address = base->address;
        return true;
    }
    return false;
}

static fl_answer recorded_reserve(struct fl_device_state *state, uint64_t size, uint64_t page_size,
                                  uint32_t stream, uint64_t *ret_address)
{
    uint64_t address, end;
    recorded_meet_page(state, page_size);
    state->last_base = NO_BASE;
    if (recorded_take_base(state, stream, page_size == state->large_page, &address) &&
        fl_add(address, size, &end)) {
        *ret_address = address;
        return FL_ANSWER_OK;
    }
    address = state->next_range;
    if (!fl_add(address, fl_pages_footprint(size), &end) || !fl_add(end, FL_DEVICE_GRANULE, &end))
        return FL_ANSWER_FULL;
    state->next_range = end;
    *ret_address = address;
    return FL_ANSWER_OK;
}

/* A range leaves no mark in the record, and what is mapped in it is kept by page.  One that is
 * given up at once, as too small, was not the one whose base was recorded. */
static fl_answer recorded_unreserve(struct fl_device_state *state, uint64_t address, uint64_t size)
{
    (void)size;
    if (state->last_base != NO_BASE && state->bases.items[state->last_base].address == address &&
        !fl_extents_overlap(&state->pages.mapped, address, 1))
        state->bases.items[state->last_base].is_taken = false;
    state->last_base = NO_BASE;
    return FL_ANSWER_OK;
}

static fl_answer recorded_page_create(struct fl_device_state *state, uint64_t size,
                                      uint64_t *ret_page)
{
    if (!state->is_under_way)
        return fl_pages_create(&state->pages, size, ret_page);
    const fl_recorded_event *next = recorded_next(state);
    uint64_t created;
    if (next == NULL || next->kind != FL_RECORDED_MAP ||
        !fl_add(state->created_bytes, size, &created) || created > next->size)
        return FL_ANSWER_FULL;
    if (state->created_bytes == 0 && recorded_is_taken(state, next->address, next->size))
        return FL_ANSWER_FULL;
    fl_answer answer = fl_pages_create(&state->pages, size, ret_page);
    if (answer == FL_ANSWER_OK)
        state->created_bytes = created;
    return answer;
}

/* A page that is freed without ever having been mapped was made for a call that failed. */
static fl_answer recorded_page_free(struct fl_device_state *state, uint64_t page)
{
    const struct fl_page *found = fl_pages_get(&state->pages, page);
    uint64_t unused = found != NULL && !found->was_mapped ? found->size : 0;
    fl_answer answer = fl_pages_free(&state->pages, page);
    if (answer == FL_ANSWER_OK && unused <= state->created_bytes)
        state->created_bytes -= unused;
    return answer;
}

/* A place that differs from the recorded one is granted: the comparison will tell it. */
static fl_answer recorded_map(struct fl_device_state *state, uint64_t address, uint64_t size,
                              uint64_t page)
{
    if (recorded_is_taken(state, address, size)) {
        fl_fail(state->error, FL_ERR_INPUT, "the record maps memory twice at 0x%" PRIx64, address);
        return FL_ANSWER_ERROR;
    }
    fl_answer answer = fl_pages_map(&state->pages, address, size, page);
    if (answer != FL_ANSWER_OK || state->created_bytes == 0)
        return answer;
    state->mapped_bytes += size;
    if (state->mapped_bytes == state->record->events[state->cursor].size)
        recorded_pass(state, state->cursor + 1);
    return FL_ANSWER_OK;
}

static fl_answer recorded_unmap(struct fl_device_state *state, uint64_t address, uint64_t size)
{
    fl_answer answer = fl_pages_unmap(&state->pages, address, size);
    if (answer == FL_ANSWER_OK)
        recorded_give_back(state, size);
    return answer;
}

const fl_device_ops fl_device_recorded = {
    .name = "recorded",
    .summary = "plays back the addresses and refusals of a snapshot, for verification",
    .state_size = sizeof(struct fl_device_state),
    .open = recorded_open,
    .close = recorded_close,
    .acquire = recorded_acquire,
    .release = recorded_release,
    .reserve = recorded_reserve,
    .unreserve = recorded_unreserve,
    .page_create = recorded_page_create,
    .page_free = recorded_page_free,
    .map = recorded_map,
    .unmap = recorded_unmap,
    .acquire_at = recorded_acquire_at,
    .reserve_at = recorded_reserve_at,
    .used = recorded_used,
    .footprint = recorded_footprint,
    .needs_record = true,
};
