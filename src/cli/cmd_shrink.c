/* shrink FILE: the shortest trace that still shows the same refusal, or the same to a command. */
#include "analysis/shrink.h"
#include "cli/envelope.h"
#include "cli/interrupt.h"
#include "cli/memory.h"
#include "cli/setup.h"
#include "cli/shell.h"

#include <fraglab/verify.h>
#include <fraglab/write.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES_OF_REPLAYS  10000
#define TRIES_OF_COMMANDS 1000
#define OPERATIONS_MOST   UINT64_C(2000000000) /* replayed in all: a few minutes */

/* One shrinking; for the callbacks. */
struct work {
    fl_session *session;
    const fl_setup *setup;
    const char *command;            /* --while; NULL: keep the refusal */
    char path[FL_OUTPUT_PATH_SIZE]; /* of the candidate that the command looks at */
    fl_shrink_report report;
};

/* ---- --while --------------------------------------------------------------------------------- */

static fl_status scratch_fail(const struct work *work, fl_error *error)
{
    return fl_fail(error, FL_ERR_OUTPUT, "%s: cannot be written: %s", work->path, strerror(errno));
}

static fl_status scratch_open(struct work *work, fl_error *error)
{
    const char *folder = getenv("TMPDIR");
    if (folder == NULL || *folder == '\0')
        folder = "/tmp";
    int length = snprintf(work->path, sizeof work->path, "%s/fraglab-XXXXXX", folder);
    if (length < 0 || (size_t)length >= sizeof work->path)
        return fl_fail(error, FL_ERR_OUTPUT, "TMPDIR: the name is too long");
    int descriptor = mkstemp(work->path);
    if (descriptor < 0) {
        work->path[0] = '\0';
        return fl_fail(error, FL_ERR_OUTPUT, "%s: no file can be made there: %s", folder,
                       strerror(errno));
    }
    close(descriptor);
    fl_output_scratch(work->path);
    return FL_OK;
}

static void scratch_close(struct work *work)
{
    if (work->path[0] == '\0')
        return;
    fl_output_scratch(NULL);
    unlink(work->path);
}

static bool write_file(void *user, const char *data, size_t size)
{
    return fwrite(data, 1, size, user) == size;
}

static fl_status scratch_fill(const struct work *work, const fl_trace *candidate, fl_error *error)
{
    FILE *file = fopen(work->path, "w");
    if (file == NULL)
        return scratch_fail(work, error);
    fl_write_options options = {.write = write_file, .user = file};
    fl_status status = fl_write_trace(candidate, "script", &options, error);
    if (fclose(file) != 0 && status == FL_OK)
        status = scratch_fail(work, error);
    return status;
}

static fl_status ask_command(void *user, const fl_trace *candidate, bool *ret_shows,
                             fl_error *error)
{
    struct work *work = user;
    int code = 0;
    fl_status status = scratch_fill(work, candidate, error);
    if (status == FL_OK)
        status = fl_shell_ask(work->command, work->path, &code, error);
    if (status == FL_OK)
        *ret_shows = code == 0;
    return status;
}

/* ---- the result ------------------------------------------------------------------------------ */

static void refusal_words(const struct work *work, char *buffer, size_t size)
{
    const fl_shrink_refusal *refusal = &work->report.refusal;
    const fl_setup *setup = work->setup;
    static const char *const rooms[] = {
        [FL_SHRINK_NO_ROOM] = "",
        [FL_SHRINK_ROOM_TOGETHER] = " with room enough in cache and card together",
        [FL_SHRINK_ROOM_IN_CACHE] = " with room enough in the cache",
    };
    const char *what = refusal->outcome == FL_REFUSED    ? "out of memory"
                       : refusal->outcome == FL_REJECTED ? "turned away by a setting"
                                                         : refusal->why;
    snprintf(buffer, size, "%s at the last request%s, under %s %s", what, rooms[refusal->room],
             setup->profile != NULL ? "PyTorch" : "policy",
             setup->profile != NULL ? fl_profile_release(setup->profile) : setup->policy->name);
}

static void comment_words(const struct work *work, char *buffer, size_t size)
{
    char before[27], after[27], why[300];
    fl_format_count(work->report.operations_before, before, sizeof before);
    fl_format_count(work->report.operations_after, after, sizeof after);
    if (work->command != NULL)
        snprintf(why, sizeof why, "0 from: %s", work->command);
    else
        refusal_words(work, why, sizeof why);
    snprintf(buffer, size, "%s of %s operations: %s", after, before, why);
}

