/* No cache at all: every request is a cudaMalloc, every free a cudaFree.
 *
 * The least memory that any allocator can reserve on this device, and the most calls to it.  It is
 * also the file to copy for a new policy: `policy_names` in meson.build is the only other place to
 * touch, the tests in tests/policy/test_contract.c run over whatever stands there, and a page in
 * docs/policies/ is asked for. */
#include <fraglab/policy.h>

#include "base/memory.h"
#include "base/vector.h"

#include <inttypes.h>
#include <stdlib.h>

typedef enum piece_state {
    PIECE_UNKNOWN, /* never asked for, or freed */
    PIECE_LIVE,
    PIECE_NOTHING /* 0 bytes, or refused: nothing to give back */
} piece_state;

/* What stands behind an allocation number. */
struct piece {
    uint64_t address, size;
    uint32_t segment;
    piece_state state;
};

FL_VECTOR(piece_vector, struct piece);

/* Allocation numbers are dense, so that an array is the whole index. */
struct fl_policy_state {
    fl_policy_env env;
    struct piece_vector pieces;
    size_t live_count;
    uint32_t segment_count; /* segments are numbered in order of acquisition */
    fl_refusal refusal;
    bool has_refusal;
};

/* Required.  `state` arrives zeroed, and everything in `env` outlives it. */
static fl_status passthrough_open(struct fl_policy_state *state, const fl_policy_env *env,
                                  fl_error *error)
{
    (void)error;
    state->env = *env;
    return FL_OK;
}

/* Required.  Gives back host memory only: what the device still holds ends with the device. */
static void passthrough_close(struct fl_policy_state *state)
{
    if (state->env.host != NULL)
        fl_vector_deinit(state->env.host, &state->pieces);
}

/* Whoever listens hears of each step.  This file knows one stream and one pool, both 0. */
static void passthrough_tell(const struct fl_policy_state *state, fl_change_kind kind, uint32_t id,
                             const struct piece *piece)
{
    if (state->env.sink == NULL)
        return;
    bool is_block = kind >= FL_CHANGE_PLACE;
    fl_change change = {
        .kind = (uint8_t)kind,
        .cause = FL_CAUSE_REQUEST,
        .id = is_block ? id : FL_NONE,
        .segment = piece->segment,
        .address = piece->address,
        .size = piece->size,
        .requested = is_block ? piece->size : 0,
    };
    state->env.sink->change(state->env.sink->user, &change);
}

/* The record of a number, made where there is none yet; NULL without host memory. */
static struct piece *passthrough_piece(struct fl_policy_state *state, uint32_t id, fl_error *error)
{
    size_t count = state->pieces.count;
    if (id >= count) {
        size_t extra = (size_t)id + 1 - count;
        if (!fl_vector_reserve(state->env.host, &state->pieces, extra, error))
            return NULL;
        memset(&state->pieces.items[count], 0, extra * sizeof *state->pieces.items);
        state->pieces.count += extra;
    }
    return &state->pieces.items[id];
}

static void passthrough_refuse(struct fl_policy_state *state, struct piece *piece, uint64_t size)
{
    state->has_refusal = true;
    state->refusal = (fl_refusal){
        .requested_bytes = size,
        .rounded_bytes = size,
        .segment_bytes = size,
        .device_free_bytes = fl_device_free_bytes(state->env.device),
    };
    *piece = (struct piece){.state = PIECE_NOTHING, .segment = FL_NONE, .size = size};
    passthrough_tell(state, FL_CHANGE_NO_SEGMENT, FL_NONE, piece);
}

/* Required.  A refusal is an outcome; a status is for what no program can mean, and for the host.
 * Host memory is asked for first, so that a failure finds nothing to undo. */
