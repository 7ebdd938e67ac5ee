/* Under what a history is replayed over its own record. */
#include "rebuild/card.h"
#include "rebuild/rebuild.h"

/* The settings that a file tells are part of it: what a release refuses it cannot have run under.
 */
fl_status fl_record_conf(const fl_trace *trace, const fl_profile *profile,
                         fl_settings *ret_settings, fl_error *error)
{
    const char *conf = fl_trace_conf(trace);
    fl_settings_default(profile, ret_settings);
    if (conf == NULL)
        return FL_OK;
    fl_error refusal = {0};
    fl_status status = fl_settings_parse(profile, conf, ret_settings, &refusal);
    if (status == FL_OK)
        return FL_OK;
    if (status == FL_ERR_USAGE)
        status = FL_ERR_INPUT;
    fl_fail(error, status, "%s: PyTorch %s: %s", fl_trace_path(trace), fl_profile_release(profile),
            refusal.text);
    if (refusal.hint[0] != '\0')
        fl_hint(error, "%s", refusal.hint);
    return status;
}

const fl_profile *fl_record_profile(const fl_profile *profile)
{
    return profile != NULL ? profile : fl_profile_newest();
}

fl_status fl_record_options(const fl_trace *trace, size_t device, const fl_profile *profile,
                            const fl_host *host, fl_replay_options *ret_options, fl_error *error)
{
    const fl_device_ops *recorded = fl_device_find("recorded");
    if (recorded == NULL)
        return fl_fail(error, FL_ERR_UNAVAILABLE, "this build has no device 'recorded'");
    fl_settings settings;
    fl_status status = fl_record_conf(trace, fl_record_profile(profile), &settings, error);
    if (status != FL_OK)
        return status;
    uint64_t total;
    const fl_trace_device *of = &trace->devices.items[device];
    uint64_t stated = fl_trace_capacity(trace);
    status = fl_card_estimate(host, &of->columns, &of->start, &total, error);
    if (status != FL_OK)
        return status;
    if (stated != UINT64_MAX)
        total = stated;
    *ret_options = (fl_replay_options){
        .host = host,
        .profile = profile,
        .conf = fl_trace_conf(trace),
        .fraction = trace->fraction,
        .device = recorded,
        .capacity_bytes = FL_UNLIMITED,
        .total_bytes = trace->total_bytes != 0 ? trace->total_bytes : total,
        .trace_device = device,
        .on_oom = FL_ON_OOM_SKIP,
    };
    return FL_OK;
}
