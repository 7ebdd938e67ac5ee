/* Replays a history over its own record and gives a verdict. */
#include "rebuild/check.h"
#include "rebuild/compare.h"
#include "rebuild/explain.h"
#include "rebuild/rebuild.h"
#include "replay/replay.h"
#include "trace/build.h"

struct verify {
    fl_trace *trace;
    size_t device;
    const fl_profile *profile;
    fl_replay_options options;
    fl_replay *replay;
    fl_compare compare;
    fl_verdict verdict;
};

/* What the file lacks that may be behind any difference. */
static fl_excuse find_excuse(const struct verify *verify)
{
    if (fl_trace_lacks_conf(verify->trace))
        return FL_EXCUSE_NO_SETTINGS;
    if (verify->trace->devices.items[verify->device].unrecorded != 0)
        return FL_EXCUSE_NOT_RECORDED;
    return FL_EXCUSE_NONE;
}

/* What the first difference shows of what was there before the window, the rebuild has learnt as
 * far as it can be. */
static fl_status judge_start(struct verify *verify, fl_error *error)
{
    fl_lesson lesson;
    fl_status status = fl_lesson_judge(&verify->compare.first, verify->trace, verify->device,
                                       verify->replay, &lesson, error);
    if (status == FL_OK)
        fl_compare_excuse(&verify->compare, lesson.excuse);
    return status;
}

/* Words for the first difference, as soon as it is there: later the state has moved on. */
static fl_status explain_first(struct verify *verify, fl_error *error)
{
    bool is_first = verify->compare.differences > 0 && !verify->verdict.has_difference;
    fl_status status = is_first ? judge_start(verify, error) : FL_OK;
    if (status != FL_OK)
        return status;
    if (is_first)
        fl_compare_excuse(&verify->compare, find_excuse(verify));
    if (verify->compare.differences == 0 || verify->verdict.has_difference)
        return FL_OK;
    verify->verdict.has_difference = true;
    return fl_explain_miss(&verify->compare.first, verify->trace, verify->device, verify->replay,
                           verify->replay->options.profile, &verify->replay->settings,
                           &verify->verdict.first_difference, error);
}

static fl_status verify_watch(void *user, const fl_view *view, fl_error *error)
{
    struct verify *verify = user;
    fl_compare_view(&verify->compare, view);
    return explain_first(verify, error);
}

/* A replay that has left the record may come to an op that makes no sense to its policy; then what
 * is left counts as different.  Before the first difference it is a failure. */
static fl_status run_replay(struct verify *verify, fl_error *error)
{
    fl_error why = {0};
    fl_status status = fl_replay_run(verify->replay, &why);
    if (status == FL_OK) {
        const fl_trace_device *of = &verify->trace->devices.items[verify->device];
        if (fl_trace_has_end(of))
            fl_compare_catch_up(&verify->compare, verify->compare.columns->count);
        else
            fl_compare_excuse_rest(&verify->compare);
        status = explain_first(verify, error);
        if (status == FL_OK && of->is_newer && verify->compare.differences == 0)
            fl_compare_excuse(&verify->compare, FL_EXCUSE_NEWER_STATE);
        if (status == FL_OK)
            status = fl_compare_final_state(&verify->compare, verify->replay, error);
        return status == FL_OK ? explain_first(verify, error) : status;
    }
    if (status == FL_ERR_RESOURCE ||
        (verify->compare.differences == 0 && verify->compare.excuse == FL_EXCUSE_NONE))
        return fl_pass_on(&why, error);
    fl_compare_abandon(&verify->compare, verify->replay->event);
    return FL_OK;
}

