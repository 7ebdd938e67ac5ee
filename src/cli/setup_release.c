/* Which release is replayed, and which one a history is understood by.
 *
 * The marks in a file often leave several; of those the newest that explains every decision is
 * taken.  What explains a history also tells of its card: a refusal without an out-of-memory bounds
 * what it could give, and a limit that the caller tells may need the size of the card to explain
 * anything. */
#include "cli/setup.h"

#include <fraglab/verify.h>

#include <stdlib.h>

#define RELEASES_MOST 64
#define TOTALS_MOST   96

/* Is a release's `MAJOR.MINOR` within what the marks allow? */
static bool release_is_marked(const char *release, const fl_release_range *marks)
{
    char *rest;
    unsigned long major = strtoul(release, &rest, 10);
    unsigned long minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
    bool is_early =
        major < marks->first_major || (major == marks->first_major && minor < marks->first_minor);
    bool is_late =
        major > marks->last_major || (major == marks->last_major && minor > marks->last_minor);
    return !is_early && !is_late;
}

void fl_setup_marked_releases(const fl_trace *trace, const fl_profile **ret_profiles, size_t most,
                              size_t *ret_count)
{
    fl_release_range marks = fl_trace_releases(trace);
    const fl_profile *profile;
    *ret_count = 0;
    for (size_t i = 0; (profile = fl_profile_at(i)) != NULL && *ret_count < most; i++) {
        if (release_is_marked(fl_profile_release(profile), &marks))
            ret_profiles[(*ret_count)++] = profile;
    }
}

void fl_setup_marks_words(const fl_trace *trace, char *buffer, size_t size)
{
    fl_release_range marks = fl_trace_releases(trace);
    const char *stated = fl_trace_release(trace);
    if (stated != NULL)
        snprintf(buffer, size, "%s", stated);
    else if (!marks.known)
        snprintf(buffer, size, "not told");
    else if (marks.first_major == marks.last_major && marks.first_minor == marks.last_minor)
        snprintf(buffer, size, "%u.%u", marks.first_major, marks.first_minor);
    else
        snprintf(buffer, size, "%u.%u to %u.%u", marks.first_major, marks.first_minor,
                 marks.last_major, marks.last_minor);
}

fl_status fl_setup_fail_marks(const fl_trace *trace, fl_error *error)
{
    char releases[64];
    fl_setup_marks_words(trace, releases, sizeof releases);
    return fl_fail(error, FL_ERR_UNAVAILABLE, "%s: written by PyTorch %s, which is not known",
                   fl_trace_path(trace), releases);
}

struct choice {
    const fl_profile *marked[RELEASES_MOST]; /* oldest first */
    size_t count;
    fl_verify_choice best;
};

static fl_status choose(fl_session *session, fl_trace *trace, size_t device, bool is_seeking,
                        struct choice *choice, fl_error *error)
{
    return fl_verify_choose(trace, device, choice->marked, choice->count, is_seeking,
                            &session->host, &choice->best, error);
}

static fl_status choose_with_limit(fl_session *session, fl_trace *trace, size_t device,
                                   uint64_t total_bytes, struct choice *choice, fl_error *error)
{
    fl_trace_set_limit(trace, session->options.fraction, total_bytes);
    fl_status status = choose(session, trace, device, false, choice, error);
    if (choice->best.profile == NULL)
        fl_trace_set_limit(trace, -1, 0);
    return status;
}

