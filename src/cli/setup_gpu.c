/* How much device memory a replay gets. */
#include "cli/setup.h"

#include <fraglab/suggest.h>
#include <fraglab/units.h>

#include <inttypes.h>
#include <string.h>

#define GPUS_MOST 64

/* By how much a segment may exceed the request it is for. */
#define SEGMENT_EXCESS_MOST (UINT64_C(32) << 20)

/* Does the text end in a decimal unit, `80GB`?  Then a card may have been meant. */
static bool is_decimal(const char *text)
{
    size_t length = strlen(text);
    return length > 2 && (text[length - 1] == 'B' || text[length - 1] == 'b') &&
           strchr("kKmMgGtT", text[length - 2]) != NULL;
}

static void hint_at_cards(const fl_session *session, const char *text, uint64_t bytes)
{
    char cards[200] = "", size[24];
    const fl_gpu *gpu = NULL;
    if (!is_decimal(text) || bytes % 1000000000 != 0)
        return;
    while ((gpu = fl_gpu_sold_as(gpu, bytes / 1000000000)) != NULL) {
        size_t used = strlen(cards);
        snprintf(cards + used, sizeof cards - used, "%s--gpu %s", used > 0 ? ", " : "", gpu->name);
    }
    if (*cards == '\0')
        return;
    fl_format_bytes(bytes, size, sizeof size);
    fl_session_hint(session, "%s is %" PRIu64 " bytes, %s; for a card sold so: %s", text, bytes,
                    size, cards);
}

/* `80` is 80 bytes, and surely meant as GiB. */
static void warn_of_small(fl_session *session, const char *text, uint64_t bytes)
{
    bool has_unit = strspn(text, "0123456789.") < strlen(text);
    if (bytes >= UINT64_C(1) << 20)
        return;
    fl_session_warn(session, "--gpu %s is a card of %" PRIu64 " bytes", text, bytes);
    if (!has_unit)
        fl_session_hint(session, "did you mean '%sGiB'?", text);
}

static fl_status fail_unknown(const char *text, fl_error *error)
{
    const char *names[GPUS_MOST + 1] = {NULL};
    for (size_t i = 0; i < GPUS_MOST && fl_gpu_at(i) != NULL; i++)
        names[i] = fl_gpu_at(i)->name;
    fl_fail(error, FL_ERR_USAGE, "option '--gpu' expects a size or a card, got '%s'", text);
    fl_suggest(names, text, "", error);
    return fl_hint(error, "sizes are such as 24GiB; cards stand in `fraglab list gpus`");
}

static fl_status take_card(const fl_options *options, fl_setup *setup, fl_error *error)
{
    const fl_gpu *gpu = fl_gpu_find(options->gpu);
    if (gpu == NULL)
        return fail_unknown(options->gpu, error);
    uint64_t context =
        options->context_bytes != FL_NOT_GIVEN ? options->context_bytes : FL_GPU_CONTEXT_BYTES;
    if (context >= gpu->total_bytes)
        return fl_fail(error, FL_ERR_USAGE,
                       "option '--context': %" PRIu64 " bytes leave nothing of the %" PRIu64
                       " bytes of %s",
                       context, gpu->total_bytes, gpu->name);
    setup->gpu = gpu;
    setup->gpu_from = FL_FROM_CARD;
    setup->context_bytes = context;
    setup->capacity_bytes = gpu->total_bytes - context;
    setup->total_bytes = gpu->total_bytes;
    return FL_OK;
}

fl_status fl_setup_gpu_from_options(fl_session *session, fl_setup *setup, fl_error *error)
{
    const fl_options *options = &session->options;
    uint64_t bytes;
    setup->capacity_bytes = FL_UNLIMITED;
    bool is_size =
        options->gpu != NULL && fl_parse_size(options->gpu, strlen(options->gpu), &bytes);
    if (options->context_bytes != FL_NOT_GIVEN && (options->gpu == NULL || is_size)) {
        fl_fail(error, FL_ERR_USAGE, "option '--context' belongs to a card named by '--gpu'");
        return fl_hint(error, "--gpu H100-80GB --context 600MiB");
    }
    if (options->gpu == NULL)
        return FL_OK;
    if (!is_size)
        return take_card(options, setup, error);
    if (bytes == 0)
        return fl_fail(error, FL_ERR_USAGE, "option '--gpu' expects more than 0 bytes");
    setup->gpu_from = FL_FROM_OPTION;
    setup->capacity_bytes = bytes;
    hint_at_cards(session, options->gpu, bytes);
    warn_of_small(session, options->gpu, bytes);
    return FL_OK;
}

/* What an event adds to the reserved bytes, or takes from them. */
static void reserved_step(const fl_event *event, uint64_t *added, uint64_t *taken)
{
    if (event->kind == FL_EVENT_SEGMENT_ALLOC || event->kind == FL_EVENT_SEGMENT_MAP)
        *added += event->size;
    else if (event->kind == FL_EVENT_SEGMENT_FREE || event->kind == FL_EVENT_SEGMENT_UNMAP)
        *taken += event->size;
}

/* Reserved bytes when everything in [first, end) is done to `before`, or undone from it.  Sizes
 * are a file's: sums that make no sense give FL_UNLIMITED. */
