/* The cards on which a trace runs: what is known without a walk, and what the walk finds.
 *
 * From below, a card that cannot hold what is live at once is too small for any allocator.  From
 * above, a card on which nothing is refused and nothing depends on its size stands for every larger
 * one.  Between the two lies the walk; for the smallest card alone, a search for the last stretch
 * that fails. */
#include "analysis/capacity_walk.h"

#include "base/checked.h"
#include "base/memory.h"
#include "device/pages.h"
#include "trace/trace.h"

/* Beyond every card: the first try.  The device keeps pages up to this size, and an expandable
 * range for it leaves room for others. */
#define BEYOND_EVERY_CARD (UINT64_C(1) << 44)

struct search {
    fl_capacity_question question;
    const fl_capacity_options *options;
    uint64_t least;           /* no smaller card can work */
    fl_capacity_interval top; /* the largest cards */
    struct fl_capacity_vector found;
    bool is_stepped;
    uint64_t tries;
};

/* ---- from below ------------------------------------------------------------------------------ */

struct live {
    uint64_t *sizes; /* by id, while it is live */
    uint64_t now, most;
    uint32_t count;
};

static void live_take(struct live *live, uint8_t kind, uint32_t id, uint64_t size)
{
    if (id >= live->count)
        return;
    if (kind == FL_OP_ALLOC && live->sizes[id] == 0 && fl_add(live->now, size, &live->now))
        live->sizes[id] = size;
    else if (kind == FL_OP_FREE && live->sizes[id] > 0) {
        live->now -= live->sizes[id];
        live->sizes[id] = 0;
    }
    if (live->now > live->most)
        live->most = live->now;
}

static void live_take_events(struct live *live, const fl_trace *trace,
                             const fl_replay_options *options)
{
    const fl_columns *columns = fl_trace_columns(trace, options->trace_device);
    size_t inferred_count, inferred = 0;
    const fl_insertion *insertions =
        fl_trace_insertions(trace, options->trace_device, &inferred_count);
    bool is_all = options->first_event == 0 && options->end_event == 0;
    uint64_t end =
        is_all || options->end_event > columns->count ? columns->count : options->end_event;
    for (uint64_t i = options->first_event; i < end; i++) {
        for (; inferred < inferred_count && insertions[inferred].event <= i; inferred++) {
            const fl_op *op = &insertions[inferred].op;
            if (insertions[inferred].event >= options->first_event)
                live_take(live, op->kind, op->id, op->size);
        }
        live_take(live, columns->kind[i], columns->id[i], columns->size[i]);
    }
}

/* The most that is asked for and not yet freed: more memory than that takes every allocator. */
static fl_status find_live(const struct search *search, uint64_t *ret_bytes, fl_error *error)
{
    const fl_trace *trace = search->question.trace;
    const fl_host *host = search->question.host;
    const fl_replay_options *options = &search->question.replay;
    struct live live = {.count = fl_trace_alloc_count(trace, options->trace_device)};
    live.sizes = fl_new(host, live.count * sizeof *live.sizes, error);
    if (live.sizes == NULL)
        return FL_ERR_RESOURCE;
    live_take_events(&live, trace, options);
    fl_delete(host, live.sizes, live.count * sizeof *live.sizes);
    *ret_bytes = live.most;
    return FL_OK;
}

/* What was there before the first event stays where it was. */
static fl_status find_adopted(const struct search *search, uint64_t *ret_bytes, fl_error *error)
{
    fl_replay_options options = search->question.replay;
    options.capacity_bytes = BEYOND_EVERY_CARD;
    fl_replay *replay;
    fl_status status = fl_replay_open(search->question.trace, &options, &replay, error);
    if (status != FL_OK)
        return status;
    *ret_bytes = fl_replay_get_device_info(replay)->used_bytes;
    fl_replay_close(replay);
    return FL_OK;
}

static fl_status find_least(struct search *search, fl_error *error)
{
    uint64_t live = 0, adopted = 0;
    fl_status status = find_adopted(search, &adopted, error);
    if (status == FL_OK)
        status = find_live(search, &live, error);
    search->least = live > adopted ? live : adopted;
    if (search->least == 0)
        search->least = 1; /* there is no card of 0 bytes */
    if (search->least > BEYOND_EVERY_CARD)
        search->least = BEYOND_EVERY_CARD;
    return status;
}

