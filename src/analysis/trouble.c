#include <fraglab/trouble.h>

#include <string.h>

static const char *const names[FL_TROUBLE_COUNT] = {
    [FL_TROUBLE_FITS] = "fits",
    [FL_TROUBLE_FULL] = "full",
    [FL_TROUBLE_OUTSIDE] = "outside",
    [FL_TROUBLE_LIMIT] = "limit",
    [FL_TROUBLE_FRAGMENTATION] = "fragmentation",
    [FL_TROUBLE_STREAMS] = "streams",
    [FL_TROUBLE_PRIVATE_POOLS] = "private-pools",
    [FL_TROUBLE_PENDING_FREES] = "pending-frees",
    [FL_TROUBLE_LEAK] = "leak",
    [FL_TROUBLE_INCONSISTENT] = "inconsistent",
    [FL_TROUBLE_UNKNOWN] = "unknown",
};

const char *fl_trouble_name(fl_trouble trouble)
{
    return names[trouble];
}

bool fl_trouble_find(const char *name, fl_trouble *ret_trouble)
{
    for (size_t i = 0; i < FL_TROUBLE_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            *ret_trouble = (fl_trouble)i;
            return true;
        }
    }
    return false;
}