static fl_status passthrough_alloc(struct fl_policy_state *state, const fl_op *op,
                                   fl_result *ret_result, fl_error *error)
{
    if (op->id == FL_NONE || state->segment_count == FL_NONE)
        return fl_fail(error, FL_ERR_RESOURCE, "more than %" PRIu32 " allocations", FL_NONE);
    struct piece *piece = passthrough_piece(state, op->id, error);
    if (piece == NULL)
        return FL_ERR_RESOURCE;
    if (piece->state != PIECE_UNKNOWN)
        return fl_fail(error, FL_ERR_INPUT, "allocation %" PRIu32 " is live already", op->id);
    if (op->size == 0) {
        piece->state = PIECE_NOTHING;
        *ret_result = (fl_result){.outcome = FL_DONE};
        return FL_OK;
    }
    uint64_t address;
    switch (fl_device_acquire(state->env.device, op->size, op->stream, &address)) {
    case FL_ANSWER_ERROR:
        return fl_device_failure(state->env.device, error);
    case FL_ANSWER_FULL:
        passthrough_refuse(state, piece, op->size);
        *ret_result = (fl_result){.outcome = FL_REFUSED};
        return FL_OK;
    case FL_ANSWER_OK:
        break;
    }
    *piece = (struct piece){address, op->size, state->segment_count++, PIECE_LIVE};
    state->live_count++;
    passthrough_tell(state, FL_CHANGE_ACQUIRE, FL_NONE, piece);
    passthrough_tell(state, FL_CHANGE_PLACE, op->id, piece);
    *ret_result = (fl_result){.outcome = FL_DONE, .address = address, .size = op->size};
    return FL_OK;
}

/* Required.  A free whose request was refused is let pass, as a program would free a null
 * pointer.  cudaFree waits for the device, so that no free stays pending, whatever the op says. */
static fl_status passthrough_free(struct fl_policy_state *state, const fl_op *op,
                                  fl_result *ret_result, fl_error *error)
{
    struct piece *piece = op->id < state->pieces.count ? &state->pieces.items[op->id] : NULL;
    if (piece == NULL || piece->state == PIECE_UNKNOWN)
        return fl_fail(error, FL_ERR_INPUT, "free of allocation %" PRIu32 " which is not live",
                       op->id);
    if (piece->state == PIECE_LIVE) {
        if (fl_device_release(state->env.device, piece->address, piece->size) != FL_ANSWER_OK)
            return fl_device_failure(state->env.device, error);
        state->live_count--;
        passthrough_tell(state, FL_CHANGE_FREE_ASKED, op->id, piece);
        passthrough_tell(state, FL_CHANGE_FREE_DONE, op->id, piece);
        passthrough_tell(state, FL_CHANGE_RELEASE, FL_NONE, piece);
    }
    piece->state = PIECE_UNKNOWN;
    *ret_result = (fl_result){.outcome = FL_DONE};
    return FL_OK;
}

/* Required.  Every other op.  There are no streams to wait for, no pools, no settings, and nothing
 * cached that a trim could give back: all of them are done at once. */
static fl_status passthrough_control(struct fl_policy_state *state, const fl_op *op,
                                     fl_result *ret_result, fl_error *error)
{
    (void)state, (void)op, (void)error;
    *ret_result = (fl_result){.outcome = FL_DONE};
    return FL_OK;
}

static int piece_compare(const void *left, const void *right)
{
    uint64_t a = ((const fl_block_view *)left)->address;
    uint64_t b = ((const fl_block_view *)right)->address;
    return (a > b) - (a < b);
}

/* The live pieces by address, `live_count` of them; the caller frees *ret_blocks. */
static fl_status passthrough_sort(const struct fl_policy_state *state, fl_block_view **ret_blocks,
                                  fl_error *error)
{
    fl_block_view *blocks = fl_new(state->env.host, state->live_count * sizeof *blocks, error);
    if (blocks == NULL)
        return FL_ERR_RESOURCE;
    size_t count = 0;
    for (size_t id = 0; id < state->pieces.count; id++) {
        const struct piece *piece = &state->pieces.items[id];
        if (piece->state == PIECE_LIVE)
            blocks[count++] = (fl_block_view){
                FL_BLOCK_LIVE, (uint32_t)id, piece->address, piece->size, piece->size, 0, 0};
    }
    qsort(blocks, count, sizeof *blocks, piece_compare);
    *ret_blocks = blocks;
    return FL_OK;
}

