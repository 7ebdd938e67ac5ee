#include "analysis/observed.h"

static fl_status observed_run(const fl_trace *trace, const fl_replay_options *options,
                              fl_replay_summary *ret_summary, fl_error *error)
{
    fl_replay *replay = NULL;
    fl_status status = fl_replay_open(trace, options, &replay, error);
    if (status == FL_OK)
        status = fl_replay_run(replay, error);
    if (status == FL_OK) {
        fl_replay_get_summary(replay, ret_summary);
        ret_summary->pools = NULL;
        ret_summary->pool_count = 0;
    }
    fl_replay_close(replay);
    return status;
}

fl_status fl_observe(const fl_trace *trace, const fl_replay_options *options, size_t rows,
                     fl_observed *ret_observed, fl_error *error)
{
    uint64_t count = fl_trace_event_count(trace, options->trace_device);
    fl_observed observed = {.end_event = options->end_event > 0 ? options->end_event : count};
    fl_observer_env env = {
        .host = options->host != NULL ? options->host : fl_host_default(),
        .names = fl_trace_names(trace),
        .first_event = options->first_event,
        .end_event = observed.end_event,
        .rows = rows,
    };
    fl_replay_options watched = *options;
    watched.watch = fl_watch_view;
    watched.progress = NULL;
    watched.user = &observed.watch;
    fl_status status = fl_watch_open(&observed.watch, &env, error);
    if (status == FL_OK)
        status = observed_run(trace, &watched, &observed.summary, error);
    if (status == FL_OK)
        *ret_observed = observed;
    else
        fl_watch_close(&observed.watch);
    return status;
}

void fl_observed_deinit(fl_observed *observed)
{
    fl_watch_close(&observed->watch);
}

const char *fl_observed_name(size_t index)
{
    const fl_observer_ops *ops = fl_observer_at(index);
    return ops != NULL ? ops->name : NULL;
}

const char *fl_observed_summary(size_t index)
{
    const fl_observer_ops *ops = fl_observer_at(index);
    return ops != NULL ? ops->summary : NULL;
}

void fl_observed_emit(const fl_observed *observed, size_t index, fl_emit *emit)
{
    fl_watch_emit(&observed->watch, index, emit);
}
