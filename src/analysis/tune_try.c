/* Candidates on a card.  The traces are shared, and each worker takes the next candidate; what one
 * finds does not depend on the others. */
#include "analysis/tune.h"

#include "analysis/workers.h"
#include "trace/trace.h"

#include <fraglab/capacity.h>

#include <pthread.h>

/* ---- one candidate --------------------------------------------------------------------------- */

/* The largest request of a trace, as an op of its own. */
static fl_op largest_request(const fl_trace *trace, size_t device)
{
    const fl_columns *columns = fl_trace_columns(trace, device);
    fl_op op = {.kind = FL_OP_ALLOC, .pool = FL_NONE, .text = FL_NONE};
    op.id = fl_trace_alloc_count(trace, device);
    for (uint64_t i = 0; i < columns->count; i++) {
        if (columns->kind[i] != FL_OP_ALLOC || columns->size[i] <= op.size)
            continue;
        op.size = columns->size[i];
        op.stream = columns->stream[i];
    }
    return op;
}

static size_t ops_of_change(const fl_tune_state *state, size_t trace,
                            const fl_tune_candidate *candidate, fl_insertion *ops)
{
    uint64_t first = state->options->replay.first_event;
    fl_op nothing = {.id = FL_NONE, .stream = FL_NONE, .pool = FL_NONE, .text = FL_NONE};
    switch (candidate->change) {
    case FL_TUNE_EMPTY_CACHE:
        ops[0] = (fl_insertion){candidate->change_event, nothing};
        ops[0].op.kind = FL_OP_TRIM;
        return 1;
    case FL_TUNE_LARGEST_FIRST:
        ops[0] = (fl_insertion){
            first, largest_request(state->traces[trace], state->options->trace_devices[trace])};
        ops[1] = (fl_insertion){first, nothing};
        ops[1].op.kind = FL_OP_FREE;
        ops[1].op.id = ops[0].op.id;
        return 2;
    default:
        return 0;
    }
}

fl_replay_options fl_tune_replay_options(const fl_tune_state *state, size_t trace,
                                         const fl_tune_candidate *candidate, fl_insertion *ops)
{
    fl_replay_options options = state->options->replay;
    options.host = state->host;
    options.conf = candidate->conf[0] != '\0' ? candidate->conf : NULL;
    options.fraction = candidate->fraction;
    options.trace_device = state->options->trace_devices[trace];
    options.total_bytes = 0;
    options.on_oom = FL_ON_OOM_STOP;
    options.inserted = ops;
    options.inserted_count = ops_of_change(state, trace, candidate, ops);
    options.is_lean = true;
    options.watch = NULL;
    options.progress = NULL;
    return options;
}

static void add_outcome(const fl_tune_state *state, size_t trace, const fl_replay *replay,
                        fl_tune_outcome *outcome)
{
    fl_replay_summary summary;
    fl_replay_get_summary(replay, &summary);
    bool fits = summary.ooms == 0;
    if (outcome->fits && (!fits || summary.peak.reserved_bytes > outcome->peak_reserved_bytes))
        outcome->worst_file = trace;
    if (summary.peak.reserved_bytes > outcome->peak_reserved_bytes)
        outcome->peak_reserved_bytes = summary.peak.reserved_bytes;
    outcome->fits &= fits;
    outcome->driver_malloc += summary.driver_malloc;
    outcome->driver_free += summary.driver_free;
    outcome->driver_map += summary.driver_map;
    outcome->driver_unmap += summary.driver_unmap;
    outcome->alloc_retries += summary.stats.alloc_retries;
    outcome->cost_us += fl_prices_cost_us(&state->prices, fl_replay_get_device_info(replay),
                                          summary.stats.alloc_retries);
}

/* A trace that changes its settings may have them refused under those of a candidate, such as a
 * rounding below the size of large segments: the program would end there. */
static bool is_change_refused(const fl_tune_candidate *candidate, fl_status status)
{
    return status == FL_ERR_INPUT && candidate->conf[0] != '\0';
}

fl_status fl_tune_try(const fl_tune_state *state, const fl_tune_candidate *candidate,
                      uint64_t card_bytes, fl_tune_outcome *ret_outcome, uint64_t *ret_next,
                      fl_error *error)
{
    fl_tune_outcome outcome = {.fits = true};
    uint64_t least_next = UINT64_MAX;
    fl_status status = FL_OK;
    for (size_t i = 0; i < state->trace_count && status == FL_OK; i++) {
        fl_insertion ops[2];
        fl_replay_options options = fl_tune_replay_options(state, i, candidate, ops);
        options.capacity_bytes = card_bytes;
        options.is_tracked = ret_next != NULL;
        fl_replay *replay;
        status = fl_replay_open(state->traces[i], &options, &replay, error);
        if (status != FL_OK)
            return status;
        fl_error own = {0};
        status = fl_replay_run(replay, &own);
        if (status == FL_OK || is_change_refused(candidate, status))
            add_outcome(state, i, replay, &outcome);
        else if (error != NULL)
            *error = own;
        if (is_change_refused(candidate, status)) {
            outcome.fits = false;
            status = FL_OK;
        }
        uint64_t next = fl_replay_next_value(replay, "max_split_size");
        if (next < least_next)
            least_next = next;
        fl_replay_close(replay);
    }
    if (status != FL_OK)
        return status;
    *ret_outcome = outcome;
    if (ret_next != NULL)
        *ret_next = least_next;
    return FL_OK;
}