static void fill_verdict(struct verify *verify)
{
    fl_verdict *verdict = &verify->verdict;
    const fl_compare *compare = &verify->compare;
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        verdict->decisions[i] = compare->tallies[i];
    for (size_t i = 0; i < FL_EXCUSE_COUNT; i++)
        verdict->excused[i] = compare->excused[i];
    for (size_t i = 0; i < FL_CAUSE_COUNT; i++)
        verdict->releases_by_cause[i] = compare->releases_by_cause[i];
    const fl_device_info *info = fl_replay_get_device_info(verify->replay);
    verdict->most_granted_bytes = info->most_granted_bytes;
    verdict->least_refused_bytes = info->least_refused_bytes;
    verdict->has_history = true;
    verdict->is_complete = fl_trace_is_complete(verify->trace, verify->device);
    if (!verdict->has_difference)
        verdict->profiles[verdict->profile_count++] = verify->replay->options.profile;
    verdict->inferred = fl_rebuild_inferred(verify->trace, verify->device);
}

static fl_status verify_run(struct verify *verify, const fl_host *host, fl_error *error)
{
    fl_status status = fl_record_options(verify->trace, verify->device, verify->profile, host,
                                         &verify->options, error);
    if (status != FL_OK)
        return status;
    verify->options.watch = verify_watch;
    verify->options.user = verify;
    fl_compare_init(&verify->compare, host, verify->trace, verify->device);
    status = fl_replay_open(verify->trace, &verify->options, &verify->replay, error);
    if (status == FL_OK)
        status = run_replay(verify, error);
    if (status == FL_OK)
        fill_verdict(verify);
    fl_replay_close(verify->replay);
    return status;
}

/* ---- without a replay ------------------------------------------------------------------------ */

static void take_from_reasons(fl_verdict *verdict, uint64_t count)
{
    for (size_t i = 0; i < FL_EXCUSE_COUNT; i++) {
        uint64_t taken = count < verdict->excused[i] ? count : verdict->excused[i];
        verdict->excused[i] -= taken;
        count -= taken;
    }
}

/* Contradictions in the record are different, whatever a replay made of them. */
static void add_faults(fl_verdict *verdict, const fl_record_faults *faults)
{
    for (size_t i = 0; i < FL_DECISION_COUNT; i++) {
        fl_tally *tally = &verdict->decisions[i];
        if (tally->checked < faults->counts[i])
            tally->equal += faults->counts[i] - tally->checked;
        if (tally->checked < faults->counts[i])
            tally->checked = faults->counts[i];
        uint64_t more =
            faults->counts[i] > tally->different ? faults->counts[i] - tally->different : 0;
        uint64_t from_equal = more < tally->equal ? more : tally->equal;
        tally->equal -= from_equal;
        tally->excused -= more - from_equal;
        take_from_reasons(verdict, more - from_equal);
        tally->different += more;
    }
    bool is_first = faults->has_first && (!verdict->has_difference ||
                                          faults->first.event < verdict->first_difference.event);
    if (is_first) {
        verdict->has_difference = true;
        verdict->first_difference = faults->first;
        verdict->profile_count = 0;
    }
}

/* Nothing was replayed: what does not contradict the rest is excused. */
static void excuse_all(fl_verdict *verdict, const fl_record_faults *faults, fl_excuse excuse)
{
    for (size_t i = 0; i < FL_DECISION_COUNT; i++) {
        fl_tally *tally = &verdict->decisions[i];
        *tally = (fl_tally){.checked = faults->all[i], .different = faults->counts[i]};
        tally->excused = tally->checked - tally->different;
        verdict->excused[excuse] += tally->excused;
    }
}

static fl_status verify_without(const struct verify *verify, const fl_host *host, fl_excuse excuse,
                                fl_verdict *ret_verdict, fl_error *error)
{
    const fl_trace_device *of = &verify->trace->devices.items[verify->device];
    fl_record_faults faults;
    fl_status status = fl_check_record(verify->trace, verify->device, host, &faults, error);
    if (status != FL_OK)
        return status;
    fl_verdict verdict = {.has_history = of->columns.count > 0, .is_complete = of->is_complete};
    if (excuse != FL_EXCUSE_NONE)
        excuse_all(&verdict, &faults, excuse);
    else
        verdict.decisions[FL_DECISION_FINAL_STATE] =
            (fl_tally){.checked = of->shown_parts, .equal = of->shown_parts};
    verdict.profiles[verdict.profile_count++] =
        verify->profile != NULL ? verify->profile : fl_profile_newest();
    add_faults(&verdict, &faults);
    *ret_verdict = verdict;
    return FL_OK;
}

