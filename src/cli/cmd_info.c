/* info FILE: what is in it, without replaying. */
#include "cli/advice.h"
#include "cli/envelope.h"
#include "cli/memory.h"
#include "cli/setup.h"
#include "cli/stacks.h"
#include "cli/survey.h"

#include <fraglab/units.h>

#include <inttypes.h>
#include <string.h>

static void emit_releases(fl_emit *emit, const fl_trace *trace)
{
    fl_release_range marks = fl_trace_releases(trace);
    char first[24], last[24];
    if (!marks.known) {
        fl_emit_pair(emit, "releases", NULL, fl_emit_null());
        return;
    }
    snprintf(first, sizeof first, "%u.%u", marks.first_major, marks.first_minor);
    snprintf(last, sizeof last, "%u.%u", marks.last_major, marks.last_minor);
    fl_emit_object_begin(emit, "releases", NULL);
    fl_emit_pair(emit, "first", NULL, fl_emit_text(first));
    fl_emit_pair(emit, "last", NULL, fl_emit_text(last));
    fl_emit_object_end(emit);
}

static void emit_live(fl_session *session, const fl_trace *trace, const char *key,
                      const fl_live *live)
{
    fl_emit *emit = session->emit;
    fl_emit_object_begin(emit, key, NULL);
    fl_emit_pair(emit, "event", NULL, fl_emit_count(live->event));
    fl_emit_pair(emit, "live_bytes", NULL, fl_emit_bytes(live->bytes));
    fl_emit_pair(emit, "live_blocks", NULL, fl_emit_count(live->blocks));
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_emit_pair(emit, "stacks", NULL, fl_emit_count(live->holder_count));
    fl_emit_list_begin(emit, "by_stack", NULL);
    for (size_t i = 0; i < live->holder_count && i < session->options.top; i++) {
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "bytes", NULL, fl_emit_bytes(live->holders[i].bytes));
        fl_emit_pair(emit, "blocks", NULL, fl_emit_count(live->holders[i].blocks));
        fl_stack_emit(emit, trace, live->holders[i].stack);
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
    fl_emit_object_end(emit);
}

static void emit_kinds(fl_emit *emit, const fl_survey *survey)
{
    fl_emit_object_begin(emit, "kinds", NULL);
    for (size_t i = 0; i < FL_EVENT_KIND_END; i++) {
        if (fl_survey_kind_name(i) != NULL)
            fl_emit_pair(emit, fl_survey_kind_name(i), NULL, fl_emit_count(survey->kinds[i]));
    }
    fl_emit_pair(emit, "oom", NULL, fl_emit_count(survey->refused));
    fl_emit_object_end(emit);
}

static fl_emit_value count_if(bool has, uint64_t count)
{
    return has ? fl_emit_count(count) : fl_emit_null();
}

/* null, or in a table nothing in its columns, where the file has none. */
static void emit_final(fl_emit *emit, const fl_survey *survey)
{
    const uint64_t *blocks = survey->block_counts;
    bool has = survey->has_final_state;
    if (!has) {
        fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
        fl_emit_pair(emit, "final", NULL, fl_emit_null());
        fl_emit_for(emit, FL_EMIT_FOR_TABLES);
    }
    fl_emit_object_begin(emit, "final", NULL);
    fl_emit_pair(emit, "segments", NULL, count_if(has, survey->segment_count));
    fl_emit_pair(emit, "reserved_bytes", NULL,
                 has ? fl_emit_bytes(survey->reserved_bytes) : fl_emit_null());
    fl_emit_pair(emit, "live", NULL, count_if(has, blocks[FL_BLOCK_LIVE]));
    fl_emit_pair(emit, "pending", NULL, count_if(has, blocks[FL_BLOCK_PENDING]));
    fl_emit_pair(emit, "free", NULL, count_if(has, blocks[FL_BLOCK_FREE]));
    fl_emit_object_end(emit);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
}

/* What a file can and cannot tell; a script is nothing but what it tells. */
static void emit_advice(fl_emit *emit, const fl_trace *trace, size_t device,
                        const fl_survey *survey)
{
    fl_advice advice = {.count = 0};
    bool is_script = fl_trace_format(trace) == FL_FORMAT_SCRIPT;
    if (!is_script)
        fl_advice_give(trace, device, survey, &advice);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_emit_pair(emit, "covers", NULL, is_script ? fl_emit_null() : fl_emit_text(advice.covers));
    fl_emit_list_begin(emit, "lacks", NULL);
    for (size_t i = 0; i < advice.count; i++)
        fl_emit_item(emit, fl_emit_text(advice.lacks[i]));
    fl_emit_list_end(emit);
    fl_emit_list_begin(emit, "next_time", NULL);
    for (size_t i = 0; i < advice.count; i++)
        if (advice.next_time[i] != NULL)
            fl_emit_item(emit, fl_emit_text(advice.next_time[i]));
    fl_emit_list_end(emit);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
}

