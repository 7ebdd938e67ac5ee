/* Which release wrote a history, where the marks in the file leave several. */
#include "rebuild/rebuild.h"

#include <fraglab/verify.h>

static bool is_explained(const fl_verdict *verdict)
{
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        if (verdict->decisions[i].different > 0)
            return false;
    return true;
}

/* A release that refuses the recorded settings did not write the file. */
static fl_status explains(fl_trace *trace, size_t device, const fl_profile *profile,
                          const fl_host *host, fl_verdict *ret_verdict, bool *ret_explains,
                          fl_error *error)
{
    fl_error why = {0};
    fl_status status = fl_verify(trace, device, profile, host, ret_verdict, &why);
    if (status == FL_ERR_RESOURCE)
        return fl_fail(error, status, "%s", why.text);
    *ret_explains = status == FL_OK && is_explained(ret_verdict);
    return FL_OK;
}

fl_status fl_verify_choose(fl_trace *trace, size_t device, const fl_profile *const *profiles,
                           size_t count, const fl_host *host, const fl_profile **ret_profile,
                           fl_verdict *ret_verdict, fl_error *error)
{
    fl_verdict verdict;
    for (size_t i = count; i-- > 0;) {
        bool is_it = false;
        fl_status status = explains(trace, device, profiles[i], host, &verdict, &is_it, error);
        if (status != FL_OK)
            return status;
        if (is_it) {
            *ret_profile = profiles[i];
            *ret_verdict = verdict;
            return FL_OK;
        }
    }
    *ret_profile = NULL;
    return FL_OK;
}
