/* What a program asked for in a script is all there, so a part of it needs no more.  A history has
 * to be understood first: by which release, under which settings, on which card.  Evidence for that
 * may lie behind the range.  So a part suffices only where the file states all of it, and where
 * that explains what was kept to the last decision. */
#include "cli/part.h"

#include "cli/setup.h"

#include <fraglab/verify.h>

/* The release that wrote the file, if there is no doubt about it. */
static const fl_profile *stated_release(const fl_trace *trace)
{
    const fl_profile *profiles[2];
    size_t count;
    fl_setup_marked_releases(trace, profiles, 2, &count);
    bool is_told = fl_trace_releases(trace).known && fl_trace_release(trace) == NULL;
    return is_told && count == 1 ? profiles[0] : NULL;
}

/* Memory that went back behind the range may have gone because the card was full. */
static bool needs_no_card(const fl_session *session, const fl_trace *trace, size_t device)
{
    return session->options.gpu != NULL || !fl_trace_behind(trace, device).gives_back;
}

static fl_status device_suffices(const fl_session *session, fl_trace *trace, size_t device,
                                 bool *ret_suffices, fl_error *error)
{
    const fl_profile *release = stated_release(trace);
    bool is_explained = false;
    *ret_suffices = false;
    if (release == NULL || fl_trace_lacks_conf(trace) || session->options.fraction >= 0 ||
        !needs_no_card(session, trace, device))
        return FL_OK;
    fl_error why = {0};
    fl_status status = fl_rebuild_stated(trace, device, release, &is_explained, &why);
    if (status == FL_ERR_RESOURCE)
        return fl_fail(error, status, "%s", why.text);
    *ret_suffices = status == FL_OK && is_explained;
    return FL_OK;
}

fl_status fl_part_suffices(const fl_session *session, fl_trace *trace, bool *ret_suffices,
                           fl_error *error)
{
    *ret_suffices = true;
    fl_status status = FL_OK;
    bool is_history = fl_trace_format(trace) != FL_FORMAT_SCRIPT;
    for (size_t i = 0; i < fl_trace_device_count(trace) && status == FL_OK && *ret_suffices; i++)
        if (is_history && fl_trace_behind(trace, i).events > 0)
            status = device_suffices(session, trace, i, ret_suffices, error);
    return status;
}