fl_status fl_tune_measure(const fl_tune_state *state, const fl_tune_candidate *candidate,
                          uint64_t end, uint64_t most_tries, uint64_t *ret_bytes, fl_error *error)
{
    uint64_t most = 0;
    for (size_t i = 0; i < state->trace_count; i++) {
        fl_insertion ops[2];
        fl_capacity_options options = {
            .replay = fl_tune_replay_options(state, i, candidate, ops),
            .extent = FL_CAPACITY_SMALLEST,
            .end_bytes = end,
            .most_tries = most_tries,
        };
        fl_capacity capacity = {0};
        fl_status status = fl_capacity_find(state->traces[i], &options, &capacity, error);
        if (status != FL_OK)
            return status;
        if (capacity.smallest_card_bytes > most)
            most = capacity.smallest_card_bytes;
        fl_capacity_deinit(&capacity);
    }
    *ret_bytes = most;
    return FL_OK;
}

/* ---- many ------------------------------------------------------------------------------------ */

struct pool {
    fl_tune_state *state;
    /* Its own candidate's fields may be written. */
    fl_status (*work)(const fl_tune_state *state, fl_tune_candidate *candidate, uint64_t card_bytes,
                      uint64_t most_tries, fl_error *error);
    uint64_t card_bytes, most_tries;
    pthread_mutex_t lock;
    size_t next, end;
    fl_status status;
    fl_error error;
};

static bool take_candidate(struct pool *pool, size_t *ret_index)
{
    bool is_there = false;
    pthread_mutex_lock(&pool->lock);
    if (pool->status == FL_OK && !pool->state->was_stopped && pool->next < pool->end) {
        *ret_index = pool->next++;
        pool->state->done++;
        is_there = true;
    }
    pthread_mutex_unlock(&pool->lock);
    return is_there;
}

static void note_failure(struct pool *pool, fl_status status, const fl_error *error)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->status == FL_OK) {
        pool->status = status;
        pool->error = *error;
    }
    pthread_mutex_unlock(&pool->lock);
}

/* From the caller's thread only. */
static void tell_progress(struct pool *pool)
{
    const fl_tune_options *options = pool->state->options;
    pthread_mutex_lock(&pool->lock);
    uint64_t done = pool->state->done, planned = pool->state->planned;
    pthread_mutex_unlock(&pool->lock);
    if (options->progress == NULL ||
        options->progress(options->user, done < planned ? done : planned, planned))
        return;
    pthread_mutex_lock(&pool->lock);
    pool->state->was_stopped = true;
    pthread_mutex_unlock(&pool->lock);
}

static void pool_work(void *user, unsigned worker)
{
    struct pool *pool = user;
    size_t index;
    while (take_candidate(pool, &index)) {
        fl_error error = {0};
        fl_status status = pool->work(pool->state, &pool->state->candidates.items[index],
                                      pool->card_bytes, pool->most_tries, &error);
        if (status != FL_OK)
            note_failure(pool, status, &error);
        if (worker == 0)
            tell_progress(pool);
    }
}

static fl_status run_pool(struct pool *pool, fl_error *error)
{
    if (pool->next >= pool->end)
        return FL_OK;
    if (pthread_mutex_init(&pool->lock, NULL) != 0)
        return fl_fail(error, FL_ERR_RESOURCE, "no lock can be made");
    fl_workers_run(fl_workers_count(pool->state->options->jobs), pool_work, pool);
    pthread_mutex_destroy(&pool->lock);
    if (pool->status != FL_OK)
        fl_fail(error, pool->status, "%s", pool->error.text);
    return pool->status;
}

static fl_status try_one(const fl_tune_state *state, fl_tune_candidate *candidate,
                         uint64_t card_bytes, uint64_t most_tries, fl_error *error)
{
    (void)most_tries;
    return fl_tune_try(state, candidate, card_bytes, &candidate->outcome, NULL, error);
}

fl_status fl_tune_try_all(fl_tune_state *state, size_t first, fl_error *error)
{
    struct pool pool = {.state = state,
                        .work = try_one,
                        .card_bytes = state->card_bytes,
                        .next = first,
                        .end = state->candidates.count};
    return run_pool(&pool, error);
}

/* What takes too many tries stays unknown. */
fl_status fl_tune_measure_one(const fl_tune_state *state, fl_tune_candidate *candidate,
                              uint64_t card_bytes, uint64_t most_tries, fl_error *error)
{
    if (!candidate->outcome.fits || candidate->smallest_card_bytes != FL_UNLIMITED ||
        (candidate->flags & FL_TUNE_CONFLICTING))
        return FL_OK;
    fl_tune_outcome outcome = {.fits = true};
    fl_error own = {0};
    fl_status status = FL_OK;
    if (card_bytes < state->card_bytes)
        status = fl_tune_try(state, candidate, card_bytes, &outcome, NULL, &own);
    if (status == FL_OK && outcome.fits)
        status = fl_tune_measure(state, candidate, state->card_bytes, most_tries,
                                 &candidate->smallest_card_bytes, &own);
    if (status == FL_ERR_NO || status == FL_OK)
        return FL_OK;
    return fl_fail(error, status, "%s", own.text);
}

fl_status fl_tune_measure_all(fl_tune_state *state, uint64_t card_bytes, uint64_t most_tries,
                              fl_error *error)
{
    struct pool pool = {.state = state,
                        .work = fl_tune_measure_one,
                        .card_bytes = card_bytes,
                        .most_tries = most_tries,
                        .end = state->candidates.count};
    return run_pool(&pool, error);
}
