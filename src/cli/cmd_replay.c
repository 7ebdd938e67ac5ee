/* replay FILE: runs the trace and says how it went. */
#include "cli/envelope.h"
#include "cli/inferred.h"
#include "cli/memory.h"
#include "cli/setup.h"
#include "cli/statistics.h"

#include <fraglab/units.h>
#include <fraglab/verify.h>

#include <inttypes.h>
#include <string.h>

#define MESSAGE_SIZE 16384 /* 1.5 KiB of words, and FL_PROCESSES_MOST processes */

/* What is shown when a replay is over. */
struct result {
    const fl_trace *trace;
    const fl_setup *setup;
    fl_replay_summary summary;
    fl_statistics statistics;
    fl_inferred inferred;       /* of a history */
    char message[MESSAGE_SIZE]; /* as PyTorch prints it; 2.3 prints a NUL, so the length counts */
    size_t message_length;      /* 0: there is none, or nobody knows it */
};

static void emit_totals(fl_emit *emit, const char *key, const fl_totals *totals)
{
    fl_emit_object_begin(emit, key, NULL);
    fl_emit_pair(emit, "requested_bytes", NULL, fl_emit_bytes(totals->requested_bytes));
    fl_emit_pair(emit, "allocated_bytes", NULL, fl_emit_bytes(totals->allocated_bytes));
    fl_emit_pair(emit, "active_bytes", NULL, fl_emit_bytes(totals->active_bytes));
    fl_emit_pair(emit, "reserved_bytes", NULL, fl_emit_bytes(totals->reserved_bytes));
    fl_emit_object_end(emit);
}

static void emit_driver_calls(fl_emit *emit, const fl_replay_summary *summary)
{
    fl_emit_object_begin(emit, "driver_calls", NULL);
    fl_emit_pair(emit, "malloc", NULL, fl_emit_count(summary->driver_malloc));
    fl_emit_pair(emit, "free", NULL, fl_emit_count(summary->driver_free));
    fl_emit_pair(emit, "map", NULL, fl_emit_count(summary->driver_map));
    fl_emit_pair(emit, "unmap", NULL, fl_emit_count(summary->driver_unmap));
    fl_emit_object_end(emit);
}

/* `has`: is there an answer?  Without one the value is null. */
static fl_emit_value bytes_if(bool has, uint64_t bytes)
{
    return has ? fl_emit_bytes(bytes) : fl_emit_null();
}

static void emit_oom(fl_emit *emit, const struct result *result)
{
    const fl_replay_summary *summary = &result->summary;
    const fl_oom *oom = &summary->oom;
    const fl_refusal *refusal = &oom->refusal;
    bool has = summary->has_oom, told = has && oom->has_refusal;
    fl_emit_object_begin(emit, "oom", NULL);
    fl_emit_pair(emit, "event", NULL, has ? fl_emit_count(oom->event) : fl_emit_null());
    fl_emit_pair(emit, "requested_bytes", NULL, bytes_if(has, refusal->requested_bytes));
    fl_emit_pair(emit, "rounded_bytes", NULL, bytes_if(told, refusal->rounded_bytes));
    fl_emit_pair(emit, "segment_bytes", NULL, bytes_if(told, refusal->segment_bytes));
    fl_emit_pair(emit, "device_free_bytes", NULL, bytes_if(told, refusal->device_free_bytes));
    fl_emit_pair(emit, "free_in_cache_bytes", NULL, bytes_if(told, refusal->cached_free_bytes));
    fl_emit_pair(emit, "largest_usable_bytes", NULL,
                 bytes_if(has && oom->has_probe, oom->probe.largest_usable_bytes));
    fl_emit_pair(emit, "message", NULL,
                 result->message_length > 0
                     ? fl_emit_text_sized(result->message, result->message_length)
                     : fl_emit_null());
    fl_emit_object_end(emit);
}

