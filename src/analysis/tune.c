/* The order of the search, and the choice.
 *
 * The settings in force first: where they fit the card there is nothing to do.  Then what people
 * usually try, every split limit, and what else the release knows; then the smallest card of each
 * that fits.  Of those that need no larger card than the best of the usual ones, the one that loses
 * the least time is recommended, after replays of its own: exactly its text, on the card, on every
 * other card, and on traces a little different. */
#include "analysis/tune.h"

#include "analysis/perturb.h"
#include "base/checked.h"
#include "base/memory.h"
#include "device/pages.h"
#include "trace/trace.h"

#include <fraglab/capacity.h>

#include <string.h>

#define MOST_EVENTS   UINT64_C(1000000000) /* replayed in all: a minute or so of two cores */
#define TRIALS        5
#define SPREAD        0.02
#define CHOICES_MOST  8 /* recommendations taken back because larger cards fail */
#define SHORTLIST     6
#define LEAST_TRIES   50 /* worth beginning with */
#define ROOM_PER_CENT 5  /* above the best card, where none is given */

/* How many replays of all traces a part of the events allowed stands for; at least a few. */
static uint64_t tries_of(const fl_tune_state *state, uint64_t part)
{
    uint64_t events = state->events > 0 ? state->events : 1;
    uint64_t tries = state->most_events / part / events;
    return tries > 8 ? tries : 8;
}

static bool tell(fl_tune_state *state)
{
    const fl_tune_options *options = state->options;
    if (options->progress != NULL && !options->progress(options->user, state->done, state->planned))
        state->was_stopped = true;
    return !state->was_stopped;
}

/* ---- without a card -------------------------------------------------------------------------- */

/* Can this candidate do with less than `card`?  Then *card becomes what it needs. */
static fl_status undercut(fl_tune_state *state, const fl_tune_candidate *candidate, uint64_t *card,
                          fl_error *error)
{
    fl_tune_outcome outcome;
    if (*card <= FL_DEVICE_GRANULE)
        return FL_OK;
    uint64_t less = *card - FL_DEVICE_GRANULE;
    fl_error own = {0};
    fl_status status = fl_tune_try(state, candidate, less, &outcome, NULL, error);
    if (status != FL_OK || !outcome.fits)
        return status;
    *card = less;
    status = fl_tune_measure(state, candidate, less, tries_of(state, 8), card, &own);
    return status == FL_ERR_NO || status == FL_OK ? FL_OK : fl_fail(error, status, "%s", own.text);
}

/* The least that any of the first `count` candidates needs, the one in force first. */
static fl_status find_best_card(fl_tune_state *state, size_t count, uint64_t *ret_card,
                                fl_error *error)
{
    uint64_t card = FL_UNLIMITED;
    fl_error own = {0};
    fl_status status =
        fl_tune_measure(state, &state->candidates.items[0], 0, tries_of(state, 8), &card, &own);
    if (status != FL_OK && status != FL_ERR_NO)
        return fl_fail(error, status, "%s", own.text);
    fl_tune_outcome outcome;
    if (card == FL_UNLIMITED) {
        status = fl_tune_try(state, &state->candidates.items[0], UINT64_C(1) << 44, &outcome, NULL,
                             error);
        card = outcome.peak_reserved_bytes + FL_DEVICE_GRANULE;
    }
    for (size_t i = 1; i < count && status == FL_OK && tell(state); i++)
        if ((state->candidates.items[i].flags & FL_TUNE_CONFLICTING) == 0)
            status = undercut(state, &state->candidates.items[i], &card, error);
    *ret_card = card;
    return status;
}

/* That of the usual settings, and a little. */
static fl_status find_card(fl_tune_state *state, fl_error *error)
{
    uint64_t card;
    fl_status status = find_best_card(state, state->candidates.count, &card, error);
    if (status != FL_OK)
        return status;
    uint64_t room = card / 100 * ROOM_PER_CENT;
    if (!fl_add(card, room, &card))
        card = FL_UNLIMITED;
    state->card_bytes = fl_round_up(card, FL_DEVICE_GRANULE);
    return FL_OK;
}

/* ---- the choice ------------------------------------------------------------------------------ */