static void text_advice(fl_emit *emit, const fl_trace *trace, size_t device,
                        const fl_survey *survey)
{
    fl_advice advice;
    fl_advice_give(trace, device, survey, &advice);
    fl_emit_pair(emit, "covers", "covers", fl_emit_text(advice.covers));
    for (size_t i = 0; i < advice.count; i++) {
        fl_emit_pair(emit, "lacks", "cannot tell", fl_emit_text(advice.lacks[i]));
        if (advice.next_time[i] != NULL)
            fl_emit_pair(emit, "next_time", "next time", fl_emit_text(advice.next_time[i]));
    }
}

static void emit_device(fl_session *session, const fl_trace *trace, size_t device,
                        const fl_survey *survey)
{
    fl_emit *emit = session->emit;
    double span =
        survey->has_times ? ((double)survey->last_us - (double)survey->first_us) / 1e6 : 0;
    fl_emit_object_begin(emit, NULL, NULL);
    fl_emit_pair(emit, "device", NULL, fl_emit_count(device));
    fl_emit_pair(emit, "events", NULL, fl_emit_count(survey->events));
    emit_kinds(emit, survey);
    fl_emit_pair(emit, "streams", NULL, fl_emit_count(survey->stream_count));
    fl_emit_pair(emit, "pools", NULL, fl_emit_count(survey->pool_count));
    fl_emit_pair(emit, "complete", NULL, fl_emit_bool(survey->is_complete));
    fl_emit_pair(emit, "has_history", NULL, fl_emit_bool(survey->events > 0));
    fl_emit_pair(emit, "has_stacks", NULL, fl_emit_bool(survey->has_stacks));
    fl_emit_pair(emit, "span_s", NULL, survey->has_times ? fl_emit_real(span) : fl_emit_null());
    emit_advice(emit, trace, device, survey);
    emit_final(emit, survey);
    emit_live(session, trace, "peak", &survey->peak);
    emit_live(session, trace, "end", &survey->end);
    fl_emit_object_end(emit);
}

static void text_kinds(fl_emit *emit, const fl_survey *survey)
{
    char text[400] = "";
    size_t used = 0;
    for (size_t i = 0; i <= FL_EVENT_KIND_END && used + 64 < sizeof text; i++) {
        bool is_last = i == FL_EVENT_KIND_END;
        uint64_t count = is_last ? survey->refused : survey->kinds[i];
        char number[27];
        if (count == 0)
            continue;
        fl_format_count(count, number, sizeof number);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", used > 0 ? ", " : "",
                                 number, is_last ? "oom" : fl_survey_kind_name(i));
    }
    fl_emit_pair(emit, "kinds", "of them", fl_emit_text(used > 0 ? text : "none"));
}

