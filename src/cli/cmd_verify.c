/* verify FILE: replays what was recorded under the recorded settings, and compares. */
#include "cli/envelope.h"
#include "cli/inferred.h"
#include "cli/memory.h"
#include "cli/setup.h"

#include <fraglab/units.h>
#include <fraglab/verify.h>

#include <inttypes.h>
#include <string.h>

#define RELEASES_MOST 32

static const char *const decision_keys[FL_DECISION_COUNT] = {
    [FL_DECISION_ADDRESS] = "address",
    [FL_DECISION_SEGMENT] = "segment",
    [FL_DECISION_FINAL_STATE] = "final_state",
};

static const char *const decision_words[FL_DECISION_COUNT] = {
    [FL_DECISION_ADDRESS] = "addresses",
    [FL_DECISION_SEGMENT] = "segments",
    [FL_DECISION_FINAL_STATE] = "blocks",
};

/* One device's comparison. */
struct device_verdict {
    size_t device;
    const fl_profile *profile; /* the release the verdict is of */
    fl_verdict verdict;
};

struct verdicts {
    struct device_verdict *items;
    size_t count, room;
    fl_verdict all; /* the devices together */
    size_t different_device;
};

static uint64_t sum_different(const fl_verdict *verdict)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        sum += verdict->decisions[i].different;
    return sum;
}

static uint64_t sum_excused(const fl_verdict *verdict)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        sum += verdict->decisions[i].excused;
    return sum;
}

/* The releases to try: the one asked for, else that which the file names, else all of this build
 * that the marks allow. */
struct candidates {
    const fl_profile *items[RELEASES_MOST];
    size_t count;
};

static fl_status find_candidates(fl_session *session, const fl_trace *trace,
                                 struct candidates *ret_candidates, fl_error *error)
{
    ret_candidates->count = 1;
    if (session->options.torch != NULL)
        return fl_setup_torch(session, &ret_candidates->items[0], error);
    if (fl_trace_release(trace) != NULL)
        return fl_setup_stated(session, trace, &ret_candidates->items[0], error);
    if (!fl_trace_releases(trace).known) {
        ret_candidates->items[0] = fl_profile_newest();
        fl_session_warn(session, "%s does not tell its PyTorch release, trying %s",
                        fl_trace_path(trace), fl_profile_release(ret_candidates->items[0]));
        return FL_OK;
    }
    fl_setup_marked_releases(trace, ret_candidates->items, RELEASES_MOST, &ret_candidates->count);
    return ret_candidates->count > 0 ? FL_OK : fl_setup_fail_marks(trace, error);
}

static fl_status verify_device(fl_session *session, fl_trace *trace,
                               const struct candidates *candidates, struct device_verdict *verdict,
                               fl_error *error)
{
    return fl_verify_best(trace, verdict->device, candidates->items, candidates->count,
                          &session->host, &verdict->profile, &verdict->verdict, error);
}

static bool has_profile(const fl_verdict *verdict, const fl_profile *profile)
{
    for (size_t i = 0; i < verdict->profile_count; i++) {
        if (verdict->profiles[i] == profile)
            return true;
    }
    return false;
}

/* Releases that explain the file are those that explain every device. */
static void narrow_profiles(fl_verdict *all, const fl_verdict *one)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->profile_count; i++) {
        if (has_profile(one, all->profiles[i]))
            all->profiles[kept++] = all->profiles[i];
    }
    all->profile_count = kept;
}

static void add_tally(fl_tally *all, const fl_tally *one)
{
    all->checked += one->checked;
    all->equal += one->equal;
    all->excused += one->excused;
    all->different += one->different;
}

static void sum_up(struct verdicts *verdicts)
{
    fl_verdict *all = &verdicts->all;
    *all = verdicts->items[0].verdict;
    verdicts->different_device = verdicts->items[0].device;
    for (size_t i = 1; i < verdicts->count; i++) {
        const fl_verdict *one = &verdicts->items[i].verdict;
        for (size_t k = 0; k < FL_DECISION_COUNT; k++)
            add_tally(&all->decisions[k], &one->decisions[k]);
        for (size_t k = 0; k < FL_EXCUSE_COUNT; k++)
            all->excused[k] += one->excused[k];
        all->has_history = all->has_history || one->has_history;
        all->is_complete = all->is_complete && one->is_complete;
        narrow_profiles(all, one);
        if (!all->has_difference && one->has_difference) {
            all->has_difference = true;
            all->first_difference = one->first_difference;
            verdicts->different_device = verdicts->items[i].device;
        }
    }
}