static bool is_eligible(const fl_tune_candidate *candidate)
{
    return candidate->outcome.fits && candidate->change == FL_TUNE_NO_CHANGE &&
           (candidate->flags & FL_TUNE_CONFLICTING) == 0;
}

/* Nothing that is eligible may need more than the best of the usual settings does. */
static uint64_t allowed_card(const fl_tune_state *state)
{
    uint64_t allowed = FL_UNLIMITED;
    for (size_t i = 0; i < state->candidates.count; i++) {
        const fl_tune_candidate *candidate = &state->candidates.items[i];
        if (is_eligible(candidate) && (candidate->flags & FL_TUNE_USUAL) &&
            candidate->smallest_card_bytes < allowed)
            allowed = candidate->smallest_card_bytes;
    }
    return allowed;
}

/* Settings that need no call in the program come first, then the least time lost, then the least
 * card, then what was tried first. */
static bool is_better(const fl_tune_candidate *a, const fl_tune_candidate *b, double fraction)
{
    bool a_is_plain = a->fraction == fraction, b_is_plain = b->fraction == fraction;
    if (a->outcome.cost_us != b->outcome.cost_us)
        return a->outcome.cost_us < b->outcome.cost_us;
    if (a->smallest_card_bytes != b->smallest_card_bytes)
        return a->smallest_card_bytes < b->smallest_card_bytes;
    return a_is_plain && !b_is_plain;
}

/* The candidates to choose from, best first; how many there are. */
static size_t shortlist(const fl_tune_state *state, size_t best[SHORTLIST])
{
    uint64_t allowed = allowed_card(state);
    double fraction = state->options->replay.fraction;
    size_t count = 0;
    for (size_t i = 0; i < state->candidates.count; i++) {
        const fl_tune_candidate *candidate = &state->candidates.items[i];
        if (!is_eligible(candidate) || candidate->smallest_card_bytes > allowed)
            continue;
        size_t at = count;
        while (at > 0 && is_better(candidate, &state->candidates.items[best[at - 1]], fraction))
            at--;
        if (at == SHORTLIST)
            continue;
        count += count < SHORTLIST;
        for (size_t k = count - 1; k > at; k--)
            best[k] = best[k - 1];
        best[at] = i;
    }
    return count;
}

static bool beats(const fl_tune_candidate *a, const fl_tune_candidate *b)
{
    bool is_no_worse = a->smallest_card_bytes <= b->smallest_card_bytes &&
                       a->outcome.cost_us <= b->outcome.cost_us;
    return is_no_worse && (a->smallest_card_bytes < b->smallest_card_bytes ||
                           a->outcome.cost_us < b->outcome.cost_us);
}

static void mark_pareto(fl_tune_state *state)
{
    for (size_t i = 0; i < state->candidates.count; i++) {
        fl_tune_candidate *candidate = &state->candidates.items[i];
        bool is_beaten = !is_eligible(candidate);
        for (size_t k = 0; k < state->candidates.count && !is_beaten; k++)
            is_beaten = is_eligible(&state->candidates.items[k]) &&
                        beats(&state->candidates.items[k], candidate);
        if (!is_beaten)
            candidate->flags |= FL_TUNE_PARETO;
    }
}

/* ---- the recommendation on its own ----------------------------------------------------------- */

/* Replays exactly the text of the recommendation in the plain way, which shares nothing with the
 * search but the trace. */
static fl_status verify(const fl_tune_state *state, const fl_tune_candidate *candidate,
                        bool *ret_fits, fl_error *error)
{
    *ret_fits = true;
    fl_status status = FL_OK;
    for (size_t i = 0; i < state->trace_count && status == FL_OK; i++) {
        fl_insertion ops[2];
        fl_replay_options options = fl_tune_replay_options(state, i, candidate, ops);
        options.is_lean = false;
        options.capacity_bytes = state->card_bytes;
        fl_replay *replay;
        fl_replay_summary summary;
        status = fl_replay_open(state->traces[i], &options, &replay, error);
        if (status != FL_OK)
            return status;
        status = fl_replay_run(replay, error);
        fl_replay_get_summary(replay, &summary);
        *ret_fits &= summary.ooms == 0;
        fl_replay_close(replay);
    }
    return status;
}