/* Why a history cannot be replayed at all; NONE: it can. */
static fl_excuse find_obstacle(const fl_trace_device *device)
{
    bool has_start = device->is_complete || device->start.is_known;
    if (has_start)
        return FL_EXCUSE_NONE;
    if (device->is_disordered)
        return FL_EXCUSE_OUT_OF_ORDER;
    return device->unrecorded != 0 ? FL_EXCUSE_NOT_RECORDED : FL_EXCUSE_UNKNOWN_START;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static fl_status verify_replay(struct verify *verify, const fl_host *host, bool is_seeking,
                               fl_error *error)
{
    fl_trace *trace = verify->trace;
    fl_error why = {0};
    fl_attempt attempt;
    fl_status status =
        fl_rebuild_anew(trace, verify->device, verify->profile, is_seeking, &attempt, error);
    if (status != FL_OK)
        return status;
    status = verify_run(verify, host, &why);
    bool fits = status == FL_OK;
    if (status != FL_OK && status != FL_ERR_INPUT)
        return fl_pass_on(&why, error);
    if (status == FL_OK && fl_check_frees(trace, verify->device, host, &fits, error) != FL_OK)
        return FL_ERR_RESOURCE;
    if (fits && !verify->verdict.has_difference &&
        trace->devices.items[verify->device].impossible_parts == 0)
        return FL_OK;
    fl_record_faults faults;
    if (fl_check_record(trace, verify->device, host, &faults, error) != FL_OK)
        return FL_ERR_RESOURCE;
    if (status != FL_OK && !faults.has_first)
        return fl_pass_on(&why, error);
    if (status != FL_OK) {
        verify->verdict = (fl_verdict){.has_history = true,
                                       .is_complete = fl_trace_is_complete(trace, verify->device)};
        excuse_all(&verify->verdict, &faults, FL_EXCUSE_UNKNOWN_START);
    }
    add_faults(&verify->verdict, &faults);
    return FL_OK;
}

static fl_status verify_within(fl_trace *trace, size_t device, const fl_profile *profile,
                               const fl_host *host, bool is_seeking, fl_verdict *ret_verdict,
                               fl_error *error)
{
    if (fl_trace_format(trace) == FL_FORMAT_SCRIPT)
        return fl_fail(error, FL_ERR_USAGE, "%s: a script records no decisions to compare with",
                       fl_trace_path(trace));
    if (device >= fl_trace_device_count(trace))
        return fl_fail(error, FL_ERR_USAGE, "%s: there is no trace of device %zu",
                       fl_trace_path(trace), device);
    if (host == NULL)
        host = fl_host_default();
    struct verify verify = {.trace = trace, .device = device, .profile = profile};
    const fl_trace_device *of = &trace->devices.items[device];
    bool is_asked = of->is_complete || !of->has_final_state || of->start.is_known ||
                    of->start.broken.kind != FL_BREAK_NONE;
    if (!is_asked && fl_trace_find_start(trace, device, error) != FL_OK)
        return FL_ERR_RESOURCE;
    fl_excuse obstacle = find_obstacle(of);
    if (of->columns.count == 0 || obstacle != FL_EXCUSE_NONE)
        return verify_without(&verify, host, of->columns.count == 0 ? FL_EXCUSE_NONE : obstacle,
                              ret_verdict, error);
    fl_status status = verify_replay(&verify, host, is_seeking, error);
    if (status == FL_OK)
        *ret_verdict = verify.verdict;
    return status;
}

fl_status fl_verify(fl_trace *trace, size_t device, const fl_profile *profile, const fl_host *host,
                    fl_verdict *ret_verdict, fl_error *error)
{
    return verify_within(trace, device, profile, host, false, ret_verdict, error);
}

fl_status fl_verify_sought(fl_trace *trace, size_t device, const fl_profile *profile,
                           const fl_host *host, fl_verdict *ret_verdict, fl_error *error)
{
    return verify_within(trace, device, profile, host, true, ret_verdict, error);
}
