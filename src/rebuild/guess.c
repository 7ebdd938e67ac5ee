/* A first guess: what the file says, and for the rest that what came between two requests of one
 * pool was of that pool as well. */
#include "rebuild/guess.h"

#include "base/checked.h"
#include "base/memory.h"
#include "rebuild/card.h"
#include "rules/profile.h"
#include "rules/sizes.h"
#include "trace/build.h"

bool fl_guess_has_pools(const fl_trace *trace, size_t device)
{
    const fl_columns *columns = fl_trace_columns(trace, device);
    for (uint64_t i = 0; columns->pool != NULL && i < columns->count; i++)
        if (columns->pool[i] != 0 && columns->pool[i] != FL_NONE16)
            return true;
    size_t count;
    const fl_segment_view *segments = fl_trace_final_segments(trace, device, &count);
    for (size_t i = 0; i < count; i++)
        if (segments[i].pool != 0)
            return true;
    return false;
}

/* ---- pools of requests ----------------------------------------------------------------------- */

static bool is_request(const fl_columns *columns, uint64_t event)
{
    return columns->kind[event] == FL_OP_ALLOC;
}

/* The pool that the file gives a request, by its entry or by where it landed; else FL_NONE16. */
static uint16_t stated_pool(const fl_guess *guess, const fl_columns *columns, uint64_t event)
{
    if (columns->pool != NULL && columns->pool[event] != FL_NONE16)
        return columns->pool[event];
    uint32_t place = guess->places.of[event];
    const fl_place *known = place != FL_NONE ? &guess->places.items.items[place] : NULL;
    return known != NULL && known->is_known ? (uint16_t)known->pool : FL_NONE16;
}

/* The nearest stated pools on one side of a request: of its stream, and of any. */
struct side {
    uint16_t own, any;
};

static uint16_t sides_agree(struct side before, struct side after)
{
    if (before.own != FL_NONE16 || after.own != FL_NONE16)
        return before.own == after.own ? before.own : 0;
    return before.any == after.any && before.any != FL_NONE16 ? before.any : 0;
}

/* Walks the requests in one direction, and tells of each that nothing is stated of what stands on
 * the side that it comes from.  `latest` has one entry by stream, and one more. */
static void walk_sides(const fl_guess *guess, const fl_columns *columns, bool is_backward,
                       uint16_t *latest, size_t stream_count, struct side *ret_sides)
{
    memset(latest, 0xff, (stream_count + 1) * sizeof *latest);
    for (uint64_t k = 0; k < columns->count; k++) {
        uint64_t i = is_backward ? columns->count - 1 - k : k;
        if (!is_request(columns, i) || columns->stream[i] >= stream_count)
            continue;
        uint16_t pool = stated_pool(guess, columns, i), *own = &latest[columns->stream[i]];
        ret_sides[i] = (struct side){*own, latest[stream_count]};
        if (pool != FL_NONE16)
            *own = latest[stream_count] = pool;
    }
}

/* The first request that landed in a place decides for it; one that was refused only for itself. */
static void take_sides(fl_guess *guess, const fl_columns *columns, const struct side *before,
                       const struct side *after)
{
    for (uint64_t i = 0; i < columns->count; i++) {
        if (!is_request(columns, i))
            continue;
        uint32_t place = guess->places.of[i];
        guess->asked[i] = stated_pool(guess, columns, i);
        if (guess->asked[i] != FL_NONE16)
            continue;
        fl_place *open = place != FL_NONE ? &guess->places.items.items[place] : NULL;
        if (open != NULL && open->pool != FL_NONE)
            guess->asked[i] = (uint16_t)open->pool;
        else
            guess->asked[i] = sides_agree(before[i], after[i]);
        if (open != NULL)
            open->pool = guess->asked[i];
    }
}

static fl_status guess_asked(const fl_trace *trace, const fl_columns *columns, fl_guess *guess,
                             fl_error *error)
{
    const fl_host *host = trace->host;
    size_t streams = trace->streams.count, bytes = (size_t)columns->count * sizeof(struct side);
    guess->asked = fl_new(host, (size_t)columns->count * sizeof *guess->asked, error);
    uint16_t *latest = fl_new(host, (streams + 1) * sizeof *latest, error);
    struct side *before = fl_new(host, bytes, error), *after = fl_new(host, bytes, error);
    bool is_done = guess->asked != NULL && latest != NULL && before != NULL && after != NULL;
    if (is_done) {
        for (size_t i = 0; i < guess->places.items.count; i++)
            if (!guess->places.items.items[i].is_known)
                guess->places.items.items[i].pool = FL_NONE;
        walk_sides(guess, columns, false, latest, streams, before);
        walk_sides(guess, columns, true, latest, streams, after);
        take_sides(guess, columns, before, after);
        for (size_t i = 0; i < guess->places.items.count; i++)
            if (guess->places.items.items[i].pool == FL_NONE)
                guess->places.items.items[i].pool = 0;
    }
    fl_delete(host, latest, (streams + 1) * sizeof *latest);
    fl_delete(host, before, bytes);
    fl_delete(host, after, bytes);
    return is_done ? FL_OK : FL_ERR_RESOURCE;
}

