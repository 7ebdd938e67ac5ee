/* The judgement for people: who accepts it, who does not, and what to know. */
#include "cli/judgement.h"
#include "cli/wrapped.h"

#include <fraglab/units.h>

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#define LINE_WIDTH    80
#define RELEASE_WIDTH 14

/* `2.9` of 2.9.1. */
static void minor_words(const fl_profile *profile, char *buffer, size_t size)
{
    const char *release = fl_profile_release(profile);
    const char *dot = strrchr(release, '.');
    snprintf(buffer, size, "%.*s", (int)(dot - release), release);
}

static void release_words(const fl_judged *group, char *buffer, size_t size)
{
    char first[16], last[16];
    minor_words(group->first, first, sizeof first);
    minor_words(group->last, last, sizeof last);
    if (strcmp(first, last) == 0)
        snprintf(buffer, size, "%s", first);
    else
        snprintf(buffer, size, "%s to %s", first, last);
}

/* A sentence under the releases' names; `lead` stands in front of its first line. */
static void text_wrapped(fl_emit *emit, fl_emit_style style, const char *releases, const char *lead,
                         const char *text)
{
    char front[LINE_WIDTH];
    snprintf(front, sizeof front, "%-*s%s", RELEASE_WIDTH, releases, lead);
    fl_cli_wrapped(emit, style, front, RELEASE_WIDTH + strlen(lead), text);
}

/* Adds a piece to a list with commas. */
static void add_words(char *buffer, size_t size, const char *format, ...) FL_PRINTF(3, 4);

static void add_words(char *buffer, size_t size, const char *format, ...)
{
    size_t length = strlen(buffer);
    va_list args;
    if (length > 0 && length + 2 < size) {
        memcpy(buffer + length, ", ", 3);
        length += 2;
    }
    va_start(args, format);
    vsnprintf(buffer + length, size - length, format, args);
    va_end(args);
}

static void add_bytes(char *buffer, size_t size, const char *what, uint64_t bytes)
{
    char words[24];
    fl_format_bytes(bytes, words, sizeof words);
    add_words(buffer, size, "%s %s", what, words);
}

static bool are_equal(const fl_settings *settings)
{
    for (size_t i = 1; i < FL_ROUNDUP_SLOTS; i++) {
        if (settings->divisions[i] != settings->divisions[0])
            return false;
    }
    return true;
}

/* What is not as without any settings. */
static void effect_words(const fl_profile *profile, const fl_settings *settings, char *buffer,
                         size_t size)
{
    fl_settings usual;
    fl_settings_default(profile, &usual);
    buffer[0] = '\0';
    if (settings->expandable)
        add_words(buffer, size, "expandable segments");
    if (settings->max_split_bytes != usual.max_split_bytes)
        add_bytes(buffer, size, "split limit", settings->max_split_bytes);
    if (settings->large_segment_bytes != usual.large_segment_bytes)
        add_bytes(buffer, size, "segments of", settings->large_segment_bytes);
    if (settings->non_split_rounding_bytes != settings->large_segment_bytes)
        add_bytes(buffer, size, "blocks above the limit fit up to",
                  settings->non_split_rounding_bytes);
    if (settings->collect_threshold > 0)
        add_words(buffer, size, "collection above %g of the limit", settings->collect_threshold);
    if (settings->process_fraction != usual.process_fraction)
        add_words(buffer, size, "limit at %g of the card", settings->process_fraction);
    if (!are_equal(settings))
        add_words(buffer, size, "sizes rounded by class");
    else if (settings->divisions[0] > 1)
        add_words(buffer, size, "sizes rounded to %" PRIu64 " steps between powers of two",
                  settings->divisions[0]);
    if (settings->reserve.is_given)
        add_words(buffer, size,
                  settings->reserve.is_fraction ? "ranges of %g of the card" : "ranges of %g GiB",
                  settings->reserve.value);
    if (settings->reject_on_oom)
        add_words(buffer, size, "requests beyond the limit are turned away");
    if (buffer[0] == '\0')
        snprintf(buffer, size, "as without settings");
}