static void emit_record(fl_emit *emit, const struct result *result)
{
    const fl_replay_summary *summary = &result->summary;
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
    fl_emit_pair(emit, "events", NULL, fl_emit_count(summary->events));
    fl_emit_pair(emit, "allocs", NULL, fl_emit_count(summary->allocs));
    fl_emit_pair(emit, "frees", NULL, fl_emit_count(summary->frees));
    emit_totals(emit, "peak", &summary->peak);
    fl_emit_pair(emit, "peak_allocated_event", NULL, fl_emit_count(summary->peak_allocated_event));
    fl_emit_pair(emit, "peak_reserved_event", NULL, fl_emit_count(summary->peak_reserved_event));
    emit_totals(emit, "end", &summary->end);
    emit_driver_calls(emit, summary);
    fl_emit_pair(emit, "alloc_retries", NULL,
                 summary->has_stats ? fl_emit_count(summary->stats.alloc_retries) : fl_emit_null());
    fl_emit_pair(emit, "ooms", NULL, fl_emit_count(summary->ooms));
    if (summary->has_oom) {
        emit_oom(emit, result);
        return;
    }
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS); /* a table keeps its columns */
    fl_emit_pair(emit, "oom", NULL, fl_emit_null());
    fl_emit_for(emit, FL_EMIT_FOR_TABLES);
    emit_oom(emit, result);
}

/* One line; the NUL of 2.3 shows as nothing. */
static void text_message(fl_emit *emit, const struct result *result)
{
    char text[MESSAGE_SIZE];
    size_t length = 0;
    for (size_t i = 0; i < result->message_length; i++)
        if (result->message[i] != '\0')
            text[length++] = result->message[i];
    text[length] = '\0';
    if (length == 0)
        return;
    fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "");
    fl_emit_words(emit, FL_EMIT_PLAIN, text);
}

/* Does the record end where the recorded process was refused?  What it would have asked for next
 * is not in the file, so that everything was served is no promise. */
static bool ends_at_failure(const struct result *result)
{
    const fl_trace *trace = result->trace;
    size_t device = result->setup->trace_device;
    uint64_t count = fl_trace_event_count(trace, device), end = result->setup->end_event;
    fl_event event = {.kind = FL_EVENT_OTHER};
    for (uint64_t i = end == 0 || end == count ? count : 0;
         i > 0 && event.kind >= FL_EVENT_OUTCOMES; i--)
        fl_trace_event(trace, device, i - 1, &event);
    return event.kind == FL_OP_ALLOC && (event.flags & FL_EVENT_OOM) != 0;
}

/* The card may have had plenty: then it was the limit of a memory fraction that refused. */
static void text_room(fl_emit *emit, const fl_refusal *refusal)
{
    char card[24], cache[24], limit[24], left[24];
    fl_format_bytes(refusal->device_free_bytes, card, sizeof card);
    fl_format_bytes(refusal->cached_free_bytes, cache, sizeof cache);
    uint64_t limit_left = refusal->limit_bytes > refusal->reserved_bytes
                              ? refusal->limit_bytes - refusal->reserved_bytes
                              : 0;
    if (refusal->limit_bytes == FL_UNLIMITED || limit_left >= refusal->device_free_bytes) {
        fl_emit_line(emit, FL_EMIT_PLAIN,
                     "at that moment %s were free in the cache and %s on the card", cache, card);
        return;
    }
    fl_format_bytes(refusal->limit_bytes, limit, sizeof limit);
    fl_format_bytes(limit_left, left, sizeof left);
    if (refusal->total_bytes == FL_UNLIMITED) {
        fl_emit_line(emit, FL_EMIT_PLAIN,
                     "at that moment %s were free in the cache, and the limit of %s left %s", cache,
                     limit, left);
        return;
    }
    fl_emit_line(emit, FL_EMIT_PLAIN,
                 "at that moment %s were free in the cache and %s on the card, of which the memory "
                 "fraction's limit of %s left %s",
                 cache, card, limit, left);
}

