/* A trace without events: what the final state alone shows.
 *
 * Nobody was refused in it, so there are no points and no pins.  Whether it fits a smaller card is
 * arithmetic: what is live must fit; what is reserved fits, or is in the wrong pieces. */
#include "analysis/diagnose_state.h"

#include "base/checked.h"

static fl_status final_draw(const fl_diagnosing *d, fl_picture *picture, fl_error *error)
{
    size_t segment_count, block_count, at = 0;
    const fl_segment_view *segments =
        fl_trace_final_segments(d->trace, d->options.trace_device, &segment_count);
    const fl_block_view *blocks =
        fl_trace_final_blocks(d->trace, d->options.trace_device, &block_count);
    fl_walk walk = fl_picture_walk(picture);
    for (size_t i = 0; i < segment_count; i++) {
        walk.segment(walk.user, &segments[i]);
        for (; at < block_count && blocks[at].address - segments[i].address < segments[i].size;
             at++)
            walk.block(walk.user, &blocks[at]);
    }
    if (picture->error.status != FL_OK)
        return fl_fail(error, picture->error.status, "%s", picture->error.text);
    return FL_OK;
}

/* A file's sums may be beyond all memory: then they stay at the end of it. */
static void final_add(uint64_t *sum, uint64_t bytes)
{
    if (!fl_add(*sum, bytes, sum))
        *sum = UINT64_MAX;
}

static void final_sum(const fl_picture *picture, fl_totals *totals)
{
    for (size_t i = 0; i < picture->segments.count; i++)
        final_add(&totals->reserved_bytes, picture->segments.items[i].view.size);
    for (size_t i = 0; i < picture->blocks.count; i++) {
        const fl_block_view *block = &picture->blocks.items[i];
        if (block->state == FL_BLOCK_FREE)
            continue;
        final_add(&totals->active_bytes, block->size);
        final_add(&totals->requested_bytes, block->requested);
        if (block->state == FL_BLOCK_LIVE)
            final_add(&totals->allocated_bytes, block->size);
    }
}

/* More in use than there is, cannot be. */
static fl_trouble final_judge(const fl_totals *totals, uint64_t capacity)
{
    if (totals->active_bytes > totals->reserved_bytes)
        return FL_TROUBLE_INCONSISTENT;
    if (totals->allocated_bytes > capacity)
        return FL_TROUBLE_FULL;
    return totals->reserved_bytes > capacity ? FL_TROUBLE_FRAGMENTATION : FL_TROUBLE_FITS;
}

fl_status fl_diagnose_final(fl_diagnosing *d, fl_error *error)
{
    fl_diagnosis *result = d->result;
    if (!fl_trace_has_final_state(d->trace, d->options.trace_device)) {
        result->trouble = FL_TROUBLE_UNKNOWN;
        return FL_OK;
    }
    fl_picture picture;
    fl_picture_init(&picture, d->host);
    fl_status status = final_draw(d, &picture, error);
    if (status == FL_OK) {
        final_sum(&picture, &result->peak);
        result->summary.end = result->summary.peak = result->peak;
        result->trouble = final_judge(&result->peak, result->capacity_bytes);
    }
    for (int by = 0; status == FL_OK && by < FL_GROUPING_COUNT; by++)
        status =
            fl_owners_group(&result->owners, &picture, (fl_grouping)by, &result->live[by], error);
    fl_picture_deinit(&picture);
    return status;
}
