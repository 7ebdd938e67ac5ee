/* Which events of which device. */
#include "cli/memory.h"
#include "cli/setup.h"

#include <fraglab/units.h>
#include <fraglab/verify.h>

#include <inttypes.h>
#include <string.h>

/* `12`, `12.5s`, or nothing. */
static bool read_end(const char *text, size_t length, fl_range_end *ret_end)
{
    *ret_end = (fl_range_end){.is_given = length > 0};
    if (length == 0)
        return true;
    ret_end->is_time = text[length - 1] == 's';
    if (ret_end->is_time)
        return fl_parse_real(text, length - 1, &ret_end->seconds);
    bool has_digits_only = strspn(text, "0123456789") >= length;
    return has_digits_only && fl_parse_size(text, length, &ret_end->event);
}

fl_status fl_setup_range_from_options(fl_session *session, fl_setup *setup, fl_error *error)
{
    const char *text = session->options.range;
    if (text == NULL)
        return FL_OK;
    const char *colon = strchr(text, ':');
    if (colon == NULL || !read_end(text, (size_t)(colon - text), &setup->range[0]) ||
        !read_end(colon + 1, strlen(colon + 1), &setup->range[1])) {
        fl_fail(error, FL_ERR_USAGE, "option '--range' expects A:B, got '%s'", text);
        return fl_hint(error, "events are counted from 0: 1000:2000; or seconds: 12.5s:14s");
    }
    session->read_end = setup->range[1];
    return FL_OK;
}

/* The first event that is not before a time; events without one count as the last that has. */
static fl_status find_time(const fl_trace *trace, size_t device, double seconds,
                           uint64_t *ret_event, fl_error *error)
{
    uint64_t count = fl_trace_event_count(trace, device);
    int64_t begin = FL_TIME_UNKNOWN;
    for (uint64_t i = 0; i < count; i++) {
        fl_event event;
        fl_trace_event(trace, device, i, &event);
        if (event.time_us == FL_TIME_UNKNOWN)
            continue;
        if (begin == FL_TIME_UNKNOWN)
            begin = event.time_us;
        if (((double)event.time_us - (double)begin) / 1e6 >= seconds) {
            *ret_event = i;
            return FL_OK;
        }
    }
    if (begin == FL_TIME_UNKNOWN)
        return fl_fail(error, FL_ERR_USAGE, "%s: --range in seconds, but no event has a time",
                       fl_trace_path(trace));
    *ret_event = count;
    return FL_OK;
}

static fl_status resolve_end(const fl_trace *trace, size_t device, const fl_range_end *end,
                             uint64_t fallback, uint64_t *ret_event, fl_error *error)
{
    if (end->is_given && end->is_time)
        return find_time(trace, device, end->seconds, ret_event, error);
    *ret_event = end->is_given ? end->event : fallback;
    return FL_OK;
}

/* How many allocations live at the beginning of the range; they would be its start state. */
static fl_status count_live(const fl_host *host, const fl_trace *trace, const fl_setup *setup,
                            uint64_t *ret_count, fl_error *error)
{
    uint32_t ids = fl_trace_alloc_count(trace, setup->trace_device);
    bool *is_live = fl_cli_new(host, ids, sizeof *is_live, error);
    if (is_live == NULL)
        return FL_ERR_RESOURCE;
    for (uint64_t i = 0; i < setup->first_event; i++) {
        fl_event event;
        fl_trace_event(trace, setup->trace_device, i, &event);
        if (event.id < ids && event.kind == FL_OP_ALLOC)
            is_live[event.id] = (event.flags & FL_EVENT_OOM) == 0;
        else if (event.id < ids && event.kind == FL_OP_FREE)
            is_live[event.id] = false;
    }
    *ret_count = 0;
    for (uint32_t id = 0; id < ids; id++)
        *ret_count += is_live[id];
    fl_cli_delete(host, is_live, ids, sizeof *is_live);
    return FL_OK;
}

fl_status fl_setup_check_range(const fl_session *session, const fl_trace *trace,
                               const fl_setup *setup, fl_error *error)
{
    uint64_t live = 0;
    fl_status status = count_live(&session->host, trace, setup, &live, error);
    if (status != FL_OK || live == 0)
        return status;
    fl_fail(error, FL_ERR_UNAVAILABLE,
            "%s: %" PRIu64 " allocations are live before event %" PRIu64
            ", and a part without them would not be refused in the same way",
            fl_trace_path(trace), live, setup->first_event);
    return fl_hint(error, "--range 0:%" PRIu64 " starts with none", setup->end_event);
}

/* A script is run up to the range as it will be run in it; for an allocator that takes nothing over
 * only what is live there counts. */
