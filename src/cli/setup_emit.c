/* The setup as it is shown: in `config` for programs, in four lines for people. */
#include "cli/setup.h"

#include <fraglab/units.h>

#include <inttypes.h>

const char *fl_conf_words(const char *conf)
{
    if (conf == NULL)
        return "not recorded";
    return *conf != '\0' ? conf : "default";
}

static const char *origin_word(fl_origin origin)
{
    static const char *const words[FL_ORIGIN_COUNT] = {
        [FL_FROM_NOWHERE] = "default",
        [FL_FROM_OPTION] = "option",
        [FL_FROM_FILE] = "file",
        [FL_FROM_EVENTS] = "recorded_events",
        [FL_FROM_CARD] = "card",
        [FL_FROM_OOM] = "recorded_oom",
        [FL_FROM_REFUSAL] = "recorded_refusal",
        [FL_FROM_LIMIT] = "recorded_limit",
    };
    return words[origin];
}

void fl_setup_emit_card(const fl_session *session, const fl_setup *setup)
{
    fl_emit *emit = session->emit;
    double fraction = session->options.fraction;
    bool is_limited = setup->capacity_bytes != FL_UNLIMITED;
    fl_emit_object_begin(emit, "gpu", NULL);
    fl_emit_pair(emit, "capacity_bytes", NULL,
                 is_limited ? fl_emit_bytes(setup->capacity_bytes) : fl_emit_null());
    fl_emit_pair(emit, "total_bytes", NULL,
                 setup->total_bytes != 0 ? fl_emit_bytes(setup->total_bytes)
                 : is_limited            ? fl_emit_bytes(setup->capacity_bytes)
                                         : fl_emit_null());
    fl_emit_pair(emit, "from", NULL, fl_emit_text(origin_word(setup->gpu_from)));
    fl_emit_pair(emit, "card", NULL, fl_emit_text(setup->gpu != NULL ? setup->gpu->name : NULL));
    fl_emit_pair(emit, "context_bytes", NULL,
                 setup->gpu != NULL ? fl_emit_bytes(setup->context_bytes) : fl_emit_null());
    fl_emit_object_end(emit);
    fl_emit_pair(emit, "fraction", NULL, fraction >= 0 ? fl_emit_real(fraction) : fl_emit_null());
}

static void emit_range(fl_emit *emit, const fl_setup *setup)
{
    if (setup->end_event == 0) {
        fl_emit_pair(emit, "range", NULL, fl_emit_null());
        return;
    }
    fl_emit_object_begin(emit, "range", NULL);
    fl_emit_pair(emit, "first_event", NULL, fl_emit_count(setup->first_event));
    fl_emit_pair(emit, "end_event", NULL, fl_emit_count(setup->end_event));
    fl_emit_object_end(emit);
}

void fl_setup_emit_config(const fl_session *session, const fl_setup *setup)
{
    fl_emit *emit = session->emit;
    const fl_options *options = &session->options;
    const char *release = setup->profile != NULL ? fl_profile_release(setup->profile) : NULL;
    fl_emit_pair(emit, "from", NULL, fl_emit_text(options->from));
    fl_emit_pair(emit, "partial", NULL, fl_emit_bool(options->accepts_cut));
    fl_emit_pair(emit, "trace_device", NULL, fl_emit_count(setup->trace_device));
    emit_range(emit, setup);
    fl_emit_pair(emit, "policy", NULL, fl_emit_text(setup->policy->name));
    fl_emit_pair(emit, "policy_params", NULL, fl_emit_text(setup->policy_params));
    fl_emit_pair(emit, "torch", NULL, fl_emit_text(release));
    fl_emit_pair(emit, "torch_from", NULL,
                 fl_emit_text(release != NULL ? origin_word(setup->profile_from) : NULL));
    fl_emit_pair(emit, "conf", NULL, fl_emit_text(setup->conf));
    fl_emit_pair(emit, "conf_from", NULL,
                 fl_emit_text(setup->conf != NULL ? origin_word(setup->conf_from) : NULL));
    fl_setup_emit_card(session, setup);
    fl_emit_pair(emit, "backing", NULL, fl_emit_text(setup->backing->name));
    fl_emit_pair(emit, "start", NULL, fl_emit_text(setup->start_word));
    fl_emit_pair(emit, "on_oom", NULL,
                 fl_emit_text(setup->on_oom == FL_ON_OOM_SKIP ? "skip" : "stop"));
}

