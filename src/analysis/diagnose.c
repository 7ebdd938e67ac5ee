#include "analysis/diagnose_state.h"

#include "replay/replay.h"

/* ---- the first replay: where ----------------------------------------------------------------- */

struct watching {
    fl_points points;
    uint64_t outside_bytes;
};

static fl_status diagnose_watch(void *user, const fl_view *view, fl_error *error)
{
    (void)error;
    struct watching *watching = user;
    fl_points_view(&watching->points, view);
    if (view->op->kind == FL_OP_OUTSIDE)
        watching->outside_bytes = view->op->size;
    return FL_OK;
}

static fl_status diagnose_find_points(fl_diagnosing *d, fl_error *error)
{
    struct watching watching = {.outside_bytes = 0};
    fl_points_init(&watching.points);
    fl_replay_options options = d->options;
    options.is_lean = false;
    options.watch = diagnose_watch;
    options.user = &watching;
    fl_status status = fl_diagnose_run(d, &options, &d->result->summary, error);
    for (int kind = 0; kind < FL_POINT_COUNT; kind++)
        d->result->points[kind].event = watching.points.events[kind];
    d->result->outside_bytes = watching.outside_bytes;
    d->result->peak_event = d->result->summary.peak_allocated_event;
    d->result->peak = d->result->summary.peak;
    return status;
}

/* ---- the second: what stands in the way ------------------------------------------------------ */

static void diagnose_take_state(const fl_replay *replay, fl_point *point)
{
    fl_replay_summary summary;
    fl_replay_get_summary(replay, &summary);
    point->totals = summary.end;
    point->device_free_bytes = fl_device_free_bytes(replay->device);
}

/* Asks for the request of an event without making it. */
static fl_status diagnose_probe(const fl_replay *replay, uint64_t event, fl_probe *ret_probe,
                                bool *ret_has, fl_error *error)
{
    fl_op op;
    fl_columns_op(replay->columns, event, &op);
    *ret_has = replay->policy->probe != NULL;
    return *ret_has ? fl_replay_probe(replay, &op, ret_probe, error) : FL_OK;
}

static fl_status diagnose_look(fl_diagnosing *d, const fl_replay *replay, fl_point *point,
                               fl_error *error)
{
    fl_event event;
    fl_trace_event(d->trace, d->options.trace_device, point->event, &event);
    point->requested_bytes = event.size;
    point->stack = event.stack;
    point->phase = fl_owners_get(&d->result->owners, event.id).phase;
    diagnose_take_state(replay, point);
    return diagnose_probe(replay, point->event, &point->probe, &point->has_probe, error);
}

static fl_status diagnose_draw(const fl_replay *replay, fl_picture *picture, fl_error *error)
{
    if (replay->policy->walk == NULL)
        return FL_OK;
    fl_walk walk = fl_picture_walk(picture);
    fl_status status = fl_replay_walk(replay, &walk, error);
    if (status == FL_OK && picture->error.status != FL_OK)
        status = fl_fail(error, picture->error.status, "%s", picture->error.text);
    return status;
}

/* Before the request of a point. */
static fl_status diagnose_before(fl_diagnosing *d, fl_replay *replay, uint64_t event,
                                 fl_error *error)
{
    fl_point *points = d->result->points;
    fl_status status = FL_OK;
    for (int kind = 0; status == FL_OK && kind < FL_POINT_COUNT; kind++)
        if (points[kind].event == event)
            status = diagnose_look(d, replay, &points[kind], error);
    if (status != FL_OK || points[FL_POINT_OOM].event != event)
        return status;
    d->oom_probe = points[FL_POINT_OOM].probe;
    d->has_oom_probe = points[FL_POINT_OOM].has_probe;
    return diagnose_draw(replay, &d->at_oom, error);
}

/* Who is live after the event at which most was. */
static fl_status diagnose_group(fl_diagnosing *d, const fl_replay *replay, fl_error *error)
{
    fl_picture picture;
    fl_picture_init(&picture, d->host);
    fl_status status = diagnose_draw(replay, &picture, error);
    for (int by = 0; status == FL_OK && by < FL_GROUPING_COUNT; by++)
        status = fl_owners_group(&d->result->owners, &picture, (fl_grouping)by,
                                 &d->result->live[by], error);
    fl_picture_deinit(&picture);
    return status;
}

static fl_status diagnose_after(fl_diagnosing *d, const fl_replay *replay, uint64_t event,
                                fl_error *error)
{
    fl_point *oom = &d->result->points[FL_POINT_OOM];
    if (event == oom->event) {
        diagnose_take_state(replay, oom);
        oom->has_probe = d->result->summary.oom.has_probe;
        oom->probe = d->result->summary.oom.probe;
    }
    return event == d->result->peak_event ? diagnose_group(d, replay, error) : FL_OK;
}

static bool diagnose_is_point(const fl_diagnosis *result, uint64_t event)
{
    for (int kind = 0; kind < FL_POINT_COUNT; kind++)
        if (result->points[kind].event == event)
            return true;
    return false;
}

static uint64_t diagnose_last(const fl_diagnosis *result)
{
    uint64_t last = result->peak_event;
    for (int kind = 0; kind < FL_POINT_COUNT; kind++) {
        uint64_t event = result->points[kind].event;
        if (event != FL_NO_EVENT && event > last)
            last = event;
    }
    return last;
}

