/* From a first guess to one that explains the history, by trial.
 *
 * A guess is tried by rebuilding the history under it up to the first difference.  The ideas that
 * the difference gives lead to other guesses; those that carry further are kept, and the one that
 * carries furthest is gone on with, back to others where it leads nowhere.  A change of settings
 * may show only later than it came: from the op that differs, its place is sought between where it
 * would have shown at once and where it comes too late.  The number of trials is bounded. */
#include "rebuild/repair.h"

#include "base/memory.h"
#include "rebuild/ideas.h"

#define MOST_TRIALS   3200                /* of one kind of ideas */
#define MOST_EVENTS   (UINT64_C(1) << 24) /* of all trials; each looks at all, and runs some */
#define MOST_BRANCHES 64
#define MOST_SOUGHT   3  /* changes of settings whose place is sought, by difference */
#define MOST_PLACES   24 /* at which one is tried in one pass */
#define MOST_LESSONS  256

/* What ideas change in a guess, and how far it carries. */
struct branch {
    struct fl_u32_vector place_pools;
    struct fl_refused_vector refused;
    struct fl_plan others;
    fl_lessons lessons;
    fl_attempt attempt;
    bool is_done; /* its ideas have been tried */
};

FL_VECTOR(branch_vector, struct branch);

struct repair {
    const fl_host *host;
    fl_trace *trace;
    size_t device;
    const fl_profile *profile;
    fl_guess *guess;
    struct branch_vector branches;
    fl_ideas ideas;
    unsigned reach;        /* fl_idea_reach of the ideas that may be tried */
    bool is_explained;     /* the guess as it is explains everything */
    struct branch excused; /* the one that came furthest to what is before the window */
    unsigned trials_left;
    uint64_t events_left;
};

/* ---- branches -------------------------------------------------------------------------------- */

static void branch_deinit(const fl_host *host, struct branch *branch)
{
    fl_vector_deinit(host, &branch->place_pools);
    fl_vector_deinit(host, &branch->refused);
    fl_vector_deinit(host, &branch->others);
    fl_lessons_deinit(host, &branch->lessons);
    *branch = (struct branch){0};
}

/* Into a branch of nothing. */
static bool branch_save(const fl_host *host, const fl_guess *guess, struct branch *branch,
                        fl_error *error)
{
    const struct fl_place_vector *places = &guess->places.items;
    if (!fl_vector_reserve(host, &branch->place_pools, places->count, error) ||
        !fl_vector_reserve(host, &branch->refused, guess->refused.count, error) ||
        !fl_vector_reserve(host, &branch->others, guess->others.count, error))
        return false;
    for (size_t i = 0; i < places->count; i++)
        branch->place_pools.items[branch->place_pools.count++] = places->items[i].pool;
    for (size_t i = 0; i < guess->refused.count; i++)
        branch->refused.items[branch->refused.count++] = guess->refused.items[i];
    for (size_t i = 0; i < guess->others.count; i++)
        branch->others.items[branch->others.count++] = guess->others.items[i];
    return fl_lessons_copy(host, &guess->lessons, &branch->lessons, error) == FL_OK;
}

static bool branch_restore(const fl_host *host, const struct branch *branch, fl_guess *guess,
                           fl_error *error)
{
    for (size_t i = 0; i < branch->place_pools.count; i++)
        guess->places.items.items[i].pool = branch->place_pools.items[i];
    for (size_t i = 0; i < branch->refused.count; i++)
        guess->refused.items[i] = branch->refused.items[i];
    guess->others.count = 0;
    if (!fl_vector_reserve(host, &guess->others, branch->others.count, error))
        return false;
    for (size_t i = 0; i < branch->others.count; i++)
        guess->others.items[guess->others.count++] = branch->others.items[i];
    return fl_lessons_copy(host, &branch->lessons, &guess->lessons, error) == FL_OK;
}

/* Keeps the guess as it is, if no branch from `first` on carries just as far: that would be the
 * same in other words. */
