#include "analysis/shrink_state.h"

#include "base/memory.h"

/* ---- the question ---------------------------------------------------------------------------- */

/* A candidate in which a scope cannot be opened, closed or let go of is no program. */
static fl_status watch_scopes(void *user, const fl_view *view, fl_error *error)
{
    (void)user;
    bool is_scope = view->op->kind == FL_OP_SCOPE_BEGIN || view->op->kind == FL_OP_SCOPE_END ||
                    view->op->kind == FL_OP_POOL_RELEASE;
    if (is_scope && view->result->outcome == FL_FORBIDDEN)
        return fl_fail(error, FL_ERR_INPUT, "a scope that cannot be");
    return FL_OK;
}

static fl_status replay_candidate(const fl_shrink_state *state, const fl_trace *candidate,
                                  fl_replay_summary *ret_summary, fl_error *error)
{
    fl_replay_options options = state->options->replay;
    options.is_lean = true;
    options.watch = state->keeps_scopes ? watch_scopes : NULL;
    options.progress = NULL;
    options.trace_device = 0;
    options.first_event = options.end_event = 0;
    options.fraction = -1; /* the program begins with it */
    options.on_oom = FL_ON_OOM_STOP;
    fl_replay *replay;
    fl_status status = fl_replay_open(candidate, &options, &replay, error);
    if (status != FL_OK)
        return status;
    status = fl_replay_run(replay, error);
    if (status == FL_OK)
        fl_replay_get_summary(replay, ret_summary);
    fl_replay_close(replay);
    return status;
}

static fl_shrink_room room_of(const fl_oom *oom)
{
    const fl_refusal *told = &oom->refusal;
    if (!oom->has_refusal)
        return FL_SHRINK_NO_ROOM;
    if (told->rounded_bytes <= told->cached_free_bytes)
        return FL_SHRINK_ROOM_IN_CACHE;
    bool is_together = told->rounded_bytes - told->cached_free_bytes <= told->device_free_bytes;
    return is_together ? FL_SHRINK_ROOM_TOGETHER : FL_SHRINK_NO_ROOM;
}

static fl_shrink_refusal refusal_of(const fl_oom *oom)
{
    return (fl_shrink_refusal){.outcome = oom->outcome, .why = oom->why, .room = room_of(oom)};
}

static bool refusal_is_same(const fl_shrink_refusal *a, const fl_shrink_refusal *b)
{
    bool same_why =
        (a->why == NULL) == (b->why == NULL) && (a->why == NULL || strcmp(a->why, b->why) == 0);
    return a->outcome == b->outcome && same_why && a->room == b->room;
}

/* A failure of the host ends the search; any other says that the candidate is no program. */
static fl_status shows_refusal(const fl_shrink_state *state, const fl_trace *candidate,
                               bool *ret_shows, fl_error *error)
{
    fl_replay_summary summary;
    fl_error why = {0};
    fl_status status = replay_candidate(state, candidate, &summary, &why);
    if (status == FL_ERR_RESOURCE || status == FL_ERR_INTERNAL)
        return fl_fail(error, status, "%s", why.text);
    *ret_shows = false;
    if (status != FL_OK || !summary.has_oom)
        return FL_OK;
    fl_shrink_refusal refusal = refusal_of(&summary.oom);
    *ret_shows = summary.oom.id == state->program.numbers[state->program.target] &&
                 refusal_is_same(&refusal, &state->report.refusal);
    return FL_OK;
}

static fl_status end_search(fl_shrink_state *state, fl_shrink_end end)
{
    state->report.end = end;
    return FL_ERR_NO;
}

/* Under the card and the settings of the replay, which a candidate states itself. */
static fl_status state_world(const fl_shrink_state *state, fl_trace *candidate, fl_error *error)
{
    const char *conf = state->options->replay.conf;
    candidate->capacity_bytes = state->options->replay.capacity_bytes;
    if (conf == NULL)
        return FL_OK;
    return fl_trace_intern_text(candidate, conf, strlen(conf), &candidate->conf, error);
}

