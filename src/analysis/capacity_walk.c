/* The walk over all cards of a range.  A span that begins in the middle of a stretch finds the same
 * end, so the stretches are the same wherever spans were cut; of those with one end the first
 * counts. */
#include "analysis/capacity_walk.h"

#include "analysis/sweep.h"
#include "device/pages.h"

#include <stdlib.h>

#define STEP FL_DEVICE_GRANULE

/* ---- one card -------------------------------------------------------------------------------- */

static void read_outcome(const fl_replay *replay, fl_capacity_interval *interval)
{
    fl_replay_summary summary;
    fl_replay_get_summary(replay, &summary);
    interval->works = summary.ooms == 0;
    interval->is_replayed = true;
    interval->refused_event = summary.has_oom ? summary.oom.event : FL_UNLIMITED;
    interval->peak_reserved_bytes = summary.peak.reserved_bytes;
    interval->driver_malloc = summary.driver_malloc;
    interval->driver_free = summary.driver_free;
    interval->driver_map = summary.driver_map;
    interval->driver_unmap = summary.driver_unmap;
    interval->alloc_retries = summary.has_stats ? summary.stats.alloc_retries : FL_UNLIMITED;
}

/* The end of what a stepped try stands for. */
static uint64_t next_step(uint64_t card_bytes)
{
    return card_bytes < UINT64_MAX - STEP ? card_bytes / STEP * STEP + STEP : UINT64_MAX;
}

fl_status fl_capacity_try(const fl_capacity_question *question, uint64_t card_bytes,
                          fl_capacity_interval *ret_interval, bool *ret_is_stepped, fl_error *error)
{
    fl_replay_options options = question->replay;
    fl_capacity_interval interval = {.first_bytes = card_bytes};
    options.capacity_bytes = card_bytes;
    fl_replay *replay;
    fl_status status = fl_replay_open(question->trace, &options, &replay, error);
    if (status != FL_OK)
        return status;
    status = fl_replay_run(replay, error);
    if (status == FL_OK) {
        uint64_t refused = fl_replay_get_device_info(replay)->least_refused_bytes;
        uint64_t next = fl_replay_next_value(replay, "capacity");
        read_outcome(replay, &interval);
        *ret_is_stepped = next == card_bytes + 1 && next < refused;
        interval.end_bytes = next < refused ? next : refused;
        if (*ret_is_stepped)
            interval.end_bytes = next_step(card_bytes);
        *ret_interval = interval;
    }
    fl_replay_close(replay);
    return status;
}

/* ---- many cards ------------------------------------------------------------------------------ */

/* What a visit to one card found. */
struct found {
    fl_capacity_interval interval;
    bool is_stepped;
};

_Static_assert(sizeof(struct found) <= FL_SWEEP_FOUND_MOST, "a walk passes it on");

struct cards {
    const fl_capacity_question *question;
    struct fl_capacity_vector found;
    bool is_stepped;
};

static fl_status visit_card(void *user, uint64_t card_bytes, void *found, uint64_t *ret_end,
                            fl_error *error)
{
    const struct cards *cards = user;
    struct found *own = found;
    own->is_stepped = false;
    fl_status status =
        fl_capacity_try(cards->question, card_bytes, &own->interval, &own->is_stepped, error);
    if (status == FL_OK)
        *ret_end = own->interval.end_bytes;
    return status;
}

static fl_status keep_card(void *user, const void *found, fl_error *error)
{
    struct cards *cards = user;
    const struct found *own = found;
    if (!fl_vector_reserve(cards->question->host, &cards->found, 1, error))
        return FL_ERR_RESOURCE;
    cards->found.items[cards->found.count++] = own->interval;
    cards->is_stepped |= own->is_stepped;
    return FL_OK;
}

static int compare_intervals(const void *a, const void *b)
{
    const fl_capacity_interval *x = a, *y = b;
    return (x->first_bytes > y->first_bytes) - (x->first_bytes < y->first_bytes);
}

void fl_capacity_tidy(struct fl_capacity_vector *found)
{
    size_t kept = 0;
    if (found->count > 0)
        qsort(found->items, found->count, sizeof *found->items, compare_intervals);
    for (size_t i = 0; i < found->count; i++)
        if (kept == 0 || found->items[i].first_bytes >= found->items[kept - 1].end_bytes)
            found->items[kept++] = found->items[i];
    found->count = kept;
}

fl_status fl_capacity_walk(const fl_capacity_question *question, uint64_t first, uint64_t end,
                           const fl_capacity_options *options, struct fl_capacity_vector *found,
                           bool *ret_is_stepped, fl_error *error)
{
    struct cards cards = {.question = question, .found = *found};
    fl_sweep sweep = {
        .first = first,
        .end = end,
        .grain = STEP,
        .jobs = options->jobs,
        .visit = visit_card,
        .keep = keep_card,
        .progress = options->progress,
        .user = &cards,
        .progress_user = options->user,
    };
    fl_status status = fl_sweep_run(&sweep, error);
    fl_capacity_tidy(&cards.found);
    *found = cards.found;
    *ret_is_stepped |= cards.is_stepped;
    return status;
}
