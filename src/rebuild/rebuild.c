/* What a recorded history does not say: empty_cache, and which completions were waited for.
 *
 * The history is replayed over its own record.  At each burst the readings that it allows are
 * tried, the most likely first: a reading is right where every decision up to and including the
 * request comes out as recorded.  A policy cannot be put back, so another try means replaying from
 * the start; that is rare, and bounded.  Once no reading fits, the file is not explained by this
 * release and these settings; from there on bursts are read from their form alone. */
#include "rebuild/rebuild.h"

#include "base/vector.h"
#include "rebuild/burst.h"
#include "rebuild/card.h"
#include "rebuild/frees.h"
#include "rebuild/repair.h"
#include "rebuild/start.h"
#include "rebuild/trims.h"
#include "replay/replay.h"
#include "trace/build.h"

#define MOST_RESTARTS 64

FL_VECTOR(fl_live_counts, uint32_t);

struct rebuild {
    const fl_host *host;
    fl_trace *trace;
    size_t device;
    const fl_columns *columns;
    fl_replay_options options;
    fl_replay *replay; /* NULL: nothing runs alongside any more */
    fl_compare compare;
    fl_guess *guess;
    fl_attempt *attempt; /* NULL: nobody asks */
    fl_lesson lesson;    /* of the first difference */
    bool is_judged;
    uint64_t pending;
    struct fl_u64_vector idle;  /* whole segments without a live block, by pool */
    struct fl_live_counts live; /* live blocks by segment; of expandable ones nothing */
    uint64_t most_reserved_bytes;
    unsigned restarts_left;
};

/* ---- facts, from the changes ----------------------------------------------------------------- */

static fl_status grow_idle(struct rebuild *rebuild, uint32_t pool, fl_error *error)
{
    if (pool >= rebuild->idle.count &&
        !fl_vector_reserve(rebuild->host, &rebuild->idle, pool + (size_t)1 - rebuild->idle.count,
                           error))
        return FL_ERR_RESOURCE;
    while (rebuild->idle.count <= pool)
        rebuild->idle.items[rebuild->idle.count++] = 0;
    return FL_OK;
}

static fl_status grow_live(struct rebuild *rebuild, uint32_t segment, fl_error *error)
{
    size_t missing = segment + (size_t)1 - rebuild->live.count;
    if (!fl_vector_reserve(rebuild->host, &rebuild->live, missing, error))
        return FL_ERR_RESOURCE;
    while (rebuild->live.count <= segment)
        rebuild->live.items[rebuild->live.count++] = 0;
    return FL_OK;
}

static fl_status note_change(struct rebuild *rebuild, const fl_change *change, fl_error *error)
{
    bool is_whole = (change->flags & FL_CHANGE_EXPANDABLE) == 0;
    if (is_whole && change->segment != FL_NONE && change->segment >= rebuild->live.count &&
        grow_live(rebuild, change->segment, error) != FL_OK)
        return FL_ERR_RESOURCE;
    if (grow_idle(rebuild, change->pool, error) != FL_OK)
        return FL_ERR_RESOURCE;
    uint64_t *idle = &rebuild->idle.items[change->pool];
    uint32_t *live =
        is_whole && change->segment != FL_NONE ? &rebuild->live.items[change->segment] : NULL;
    switch (change->kind) {
    case FL_CHANGE_ACQUIRE:
        ++*idle;
        break;
    case FL_CHANGE_RELEASE:
        --*idle;
        break;
    case FL_CHANGE_PLACE:
        if (live != NULL && (*live)++ == 0)
            --*idle;
        break;
    case FL_CHANGE_FREE_ASKED:
        rebuild->pending++;
        if (live != NULL && --*live == 0)
            ++*idle;
        break;
    case FL_CHANGE_FREE_DONE:
        rebuild->pending--;
        break;
    default:
        break;
    }
    return FL_OK;
}

