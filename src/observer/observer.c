/* Observers by name. */
#include "observer/observer.h"

#include "registry.h"

#include <string.h>

#define FL_PLUGIN(name) extern const fl_observer_ops fl_observer_##name;
FL_OBSERVER_ROWS
#undef FL_PLUGIN

static const fl_observer_ops *const observer_rows[] = {
#define FL_PLUGIN(name) &fl_observer_##name,
    FL_OBSERVER_ROWS
#undef FL_PLUGIN
};

const fl_observer_ops *fl_observer_at(size_t index)
{
    return index < sizeof observer_rows / sizeof *observer_rows ? observer_rows[index] : NULL;
}

const fl_observer_ops *fl_observer_find(const char *name)
{
    for (size_t i = 0; fl_observer_at(i) != NULL; i++)
        if (strcmp(fl_observer_at(i)->name, name) == 0)
            return fl_observer_at(i);
    return NULL;
}