static void emit_tallies(fl_emit *emit, const fl_verdict *verdict)
{
    fl_emit_object_begin(emit, "decisions", NULL);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++) {
        const fl_tally *tally = &verdict->decisions[i];
        fl_emit_object_begin(emit, decision_keys[i], NULL);
        fl_emit_pair(emit, "checked", NULL, fl_emit_count(tally->checked));
        fl_emit_pair(emit, "equal", NULL, fl_emit_count(tally->equal));
        fl_emit_pair(emit, "excused", NULL, fl_emit_count(tally->excused));
        fl_emit_pair(emit, "different", NULL, fl_emit_count(tally->different));
        fl_emit_object_end(emit);
    }
    fl_emit_object_end(emit);
}

static void emit_difference(fl_emit *emit, const fl_verdict *verdict, size_t device)
{
    const fl_difference *difference = &verdict->first_difference;
    if (!verdict->has_difference) {
        fl_emit_pair(emit, "first_difference", NULL, fl_emit_null());
        return;
    }
    fl_emit_object_begin(emit, "first_difference", NULL);
    fl_emit_pair(emit, "device", NULL, fl_emit_count(device));
    fl_emit_pair(emit, "event", NULL, fl_emit_count(difference->event));
    fl_emit_pair(emit, "expected", NULL, fl_emit_text(difference->expected));
    fl_emit_pair(emit, "got", NULL, fl_emit_text(difference->got));
    fl_emit_pair(emit, "because", NULL, fl_emit_text(difference->because));
    fl_emit_object_end(emit);
}

static void emit_profiles(fl_emit *emit, const fl_verdict *verdict)
{
    fl_emit_list_begin(emit, "profiles", NULL);
    for (size_t i = 0; i < verdict->profile_count; i++)
        fl_emit_item(emit, fl_emit_text(fl_profile_release(verdict->profiles[i])));
    fl_emit_list_end(emit);
}

/* One verdict, for programs, and its tallies for `audience`: a table has no room for the words. */
static void emit_verdict(fl_emit *emit, const fl_verdict *verdict, size_t device, unsigned audience)
{
    fl_emit_for(emit, audience);
    emit_tallies(emit, verdict);
    emit_profiles(emit, verdict);
    fl_emit_pair(emit, "complete", NULL, fl_emit_bool(verdict->is_complete));
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_emit_object_begin(emit, "excused_by_reason", NULL);
    for (size_t i = 0; i < FL_EXCUSE_COUNT; i++) {
        if (verdict->excused[i] > 0)
            fl_emit_pair(emit, fl_excuse_name(i), NULL, fl_emit_count(verdict->excused[i]));
    }
    fl_emit_object_end(emit);
    emit_difference(emit, verdict, device);
    fl_emit_for(emit, audience);
}

static void emit_causes(fl_emit *emit, const fl_verdict *verdict)
{
    static const char *const causes[FL_CAUSE_COUNT] = {
        [FL_CAUSE_REQUEST] = "request",
        [FL_CAUSE_COLLECT] = "garbage_collection",
        [FL_CAUSE_RELEASE_AVAILABLE] = "release_available",
        [FL_CAUSE_RELEASE_ALL] = "release_all",
        [FL_CAUSE_TRIM] = "empty_cache",
    };
    fl_emit_object_begin(emit, "releases_by_cause", NULL);
    for (size_t i = FL_CAUSE_COLLECT; i < FL_CAUSE_COUNT; i++)
        fl_emit_pair(emit, causes[i], NULL, fl_emit_count(verdict->releases_by_cause[i]));
    fl_emit_object_end(emit);
}

