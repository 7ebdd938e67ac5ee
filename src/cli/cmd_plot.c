/* plot FILE: figures of a replay, with their data and scripts beside them. */
#include "analysis/observed.h"
#include "cli/envelope.h"
#include "cli/setup.h"
#include "cli/shell.h"
#include "render/figures.h"

#include <fraglab/units.h>
#include <fraglab/verify.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_SIZE = 4096, CAPTION_SIZE = 400, NUMBER_SIZE = 24 };

/* What is drawn, and where it goes. */
struct drawing {
    fl_session *session;
    const fl_setup *setup;
    const char *folder, *image; /* `svg`, `png` */
    fl_observed observed;
    char caption[CAPTION_SIZE];
    size_t phases;
};

static fl_status path_of(const struct drawing *drawing, const char *name, const char *ending,
                         char path[PATH_SIZE], fl_error *error)
{
    int length = snprintf(path, PATH_SIZE, "%s/%s.%s", drawing->folder, name, ending);
    if (length > 0 && length < PATH_SIZE)
        return FL_OK;
    return fl_fail(error, FL_ERR_OUTPUT, "%s: the path is too long", drawing->folder);
}

static fl_status fail_to_write(const char *path, fl_error *error)
{
    return fl_fail(error, FL_ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
}

static bool write_piece(void *user, const char *data, size_t size)
{
    return fwrite(data, 1, size, user) == size;
}

/* ---- the files ------------------------------------------------------------------------------- */

static fl_status make_folder(const char *folder, fl_error *error)
{
    struct stat found;
    if (mkdir(folder, 0777) == 0)
        return FL_OK;
    if (errno == EEXIST && stat(folder, &found) == 0 && S_ISDIR(found.st_mode))
        return FL_OK;
    return fl_fail(error, FL_ERR_OUTPUT, "%s: the folder cannot be made: %s", folder,
                   strerror(errno));
}

static fl_status write_script(const struct drawing *drawing, const char *name, const char *text,
                              fl_error *error)
{
    char path[PATH_SIZE];
    fl_status status = path_of(drawing, name, "gp", path, error);
    if (status != FL_OK)
        return status;
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return fail_to_write(path, error);
    bool is_written = fputs(text, file) >= 0;
    if (fclose(file) != 0 || !is_written)
        return fail_to_write(path, error);
    return FL_OK;
}

static fl_status write_table(const struct drawing *drawing, size_t index, fl_error *error)
{
    char path[PATH_SIZE];
    fl_emit *emit = NULL;
    fl_status status = path_of(drawing, fl_observed_name(index), "csv", path, error);
    if (status != FL_OK)
        return status;
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return fail_to_write(path, error);
    fl_emit_options options = {.host = &drawing->session->host, .write = write_piece, .user = file};
    status = fl_emit_open(fl_emit_find("csv"), &options, &emit, error);
    if (status == FL_OK) {
        fl_observed_emit(&drawing->observed, index, emit);
        fl_error why = {0};
        status = fl_emit_finish(emit, &why);
        fl_emit_close(emit);
        if (status == FL_ERR_OUTPUT)
            fail_to_write(path, error);
        else if (status != FL_OK)
            fl_fail(error, status, "%s", why.text);
    }
    if (fclose(file) != 0 && status == FL_OK)
        status = fail_to_write(path, error);
    return status;
}

static fl_status write_files(const struct drawing *drawing, fl_error *error)
{
    fl_status status = make_folder(drawing->folder, error);
    for (size_t i = 0; status == FL_OK && fl_observed_name(i) != NULL; i++)
        status = write_table(drawing, i, error);
    if (status == FL_OK)
        status = write_script(drawing, "style", fl_figure_style(), error);
    for (size_t i = 0; status == FL_OK && fl_figure_at(i) != NULL; i++)
        status = write_script(drawing, fl_figure_at(i)->name, fl_figure_at(i)->script, error);
    return status;
}

/* ---- gnuplot --------------------------------------------------------------------------------- */

/* Each script takes what it needs of: folder, image, caption, card, phases, last event. */
static fl_status draw(const struct drawing *drawing, const fl_figure_script *figure,
                      fl_error *error)
{
    char script[PATH_SIZE], image[PATH_SIZE];
    char card[NUMBER_SIZE], phases[NUMBER_SIZE], last[NUMBER_SIZE];
    fl_status status = path_of(drawing, figure->name, "gp", script, error);
    if (status == FL_OK)
        status = path_of(drawing, figure->name, drawing->image, image, error);
    if (status != FL_OK)
        return status;
    uint64_t capacity = drawing->setup->capacity_bytes;
    snprintf(card, sizeof card, "%" PRIu64, capacity != FL_UNLIMITED ? capacity : 0);
    snprintf(phases, sizeof phases, "%zu", drawing->phases);
    snprintf(last, sizeof last, "%" PRIu64, drawing->observed.end_event);
    const char *const words[] = {
        "gnuplot", "-c", script, drawing->folder, image, drawing->caption, card,
        phases,    last, NULL};
    int exit_code;
    status = fl_shell_run(words, &exit_code, error);
    if (status != FL_OK || exit_code == 0)
        return status;
    if (exit_code == FL_SHELL_NOT_FOUND) {
        fl_fail(error, FL_ERR_UNAVAILABLE,
                "gnuplot, which draws the figures, is not installed; their data are in %s",
                drawing->folder);
        return fl_hint(error, "apt-get install gnuplot-nox, or the like");
    }
    return fl_fail(error, FL_ERR_UNAVAILABLE, "gnuplot could not draw %s: it ended with %d", image,
                   exit_code);
}

/* ---- what is told ---------------------------------------------------------------------------- */

static void make_caption(struct drawing *drawing, const fl_trace *trace)
{
    const fl_setup *setup = drawing->setup;
    const char *path = fl_trace_path(trace), *slash = strrchr(path, '/');
    char allocator[64], card[48] = "no limit", size[24];
    if (setup->profile != NULL)
        snprintf(allocator, sizeof allocator, "PyTorch %s", fl_profile_release(setup->profile));
    else
        snprintf(allocator, sizeof allocator, "%s", setup->policy->name);
    fl_format_bytes(setup->capacity_bytes, size, sizeof size);
    if (setup->capacity_bytes != FL_UNLIMITED)
        snprintf(card, sizeof card, "card of %s", size);
    snprintf(drawing->caption, sizeof drawing->caption, "%s, device %zu: %s, %s, %s; fraglab %s",
             slash != NULL ? slash + 1 : path, setup->trace_device, allocator,
             fl_conf_words(setup->conf != NULL ? setup->conf : ""), card, fl_version());
}

static void emit_result(const struct drawing *drawing)
{
    static const fl_emit_column columns[] = {
        {"figure", "figure", FL_EMIT_TEXT},
        {"image", "image", FL_EMIT_TEXT},
        {"script", "script", FL_EMIT_TEXT},
    };
    fl_session *session = drawing->session;
    fl_emit *emit = session->emit;
    fl_envelope_begin(session);
    fl_setup_emit_config(session, drawing->setup);
    fl_emit_pair(emit, "output_dir", NULL, fl_emit_text(drawing->folder));
    fl_emit_pair(emit, "image", NULL, fl_emit_text(drawing->image));
    fl_envelope_end(session);
    fl_emit_table_begin(emit, "figures", NULL, columns, 3);
    for (size_t i = 0; fl_figure_at(i) != NULL; i++) {
        const char *name = fl_figure_at(i)->name;
        char image[PATH_SIZE], script[PATH_SIZE];
        if (path_of(drawing, name, drawing->image, image, NULL) != FL_OK ||
            path_of(drawing, name, "gp", script, NULL) != FL_OK)
            continue;
        const fl_emit_value cells[] = {fl_emit_text(name), fl_emit_text(image),
                                       fl_emit_text(script)};
        fl_emit_row(emit, cells);
    }
    fl_emit_table_end(emit);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static size_t count_phases(const fl_trace *trace, size_t device)
{
    const fl_names *names = fl_trace_names(trace);
    size_t count = 0;
    for (uint64_t i = 0; i < fl_trace_event_count(trace, device); i++) {
        fl_event event;
        fl_trace_event(trace, device, i, &event);
        count += event.kind == FL_OP_MARK && strncmp(names->texts[event.text], "phase:", 6) == 0;
    }
    return count;
}

static fl_status plot_observed(struct drawing *drawing, const fl_trace *trace, fl_error *error)
{
    make_caption(drawing, trace);
    drawing->phases = count_phases(trace, drawing->setup->trace_device);
    fl_status status = write_files(drawing, error);
    for (size_t i = 0; status == FL_OK && fl_figure_at(i) != NULL; i++)
        status = draw(drawing, fl_figure_at(i), error);
    if (status == FL_OK)
        emit_result(drawing);
    return status;
}

static fl_status plot_trace(fl_session *session, fl_setup *setup, fl_trace *trace, fl_error *error)
{
    const fl_options *typed = &session->options;
    struct drawing drawing = {
        .session = session, .setup = setup, .folder = typed->output_dir, .image = typed->image};
    fl_status status = fl_setup_from_trace(session, trace, setup, error);
    if (status == FL_OK && fl_trace_event_count(trace, setup->trace_device) == 0)
        status = fl_fail(error, FL_ERR_INPUT, "%s: no events are recorded, so nothing can be drawn",
                         fl_trace_path(trace));
    if (status == FL_OK && fl_trace_format(trace) != FL_FORMAT_SCRIPT)
        status = fl_rebuild(trace, setup->trace_device, setup->recorded, error);
    if (status != FL_OK)
        return status;
    fl_replay_options options = fl_setup_replay_options(session, setup);
    fl_progress_begin(&session->progress, "replaying");
    status = fl_observe(trace, &options, (size_t)typed->rows, &drawing.observed, error);
    fl_progress_end(&session->progress);
    if (status != FL_OK)
        return status;
    status = plot_observed(&drawing, trace, error);
    fl_observed_deinit(&drawing.observed);
    return status;
}

static fl_status plot_run(fl_session *session, fl_error *error)
{
    if (session->options.output_dir == NULL) {
        fl_fail(error, FL_ERR_USAGE, "plot: --output-dir DIR is missing");
        return fl_hint(error, "fraglab %s", session->command->synopsis);
    }
    return fl_setup_run_file(session, plot_trace, error);
}

static const fl_option_group *const groups[] = {&fl_options_plot, &fl_options_allocator,
                                                &fl_options_input, &fl_options_common, NULL};

const fl_command fl_command_plot = {
    .name = "plot",
    .summary = "figures of a replay, drawn by gnuplot, with their data",
    .synopsis = "plot [options] --output-dir DIR FILE",
    .help = "Replays FILE and draws memory over time, and free bytes that do not serve, by\n"
            "cause.  What is drawn stands beside it in DIR: tables in CSV, and the scripts.",
    .groups = groups,
    .word = "FILE",
    .word_key = "file",
    .run = plot_run,
};
