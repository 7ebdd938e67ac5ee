/* A block that was freed in the window may have been larger than what was asked for, by up to 1 MiB
 * (section 8.1 of docs/allocator-rules.md).  Where nothing was placed behind it while it lived, no
 * address tells; the rest of the gap is then smaller than it seems.  It shows where a request would
 * have found room there, and the record put it elsewhere: there was less than was asked for.  A
 * larger tail explains all that a smaller one does not, so going from none upward, each time by the
 * least that explains the decision, ends with the least that explains all. */
#include "rebuild/tails.h"

#include "rebuild/look.h"
#include "rules/sizes.h"

static bool is_open(const fl_trace_start *start, uint32_t id)
{
    for (size_t i = 0; i < start->open.count; i++)
        if (start->in_use.items[start->open.items[i]].id == id)
            return true;
    return false;
}

uint64_t fl_tails_most(const fl_profile *profile, const fl_settings *settings, uint64_t requested)
{
    bool is_whole = fl_round_size(profile, settings, requested) >= settings->max_split_bytes;
    return is_whole ? settings->non_split_rounding_bytes - FL_MIN_BLOCK : FL_SMALL_SIZE;
}

/* A free block that begins behind `before` begins `more` bytes later, in truth. */
static fl_tail tail_of(const fl_trace_start *start, const fl_replay *replay,
                       const fl_block_view *before, uint64_t more)
{
    if (before->size == 0 || before->state != FL_BLOCK_LIVE || !is_open(start, before->id))
        return (fl_tail){0};
    uint64_t known = fl_tails_known(start, before->address);
    uint64_t most = fl_tails_most(replay->options.profile, &replay->settings, before->requested);
    bool is_possible = more > 0 && more % FL_MIN_BLOCK == 0 && more <= most && known <= most - more;
    return is_possible ? (fl_tail){before->address, known + more} : (fl_tail){0};
}

/* Requests take the low end of a free block: one begins where the record has the request. */
static fl_status judge_place(const fl_miss *miss, const fl_trace *trace, size_t device,
                             const fl_replay *replay, const fl_look *taken, fl_tail *ret_tail,
                             fl_error *error)
{
    const fl_trace_device *of = &trace->devices.items[device];
    uint64_t recorded = of->columns.address[miss->recorded];
    uint64_t begin = miss->result.address;
    fl_look found;
    if (recorded > begin && recorded - begin < fl_look_size_before(taken)) {
        *ret_tail = tail_of(&of->start, replay, &taken->before, recorded - begin);
        return FL_OK;
    }
    fl_status status = fl_look_around(replay, recorded, &found, error);
    if (status == FL_OK && found.found && found.block.state == FL_BLOCK_FREE)
        *ret_tail = tail_of(&of->start, replay, &found.before, recorded - found.block.address);
    return status;
}

/* The request would not have gone where the record has it, had the rest been that large.  The least
 * tail that explains it may be more than there is room for behind what may be split: then the block
 * is one that was given whole. */
static fl_tail judge_size(const fl_miss *miss, const fl_trace_start *start, const fl_replay *replay,
                          const fl_look *taken)
{
    uint64_t rounded = fl_round_size(replay->options.profile, &replay->settings, miss->op.size);
    uint64_t size = fl_look_size_before(taken);
    uint64_t more = size >= rounded ? size - rounded + FL_MIN_BLOCK : 0;
    fl_tail tail = tail_of(start, replay, &taken->before, more);
    bool is_split = fl_tails_known(start, taken->before.address) + more <= FL_SMALL_SIZE;
    return tail.bytes > 0 && !is_split ? tail_of(start, replay, &taken->before, size) : tail;
}

fl_status fl_tails_judge(const fl_miss *miss, const fl_trace *trace, size_t device,
                         const fl_replay *replay, fl_tail *ret_tail, fl_error *error)
{
    const fl_trace_device *of = &trace->devices.items[device];
    fl_look taken;
    *ret_tail = (fl_tail){0};
    if (miss->decision == FL_DECISION_FINAL_STATE || miss->has_change ||
        miss->op.kind != FL_OP_ALLOC || miss->result.outcome != FL_DONE ||
        of->start.open.count == 0)
        return FL_OK;
    fl_status status = fl_look_at(replay, miss->result.address, &taken, error);
    if (status != FL_OK || !taken.found)
        return status;
    if (miss->decision == FL_DECISION_ADDRESS && miss->recorded < of->columns.count)
        status = judge_place(miss, trace, device, replay, &taken, ret_tail, error);
    if (status == FL_OK && ret_tail->bytes == 0)
        *ret_tail = judge_size(miss, &of->start, replay, &taken);
    return status;
}

fl_status fl_tails_learn(const fl_host *host, struct fl_u64_vector *tails, const fl_tail *tail,
                         fl_error *error)
{
    for (size_t i = 0; i + 1 < tails->count; i += 2) {
        if (tails->items[i] == tail->block) {
            tails->items[i + 1] = tail->bytes;
            return FL_OK;
        }
    }
    if (!fl_vector_reserve(host, tails, 2, error))
        return FL_ERR_RESOURCE;
    tails->items[tails->count++] = tail->block;
    tails->items[tails->count++] = tail->bytes;
    return FL_OK;
}

uint64_t fl_tails_known(const fl_trace_start *start, uint64_t block)
{
    for (size_t i = 0; i + 1 < start->tails.count; i += 2)
        if (start->tails.items[i] == block)
            return start->tails.items[i + 1];
    return 0;
}
