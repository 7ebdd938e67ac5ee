/* diagnose FILE...: what is wrong, in one line, and why. */
#include "cli/diagnosed.h"
#include "cli/envelope.h"
#include "cli/memory.h"

#include <fraglab/suggest.h>
#include <fraglab/verify.h>

#include <string.h>

static void diagnosed_deinit(fl_diagnosed *file)
{
    fl_diagnosis_deinit(&file->diagnosis);
    fl_trace_free(file->trace);
    *file = (fl_diagnosed){0};
}

/* Without events anywhere: the device with most memory. */
static void take_fullest_device(const fl_session *session, const fl_trace *trace, fl_setup *setup)
{
    uint64_t most = 0;
    if (session->options.trace_device != FL_NOT_GIVEN)
        return;
    for (size_t device = 0; device < fl_trace_device_count(trace); device++) {
        size_t count;
        uint64_t bytes = 0;
        const fl_segment_view *segments = fl_trace_final_segments(trace, device, &count);
        for (size_t i = 0; i < count; i++)
            bytes += segments[i].size < UINT64_MAX - bytes ? segments[i].size : 0;
        if (bytes > most) {
            most = bytes;
            setup->trace_device = device;
        }
    }
}

static void fill_row(fl_diagnosed *file, const char *path)
{
    const fl_diagnosis *d = &file->diagnosis;
    fl_diagnosed_row *row = &file->row;
    row->path = path;
    row->device = file->setup.trace_device;
    row->trouble = d->trouble;
    row->peak = d->summary.peak;
    row->has_oom = d->summary.has_oom;
    row->oom_event = d->summary.oom.event;
    row->requested_bytes = d->summary.oom.refusal.requested_bytes;
    row->pinned_bytes = d->pinned_bytes;
    fl_diagnosis_sentence(d, row->sentence, sizeof row->sentence);
}

static fl_status diagnose_file(fl_session *session, const char *path, fl_diagnosed *ret_file,
                               fl_error *error)
{
    fl_diagnosed file = {0};
    fl_status status = fl_setup_from_options(session, &file.setup, error);
    if (status == FL_OK)
        status = fl_session_read_file(session, path, &file.trace, error);
    if (status == FL_OK)
        status = fl_setup_from_trace(session, file.trace, &file.setup, error);
    size_t device = file.setup.trace_device;
    bool has_events = status == FL_OK && fl_trace_event_count(file.trace, device) > 0;
    if (status == FL_OK && !has_events)
        take_fullest_device(session, file.trace, &file.setup);
    if (has_events)
        status = fl_setup_rebuild(session, file.trace, &file.setup, error);
    if (status == FL_OK) {
        fl_diagnose_options options = {fl_setup_replay_options(session, &file.setup),
                                       fl_session_jobs(session)};
        status = fl_diagnose(file.trace, &options, &file.diagnosis, error);
    }
    if (status != FL_OK) {
        diagnosed_deinit(&file);
        return status;
    }
    fill_row(&file, path);
    *ret_file = file;
    return FL_OK;
}

/* Anything wrong is worse than nothing; among those, the most reserved memory. */
static bool is_worse(const fl_diagnosed_row *a, const fl_diagnosed_row *b)
{
    bool is_wrong = a->trouble != FL_TROUBLE_FITS, other = b->trouble != FL_TROUBLE_FITS;
    if (is_wrong != other)
        return is_wrong;
    return a->peak.reserved_bytes > b->peak.reserved_bytes;
}

