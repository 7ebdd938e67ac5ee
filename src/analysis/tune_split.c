/* Every split limit, as whole MiB: each replay says up to which larger limit it would have been the
 * same, so what is visited is every behaviour once, not every value. */
#include "analysis/tune.h"

#include "analysis/sweep.h"
#include "base/checked.h"
#include "base/units.h"
#include "rules/sizes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPLITS_MOST 96 /* candidates made of the stretches that fit */

struct splits {
    fl_tune_state *state;
    uint64_t done;
};

static fl_tune_candidate candidate_of(const fl_tune_state *state, uint64_t mebibytes)
{
    fl_tune_candidate candidate = {.fraction = state->options->replay.fraction};
    snprintf(candidate.conf, sizeof candidate.conf, "max_split_size_mb:%" PRIu64, mebibytes);
    return candidate;
}

static fl_status visit(void *user, uint64_t mebibytes, void *found, uint64_t *ret_end,
                       fl_error *error)
{
    const struct splits *splits = user;
    const fl_tune_state *state = splits->state;
    fl_tune_interval *interval = found;
    fl_tune_candidate candidate = candidate_of(state, mebibytes);
    uint64_t next;
    *interval = (fl_tune_interval){.first_mebibytes = mebibytes, .last_mebibytes = FL_UNLIMITED};
    fl_status status =
        fl_tune_try(state, &candidate, state->card_bytes, &interval->outcome, &next, error);
    if (status != FL_OK)
        return status;
    *ret_end = UINT64_MAX;
    if (next != UINT64_MAX) {
        *ret_end = fl_round_up(next, FL_MIB) / FL_MIB;
        interval->last_mebibytes = *ret_end - 1;
    }
    return FL_OK;
}

static fl_status keep(void *user, const void *found, fl_error *error)
{
    struct splits *splits = user;
    struct fl_tune_intervals *intervals = &splits->state->intervals;
    if (!fl_vector_reserve(splits->state->host, intervals, 1, error))
        return FL_ERR_RESOURCE;
    memcpy(&intervals->items[intervals->count++], found, sizeof *intervals->items);
    return FL_OK;
}

static bool note_progress(void *user, uint64_t done, uint64_t total)
{
    struct splits *splits = user;
    fl_tune_state *state = splits->state;
    const fl_tune_options *options = state->options;
    (void)done, (void)total;
    if (options->progress != NULL && !options->progress(options->user, state->done, state->planned))
        state->was_stopped = true;
    return !state->was_stopped;
}

/* ---- the range ------------------------------------------------------------------------------- */

/* The least limit that the release accepts. */
static uint64_t least_limit(const fl_tune_state *state)
{
    uint64_t limit = FL_LARGE_SEGMENT / FL_MIB;
    fl_settings settings;
    fl_tune_candidate candidate = candidate_of(state, limit);
    fl_settings_default(state->options->replay.profile, &settings);
    bool is_accepted =
        fl_settings_parse(state->options->replay.profile, candidate.conf, &settings, NULL) == FL_OK;
    return is_accepted ? limit : limit + 1;
}

/* One above the largest block that there can be: from there on no limit matters. */
static uint64_t end_limit(const fl_tune_state *state, uint64_t least)
{
    uint64_t largest =
        state->sizes.count > 0 ? state->sizes.items[state->sizes.count - 1] : UINT64_C(0);
    uint64_t end = fl_round_up(largest, FL_ROUND_LARGE) / FL_MIB + 2;
    return end > least ? end : least + 1;
}

/* Replays that a sweep may take: a stretch ends where a block or a request has just that size, so
 * there are about twice as many as sizes. */
static uint64_t estimate(const fl_tune_state *state, uint64_t least)
{
    uint64_t count = 1;
    for (size_t i = 0; i < state->sizes.count; i++)
        count += state->sizes.items[i] >= least * FL_MIB;
    return 2 * count;
}

/* Steps of about an eighth instead of every stretch. */
static fl_status sample(struct splits *splits, uint64_t least, uint64_t end, fl_error *error)
{
    fl_status status = FL_OK;
    splits->state->is_sampled = true;
    for (uint64_t at = least; at < end && status == FL_OK;) {
        fl_tune_interval interval;
        uint64_t next = at, step = at + 1 + at / 8;
        status = visit(splits, at, &interval, &next, error);
        if (status == FL_OK)
            status = keep(splits, &interval, error);
        if (status == FL_OK && !note_progress(splits, 0, 0))
            break;
        at = next > step ? next : step;
    }
    return status;
}