static fl_status keep_branch(struct repair *repair, size_t first, const fl_attempt *attempt,
                             fl_error *error)
{
    struct branch_vector *branches = &repair->branches;
    for (size_t i = first; i < branches->count; i++)
        if (branches->items[i].attempt.reached == attempt->reached)
            return FL_OK;
    if (branches->count >= MOST_BRANCHES)
        return FL_OK;
    struct branch branch = {.attempt = *attempt};
    if (!fl_vector_reserve(repair->host, branches, 1, error) ||
        !branch_save(repair->host, repair->guess, &branch, error)) {
        branch_deinit(repair->host, &branch);
        return FL_ERR_RESOURCE;
    }
    branches->items[branches->count++] = branch;
    return FL_OK;
}

/* The branch that carries furthest of those that are not done; FL_NONE: there is none. */
static uint32_t best_branch(const struct repair *repair)
{
    uint32_t best = FL_NONE;
    const struct branch *items = repair->branches.items;
    for (uint32_t i = 0; i < repair->branches.count; i++)
        if (!items[i].is_done &&
            (best == FL_NONE || items[i].attempt.reached > items[best].attempt.reached))
            best = i;
    return best;
}

/* ---- trials ---------------------------------------------------------------------------------- */

static bool has_trials_left(const struct repair *repair)
{
    return repair->trials_left > 0 && repair->events_left > 0 && !repair->is_explained;
}

static fl_status try_guess(struct repair *repair, fl_attempt *ret_attempt, fl_error *error)
{
    fl_status status = fl_rebuild_try(repair->trace, repair->device, repair->profile, repair->guess,
                                      ret_attempt, error);
    repair->is_explained = status == FL_OK && ret_attempt->is_explained;
    if (status != FL_OK)
        return status;
    uint64_t cost = ret_attempt->steps + fl_trace_event_count(repair->trace, repair->device) / 4;
    repair->trials_left -= repair->trials_left > 0;
    repair->events_left -= cost < repair->events_left ? cost : repair->events_left;
    return FL_OK;
}

/* What hangs on what was before the window is no fault of a guess, but one that explains all is
 * better. */
static fl_status keep_excused(struct repair *repair, const fl_attempt *attempt, fl_error *error)
{
    struct branch *excused = &repair->excused;
    bool is_further =
        excused->attempt.excuse == FL_EXCUSE_NONE || attempt->reached > excused->attempt.reached;
    if (attempt->excuse == FL_EXCUSE_NONE || !is_further)
        return FL_OK;
    branch_deinit(repair->host, excused);
    excused->attempt = *attempt;
    return branch_save(repair->host, repair->guess, excused, error) ? FL_OK : FL_ERR_RESOURCE;
}

/* Tries an idea upon a branch; what carries further becomes a branch. */
static fl_status try_idea(struct repair *repair, uint32_t from, size_t first, const fl_idea *idea,
                          uint64_t *ret_reached, fl_error *error)
{
    fl_attempt attempt;
    if (!branch_restore(repair->host, &repair->branches.items[from], repair->guess, error))
        return FL_ERR_RESOURCE;
    if (idea->kind == FL_IDEA_SETTINGS && idea->event == 0)
        repair->guess->lessons.tails.count = 0; /* they were learnt under others */
    fl_status status =
        fl_idea_apply(repair->trace, repair->device, &repair->ideas, idea, repair->guess, error);
    if (status == FL_OK)
        status = try_guess(repair, &attempt, error);
    if (status != FL_OK)
        return status;
    *ret_reached = attempt.reached;
    status = keep_excused(repair, &attempt, error);
    if (status == FL_OK && !attempt.is_explained &&
        attempt.reached > repair->branches.items[from].attempt.reached)
        status = keep_branch(repair, first, &attempt, error);
    return status;
}

/* ---- where settings changed ------------------------------------------------------------------ */

/* The first event of the op that a request ends, the outcomes before it included. */
static uint64_t op_begin(const fl_columns *columns, uint64_t event)
{
    while (event > 0 && fl_kind_is_segment(columns->kind[event - 1]))
        event--;
    return event;
}

static uint64_t last_change(const fl_guess *guess, uint64_t before)
{
    uint64_t last = 0;
    for (size_t i = 0; i < guess->others.count && guess->others.items[i].event < before; i++)
        last = guess->others.items[i].event;
    return last;
}