static void emit_result(fl_session *session, const fl_diagnosed *worst,
                        const fl_diagnosed_row *rows, size_t count)
{
    fl_emit *emit = session->emit;
    fl_envelope_begin(session);
    fl_setup_emit_config(session, &worst->setup);
    fl_emit_pair(emit, "top", NULL, fl_emit_count(session->options.top));
    fl_emit_pair(emit, "fail_on", NULL, fl_emit_text(session->options.fail_on));
    fl_envelope_end(session);
    fl_emit_for(emit, FL_EMIT_FOR_TABLES | FL_EMIT_FOR_PROGRAMS);
    fl_diagnosed_emit_rows(emit, rows, count);
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE);
    if (count > 1) {
        fl_diagnosed_emit_rows(emit, rows, count);
        fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "");
        fl_emit_line(emit, FL_EMIT_STRONG, "the worst of them: %s", worst->row.path);
    }
    fl_diagnosed_emit_text(session, worst);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS);
    fl_diagnosed_emit(session, worst);
}

static fl_status fail_unknown_verdict(const char *word, fl_error *error)
{
    const char *names[FL_TROUBLE_COUNT + 1] = {NULL};
    for (size_t i = 0; i < FL_TROUBLE_COUNT; i++)
        names[i] = fl_trouble_name((fl_trouble)i);
    fl_fail(error, FL_ERR_USAGE, "option '--fail-on' expects verdicts, got '%s'", word);
    return fl_suggest(names, word, "", error);
}

/* Marks the verdicts that --fail-on names. */
static fl_status find_fail_on(const char *text, bool *ret_wanted, fl_error *error)
{
    for (const char *at = text; at != NULL && *at != '\0';) {
        char name[64];
        size_t length = strcspn(at, ",");
        fl_trouble trouble;
        snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), at);
        if (!fl_trouble_find(name, &trouble))
            return fail_unknown_verdict(name, error);
        ret_wanted[trouble] = true;
        at += length + (at[length] == ',');
    }
    return FL_OK;
}

static fl_status diagnose_files(fl_session *session, fl_diagnosed_row *rows, fl_diagnosed *worst,
                                fl_error *error)
{
    const fl_options *options = &session->options;
    for (size_t i = 0; i < options->word_count; i++) {
        fl_diagnosed file;
        fl_status status = diagnose_file(session, options->words[i], &file, error);
        if (status != FL_OK)
            return status;
        rows[i] = file.row;
        if (i > 0 && !is_worse(&file.row, &worst->row)) {
            diagnosed_deinit(&file);
            continue;
        }
        diagnosed_deinit(worst);
        *worst = file;
    }
    return FL_OK;
}

static fl_status diagnose_run(fl_session *session, fl_error *error)
{
    const fl_options *options = &session->options;
    size_t count = options->word_count;
    bool is_wanted[FL_TROUBLE_COUNT] = {false}, fails = false;
    fl_status status = find_fail_on(options->fail_on, is_wanted, error);
    if (status != FL_OK)
        return status;
    fl_diagnosed_row *rows = fl_cli_new(&session->host, count, sizeof *rows, error);
    if (rows == NULL)
        return FL_ERR_RESOURCE;
    fl_diagnosed worst = {0};
    status = diagnose_files(session, rows, &worst, error);
    if (status == FL_OK)
        emit_result(session, &worst, rows, count);
    for (size_t i = 0; status == FL_OK && i < count; i++)
        fails = fails || is_wanted[rows[i].trouble];
    diagnosed_deinit(&worst);
    fl_cli_delete(&session->host, rows, count, sizeof *rows);
    return status == FL_OK && fails ? FL_ERR_NO : status;
}

static const fl_option_group *const groups[] = {&fl_options_diagnose, &fl_options_allocator,
                                                &fl_options_input, &fl_options_common, NULL};

const fl_command fl_command_diagnose = {
    .name = "diagnose",
    .summary = "find the fragmentation point and say in one line what is wrong",
    .synopsis = "diagnose [options] FILE...",
    .help = "Says whether FILE fits its card, and if not why: what is live is too much, or what\n"
            "is free lies in the wrong places; where that began, whose blocks are in the way,\n"
            "and with which settings it fits, each of them replayed.  Of several files, the\n"
            "ranks of one job say, a table and the worst.",
    .groups = groups,
    .word = "FILE",
    .word_key = "file",
    .takes_more = true,
    .run = diagnose_run,
};
