/* A visit takes some microseconds at least, so one lock around the books of all workers costs
 * nothing. */
#include "analysis/sweep.h"

#include "analysis/workers.h"

#include <pthread.h>

struct span {
    uint64_t first, end; /* not visited yet; half open */
};

struct state {
    const fl_sweep *sweep;
    pthread_mutex_t lock;
    pthread_cond_t has_changed;
    struct span spans[FL_WORKERS_MOST];
    unsigned worker_count, busy_count;
    fl_status status; /* of the first failure */
    fl_error error;
};

static uint64_t span_length(const struct span *span)
{
    return span->first < span->end ? span->end - span->first : 0;
}

/* Gives a worker without work the upper half of the longest span; false: none is long enough. */
static bool take_half(struct state *state, unsigned index)
{
    uint64_t grain = state->sweep->grain;
    struct span *longest = &state->spans[0];
    for (unsigned i = 1; i < state->worker_count; i++)
        if (span_length(&state->spans[i]) > span_length(longest))
            longest = &state->spans[i];
    uint64_t length = span_length(longest);
    uint64_t middle = (longest->first + length / 2) / grain * grain;
    if (length < 2 * grain || middle <= longest->first)
        return false;
    state->spans[index] = (struct span){middle, longest->end};
    longest->end = middle;
    return true;
}

/* The next value to visit; false: all are visited, or the sweep has ended.  With the lock. */
static bool take_value(struct state *state, unsigned index, uint64_t *ret_value)
{
    const struct span *own = &state->spans[index];
    while (state->status == FL_OK) {
        if (span_length(own) > 0 || take_half(state, index)) {
            *ret_value = own->first;
            state->busy_count++;
            return true;
        }
        if (state->busy_count == 0)
            break;
        pthread_cond_wait(&state->has_changed, &state->lock);
    }
    return false;
}

static void note_failure(struct state *state, fl_status status, const fl_error *error)
{
    if (state->status != FL_OK)
        return;
    state->status = status;
    state->error = *error;
}

static uint64_t count_done(const struct state *state)
{
    uint64_t left = 0;
    for (unsigned i = 0; i < state->worker_count; i++)
        left += span_length(&state->spans[i]);
    return state->sweep->end - state->sweep->first - left;
}

/* Without the lock: the callback is the caller's, and so is this thread. */
static void tell_progress(struct state *state, uint64_t done)
{
    const fl_sweep *sweep = state->sweep;
    if (sweep->progress == NULL ||
        sweep->progress(sweep->progress_user, done, sweep->end - sweep->first))
        return;
    fl_error error = {0};
    fl_fail(&error, FL_ERR_NO, "the search was stopped");
    pthread_mutex_lock(&state->lock);
    note_failure(state, FL_ERR_NO, &error);
    pthread_cond_broadcast(&state->has_changed);
    pthread_mutex_unlock(&state->lock);
}

/* With the lock, which is open during the visit. */
static void visit_value(struct state *state, unsigned index, uint64_t value)
{
    const fl_sweep *sweep = state->sweep;
    union {
        max_align_t aligned;
        unsigned char bytes[FL_SWEEP_FOUND_MOST];
    } found;
    fl_error error = {0};
    uint64_t end = value;
    pthread_mutex_unlock(&state->lock);
    fl_status status = sweep->visit(sweep->user, value, &found, &end, &error);
    pthread_mutex_lock(&state->lock);
    state->busy_count--;
    if (status == FL_OK)
        status = sweep->keep(sweep->user, &found, &error);
    if (status != FL_OK)
        note_failure(state, status, &error);
    state->spans[index].first = end;
    pthread_cond_broadcast(&state->has_changed);
}

static void sweep_work(void *user, unsigned index)
{
    struct state *state = user;
    uint64_t value;
    pthread_mutex_lock(&state->lock);
    while (take_value(state, index, &value)) {
        visit_value(state, index, value);
        uint64_t done = count_done(state);
        if (index != 0)
            continue;
        pthread_mutex_unlock(&state->lock);
        tell_progress(state, done);
        pthread_mutex_lock(&state->lock);
    }
    pthread_mutex_unlock(&state->lock);
}

fl_status fl_sweep_run(const fl_sweep *sweep, fl_error *error)
{
    struct state state = {.sweep = sweep, .worker_count = fl_workers_count(sweep->jobs)};
    if (sweep->first >= sweep->end)
        return FL_OK;
    if (pthread_mutex_init(&state.lock, NULL) != 0)
        return fl_fail(error, FL_ERR_RESOURCE, "no lock can be made");
    if (pthread_cond_init(&state.has_changed, NULL) != 0) {
        pthread_mutex_destroy(&state.lock);
        return fl_fail(error, FL_ERR_RESOURCE, "no condition can be made");
    }
    state.spans[0] = (struct span){sweep->first, sweep->end};
    fl_workers_run(state.worker_count, sweep_work, &state);
    pthread_cond_destroy(&state.has_changed);
    pthread_mutex_destroy(&state.lock);
    if (state.status != FL_OK)
        fl_fail(error, state.status, "%s", state.error.text);
    return state.status;
}
