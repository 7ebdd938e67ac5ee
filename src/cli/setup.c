#include "cli/setup.h"

#include "cli/suggest.h"

#include <fraglab/units.h>
#include <fraglab/verify.h>

#include <stdlib.h>
#include <string.h>

#define NAME_SIZE     64
#define NAMES_MOST    32
#define PARAMS_MOST   32
#define RELEASES_MOST 64

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

/* Is a release's `MAJOR.MINOR` within what the marks allow? */
static bool release_is_marked(const char *release, const fl_release_range *marks)
{
    char *rest;
    unsigned long major = strtoul(release, &rest, 10);
    unsigned long minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
    bool is_early =
        major < marks->first_major || (major == marks->first_major && minor < marks->first_minor);
    bool is_late =
        major > marks->last_major || (major == marks->last_major && minor > marks->last_minor);
    return !is_early && !is_late;
}

void fl_setup_marked_releases(const fl_trace *trace, const fl_profile **ret_profiles, size_t most,
                              size_t *ret_count)
{
    fl_release_range marks = fl_trace_releases(trace);
    const fl_profile *profile;
    *ret_count = 0;
    for (size_t i = 0; (profile = fl_profile_at(i)) != NULL && *ret_count < most; i++) {
        if (release_is_marked(fl_profile_release(profile), &marks))
            ret_profiles[(*ret_count)++] = profile;
    }
}

static fl_status fail_unknown_marks(const fl_trace *trace, fl_error *error)
{
    fl_release_range marks = fl_trace_releases(trace);
    return fl_fail(error, FL_ERR_UNAVAILABLE, "%s: written by PyTorch %u.%u, which is not known",
                   fl_trace_path(trace), marks.last_major, marks.last_minor);
}

/* What the card is said to have; 0: nothing is said. */
static uint64_t setup_total(const fl_setup *setup)
{
    if (setup->total_bytes != 0)
        return setup->total_bytes;
    return setup->capacity_bytes != FL_UNLIMITED ? setup->capacity_bytes : 0;
}

struct marked {
    const fl_profile *items[RELEASES_MOST];
    size_t count;
};

static fl_status choose_explaining(fl_session *session, fl_trace *trace, size_t device,
                                   const struct marked *marked, const fl_profile **ret_profile,
                                   fl_error *error)
{
    return fl_verify_choose(trace, device, marked->items, marked->count, &session->host,
                            ret_profile, error);
}

/* The newest release that the marks allow and that explains the history; where --fraction is given,
 * without or else with that limit.  The newest of all where none does, or where there is nothing to
 * explain. */
static fl_status choose_marked(fl_session *session, fl_trace *trace, const fl_setup *setup,
                               const fl_profile **ret_profile, fl_error *error)
{
    size_t device = setup->trace_device;
    double fraction = session->options.fraction;
    struct marked marked;
    const fl_profile *chosen = NULL;
    fl_setup_marked_releases(trace, marked.items, RELEASES_MOST, &marked.count);
    if (marked.count == 0)
        return fail_unknown_marks(trace, error);
    *ret_profile = marked.items[marked.count - 1];
    if ((marked.count == 1 && fraction < 0) || !fl_trace_is_complete(trace, device) ||
        fl_trace_event_count(trace, device) == 0)
        return FL_OK;
    fl_status status = choose_explaining(session, trace, device, &marked, &chosen, error);
    if (status == FL_OK && chosen == NULL && fraction >= 0) {
        fl_trace_set_limit(trace, fraction, setup_total(setup));
        status = choose_explaining(session, trace, device, &marked, &chosen, error);
        if (chosen == NULL)
            fl_trace_set_limit(trace, -1, 0);
    }
    if (status != FL_OK)
        return status;
    if (chosen != NULL)
        *ret_profile = chosen;
    else
        fl_session_warn(session, "%s: no release from %s to %s explains it, taking the newest",
                        fl_trace_path(trace), fl_profile_release(marked.items[0]),
                        fl_profile_release(*ret_profile));
    return FL_OK;
}

fl_status fl_setup_torch(fl_session *session, const fl_profile **ret_profile, fl_error *error)
{
    const char *torch = session->options.torch;
    bool is_exact;
    fl_status status = fl_profile_find(torch, ret_profile, &is_exact, error);
    if (status == FL_OK && !is_exact)
        fl_session_warn(session, "PyTorch %s is not known, taking the nearest, %s", torch,
                        fl_profile_release(*ret_profile));
    return status;
}

/* What is replayed, and by what release a history is understood. */
static fl_status take_releases(fl_session *session, fl_trace *trace, fl_setup *setup,
                               fl_error *error)
{
    bool has_torch = session->options.torch != NULL, has_marks = fl_trace_releases(trace).known;
    fl_status status = FL_OK;
    if (has_torch)
        status = fl_setup_torch(session, &setup->profile, error);
    setup->recorded = setup->profile;
    if (status == FL_OK && has_marks) {
        fl_error why = {0};
        status = choose_marked(session, trace, setup, &setup->recorded, &why);
        if (status == FL_ERR_UNAVAILABLE && has_torch)
            status = FL_OK; /* understood by the release asked for */
        else if (status != FL_OK)
            fl_fail(error, status, "%s", why.text);
    }
    if (status != FL_OK)
        return status;
    if (!has_torch && !has_marks) {
        setup->recorded = fl_profile_newest();
        fl_session_warn(session, "%s does not tell its PyTorch release, taking %s",
                        fl_trace_path(trace), fl_profile_release(setup->recorded));
    }
    if (!has_torch)
        setup->profile = setup->recorded;
    setup->profile_from = has_torch ? FL_FROM_OPTION : has_marks ? FL_FROM_FILE : FL_FROM_NOWHERE;
    return FL_OK;
}

/* For a policy that knows no releases: a history is still understood by the one that wrote it. */
static fl_status take_recorded_release(fl_session *session, fl_trace *trace, fl_setup *setup,
                                       fl_error *error)
{
    setup->recorded = fl_profile_newest();
    if (!fl_trace_releases(trace).known)
        return FL_OK;
    return choose_marked(session, trace, setup, &setup->recorded, error);
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

static fl_status take_conf(const fl_options *options, const fl_trace *trace, fl_setup *setup,
                           fl_error *error)
{
    setup->conf = options->conf != NULL ? options->conf : fl_trace_conf(trace);
    if (setup->conf != NULL)
        setup->conf_from = options->conf != NULL ? FL_FROM_OPTION : FL_FROM_FILE;
    return check_conf(trace, setup, error);
}

fl_status fl_setup_from_trace(fl_session *session, fl_trace *trace, fl_setup *setup,
                              fl_error *error)
{
    fl_status status = fl_setup_trace_device(session, trace, &setup->trace_device, error);
    if (status != FL_OK)
        return status;
    fl_setup_gpu_from_trace(session, trace, setup);
    if (setup->policy->capabilities & FL_CAN_SETTINGS) {
        if ((status = take_releases(session, trace, setup, error)) == FL_OK)
            status = take_conf(&session->options, trace, setup, error);
    } else {
        status = take_recorded_release(session, trace, setup, error);
    }
    if (status != FL_OK)
        return status;
    return fl_setup_range_from_trace(session, trace, setup, error);
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
    };
}