static void text_verdict(fl_emit *emit, const struct result *result)
{
    const fl_replay_summary *summary = &result->summary;
    if (!summary->has_oom) {
        fl_emit_line(emit, FL_EMIT_GOOD,
                     ends_at_failure(result)
                         ? "every recorded request was served (the record ends at the failure)"
                         : "every request was served");
        return;
    }
    const fl_refusal *refusal = &summary->oom.refusal;
    char event[27], count[27], asked[24];
    fl_format_count(summary->oom.event, event, sizeof event);
    fl_format_count(summary->ooms, count, sizeof count);
    fl_format_bytes(refusal->requested_bytes, asked, sizeof asked);
    if (summary->ooms > 1)
        fl_emit_line(emit, FL_EMIT_BAD, "%s requests were refused, the first at event %s: %s asked",
                     count, event, asked);
    else if (summary->oom.outcome == FL_FORBIDDEN)
        fl_emit_line(emit, FL_EMIT_BAD,
                     "a request fails with an internal error at event %s: %s asked", event, asked);
    else
        fl_emit_line(emit, FL_EMIT_BAD, "out of memory at event %s: %s asked", event, asked);
    if (summary->oom.has_refusal)
        text_room(emit, refusal);
}

static void text_totals(fl_emit *emit, const fl_replay_summary *summary)
{
    static const fl_emit_column columns[] = {
        {"memory", "memory", FL_EMIT_TEXT},
        {"peak_bytes", "peak", FL_EMIT_BYTES},
        {"end_bytes", "end", FL_EMIT_BYTES},
    };
    const fl_totals *peak = &summary->peak, *end = &summary->end;
    const struct {
        const char *name;
        uint64_t peak, end;
    } rows[] = {
        {"requested", peak->requested_bytes, end->requested_bytes},
        {"allocated", peak->allocated_bytes, end->allocated_bytes},
        {"active", peak->active_bytes, end->active_bytes},
        {"reserved", peak->reserved_bytes, end->reserved_bytes},
    };
    fl_emit_table_begin(emit, "memory", NULL, columns, 3);
    for (size_t i = 0; i < 4; i++) {
        const fl_emit_value cells[] = {fl_emit_text(rows[i].name), fl_emit_bytes(rows[i].peak),
                                       fl_emit_bytes(rows[i].end)};
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

static void text_counts(fl_emit *emit, const fl_replay_summary *summary)
{
    char text[160], made[27], refused[27], freed[27], retried[27];
    char driver_malloc[27], driver_free[27], map[27], unmap[27];
    fl_format_count(summary->allocs, made, sizeof made);
    fl_format_count(summary->ooms, refused, sizeof refused);
    fl_format_count(summary->frees, freed, sizeof freed);
    fl_format_count(summary->stats.alloc_retries, retried, sizeof retried);
    int length = snprintf(text, sizeof text, "%s made, %s refused, %s freed", made, refused, freed);
    if (summary->has_stats)
        snprintf(text + length, sizeof text - (size_t)length, ", %s retried", retried);
    fl_emit_pair(emit, "requests", "requests", fl_emit_text(text));
    fl_format_count(summary->driver_malloc, driver_malloc, sizeof driver_malloc);
    fl_format_count(summary->driver_free, driver_free, sizeof driver_free);
    fl_format_count(summary->driver_map, map, sizeof map);
    fl_format_count(summary->driver_unmap, unmap, sizeof unmap);
    snprintf(text, sizeof text, "%s cudaMalloc, %s cudaFree, %s map, %s unmap", driver_malloc,
             driver_free, map, unmap);
    fl_emit_pair(emit, "driver", "driver", fl_emit_text(text));
}

/* What was there before a cut window, and where it went. */
static void text_start(fl_emit *emit, const fl_replay_summary *summary)
{
    static const char *const words[] = {
        [FL_START_RECORDED] = "the window is cut: blocks from before keep their recorded places",
        [FL_START_FRESH] = "the window is cut: blocks from before were allocated anew",
    };
    if (summary->start != FL_START_NONE)
        fl_emit_pair(emit, "start", "start", fl_emit_text(words[summary->start]));
}

/* Those that were found and that the replay followed. */
static unsigned changes_shown(const fl_session *session, const struct result *result)
{
    const fl_setup *setup = result->setup;
    if ((setup->policy->capabilities & FL_CAN_SETTINGS) == 0)
        return 0;
    return (fl_setup_keeps_conf(setup, result->trace) ? FL_CHANGES_SETTINGS : 0u) |
           (session->options.fraction < 0 ? FL_CHANGES_LIMIT : 0u);
}

/* What was inferred, if anything was. */
static void text_inferred(const fl_session *session, const struct result *result)
{
    const fl_inferred *inferred = &result->inferred;
    size_t device = result->setup->trace_device;
    char words[160];
    fl_inferred_words(inferred, words, sizeof words);
    if (inferred->trims + inferred->completions + inferred->scopes > 0)
        fl_emit_pair(session->emit, "inferred", "inferred", fl_emit_text(words));
    fl_inferred_text_changes(session->emit, result->trace, device, changes_shown(session, result));
    if (fl_trace_format(result->trace) != FL_FORMAT_SCRIPT &&
        !fl_trace_is_complete(result->trace, device))
        fl_inferred_text_window(session->emit, inferred);
}

static void emit_processes(fl_session *session)
{
    const fl_process_list *list = &session->options.processes;
    fl_emit_list_begin(session->emit, "processes", NULL);
    for (size_t i = 0; i < list->count; i++) {
        const fl_process *process = &list->items[i];
        char text[64], bytes[32] = "";
        if (process->bytes != FL_NOT_GIVEN)
            snprintf(bytes, sizeof bytes, ":%" PRIu64, process->bytes);
        if (process->is_own)
            snprintf(text, sizeof text, "self%s", bytes);
        else
            snprintf(text, sizeof text, "%" PRIu64 "%s", process->pid, bytes);
        fl_emit_item(session->emit, fl_emit_text(text));
    }
    fl_emit_list_end(session->emit);
}

static void emit_result(fl_session *session, const struct result *result)
{
    fl_emit *emit = session->emit;
    fl_envelope_begin(session);
    fl_setup_emit_config(session, result->setup);
    emit_processes(session);
    fl_emit_pair(emit, "stats", NULL, fl_emit_bool(session->options.wants_stats));
    fl_emit_pair(emit, "summary", NULL, fl_emit_bool(session->options.wants_summary));
    fl_envelope_end(session);
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE);
    text_verdict(emit, result);
    fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "");
    text_totals(emit, &result->summary);
    fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "");
    text_counts(emit, &result->summary);
    text_start(emit, &result->summary);
    fl_setup_emit_text(session, result->trace, result->setup);
    text_inferred(session, result);
    text_message(emit, result);
    emit_record(emit, result);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_inferred_emit(emit, &result->inferred);
    fl_inferred_emit_changes(emit, result->trace, result->setup->trace_device,
                             changes_shown(session, result));
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
    fl_statistics_emit(session, &result->statistics);
}

