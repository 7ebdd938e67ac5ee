#include "observer/watch.h"

#include "base/memory.h"

fl_status fl_watch_open(fl_watch *watch, const fl_observer_env *env, fl_error *error)
{
    *watch = (fl_watch){.host = env->host};
    for (size_t i = 0; fl_observer_at(i) != NULL && i < FL_OBSERVERS_MOST; i++) {
        const fl_observer_ops *ops = fl_observer_at(i);
        watch->states[i] = fl_new(env->host, ops->state_size, error);
        if (watch->states[i] == NULL)
            return FL_ERR_RESOURCE;
        watch->count = i + 1;
        fl_status status = ops->open(watch->states[i], env, error);
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}

void fl_watch_close(fl_watch *watch)
{
    for (size_t i = 0; i < watch->count; i++) {
        fl_observer_at(i)->close(watch->states[i]);
        fl_delete(watch->host, watch->states[i], fl_observer_at(i)->state_size);
    }
    watch->count = 0;
}

fl_status fl_watch_view(void *user, const fl_view *view, fl_error *error)
{
    const fl_watch *watch = user;
    for (size_t i = 0; i < watch->count; i++) {
        fl_status status = fl_observer_at(i)->view(watch->states[i], view, error);
        if (status != FL_OK)
            return status;
    }
    return FL_OK;
}

void fl_watch_emit(const fl_watch *watch, size_t index, fl_emit *emit)
{
    fl_observer_at(index)->emit(watch->states[index], emit);
}