/* Right at the first difference: later the state has moved on. */
static fl_status judge_first(struct rebuild *rebuild, fl_error *error)
{
    if (rebuild->attempt == NULL || rebuild->compare.differences == 0 || rebuild->is_judged)
        return FL_OK;
    rebuild->is_judged = true;
    return fl_lesson_judge(&rebuild->compare.first, rebuild->trace, rebuild->device,
                           rebuild->replay, &rebuild->lesson, error);
}

static fl_status rebuild_watch(void *user, const fl_view *view, fl_error *error)
{
    struct rebuild *rebuild = user;
    fl_compare_view(&rebuild->compare, view);
    fl_status status = judge_first(rebuild, error);
    for (size_t i = 0; i < view->change_count && status == FL_OK; i++)
        status = note_change(rebuild, &view->changes[i], error);
    return status;
}

/* The most that the recorded allocator ever held. */
static uint64_t most_reserved(const fl_columns *columns, uint64_t reserved)
{
    uint64_t most = reserved;
    for (uint64_t i = 0; i < columns->count; i++) {
        reserved = fl_reserved_after(columns, i, reserved);
        if (reserved > most)
            most = reserved;
    }
    return most;
}

/* ---- the replay alongside -------------------------------------------------------------------- */

static fl_status open_replay(struct rebuild *rebuild, fl_error *error)
{
    fl_replay_close(rebuild->replay);
    rebuild->replay = NULL;
    rebuild->pending = 0;
    rebuild->lesson = (fl_lesson){0};
    rebuild->is_judged = false;
    rebuild->idle.count = 0;
    rebuild->live.count = 0;
    fl_compare_init(&rebuild->compare, rebuild->host, rebuild->trace, rebuild->device);
    return fl_replay_open(rebuild->trace, &rebuild->options, &rebuild->replay, error);
}

/* Keeps the first difference of the reading that led furthest. */
static void note_miss(struct rebuild *rebuild)
{
    fl_attempt *attempt = rebuild->attempt;
    const fl_compare *compare = &rebuild->compare;
    if (attempt == NULL)
        return;
    bool has_miss = compare->differences > 0;
    uint64_t event = has_miss                  ? compare->first.event
                     : rebuild->replay != NULL ? rebuild->replay->event
                                               : attempt->reached;
    if (event < attempt->reached || (event == attempt->reached && attempt->has_miss))
        return;
    attempt->reached = event;
    attempt->has_miss = has_miss;
    attempt->miss = compare->first;
}

/* Gives up following: the bursts that come are read from their form. */
static void lose_track(struct rebuild *rebuild)
{
    note_miss(rebuild);
    fl_replay_close(rebuild->replay);
    rebuild->replay = NULL;
}

/* Runs the events before `event`, and what was inferred before it. */
static fl_status run_to(struct rebuild *rebuild, uint64_t event, fl_error *error)
{
    fl_replay *replay = rebuild->replay;
    fl_status status = fl_replay_begin(replay, error);
    while (replay->event < event && status == FL_OK)
        status = fl_replay_event(replay, error);
    return status == FL_OK ? fl_replay_inferred(replay, error) : status;
}

/* A failure of the host ends the rebuild; any other says that the replay went another way. */
static fl_status run_or_lose_track(struct rebuild *rebuild, uint64_t event, bool *ret_is_lost,
                                   fl_error *error)
{
    fl_error why = {0};
    fl_status status = run_to(rebuild, event, &why);
    *ret_is_lost = status != FL_OK;
    if (status == FL_ERR_RESOURCE)
        return fl_fail(error, status, "%s", why.text);
    return FL_OK;
}

/* Segments that an empty_cache before `event` would give back. */
static uint64_t count_idle(const struct rebuild *rebuild, uint64_t event)
{
    uint64_t idle = 0;
    for (uint32_t pool = 0; pool < rebuild->idle.count; pool++)
        if (fl_guess_is_released(rebuild->guess, pool, event))
            idle += rebuild->idle.items[pool];
    return idle;
}

static bool is_of_program(const struct rebuild *rebuild, uint32_t pool)
{
    return pool < rebuild->guess->pools.count &&
           (rebuild->guess->pools.items[pool].flags & FL_OP_CAPTURE) == 0;
}