/* What the release would have said.  A card without a size leaves out numbers that it prints. */
static void take_message(const fl_session *session, struct result *result)
{
    const fl_oom *oom = &result->summary.oom;
    const fl_refusal *refusal = &oom->refusal;
    fl_process processes[FL_PROCESSES_MOST];
    size_t count = session->options.processes.count;
    if (!result->summary.has_oom || result->setup->profile == NULL)
        return;
    if (oom->outcome == FL_FORBIDDEN) {
        result->message_length = (size_t)snprintf(result->message, MESSAGE_SIZE, "%s", oom->why);
        return;
    }
    if (!oom->has_refusal || refusal->total_bytes == FL_UNLIMITED)
        return;
    for (size_t i = 0; i < count; i++) {
        processes[i] = session->options.processes.items[i];
        if (processes[i].bytes == FL_NOT_GIVEN)
            processes[i].bytes = refusal->total_bytes - refusal->device_free_bytes;
    }
    result->message_length =
        fl_refusal_message(result->setup->profile, refusal, (unsigned)result->setup->trace_device,
                           processes, count, result->message, MESSAGE_SIZE);
}

/* --decisions: lines go out as they come. */
struct decisions {
    fl_output *output;
    fl_decision_log log;
};

static fl_status decisions_line(void *user, const char *line, fl_error *error)
{
    struct decisions *decisions = user;
    fl_output *output = decisions->output;
    if (fl_output_write(output, line, strlen(line)) && fl_output_write(output, "\n", 1))
        return FL_OK;
    return fl_output_fail(output, error);
}

