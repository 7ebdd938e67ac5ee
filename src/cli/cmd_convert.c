/* convert FILE --to FORMAT: the same trace in another form.
 *
 * What a format cannot hold is told, item by item.  A history becomes a script by what it is
 * understood to have asked for, and a script a history by being run; both take a release, as a
 * replay does. */
#include "cli/setup.h"

#include <fraglab/verify.h>
#include <fraglab/write.h>

#include <string.h>

struct conversion {
    fl_session *session;
    fl_setup setup; /* of the device looked at last */
    const fl_profile *release;
    uint64_t capacity_bytes; /* FL_UNLIMITED: not known */
};

static fl_status check_options(const fl_session *session, fl_error *error)
{
    const fl_options *options = &session->options;
    if (options->to == NULL) {
        fl_fail(error, FL_ERR_USAGE, "convert: --to FORMAT is missing");
        return fl_hint(error, "--to script, --to flt or --to json");
    }
    if (strcmp(options->format, "text") != 0) {
        fl_fail(error, FL_ERR_USAGE, "convert: the result is the trace, in the format of --to");
        return fl_hint(error, "--to %s instead of --format %s", options->format, options->format);
    }
    return FL_OK;
}

static void warn_lost(void *user, const char *what)
{
    struct conversion *conversion = user;
    fl_session_warn(conversion->session, "not in the %s: %s", conversion->session->options.to,
                    what);
}

static fl_status write_result(struct conversion *conversion, const fl_trace *trace, fl_error *error)
{
    fl_output *output = &conversion->session->output;
    bool is_known = conversion->capacity_bytes != FL_UNLIMITED;
    fl_write_options options = {
        .release = conversion->release != NULL ? fl_profile_release(conversion->release) : NULL,
        .capacity_bytes = is_known ? conversion->capacity_bytes : 0,
        .write = fl_output_write,
        .user = output,
        .lost = warn_lost,
        .lost_user = conversion,
    };
    fl_status status = fl_write_trace(trace, conversion->session->options.to, &options, error);
    return status == FL_ERR_OUTPUT && output->problem != 0 ? fl_output_fail(output, error) : status;
}

/* What is known of all devices stands once in the file. */
static void take_world(struct conversion *conversion, size_t device, bool is_first)
{
    const fl_setup *setup = &conversion->setup;
    if (is_first) {
        conversion->release = setup->recorded;
        conversion->capacity_bytes = setup->capacity_bytes;
        return;
    }
    if (conversion->capacity_bytes != setup->capacity_bytes)
        fl_session_warn(conversion->session, "not in the %s: the card of device %zu, another one",
                        conversion->session->options.to, device);
    if (conversion->release != setup->recorded)
        fl_session_warn(
            conversion->session, "device %zu is understood by PyTorch %s, the first one by %s",
            device, fl_profile_release(setup->recorded), fl_profile_release(conversion->release));
}

/* Infers what the history of one device does not say: the one of --trace-device. */
static fl_status understand_device(struct conversion *conversion, fl_trace *trace, bool is_first,
                                   fl_error *error)
{
    fl_setup *setup = &conversion->setup;
    fl_status status = fl_setup_from_trace(conversion->session, trace, setup, error);
    if (status == FL_OK)
        status = fl_rebuild(trace, setup->trace_device, setup->recorded, error);
    if (status == FL_OK)
        take_world(conversion, setup->trace_device, is_first);
    return status;
}

/* The same of all that have events; where none has, of the one that a replay would take. */
static fl_status understand(struct conversion *conversion, fl_trace *trace, fl_error *error)
{
    const fl_setup from_options = conversion->setup;
    bool is_first = true;
    fl_status status = FL_OK;
    for (size_t i = 0; i < fl_trace_device_count(trace) && status == FL_OK; i++) {
        if (fl_trace_event_count(trace, i) == 0)
            continue;
        conversion->session->options.trace_device = i;
        conversion->setup = from_options;
        status = understand_device(conversion, trace, is_first, error);
        is_first = false;
    }
    return is_first ? understand_device(conversion, trace, true, error) : status;
}

/* The first device that has events; where none has, the one that a replay would take. */
static uint64_t first_device(const fl_trace *trace)
{
    for (size_t i = 0; i < fl_trace_device_count(trace); i++)
        if (fl_trace_event_count(trace, i) > 0)
            return i;
    return FL_NOT_GIVEN;
}

/* Runs a script, and writes the history of that. */
static fl_status write_history(struct conversion *conversion, fl_trace *script, fl_error *error)
{
    fl_session *session = conversion->session;
    session->options.trace_device = first_device(script);
    fl_status status = fl_setup_from_trace(session, script, &conversion->setup, error);
    if (status != FL_OK)
        return status;
    fl_trace *history = NULL;
    fl_replay_options options = fl_setup_replay_options(session, &conversion->setup);
    status = fl_record_history(script, &options, &history, error);
    if (status != FL_OK && error != NULL)
        error->hint[0] = '\0'; /* of another --start, which there is none of here */
    if (status == FL_OK)
        status = write_result(conversion, history, error);
    fl_trace_free(history);
    return status;
}

static fl_status convert_trace(struct conversion *conversion, fl_trace *trace, fl_error *error)
{
    bool is_history = fl_trace_format(trace) == FL_FORMAT_SNAPSHOT;
    const char *to = conversion->session->options.to;
    fl_status status = FL_OK;
    if (!is_history && strcmp(to, "json") == 0)
        return write_history(conversion, trace, error);
    if (is_history && strcmp(to, "script") == 0)
        status = understand(conversion, trace, error);
    return status == FL_OK ? write_result(conversion, trace, error) : status;
}

static fl_status convert_run(fl_session *session, fl_error *error)
{
    struct conversion conversion = {.session = session, .capacity_bytes = FL_UNLIMITED};
    fl_status status = check_options(session, error);
    if (status == FL_OK)
        status = fl_setup_from_options(session, &conversion.setup, error);
    if (status != FL_OK)
        return status;
    fl_trace *trace = NULL;
    status = fl_session_read(session, &trace, error);
    if (status == FL_OK)
        status = convert_trace(&conversion, trace, error);
    fl_trace_free(trace);
    return status;
}

static const fl_option_group *const groups[] = {&fl_options_convert, &fl_options_input,
                                                &fl_options_common, NULL};

const fl_command fl_command_convert = {
    .name = "convert",
    .summary = "the same trace in another format",
    .synopsis = "convert [options] --to FORMAT FILE",
    .help = "Writes the trace in FILE as a script, as a .flt (fraglab's own binary form, which is\n"
            "usable as soon as it is mapped) or as JSON.  It replays as before; what the format\n"
            "cannot hold is told in warnings.  A script is run for JSON: it holds the history.",
    .groups = groups,
    .word = "FILE",
    .word_key = "file",
    .run = convert_run,
};
