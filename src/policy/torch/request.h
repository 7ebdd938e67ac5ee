/* A request that the free set can serve, from end to end (6), inline; the rest is in request.c. */
#ifndef FL_POLICY_TORCH_REQUEST_H
#define FL_POLICY_TORCH_REQUEST_H

#include "policy/torch/block.h"
#include "policy/torch/search.h"

/* Splits, hands out and counts what was found; NO_BLOCK, with st->step: the host failed. */
FL_INLINE uint32_t torch_give(torch *st, const struct torch_request *request, uint32_t index)
{
    bool split = torch_should_split(st, torch_block_at(st, index), request);
    index = torch_hand_out(st, index, request, split);
    st->block_of.items[request->id] = index;
    if (FL_UNLIKELY(index == NO_BLOCK))
        st->step = STEP_BROKEN;
    return index;
}

/* The rest of a request that found nothing.  It does not take the request itself, so that those
 * which find something need not lie in memory. */
FL_COLD uint32_t torch_request_go_on(torch *st, uint64_t size, uint32_t stream, uint32_t id);

/* The block for a request; NO_BLOCK: st->step says why there is none. */
FL_INLINE uint32_t torch_serve(torch *st, const struct torch_request *request)
{
    torch_step step = torch_prepare(st, request);
    if (FL_UNLIKELY(step != STEP_YES)) {
        st->step = step;
        return NO_BLOCK;
    }
    uint32_t index = torch_take_free(st, request);
    if (FL_UNLIKELY(index == NO_BLOCK))
        return torch_request_go_on(st, request->size, request->stream, request->id);
    return torch_give(st, request, index);
}

#endif