/* Where a change may have come: behind `early`, at which it would have shown before the difference,
 * up to `late`, where it has shown. */
struct window {
    uint64_t early, late;
};

/* Tries the change at up to MOST_PLACES events of a window, evenly spaced; *ret_best is between the
 * neighbours of the one that led furthest. */
static fl_status seek_in(struct repair *repair, uint32_t from, size_t first, fl_idea idea,
                         struct window window, struct window *ret_best, fl_error *error)
{
    const fl_columns *columns = fl_trace_columns(repair->trace, repair->device);
    uint64_t step = (window.late - window.early) / MOST_PLACES + 1, most = 0, tried = UINT64_MAX;
    fl_status status = FL_OK;
    *ret_best = (struct window){window.late, window.late};
    for (uint64_t at = window.late; at > window.early && status == FL_OK && has_trials_left(repair);
         at -= step < at - window.early ? step : at - window.early) {
        uint64_t reached;
        idea.event = op_begin(columns, at);
        if (idea.event == tried || idea.event <= window.early)
            continue;
        tried = idea.event;
        status = try_idea(repair, from, first, &idea, &reached, error);
        if (status != FL_OK || reached <= most)
            continue;
        most = reached;
        ret_best->early = at - window.early > step ? at - step : window.early;
        ret_best->late = window.late - at > step ? at + step : window.late;
    }
    return status;
}

/* Halves what lies before the op that differs until a change there does not show before it, and
 * looks closer behind that, where it may have come without showing at once. */
static fl_status seek_change(struct repair *repair, uint32_t from, size_t first, fl_idea idea,
                             fl_error *error)
{
    uint64_t differs = idea.event;
    if (!branch_restore(repair->host, &repair->branches.items[from], repair->guess, error))
        return FL_ERR_RESOURCE;
    struct window window = {last_change(repair->guess, differs), differs};
    fl_status status = FL_OK;
    while (status == FL_OK && window.late - window.early > 1 && has_trials_left(repair)) {
        uint64_t reached;
        idea.event = window.early + (window.late - window.early) / 2;
        status = try_idea(repair, from, first, &idea, &reached, error);
        *(reached < differs ? &window.early : &window.late) = idea.event;
    }
    window.late = differs;
    while (status == FL_OK && window.late - window.early > 1 && has_trials_left(repair)) {
        struct window best;
        bool is_last = window.late - window.early <= MOST_PLACES;
        status = seek_in(repair, from, first, idea, window, &best, error);
        if (is_last)
            break;
        window = best;
    }
    return status;
}

static fl_status seek_changes(struct repair *repair, uint32_t from, size_t first,
                              const uint64_t *reached, uint64_t op, fl_error *error)
{
    fl_status status = FL_OK;
    uint64_t least = UINT64_MAX;
    for (unsigned sought = 0; sought < MOST_SOUGHT && status == FL_OK; sought++) {
        size_t best = repair->ideas.items.count;
        for (size_t i = 0; i < repair->ideas.items.count; i++) {
            const fl_idea *idea = &repair->ideas.items.items[i];
            if (idea->kind == FL_IDEA_SETTINGS && idea->event == op && reached[i] < least &&
                (best == repair->ideas.items.count || reached[i] > reached[best]))
                best = i;
        }
        if (best == repair->ideas.items.count || !has_trials_left(repair))
            break;
        least = reached[best];
        status = seek_change(repair, from, first, repair->ideas.items.items[best], error);
    }
    return status;
}

/* ---- the search ------------------------------------------------------------------------------ */

static fl_status try_ideas(struct repair *repair, uint32_t from, uint64_t *reached, fl_error *error)
{
    size_t first = repair->branches.count;
    uint64_t op = 0;
    fl_status status = FL_OK;
    for (size_t i = 0; i < repair->ideas.items.count && status == FL_OK; i++) {
        const fl_idea *idea = &repair->ideas.items.items[i];
        if (!has_trials_left(repair))
            return FL_OK;
        if (idea->kind == FL_IDEA_SETTINGS && idea->event > op)
            op = idea->event;
        status = try_idea(repair, from, first, idea, &reached[i], error);
    }
    if (status == FL_OK && op > 0)
        status = seek_changes(repair, from, first, reached, op, error);
    return status;
}

