/* tune FILE...: which settings make it fit, and what they cost. */
#include "cli/interrupt.h"
#include "cli/memory.h"
#include "cli/tune_show.h"

#include <fraglab/verify.h>

#include <errno.h>
#include <string.h>

#define PRICES_MOST 65536 /* bytes of a price table */

/* One search. */
struct work {
    fl_session *session;
    fl_setup setup; /* of the first file */
    fl_trace **traces;
    size_t *devices;
    size_t count;
    fl_prices prices;
};

/* ---- prices ---------------------------------------------------------------------------------- */

static fl_status read_prices(struct work *work, fl_error *error)
{
    const char *path = work->session->options.prices;
    work->prices = fl_prices_default();
    if (path == NULL)
        return FL_OK;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return fl_fail(error, FL_ERR_INPUT, "%s: %s", path, strerror(errno));
    char *text = fl_cli_new(&work->session->host, PRICES_MOST, 1, error);
    fl_status status = FL_ERR_RESOURCE;
    if (text != NULL) {
        size_t length = fread(text, 1, PRICES_MOST, file);
        status = fl_prices_parse(text, length, &work->prices, error);
        if (status != FL_OK)
            fl_prefix(error, "%s", path);
    }
    fl_cli_delete(&work->session->host, text, PRICES_MOST, 1);
    fclose(file);
    return status;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The first file says what is in force; a card that none of the options names is the smallest. */
static fl_status take_setup(struct work *work, size_t index, const fl_setup *setup, fl_error *error)
{
    if (index == 0) {
        work->setup = *setup;
        return FL_OK;
    }
    if (setup->profile != work->setup.profile)
        return fl_fail(error, FL_ERR_USAGE,
                       "the files are of PyTorch %s and %s; --torch says which to take",
                       fl_profile_release(work->setup.profile), fl_profile_release(setup->profile));
    if (setup->capacity_bytes < work->setup.capacity_bytes)
        work->setup.capacity_bytes = setup->capacity_bytes;
    return FL_OK;
}

static fl_status read_file(struct work *work, size_t index, const fl_setup *typed, fl_error *error)
{
    fl_setup setup = *typed;
    fl_trace **trace = &work->traces[index];
    fl_status status =
        fl_session_read_file(work->session, work->session->options.words[index], trace, error);
    if (status == FL_OK)
        status = fl_setup_from_trace(work->session, *trace, &setup, error);
    if (status == FL_OK)
        status = fl_setup_rebuild(work->session, *trace, &setup, error);
    work->devices[index] = setup.trace_device;
    return status == FL_OK ? take_setup(work, index, &setup, error) : status;
}

/* ---- the search ------------------------------------------------------------------------------ */

static bool tick(void *user, uint64_t done, uint64_t total)
{
    fl_progress_tick(user, done, total);
    return !fl_interrupt_came();
}

static fl_status search(struct work *work, fl_tune_finding *finding, fl_error *error)
{
    fl_session *session = work->session;
    fl_tune_options options = {
        .replay = fl_setup_replay_options(session, &work->setup),
        .trace_devices = work->devices,
        .prices = &work->prices,
        .jobs = fl_session_jobs(session),
        .progress = tick,
        .user = &session->progress,
    };
    /* Settings differ from the recorded ones, so a cut window begins anew for all of them. */
    options.replay.start = FL_START_FRESH;
    if (work->setup.gpu_from != FL_FROM_NOWHERE)
        options.card_bytes = work->setup.capacity_bytes;
    fl_interrupt_catch();
    fl_progress_begin(&session->progress, "tuning");
    fl_status status =
        fl_tune(finding->traces, finding->trace_count, &options, &finding->tuning, error);
    fl_progress_end(&session->progress);
    fl_interrupt_release();
    return status;
}

static fl_status tune_files(struct work *work, fl_error *error)
{
    fl_tune_finding finding = {.trace_count = work->count, .setup = &work->setup};
    const fl_trace **traces = fl_cli_new(&work->session->host, work->count, sizeof *traces, error);
    if (traces == NULL)
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < work->count; i++)
        traces[i] = work->traces[i];
    finding.traces = traces;
    fl_status status = search(work, &finding, error);
    if (status == FL_OK) {
        if (finding.tuning.was_stopped)
            fl_session_warn(work->session, "interrupted; this is the best so far");
        fl_tune_emit(work->session, &finding);
        status = finding.tuning.reason == FL_TUNE_NONE_FITS ? FL_ERR_NO : FL_OK;
    }
    fl_tuning_deinit(&finding.tuning);
    fl_cli_delete(&work->session->host, traces, work->count, sizeof *traces);
    return status;
}

static fl_status read_and_tune(struct work *work, const fl_setup *typed, fl_error *error)
{
    fl_status status = read_prices(work, error);
    for (size_t i = 0; i < work->count && status == FL_OK; i++)
        status = read_file(work, i, typed, error);
    return status == FL_OK ? tune_files(work, error) : status;
}

static fl_status tune_run(fl_session *session, fl_error *error)
{
    struct work work = {.session = session, .count = session->options.word_count};
    fl_setup typed;
    fl_status status = fl_setup_from_options(session, &typed, error);
    if (status == FL_OK && (typed.policy->capabilities & FL_CAN_SETTINGS) == 0)
        status =
            fl_fail(error, FL_ERR_USAGE, "policy '%s' has no settings to tune", typed.policy->name);
    if (status != FL_OK)
        return status;
    work.traces = fl_cli_new(&session->host, work.count, sizeof *work.traces, error);
    work.devices = fl_cli_new(&session->host, work.count, sizeof *work.devices, error);
    status = work.traces != NULL && work.devices != NULL ? read_and_tune(&work, &typed, error)
                                                         : FL_ERR_RESOURCE;
    for (size_t i = 0; work.traces != NULL && i < work.count; i++)
        fl_trace_free(work.traces[i]);
    fl_cli_delete(&session->host, work.traces, work.count, sizeof *work.traces);
    fl_cli_delete(&session->host, work.devices, work.count, sizeof *work.devices);
    return status;
}

static const fl_option_group *const groups[] = {&fl_options_tune, &fl_options_allocator,
                                                &fl_options_input, &fl_options_common, NULL};

const fl_command fl_command_tune = {
    .name = "tune",
    .summary = "settings that make a trace fit, with their price",
    .synopsis = "tune [options] FILE...",
    .help =
        "Searches the settings that the release accepts for those that make FILE fit the card\n"
        "and lose little time to the driver, every max_split_size_mb among them, and says what\n"
        "to put into the environment.  Several files, ranks or epochs, are tuned together.\n"
        "Without a card it looks for what needs the smallest.  Ctrl-C gives the best so far.\n"
        "Ends with 1 if nothing fits.",
    .groups = groups,
    .word = "FILE",
    .word_key = "file",
    .takes_more = true,
    .run = tune_run,
};