static fl_status decisions_watch(void *user, const fl_view *view, fl_error *error)
{
    struct decisions *decisions = user;
    return fl_decision_log_view(&decisions->log, view, error);
}

/* The replay has one `user` for watcher and progress. */
struct run {
    fl_progress *progress;
    struct decisions *decisions;
};

static fl_status run_watch(void *user, const fl_view *view, fl_error *error)
{
    struct run *run = user;
    return decisions_watch(run->decisions, view, error);
}

static bool run_progress(void *user, uint64_t done, uint64_t total)
{
    struct run *run = user;
    return fl_progress_tick(run->progress, done, total);
}

/* What memory_stats counts and a snapshot does not tell: waiting for all streams leaves an entry
 * only where it gave something back. */
static const char *const not_recorded[] = {"num_sync_all_streams", NULL};

/* Everything that is shown is taken from the replay while it is open. */
static fl_status show_result(fl_session *session, const fl_trace *trace, const fl_setup *setup,
                             const fl_replay *replay, uint64_t *ret_ooms, fl_error *error)
{
    const fl_options *options = &session->options;
    struct result result = {.trace = trace, .setup = setup};
    fl_replay_get_summary(replay, &result.summary);
    size_t count = result.summary.pool_count;
    fl_pool_stats *pools = fl_cli_new(&session->host, count, sizeof *pools, error);
    if (pools == NULL)
        return FL_ERR_RESOURCE;
    if (count > 0)
        memcpy(pools, result.summary.pools, count * sizeof *pools);
    if (fl_trace_format(trace) != FL_FORMAT_SCRIPT)
        result.inferred = fl_rebuild_inferred(trace, setup->trace_device);
    result.statistics = (fl_statistics){
        .profile = setup->profile,
        .stats = &result.summary.stats,
        .pools = pools,
        .pool_count = count,
        .device = (unsigned)setup->trace_device,
        .left_out = fl_trace_is_inferred(trace) ? not_recorded : not_recorded + 1,
    };
    take_message(session, &result);
    fl_status status = FL_OK;
    bool wants_statistics = options->wants_stats || options->wants_summary;
    if (wants_statistics && strcmp(options->format, "text") == 0)
        status = fl_statistics_print(session, &result.statistics, error);
    else if (!options->wants_decisions)
        emit_result(session, &result);
    fl_cli_delete(&session->host, pools, count, sizeof *pools);
    *ret_ooms = result.summary.ooms;
    return status;
}

static fl_status run_replay(fl_session *session, const fl_trace *trace, const fl_setup *setup,
                            uint64_t *ret_ooms, fl_error *error)
{
    bool has_log = session->options.wants_decisions;
    struct decisions decisions = {&session->output,
                                  {trace, setup->trace_device, NULL, decisions_line, &decisions}};
    struct run run = {&session->progress, &decisions};
    fl_replay_options options = fl_setup_replay_options(session, setup);
    options.watch = has_log ? run_watch : NULL;
    options.progress = run_progress;
    options.user = &run;
    fl_replay *replay;
    fl_status status = fl_replay_open(trace, &options, &replay, error);
    if (status != FL_OK)
        return status;
    decisions.log.replay = replay;
    fl_progress_begin(&session->progress, "replaying");
    status = fl_replay_run(replay, error);
    fl_progress_end(&session->progress);
    if (status == FL_OK)
        status = show_result(session, trace, setup, replay, ret_ooms, error);
    fl_replay_close(replay);
    return status;
}

