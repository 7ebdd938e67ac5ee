/* Where a settings text comes from (18.1). */
#include "rules/keys.h"

typedef struct variable {
    const char *name;
    unsigned first; /* release that reads it, as FL_RELEASE */
} variable;

static const variable variables[] = {
    {"PYTORCH_CUDA_ALLOC_CONF", FL_RELEASE(2, 0)},
    {"PYTORCH_HIP_ALLOC_CONF", FL_RELEASE(2, 10)},
    {"PYTORCH_ALLOC_CONF", FL_RELEASE(2, 10)},
};

const char *fl_settings_variable(size_t index)
{
    return index < sizeof variables / sizeof *variables ? variables[index].name : NULL;
}

bool fl_settings_reads_variable(const fl_profile *profile, size_t index)
{
    return FL_RELEASE(profile->major, profile->minor) >= variables[index].first;
}