static void emit_devices(fl_emit *emit, const fl_trace *trace, const struct verdicts *verdicts)
{
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
    fl_emit_list_begin(emit, "devices", NULL);
    for (size_t i = 0; i < verdicts->count; i++) {
        const struct device_verdict *one = &verdicts->items[i];
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "device", NULL, fl_emit_count(one->device));
        fl_emit_pair(emit, "torch", NULL, fl_emit_text(fl_profile_release(one->profile)));
        emit_verdict(emit, &one->verdict, one->device, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
        fl_inferred_emit(emit, &one->verdict.inferred);
        emit_causes(emit, &one->verdict);
        fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
        fl_inferred_emit_changes(emit, trace, one->device, FL_CHANGES_ALL);
        fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
}

/* "1,234 addresses, 31 segments, 98 blocks" */
static void describe_checked(const fl_verdict *verdict, char *buffer, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < FL_DECISION_COUNT; i++) {
        char count[27];
        fl_format_count(verdict->decisions[i].checked, count, sizeof count);
        int length = snprintf(buffer + used, size - used, "%s%s %s", i > 0 ? ", " : "", count,
                              decision_words[i]);
        used += length > 0 && (size_t)length < size - used ? (size_t)length : 0;
    }
}

static void text_device(fl_emit *emit, const struct device_verdict *one, bool has_others)
{
    char checked[160], different[27], excused[48] = "", where[32] = "";
    uint64_t different_count = sum_different(&one->verdict);
    describe_checked(&one->verdict, checked, sizeof checked);
    fl_format_count(different_count, different, sizeof different);
    if (has_others)
        snprintf(where, sizeof where, "device %zu: ", one->device);
    if (sum_excused(&one->verdict) > 0) {
        char count[27];
        fl_format_count(sum_excused(&one->verdict), count, sizeof count);
        snprintf(excused, sizeof excused, ", %s of them excused", count);
    }
    if (different_count > 0)
        fl_emit_line(emit, FL_EMIT_BAD, "%s%s %s different of %s%s", where, different,
                     different_count == 1 ? "decision is" : "decisions are", checked, excused);
    else if (!one->verdict.has_history)
        fl_emit_line(emit, FL_EMIT_GOOD, "%sno history; the final state fits itself: %s", where,
                     checked);
    else
        fl_emit_line(emit, FL_EMIT_GOOD, "%s%s: %s%s", where,
                     sum_excused(&one->verdict) > 0 ? "no decision different"
                                                    : "every decision equal",
                     checked, excused);
    if (!one->verdict.has_difference)
        return;
    const fl_difference *difference = &one->verdict.first_difference;
    fl_emit_pair(emit, "event", "first at event", fl_emit_count(difference->event));
    fl_emit_pair(emit, "expected", "expected", fl_emit_text(difference->expected));
    fl_emit_pair(emit, "got", "got", fl_emit_text(difference->got));
    fl_emit_pair(emit, "because", "because", fl_emit_text(difference->because));
}

static void text_history(fl_emit *emit, const struct verdicts *verdicts)
{
    fl_inferred sum = {0};
    uint64_t given_back = 0;
    if (!verdicts->all.has_history)
        return;
    for (size_t i = 0; i < verdicts->count; i++) {
        const fl_verdict *one = &verdicts->items[i].verdict;
        fl_inferred_add(&sum, &one->inferred);
        for (size_t k = 0; k < FL_CAUSE_COUNT; k++)
            given_back += one->releases_by_cause[k];
    }
    char words[160], text[240];
    fl_inferred_words(&sum, words, sizeof words);
    snprintf(text, sizeof text, "%s; %" PRIu64 " segments given back", words, given_back);
    fl_emit_pair(emit, "inferred", "inferred", fl_emit_text(text));
}

static void text_window(fl_emit *emit, const struct verdicts *verdicts)
{
    fl_inferred sum = {0};
    for (size_t i = 0; i < verdicts->count; i++)
        fl_inferred_add(&sum, &verdicts->items[i].verdict.inferred);
    if (!verdicts->all.is_complete && verdicts->all.has_history)
        fl_inferred_text_window(emit, &sum);
}

/* Why decisions are excused, a line for each reason. */
static void text_excused(fl_emit *emit, const fl_verdict *all)
{
    for (size_t i = 0; i < FL_EXCUSE_COUNT; i++) {
        char count[27], text[200];
        if (all->excused[i] == 0)
            continue;
        fl_format_count(all->excused[i], count, sizeof count);
        snprintf(text, sizeof text, "%s: %s", count, fl_excuse_sentence(i));
        fl_emit_pair(emit, fl_excuse_name(i), "excused", fl_emit_text(text));
    }
}

