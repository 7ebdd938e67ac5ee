/* A request for an exact address (17): from what is free there, or not at all.  No new memory is
 * obtained, and the free set is not searched by size. */
#include "policy/torch/block.h"
#include "policy/torch/search.h"

/* The free block of the request's pool and stream that holds it at `address`; NO_BLOCK: none does.
 * Nobody asks so often that free blocks would have to be kept by address. */
static uint32_t exact_find(const torch *st, const struct torch_request *request, uint64_t address)
{
    const struct torch_lane *lane = torch_lane_find(st, request->pool, request->stream);
    if (lane == NULL)
        return NO_BLOCK;
    uint32_t index = torch_bins_seek(st, &lane->bins, request->rounded);
    for (; index != NO_BLOCK; index = torch_bins_next(st, &lane->bins, index)) {
        const struct torch_block *block = torch_block_at(st, index);
        if (block->address <= address && address - block->address <= block->size - request->rounded)
            return index;
    }
    return NO_BLOCK;
}

/* What lies before the address is handed out for a moment, so that it is cut off. */
static uint32_t exact_take_front(torch *st, uint32_t index, const struct torch_request *request,
                                 uint64_t size)
{
    struct torch_request front = *request;
    front.id = FL_NONE;
    front.size = front.rounded = size;
    uint32_t taken = torch_hand_out(st, index, &front, true);
    if (taken != NO_BLOCK)
        torch_free_remove(st, index);
    return taken;
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

static torch_step exact_request(torch *st, const struct torch_request *request, uint64_t address,
                                uint32_t *ret_block)
{
    if (!st->profile->has_exact_address)
        return torch_forbid(st, "this release has no requests for an exact address");
    if (address % FL_MIN_BLOCK != 0)
        return torch_forbid(st, "mallocWithAddress: the address is no multiple of 512 bytes");
    torch_step step = torch_prepare(st, request);
    if (step != STEP_YES)
        return step;
    uint32_t index = exact_find(st, request, address), front = NO_BLOCK;
    if (index == NO_BLOCK)
        return torch_forbid(st, "Could not allocate CUDA storage at exact address");
    torch_free_remove(st, index);
    uint64_t before = address - torch_block_at(st, index)->address;
    if (before > 0) {
        front = exact_take_front(st, index, request, before);
        if (front == NO_BLOCK)
            return STEP_BROKEN;
    }
    bool split = torch_should_split(st, torch_block_at(st, index), request);
    *ret_block = torch_hand_out(st, index, request, split);
    if (*ret_block == NO_BLOCK || (front != NO_BLOCK && !exact_free_front(st, front, request)))
        return STEP_BROKEN;
    return STEP_YES;
}

fl_status torch_alloc_at(torch *st, const fl_op *op, fl_result *ret_result)
{
    uint32_t index = NO_BLOCK;
    const struct torch_request request = torch_request_of(st, op->size, op->stream, op->id);
    torch_step step = exact_request(st, &request, op->address, &index);
    fl_status status = torch_finish(st, step, ret_result);
    if (step != STEP_YES)
        return status;
    st->block_of.items[op->id] = index;
    const struct torch_block *block = torch_block_at(st, index);
    *ret_result = (fl_result){.address = block->address, .size = block->size};
    return FL_OK;
}
