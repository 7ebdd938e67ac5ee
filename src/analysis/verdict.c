#include <fraglab/verdict.h>

#include <string.h>

static const char *const names[FL_VERDICT_COUNT] = {
    [FL_VERDICT_FITS] = "fits",
    [FL_VERDICT_FULL] = "full",
    [FL_VERDICT_OUTSIDE] = "outside",
    [FL_VERDICT_LIMIT] = "limit",
    [FL_VERDICT_FRAGMENTATION] = "fragmentation",
    [FL_VERDICT_STREAMS] = "streams",
    [FL_VERDICT_PRIVATE_POOLS] = "private-pools",
    [FL_VERDICT_PENDING_FREES] = "pending-frees",
    [FL_VERDICT_LEAK] = "leak",
    [FL_VERDICT_INCONSISTENT] = "inconsistent",
    [FL_VERDICT_UNKNOWN] = "unknown",
};

const char *fl_verdict_name(fl_verdict verdict)
{
    return names[verdict];
}

bool fl_verdict_find(const char *name, fl_verdict *ret_verdict)
{
    for (size_t i = 0; i < FL_VERDICT_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret_verdict = (fl_verdict)i;
            return true;
        }
    }
    return false;
}