static fl_status write_result(const struct work *work, const fl_trace *result,
                              bool (*write)(void *user, const char *data, size_t size), void *user,
                              fl_error *error)
{
    char comment[400];
    comment_words(work, comment, sizeof comment);
    /* Under a command, which may replay by any release, no candidate stated one. */
    bool is_of_release = work->command == NULL && work->setup->profile != NULL;
    fl_write_options options = {
        .release = is_of_release ? fl_profile_release(work->setup->profile) : NULL,
        .comment = comment,
        .write = write,
        .user = user,
    };
    return fl_write_trace(result, "script", &options, error);
}

/* Text that grows. */
struct page {
    const fl_host *host;
    char *text;
    size_t length, room;
};

static bool page_take(void *user, const char *data, size_t size)
{
    struct page *page = user;
    if (size > page->room - page->length) {
        size_t room = 2 * page->room + size;
        char *text = page->host->resize(page->host->user, page->text, page->room, room);
        if (text == NULL)
            return false;
        page->text = text;
        page->room = room;
    }
    memcpy(page->text + page->length, data, size);
    page->length += size;
    return true;
}

static void emit_refusal(fl_emit *emit, const struct work *work, bool has_result)
{
    const fl_shrink_refusal *refusal = &work->report.refusal;
    static const char *const outcomes[] = {"done", "refused", "rejected", "forbidden"};
    static const char *const rooms[] = {"none", "together", "cache"};
    bool has = has_result && work->command == NULL;
    fl_emit_object_begin(emit, "refusal", NULL);
    fl_emit_pair(emit, "outcome", NULL, fl_emit_text(has ? outcomes[refusal->outcome] : NULL));
    fl_emit_pair(emit, "because", NULL, fl_emit_text(has ? refusal->why : NULL));
    fl_emit_pair(emit, "room", NULL, fl_emit_text(has ? rooms[refusal->room] : NULL));
    fl_emit_object_end(emit);
}

static uint64_t most_tries(const struct work *work)
{
    if (work->session->options.most_tries != FL_NOT_GIVEN)
        return work->session->options.most_tries;
    return work->command != NULL ? TRIES_OF_COMMANDS : TRIES_OF_REPLAYS;
}

/* `script` NULL: there is no result. */
static void emit_record(const struct work *work, const struct page *script)
{
    static const char *const ends[] = {"minimal", "exhausted", "stopped"};
    const fl_shrink_report *report = &work->report;
    fl_emit *emit = work->session->emit;
    bool has = script != NULL;
    fl_envelope_begin(work->session);
    fl_setup_emit_config(work->session, work->setup);
    fl_emit_pair(emit, "while", NULL, fl_emit_text(work->command));
    fl_emit_pair(emit, "most_tries", NULL, fl_emit_count(most_tries(work)));
    fl_envelope_end(work->session);
    fl_emit_for(emit, FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES);
    fl_emit_pair(emit, "operations_before", NULL,
                 has ? fl_emit_count(report->operations_before) : fl_emit_null());
    fl_emit_pair(emit, "operations_after", NULL,
                 has ? fl_emit_count(report->operations_after) : fl_emit_null());
    fl_emit_pair(emit, "tries", NULL, has ? fl_emit_count(report->tries) : fl_emit_null());
    fl_emit_pair(emit, "end", NULL, fl_emit_text(has ? ends[report->end] : NULL));
    emit_refusal(emit, work, has);
    fl_emit_pair(emit, "script", NULL,
                 has ? fl_emit_text_sized(script->text, script->length) : fl_emit_null());
}

static fl_status emit_result(const struct work *work, const fl_trace *result, fl_error *error)
{
    struct page script = {.host = &work->session->host};
    fl_status status = write_result(work, result, page_take, &script, error);
    if (status == FL_OK)
        emit_record(work, &script);
    fl_cli_delete(script.host, script.text, script.room, 1);
    return status == FL_ERR_OUTPUT ? FL_ERR_RESOURCE : status;
}

/* The script leaves the card's name and the policy out, so the way to see it again is worth a line.
 */