static fl_status note_refused(const fl_trace *trace, const fl_columns *columns, fl_guess *guess,
                              fl_error *error)
{
    for (uint64_t i = 0; i < columns->count; i++) {
        if (!is_request(columns, i) || (columns->flags[i] & FL_EVENT_OOM) == 0 ||
            stated_pool(guess, columns, i) != FL_NONE16)
            continue;
        if (!fl_vector_reserve(trace->host, &guess->refused, 1, error))
            return FL_ERR_RESOURCE;
        guess->refused.items[guess->refused.count++] = (fl_refused){i, guess->asked[i]};
    }
    return FL_OK;
}

/* ---- what pools are like --------------------------------------------------------------------- */

/* A block so much larger than what was asked for would have been split. */
static bool is_unsplit(const fl_profile *profile, const fl_settings *settings,
                       const fl_segment_view *run, const fl_block_view *block)
{
    uint64_t rounded = fl_round_size(profile, settings, block->requested);
    uint64_t least = run->is_small || run->is_expandable ? FL_MIN_BLOCK : FL_SMALL_SIZE + 1;
    return block->state == FL_BLOCK_LIVE && block->size >= rounded &&
           block->size - rounded >= least && rounded < settings->max_split_bytes;
}

static void guess_no_split(const fl_trace_device *device, const fl_profile *profile,
                           const fl_settings *settings, fl_guess *guess)
{
    size_t k = 0;
    for (size_t i = 0; i < device->segments.count; i++) {
        const fl_segment_view *run = &device->segments.items[i];
        for (;
             k < device->blocks.count && device->blocks.items[k].address - run->address < run->size;
             k++)
            if (run->pool != 0 && is_unsplit(profile, settings, run, &device->blocks.items[k]))
                guess->pools.items[run->pool].flags |= FL_OP_NO_SPLIT;
    }
}

static fl_status guess_pools(const fl_trace *trace, size_t device, const fl_profile *profile,
                             const fl_settings *settings, fl_guess *guess, fl_error *error)
{
    const fl_trace_device *of = &trace->devices.items[device];
    if (!fl_vector_reserve(trace->host, &guess->pools, trace->pools.count, error))
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < trace->pools.count; i++)
        guess->pools.items[guess->pools.count++] = (fl_pool_guess){
            /* Captures number their own pools; a pool of a program has its number second. */
            .flags = trace->pools.items[i].first != 0 ? FL_OP_CAPTURE : 0,
            .released_event = UINT64_MAX,
        };
    for (size_t i = 0; i < of->segments.count; i++)
        guess->pools.items[of->segments.items[i].pool].is_named = true;
    for (uint64_t i = 0; of->columns.pool != NULL && i < of->columns.count; i++)
        if (of->columns.pool[i] != FL_NONE16)
            guess->pools.items[of->columns.pool[i]].is_named = true;
    if (profile->has_no_split)
        guess_no_split(of, profile, settings, guess);
    return FL_OK;
}

/* ---- served by a pool of others (12.6) ------------------------------------------------------- */

/* The device, as far as refusals tell of it. */
struct room {
    const fl_profile *profile;
    const fl_settings *settings;
    uint64_t reserved; /* so far */
    uint64_t most;     /* that is known to have been there */
};

/* The most that is known to have been there for this allocator; 0: no refusal tells. */
static uint64_t find_room(const fl_columns *columns, uint64_t reserved)
{
    uint64_t room = 0, there;
    for (uint64_t i = 0; i < columns->count; i++) {
        reserved = fl_reserved_after(columns, i, reserved);
        bool is_refused = is_request(columns, i) && (columns->flags[i] & FL_EVENT_OOM) != 0;
        if (is_refused && fl_add(reserved, columns->address[i], &there) && there > room)
            room = there;
    }
    return room;
}

/* A request that landed in a private pool without new memory, where the device had none left. */
static bool may_be_hit(const struct room *room, const fl_columns *columns, const fl_guess *guess,
                       uint64_t event)
{
    uint64_t needed;
    bool took = event > 0 && (columns->kind[event - 1] == FL_EVENT_SEGMENT_ALLOC ||
                              columns->kind[event - 1] == FL_EVENT_SEGMENT_MAP);
    uint64_t rounded = fl_round_size(room->profile, room->settings, columns->size[event]);
    return guess->asked[event] != 0 && !took &&
           fl_add(room->reserved, fl_segment_size(room->settings, rounded), &needed) &&
           needed > room->most;
}