static void emit_text(fl_session *session, const fl_trace *trace, const struct verdicts *verdicts)
{
    fl_emit *emit = session->emit;
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE);
    for (size_t i = 0; i < verdicts->count; i++)
        text_device(emit, &verdicts->items[i], verdicts->count > 1);
    fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "");
    fl_emit_pair(emit, "file", "file", fl_emit_text(fl_trace_path(trace)));
    fl_emit_list_begin(emit, "profiles", "explained by PyTorch");
    for (size_t i = 0; i < verdicts->all.profile_count; i++)
        fl_emit_item(emit, fl_emit_text(fl_profile_release(verdicts->all.profiles[i])));
    fl_emit_list_end(emit);
    fl_emit_pair(emit, "settings", "settings", fl_emit_text(fl_conf_words(fl_trace_conf(trace))));
    text_history(emit, verdicts);
    for (size_t i = 0; i < verdicts->count; i++)
        fl_inferred_text_changes(emit, trace, verdicts->items[i].device, FL_CHANGES_ALL);
    text_window(emit, verdicts);
    text_excused(emit, &verdicts->all);
}

static void emit_all(fl_session *session, const fl_setup *setup, const fl_trace *trace,
                     const struct verdicts *verdicts)
{
    fl_emit *emit = session->emit;
    const fl_options *options = &session->options;
    fl_envelope_begin(session);
    fl_emit_pair(emit, "from", NULL, fl_emit_text(options->from));
    fl_emit_pair(emit, "partial", NULL, fl_emit_bool(options->accepts_cut));
    fl_emit_pair(emit, "trace_device", NULL,
                 options->trace_device != FL_NOT_GIVEN ? fl_emit_count(options->trace_device)
                                                       : fl_emit_null());
    fl_emit_pair(emit, "torch", NULL, fl_emit_text(options->torch));
    fl_emit_pair(emit, "conf", NULL, fl_emit_text(fl_trace_conf(trace)));
    fl_setup_emit_card(session, setup);
    fl_envelope_end(session);
    emit_text(session, trace, verdicts);
    emit_verdict(emit, &verdicts->all, verdicts->different_device, FL_EMIT_FOR_PROGRAMS);
    emit_devices(emit, trace, verdicts);
}

/* A threshold without a limit collects nothing; that the file has one says that there was a limit.
 */
static bool lacks_limit(const fl_session *session, const fl_trace *trace)
{
    const char *conf = fl_trace_conf(trace);
    return conf != NULL && strstr(conf, "garbage_collection_threshold") != NULL &&
           session->options.fraction < 0;
}

static fl_status verify_devices(fl_session *session, const fl_setup *setup, fl_trace *trace,
                                struct verdicts *verdicts, fl_error *error)
{
    struct candidates candidates;
    fl_status status = find_candidates(session, trace, &candidates, error);
    for (size_t i = 0; i < verdicts->count && status == FL_OK; i++)
        status = verify_device(session, trace, &candidates, &verdicts->items[i], error);
    if (status != FL_OK)
        return status;
    sum_up(verdicts);
    if (sum_different(&verdicts->all) > 0 && lacks_limit(session, trace)) {
        fl_fail(error, FL_ERR_UNAVAILABLE,
                "%s: garbage collection follows the memory fraction, which is not in the file: "
                "nothing can be compared",
                fl_trace_path(trace));
        return fl_hint(error, "--fraction X --gpu SIZE");
    }
    emit_all(session, setup, trace, verdicts);
    return sum_different(&verdicts->all) == 0 ? FL_OK : FL_ERR_NO;
}

/* Does the file tell anything of a device? */
static bool has_anything(const fl_trace *trace, size_t device)
{
    uint64_t shown, impossible;
    fl_trace_impossible(trace, device, &shown, &impossible);
    return fl_trace_event_count(trace, device) > 0 || shown > 0;
}

static void warn_no_history(fl_session *session, const fl_trace *trace)
{
    for (size_t i = 0; i < fl_trace_device_count(trace); i++)
        if (fl_trace_event_count(trace, i) > 0)
            return;
    fl_session_warn(session,
                    "no history was recorded, so there are no decisions to compare: only whether "
                    "the parts of the final state fit each other; "
                    "torch.cuda.memory._record_memory_history() before the first allocation "
                    "records one");
}