/* Does the choice work on every larger card, too?  Where one fails, it needs more than it seemed.
 */
static fl_status measure_choice(fl_tune_state *state, fl_tuning *tuning, bool *ret_is_kept,
                                fl_error *error)
{
    fl_tune_candidate *choice = &state->candidates.items[tuning->recommended];
    uint64_t card = FL_UNLIMITED;
    fl_error own = {0};
    *ret_is_kept = true;
    fl_status status = fl_tune_measure(state, choice, 0, tries_of(state, 4), &card, &own);
    if (status != FL_OK && status != FL_ERR_NO)
        return fl_fail(error, status, "%s", own.text);
    tuning->exact_card_bytes = status == FL_OK ? card : FL_UNLIMITED;
    *ret_is_kept = status == FL_ERR_NO || card <= choice->smallest_card_bytes;
    if (!*ret_is_kept)
        choice->smallest_card_bytes = card;
    return FL_OK;
}

/* ---- traces a little different --------------------------------------------------------------- */

struct trial {
    const fl_tune_state *state;
    const size_t *list; /* candidates */
    size_t count;
    fl_tune_robustness *results; /* of each */
};

static void note_trial(fl_tune_robustness *result, const fl_tune_outcome *outcome)
{
    uint64_t reserved = outcome->peak_reserved_bytes;
    result->trials++;
    if (!outcome->fits)
        return;
    if (result->fitting == 0 || reserved < result->least_reserved_bytes)
        result->least_reserved_bytes = reserved;
    if (reserved > result->most_reserved_bytes)
        result->most_reserved_bytes = reserved;
    result->fitting++;
}

/* Every candidate of the list on one such trace of one file. */
static fl_status try_perturbed(const struct trial *trial, size_t file, uint64_t seed,
                               fl_error *error)
{
    const fl_tune_state *state = trial->state;
    const fl_replay_options *replay = &state->options->replay;
    fl_perturbation how = {
        .device = state->options->trace_devices[file],
        .first_event = replay->first_event,
        .end_event = replay->end_event,
        .spread = SPREAD,
        .seed = seed,
    };
    if (how.end_event == 0)
        how.end_event = fl_trace_event_count(state->traces[file], how.device);
    fl_trace *trace;
    fl_status status = fl_perturb(state->traces[file], &how, state->host, &trace, error);
    if (status != FL_OK)
        return status;
    fl_tune_state one = *state;
    const fl_trace *const traces[] = {trace};
    const size_t devices[] = {0};
    fl_tune_options options = *state->options;
    options.trace_devices = devices;
    options.replay.first_event = options.replay.end_event = 0;
    one.traces = traces;
    one.trace_count = 1;
    one.options = &options;
    for (size_t i = 0; i < trial->count && status == FL_OK; i++) {
        fl_tune_outcome outcome;
        status = fl_tune_try(&one, &state->candidates.items[trial->list[i]], state->card_bytes,
                             &outcome, NULL, error);
        if (status == FL_OK)
            note_trial(&trial->results[i], &outcome);
    }
    fl_trace_free(trace);
    return status;
}

/* A window that lost its beginning cannot be written down as a program. */
static bool has_beginning(const fl_tune_state *state)
{
    for (size_t i = 0; i < state->trace_count; i++)
        if (!fl_trace_is_complete(state->traces[i], state->options->trace_devices[i]))
            return false;
    return true;
}

static fl_status try_list(const struct trial *trial, fl_error *error)
{
    const fl_tune_state *state = trial->state;
    fl_status status = FL_OK;
    for (uint64_t seed = 1; seed <= TRIALS && has_beginning(state); seed++)
        for (size_t file = 0; file < state->trace_count && status == FL_OK; file++)
            status = try_perturbed(trial, file, seed, error);
    return status;
}

