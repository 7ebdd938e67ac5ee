/* The walk over all cards of a range.
 *
 * A worker tries the first card of its span, which settles every card up to the end of the stretch,
 * and goes on there.  One that has nothing left takes the upper half of the longest span of
 * another.  A span that begins in the middle of a stretch finds the same end, so the stretches are
 * the same wherever spans were cut; of those with one end the first counts.  A replay takes at
 * least some microseconds, so one lock around the books of all workers costs nothing. */
#include "analysis/capacity_walk.h"

#include "analysis/workers.h"
#include "device/pages.h"

#include <pthread.h>
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
        *ret_is_stepped = next < refused;
        interval.end_bytes = next < refused ? next_step(card_bytes) : refused;
        *ret_interval = interval;
    }
    fl_replay_close(replay);
    return status;
}

/* ---- many cards ------------------------------------------------------------------------------ */

struct span {
    uint64_t first, end; /* not tried yet; half open */
};

struct walk {
    const fl_capacity_question *question;
    const fl_capacity_options *options;
    uint64_t first, end;

    pthread_mutex_t lock;
    pthread_cond_t has_changed;
    struct span spans[FL_WORKERS_MOST];
    unsigned worker_count, busy_count;
    struct fl_capacity_vector found;
    bool is_stepped;
    fl_status status; /* of the first failure */
    fl_error error;
};

/* The rest of a span, if it is worth cutting. */
static uint64_t span_length(const struct span *span)
{
    return span->first < span->end ? span->end - span->first : 0;
}

/* Gives a worker without work the upper half of the longest span; false: none is long enough. */
static bool take_half(struct walk *walk, unsigned index)
{
    struct span *longest = &walk->spans[0];
    for (unsigned i = 1; i < walk->worker_count; i++)
        if (span_length(&walk->spans[i]) > span_length(longest))
            longest = &walk->spans[i];
    uint64_t length = span_length(longest);
    uint64_t middle = (longest->first + length / 2) / STEP * STEP;
    if (length < 2 * STEP || middle <= longest->first)
        return false;
    walk->spans[index] = (struct span){middle, longest->end};
    longest->end = middle;
    return true;
}

/* The next card to try; false: everything is tried, or the search has ended.  With the lock. */
static bool take_card(struct walk *walk, unsigned index, uint64_t *ret_card)
{
    struct span *own = &walk->spans[index];
    while (walk->status == FL_OK) {
        if (span_length(own) > 0 || take_half(walk, index)) {
            *ret_card = own->first;
            walk->busy_count++;
            return true;
        }
        if (walk->busy_count == 0)
            break;
        pthread_cond_wait(&walk->has_changed, &walk->lock);
    }
    return false;
}

static void note_failure(struct walk *walk, fl_status status, const fl_error *error)
{
    if (walk->status != FL_OK)
        return;
    walk->status = status;
    walk->error = *error;
}

static void note_interval(struct walk *walk, unsigned index, const fl_capacity_interval *interval)
{
    fl_error error = {0};
    struct span *own = &walk->spans[index];
    own->first = interval->end_bytes;
    if (!fl_vector_reserve(walk->question->host, &walk->found, 1, &error))
        note_failure(walk, FL_ERR_RESOURCE, &error);
    else
        walk->found.items[walk->found.count++] = *interval;
}

static uint64_t count_done(const struct walk *walk)
{
    uint64_t left = 0;
    for (unsigned i = 0; i < walk->worker_count; i++)
        left += span_length(&walk->spans[i]);
    return walk->end - walk->first - left;
}

/* Without the lock: the callback is the caller's, and so is this thread. */
static void tell_progress(struct walk *walk, uint64_t done)
{
    const fl_capacity_options *options = walk->options;
    if (options->progress == NULL ||
        options->progress(options->user, done, walk->end - walk->first))
        return;
    fl_error error = {0};
    fl_fail(&error, FL_ERR_NO, "the search was stopped");
    pthread_mutex_lock(&walk->lock);
    note_failure(walk, FL_ERR_NO, &error);
    pthread_cond_broadcast(&walk->has_changed);
    pthread_mutex_unlock(&walk->lock);
}

static void walk_work(void *user, unsigned index)
{
    struct walk *walk = user;
    uint64_t card;
    pthread_mutex_lock(&walk->lock);
    while (take_card(walk, index, &card)) {
        pthread_mutex_unlock(&walk->lock);
        fl_capacity_interval interval;
        fl_error error = {0};
        bool is_stepped = false;
        fl_status status = fl_capacity_try(walk->question, card, &interval, &is_stepped, &error);
        pthread_mutex_lock(&walk->lock);
        walk->busy_count--;
        walk->is_stepped |= is_stepped;
        if (status == FL_OK)
            note_interval(walk, index, &interval);
        else
            note_failure(walk, status, &error);
        uint64_t done = count_done(walk);
        pthread_cond_broadcast(&walk->has_changed);
        if (index != 0)
            continue;
        pthread_mutex_unlock(&walk->lock);
        tell_progress(walk, done);
        pthread_mutex_lock(&walk->lock);
    }
    pthread_mutex_unlock(&walk->lock);
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
    struct walk walk = {
        .question = question,
        .options = options,
        .first = first,
        .end = end,
        .worker_count = fl_workers_count(options->jobs),
        .found = *found,
    };
    if (first >= end)
        return FL_OK;
    if (pthread_mutex_init(&walk.lock, NULL) != 0)
        return fl_fail(error, FL_ERR_RESOURCE, "no lock can be made");
    if (pthread_cond_init(&walk.has_changed, NULL) != 0) {
        pthread_mutex_destroy(&walk.lock);
        return fl_fail(error, FL_ERR_RESOURCE, "no condition can be made");
    }
    walk.spans[0] = (struct span){first, end};
    fl_workers_run(walk.worker_count, walk_work, &walk);
    pthread_cond_destroy(&walk.has_changed);
    pthread_mutex_destroy(&walk.lock);
    fl_capacity_tidy(&walk.found);
    *found = walk.found;
    *ret_is_stepped |= walk.is_stepped;
    if (walk.status != FL_OK)
        fl_fail(error, walk.status, "%s", walk.error.text);
    return walk.status;
}