static void text_allocator(fl_emit *emit, const fl_setup *setup)
{
    static const char *const words[FL_ORIGIN_COUNT] = {
        [FL_FROM_NOWHERE] = "the newest known",
        [FL_FROM_OPTION] = "--torch",
        [FL_FROM_FILE] = "the file's marks",
    };
    char text[160];
    if (setup->profile != NULL)
        snprintf(text, sizeof text, "PyTorch %s (%s)", fl_profile_release(setup->profile),
                 words[setup->profile_from]);
    else
        snprintf(text, sizeof text, "%s", setup->policy->name);
    fl_emit_pair(emit, "allocator", "allocator", fl_emit_text(text));
}

static void text_conf(fl_emit *emit, const fl_options *options, const fl_setup *setup)
{
    static const char *const words[FL_ORIGIN_COUNT] = {
        [FL_FROM_NOWHERE] = "",
        [FL_FROM_OPTION] = " (--conf)",
        [FL_FROM_FILE] = " (the file's own)",
        [FL_FROM_EVENTS] = " (as the events show; the file does not tell)",
    };
    char text[400], fraction[40] = "";
    if (setup->profile == NULL)
        return;
    if (options->fraction >= 0)
        snprintf(fraction, sizeof fraction, ", fraction %g", options->fraction);
    const char *from = words[setup->conf_from];
    snprintf(text, sizeof text, "%s%s%s", fl_conf_words(setup->conf != NULL ? setup->conf : ""),
             from, fraction);
    fl_emit_pair(emit, "settings", "settings", fl_emit_text(text));
}

static void text_gpu(fl_emit *emit, const fl_setup *setup)
{
    static const char *const words[FL_ORIGIN_COUNT] = {
        [FL_FROM_OPTION] = "--gpu",
        [FL_FROM_FILE] = "the file's cap=",
        [FL_FROM_OOM] = "reserved + free at the first recorded out-of-memory",
        [FL_FROM_REFUSAL] = "the most that the recorded card gave before it refused more",
        [FL_FROM_LIMIT] = "the smallest on which --fraction explains the record",
    };
    char text[160], size[24], context[24];
    fl_format_bytes(setup->capacity_bytes, size, sizeof size);
    fl_format_bytes(setup->context_bytes, context, sizeof context);
    if (setup->gpu_from == FL_FROM_NOWHERE)
        snprintf(text, sizeof text, "no limit (nothing tells one)");
    else if (setup->gpu != NULL)
        snprintf(text, sizeof text, "%s (%s less %s of context)", size, setup->gpu->name, context);
    else
        snprintf(text, sizeof text, "%s (%s)", size, words[setup->gpu_from]);
    fl_emit_pair(emit, "card", "card", fl_emit_text(text));
}

void fl_setup_emit_text(const fl_session *session, const fl_trace *trace, const fl_setup *setup)
{
    fl_emit *emit = session->emit;
    char text[400], events[27];
    uint64_t count = fl_setup_event_total(trace, setup->trace_device);
    fl_format_count(count, events, sizeof events);
    int length = snprintf(text, sizeof text, "%s, device %zu, %s events", fl_trace_path(trace),
                          setup->trace_device, events);
    if (setup->end_event != 0 && length > 0 && (size_t)length < sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, ", of them %" PRIu64 " to %" PRIu64,
                 setup->first_event, setup->end_event);
    fl_emit_pair(emit, "file", "file", fl_emit_text(text));
    text_allocator(emit, setup);
    text_conf(emit, &session->options, setup);
    text_gpu(emit, setup);
}