static fl_status make_candidate(fl_shrink_state *state, const bool *is_kept, fl_trace **ret_trace,
                                fl_error *error)
{
    fl_trace *candidate = NULL;
    fl_status status = fl_program_trace(&state->program, is_kept, &candidate, error);
    if (status == FL_OK)
        status = state_world(state, candidate, error);
    if (status == FL_OK)
        *ret_trace = candidate;
    else
        fl_trace_free(candidate);
    return status;
}

fl_status fl_shrink_try(fl_shrink_state *state, const bool *is_kept, bool *ret_shows,
                        fl_error *error)
{
    const fl_shrink_options *options = state->options;
    fl_shrink_report *report = &state->report;
    if (options->progress != NULL &&
        !options->progress(options->user, report->operations_after, report->operations_before))
        return end_search(state, FL_SHRINK_STOPPED);
    if (report->tries >= options->most_tries || state->operations >= options->most_operations)
        return end_search(state, FL_SHRINK_EXHAUSTED);
    fl_trace *candidate = NULL;
    fl_status status = make_candidate(state, is_kept, &candidate, error);
    if (status != FL_OK)
        return status;
    uint64_t operations = fl_trace_event_count(candidate, 0);
    report->tries++;
    state->operations += operations;
    if (options->shows != NULL)
        status = options->shows(options->user, candidate, ret_shows, error);
    else
        status = shows_refusal(state, candidate, ret_shows, error);
    if (status == FL_OK && *ret_shows)
        report->operations_after = operations;
    fl_trace_free(candidate);
    return status;
}

/* ---- the beginning --------------------------------------------------------------------------- */

static bool has_scopes(const fl_program *program)
{
    for (size_t i = 0; i < program->ops.count; i++) {
        uint8_t kind = program->ops.items[i].kind;
        if (kind == FL_OP_SCOPE_BEGIN || kind == FL_OP_SCOPE_END || kind == FL_OP_POOL_RELEASE)
            return true;
    }
    return false;
}

/* Finds the first refusal: what must stay. */
static fl_status find_refusal(fl_shrink_state *state, const fl_trace *whole, uint64_t *ret_op,
                              fl_error *error)
{
    fl_replay_summary summary;
    fl_error unseen = {0};
    state->keeps_scopes = has_scopes(&state->program);
    fl_status status = replay_candidate(state, whole, &summary, &unseen);
    if (status == FL_ERR_INPUT && state->keeps_scopes) {
        state->keeps_scopes = false; /* the program itself does what it may not */
        status = replay_candidate(state, whole, &summary, error);
    } else if (status != FL_OK) {
        return fl_fail(error, status, "%s", unseen.text);
    }
    if (status != FL_OK)
        return status;
    if (!summary.has_oom)
        return fl_fail(error, FL_ERR_NO, "%s: every request was served, so there is no refusal",
                       fl_trace_path(whole));
    state->report.refusal = refusal_of(&summary.oom);
    state->program.target = state->program.ops.items[summary.oom.event].id;
    *ret_op = summary.oom.event;
    return FL_OK;
}

/* Nothing after the refusal matters but the completions of earlier frees: without them these would
 * not wait. */
static void cut_behind(fl_shrink_state *state, uint64_t last)
{
    const fl_program *program = &state->program;
    for (size_t i = 0; i < program->ops.count; i++)
        state->is_kept[i] = i <= last || program->ops.items[i].kind == FL_OP_FREE_DONE;
    fl_program_compact(&state->program, state->is_kept);
}

static fl_status find_target(fl_shrink_state *state, fl_error *error)
{
    fl_trace *whole = NULL;
    uint64_t op = 0;
    fl_status status = make_candidate(state, NULL, &whole, error);
    if (status == FL_OK)
        status = find_refusal(state, whole, &op, error);
    fl_trace_free(whole);
    if (status == FL_OK)
        cut_behind(state, op);
    return status;
}