static fl_status repair_branch(struct repair *repair, uint32_t from, fl_error *error)
{
    repair->branches.items[from].is_done = true;
    if (!branch_restore(repair->host, &repair->branches.items[from], repair->guess, error))
        return FL_ERR_RESOURCE;
    fl_attempt attempt = repair->branches.items[from].attempt;
    fl_status status = fl_ideas_find(repair->trace, repair->device, repair->profile, repair->guess,
                                     &attempt, repair->reach, &repair->ideas, error);
    size_t bytes = repair->ideas.items.count * sizeof(uint64_t);
    uint64_t *reached = status == FL_OK ? fl_new(repair->host, bytes, error) : NULL;
    if (reached == NULL)
        return FL_ERR_RESOURCE;
    status = try_ideas(repair, from, reached, error);
    fl_delete(repair->host, reached, bytes);
    return status;
}

static fl_status make_guess(struct repair *repair, fl_error *error)
{
    fl_settings settings;
    fl_guess made;
    if (repair->guess->places.of != NULL)
        return FL_OK;
    fl_status status = fl_record_conf(repair->trace, repair->profile, &settings, error);
    if (status == FL_OK)
        status =
            fl_guess_make(repair->trace, repair->device, repair->profile, &settings, &made, error);
    if (status != FL_OK)
        return status;
    made.lessons = repair->guess->lessons;
    *repair->guess = made;
    return FL_OK;
}

/* Goes on with the best branch until one explains everything, or all have led nowhere. */
static fl_status follow_branches(struct repair *repair, fl_error *error)
{
    uint32_t branch;
    fl_status status = FL_OK;
    while (status == FL_OK && has_trials_left(repair) && (branch = best_branch(repair)) != FL_NONE)
        status = repair_branch(repair, branch, error);
    return status;
}

static fl_status try_others(struct repair *repair, const struct fl_plan *others,
                            bool *ret_is_explained, fl_error *error)
{
    fl_attempt attempt;
    repair->guess->others.count = others->count;
    if (others->count > 0)
        memcpy(repair->guess->others.items, others->items, others->count * sizeof *others->items);
    fl_status status = fl_guess_plan(repair->trace, repair->device, repair->guess, error);
    if (status == FL_OK)
        status = try_guess(repair, &attempt, error);
    *ret_is_explained = status == FL_OK && attempt.is_explained;
    return status;
}

/* Leaves one out; where that does not do, the next comes in its place, or anywhere up to where it
 * is.  `fewer` has room for all. */
static fl_status try_without(struct repair *repair, const struct branch *all, size_t index,
                             struct fl_plan *fewer, bool *ret_is_explained, fl_error *error)
{
    const struct fl_plan *others = &all->others;
    fewer->count = 0;
    for (size_t i = 0; i < others->count; i++)
        if (i != index)
            fewer->items[fewer->count++] = others->items[i];
    fl_status status = try_others(repair, fewer, ret_is_explained, error);
    if (index + 1 >= others->count || others->items[index].op.kind != FL_OP_CONFIGURE)
        return status;
    uint64_t first = others->items[index].event, last = others->items[index + 1].event;
    uint64_t step = (last - first) / MOST_PLACES + 1;
    for (uint64_t at = first; at < last && status == FL_OK && !*ret_is_explained; at += step) {
        fewer->items[index].event = op_begin(fl_trace_columns(repair->trace, repair->device), at);
        status = try_others(repair, fewer, ret_is_explained, error);
    }
    return status;
}

/* What may have held from the start did. */
static fl_status try_first(struct repair *repair, const struct branch *all, struct fl_plan *fewer,
                           bool *ret_is_explained, fl_error *error)
{
    *ret_is_explained = true;
    if (all->others.count == 0 || all->others.items[0].event == 0)
        return FL_OK;
    fewer->count = all->others.count;
    memcpy(fewer->items, all->others.items, fewer->count * sizeof *fewer->items);
    fewer->items[0].event = 0;
    return try_others(repair, fewer, ret_is_explained, error);
}

