#include "cli/setup.h"

#include <fraglab/suggest.h>
#include <fraglab/units.h>

#include <string.h>

#define NAME_SIZE   64
#define NAMES_MOST  32
#define PARAMS_MOST 32

static fl_status fail_unknown_policy(const char *name, fl_error *error)
{
    const char *names[NAMES_MOST + 1] = {NULL};
    for (size_t i = 0; i < NAMES_MOST && fl_policy_at(i) != NULL; i++)
        names[i] = fl_policy_at(i)->name;
    fl_fail(error, FL_ERR_USAGE, "unknown policy '%s'", name);
    fl_suggest(names, name, "", error);
    return fl_hint(error, "policies stand in `fraglab list policies`");
}

static fl_status check_params(const fl_policy_ops *policy, const char *params, fl_error *error)
{
    fl_param_value values[PARAMS_MOST];
    if (fl_param_count(policy->params) > PARAMS_MOST)
        return FL_OK; /* the replay looks at them again */
    fl_status status = fl_param_parse(policy->params, params, values, error);
    if (status != FL_OK)
        fl_prefix(error, "policy '%s'", policy->name);
    return status;
}

/* A release, settings and a fraction mean nothing to an allocator that is not PyTorch's. */
static fl_status check_policy_alone(const fl_options *options, const fl_policy_ops *policy,
                                    fl_error *error)
{
    const char *extra = options->torch != NULL   ? "--torch"
                        : options->conf != NULL  ? "--conf"
                        : options->fraction >= 0 ? "--fraction"
                                                 : NULL;
    if (extra == NULL || (policy->capabilities & FL_CAN_SETTINGS))
        return FL_OK;
    return fl_fail(error, FL_ERR_USAGE,
                   "policy '%s' knows no PyTorch release, so '%s' means nothing", policy->name,
                   extra);
}

static fl_status take_policy(const fl_options *options, fl_setup *setup, fl_error *error)
{
    const char *text = options->policy != NULL ? options->policy : "torch";
    size_t length = strcspn(text, ":");
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    setup->policy_params = text[length] == ':' ? text + length + 1 : NULL;
    setup->policy = fl_policy_find(name);
    if (setup->policy == NULL)
        return fail_unknown_policy(name, error);
    fl_status status = check_params(setup->policy, setup->policy_params, error);
    return status == FL_OK ? check_policy_alone(options, setup->policy, error) : status;
}

static fl_status take_backing(const fl_options *options, fl_setup *setup, fl_error *error)
{
    char name[NAME_SIZE];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(options->backing, ":"), options->backing);
    setup->backing = fl_device_find(name);
    if (setup->backing != NULL && !setup->backing->needs_record &&
        strchr(options->backing, ':') == NULL)
        return FL_OK;
    if (setup->backing == NULL && strcmp(name, "cuda") == 0)
        return fl_fail(error, FL_ERR_UNAVAILABLE, "this build has no backing 'cuda'");
    fl_fail(error, FL_ERR_USAGE, "option '--backing' expects sim or cuda[:N], got '%s'",
            options->backing);
    return error != NULL ? error->status : FL_ERR_USAGE;
}

/* --torch, judged before anything is read. */
static fl_status check_torch(const fl_options *options, fl_error *error)
{
    const fl_profile *profile;
    bool is_exact;
    return options->torch != NULL ? fl_profile_find(options->torch, &profile, &is_exact, error)
                                  : FL_OK;
}

fl_status fl_setup_from_options(fl_session *session, fl_setup *ret_setup, fl_error *error)
{
    const fl_options *options = &session->options;
    fl_setup setup = {0};
    if (options->on_oom != NULL && strcmp(options->on_oom, "skip") == 0)
        setup.on_oom = FL_ON_OOM_SKIP;
    fl_status status = take_policy(options, &setup, error);
    if (status == FL_OK)
        status = take_backing(options, &setup, error);
    if (status == FL_OK)
        status = check_torch(options, error);
    if (status == FL_OK)
        status = fl_setup_gpu_from_options(session, &setup, error);
    if (status == FL_OK)
        status = fl_setup_range_from_options(session, &setup, error);
    if (status == FL_OK)
        *ret_setup = setup;
    return status;
}