static void class_words(const fl_division_class *class, char *buffer, size_t size)
{
    char from[24], to[24], steps[48];
    fl_format_bytes(class->from, from, sizeof from);
    fl_format_bytes(class->to, to, sizeof to);
    if (class->divisions > 1)
        snprintf(steps, sizeof steps, "%" PRIu64 " divisions", class->divisions);
    else
        snprintf(steps, sizeof steps, "%s", class->divisions == 1 ? "1 division" : "no divisions");
    if (class->from == 0)
        snprintf(buffer, size, "below %s: %s", to, steps);
    else if (class->to == FL_UNLIMITED)
        snprintf(buffer, size, "from %s: %s", from, steps);
    else
        snprintf(buffer, size, "%s to %s: %s", from, to, steps);
}

static void text_accepted(fl_emit *emit, const fl_judged *group, const char *releases)
{
    const fl_review *review = &group->review;
    fl_division_class classes[FL_ROUNDUP_SLOTS];
    char words[400], line[420];
    effect_words(group->first, &review->settings, words, sizeof words);
    snprintf(line, sizeof line, "accepted: %s", words);
    text_wrapped(emit, review->remark_count > 0 ? FL_EMIT_PLAIN : FL_EMIT_GOOD, releases, "", line);
    if (!review->has_list)
        return;
    size_t count = fl_division_classes(&review->settings, classes);
    for (size_t i = 0; i < count; i++) {
        class_words(&classes[i], words, sizeof words);
        text_wrapped(emit, FL_EMIT_PLAIN, "", "  ", words);
    }
}

static void text_refused(fl_emit *emit, const fl_review *review, const char *releases)
{
    char line[FL_WARNING_SIZE + 24];
    snprintf(line, sizeof line, "refused: %s", review->refusal.text);
    text_wrapped(emit, FL_EMIT_BAD, releases, "", line);
    if (review->refusal.hint[0] != '\0')
        text_wrapped(emit, FL_EMIT_PLAIN, "", "- ", review->refusal.hint);
}

static void text_group(fl_emit *emit, const fl_judged *group)
{
    const fl_review *review = &group->review;
    char releases[40];
    release_words(group, releases, sizeof releases);
    switch (review->verdict) {
    case FL_REVIEW_ACCEPTED:
        text_accepted(emit, group, releases);
        break;
    case FL_REVIEW_REFUSED:
        text_refused(emit, review, releases);
        break;
    case FL_REVIEW_OTHER_BACKEND:
        text_wrapped(emit, FL_EMIT_PLAIN, releases, "",
                     "accepted: cudaMallocAsync, where the driver decides and most settings mean "
                     "nothing");
        break;
    case FL_REVIEW_NOT_READ:
        text_wrapped(emit, FL_EMIT_BAD, releases, "",
                     "ignored without a word: the variable is not read");
        break;
    }
    for (size_t i = 0; i < review->remark_count; i++)
        text_wrapped(emit, FL_EMIT_PLAIN, "", "- ", review->remarks[i].text);
}

/* What was found in a file or the environment. */
static void text_assignments(fl_emit *emit, const fl_judgement *j)
{
    for (size_t i = 0; i < j->assignments.count; i++) {
        const fl_assignment *set = &j->assignments.items[i];
        const char *name = fl_settings_variable(set->variable);
        if (set->line > 0)
            fl_emit_line(emit, FL_EMIT_PLAIN, "line %" PRIu64 ": %s=%s", set->line, name,
                         set->value);
        else
            fl_emit_line(emit, FL_EMIT_PLAIN, "%s=%s", name, set->value);
    }
    if (j->assignments.count > 0)
        fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "");
}

void fl_judgement_emit_text(const fl_judgement *j)
{
    text_assignments(j->session->emit, j);
    for (size_t i = 0; i < j->count; i++)
        text_group(j->session->emit, &j->groups[i]);
}
