/* Places from the events, forward: segments and pages come and go, and whatever is there at the end
 * has the pool that the final state shows. */
#include "rebuild/places.h"

#include "base/checked.h"
#include "base/extents.h"
#include "base/memory.h"

struct finding {
    const fl_host *host;
    const fl_trace *trace;
    const fl_trace_device *device;
    fl_places *places;
    fl_extents there; /* what is there now; owner: a place */
    fl_error *error;
};

/* The place that a place is part of; the way there gets shorter each time. */
static uint32_t places_root(fl_places *places, uint32_t index)
{
    fl_place *items = places->items.items;
    while (items[index].same != index) {
        items[index].same = items[items[index].same].same;
        index = items[index].same;
    }
    return index;
}

static bool add_place(struct finding *finding, const fl_place *place, uint32_t *ret_index)
{
    fl_places *places = finding->places;
    if (!fl_vector_reserve(finding->host, &places->items, 1, finding->error))
        return false;
    uint32_t index = (uint32_t)places->items.count++;
    places->items.items[index] = *place;
    places->items.items[index].same = index;
    *ret_index = index;
    return true;
}

static void know_pool(fl_place *place, uint32_t pool)
{
    place->pool = pool;
    place->is_known = true;
}

/* Two places turn out to be one: the older keeps its number. */
static uint32_t unite(fl_places *places, uint32_t a, uint32_t b)
{
    a = places_root(places, a);
    b = places_root(places, b);
    uint32_t kept = a < b ? a : b, gone = a < b ? b : a;
    fl_place *place = &places->items.items[kept];
    const fl_place *other = &places->items.items[gone];
    place->address = place->address < other->address ? place->address : other->address;
    place->end = place->end > other->end ? place->end : other->end;
    if (!place->is_known && other->is_known)
        know_pool(place, other->pool);
    places->items.items[gone].same = kept;
    return kept;
}

/* May pages that touch belong to one range? */
static bool is_one(fl_places *places, uint32_t a, const fl_place *b)
{
    const fl_place *place = &places->items.items[places_root(places, a)];
    return place->is_expandable && b->is_expandable && place->stream == b->stream &&
           (!place->is_known || !b->is_known || place->pool == b->pool);
}

/* Memory comes.  What lies there already is a record that contradicts itself: it is left alone. */
static bool come(struct finding *finding, const fl_place *place, uint64_t size, uint32_t *ret_index)
{
    fl_places *places = finding->places;
    fl_extent before, after, extent = {place->address, size, FL_NONE};
    *ret_index = FL_NONE;
    if (size == 0 || fl_extents_overlap(&finding->there, place->address, size))
        return true;
    if (fl_extents_floor(&finding->there, place->address, &before) &&
        before.address + before.size == place->address && is_one(places, before.owner, place)) {
        extent.owner = before.owner;
        extent.address = before.address;
        extent.size += before.size;
        fl_extents_remove(&finding->there, before.address, NULL);
    } else if (!add_place(finding, place, &extent.owner)) {
        return false;
    }
    if (fl_extents_ceiling(&finding->there, place->address, &after) &&
        after.address == place->address + size && is_one(places, after.owner, place)) {
        extent.owner = unite(places, extent.owner, after.owner);
        extent.size += after.size;
        fl_extents_remove(&finding->there, after.address, NULL);
    }
    *ret_index = extent.owner;
    fl_place *root = &places->items.items[places_root(places, extent.owner)];
    root->address = root->address < extent.address ? root->address : extent.address;
    if (root->end < extent.address + extent.size)
        root->end = extent.address + extent.size;
    if (place->is_known && !root->is_known)
        know_pool(root, place->pool);
    return fl_extents_insert(finding->host, &finding->there, extent, finding->error);
}

static bool keep_piece(struct finding *finding, uint64_t address, uint64_t end, uint32_t owner)
{
    fl_extent extent = {address, end - address, owner};
    return address >= end ||
           fl_extents_insert(finding->host, &finding->there, extent, finding->error);
}

/* Memory goes: all of an extent, or pages out of one. */
static bool go(struct finding *finding, uint64_t event, uint64_t address, uint64_t size,
               uint32_t *ret_index)
{
    fl_extent extent;
    *ret_index = FL_NONE;
    if (!fl_extents_floor(&finding->there, address, &extent) ||
        address - extent.address >= extent.size)
        return true;
    *ret_index = extent.owner;
    uint64_t end = extent.address + extent.size, gone_end;
    if (!fl_add(address, size, &gone_end) || gone_end > end)
        gone_end = end;
    fl_extents_remove(&finding->there, extent.address, NULL);
    finding->places->items.items[places_root(finding->places, extent.owner)].end_event = event;
    return keep_piece(finding, extent.address, address, extent.owner) &&
           keep_piece(finding, gone_end, end, extent.owner);
}

