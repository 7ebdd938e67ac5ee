/* A request for an exact address (17): from what is free there, or not at all.  No new memory is
 * obtained, and the free set is not searched by size. */
#include "policy/torch/torch.h"

/* The free block of the request's pool and stream that holds it at `address`; FL_NONE: none does.
 * Nobody asks so often that free blocks would have to be kept by address. */
static uint32_t exact_find(const torch *st, const struct torch_request *request, uint64_t address)
{
    const struct torch_lane *lane = torch_lane_find(st, request->pool, request->stream);
    if (lane == NULL || lane->bins == NULL)
        return FL_NONE;
    uint32_t index = torch_bins_seek(st, lane->bins, request->rounded);
    for (; index != FL_NONE; index = torch_bins_next(st, lane->bins, index)) {
        const struct torch_block *block = torch_block_at(st, index);
        if (block->address <= address && address - block->address <= block->size - request->rounded)
            return index;
    }
    return FL_NONE;
}

/* What lies before the address is handed out for a moment, so that it is cut off. */
static bool exact_take_front(torch *st, uint32_t index, const struct torch_request *request,
                             uint64_t size, uint32_t *ret_front)
{
    struct torch_request front = *request;
    front.id = FL_NONE;
    front.size = front.rounded = size;
    if (!torch_hand_out(st, index, &front, true, ret_front))
        return false;
    torch_free_remove(st, index);
    return true;
}

/* It was nobody's; the changes say so, while the freeing itself goes by the request's number, which
 * nothing has yet. */
static bool exact_free_front(torch *st, uint32_t index, const struct torch_request *request)
{
    struct torch_block *block = torch_block_at(st, index);
    torch_tell_block(st, FL_CHANGE_FREE_ASKED, block);
    torch_tell_block(st, FL_CHANGE_FREE_DONE, block);
    const fl_sink *sink = st->sink;
    st->sink = NULL;
    block->id = request->id;
    torch_step step = torch_free(st, index, false);
    st->sink = sink;
    return step == STEP_YES;
}

torch_step torch_request_at(torch *st, struct torch_request *request, uint64_t address,
                            uint32_t *ret_block)
{
    if (!st->profile->has_exact_address)
        return torch_forbid(st, "this release has no requests for an exact address");
    if (address % FL_MIN_BLOCK != 0)
        return torch_forbid(st, "mallocWithAddress: the address is no multiple of 512 bytes");
    if (!torch_in_capture(st, request->stream) && !torch_process_events(st))
        return STEP_BROKEN;
    if (request->pool == FL_NONE)
        return torch_forbid(st, "the pool of the open scope was deleted");
    uint32_t index = exact_find(st, request, address), front = FL_NONE;
    if (index == FL_NONE)
        return torch_forbid(st, "Could not allocate CUDA storage at exact address");
    torch_free_remove(st, index);
    uint64_t before = address - torch_block_at(st, index)->address;
    if (before > 0 && !exact_take_front(st, index, request, before, &front))
        return STEP_BROKEN;
    bool split = torch_should_split(st, torch_block_at(st, index), request);
    if (!torch_hand_out(st, index, request, split, ret_block) ||
        (front != FL_NONE && !exact_free_front(st, front, request)))
        return STEP_BROKEN;
    return STEP_YES;
}