static fl_status diagnose_visit(fl_diagnosing *d, fl_replay *replay, fl_error *error)
{
    uint64_t last = diagnose_last(d->result);
    bool more = true;
    fl_status status = fl_replay_begin(replay, error);
    while (status == FL_OK && more && replay->event <= last) {
        uint64_t event = replay->event;
        bool is_point = diagnose_is_point(d->result, event);
        if (is_point)
            status = fl_replay_inferred(replay, error);
        if (status == FL_OK && is_point)
            status = diagnose_before(d, replay, event, error);
        if (status == FL_OK)
            status = fl_replay_step(replay, &more, error);
        if (status == FL_OK && replay->event > event)
            status = diagnose_after(d, replay, event, error);
    }
    return status;
}

static fl_status diagnose_look_again(fl_diagnosing *d, fl_error *error)
{
    fl_replay *replay = NULL;
    fl_replay_options options = d->options;
    options.is_lean = false;
    fl_status status = fl_replay_open(d->trace, &options, &replay, error);
    if (status == FL_OK)
        status = diagnose_visit(d, replay, error);
    fl_replay_close(replay);
    return status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

fl_status fl_diagnose_run(const fl_diagnosing *d, const fl_replay_options *options,
                          fl_replay_summary *ret_summary, fl_error *error)
{
    fl_replay *replay = NULL;
    fl_status status = fl_replay_open(d->trace, options, &replay, error);
    if (status == FL_OK)
        status = fl_replay_run(replay, error);
    if (status == FL_OK) {
        fl_replay_get_summary(replay, ret_summary);
        ret_summary->pools = NULL; /* the replay's */
        ret_summary->pool_count = 0;
    }
    fl_replay_close(replay);
    return status;
}

static fl_status diagnose_find_card(const fl_diagnosing *d, uint64_t *ret_bytes, fl_error *error)
{
    fl_capacity capacity;
    fl_capacity_options search = {
        .replay = d->options, .extent = FL_CAPACITY_SMALLEST, .jobs = d->jobs};
    fl_status status = fl_capacity_find(d->trace, &search, &capacity, error);
    if (status != FL_OK)
        return status;
    *ret_bytes = capacity.smallest_card_bytes;
    fl_capacity_deinit(&capacity);
    return FL_OK;
}

fl_replay_options fl_diagnose_anew(const fl_diagnosing *d)
{
    fl_replay_options options = d->options;
    options.start = FL_START_FRESH;
    return options;
}

static fl_status diagnose_events(fl_diagnosing *d, fl_error *error)
{
    d->result->has_events = true;
    fl_status status = diagnose_find_points(d, error);
    if (status == FL_OK)
        status = diagnose_look_again(d, error);
    if (status == FL_OK)
        status = fl_diagnose_classify(d, error);
    if (status == FL_OK)
        status = diagnose_find_card(d, &d->result->smallest_card_bytes, error);
    if (status == FL_OK && d->result->summary.has_oom)
        status = fl_diagnose_pins(d, error);
    if (status == FL_OK && d->result->summary.has_oom)
        status = fl_diagnose_remedies(d, error);
    return status;
}

/* A replay that nobody watches, and that stops where something is refused. */
static fl_replay_options diagnose_plain(const fl_replay_options *asked)
{
    fl_replay_options options = *asked;
    bool takes_release =
        options.policy == NULL || (options.policy->capabilities & FL_CAN_SETTINGS) != 0;
    if (options.host == NULL)
        options.host = fl_host_default();
    if (options.profile == NULL && takes_release)
        options.profile = fl_profile_newest();
    options.watch = NULL;
    options.progress = NULL;
    options.on_oom = FL_ON_OOM_STOP;
    options.is_lean = true;
    return options;
}

fl_status fl_diagnose(const fl_trace *trace, const fl_diagnose_options *options,
                      fl_diagnosis *ret_diagnosis, fl_error *error)
{
    fl_diagnosis result = {.capacity_bytes = options->replay.capacity_bytes,
                           .smallest_card_bytes = FL_UNLIMITED};
    fl_diagnosing d = {.trace = trace,
                       .options = diagnose_plain(&options->replay),
                       .jobs = options->jobs,
                       .result = &result};
    d.host = d.options.host;
    for (int kind = 0; kind < FL_POINT_COUNT; kind++)
        result.points[kind].event = FL_NO_EVENT;
    fl_picture_init(&d.at_oom, d.host);
    size_t device = d.options.trace_device;
    fl_status status = fl_owners_init(&result.owners, d.host, trace, device, error);
    if (status == FL_OK)
        status = fl_trace_event_count(trace, device) > 0 ? diagnose_events(&d, error)
                                                         : fl_diagnose_final(&d, error);
    fl_picture_deinit(&d.at_oom);
    if (status == FL_OK)
        *ret_diagnosis = result;
    else
        fl_diagnosis_deinit(&result);
    return status;
}

void fl_diagnosis_deinit(fl_diagnosis *diagnosis)
{
    const fl_host *host = diagnosis->owners.host;
    if (host == NULL)
        return;
    fl_vector_deinit(host, &diagnosis->pins);
    fl_vector_deinit(host, &diagnosis->segments);
    fl_vector_deinit(host, &diagnosis->remedies);
    for (int by = 0; by < FL_GROUPING_COUNT; by++)
        fl_vector_deinit(host, &diagnosis->live[by]);
    fl_owners_deinit(&diagnosis->owners);
}
