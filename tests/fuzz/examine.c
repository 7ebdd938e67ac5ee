#include "examine.h"

#include <fraglab/replay.h>
#include <fraglab/settings.h>
#include <fraglab/verify.h>
#include <fraglab/write.h>

#include "failing_host.h"
#include "seal.h"
#include "taker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME        "p"
#define DEEP_EVENTS 5000 /* a longer history is only looked at */
#define FIXED_BYTES ((uint64_t)4 << 20)
#define BYTE_BYTES  300 /* of host memory, for each byte of input */

static const char *const releases[] = {"2.0.1", "2.7.1", "2.15.0"};

static void complain(examined *out, const char *format, ...) FL_PRINTF(2, 3);

static void complain(examined *out, const char *format, ...)
{
    if (out->complaint[0] != '\0')
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(out->complaint, sizeof out->complaint, format, args);
    va_end(args);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Content that is packed may be much larger than the bytes, and so may the trace. */
static bool may_be_packed(const uint8_t *bytes, size_t size)
{
    static const char *const starts[] = {"\x1F\x8B", "\x28\xB5", "PK"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (size >= 2 && memcmp(bytes, starts[i], 2) == 0)
            return true;
    return false;
}

/* A refusal names the file; one of the content, the place in it too. */
static void check_refusal(examined *out, const fl_error *error)
{
    if (out->read != FL_ERR_INPUT && out->read != FL_ERR_UNAVAILABLE)
        complain(out, "reading answered %d: %s", (int)out->read, error->text);
    bool has_name = strncmp(error->text, NAME ":", 2) == 0;
    bool has_place = has_name && error->text[2] >= '0' && error->text[2] <= '9';
    if (!has_name || (out->read == FL_ERR_INPUT && !has_place))
        complain(out, "no place in '%s'", error->text);
}

static fl_trace *read_bytes(const uint8_t *bytes, size_t size, const examine_options *options,
                            failing_host *host, examined *out)
{
    fl_read_options reading = {
        .host = &host->host, .format = options->format, .accept_cut = options->accept_cut};
    fl_trace *trace = NULL;
    fl_error error = {0};
    out->read = fl_read_memory(bytes, size, NAME, &reading, &trace, &error);
    if ((out->read == FL_OK) != (trace != NULL))
        complain(out, "status %d with%s a trace", (int)out->read, trace != NULL ? "" : "out");
    if (out->read != FL_OK)
        check_refusal(out, &error);
    if (!may_be_packed(bytes, size) && host->peak_bytes > FIXED_BYTES + BYTE_BYTES * size)
        complain(out, "%llu bytes of memory for %zu bytes of input",
                 (unsigned long long)host->peak_bytes, size);
    return trace;
}

/* ---- looking --------------------------------------------------------------------------------- */

static void look_at_stack(const fl_trace *trace, uint32_t stack, examined *out)
{
    for (size_t depth = 0; depth < fl_trace_stack_depth(trace, stack); depth++) {
        fl_frame frame = fl_trace_stack_frame(trace, stack, depth);
        if (strlen(frame.name) + strlen(frame.file) > SIZE_MAX / 2)
            complain(out, "a frame without an end");
    }
}

static void look_at_device(const fl_trace *trace, size_t device, examined *out)
{
    const fl_names *names = fl_trace_names(trace);
    for (uint64_t i = 0; i < fl_trace_event_count(trace, device); i++) {
        fl_event event;
        fl_trace_event(trace, device, i, &event);
        bool fits = (event.id == FL_NONE || event.id < fl_trace_alloc_count(trace, device)) &&
                    (event.stream == FL_NONE || event.stream < names->stream_count) &&
                    (event.pool == FL_NONE || event.pool < names->pool_count) &&
                    (event.text == FL_NONE || event.text < names->text_count) &&
                    (event.stack == FL_NONE || event.stack < fl_trace_stack_count(trace));
        if (!fits)
            complain(out, "event %llu of device %zu holds a number without a row",
                     (unsigned long long)i, device);
        else
            look_at_stack(trace, event.stack, out);
    }
    size_t count;
    fl_trace_final_blocks(trace, device, &count);
    for (size_t i = 0; i < count; i++)
        look_at_stack(trace, fl_trace_final_stack(trace, device, i), out);
    for (uint32_t id = 0; id < fl_trace_alloc_count(trace, device); id++) {
        fl_trace_original_id(trace, device, id);
        uint32_t category = fl_trace_category(trace, device, id);
        if (category != FL_NONE && category >= names->text_count)
            complain(out, "allocation %u of device %zu has no category", id, device);
    }
}

/* ---- replaying ------------------------------------------------------------------------------- */

/* An answer, or a sentence why there is none. */
static void check_answer(examined *out, const char *what, fl_status status, const fl_error *error)
{
    bool is_answer = status == FL_OK || status == FL_ERR_UNAVAILABLE || status == FL_ERR_INPUT ||
                     status == FL_ERR_USAGE;
    if (!is_answer || (status != FL_OK && error->text[0] == '\0'))
        complain(out, "%s answered %d: '%s'", what, (int)status, error->text);
}

static void replay_device(const fl_trace *trace, size_t device, const fl_profile *profile,
                          const fl_host *host, examined *out)
{
    fl_replay_options options = {
        .host = host,
        .profile = profile,
        .conf = fl_trace_conf(trace),
        .fraction = -1,
        .capacity_bytes = (uint64_t)1 << 34,
        .trace_device = device,
        .on_oom = FL_ON_OOM_SKIP,
        .start = FL_START_FRESH,
        .check_every_op = fl_trace_event_count(trace, device) < 200,
    };
    fl_replay *run = NULL;
    fl_error error = {0};
    fl_status status = fl_replay_open(trace, &options, &run, &error);
    if (status == FL_OK)
        status = fl_replay_run(run, &error);
    check_answer(out, "replay", status, &error);
    fl_replay_close(run);
}

static void check_verdict(examined *out, const fl_verdict *verdict)
{
    uint64_t different = 0;
    for (int i = 0; i < FL_DECISION_COUNT; i++) {
        const fl_tally *tally = &verdict->decisions[i];
        if (tally->checked != tally->equal + tally->excused + tally->different)
            complain(out, "decisions of kind %d do not add up", i);
        different += tally->different;
    }
    if (verdict->has_difference != (different > 0))
        complain(out, "%llu differences, but %s first one", (unsigned long long)different,
                 verdict->has_difference ? "a" : "no");
    if (verdict->has_difference && verdict->first_difference.expected[0] == '\0')
        complain(out, "a difference without a word");
    out->is_different |= verdict->has_difference;
}

static void verify_device(fl_trace *trace, size_t device, const fl_profile *profile,
                          const fl_host *host, examined *out)
{
    fl_verdict verdict;
    fl_error error = {0};
    fl_status status = fl_verify(trace, device, profile, host, &verdict, &error);
    check_answer(out, "verify", status, &error);
    if (status == FL_OK)
        check_verdict(out, &verdict);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* What was written must be read again. */
static void write_as(const fl_trace *trace, const char *format, const fl_host *host, examined *out)
{
    taker to = {0};
    fl_write_options options = {.write = taker_take, .user = &to};
    fl_error error = {0};
    fl_status status = fl_write_trace(trace, format, &options, &error);
    check_answer(out, "write", status, &error);
    if (status == FL_OK) {
        fl_read_options reading = {.host = host, .format = format};
        fl_trace *again = NULL;
        status = fl_read_memory(to.text, to.length, NAME, &reading, &again, &error);
        if (status != FL_OK && !out->is_forged)
            complain(out, "what was written as %s is refused: %s", format, error.text);
        fl_trace_free(again);
    }
    free(to.text);
}

static void write_everything(const fl_trace *trace, const fl_host *host, examined *out)
{
    const char *name, *summary;
    for (size_t i = 0; fl_reader_at(i, &name, &summary); i++)
        if (fl_format_is_written(name))
            write_as(trace, name, host, out);
}

static void go_deep(fl_trace *trace, size_t device, const fl_host *host, examined *out)
{
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++) {
        const fl_profile *profile;
        bool is_exact;
        if (fl_profile_find(releases[i], &profile, &is_exact, NULL) != FL_OK) {
            complain(out, "no release %s", releases[i]);
            return;
        }
        if (fl_trace_format(trace) == FL_FORMAT_SNAPSHOT)
            verify_device(trace, device, profile, host, out);
        replay_device(trace, device, profile, host, out);
    }
}

static void examine_once(const uint8_t *bytes, size_t size, const examine_options *options,
                         examined *out)
{
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    fl_trace *trace = read_bytes(bytes, size, options, &host, out);
    if (trace != NULL && fl_trace_event_count(trace, 0) <= DEEP_EVENTS)
        write_everything(trace, &host.host, out);
    for (size_t device = 0; trace != NULL && device < fl_trace_device_count(trace); device++) {
        uint64_t events = fl_trace_event_count(trace, device);
        look_at_device(trace, device, out);
        if (events > 0 && events <= DEEP_EVENTS)
            go_deep(trace, device, &host.host, out);
    }
    if (trace != NULL && fl_trace_event_count(trace, 0) <= DEEP_EVENTS)
        write_everything(trace, &host.host, out); /* with what was inferred */
    fl_trace_free(trace);
    if (host.held != 0 || host.wrong_sizes != 0)
        complain(out, "%llu pieces of memory held, %llu wrong sizes", (unsigned long long)host.held,
                 (unsigned long long)host.wrong_sizes);
}

/* Damage that a check sum would give away is tried with the sum made right, too. */
static void examine_sealed(uint8_t *copy, size_t size, const examine_options *options,
                           examined *out)
{
    examined sealed = {.is_forged = true};
    if (!seal_flt(copy, size))
        return;
    examine_once(copy, size, options, &sealed);
    out->is_different |= sealed.is_different;
    if (sealed.complaint[0] != '\0')
        complain(out, "with its sums made right: %s", sealed.complaint);
}

/* What is read up to the middle is the first half of the whole. */
static void examine_part(const uint8_t *bytes, size_t size, const examine_options *options,
                         examined *out)
{
    fl_read_options reading = {.format = options->format, .accept_cut = options->accept_cut};
    fl_trace *whole = NULL, *part = NULL;
    if (fl_read_memory(bytes, size, NAME, &reading, &whole, NULL) != FL_OK)
        return;
    uint64_t events = fl_trace_event_count(whole, 0);
    reading.end = (fl_range_end){.is_given = true, .event = events / 2};
    if (fl_read_memory(bytes, size, NAME, &reading, &part, NULL) != FL_OK)
        complain(out, "a part is refused where the whole is not");
    else if (fl_trace_event_count(part, 0) + fl_trace_behind(part, 0).events != events)
        complain(out, "a part and what is behind it are not the whole");
    for (uint64_t i = 0; part != NULL && i < fl_trace_event_count(part, 0); i++) {
        fl_event is, should;
        fl_trace_event(part, 0, i, &is);
        fl_trace_event(whole, 0, i, &should);
        if (is.kind != should.kind || is.flags != should.flags || is.size != should.size)
            complain(out, "event %llu of a part is another", (unsigned long long)i);
    }
    for (size_t device = 0; part != NULL && device < fl_trace_device_count(part); device++)
        look_at_device(part, device, out);
    fl_trace_free(part);
    fl_trace_free(whole);
}

void examine(const uint8_t *bytes, size_t size, const examine_options *options,
             examined *ret_examined)
{
    *ret_examined = (examined){0};
    examine_once(bytes, size, options, ret_examined);
    examine_part(bytes, size, options, ret_examined);
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL || size == 0) {
        free(copy);
        return;
    }
    memcpy(copy, bytes, size);
    examine_sealed(copy, size, options, ret_examined);
    free(copy);
}