/* What a device event says of the place that it makes. */
static fl_place place_of_event(const fl_columns *columns, uint64_t event)
{
    uint16_t pool = columns->pool != NULL ? columns->pool[event] : FL_NONE16;
    return (fl_place){
        .first_event = event,
        .end_event = columns->count,
        .address = columns->address[event],
        .stream = columns->stream[event],
        .pool = pool != FL_NONE16 ? pool : 0,
        .is_known = pool != FL_NONE16,
        .is_expandable = columns->kind[event] == FL_EVENT_SEGMENT_MAP,
    };
}

static void find_request(struct finding *finding, uint64_t event)
{
    const fl_columns *columns = &finding->device->columns;
    fl_extent extent;
    uint64_t address = columns->address[event];
    bool is_refused = (columns->flags[event] & FL_EVENT_OOM) != 0;
    if (!is_refused && fl_extents_floor(&finding->there, address, &extent) &&
        address - extent.address < extent.size)
        finding->places->of[event] = extent.owner;
}

static bool find_event(struct finding *finding, uint64_t event)
{
    const fl_columns *columns = &finding->device->columns;
    uint32_t *of = &finding->places->of[event];
    switch (columns->kind[event]) {
    case FL_EVENT_SEGMENT_ALLOC:
    case FL_EVENT_SEGMENT_MAP: {
        fl_place place = place_of_event(columns, event);
        return come(finding, &place, columns->size[event], of);
    }
    case FL_EVENT_SEGMENT_FREE:
    case FL_EVENT_SEGMENT_UNMAP:
        return go(finding, event, columns->address[event], columns->size[event], of);
    case FL_OP_ALLOC:
        find_request(finding, event);
        return true;
    default:
        return true;
    }
}

/* What was there before the first event.  Its pool is known where the file names pools at all. */
static bool find_start(struct finding *finding)
{
    const fl_trace_start *start = &finding->device->start;
    for (size_t i = 0; i < start->segments.count; i++) {
        const fl_segment_view *run = &start->segments.items[i];
        uint32_t index;
        fl_place place = {
            .end_event = finding->device->columns.count,
            .address = run->address,
            .stream = run->stream,
            .pool = finding->device->columns.pool != NULL ? run->pool : 0,
            .is_known = finding->device->columns.pool != NULL,
            .is_expandable = run->is_expandable,
        };
        if (!come(finding, &place, run->size, &index) ||
            !fl_vector_reserve(finding->host, &finding->places->of_start, 1, finding->error))
            return false;
        finding->places->of_start.items[finding->places->of_start.count++] = index;
    }
    return true;
}

static void find_final(struct finding *finding)
{
    const fl_trace_device *device = finding->device;
    for (size_t i = 0; i < device->segments.count && !finding->trace->lacks_pools; i++) {
        const fl_segment_view *run = &device->segments.items[i];
        fl_extent extent;
        if (fl_extents_floor(&finding->there, run->address, &extent) &&
            run->address - extent.address < extent.size)
            know_pool(&finding->places->items.items[places_root(finding->places, extent.owner)],
                      run->pool);
    }
}

static bool find_all(struct finding *finding)
{
    fl_places *places = finding->places;
    places->event_count = finding->device->columns.count;
    places->of = fl_new(finding->host, places->event_count * sizeof *places->of, finding->error);
    if (places->of == NULL)
        return false;
    memset(places->of, 0xff, places->event_count * sizeof *places->of);
    if (!find_start(finding))
        return false;
    for (uint64_t i = 0; finding->device->columns.address != NULL && i < places->event_count; i++)
        if (!find_event(finding, i))
            return false;
    find_final(finding);
    for (uint64_t i = 0; i < places->event_count; i++)
        if (places->of[i] != FL_NONE)
            places->of[i] = places_root(places, places->of[i]);
    for (size_t i = 0; i < places->of_start.count; i++)
        if (places->of_start.items[i] != FL_NONE)
            places->of_start.items[i] = places_root(places, places->of_start.items[i]);
    return true;
}

fl_status fl_places_find(const fl_trace *trace, size_t device, fl_places *ret_places,
                         fl_error *error)
{
    fl_places places = {0};
    struct finding finding = {
        .host = trace->host,
        .trace = trace,
        .device = &trace->devices.items[device],
        .places = &places,
        .error = error,
    };
    bool is_done = find_all(&finding);
    fl_extents_deinit(trace->host, &finding.there);
    if (is_done)
        *ret_places = places;
    else
        fl_places_deinit(trace->host, &places);
    return is_done ? FL_OK : FL_ERR_RESOURCE;
}

void fl_places_deinit(const fl_host *host, fl_places *places)
{
    fl_vector_deinit(host, &places->items);
    fl_vector_deinit(host, &places->of_start);
    fl_delete(host, places->of, places->event_count * sizeof *places->of);
    *places = (fl_places){0};
}