/* ---- what was found -------------------------------------------------------------------------- */

static int compare_intervals(const void *a, const void *b)
{
    const fl_tune_interval *x = a, *y = b;
    return (x->first_mebibytes > y->first_mebibytes) - (x->first_mebibytes < y->first_mebibytes);
}

static bool outcome_is_same(const fl_tune_outcome *a, const fl_tune_outcome *b)
{
    return a->fits == b->fits && a->peak_reserved_bytes == b->peak_reserved_bytes &&
           a->driver_malloc == b->driver_malloc && a->driver_free == b->driver_free &&
           a->driver_map == b->driver_map && a->driver_unmap == b->driver_unmap &&
           a->alloc_retries == b->alloc_retries;
}

/* In order, each value once, and neighbours with the same numbers as one. */
static void tidy(struct fl_tune_intervals *intervals)
{
    size_t kept = 0;
    if (intervals->count > 0)
        qsort(intervals->items, intervals->count, sizeof *intervals->items, compare_intervals);
    for (size_t i = 0; i < intervals->count; i++) {
        fl_tune_interval *last = kept > 0 ? &intervals->items[kept - 1] : NULL;
        const fl_tune_interval *own = &intervals->items[i];
        if (last != NULL && own->first_mebibytes <= last->last_mebibytes)
            continue;
        if (last != NULL && own->first_mebibytes == last->last_mebibytes + 1 &&
            outcome_is_same(&last->outcome, &own->outcome))
            last->last_mebibytes = own->last_mebibytes;
        else
            intervals->items[kept++] = *own;
    }
    intervals->count = kept;
}

/* The roundest number of an interval. */
static uint64_t roundest(const fl_tune_interval *interval)
{
    for (unsigned bit = 63; bit > 0; bit--) {
        uint64_t step = UINT64_C(1) << bit;
        uint64_t value = fl_round_up(interval->first_mebibytes, step);
        if (value >= interval->first_mebibytes && value <= interval->last_mebibytes)
            return value;
    }
    return interval->first_mebibytes;
}

/* A usual limit that the interval holds has been tried already. */
static bool is_tried(const fl_tune_state *state, const fl_tune_interval *interval)
{
    for (size_t i = 0; i < state->candidates.count; i++) {
        const char *conf = state->candidates.items[i].conf;
        static const char key[] = "max_split_size_mb:";
        if (strncmp(conf, key, sizeof key - 1) != 0 || strchr(conf, ',') != NULL)
            continue;
        uint64_t value = strtoull(conf + sizeof key - 1, NULL, 10);
        if (value >= interval->first_mebibytes && value <= interval->last_mebibytes)
            return true;
    }
    return false;
}

static fl_status add_candidates(fl_tune_state *state, fl_error *error)
{
    size_t fitting = 0, number = 0;
    for (size_t i = 0; i < state->intervals.count; i++)
        fitting += state->intervals.items[i].outcome.fits;
    size_t step = 1 + fitting / SPLITS_MOST;
    state->is_sampled |= step > 1;
    fl_status status = FL_OK;
    for (size_t i = 0; i < state->intervals.count && status == FL_OK; i++) {
        const fl_tune_interval *interval = &state->intervals.items[i];
        bool is_open = interval->last_mebibytes == FL_UNLIMITED;
        if (!interval->outcome.fits || number++ % step != 0 || is_open || is_tried(state, interval))
            continue;
        fl_tune_candidate candidate = candidate_of(state, roundest(interval));
        candidate.outcome = interval->outcome;
        status = fl_tune_add(state, &candidate, error);
    }
    return status;
}

fl_status fl_tune_sweep_split(fl_tune_state *state, fl_error *error)
{
    struct splits splits = {.state = state};
    uint64_t least = least_limit(state);
    fl_sweep sweep = {
        .first = least,
        .end = end_limit(state, least),
        .grain = 1,
        .jobs = state->options->jobs,
        .visit = visit,
        .keep = keep,
        .progress = note_progress,
        .user = &splits,
        .progress_user = &splits,
    };
    uint64_t cost = UINT64_MAX;
    fl_mul(estimate(state, least), state->events, &cost);
    fl_status status = cost <= state->most_events / 2 ? fl_sweep_run(&sweep, error)
                                                      : sample(&splits, least, sweep.end, error);
    if (status == FL_ERR_NO && state->was_stopped)
        status = FL_OK;
    tidy(&state->intervals);
    return status == FL_OK ? add_candidates(state, error) : status;
}