static fl_replay_options options_before(const fl_session *session, const fl_setup *setup)
{
    fl_replay_options options = fl_setup_replay_options(session, setup);
    if (setup->policy->adopt == NULL) {
        options.policy = NULL;
        options.policy_params = NULL;
        options.profile = setup->recorded;
    }
    return options;
}

fl_status fl_setup_rebuild(const fl_session *session, fl_trace *trace, const fl_setup *setup,
                           fl_error *error)
{
    fl_status status = FL_OK;
    if (fl_trace_format(trace) != FL_FORMAT_SCRIPT)
        status = fl_rebuild(trace, setup->trace_device, setup->recorded, error);
    if (status != FL_OK || setup->first_event == 0)
        return status;
    fl_replay_options options = options_before(session, setup);
    return fl_start_at(trace, setup->trace_device, setup->recorded, setup->first_event, &options,
                       error);
}

uint64_t fl_setup_event_total(const fl_trace *trace, size_t device)
{
    return fl_trace_event_count(trace, device) + fl_trace_behind(trace, device).events;
}

static fl_status check_ends(const fl_trace *trace, size_t device, uint64_t first, uint64_t end,
                            fl_error *error)
{
    uint64_t count = fl_setup_event_total(trace, device);
    if (first < end && end <= count)
        return FL_OK;
    if (first < count && first >= end)
        return fl_fail(error, FL_ERR_USAGE, "%s: range %" PRIu64 ":%" PRIu64 " %s",
                       fl_trace_path(trace), first, end,
                       first == end ? "holds no event" : "ends before it begins");
    fl_fail(error, FL_ERR_USAGE,
            "%s: range %" PRIu64 ":%" PRIu64 " does not lie within the %" PRIu64
            " events of device %zu",
            fl_trace_path(trace), first, end, count, device);
    return fl_hint(error, "--range %" PRIu64 ": goes to the end", first < count ? first : 0);
}

fl_status fl_setup_range_from_trace(const fl_trace *trace, fl_setup *setup, fl_error *error)
{
    size_t device = setup->trace_device;
    uint64_t count = fl_trace_event_count(trace, device), first = 0, end = count;
    if (!setup->range[0].is_given && !setup->range[1].is_given)
        return FL_OK;
    fl_status status = resolve_end(trace, device, &setup->range[0], 0, &first, error);
    if (status == FL_OK)
        status = resolve_end(trace, device, &setup->range[1], count, &end, error);
    if (status != FL_OK)
        return status;
    status = check_ends(trace, device, first, end, error);
    if (status != FL_OK)
        return status;
    setup->first_event = first;
    setup->end_event = end;
    if (first > 0 && setup->start_word == NULL)
        setup->start_word = setup->start == FL_START_FRESH ? "fresh" : "recorded";
    return FL_OK;
}

/* "0, 2": devices that have events. */
static void list_devices(const fl_trace *trace, char *buffer, size_t size)
{
    size_t used = 0;
    *buffer = '\0';
    for (size_t i = 0; i < fl_trace_device_count(trace) && used + 8 < size; i++) {
        if (fl_trace_event_count(trace, i) > 0)
            used += (size_t)snprintf(buffer + used, size - used, "%s%zu", used > 0 ? ", " : "", i);
    }
}

static fl_status take_device(const fl_trace *trace, uint64_t wanted, size_t *ret_device,
                             fl_error *error)
{
    if (wanted < fl_trace_device_count(trace) && fl_trace_event_count(trace, (size_t)wanted) > 0) {
        *ret_device = (size_t)wanted;
        return FL_OK;
    }
    char devices[200];
    list_devices(trace, devices, sizeof devices);
    fl_fail(error, FL_ERR_USAGE, "%s: device %" PRIu64 " has no events", fl_trace_path(trace),
            wanted);
    return fl_hint(error, "with events: %s", *devices != '\0' ? devices : "none");
}

fl_status fl_setup_trace_device(fl_session *session, const fl_trace *trace, size_t *ret_device,
                                fl_error *error)
{
    if (session->options.trace_device != FL_NOT_GIVEN)
        return take_device(trace, session->options.trace_device, ret_device, error);
    size_t most = 0, count = fl_trace_device_count(trace), with_events = 0;
    if (count == 0)
        return fl_fail(error, FL_ERR_INPUT, "%s: no device has anything in it",
                       fl_trace_path(trace));
    for (size_t i = 0; i < count; i++) {
        with_events += fl_trace_event_count(trace, i) > 0;
        if (fl_setup_event_total(trace, i) > fl_setup_event_total(trace, most))
            most = i;
    }
    if (with_events > 1)
        fl_session_warn(session,
                        "%zu devices have events; taking device %zu, which has most; "
                        "--trace-device N takes another",
                        with_events, most);
    *ret_device = most;
    return FL_OK;
}