static fl_status gather_facts(const struct rebuild *rebuild, const fl_burst *burst,
                              fl_burst_facts *ret_facts, fl_error *error)
{
    const fl_replay *replay = rebuild->replay;
    fl_burst_facts facts = {
        .has_split_limit = replay->settings.max_split_bytes != FL_UNLIMITED,
        .pending = rebuild->pending,
        .idle_segments = count_idle(rebuild, burst->end),
        .reserved_bytes = replay->now.reserved_bytes,
        .most_reserved_bytes = rebuild->most_reserved_bytes,
    };
    facts.runs = fl_trims_count(rebuild->columns, &rebuild->guess->places, burst, &facts.pool);
    facts.idle_in_pool = facts.pool < rebuild->idle.count ? rebuild->idle.items[facts.pool] : 0;
    facts.is_pool_of_program = is_of_program(rebuild, facts.pool);
    bool may_be_either = burst->is_request && burst->first_release != UINT64_MAX;
    if (may_be_either && replay->policy->probe != NULL) {
        fl_op op;
        fl_probe probe = {0};
        fl_columns_op(rebuild->columns, burst->end, &op);
        fl_status status = replay->policy->probe(replay->policy_state, &op, &probe, error);
        if (status != FL_OK)
            return status;
        facts.is_usable = probe.usable;
    }
    *ret_facts = facts;
    return FL_OK;
}

/* ---- readings -------------------------------------------------------------------------------- */

/* A completion that some op waited for asks nothing at its own place, but has happened once that op
 * is over, whatever the settings of a later replay. */
static fl_status move_completion(struct rebuild *rebuild, uint64_t event, uint64_t over,
                                 fl_error *error)
{
    fl_op done;
    fl_columns_op(rebuild->columns, event, &done);
    fl_trace_set_flags(rebuild->trace, rebuild->device, event, FL_EVENT_SILENT);
    return fl_trace_insert(rebuild->trace, rebuild->device, over, &done, error);
}

static fl_status insert_trim(struct rebuild *rebuild, uint64_t event, uint32_t pool,
                             fl_error *error)
{
    fl_op trim = {
        .kind = FL_OP_TRIM, .id = FL_NONE, .stream = FL_NONE, .pool = pool, .text = FL_NONE};
    return fl_trace_insert(rebuild->trace, rebuild->device, event, &trim, error);
}

/* Ops that are planned for the event that a burst leads to: behind an empty_cache. */
static fl_status begin_scopes(struct rebuild *rebuild, uint64_t event, fl_error *error)
{
    return fl_guess_insert(rebuild->trace, rebuild->device, rebuild->guess, event, true, error);
}

/* What was planned before an event, or up to an empty_cache there. */
static fl_status insert_planned(struct rebuild *rebuild, uint64_t event, fl_error *error)
{
    return fl_guess_insert(rebuild->trace, rebuild->device, rebuild->guess, event, false, error);
}

/* One empty_cache of everything, of one pool, or one for each run of releases. */
static fl_status insert_trims(struct rebuild *rebuild, const fl_burst *burst, fl_reading reading,
                              fl_error *error)
{
    fl_trim_run run;
    fl_status status = FL_OK;
    uint64_t from = burst->begin;
    bool is_split = reading == FL_READING_TRIMS;
    while (status == FL_OK && is_split &&
           fl_trims_next(rebuild->columns, &rebuild->guess->places, burst, from, &run)) {
        status = insert_planned(rebuild, run.end - 1, error); /* a guess may be in its midst */
        if (status == FL_OK)
            status = insert_trim(rebuild, run.end, run.pool != 0 ? run.pool : FL_NONE, error);
        from = run.end;
    }
    if (status == FL_OK)
        status = insert_planned(rebuild, burst->end, error);
    if (status != FL_OK || is_split)
        return status;
    bool is_of_pool = reading == FL_READING_TRIM_POOL &&
                      fl_trims_next(rebuild->columns, &rebuild->guess->places, burst, from, &run);
    return insert_trim(rebuild, burst->end, is_of_pool ? run.pool : FL_NONE, error);
}