/* The first of the shortlist that fits most often when the traces are a little different. */
static fl_status choose(fl_tune_state *state, fl_tuning *tuning, fl_error *error)
{
    size_t list[SHORTLIST], best = 0;
    fl_tune_robustness results[SHORTLIST] = {{0}};
    struct trial trial = {state, list, shortlist(state, list), results};
    tuning->recommended = SIZE_MAX;
    if (trial.count == 0)
        return FL_OK;
    fl_status status = state->was_stopped ? FL_OK : try_list(&trial, error);
    for (size_t i = 1; i < trial.count; i++)
        if (results[i].fitting > results[best].fitting)
            best = i;
    tuning->recommended = list[best];
    tuning->robustness = results[best];
    return status;
}

/* Chooses until the choice also works on every larger card, where that can be told. */
static fl_status prove(fl_tune_state *state, fl_tuning *tuning, fl_error *error)
{
    bool is_kept = false, fits = true;
    fl_status status = FL_OK;
    for (unsigned i = 0; i < CHOICES_MOST && status == FL_OK && !is_kept; i++) {
        status = choose(state, tuning, error);
        if (status != FL_OK || tuning->recommended == SIZE_MAX || state->was_stopped)
            break;
        status = measure_choice(state, tuning, &is_kept, error);
    }
    if (status != FL_OK || tuning->recommended == SIZE_MAX)
        return status;
    const fl_tune_candidate *choice = &state->candidates.items[tuning->recommended];
    status = verify(state, choice, &fits, error);
    if (status == FL_OK && !fits)
        return fl_fail(error, FL_ERR_INTERNAL, "'%s' fits in the search and not in a replay",
                       choice->conf);
    return status;
}

/* ---- the search ------------------------------------------------------------------------------ */

static fl_status try_from(fl_tune_state *state, size_t first, fl_error *error)
{
    state->planned += state->candidates.count - first;
    return fl_tune_try_all(state, first, error);
}

/* The usual settings stand at the beginning. */
static size_t count_usual(const fl_tune_state *state)
{
    size_t count = 0;
    while (count < state->candidates.count &&
           (state->candidates.items[count].flags & FL_TUNE_USUAL))
        count++;
    return count;
}

/* The settings in force on the card; *ret_is_enough: it fits, and nothing is left to ask. */
static fl_status try_base(fl_tune_state *state, bool *ret_is_enough, fl_error *error)
{
    fl_status status = try_from(state, 0, error);
    *ret_is_enough = state->options->card_bytes != 0 && state->candidates.items[0].outcome.fits;
    return status;
}

/* The best card of the usual settings: each has to fit what the best so far needs, less a step. */
static fl_status race(fl_tune_state *state, uint64_t *ret_card, fl_error *error)
{
    uint64_t best = state->card_bytes;
    fl_status status = FL_OK;
    for (size_t i = 0; i < count_usual(state) && status == FL_OK && tell(state); i++) {
        fl_tune_candidate *candidate = &state->candidates.items[i];
        if (!is_eligible(candidate))
            continue;
        uint64_t less = best < state->card_bytes ? best - FL_DEVICE_GRANULE : best;
        status = fl_tune_measure_one(state, candidate, less, tries_of(state, 4), error);
        if (candidate->smallest_card_bytes < best)
            best = candidate->smallest_card_bytes;
    }
    *ret_card = best;
    return status;
}

/* First what can be chosen; then, as far as that is not too much, everything else that fits. */
static fl_status measure(fl_tune_state *state, fl_error *error)
{
    uint64_t card, fitting = 0;
    for (size_t i = 0; i < state->candidates.count; i++)
        fitting += state->candidates.items[i].outcome.fits;
    fl_status status = race(state, &card, error);
    state->planned += 2 * state->candidates.count;
    if (status == FL_OK)
        status = fl_tune_measure_all(state, card, tries_of(state, 2 * (fitting + 1)), error);
    uint64_t tries = state->most_events / (state->events + 1) / (4 * (fitting + 1));
    if (status == FL_OK && tries > LEAST_TRIES)
        status = fl_tune_measure_all(state, state->card_bytes, tries, error);
    return status;
}