static int totals_ascend(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

/* Sizes that a card may have: those of cards by name, and whole GiB as people slice them. */
static size_t list_totals(uint64_t totals[TOTALS_MOST])
{
    static const uint8_t gib[] = {1,  2,  3,  4,  5,  6,  8,  10, 11, 12, 14, 15,  16,  18,
                                  20, 22, 24, 32, 40, 44, 48, 64, 80, 94, 96, 128, 141, 192};
    size_t count = 0;
    for (size_t i = 0; i < sizeof gib; i++)
        totals[count++] = (uint64_t)gib[i] << 30;
    for (size_t i = 0; fl_gpu_at(i) != NULL && count < TOTALS_MOST; i++)
        totals[count++] = fl_gpu_at(i)->total_bytes;
    qsort(totals, count, sizeof *totals, totals_ascend);
    return count;
}

/* The smallest card on which the fraction explains the history. */
static fl_status search_card(fl_session *session, fl_trace *trace, fl_setup *setup,
                             struct choice *choice, fl_error *error)
{
    uint64_t totals[TOTALS_MOST];
    size_t count = list_totals(totals);
    bool has_capacity = setup->capacity_bytes != FL_UNLIMITED;
    for (size_t i = 0; i < count; i++) {
        if (has_capacity && totals[i] < setup->capacity_bytes)
            continue;
        fl_status status =
            choose_with_limit(session, trace, setup->trace_device, totals[i], choice, error);
        if (status != FL_OK)
            return status;
        if (choice->best.profile == NULL)
            continue;
        setup->total_bytes = totals[i];
        if (!has_capacity)
            setup->capacity_bytes = totals[i];
        setup->gpu_from = FL_FROM_LIMIT;
        return FL_OK;
    }
    return FL_OK;
}

/* The history with the limit that --fraction tells, where it is not explained without one, or
 * shows that there was one. */
static fl_status choose_by_limit(fl_session *session, fl_trace *trace, fl_setup *setup,
                                 struct choice *choice, fl_error *error)
{
    const fl_profile *without = choice->best.profile;
    bool is_given = setup->gpu_from == FL_FROM_OPTION || setup->gpu_from == FL_FROM_CARD;
    if (without != NULL && !fl_setup_shows_limit(trace, setup->trace_device))
        return FL_OK;
    fl_status status = is_given ? choose_with_limit(session, trace, setup->trace_device,
                                                    fl_setup_total(setup), choice, error)
                                : search_card(session, trace, setup, choice, error);
    if (choice->best.profile == NULL)
        choice->best.profile = without;
    return status;
}

/* Without a size of the card, what it gave before it refused something is a size that explains the
 * history. */
static void take_card_of(const fl_trace *trace, const struct choice *choice, fl_setup *setup)
{
    const fl_verify_choice *best = &choice->best;
    size_t device = setup->trace_device;
    if (setup->gpu_from != FL_FROM_NOWHERE || best->least_refused_bytes == UINT64_MAX)
        return;
    setup->gpu_from = FL_FROM_REFUSAL;
    setup->capacity_bytes = best->most_granted_bytes;
    uint64_t grown = fl_trace_behind(trace, device).grown_bytes;
    if (grown == 0)
        return;
    uint64_t reserved = fl_setup_reserved_at(trace, device, fl_trace_event_count(trace, device));
    if (reserved < FL_UNLIMITED - grown && reserved + grown > setup->capacity_bytes)
        setup->capacity_bytes = reserved + grown;
}

/* Memory that went back may have gone back because the card was full. */
static bool shows_release(const fl_trace *trace, size_t device)
{
    uint64_t count = fl_trace_event_count(trace, device);
    for (uint64_t i = 0; i < count; i++) {
        fl_event event;
        fl_trace_event(trace, device, i, &event);
        if (event.kind == FL_EVENT_SEGMENT_FREE || event.kind == FL_EVENT_SEGMENT_UNMAP)
            return true;
    }
    return false;
}

/* The newest release that the marks allow and that explains the history; the newest of all where
 * none does, or where there is nothing to explain. */
static fl_status choose_marked(fl_session *session, fl_trace *trace, fl_setup *setup,
                               const fl_profile **ret_profile, fl_error *error)
{
    size_t device = setup->trace_device;
    bool has_fraction = session->options.fraction >= 0;
    struct choice choice = {0};
    fl_setup_marked_releases(trace, choice.marked, RELEASES_MOST, &choice.count);
    if (choice.count == 0)
        return fl_setup_fail_marks(trace, error);
    *ret_profile = choice.marked[choice.count - 1];
    bool is_open = choice.count > 1 || has_fraction ||
                   (setup->gpu_from == FL_FROM_NOWHERE && shows_release(trace, device));
    if (!is_open || fl_trace_event_count(trace, device) == 0)
        return FL_OK;
    fl_status status = choose(session, trace, device, !has_fraction, &choice, error);
    if (status == FL_OK && has_fraction)
        status = choose_by_limit(session, trace, setup, &choice, error);
    if (status == FL_OK && has_fraction && choice.best.profile == NULL)
        status = choose(session, trace, device, true, &choice, error);
    if (status != FL_OK)
        return status;
    if (choice.best.profile != NULL) {
        *ret_profile = choice.best.profile;
        take_card_of(trace, &choice, setup);
    } else if (choice.count > 1) {
        fl_session_warn(session, "%s: no release from %s to %s explains it, taking the newest",
                        fl_trace_path(trace), fl_profile_release(choice.marked[0]),
                        fl_profile_release(*ret_profile));
    }
    return FL_OK;
}

fl_status fl_setup_stated(fl_session *session, const fl_trace *trace,
                          const fl_profile **ret_profile, fl_error *error)
{
    const char *stated = fl_trace_release(trace);
    bool is_exact;
    fl_error why = {0};
    fl_status status = fl_profile_find(stated, ret_profile, &is_exact, &why);
    if (status != FL_OK)
        return fl_fail(error, FL_ERR_INPUT, "%s: %s", fl_trace_path(trace), why.text);
    if (!is_exact)
        fl_session_warn(session, "%s: PyTorch %s is not known, taking the nearest, %s",
                        fl_trace_path(trace), stated, fl_profile_release(*ret_profile));
    return FL_OK;
}

fl_status fl_setup_torch(fl_session *session, const fl_profile **ret_profile, fl_error *error)
{
    const char *torch = session->options.torch;
    bool is_exact;
    fl_status status = fl_profile_find(torch, ret_profile, &is_exact, error);
    if (status == FL_OK && !is_exact)
        fl_session_warn(session, "PyTorch %s is not known, taking the nearest, %s", torch,
                        fl_profile_release(*ret_profile));
    return status;
}

fl_status fl_setup_take_releases(fl_session *session, fl_trace *trace, fl_setup *setup,
                                 fl_error *error)
{
    bool has_torch = session->options.torch != NULL, is_stated = fl_trace_release(trace) != NULL;
    bool has_marks = fl_trace_releases(trace).known || is_stated;
    fl_status status = FL_OK;
    if (has_torch)
        status = fl_setup_torch(session, &setup->profile, error);
    setup->recorded = setup->profile;
    if (status == FL_OK && is_stated) {
        status = fl_setup_stated(session, trace, &setup->recorded, error);
    } else if (status == FL_OK && has_marks) {
        fl_error why = {0};
        status = choose_marked(session, trace, setup, &setup->recorded, &why);
        if (status == FL_ERR_UNAVAILABLE && has_torch)
            status = FL_OK; /* understood by the release asked for */
        else if (status != FL_OK)
            fl_fail(error, status, "%s", why.text);
    }
    if (status != FL_OK)
        return status;
    if (!has_torch && !has_marks) {
        setup->recorded = fl_profile_newest();
        fl_session_warn(session, "%s does not tell its PyTorch release, taking %s",
                        fl_trace_path(trace), fl_profile_release(setup->recorded));
    }
    if (!has_torch)
        setup->profile = setup->recorded;
    setup->profile_from = has_torch ? FL_FROM_OPTION : has_marks ? FL_FROM_FILE : FL_FROM_NOWHERE;
    return FL_OK;
}

fl_status fl_setup_take_recorded(fl_session *session, fl_trace *trace, fl_setup *setup,
                                 fl_error *error)
{
    setup->recorded = fl_profile_newest();
    if (fl_trace_release(trace) != NULL)
        return fl_setup_stated(session, trace, &setup->recorded, error);
    if (!fl_trace_releases(trace).known)
        return FL_OK;
    return choose_marked(session, trace, setup, &setup->recorded, error);
}