/* Does it show what is asked about in the first place? */
static fl_status check_whole(fl_shrink_state *state, fl_error *error)
{
    bool shows = false;
    fl_status status = fl_shrink_try(state, NULL, &shows, error);
    if (status == FL_ERR_NO)
        return fl_fail(error, status, "stopped before anything was tried");
    if (status == FL_OK && !shows)
        return fl_fail(error, FL_ERR_NO, "%s: the whole trace does not show it",
                       fl_trace_path(state->program.source));
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static fl_status shrink_steps(fl_shrink_state *state, fl_error *error)
{
    static fl_status (*const steps[])(fl_shrink_state * state, bool *ret_any, fl_error *error) = {
        fl_shrink_allocations, fl_shrink_operations, fl_shrink_streams, fl_shrink_merge,
        fl_shrink_sizes};
    bool is_better = true;
    while (is_better) {
        is_better = false;
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            bool is_any = false;
            fl_status status = steps[i](state, &is_any, error);
            if (status != FL_OK)
                return status;
            is_better |= is_any;
        }
    }
    return FL_OK;
}

static fl_status shrink_run(fl_shrink_state *state, fl_trace **ret_trace, fl_error *error)
{
    fl_status status =
        state->options->shows != NULL ? check_whole(state, error) : find_target(state, error);
    if (status != FL_OK)
        return status;
    status = shrink_steps(state, error);
    if (status != FL_OK && !(status == FL_ERR_NO && state->report.end != FL_SHRINK_MINIMAL))
        return status;
    state->report.operations_after = state->program.ops.count;
    return make_candidate(state, NULL, ret_trace, error);
}

static fl_status state_init(fl_shrink_state *state, const fl_trace *trace, fl_error *error)
{
    const fl_replay_options *replay = &state->options->replay;
    size_t device = replay->trace_device;
    bool is_all = replay->first_event == 0 && replay->end_event == 0;
    uint64_t end = is_all ? fl_trace_event_count(trace, device) : replay->end_event;
    fl_status status = fl_program_init(&state->program, state->host, trace, device,
                                       replay->first_event, end, replay->fraction, error);
    if (status != FL_OK)
        return status;
    state->room = state->program.ops.count;
    state->report.operations_before = state->report.operations_after = state->room;
    state->units = fl_new(state->host, state->room * sizeof *state->units, error);
    state->is_kept = fl_new(state->host, state->room * sizeof *state->is_kept, error);
    return state->units != NULL && state->is_kept != NULL ? FL_OK : FL_ERR_RESOURCE;
}

void fl_shrink_close(fl_shrink_state *state)
{
    fl_delete(state->host, state->units, state->room * sizeof *state->units);
    fl_delete(state->host, state->is_kept, state->room * sizeof *state->is_kept);
    fl_program_deinit(&state->program);
}

fl_status fl_shrink_open(fl_shrink_state *state, const fl_trace *trace,
                         const fl_shrink_options *options, fl_error *error)
{
    const fl_host *host = options->replay.host;
    *state = (fl_shrink_state){.host = host != NULL ? host : fl_host_default(), .options = options};
    fl_status status = state_init(state, trace, error);
    if (status != FL_OK)
        fl_shrink_close(state);
    return status;
}

fl_status fl_shrink(const fl_trace *trace, const fl_shrink_options *options, fl_trace **ret_trace,
                    fl_shrink_report *ret_report, fl_error *error)
{
    fl_shrink_state state;
    fl_status status = fl_shrink_open(&state, trace, options, error);
    if (status != FL_OK)
        return status;
    status = shrink_run(&state, ret_trace, error);
    if (status == FL_OK)
        *ret_report = state.report;
    fl_shrink_close(&state);
    return status;
}