static fl_status search(fl_tune_state *state, bool *ret_is_enough, fl_error *error)
{
    fl_status status = fl_tune_survey(state, error);
    if (status == FL_OK)
        status = fl_tune_add_usual(state, error);
    if (status == FL_OK && state->card_bytes == 0)
        status = find_card(state, error);
    if (status == FL_OK)
        status = try_base(state, ret_is_enough, error);
    if (status != FL_OK || *ret_is_enough)
        return status;
    status = fl_tune_sweep_split(state, error);
    size_t tried = state->candidates.count; /* the sweep has tried its own */
    if (status == FL_OK)
        status = fl_tune_add_further(state, error);
    if (status == FL_OK)
        status = fl_tune_add_changes(state, error);
    if (status == FL_OK)
        status = try_from(state, tried, error);
    if (status != FL_OK)
        return status;
    return measure(state, error);
}

static fl_status conclude(fl_tune_state *state, bool is_enough, fl_tuning *tuning, fl_error *error)
{
    tuning->recommended = SIZE_MAX;
    tuning->exact_card_bytes = tuning->best_card_bytes = FL_UNLIMITED;
    tuning->reason = FL_TUNE_NONE_NEEDED;
    if (is_enough)
        return FL_OK;
    mark_pareto(state);
    fl_status status = prove(state, tuning, error);
    tuning->reason = tuning->recommended == SIZE_MAX ? FL_TUNE_NONE_FITS : FL_TUNE_RECOMMENDED;
    if (status == FL_OK && tuning->reason == FL_TUNE_NONE_FITS && !state->was_stopped)
        status = find_best_card(state, count_usual(state), &tuning->best_card_bytes, error);
    if (status != FL_OK || tuning->recommended != 0)
        return status;
    tuning->reason = FL_TUNE_NONE_NEEDED;
    tuning->recommended = SIZE_MAX;
    return FL_OK;
}

static void hand_over(const fl_tune_state *state, fl_tuning *tuning)
{
    tuning->host = state->host;
    tuning->card_bytes = state->card_bytes;
    tuning->is_card_given = state->options->card_bytes != 0;
    tuning->is_sampled = state->is_sampled;
    tuning->was_stopped = state->was_stopped;
    tuning->candidates = state->candidates.items;
    tuning->candidate_count = state->candidates.count;
    tuning->candidate_room = state->candidates.capacity;
    tuning->intervals = state->intervals.items;
    tuning->interval_count = state->intervals.count;
    tuning->interval_room = state->intervals.capacity;
}

fl_status fl_tune(const fl_trace *const *traces, size_t count, const fl_tune_options *options,
                  fl_tuning *ret_tuning, fl_error *error)
{
    if (traces == NULL || count == 0 || options == NULL || ret_tuning == NULL)
        return fl_fail(error, FL_ERR_USAGE, "a search needs traces, options and a place to go");
    fl_tune_options own = *options;
    if (own.replay.profile == NULL)
        own.replay.profile = fl_profile_newest();
    fl_tune_state state = {
        .host = own.replay.host != NULL ? own.replay.host : fl_host_default(),
        .traces = traces,
        .trace_count = count,
        .options = &own,
        .prices = own.prices != NULL ? *own.prices : fl_prices_default(),
        .card_bytes = own.card_bytes,
        .most_events = own.most_events != 0 ? own.most_events : MOST_EVENTS,
    };
    fl_tuning tuning = {0};
    bool is_enough = false;
    fl_status status = search(&state, &is_enough, error);
    if (status == FL_OK)
        status = conclude(&state, is_enough, &tuning, error);
    fl_vector_deinit(state.host, &state.sizes);
    fl_vector_deinit(state.host, &state.signatures);
    hand_over(&state, &tuning);
    if (status == FL_OK)
        *ret_tuning = tuning;
    else
        fl_tuning_deinit(&tuning);
    return status;
}

void fl_tuning_deinit(fl_tuning *tuning)
{
    if (tuning->host == NULL)
        return;
    struct fl_tune_candidates candidates = {tuning->candidates, tuning->candidate_count,
                                            tuning->candidate_room};
    struct fl_tune_intervals intervals = {tuning->intervals, tuning->interval_count,
                                          tuning->interval_room};
    fl_vector_deinit(tuning->host, &candidates);
    fl_vector_deinit(tuning->host, &intervals);
    *tuning = (fl_tuning){0};
}