/* Writes a reading into the trace. */
static fl_status apply_reading(struct rebuild *rebuild, const fl_burst *burst, fl_reading reading,
                               fl_error *error)
{
    const fl_columns *columns = rebuild->columns;
    bool is_trim = reading == FL_READING_TRIM || reading == FL_READING_TRIM_POOL ||
                   reading == FL_READING_TRIMS;
    uint64_t over = burst->end + (!is_trim && burst->end < columns->count);
    fl_status status = is_trim ? insert_trims(rebuild, burst, reading, error)
                               : begin_scopes(rebuild, burst->end, error);
    if (status == FL_OK && reading == FL_READING_PAIR) {
        fl_trace_set_flags(rebuild->trace, rebuild->device, burst->begin - 2, FL_OP_HELD);
        status = move_completion(rebuild, burst->begin - 1, over, error);
    }
    bool by_itself = reading == FL_READING_BEFORE;
    for (uint64_t i = burst->begin; i < burst->end && status == FL_OK; i++) {
        if (columns->kind[i] != FL_OP_FREE_DONE)
            by_itself = false;
        else if (!by_itself)
            status = move_completion(rebuild, i, over, error);
    }
    return status == FL_OK && is_trim ? begin_scopes(rebuild, burst->end, error) : status;
}

static void take_back(struct rebuild *rebuild, const fl_burst *burst, size_t kept_insertions)
{
    fl_trace_drop_insertions(rebuild->trace, rebuild->device, kept_insertions);
    for (uint64_t i = burst->begin; i < burst->end; i++)
        if (rebuild->columns->kind[i] == FL_OP_FREE_DONE)
            fl_trace_clear_flags(rebuild->trace, rebuild->device, i, FL_EVENT_SILENT);
    if (burst->has_pair)
        fl_trace_clear_flags(rebuild->trace, rebuild->device, burst->begin - 2, FL_OP_HELD);
}

/* Does everything up to and including the burst's request come out as recorded? */
static fl_status judge_reading(struct rebuild *rebuild, const fl_burst *burst, bool *ret_fits,
                               fl_error *error)
{
    bool is_end = burst->end == rebuild->columns->count;
    bool is_lost;
    fl_status status =
        run_or_lose_track(rebuild, is_end ? burst->end : burst->end + 1, &is_lost, error);
    fl_compare_catch_up(&rebuild->compare, burst->end);
    *ret_fits = !is_lost && rebuild->compare.differences == 0;
    return status;
}

/* Tries the readings one after the other; *ret_fits is false where none is right.  Then the
 * likeliest is taken for right, and what it shows for shown. */
static fl_status try_readings(struct rebuild *rebuild, const fl_burst *burst,
                              const fl_reading *readings, size_t count, bool *ret_fits,
                              fl_error *error)
{
    size_t kept;
    fl_trace_insertions(rebuild->trace, rebuild->device, &kept);
    size_t kept_plan = rebuild->guess->next;
    fl_lesson lesson = {0};
    *ret_fits = false;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && rebuild->restarts_left == 0)
            break;
        rebuild->restarts_left -= i > 0;
        fl_status status = apply_reading(rebuild, burst, readings[i], error);
        if (status == FL_OK && i > 0)
            status = open_replay(rebuild, error);
        if (status == FL_OK)
            status = judge_reading(rebuild, burst, ret_fits, error);
        if (status != FL_OK || *ret_fits)
            return status;
        if (i == 0)
            lesson = rebuild->lesson;
        note_miss(rebuild);
        take_back(rebuild, burst, kept);
        rebuild->guess->next = kept_plan;
    }
    rebuild->lesson = lesson;
    return FL_OK;
}

static fl_status read_burst(struct rebuild *rebuild, const fl_burst *burst, fl_error *error)
{
    fl_reading readings[FL_READING_COUNT];
    if (rebuild->replay != NULL) {
        fl_burst_facts facts;
        fl_status status = gather_facts(rebuild, burst, &facts, error);
        if (status != FL_OK)
            return status;
        size_t count = fl_burst_readings(burst, &facts, readings);
        bool fits;
        status = try_readings(rebuild, burst, readings, count, &fits, error);
        if (status != FL_OK || fits)
            return status;
        lose_track(rebuild);
    } else {
        fl_burst_readings(burst, NULL, readings);
    }
    return apply_reading(rebuild, burst, readings[0], error);
}