/* ---- from above ------------------------------------------------------------------------------ */

/* A first card that stands for every larger one: what an endless one would reserve, or, as long as
 * its size matters, half as much again. */
static fl_status find_top(struct search *search, fl_error *error)
{
    bool is_stepped = false;
    uint64_t end = search->options->end_bytes;
    if (end != 0) {
        search->top =
            (fl_capacity_interval){.first_bytes = end > search->least ? end : search->least,
                                   .end_bytes = FL_UNLIMITED,
                                   .works = true,
                                   .refused_event = FL_UNLIMITED,
                                   .alloc_retries = FL_UNLIMITED};
        return FL_OK;
    }
    fl_status status =
        fl_capacity_try(&search->question, BEYOND_EVERY_CARD, &search->top, &is_stepped, error);
    if (status != FL_OK || search->top.end_bytes != FL_UNLIMITED) {
        search->top.end_bytes = FL_UNLIMITED;
        return status;
    }
    uint64_t card = search->top.peak_reserved_bytes;
    if (card < search->least)
        card = search->least;
    while (card < BEYOND_EVERY_CARD) {
        fl_capacity_interval interval;
        is_stepped = false;
        status = fl_capacity_try(&search->question, card, &interval, &is_stepped, error);
        if (status != FL_OK)
            return status;
        if (interval.end_bytes == FL_UNLIMITED) {
            search->top = interval;
            return FL_OK;
        }
        card = fl_round_up(card + card / 2, FL_DEVICE_GRANULE);
    }
    return FL_OK;
}

/* ---- the smallest card alone ----------------------------------------------------------------- */

static fl_status tell_progress(const struct search *search, uint64_t settled_from, fl_error *error)
{
    const fl_capacity_options *options = search->options;
    uint64_t top = search->top.first_bytes;
    if (options->progress == NULL ||
        options->progress(options->user, top - settled_from, top - search->least))
        return FL_OK;
    return fl_fail(error, FL_ERR_NO, "the search was stopped");
}

static fl_status try_and_keep(struct search *search, uint64_t card, fl_capacity_interval *ret,
                              fl_error *error)
{
    bool is_stepped = false;
    if (search->options->most_tries > 0 && search->tries++ == search->options->most_tries)
        return fl_fail(error, FL_ERR_NO, "more tries than allowed");
    fl_status status = fl_capacity_try(&search->question, card, ret, &is_stepped, error);
    if (status != FL_OK)
        return status;
    if (!fl_vector_reserve(search->question.host, &search->found, 1, error))
        return FL_ERR_RESOURCE;
    search->found.items[search->found.count++] = *ret;
    search->is_stepped |= is_stepped;
    return FL_OK;
}

/* The last stretch in [first, end) that fails, where everything from `end` on works: *ret_behind is
 * its end, or untouched if there is none.  Halves first, so that few of the cards below it are
 * tried; each of those above it must be. */
static fl_status find_last_failure(struct search *search, uint64_t first, uint64_t end,
                                   uint64_t *ret_behind, fl_error *error)
{
    while (first < end) {
        uint64_t middle = (first + (end - first) / 2) / FL_DEVICE_GRANULE * FL_DEVICE_GRANULE;
        if (middle <= first)
            middle = first;
        fl_capacity_interval tried;
        fl_status status = try_and_keep(search, middle, &tried, error);
        if (status == FL_OK)
            status = find_last_failure(search, tried.end_bytes, end, ret_behind, error);
        if (status == FL_OK)
            status = tell_progress(search, middle, error);
        if (status != FL_OK || *ret_behind != FL_UNLIMITED)
            return status;
        if (!tried.works) {
            *ret_behind = tried.end_bytes;
            return FL_OK;
        }
        end = middle;
    }
    return FL_OK;
}