/* Leaves out what explains nothing, and leaves what is inferred in the trace. */
static fl_status simplify(struct repair *repair, fl_error *error)
{
    struct branch all = {0}, fewer = {0};
    bool is_explained = true;
    fl_status status = FL_OK;
    size_t count = repair->guess->others.count;
    if (count == 0)
        return FL_OK;
    for (size_t i = count + 1; i-- > 0 && status == FL_OK;) {
        branch_deinit(repair->host, &all);
        if (!branch_save(repair->host, repair->guess, &all, error) ||
            !fl_vector_reserve(repair->host, &fewer.others, count, error))
            status = FL_ERR_RESOURCE;
        else if (i < count)
            status = try_without(repair, &all, i, &fewer.others, &is_explained, error);
        else
            status = try_first(repair, &all, &fewer.others, &is_explained, error);
        if (status == FL_OK && !is_explained)
            status = try_others(repair, &all.others, &is_explained, error);
    }
    branch_deinit(repair->host, &all);
    branch_deinit(repair->host, &fewer);
    return status;
}

/* The limit that the guess has from the start; UINT64_MAX: none. */
static uint64_t first_limit(const fl_guess *guess)
{
    for (size_t i = 0; i < guess->others.count && guess->others.items[i].event == 0; i++)
        if (guess->others.items[i].op.kind == FL_OP_LIMIT)
            return guess->others.items[i].op.size;
    return UINT64_MAX;
}

/* A limit may be lower than what explains the history, and what then takes no device that refused
 * something is likelier: collection that the higher limit did not ask for. */
static fl_status lower_limit(struct repair *repair, fl_error *error)
{
    fl_attempt best, attempt;
    struct branch kept = {0};
    uint64_t limit = first_limit(repair->guess);
    if (limit == UINT64_MAX)
        return FL_OK;
    fl_status status = try_guess(repair, &best, error);
    if (status == FL_OK)
        status = fl_ideas_lower_limits(repair->trace, repair->device, repair->profile,
                                       repair->guess, limit, &repair->ideas, error);
    if (status == FL_OK && !branch_save(repair->host, repair->guess, &kept, error))
        status = FL_ERR_RESOURCE;
    repair->trials_left = MOST_PLACES;
    for (size_t i = 0; i < repair->ideas.items.count && status == FL_OK && best.forced > 0 &&
                       repair->trials_left > 0;
         i++) {
        const fl_idea *idea = &repair->ideas.items.items[i];
        if (i > 0 && idea->bytes == idea[-1].bytes)
            continue;
        status = fl_idea_apply(repair->trace, repair->device, &repair->ideas, idea, repair->guess,
                               error);
        if (status == FL_OK)
            status = try_guess(repair, &attempt, error);
        if (status != FL_OK || !attempt.is_explained || attempt.forced >= best.forced)
            continue; /* a failure ends the loop */
        best = attempt;
        branch_deinit(repair->host, &kept);
        if (!branch_save(repair->host, repair->guess, &kept, error))
            status = FL_ERR_RESOURCE;
    }
    bool is_explained;
    if (status == FL_OK)
        status = try_others(repair, &kept.others, &is_explained, error);
    branch_deinit(repair->host, &kept);
    return status;
}

/* Forgets the branches from `kept` on, and goes on with the others by ideas that reach further. */
static fl_status search_further(struct repair *repair, size_t kept, unsigned reach, fl_error *error)
{
    while (repair->branches.count > kept)
        branch_deinit(repair->host, &repair->branches.items[--repair->branches.count]);
    for (size_t i = 0; i < kept; i++)
        repair->branches.items[i].is_done = false;
    repair->reach = reach;
    repair->trials_left = MOST_TRIALS;
    return follow_branches(repair, error);
}

/* Takes a guess that does not explain everything for right; what comes behind is read from its
 * form. */
static fl_status take_branch(struct repair *repair, const struct branch *branch, fl_error *error)
{
    if (!branch_restore(repair->host, branch, repair->guess, error))
        return FL_ERR_RESOURCE;
    fl_status status = fl_guess_plan(repair->trace, repair->device, repair->guess, error);
    return status == FL_OK ? fl_rebuild_try(repair->trace, repair->device, repair->profile,
                                            repair->guess, NULL, error)
                           : status;
}

