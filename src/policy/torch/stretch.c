/* Many plain requests and frees in one go: what alloc and free do, without an op, a result and two
 * calls for each of them, which would be a good part of the time that they take. */
#include "policy/torch/request.h"

static inline torch_step stretch_alloc(torch *st, fl_stretch *stretch, uint64_t event, uint32_t id)
{
    uint32_t stream = stretch->stream[event];
    if (!torch_meet_stream(st, stream) || !torch_meet_id(st, id))
        return STEP_BROKEN;
    struct torch_request request = torch_request_of(st, stretch->size[event], stream, id);
    return FL_LIKELY(torch_serve(st, &request) != NO_BLOCK) ? STEP_YES : st->step;
}

/* Ends with an op that is not granted or fails; the former is over. */
static FL_COLD fl_status stretch_end(torch *st, fl_stretch *stretch, torch_step step)
{
    fl_status status = torch_finish(st, step, &stretch->result);
    if (status == FL_OK)
        stretch->fates[stretch->id[stretch->event++]] = FL_FATE_NOTHING;
    return status;
}

fl_status torch_stretch(torch *st, fl_stretch *stretch, fl_error *error)
{
    const uint8_t *kinds = stretch->kind, *flags = stretch->flags;
    const uint32_t *ids = stretch->id;
    uint8_t *fates = stretch->fates;
    uint64_t event = stretch->event, stop = stretch->stop;
    torch_step step = STEP_YES;
    st->error = error;
    for (; event < stop; event++) {
        uint32_t id = ids[event];
        if (flags[event] != 0 || id >= stretch->fate_count)
            break;
        if (kinds[event] == FL_OP_ALLOC) {
            if (fates[id] != FL_FATE_UNSEEN || stretch->size[event] == 0)
                break;
            stretch->allocs++;
            fates[id] = FL_FATE_LIVE;
            step = stretch_alloc(st, stretch, event, id);
        } else {
            if (kinds[event] != FL_OP_FREE || fates[id] != FL_FATE_LIVE)
                break;
            stretch->frees++;
            fates[id] = FL_FATE_PENDING;
            step = torch_free_id(st, id, false);
        }
        if (FL_UNLIKELY(step != STEP_YES))
            break;
    }
    stretch->event = event;
    return step == STEP_YES ? FL_OK : stretch_end(st, stretch, step);
}
