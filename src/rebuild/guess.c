/* A first guess: what the file says, and for the rest that what came between two requests of one
 * pool was of that pool as well. */
#include "rebuild/guess.h"

#include "base/memory.h"
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
    for (size_t i = 0; i < of->start.segments.count; i++)
        guess->pools.items[of->start.segments.items[i].pool].is_open_before = true;
    if (profile->has_no_split)
        guess_no_split(of, profile, settings, guess);
    return FL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

fl_status fl_guess_plan(const fl_trace *trace, size_t device, fl_guess *guess, fl_error *error)
{
    guess->plan.count = guess->next = 0;
    return fl_scopes_plan(trace, device, &guess->places, guess->asked, guess->pools.items,
                          &guess->plan, error);
}

fl_status fl_guess_make(const fl_trace *trace, size_t device, const fl_profile *profile,
                        const fl_settings *settings, fl_guess *ret_guess, fl_error *error)
{
    fl_guess guess = {0};
    fl_status status = fl_places_find(trace, device, &guess.places, error);
    if (status == FL_OK)
        status = guess_asked(trace, fl_trace_columns(trace, device), &guess, error);
    if (status == FL_OK)
        status = guess_pools(trace, device, profile, settings, &guess, error);
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
    *guess = (fl_guess){0};
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