/* Leaves what lies below the last failure out, of which only some was tried. */
static fl_status search_smallest(struct search *search, fl_error *error)
{
    uint64_t behind = FL_UNLIMITED;
    fl_status status =
        find_last_failure(search, search->least, search->top.first_bytes, &behind, error);
    if (status != FL_OK)
        return status;
    fl_capacity_tidy(&search->found);
    size_t kept = 0;
    for (size_t i = 0; i < search->found.count; i++)
        if (behind == FL_UNLIMITED || search->found.items[i].end_bytes >= behind)
            search->found.items[kept++] = search->found.items[i];
    search->found.count = kept;
    return FL_OK;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* The largest cards, after what was found below them. */
static bool add_top(struct search *search, fl_error *error)
{
    struct fl_capacity_vector *found = &search->found;
    if (!fl_vector_reserve(search->question.host, found, 1, error))
        return false;
    found->items[found->count++] = search->top;
    fl_capacity_tidy(found);
    return true;
}

/* What is too small for any allocator, before what was found above it. */
static bool add_bottom(struct search *search, fl_error *error)
{
    struct fl_capacity_vector *found = &search->found;
    if (!fl_vector_reserve(search->question.host, found, 1, error))
        return false;
    found->items[found->count++] = (fl_capacity_interval){
        .end_bytes = search->least, .refused_event = FL_UNLIMITED, .alloc_retries = FL_UNLIMITED};
    fl_capacity_tidy(found);
    return true;
}

static void sum_up(const struct search *search, fl_capacity *capacity)
{
    const struct fl_capacity_vector *found = &search->found;
    bool is_all = search->options->extent == FL_CAPACITY_ALL;
    *capacity = (fl_capacity){
        .host = search->question.host,
        .smallest_card_bytes = FL_UNLIMITED,
        .lowest_fit_bytes = FL_UNLIMITED,
        .step_bytes = search->is_stepped ? FL_DEVICE_GRANULE : 0,
        .items = found->items,
        .count = found->count,
        .room = found->capacity,
    };
    for (size_t i = found->count; i-- > 0 && found->items[i].works;)
        capacity->smallest_card_bytes = found->items[i].first_bytes;
    for (size_t i = found->count; is_all && i-- > 0;)
        if (found->items[i].works)
            capacity->lowest_fit_bytes = found->items[i].first_bytes;
}

/* Where even a card beyond all others fails, and its size may matter, no walk would end. */
static fl_status search_between(struct search *search, fl_error *error)
{
    bool is_all = search->options->extent == FL_CAPACITY_ALL;
    bool is_hopeless = !search->top.works && search->top.first_bytes == BEYOND_EVERY_CARD;
    if (is_hopeless)
        search->top.first_bytes = search->least;
    if (is_hopeless || (!is_all && !search->top.works))
        return FL_OK;
    if (!is_all)
        return search_smallest(search, error);
    return fl_capacity_walk(&search->question, search->least, search->top.first_bytes,
                            search->options, &search->found, &search->is_stepped, error);
}

static fl_status search_all(struct search *search, fl_error *error)
{
    fl_status status = find_least(search, error);
    if (status == FL_OK)
        status = find_top(search, error);
    if (status == FL_OK)
        status = search_between(search, error);
    if (status != FL_OK)
        return status;
    bool is_all = search->options->extent == FL_CAPACITY_ALL;
    return add_top(search, error) && (!is_all || add_bottom(search, error)) ? FL_OK
                                                                            : FL_ERR_RESOURCE;
}

fl_status fl_capacity_find(const fl_trace *trace, const fl_capacity_options *options,
                           fl_capacity *ret_capacity, fl_error *error)
{
    if (trace == NULL || options == NULL || ret_capacity == NULL)
        return fl_fail(error, FL_ERR_USAGE, "a search needs a trace, options and a place to go");
    struct search search = {
        .question = {.trace = trace, .replay = options->replay},
        .options = options,
    };
    fl_replay_options *replay = &search.question.replay;
    search.question.host = replay->host != NULL ? replay->host : fl_host_default();
    replay->total_bytes = 0;
    replay->on_oom = FL_ON_OOM_STOP;
    replay->is_lean = true;
    replay->is_tracked = true;
    replay->watch = NULL;
    replay->progress = NULL;
    fl_status status = search_all(&search, error);
    if (status == FL_OK)
        sum_up(&search, ret_capacity);
    else
        fl_vector_deinit(search.question.host, &search.found);
    return status;
}

void fl_capacity_deinit(fl_capacity *capacity)
{
    if (capacity->host == NULL)
        return;
    struct fl_capacity_vector items = {capacity->items, capacity->count, capacity->room};
    fl_vector_deinit(capacity->host, &items);
    *capacity = (fl_capacity){0};
}