/* Requests of one pool one after the other, all of which may be: a scope would not have waited for
 * the device to be full. */
static fl_status guess_hits(const fl_trace *trace, const fl_trace_device *device, struct room *room,
                            fl_guess *guess, fl_error *error)
{
    const fl_columns *columns = &device->columns;
    size_t first = 0; /* of the stretch, in the list */
    uint16_t pool = 0;
    bool is_stretch = false; /* all of it so far may be */
    for (uint64_t i = 0; i < columns->count; i++) {
        room->reserved = fl_reserved_after(columns, i, room->reserved);
        if (!is_request(columns, i))
            continue;
        if (guess->asked[i] != pool) {
            pool = guess->asked[i];
            first = guess->hits.count;
            is_stretch = pool != 0;
        }
        if (is_stretch && may_be_hit(room, columns, guess, i)) {
            if (!fl_vector_reserve(trace->host, &guess->hits, 1, error))
                return FL_ERR_RESOURCE;
            guess->hits.items[guess->hits.count++] = i;
        } else {
            is_stretch = false;
            guess->hits.count = first;
        }
    }
    for (size_t i = 0; i < guess->hits.count; i++)
        guess->pools.items[guess->asked[guess->hits.items[i]]].flags |= FL_OP_USE_ON_OOM;
    return FL_OK;
}

static fl_status find_hits(const fl_trace *trace, size_t device, const fl_profile *profile,
                           const fl_settings *settings, fl_guess *guess, fl_error *error)
{
    const fl_trace_device *of = &trace->devices.items[device];
    uint64_t reserved = fl_start_reserved(&of->start);
    struct room room = {profile, settings, reserved, 0};
    if (profile->use_on_oom == FL_USE_ON_OOM_NEVER || of->columns.address == NULL)
        return FL_OK;
    room.most = find_room(&of->columns, reserved);
    return room.most > 0 ? guess_hits(trace, of, &room, guess, error) : FL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

fl_status fl_guess_add_pool(const fl_trace *trace, fl_guess *guess, uint32_t pool, fl_error *error)
{
    if (pool < guess->pools.count)
        return FL_OK;
    if (!fl_vector_reserve(trace->host, &guess->pools, pool + (size_t)1 - guess->pools.count,
                           error))
        return FL_ERR_RESOURCE;
    while (guess->pools.count <= pool)
        guess->pools.items[guess->pools.count++] = (fl_pool_guess){.released_event = UINT64_MAX};
    return FL_OK;
}

/* Requests go where the places are that they landed in. */
static void route_requests(const fl_columns *columns, fl_guess *guess)
{
    for (size_t i = 0; i < guess->refused.count; i++)
        guess->asked[guess->refused.items[i].event] = (uint16_t)guess->refused.items[i].pool;
    for (uint64_t i = 0; i < columns->count; i++) {
        uint32_t place = is_request(columns, i) ? guess->places.of[i] : FL_NONE;
        bool is_stated = columns->pool != NULL && columns->pool[i] != FL_NONE16;
        if (place != FL_NONE && !is_stated)
            guess->asked[i] = (uint16_t)guess->places.items.items[place].pool;
    }
    for (size_t i = 0; i < guess->hits.count; i++)
        guess->asked[guess->hits.items[i]] = 0;
    for (size_t i = 0; i < guess->pools.count; i++)
        guess->pools.items[i].is_open_before = false;
    for (size_t i = 0; i < guess->places.of_start.count; i++) {
        uint32_t place = guess->places.of_start.items[i];
        if (place != FL_NONE)
            guess->pools.items[guess->places.items.items[place].pool].is_open_before = true;
    }
}

void fl_guess_drop_hits(fl_guess *guess)
{
    guess->hits.count = 0;
    for (size_t i = 0; i < guess->pools.count; i++)
        guess->pools.items[i].flags &= (uint8_t)~FL_OP_USE_ON_OOM;
}

fl_status fl_guess_plan(const fl_trace *trace, size_t device, fl_guess *guess, fl_error *error)
{
    guess->plan.count = guess->next = 0;
    if (!fl_vector_reserve(trace->host, &guess->plan, guess->others.count, error) ||
        fl_guess_add_pool(trace, guess, (uint32_t)trace->pools.count - 1, error) != FL_OK)
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < guess->others.count; i++)
        guess->plan.items[guess->plan.count++] = guess->others.items[i];
    route_requests(fl_trace_columns(trace, device), guess);
    return fl_scopes_plan(trace, device, &guess->places, guess->asked, guess->pools.items,
                          &guess->plan, error);
}