static fl_status replay_trace(fl_session *session, fl_trace *trace, fl_setup *setup,
                              fl_error *error)
{
    fl_status status = fl_setup_from_trace(session, trace, setup, error);
    if (status != FL_OK)
        return status;
    const fl_options *options = &session->options;
    bool wants_end = options->wants_decisions || options->wants_stats || options->wants_summary;
    if (wants_end && options->on_oom == NULL)
        setup->on_oom = FL_ON_OOM_SKIP;
    if (options->wants_stats && fl_trace_is_inferred(trace))
        fl_session_warn(session,
                        "memory_stats leaves out %s: an empty_cache that gave nothing back is not "
                        "in a snapshot",
                        not_recorded[0]);
    status = fl_setup_rebuild(session, trace, setup, error);
    uint64_t ooms = 0;
    if (status == FL_OK)
        status = run_replay(session, trace, setup, &ooms, error);
    if (status != FL_OK)
        return status;
    return options->fails_on_oom && ooms > 0 ? FL_ERR_NO : FL_OK;
}

/* Options that do not go together, and those that the allocator has no answer to. */
static fl_status check_options(const fl_options *options, const fl_policy_ops *policy,
                               fl_error *error)
{
    const char *statistics = options->wants_stats     ? "--stats"
                             : options->wants_summary ? "--summary"
                                                      : NULL;
    if (options->wants_decisions && statistics != NULL)
        return fl_fail(error, FL_ERR_USAGE, "options '--decisions' and '%s' exclude each other",
                       statistics);
    if (options->wants_decisions && strcmp(options->format, "text") != 0)
        return fl_fail(error, FL_ERR_USAGE, "option '--decisions' writes text, not %s",
                       options->format);
    if (options->wants_decisions && options->on_oom != NULL && strcmp(options->on_oom, "stop") == 0)
        return fl_fail(error, FL_ERR_USAGE, "option '--decisions' implies '--on-oom skip'");
    if (statistics != NULL && (policy->capabilities & FL_CAN_SETTINGS) == 0)
        return fl_fail(error, FL_ERR_USAGE,
                       "option '%s' shows PyTorch's statistics; policy '%s' keeps none", statistics,
                       policy->name);
    return FL_OK;
}

static fl_status replay_run(fl_session *session, fl_error *error)
{
    fl_setup setup;
    fl_status status = fl_setup_from_options(session, &setup, error);
    if (status == FL_OK)
        status = check_options(&session->options, setup.policy, error);
    if (status != FL_OK)
        return status;
    fl_trace *trace = NULL;
    status = fl_session_read(session, &trace, error);
    if (status == FL_OK)
        status = replay_trace(session, trace, &setup, error);
    fl_trace_free(trace);
    return status;
}

static const fl_option_group *const groups[] = {&fl_options_replay, &fl_options_allocator,
                                                &fl_options_input, &fl_options_common, NULL};

const fl_command fl_command_replay = {
    .name = "replay",
    .summary = "run a trace through an allocator and show what it needed",
    .synopsis = "replay [options] FILE",
    .help = "Runs the requests of FILE through an allocator over a simulated card and says\n"
            "whether all were served, what they needed at most and at the end, and how often\n"
            "the driver was called.  Without options that is the allocator of the PyTorch\n"
            "release that wrote the file, under the settings it had.",
    .groups = groups,
    .word = "FILE",
    .word_key = "file",
    .run = replay_run,
};