static void text_live(fl_session *session, const fl_trace *trace, const char *heading,
                      const fl_live *live)
{
    static const fl_emit_column columns[] = {
        {"bytes", "size", FL_EMIT_BYTES},
        {"blocks", "blocks", FL_EMIT_COUNT},
        {"stack", "allocated by", FL_EMIT_TEXT},
    };
    fl_emit *emit = session->emit;
    bool is_told =
        live->holder_count > 1 || (live->holder_count == 1 && live->holders[0].stack != FL_NONE);
    if (!is_told || session->options.top == 0)
        return;
    fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "");
    fl_emit_table_begin(emit, "live", heading, columns, 3);
    for (size_t i = 0; i < live->holder_count && i < session->options.top; i++) {
        char stack[FL_STACK_SIZE];
        fl_stack_describe(trace, live->holders[i].stack, session->options.frames, stack,
                          sizeof stack);
        const fl_emit_value cells[] = {fl_emit_bytes(live->holders[i].bytes),
                                       fl_emit_count(live->holders[i].blocks), fl_emit_text(stack)};
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

static void text_moment(fl_emit *emit, const char *label, const fl_live *live, bool has_event)
{
    char text[120], size[24], blocks[27], event[27];
    fl_format_bytes(live->bytes, size, sizeof size);
    fl_format_count(live->blocks, blocks, sizeof blocks);
    fl_format_count(live->event, event, sizeof event);
    snprintf(text, sizeof text, "%s in %s allocations%s%s", size, blocks,
             has_event ? ", after event " : "", has_event ? event : "");
    fl_emit_pair(emit, "live", label, fl_emit_text(text));
}

static void text_final(fl_emit *emit, const fl_survey *survey)
{
    char text[160], size[24];
    if (!survey->has_final_state) {
        fl_emit_pair(emit, "final", "final state", fl_emit_text("not in the file"));
        return;
    }
    fl_format_bytes(survey->reserved_bytes, size, sizeof size);
    snprintf(text, sizeof text,
             "%s in %zu segments: %" PRIu64 " blocks live, %" PRIu64 " pending, %" PRIu64 " free",
             size, survey->segment_count, survey->block_counts[FL_BLOCK_LIVE],
             survey->block_counts[FL_BLOCK_PENDING], survey->block_counts[FL_BLOCK_FREE]);
    fl_emit_pair(emit, "final", "final state", fl_emit_text(text));
}

static void text_device(fl_session *session, const fl_trace *trace, size_t device,
                        const fl_survey *survey)
{
    fl_emit *emit = session->emit;
    char heading[32], span[40];
    bool is_script = fl_trace_format(trace) == FL_FORMAT_SCRIPT;
    snprintf(heading, sizeof heading, "device %zu", device);
    fl_emit_object_begin(emit, "device", heading);
    fl_emit_pair(emit, "events", "events", fl_emit_count(survey->events));
    text_kinds(emit, survey);
    fl_emit_pair(emit, "streams", "streams", fl_emit_count(survey->stream_count));
    fl_emit_pair(emit, "pools", "pools", fl_emit_count(survey->pool_count));
    const char *history = survey->events == 0  ? "not recorded"
                          : survey->has_stacks ? "recorded, with stacks"
                                               : "recorded, without stacks";
    if (!is_script)
        fl_emit_pair(emit, "history", "history", fl_emit_text(history));
    fl_emit_pair(emit, "complete", "window",
                 fl_emit_text(survey->is_complete ? "complete: from an empty allocator on"
                                                  : "cut: its beginning is not in the file"));
    snprintf(span, sizeof span, "%.3f s",
             survey->has_times ? ((double)survey->last_us - (double)survey->first_us) / 1e6 : 0);
    fl_emit_pair(emit, "span_s", "time", survey->has_times ? fl_emit_text(span) : fl_emit_null());
    if (!is_script)
        text_advice(emit, trace, device, survey);
    if (!is_script)
        text_final(emit, survey);
    text_moment(emit, "live at the peak", &survey->peak, true);
    text_moment(emit, "live at the end", &survey->end, false);
    text_live(session, trace, "who is live at the peak", &survey->peak);
    text_live(session, trace, "who is live at the end", &survey->end);
    fl_emit_object_end(emit);
}

/* What the file holds beside the device's memory, where it holds any. */
static void text_beside(fl_emit *emit, const fl_beside *beside)
{
    char text[160], size[24], count[27], events[27];
    if (beside->annotations > 0)
        fl_emit_pair(emit, "annotations", "annotations", fl_emit_count(beside->annotations));
    if (beside->host_segments == 0 && beside->host_events == 0)
        return;
    fl_format_bytes(beside->host_bytes, size, sizeof size);
    fl_format_count(beside->host_segments, count, sizeof count);
    fl_format_count(beside->host_events, events, sizeof events);
    snprintf(text, sizeof text, "%s%sin %s segments, %s events: not replayed",
             beside->host_bytes != UINT64_MAX ? size : "",
             beside->host_bytes != UINT64_MAX ? " " : "", count, events);
    fl_emit_pair(emit, "host", "pinned host memory", fl_emit_text(text));
}

static void emit_beside(fl_emit *emit, const fl_beside *beside)
{
    fl_emit_pair(emit, "annotations", NULL, fl_emit_count(beside->annotations));
    fl_emit_object_begin(emit, "host", NULL);
    fl_emit_pair(emit, "segments", NULL, fl_emit_count(beside->host_segments));
    fl_emit_pair(emit, "bytes", NULL,
                 beside->host_bytes != UINT64_MAX ? fl_emit_bytes(beside->host_bytes)
                                                  : fl_emit_null());
    fl_emit_pair(emit, "events", NULL, fl_emit_count(beside->host_events));
    fl_emit_object_end(emit);
}

static void emit_file(fl_session *session, const fl_trace *trace)
{
    fl_emit *emit = session->emit;
    const fl_names *names = fl_trace_names(trace);
    fl_beside beside = fl_trace_beside(trace);
    uint64_t capacity = fl_trace_capacity(trace);
    const char *conf = fl_trace_conf(trace), *format = fl_trace_format_name(trace);
    char releases[40];
    fl_setup_marks_words(trace, releases, sizeof releases);
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE);
    fl_emit_pair(emit, "file", "file", fl_emit_text(fl_trace_path(trace)));
    fl_emit_pair(emit, "format", "format", fl_emit_text(format));
    fl_emit_pair(emit, "releases", "written by PyTorch", fl_emit_text(releases));
    fl_emit_pair(emit, "conf", "settings",
                 fl_emit_text(conf == NULL    ? "not told"
                              : *conf == '\0' ? "default"
                                              : conf));
    fl_emit_pair(emit, "card", "card",
                 capacity != UINT64_MAX ? fl_emit_bytes(capacity) : fl_emit_text("not told"));
    if (fl_trace_has_block_sizes(trace))
        fl_emit_pair(emit, "sizes", "sizes", fl_emit_text("of blocks, not what was asked for"));
    text_beside(emit, &beside);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_emit_pair(emit, "sizes", NULL,
                 fl_emit_text(fl_trace_has_block_sizes(trace) ? "blocks" : "requests"));
    emit_beside(emit, &beside);
    fl_emit_pair(emit, "conf", NULL, fl_emit_text(conf));
    fl_emit_pair(emit, "format", NULL, fl_emit_text(format));
    fl_emit_pair(emit, "capacity_bytes", NULL,
                 capacity != UINT64_MAX ? fl_emit_bytes(capacity) : fl_emit_null());
    emit_releases(emit, trace);
    fl_emit_list_begin(emit, "streams", NULL);
    for (size_t i = 0; i < names->stream_count; i++)
        fl_emit_item(emit, fl_emit_address(names->streams[i]));
    fl_emit_list_end(emit);
    fl_emit_list_begin(emit, "pools", NULL);
    for (size_t i = 0; i < names->pool_count; i++) {
        char pool[48];
        snprintf(pool, sizeof pool, "%" PRIu64 ".%" PRIu64, names->pools[i].first,
                 names->pools[i].second);
        fl_emit_item(emit, fl_emit_text(pool));
    }
    fl_emit_list_end(emit);
}