static fl_status add_other(const fl_trace *trace, fl_guess *guess, const fl_planned *planned,
                           fl_error *error)
{
    struct fl_plan *others = &guess->others;
    size_t at = others->count;
    while (at > 0 && others->items[at - 1].event >= planned->event) {
        const fl_planned *other = &others->items[at - 1];
        if (other->event == planned->event && other->op.kind == planned->op.kind) {
            others->items[at - 1] = *planned;
            return FL_OK;
        }
        at--;
    }
    if (!fl_vector_reserve(trace->host, others, 1, error))
        return FL_ERR_RESOURCE;
    for (size_t i = others->count++; i > at; i--)
        others->items[i] = others->items[i - 1];
    others->items[at] = *planned;
    return FL_OK;
}

fl_status fl_guess_add_settings(const fl_trace *trace, fl_guess *guess, uint64_t event,
                                uint32_t text, fl_error *error)
{
    fl_planned planned = {.event = event,
                          .op = {.kind = FL_OP_CONFIGURE,
                                 .flags = FL_OP_INFERRED,
                                 .id = FL_NONE,
                                 .stream = FL_NONE,
                                 .pool = FL_NONE,
                                 .text = text}};
    return add_other(trace, guess, &planned, error);
}

fl_status fl_guess_add_limit(const fl_trace *trace, fl_guess *guess, uint64_t event, uint64_t bytes,
                             fl_error *error)
{
    fl_planned planned = {.event = event,
                          .op = {.kind = FL_OP_LIMIT,
                                 .flags = FL_OP_BYTES | FL_OP_INFERRED,
                                 .id = FL_NONE,
                                 .stream = FL_NONE,
                                 .pool = FL_NONE,
                                 .text = FL_NONE,
                                 .size = bytes}};
    return add_other(trace, guess, &planned, error);
}

fl_status fl_guess_make(const fl_trace *trace, size_t device, const fl_profile *profile,
                        const fl_settings *settings, fl_guess *ret_guess, fl_error *error)
{
    fl_guess guess = {0};
    fl_status status = fl_places_find(trace, device, &guess.places, error);
    if (status == FL_OK)
        status = guess_asked(trace, fl_trace_columns(trace, device), &guess, error);
    if (status == FL_OK)
        status = note_refused(trace, fl_trace_columns(trace, device), &guess, error);
    if (status == FL_OK)
        status = guess_pools(trace, device, profile, settings, &guess, error);
    if (status == FL_OK)
        status = find_hits(trace, device, profile, settings, &guess, error);
    if (status == FL_OK)
        status = fl_guess_plan(trace, device, &guess, error);
    if (status == FL_OK)
        *ret_guess = guess;
    else
        fl_guess_deinit(trace->host, &guess);
    return status;
}

void fl_guess_deinit(const fl_host *host, fl_guess *guess)
{
    fl_delete(host, guess->asked, (size_t)guess->places.event_count * sizeof *guess->asked);
    fl_places_deinit(host, &guess->places);
    fl_vector_deinit(host, &guess->pools);
    fl_vector_deinit(host, &guess->plan);
    fl_vector_deinit(host, &guess->others);
    fl_lessons_deinit(host, &guess->lessons);
    fl_vector_deinit(host, &guess->refused);
    fl_vector_deinit(host, &guess->hits);
    *guess = (fl_guess){0};
}

fl_status fl_guess_place_start(fl_trace *trace, size_t device, const fl_guess *guess,
                               fl_error *error)
{
    fl_trace_start *start = &trace->devices.items[device].start;
    for (size_t i = 0; i < start->segments.count && guess->places.of == NULL; i++)
        start->segments.items[i].pool = 0; /* nothing names a pool */
    for (size_t i = 0; i < guess->places.of_start.count && i < start->segments.count; i++) {
        uint32_t place = guess->places.of_start.items[i];
        if (place != FL_NONE)
            start->segments.items[i].pool = guess->places.items.items[place].pool;
    }
    return fl_lessons_tell(trace->host, &guess->lessons, start, error);
}

fl_status fl_guess_insert(fl_trace *trace, size_t device, fl_guess *guess, uint64_t event,
                          bool is_late, fl_error *error)
{
    for (; guess->next < guess->plan.count; guess->next++) {
        const fl_planned *planned = &guess->plan.items[guess->next];
        if (planned->event > event || (planned->event == event && planned->is_late && !is_late))
            break;
        fl_status status = fl_trace_insert(trace, device, planned->event, &planned->op, error);
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}