static uint64_t reserved_over(const fl_trace *trace, size_t device, uint64_t first, uint64_t end,
                              uint64_t before, bool is_undone)
{
    uint64_t added = 0, taken = 0;
    for (uint64_t i = first; i < end; i++) {
        fl_event event;
        fl_trace_event(trace, device, i, &event);
        reserved_step(&event, is_undone ? &taken : &added, is_undone ? &added : &taken);
        if (added > FL_UNLIMITED / 4 || taken > FL_UNLIMITED / 4)
            return FL_UNLIMITED;
    }
    return before + added >= taken ? before + added - taken : FL_UNLIMITED;
}

uint64_t fl_setup_reserved_at(const fl_trace *trace, size_t device, uint64_t event)
{
    if (fl_trace_is_complete(trace, device))
        return reserved_over(trace, device, 0, event, 0, false);
    size_t count;
    uint64_t final = 0;
    const fl_segment_view *segments = fl_trace_final_segments(trace, device, &count);
    for (size_t i = 0; i < count; i++) {
        if (segments[i].size > FL_UNLIMITED / 4 - final)
            return FL_UNLIMITED;
        final += segments[i].size;
    }
    uint64_t end = fl_trace_event_count(trace, device);
    return reserved_over(trace, device, event, end, final, true);
}

/* A recorded refusal. */
struct refusal {
    uint64_t asked_bytes, free_bytes, reserved_bytes;
};

/* A card with more room than any segment for the request needs did not refuse it: the process had a
 * limit, which files do not tell. */
static bool had_room(uint64_t asked_bytes, uint64_t free_bytes)
{
    return free_bytes >= asked_bytes && free_bytes - asked_bytes >= SEGMENT_EXCESS_MOST;
}

bool fl_setup_shows_limit(const fl_trace *trace, size_t device)
{
    uint64_t count = fl_trace_event_count(trace, device);
    for (uint64_t i = 0; i < count; i++) {
        fl_event event;
        fl_trace_event(trace, device, i, &event);
        if ((event.flags & FL_EVENT_OOM) != 0 && had_room(event.size, event.address))
            return true;
    }
    return false;
}

static void warn_of_limit(fl_session *session, const struct refusal *refusal)
{
    char asked[24], left[24];
    if (!had_room(refusal->asked_bytes, refusal->free_bytes) || session->options.fraction >= 0)
        return;
    fl_format_bytes(refusal->asked_bytes, asked, sizeof asked);
    fl_format_bytes(refusal->free_bytes, left, sizeof left);
    fl_session_warn(session,
                    "the recorded process was refused %s with %s free on the card: it had a limit "
                    "that the file does not tell; --fraction X sets one",
                    asked, left);
}

/* The first one of events that are not kept. */
static bool find_behind(const fl_trace *trace, size_t device, struct refusal *ret_refusal)
{
    fl_behind behind = fl_trace_behind(trace, device);
    if (!behind.has_refusal)
        return false;
    uint64_t reserved = fl_setup_reserved_at(trace, device, fl_trace_event_count(trace, device));
    bool is_possible = reserved != FL_UNLIMITED && behind.added_bytes <= FL_UNLIMITED / 4 &&
                       behind.returned_bytes <= reserved + behind.added_bytes;
    *ret_refusal = (struct refusal){
        behind.refused_bytes, behind.free_bytes,
        is_possible ? reserved + behind.added_bytes - behind.returned_bytes : FL_UNLIMITED};
    return true;
}

static bool find_refusal(const fl_trace *trace, size_t device, struct refusal *ret_refusal)
{
    uint64_t count = fl_trace_event_count(trace, device);
    for (uint64_t i = 0; i < count; i++) {
        fl_event event;
        fl_trace_event(trace, device, i, &event);
        if ((event.flags & FL_EVENT_OOM) == 0)
            continue;
        *ret_refusal =
            (struct refusal){event.size, event.address, fl_setup_reserved_at(trace, device, i)};
        return true;
    }
    return find_behind(trace, device, ret_refusal);
}

/* The card of a recorded process had what was reserved and what was free when it first ran out. */
static bool take_recorded_oom(fl_session *session, const fl_trace *trace, fl_setup *setup)
{
    struct refusal first;
    if (!find_refusal(trace, setup->trace_device, &first) || first.reserved_bytes == FL_UNLIMITED ||
        first.free_bytes > FL_UNLIMITED / 4)
        return false;
    warn_of_limit(session, &first);
    setup->gpu_from = FL_FROM_OOM;
    setup->capacity_bytes = first.reserved_bytes + first.free_bytes;
    return true;
}

void fl_setup_gpu_from_trace(fl_session *session, const fl_trace *trace, fl_setup *setup)
{
    uint64_t stated = fl_trace_capacity(trace);
    if (setup->gpu_from != FL_FROM_NOWHERE ||
        (stated == FL_UNLIMITED && take_recorded_oom(session, trace, setup)))
        return;
    setup->capacity_bytes = stated;
    if (setup->capacity_bytes != FL_UNLIMITED)
        setup->gpu_from = FL_FROM_FILE;
}