/* The surveys come first: nothing is emitted before everything is known. */
static fl_status info_devices(fl_session *session, const fl_trace *trace, size_t first,
                              fl_survey *surveys, size_t count, fl_error *error)
{
    fl_emit *emit = session->emit;
    for (size_t i = 0; i < count; i++) {
        fl_status status = fl_survey_trace(&session->host, trace, first + i, &surveys[i], error);
        if (status != FL_OK)
            return status;
    }
    fl_envelope_begin(session);
    fl_emit_pair(emit, "from", NULL, fl_emit_text(session->options.from));
    fl_emit_pair(emit, "partial", NULL, fl_emit_bool(session->options.accepts_cut));
    fl_emit_pair(emit, "trace_device", NULL,
                 session->options.trace_device != FL_NOT_GIVEN
                     ? fl_emit_count(session->options.trace_device)
                     : fl_emit_null());
    fl_emit_pair(emit, "top", NULL, fl_emit_count(session->options.top));
    fl_emit_pair(emit, "frames", NULL, fl_emit_count(session->options.frames));
    fl_envelope_end(session);
    emit_file(session, trace);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
    fl_emit_list_begin(emit, "devices", NULL);
    for (size_t i = 0; i < count; i++)
        emit_device(session, trace, first + i, &surveys[i]);
    fl_emit_list_end(emit);
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE);
    for (size_t i = 0; i < count; i++)
        text_device(session, trace, first + i, &surveys[i]);
    return FL_OK;
}

static fl_status info_trace(fl_session *session, const fl_trace *trace, fl_error *error)
{
    size_t first = 0, count = fl_trace_device_count(trace);
    uint64_t asked = session->options.trace_device;
    if (asked != FL_NOT_GIVEN && asked >= count)
        return fl_fail(error, FL_ERR_USAGE, "%s: there is no device %" PRIu64 ", the last is %zu",
                       fl_trace_path(trace), asked, count > 0 ? count - 1 : 0);
    if (asked != FL_NOT_GIVEN) {
        first = (size_t)asked;
        count = 1;
    }
    fl_survey *surveys = fl_cli_new(&session->host, count, sizeof *surveys, error);
    if (surveys == NULL)
        return FL_ERR_RESOURCE;
    fl_status status = info_devices(session, trace, first, surveys, count, error);
    for (size_t i = 0; i < count; i++)
        fl_survey_deinit(&session->host, &surveys[i]);
    fl_cli_delete(&session->host, surveys, count, sizeof *surveys);
    return status;
}

static fl_status info_run(fl_session *session, fl_error *error)
{
    fl_trace *trace;
    fl_status status = fl_session_read(session, &trace, error);
    if (status != FL_OK)
        return status;
    status = info_trace(session, trace, error);
    fl_trace_free(trace);
    return status;
}

static const fl_option_group *const groups[] = {&fl_options_info, &fl_options_input,
                                                &fl_options_common, NULL};

const fl_command fl_command_info = {
    .name = "info",
    .summary = "what is in a file, without replaying it",
    .synopsis = "info [options] FILE",
    .help = "Shows what FILE holds: which PyTorch releases can have written it, its settings,\n"
            "and for each device its events, whether they begin with an empty allocator, and\n"
            "who is live at the peak and at the end, by the sizes that were asked for.",
    .groups = groups,
    .word = "FILE",
    .word_key = "file",
    .run = info_run,
};
