/* Policies by name. */
#include <fraglab/policy.h>

#include "registry.h"

#include <string.h>

#define FL_PLUGIN(name) extern const fl_policy_ops fl_policy_##name;
FL_POLICY_ROWS
#undef FL_PLUGIN

static const fl_policy_ops *const policy_rows[] = {
#define FL_PLUGIN(name) &fl_policy_##name,
    FL_POLICY_ROWS
#undef FL_PLUGIN
};

const fl_policy_ops *fl_policy_at(size_t index)
{
    return index < sizeof policy_rows / sizeof *policy_rows ? policy_rows[index] : NULL;
}

const fl_policy_ops *fl_policy_find(const char *name)
{
    for (size_t i = 0; fl_policy_at(i) != NULL; i++)
        if (strcmp(fl_policy_at(i)->name, name) == 0)
            return fl_policy_at(i);
    return NULL;
}