static void hint_at_replay(const struct work *work)
{
    const fl_options *options = &work->session->options;
    const fl_setup *setup = work->setup;
    char card[80] = "";
    if (options->output == NULL || work->command != NULL)
        return;
    if (setup->gpu != NULL)
        snprintf(card, sizeof card, "--gpu %s ", setup->gpu->name);
    bool is_torch = setup->profile != NULL;
    fl_session_hint(work->session, "fraglab replay %s%s%s%s%s", card, is_torch ? "" : "--policy ",
                    is_torch ? "" : options->policy, is_torch ? "" : " ", options->output);
}

static fl_status give_result(const struct work *work, const fl_trace *result, fl_error *error)
{
    static const char *const reasons[] = {
        [FL_SHRINK_EXHAUSTED] = "as many candidates as allowed were tried",
        [FL_SHRINK_STOPPED] = "interrupted",
    };
    if (work->report.end != FL_SHRINK_MINIMAL)
        fl_session_warn(work->session, "%s; a shorter trace may show it too",
                        reasons[work->report.end]);
    if (strcmp(work->session->options.format, "text") != 0)
        return emit_result(work, result, error);
    fl_output *output = &work->session->output;
    fl_status status = write_result(work, result, fl_output_write, output, error);
    if (status == FL_OK)
        hint_at_replay(work);
    return status;
}

/* Nothing to keep: for programs a record that says so, for people the sentence alone. */
static fl_status give_nothing(const struct work *work, fl_error *error)
{
    if (strcmp(work->session->options.format, "text") == 0)
        return FL_ERR_NO;
    emit_record(work, NULL);
    fl_session_complain(error);
    *error = (fl_error){0};
    return FL_ERR_NO;
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool tick(void *user, uint64_t left, uint64_t before)
{
    struct work *work = user;
    fl_progress_tick(&work->session->progress, before - left, before);
    return !fl_interrupt_came();
}

static fl_status shrink_trace(struct work *work, const fl_trace *trace, fl_error *error)
{
    fl_session *session = work->session;
    fl_shrink_options options = {
        .replay = fl_setup_replay_options(session, work->setup),
        .shows = work->command != NULL ? ask_command : NULL,
        .progress = tick,
        .user = work,
        .most_tries = most_tries(work),
        .most_operations = work->command != NULL ? UINT64_MAX : OPERATIONS_MOST,
    };
    fl_trace *result = NULL;
    fl_interrupt_catch();
    fl_progress_begin(&session->progress, "shrinking");
    fl_status status = fl_shrink(trace, &options, &result, &work->report, error);
    fl_progress_end(&session->progress);
    fl_interrupt_release();
    if (status == FL_OK)
        status = give_result(work, result, error);
    else if (status == FL_ERR_NO)
        status = give_nothing(work, error);
    fl_trace_free(result);
    return status;
}

static fl_status shrink_file(fl_session *session, fl_setup *setup, fl_trace *trace, fl_error *error)
{
    struct work work = {
        .session = session, .setup = setup, .command = session->options.while_command};
    fl_status status = fl_setup_from_trace(session, trace, setup, error);
    if (status == FL_OK)
        status = fl_setup_check_range(session, trace, setup, error);
    if (status == FL_OK && fl_trace_format(trace) != FL_FORMAT_SCRIPT)
        status = fl_rebuild(trace, setup->trace_device, setup->recorded, error);
    if (status == FL_OK && work.command != NULL)
        status = scratch_open(&work, error);
    if (status == FL_OK)
        status = shrink_trace(&work, trace, error);
    scratch_close(&work);
    return status;
}

static fl_status shrink_run(fl_session *session, fl_error *error)
{
    return fl_setup_run_file(session, shrink_file, error);
}

static const fl_option_group *const groups[] = {&fl_options_shrink, &fl_options_allocator,
                                                &fl_options_input, &fl_options_common, NULL};

const fl_command fl_command_shrink = {
    .name = "shrink",
    .summary = "the shortest trace that still shows the same refusal",
    .synopsis = "shrink [options] FILE",
    .help = "Takes away from FILE what is not needed for its first refusal: the same request is\n"
            "still refused, for the same cause, and if the cache, or cache and card together, had\n"
            "enough free, they still have.  The result is a script without an operation too many.\n"
            "With --while it keeps instead what a command ends with 0 for.  Ctrl-C gives the\n"
            "best so far.  Ends with 1 if nothing is refused, or the command fails on FILE.",
    .groups = groups,
    .word = "FILE",
    .word_key = "file",
    .run = shrink_run,
};
