/* Which larger value of a setting, or of the card, would change anything that was done so far.
 *
 * The exact searches step from one such value to the next instead of sampling.  A split limit is
 * only ever compared, so the answer is exact: each comparison notes the least larger limit at which
 * it would turn out otherwise.  So does a comparison with what lies between the mapped part of an
 * expandable range and its end, which is 9/8 of the card.  Of the rest is only kept that the card
 * might matter: a limit or a threshold that is a part of it was exceeded, or a range was full. Both
 * become less likely as the card grows, so where nothing was noted every larger card is the same.
 */
#include "base/memory.h"
#include "policy/torch/torch.h"

bool torch_tracking_begin(torch *st)
{
    st->tracking = fl_new(st->host, sizeof *st->tracking, st->error);
    if (st->tracking == NULL)
        return false;
    st->tracking->next_split = st->tracking->next_total = UINT64_MAX;
    return true;
}

/* The least card whose ranges (11.1) span `size`, a multiple of `page`: those of a smaller one,
 * rounded up to whole pages, are a page shorter. */
static uint64_t tracking_card_of(uint64_t size, uint64_t page)
{
    uint64_t wanted = size - page + 1; /* before rounding */
    uint64_t total = wanted / 9 * 8;
    while (total + total / 8 < wanted)
        total++;
    return total;
}

void torch_track_range(const torch *st, const struct torch_block *block, uint64_t growth)
{
    const struct torch_segment *segment = &st->segments.items[block->segment];
    uint64_t size;
    bool is_usual = st->total != FL_UNLIMITED && !st->settings.reserve.is_given &&
                    segment->size >= fl_round_up(torch_reserve_bytes(st), segment->page);
    if (!is_usual || !fl_add(segment->size, fl_round_up(growth, segment->page), &size)) {
        torch_track_total(st);
        return;
    }
    uint64_t total = tracking_card_of(size, segment->page);
    if (total < st->tracking->next_total)
        st->tracking->next_total = total;
}

void torch_tracking_end(torch *st)
{
    fl_delete(st->host, st->tracking, sizeof *st->tracking);
}

static uint64_t tracking_next_total(const torch *st)
{
    if (st->total == FL_UNLIMITED)
        return UINT64_MAX;
    return st->tracking->depends_on_total ? st->total + 1 : st->tracking->next_total;
}

uint64_t torch_next_value(const torch *st, const char *parameter)
{
    if (st->tracking == NULL)
        return 0;
    if (strcmp(parameter, "max_split_size") == 0)
        return st->tracking->next_split;
    return strcmp(parameter, "capacity") == 0 ? tracking_next_total(st) : UINT64_MAX;
}