/* The devices to verify: all that the file tells of, or the one asked for. */
static fl_status pick_devices(fl_session *session, const fl_trace *trace, struct verdicts *verdicts,
                              fl_error *error)
{
    size_t asked = FL_NONE, count = fl_trace_device_count(trace);
    if (session->options.trace_device != FL_NOT_GIVEN) {
        fl_status status = fl_setup_trace_device(session, trace, &asked, error);
        if (status != FL_OK)
            return status;
    }
    verdicts->items = fl_cli_new(&session->host, count, sizeof *verdicts->items, error);
    if (verdicts->items == NULL)
        return FL_ERR_RESOURCE;
    verdicts->room = count;
    for (size_t i = 0; i < count; i++) {
        if (asked == FL_NONE ? has_anything(trace, i) : i == asked)
            verdicts->items[verdicts->count++].device = i;
    }
    if (verdicts->count == 0)
        verdicts->items[verdicts->count++].device = 0; /* an empty allocator */
    warn_no_history(session, trace);
    return FL_OK;
}

static fl_status verify_trace(fl_session *session, const fl_setup *setup, fl_trace *trace,
                              fl_error *error)
{
    if (fl_trace_has_block_sizes(trace)) {
        fl_fail(error, FL_ERR_UNAVAILABLE,
                "%s: sizes and addresses of blocks are in it, but not what was asked for, nor the "
                "segments in which the blocks lie: no decision can be compared",
                fl_trace_path(trace));
        return fl_hint(error, "torch.cuda.memory._record_memory_history() records what can be");
    }
    if (fl_trace_format(trace) == FL_FORMAT_SCRIPT) {
        fl_fail(error, FL_ERR_UNAVAILABLE, "%s: a script records no decisions to compare with",
                fl_trace_path(trace));
        return fl_hint(error, "fraglab replay --decisions");
    }
    struct verdicts verdicts = {0};
    fl_status status = pick_devices(session, trace, &verdicts, error);
    if (status == FL_OK)
        status = verify_devices(session, setup, trace, &verdicts, error);
    fl_cli_delete(&session->host, verdicts.items, verdicts.room, sizeof *verdicts.items);
    return status;
}

static fl_status verify_run(fl_session *session, fl_error *error)
{
    const fl_options *options = &session->options;
    const fl_profile *profile;
    bool is_exact;
    if (options->conf != NULL)
        return fl_fail(error, FL_ERR_USAGE,
                       "verify replays under the recorded settings, '--conf' cannot change them");
    fl_status status = options->torch == NULL
                           ? FL_OK
                           : fl_profile_find(options->torch, &profile, &is_exact, error);
    if (status != FL_OK)
        return status;
    fl_setup setup = {0};
    status = fl_setup_gpu_from_options(session, &setup, error);
    if (status != FL_OK)
        return status;
    if (options->fraction >= 0 && setup.gpu_from == FL_FROM_NOWHERE) {
        fl_fail(error, FL_ERR_USAGE, "a memory fraction needs the size of the card");
        return fl_hint(error, "--gpu SIZE gives one");
    }
    fl_trace *trace = NULL;
    status = fl_session_read(session, &trace, error);
    if (status == FL_OK && setup.gpu_from != FL_FROM_NOWHERE)
        fl_trace_set_limit(trace, options->fraction, fl_setup_total(&setup));
    if (status == FL_OK)
        status = verify_trace(session, &setup, trace, error);
    fl_trace_free(trace);
    return status;
}

static const fl_option_group *const groups[] = {&fl_options_verify, &fl_options_input,
                                                &fl_options_common, NULL};

const fl_command fl_command_verify = {
    .name = "verify",
    .summary = "compare a replay with every decision that a snapshot records",
    .synopsis = "verify [options] FILE",
    .help = "Replays each device of a snapshot under the settings it was recorded with, and\n"
            "compares where every request landed, every segment taken and given back, and\n"
            "every block of the final state.  Ends with 1 if anything is different.",
    .groups = groups,
    .word = "FILE",
    .word_key = "file",
    .run = verify_run,
};
