/* Which larger value of a setting, or of the card, would change anything that was done so far.
 *
 * The exact searches step from one such value to the next instead of sampling.  A split limit is
 * only ever compared, so the answer is exact: each comparison notes the least larger limit at which
 * it would turn out otherwise.  Of the card only is kept that it might matter at all: a limit or a
 * threshold that is a part of it was exceeded, or the end of an expandable range was met.  Both
 * become less likely as the card grows, so where nothing was noted every larger card is the same.
 */
#include "base/memory.h"
#include "policy/torch/torch.h"

bool torch_tracking_begin(torch *st)
{
    st->tracking = fl_new(st->host, sizeof *st->tracking, st->error);
    if (st->tracking == NULL)
        return false;
    st->tracking->next_split = UINT64_MAX;
    return true;
}

void torch_tracking_end(torch *st)
{
    fl_delete(st->host, st->tracking, sizeof *st->tracking);
}

static uint64_t tracking_next_total(const torch *st)
{
    return st->tracking->depends_on_total && st->total != FL_UNLIMITED ? st->total + 1 : UINT64_MAX;
}

uint64_t torch_next_value(const torch *st, const char *parameter)
{
    if (st->tracking == NULL)
        return 0;
    if (strcmp(parameter, "max_split_size") == 0)
        return st->tracking->next_split;
    return strcmp(parameter, "capacity") == 0 ? tracking_next_total(st) : UINT64_MAX;
}