/* The file's own settings are input, not usage: refused ones are the file's mistake. */
static fl_status check_conf(const fl_trace *trace, const fl_setup *setup, fl_error *error)
{
    fl_settings settings;
    fl_error refusal = {0};
    fl_settings_default(setup->profile, &settings);
    if (setup->conf == NULL || *setup->conf == '\0')
        return FL_OK;
    fl_status status = fl_settings_parse(setup->profile, setup->conf, &settings, &refusal);
    if (status == FL_OK)
        return FL_OK;
    bool is_option = setup->conf_from == FL_FROM_OPTION;
    if (status == FL_ERR_USAGE && !is_option)
        status = FL_ERR_INPUT;
    fl_fail(error, status, "%s: PyTorch %s: %s", is_option ? "--conf" : fl_trace_path(trace),
            fl_profile_release(setup->profile), refusal.text);
    if (refusal.hint[0] != '\0')
        fl_hint(error, "%s", refusal.hint);
    return status;
}

static fl_status take_conf(const fl_session *session, const fl_trace *trace, fl_setup *setup,
                           fl_error *error)
{
    const char *typed = session->options.conf;
    bool is_missing = fl_trace_lacks_conf(trace);
    setup->conf = typed != NULL ? typed : fl_trace_conf(trace);
    if (setup->conf != NULL)
        setup->conf_from = typed != NULL ? FL_FROM_OPTION
                           : is_missing  ? FL_FROM_EVENTS
                                         : FL_FROM_FILE;
    if (is_missing && typed == NULL)
        fl_session_hint(session, "taking %s; --conf TEXT sets others",
                        setup->conf != NULL ? setup->conf : "the default settings");
    return check_conf(trace, setup, error);
}

bool fl_setup_keeps_conf(const fl_setup *setup, const fl_trace *trace)
{
    const char *conf = setup->conf, *stated = fl_trace_conf(trace);
    return strcmp(conf != NULL ? conf : "", stated != NULL ? stated : "") == 0;
}

/* Blocks keep their places where nothing has changed, and the policy can take them over. */
static void take_start(const fl_options *options, const fl_trace *trace, fl_setup *setup)
{
    bool is_same = setup->policy->adopt != NULL && setup->profile == setup->recorded &&
                   fl_setup_keeps_conf(setup, trace);
    setup->start = is_same ? FL_START_RECORDED : FL_START_FRESH;
    if (options->start != NULL)
        setup->start = strcmp(options->start, "fresh") == 0 ? FL_START_FRESH : FL_START_RECORDED;
    setup->start_word = options->start;
    if (options->start == NULL && !fl_trace_is_complete(trace, setup->trace_device))
        setup->start_word = setup->start == FL_START_FRESH ? "fresh" : "recorded";
}

fl_status fl_setup_from_trace(fl_session *session, fl_trace *trace, fl_setup *setup,
                              fl_error *error)
{
    fl_status status = fl_setup_trace_device(session, trace, &setup->trace_device, error);
    if (status != FL_OK)
        return status;
    fl_setup_gpu_from_trace(session, trace, setup);
    if (setup->policy->capabilities & FL_CAN_SETTINGS) {
        if ((status = fl_setup_take_releases(session, trace, setup, error)) == FL_OK)
            status = take_conf(session, trace, setup, error);
    } else {
        status = fl_setup_take_recorded(session, trace, setup, error);
    }
    if (status != FL_OK)
        return status;
    take_start(&session->options, trace, setup);
    return fl_setup_range_from_trace(trace, setup, error);
}

uint64_t fl_setup_total(const fl_setup *setup)
{
    if (setup->total_bytes != 0)
        return setup->total_bytes;
    return setup->capacity_bytes != FL_UNLIMITED ? setup->capacity_bytes : 0;
}

fl_replay_options fl_setup_replay_options(const fl_session *session, const fl_setup *setup)
{
    return (fl_replay_options){
        .host = &session->host,
        .policy = setup->policy,
        .policy_params = setup->policy_params,
        .profile = setup->profile,
        .conf = setup->conf != NULL && *setup->conf != '\0' ? setup->conf : NULL,
        .fraction = session->options.fraction,
        .device = setup->backing,
        .capacity_bytes = setup->capacity_bytes,
        .total_bytes = setup->total_bytes,
        .trace_device = setup->trace_device,
        .first_event = setup->first_event,
        .end_event = setup->end_event,
        .on_oom = setup->on_oom,
        .start = setup->start,
    };
}

fl_status fl_setup_run_file(fl_session *session,
                            fl_status (*run)(fl_session *session, fl_setup *setup, fl_trace *trace,
                                             fl_error *error),
                            fl_error *error)
{
    fl_setup setup;
    fl_status status = fl_setup_from_options(session, &setup, error);
    if (status != FL_OK)
        return status;
    fl_trace *trace = NULL;
    status = fl_session_read(session, &trace, error);
    if (status == FL_OK)
        status = run(session, &setup, trace, error);
    fl_trace_free(trace);
    return status;
}
