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

fl_status fl_tails_judge(const fl_miss *miss, const fl_trace *trace, size_t device,
                         const fl_replay *replay, fl_tail *ret_tail, fl_error *error)
{
    const fl_trace_start *start = &trace->devices.items[device].start;
    fl_look taken;
    *ret_tail = (fl_tail){0};
    if (miss->decision == FL_DECISION_FINAL_STATE || miss->has_change ||
        miss->op.kind != FL_OP_ALLOC || miss->result.outcome != FL_DONE || start->open.count == 0)
        return FL_OK;
    fl_status status = fl_look_at(replay, miss->result.address, &taken, error);
    if (status != FL_OK || !taken.found || taken.before.state != FL_BLOCK_LIVE ||
        taken.before.size == 0 || !is_open(start, taken.before.id))
        return status;
    uint64_t rounded = fl_round_size(replay->options.profile, &replay->settings, miss->op.size);
    uint64_t size = fl_look_size_before(&taken);
    uint64_t more = size >= rounded ? size - rounded + FL_MIN_BLOCK : 0;
    uint64_t known = fl_tails_known(start, taken.before.address);
    if (more > 0 && more <= FL_SMALL_SIZE && known <= FL_SMALL_SIZE - more)
        *ret_tail = (fl_tail){taken.before.address, known + more};
    return FL_OK;
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