/* Whoever asks how far a guess carries does not ask what comes behind. */
static bool has_failed(const struct rebuild *rebuild)
{
    return rebuild->attempt != NULL && rebuild->replay == NULL;
}

/* The op that a burst at the end of a cut file belongs to was lost with the rest. */
static bool is_cut_off(const struct rebuild *rebuild, const fl_burst *burst)
{
    return burst->end == rebuild->columns->count &&
           !fl_trace_has_end(&rebuild->trace->devices.items[rebuild->device]);
}

static fl_status read_bursts(struct rebuild *rebuild, fl_error *error)
{
    fl_burst burst;
    uint64_t from = 0;
    fl_status status = FL_OK;
    while (status == FL_OK && !has_failed(rebuild) &&
           fl_burst_find(rebuild->columns, from, &burst)) {
        from = burst.end + 1;
        if (!fl_burst_is_open(&burst) || is_cut_off(rebuild, &burst))
            continue;
        status = insert_planned(rebuild, burst.begin, error);
        if (rebuild->replay != NULL && status == FL_OK) {
            bool is_lost;
            status = run_or_lose_track(rebuild, burst.begin, &is_lost, error);
            fl_compare_catch_up(&rebuild->compare, burst.begin);
            if (is_lost || rebuild->compare.differences > 0)
                lose_track(rebuild);
        }
        if (status == FL_OK)
            status = read_burst(rebuild, &burst, error);
    }
    return status;
}

