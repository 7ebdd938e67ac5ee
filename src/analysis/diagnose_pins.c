/* Whose blocks are in the way of the refused request, proved by a replay that frees them. */
#include "analysis/diagnose_state.h"

#include "replay/replay.h"

enum { PROOFS_MOST = 24 }; /* replays for the sake of one answer */

/* Replays up to the refused request, frees the blocks, and asks. */
static fl_status pins_free_and_ask(fl_replay *replay, uint64_t event,
                                   const struct fl_pin_list *pins, bool *ret_serves,
                                   fl_error *error)
{
    bool more = true;
    fl_status status = fl_replay_begin(replay, error);
    while (status == FL_OK && more && replay->event < event)
        status = fl_replay_step(replay, &more, error);
    if (status == FL_OK && more)
        status = fl_replay_inferred(replay, error);
    for (size_t i = 0; status == FL_OK && i < pins->count; i++) {
        fl_op op = {.kind = FL_OP_FREE,
                    .id = pins->items[i].id,
                    .stream = FL_NONE,
                    .pool = FL_NONE,
                    .text = FL_NONE};
        status = fl_replay_ask(replay, &op, error);
    }
    if (status == FL_OK)
        status = fl_replay_step(replay, &more, error);
    fl_replay_summary summary = {0};
    if (status == FL_OK)
        fl_replay_get_summary(replay, &summary);
    *ret_serves = !summary.has_oom;
    return status;
}

static fl_status pins_prove(const fl_diagnosing *d, const struct fl_pin_list *pins,
                            bool *ret_serves, fl_error *error)
{
    fl_replay *replay = NULL;
    fl_replay_options options = d->options;
    options.is_lean = false;
    fl_status status = fl_replay_open(d->trace, &options, &replay, error);
    if (status == FL_OK)
        status = pins_free_and_ask(replay, d->result->points[FL_POINT_OOM].event, pins, ret_serves,
                                   error);
    fl_replay_close(replay);
    return status;
}

/* Adds the live blocks of a set. */
static bool pins_add(const fl_diagnosing *d, const fl_pin_set *set, struct fl_pin_list *pins,
                     fl_error *error)
{
    for (size_t i = set->first_block; i < set->first_block + set->count; i++) {
        const fl_block_view *block = &d->at_oom.blocks.items[i];
        if (block->state != FL_BLOCK_LIVE)
            continue;
        if (!fl_vector_reserve(d->host, pins, 1, error))
            return false;
        pins->items[pins->count++] =
            (fl_pin){block->id, block->address, block->size, block->requested,
                     fl_owners_get(&d->result->owners, block->id)};
    }
    return true;
}

/* What the device has left once everything was tried: below a limit, what the limit leaves. */
static uint64_t pins_room(const fl_diagnosis *result)
{
    const fl_refusal *refusal = &result->summary.oom.refusal;
    uint64_t room = result->points[FL_POINT_OOM].device_free_bytes;
    if (!result->summary.oom.has_refusal || refusal->limit_bytes == FL_UNLIMITED)
        return room;
    uint64_t left = refusal->limit_bytes > refusal->reserved_bytes
                        ? refusal->limit_bytes - refusal->reserved_bytes
                        : 0;
    return left < room ? left : room;
}

static fl_status pins_try_one(fl_diagnosing *d, const fl_pin_set *set, bool *ret_serves,
                              fl_error *error)
{
    struct fl_pin_list *pins = &d->result->pins;
    pins->count = 0;
    return pins_add(d, set, pins, error) ? pins_prove(d, pins, ret_serves, error) : FL_ERR_RESOURCE;
}

/* Single segments, the cheapest first. */
static fl_status pins_try_single(fl_diagnosing *d, const struct fl_pin_sets *sets, uint64_t room,
                                 bool *ret_serves, fl_error *error)
{
    size_t proofs = 0;
    *ret_serves = false;
    for (size_t i = 0; i < sets->count && proofs < PROOFS_MOST && !*ret_serves; i++) {
        if (!fl_pins_suffice(&sets->items[i], &d->oom_probe, room))
            continue;
        proofs++;
        fl_status status = pins_try_one(d, &sets->items[i], ret_serves, error);
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}

/* Whole segments that go back together, the cheapest first, until the device has enough; then those
 * left out again without which it still has. */
static fl_status pins_try_several(fl_diagnosing *d, const struct fl_pin_sets *sets, uint64_t room,
                                  bool *ret_serves, fl_error *error)
{
    struct fl_pin_list *pins = &d->result->pins;
    uint64_t wanted = d->oom_probe.segment_bytes, gained = room;
    size_t end = 0;
    for (; end < sets->count && gained < wanted; end++)
        gained += sets->items[end].goes_back ? sets->items[end].gained_bytes : 0;
    pins->count = 0;
    for (size_t i = end; i > 0; i--) {
        const fl_pin_set *set = &sets->items[i - 1];
        if (!set->goes_back)
            continue;
        if (gained >= wanted && gained - wanted >= set->gained_bytes)
            gained -= set->gained_bytes;
        else if (!pins_add(d, set, pins, error))
            return FL_ERR_RESOURCE;
    }
    return pins->count > 0 ? pins_prove(d, pins, ret_serves, error) : FL_OK;
}

static fl_status pins_list_segments(fl_diagnosing *d, const struct fl_pin_sets *sets, uint64_t room,
                                    fl_error *error)
{
    struct fl_pinned_segments *list = &d->result->segments;
    if (!fl_vector_reserve(d->host, list, sets->count, error))
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < sets->count; i++) {
        const fl_pin_set *set = &sets->items[i];
        list->items[list->count++] = (fl_pinned_segment){
            .segment = d->at_oom.segments.items[set->segment].view,
            .pinned_bytes = set->pinned_bytes,
            .gained_bytes = set->gained_bytes,
            .pin_count = set->pin_count,
            .goes_back = set->goes_back,
            .suffices = fl_pins_suffice(set, &d->oom_probe, room),
        };
    }
    return FL_OK;
}

fl_status fl_diagnose_pins(fl_diagnosing *d, fl_error *error)
{
    if (!d->has_oom_probe || d->oom_probe.pool == FL_NONE || d->at_oom.segments.count == 0)
        return FL_OK;
    struct fl_pin_sets sets = {0};
    uint64_t room = pins_room(d->result);
    bool serves = false;
    fl_status status = fl_pins_find(d->host, &d->at_oom, &d->oom_probe, &sets, error);
    if (status == FL_OK)
        status = pins_list_segments(d, &sets, room, error);
    if (status == FL_OK)
        status = pins_try_single(d, &sets, room, &serves, error);
    if (status == FL_OK && !serves)
        status = pins_try_several(d, &sets, room, &serves, error);
    if (!serves)
        d->result->pins.count = 0;
    for (size_t i = 0; i < d->result->pins.count; i++)
        d->result->pinned_bytes += d->result->pins.items[i].size;
    fl_vector_deinit(d->host, &sets);
    return status;
}