/* Required.  Every invariant that can be told from the state alone; tests call it after each op. */
static fl_status passthrough_check(const struct fl_policy_state *state, fl_error *error)
{
    size_t live = 0;
    for (size_t id = 0; id < state->pieces.count; id++)
        live += state->pieces.items[id].state == PIECE_LIVE;
    if (live != state->live_count)
        return fl_fail(error, FL_ERR_INTERNAL, "%zu live allocations, %zu counted", live,
                       state->live_count);
    fl_block_view *blocks;
    if (passthrough_sort(state, &blocks, error) != FL_OK)
        return FL_ERR_RESOURCE;
    fl_status status = FL_OK;
    for (size_t i = 1; i < live && status == FL_OK; i++)
        if (blocks[i].address - blocks[i - 1].address < blocks[i - 1].size)
            status =
                fl_fail(error, FL_ERR_INTERNAL, "allocations %" PRIu32 " and %" PRIu32 " overlap",
                        blocks[i - 1].id, blocks[i].id);
    fl_delete(state->env.host, blocks, live * sizeof *blocks);
    return status;
}

/* Optional: segments by address, each followed by its blocks without a gap.  With it come heap
 * pictures, and the comparison with what the changes say. */
static fl_status passthrough_walk(const struct fl_policy_state *state, const fl_walk *walk,
                                  fl_error *error)
{
    fl_block_view *blocks;
    if (passthrough_sort(state, &blocks, error) != FL_OK)
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < state->live_count; i++) {
        fl_segment_view segment = {
            .segment = state->pieces.items[blocks[i].id].segment,
            .address = blocks[i].address,
            .size = blocks[i].size,
        };
        walk->segment(walk->user, &segment);
        walk->block(walk->user, &blocks[i]);
    }
    fl_delete(state->env.host, blocks, state->live_count * sizeof *blocks);
    return FL_OK;
}

/* Optional: what if this request came now?  Usable means that `alloc` would not change the device.
 * A policy with a cache shares the predicates of its alloc here. */
static fl_status passthrough_probe(const struct fl_policy_state *state, const fl_op *request,
                                   fl_probe *ret_probe, fl_error *error)
{
    (void)state, (void)error;
    *ret_probe = (fl_probe){
        .usable = request->size == 0,
        .rounded_bytes = request->size,
        .segment_bytes = request->size,
        .most_bytes = UINT64_MAX,
    };
    return FL_OK;
}

/* Optional: statistics, where the policy keeps PyTorch's, and the last refusal. */
static void passthrough_facts(const struct fl_policy_state *state, fl_facts *ret_facts)
{
    *ret_facts = (fl_facts){.refusal = state->has_refusal ? &state->refusal : NULL};
}

/* Left out, all optional: `params` (rows of options, typed as passthrough:key=value), `adopt` (take
 * over blocks that were live before the first op) and `next_value` (for a policy whose decisions
 * compare with a parameter, so that a search need not sample it). */
const fl_policy_ops fl_policy_passthrough = {
    .name = "passthrough",
    .summary = "no cache: every request goes to the device, every free back to it",
    .capabilities = 0,
    .state_size = sizeof(struct fl_policy_state),
    .open = passthrough_open,
    .alloc = passthrough_alloc,
    .free = passthrough_free,
    .control = passthrough_control,
    .check = passthrough_check,
    .close = passthrough_close,
    .probe = passthrough_probe,
    .facts = passthrough_facts,
    .walk = passthrough_walk,
};