/* From the last burst to the final state. */
static fl_status run_out(struct rebuild *rebuild, fl_error *error)
{
    if (rebuild->attempt == NULL || rebuild->replay == NULL)
        return FL_OK;
    bool is_lost, is_whole = fl_trace_has_end(&rebuild->trace->devices.items[rebuild->device]);
    fl_status status = run_or_lose_track(rebuild, rebuild->columns->count, &is_lost, error);
    if (status == FL_OK && !is_lost && is_whole) {
        fl_compare_catch_up(&rebuild->compare, rebuild->columns->count);
        status = fl_compare_final_state(&rebuild->compare, rebuild->replay, error);
    }
    rebuild->attempt->forced = rebuild->compare.releases_by_cause[FL_CAUSE_RELEASE_ALL] +
                               rebuild->compare.releases_by_cause[FL_CAUSE_RELEASE_AVAILABLE];
    if (status != FL_OK || is_lost || rebuild->compare.differences > 0) {
        lose_track(rebuild);
        return status;
    }
    const fl_device_info *info = fl_replay_get_device_info(rebuild->replay);
    rebuild->attempt->is_explained = true;
    rebuild->attempt->most_granted_bytes = info->most_granted_bytes;
    rebuild->attempt->least_refused_bytes = info->least_refused_bytes;
    return FL_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool has_open_burst(const fl_columns *columns)
{
    fl_burst burst;
    for (uint64_t from = 0; fl_burst_find(columns, from, &burst); from = burst.end + 1)
        if (fl_burst_is_open(&burst))
            return true;
    return false;
}

static fl_status insert_rest(fl_trace *trace, size_t device, fl_guess *guess, fl_error *error)
{
    fl_status status = fl_guess_insert(trace, device, guess, UINT64_MAX, true, error);
    return status == FL_OK ? fl_frees_finish(trace, device, error) : status;
}

static fl_status rebuild_run(struct rebuild *rebuild, fl_error *error)
{
    fl_status status = fl_record_options(rebuild->trace, rebuild->device, rebuild->options.profile,
                                         rebuild->host, &rebuild->options, error);
    if (status != FL_OK)
        return status;
    rebuild->options.watch = rebuild_watch;
    rebuild->options.user = rebuild;
    status = open_replay(rebuild, error);
    if (status == FL_OK)
        status = read_bursts(rebuild, error);
    if (status == FL_OK)
        status = insert_rest(rebuild->trace, rebuild->device, rebuild->guess, error);
    if (status == FL_OK)
        status = run_out(rebuild, error);
    fl_replay_close(rebuild->replay);
    fl_vector_deinit(rebuild->host, &rebuild->live);
    fl_vector_deinit(rebuild->host, &rebuild->idle);
    return status;
}

/* The settings that a guess begins with: those of the file, unless they changed on the way. */
static fl_status first_settings(const fl_trace *trace, const fl_profile *profile,
                                const fl_guess *guess, fl_settings *ret_settings, fl_error *error)
{
    const fl_planned *first = guess->others.count > 0 ? guess->others.items : NULL;
    fl_status status = fl_record_conf(trace, profile, ret_settings, error);
    for (size_t i = 0; status == FL_OK && i < guess->others.count && first[i].event == 0; i++)
        if (first[i].op.kind == FL_OP_CONFIGURE)
            status = fl_settings_parse(profile, trace->texts.items[first[i].op.text], ret_settings,
                                       error);
    return status;
}

/* Makes a cut window whole, as this release and the settings that it began with have it. */
static fl_status place_start(fl_trace *trace, size_t device, const fl_profile *profile,
                             const fl_guess *guess, fl_error *error)
{
    fl_replay_options options = {0};
    fl_settings settings;
    fl_status status = fl_record_options(trace, device, profile, trace->host, &options, error);
    if (status == FL_OK)
        status = first_settings(trace, profile, guess, &settings, error);
    if (status == FL_OK)
        status = fl_start_place(trace, device, profile, &settings, options.total_bytes, error);
    return status;
}

static fl_status clear_inferred(fl_trace *trace, size_t device, const fl_profile *profile,
                                fl_guess *guess, fl_error *error)
{
    fl_frees_mark(trace, device);
    fl_trace_drop_insertions(trace, device, 0);
    guess->next = 0;
    fl_status status = fl_guess_place_start(trace, device, guess, error);
    return status != FL_OK || fl_trace_is_complete(trace, device)
               ? status
               : place_start(trace, device, profile, guess, error);
}

static fl_status try_once(fl_trace *trace, size_t device, const fl_profile *profile,
                          fl_guess *guess, fl_attempt *ret_attempt, fl_lesson *ret_lesson,
                          fl_error *error)
{
    fl_status status = clear_inferred(trace, device, profile, guess, error);
    if (status != FL_OK)
        return status;
    struct rebuild rebuild = {
        .host = trace->host,
        .trace = trace,
        .device = device,
        .columns = fl_trace_columns(trace, device),
        .options.profile = profile,
        .restarts_left = MOST_RESTARTS,
        .guess = guess,
        .attempt = ret_attempt,
    };
    if (ret_attempt == NULL && !has_open_burst(rebuild.columns))
        return insert_rest(trace, device, guess, error);
    rebuild.most_reserved_bytes =
        most_reserved(rebuild.columns, fl_start_reserved(&trace->devices.items[device].start));
    status = rebuild_run(&rebuild, error);
    *ret_lesson = rebuild.lesson;
    return status;
}

fl_status fl_rebuild_try(fl_trace *trace, size_t device, const fl_profile *profile, fl_guess *guess,
                         fl_attempt *ret_attempt, fl_error *error)
{
    fl_lesson lesson = {0};
    fl_attempt attempt;
    if (ret_attempt == NULL)
        return try_once(trace, device, profile, guess, NULL, &lesson, error);
    uint64_t steps = 0;
    bool is_new = true;
    fl_status status = FL_OK;
    while (status == FL_OK && is_new) {
        attempt = (fl_attempt){0};
        status = try_once(trace, device, profile, guess, &attempt, &lesson, error);
        steps += attempt.reached + 1;
        is_new = false;
        if (status == FL_OK && !attempt.is_explained)
            status = fl_lessons_learn(trace->host, &guess->lessons, &lesson, &is_new, error);
    }
    if (status != FL_OK)
        return status;
    attempt.excuse = lesson.excuse;
    attempt.steps = steps;
    *ret_attempt = attempt;
    return FL_OK;
}