/* First by what the file names and what is either so or not; then by pools that it does not name,
 * by numbers that it does not name, and by both. */
static fl_status repair_search(struct repair *repair, fl_error *error)
{
    static const unsigned reaches[] = {FL_REACH_POOLS, FL_REACH_NUMBERS,
                                       FL_REACH_POOLS | FL_REACH_NUMBERS};
    fl_status status = follow_branches(repair, error);
    size_t kept = repair->branches.count;
    for (size_t i = 0; i < sizeof reaches / sizeof *reaches; i++)
        if (status == FL_OK && !repair->is_explained)
            status = search_further(repair, kept, reaches[i], error);
    if (status != FL_OK)
        return status;
    if (repair->is_explained) {
        status = simplify(repair, error);
        return status == FL_OK ? lower_limit(repair, error) : status;
    }
    return take_branch(repair,
                       repair->excused.attempt.excuse != FL_EXCUSE_NONE
                           ? &repair->excused
                           : &repair->branches.items[0],
                       error);
}

/* A kind of event that was left out explains what differs better than any guess. */
static bool may_seek(const struct repair *repair)
{
    return fl_trace_lacks_conf(repair->trace) ||
           repair->trace->devices.items[repair->device].unrecorded == 0;
}

static fl_status seek(struct repair *repair, fl_attempt *attempt, fl_error *error)
{
    fl_status status = make_guess(repair, error);
    if (status == FL_OK)
        status = keep_branch(repair, 0, attempt, error);
    if (status == FL_OK)
        status = repair_search(repair, error);
    if (status == FL_OK && repair->is_explained)
        attempt->is_explained = true;
    else if (status == FL_OK && repair->excused.attempt.excuse != FL_EXCUSE_NONE)
        *attempt = repair->excused.attempt;
    return status;
}

static fl_status repair_run(struct repair *repair, bool is_seeking, fl_attempt *ret_attempt,
                            fl_error *error)
{
    fl_status status = FL_OK;
    if (fl_guess_has_pools(repair->trace, repair->device))
        status = make_guess(repair, error);
    if (status == FL_OK)
        status = try_guess(repair, ret_attempt, error);
    if (status == FL_OK && !ret_attempt->is_explained && repair->guess->hits.count > 0) {
        fl_guess_drop_hits(repair->guess);
        status = fl_guess_plan(repair->trace, repair->device, repair->guess, error);
        if (status == FL_OK)
            status = try_guess(repair, ret_attempt, error);
    }
    if (status != FL_OK || ret_attempt->is_explained)
        return status;
    if (is_seeking && ret_attempt->excuse == FL_EXCUSE_NONE && may_seek(repair))
        return seek(repair, ret_attempt, error);
    return fl_rebuild_try(repair->trace, repair->device, repair->profile, repair->guess, NULL,
                          error);
}

/* Lessons cost a replay each, so that a history is gone through about as often as in a search. */
static uint64_t allowed_lessons(const fl_columns *columns)
{
    uint64_t most = MOST_EVENTS / (columns->count + 1);
    return most < MOST_LESSONS ? most : MOST_LESSONS;
}

fl_status fl_repair(fl_trace *trace, size_t device, const fl_profile *profile, bool is_seeking,
                    fl_attempt *ret_attempt, fl_error *error)
{
    fl_guess guess = {.lessons.left = allowed_lessons(fl_trace_columns(trace, device))};
    struct repair repair = {
        .host = trace->host,
        .trace = trace,
        .device = device,
        .profile = profile,
        .guess = &guess,
        .trials_left = MOST_TRIALS,
        .events_left = MOST_EVENTS,
    };
    fl_status status = repair_run(&repair, is_seeking, ret_attempt, error);
    fl_ideas_deinit(trace->host, &repair.ideas);
    for (size_t i = 0; i < repair.branches.count; i++)
        branch_deinit(trace->host, &repair.branches.items[i]);
    fl_vector_deinit(trace->host, &repair.branches);
    branch_deinit(trace->host, &repair.excused);
    fl_guess_deinit(trace->host, &guess);
    return status;
}
