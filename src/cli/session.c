#include "cli/session.h"

#include "cli/memory.h"
#include "cli/part.h"

#include <fraglab/read.h>

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fl_session_complain(const fl_error *error)
{
    fprintf(stderr, "fraglab: %s\n", error->text);
    if (error->hint[0] != '\0')
        fprintf(stderr, "hint: %s\n", error->hint);
}

void fl_session_warn(fl_session *session, const char *format, ...)
{
    fl_warnings *warnings = &session->warnings;
    const fl_host *host = &session->host;
    size_t item = sizeof *warnings->items;
    char text[FL_WARNING_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!session->options.is_quiet)
        fprintf(stderr, "fraglab: warning: %s\n", text);
    void *grown = host->resize(host->user, warnings->items, warnings->count * item,
                               (warnings->count + 1) * item);
    if (grown == NULL)
        return; /* the person has seen it; the record lacks it */
    warnings->items = grown;
    memcpy(warnings->items[warnings->count++], text, sizeof text);
}

void fl_session_hint(const fl_session *session, const char *format, ...)
{
    if (session->options.is_quiet)
        return;
    va_list args;
    va_start(args, format);
    fputs("hint: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

/* --color, then NO_COLOR, then TERM, then what standard output is. */
static bool wants_color(const fl_options *options)
{
    if (strcmp(options->color, "auto") != 0)
        return strcmp(options->color, "always") == 0;
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if ((no_color != NULL && *no_color != '\0') || (term != NULL && strcmp(term, "dumb") == 0))
        return false;
    return options->output == NULL && (options->fakes_terminal || isatty(STDOUT_FILENO));
}

static uint64_t fake_now(void *user)
{
    fl_session *session = user;
    session->fake_now_ns += session->options.fake_clock_ms * 1000000;
    return session->fake_now_ns;
}

static void session_init(fl_session *session, const fl_command *command)
{
    memset(session, 0, sizeof *session);
    session->command = command;
    session->host = *fl_host_default();
    session->progress.host = &session->host;
}

/* The fake clock replaces only the clock: the default host's allocator ignores its `user`. */
static void session_fake(fl_session *session)
{
    if (session->options.fake_clock_ms > 0) {
        session->host.now_ns = fake_now;
        session->host.user = session;
    }
    bool is_terminal = session->options.fakes_terminal || isatty(STDERR_FILENO);
    if (is_terminal && !session->options.is_quiet)
        session->progress.out = stderr;
}

static void session_deinit(fl_session *session)
{
    fl_emit_close(session->emit);
    fl_cli_delete(&session->host, session->warnings.items, session->warnings.count,
                  sizeof *session->warnings.items);
}

static fl_status check_words(const fl_command *command, const fl_options *options, fl_error *error)
{
    if (options->word_count == 1 || (options->word_count == 0 && command->is_word_optional) ||
        (options->word_count > 1 && command->takes_more))
        return FL_OK;
    if (options->word_count > 1)
        fl_fail(error, FL_ERR_USAGE, "%s: unexpected '%s'", command->name, options->words[1]);
    else
        fl_fail(error, FL_ERR_USAGE, "%s: %s is missing", command->name, command->word);
    return fl_hint(error, "fraglab %s", command->synopsis);
}

static fl_status print_and_check(void (*print)(const fl_command *command, FILE *out),
                                 const fl_command *command, fl_error *error)
{
    fl_output output;
    fl_output_open(&output, NULL, error);
    print(command, output.file);
    return fl_output_commit(&output, error);
}

static void print_version(const fl_command *command, FILE *out)
{
    (void)command;
    fprintf(out, "fraglab %s\n", fl_version());
}

/* Emits into an output that is opened before the work, so that a place that cannot be written to
 * is known at once. */
static fl_status run_with_output(fl_session *session, fl_error *error)
{
    const fl_options *options = &session->options;
    fl_status status = fl_output_open(&session->output, options->output, error);
    if (status != FL_OK)
        return status;
    fl_emit_options emit = {&session->host, wants_color(options), fl_output_write,
                            &session->output};
    status = fl_emit_open(fl_emit_find(options->format), &emit, &session->emit, error);
    if (status == FL_OK)
        status = session->command->run(session, error);
    fl_progress_end(&session->progress);
    if (status == FL_ERR_OUTPUT && session->output.problem != 0) {
        *error = (fl_error){0}; /* where the work stood does not matter */
        fl_output_fail(&session->output, error);
    }
    bool has_result = status == FL_OK || (status == FL_ERR_NO && error->status == FL_OK);
    if (!has_result) {
        fl_output_discard(&session->output);
        return status;
    }
    fl_error unwritten = {0};
    fl_status written = fl_emit_finish(session->emit, &unwritten);
    if (written == FL_OK || written == FL_ERR_OUTPUT) /* the output itself knows why */
        return (written = fl_output_commit(&session->output, error)) == FL_OK ? status : written;
    fl_output_discard(&session->output);
    return fl_fail(error, written, "%s", unwritten.text);
}

static fl_status session_start(fl_session *session, int argc, char **argv, fl_error *error)
{
    const fl_command *command = session->command;
    fl_options *options = &session->options;
    fl_status status = fl_option_parse(command->groups, argc, argv, options, error);
    if (status != FL_OK) {
        fl_hint(error, "fraglab %s --help", command->name);
        return status;
    }
    if (options->wants_help)
        return print_and_check(fl_command_print_help, command, error);
    if (options->wants_version)
        return print_and_check(print_version, command, error);
    status = check_words(command, options, error);
    if (status != FL_OK)
        return status;
    session_fake(session);
    fl_output_catch_signals();
    return run_with_output(session, error);
}

int fl_session_run(const fl_command *command, int argc, char **argv)
{
    fl_session session;
    fl_error error = {0};
    session_init(&session, command);
    fl_status status = session_start(&session, argc, argv, &error);
    session_deinit(&session);
    if (error.status != FL_OK)
        fl_session_complain(&error);
    if (status == FL_ERR_INTERNAL)
        abort(); /* an invariant of ours is broken: leave a core, not a result */
    return (int)status;
}

fl_status fl_session_read(fl_session *session, fl_trace **ret_trace, fl_error *error)
{
    return fl_session_read_file(session, session->options.words[0], ret_trace, error);
}

static fl_status read_up_to(fl_session *session, const char *path, const fl_range_end *end,
                            fl_trace **ret_trace, fl_error *error)
{
    const fl_options *options = &session->options;
    char what[300];
    const char *slash = strrchr(path, '/');
    snprintf(what, sizeof what, "reading %s", slash != NULL ? slash + 1 : path);
    fl_read_options read = {
        .host = &session->host,
        .format = options->from,
        .accept_cut = options->accepts_cut,
        .end = *end,
        .progress = fl_progress_tick,
        .user = &session->progress,
    };
    fl_progress_begin(&session->progress, what);
    fl_status status = fl_read_file(path, &read, ret_trace, error);
    fl_progress_end(&session->progress);
    session->progress.what = NULL;
    return status;
}

/* A pipe gives its content once, and cannot be read again where a part of it does not suffice. */
static bool is_read_once(const char *path)
{
    struct stat found;
    return strcmp(path, "-") == 0 || (stat(path, &found) == 0 && !S_ISREG(found.st_mode));
}

static fl_status read_file(fl_session *session, const char *path, fl_trace **ret_trace,
                           fl_error *error)
{
    static const fl_range_end none = {.is_given = false};
    if (!session->read_end.is_given || is_read_once(path))
        return read_up_to(session, path, &none, ret_trace, error);
    bool suffices = true;
    fl_status status = read_up_to(session, path, &session->read_end, ret_trace, error);
    if (status != FL_OK)
        return status;
    status = fl_part_suffices(session, *ret_trace, &suffices, error);
    if (status == FL_OK && suffices)
        return FL_OK;
    fl_trace_free(*ret_trace);
    return status == FL_OK ? read_up_to(session, path, &none, ret_trace, error) : status;
}

fl_status fl_session_read_file(fl_session *session, const char *path, fl_trace **ret_trace,
                               fl_error *error)
{
    fl_trace *trace = NULL;
    fl_status status = read_file(session, path, &trace, error);
    if (status != FL_OK)
        return status;
    for (size_t i = 0; i < fl_trace_warning_count(trace); i++)
        fl_session_warn(session, "%s", fl_trace_warning(trace, i));
    *ret_trace = trace;
    return FL_OK;
}

unsigned fl_session_jobs(const fl_session *session)
{
    uint64_t jobs = session->options.jobs;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (jobs == FL_NOT_GIVEN)
        jobs = cores > 0 ? (uint64_t)cores : 1;
    return jobs < UINT_MAX ? (unsigned)jobs : UINT_MAX;
}

void fl_command_print_help(const fl_command *command, FILE *out)
{
    fprintf(out, "usage: fraglab %s\n\n%s\n", command->synopsis, command->help);
    fl_option_print(command->groups, out);
}
