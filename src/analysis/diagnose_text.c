/* A diagnosis in words. */
#include "analysis/diagnose.h"
#include "emit/emit.h"

#include <fraglab/units.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SIZE_TEXT = 24, COUNT_TEXT = 27 };

struct size_text {
    char text[SIZE_TEXT];
};

static struct size_text text_size(uint64_t bytes)
{
    struct size_text size;
    fl_format_bytes(bytes, size.text, sizeof size.text);
    return size;
}

#define SIZE(bytes) text_size(bytes).text

/* The cause that holds most of what is free; FL_UNUSABLE_COUNT: none does. */
static fl_unusable text_main_cause(const fl_probe *probe)
{
    fl_unusable main = FL_UNUSABLE_COUNT;
    for (int cause = 0; cause < FL_UNUSABLE_DEVICE; cause++) /* of what is in the cache */
        if (probe->unusable_bytes[cause] > 0 &&
            (main == FL_UNUSABLE_COUNT ||
             probe->unusable_bytes[cause] > probe->unusable_bytes[main]))
            main = (fl_unusable)cause;
    return main;
}

static const char *text_cause(fl_unusable cause)
{
    static const char *const words[FL_UNUSABLE_COUNT + 1] = {
        [FL_UNUSABLE_POOL] = "in other pools",
        [FL_UNUSABLE_STREAM] = "on other streams",
        [FL_UNUSABLE_PENDING] = "waiting for other streams",
        [FL_UNUSABLE_PINNED] = "in pieces too small, between live blocks",
        [FL_UNUSABLE_SPLIT] = "in blocks that the split limit protects",
        [FL_UNUSABLE_COUNT] = "nowhere",
    };
    return words[cause];
}

static void text_fits(const fl_diagnosis *d, char *buffer, size_t size)
{
    if (!d->has_events)
        snprintf(buffer, size, "fits: the recorded state holds %s for %s that are live",
                 SIZE(d->peak.reserved_bytes), SIZE(d->peak.allocated_bytes));
    else if (d->capacity_bytes == FL_UNLIMITED)
        snprintf(buffer, size,
                 "fits: every request was served; %s were reserved at most, for at most %s live",
                 SIZE(d->summary.peak.reserved_bytes), SIZE(d->summary.peak.allocated_bytes));
    else
        snprintf(buffer, size,
                 "fits: every request was served; of %s at most %s were reserved, for at most %s "
                 "live",
                 SIZE(d->capacity_bytes), SIZE(d->summary.peak.reserved_bytes),
                 SIZE(d->summary.peak.allocated_bytes));
}

static void text_fragmentation(const fl_diagnosis *d, char *buffer, size_t size)
{
    const fl_point *oom = &d->points[FL_POINT_OOM];
    uint64_t cached = oom->totals.reserved_bytes - oom->totals.allocated_bytes;
    snprintf(
        buffer, size,
        "fragmentation: %s were refused with %s free in the cache, most of it %s, and %s on the "
        "card",
        SIZE(oom->requested_bytes), SIZE(cached),
        text_cause(oom->has_probe ? text_main_cause(&oom->probe) : FL_UNUSABLE_PINNED),
        SIZE(oom->device_free_bytes));
}

static void text_final(const fl_diagnosis *d, char *buffer, size_t size)
{
    const char *name = fl_trouble_name(d->trouble);
    if (d->trouble == FL_TROUBLE_INCONSISTENT)
        snprintf(buffer, size, "%s: more is in use than is reserved", name);
    else if (d->trouble == FL_TROUBLE_UNKNOWN)
        snprintf(buffer, size, "%s: neither events nor a state are recorded", name);
    else
        snprintf(buffer, size, "%s: the recorded state holds %s, %s of it live; the card gives %s",
                 name, SIZE(d->peak.reserved_bytes), SIZE(d->peak.allocated_bytes),
                 SIZE(d->capacity_bytes));
}

static void text_experiment(const fl_diagnosis *d, char *buffer, size_t size)
{
    static const char *const words[FL_TROUBLE_COUNT] = {
        [FL_TROUBLE_STREAMS] = "on one stream",
        [FL_TROUBLE_PRIVATE_POOLS] = "without private pools",
        [FL_TROUBLE_PENDING_FREES] = "had no free to wait for another stream",
        [FL_TROUBLE_OUTSIDE] = "without the memory taken by others",
    };
    const fl_point *oom = &d->points[FL_POINT_OOM];
    snprintf(buffer, size, "%s: %s were refused with %s free in the cache; %s%s they would fit",
             fl_trouble_name(d->trouble), SIZE(oom->requested_bytes),
             SIZE(oom->totals.reserved_bytes - oom->totals.allocated_bytes),
             d->trouble == FL_TROUBLE_PENDING_FREES ? "if the program " : "", words[d->trouble]);
}

static void text_full(const fl_diagnosis *d, char *buffer, size_t size)
{
    const fl_point *oom = &d->points[FL_POINT_OOM];
    snprintf(buffer, size, "full: %s are live, and %s more do not fit %s however they lie",
             SIZE(oom->totals.allocated_bytes), SIZE(oom->requested_bytes),
             SIZE(oom->totals.reserved_bytes + oom->device_free_bytes + d->outside_bytes));
}

static void text_limit(const fl_diagnosis *d, char *buffer, size_t size)
{
    const fl_point *oom = &d->points[FL_POINT_OOM];
    const fl_refusal *refusal = &d->summary.oom.refusal;
    if (d->summary.oom.outcome == FL_REJECTED || refusal->limit_bytes == FL_UNLIMITED)
        snprintf(buffer, size, "limit: a setting turned %s away with %s free on the card",
                 SIZE(oom->requested_bytes), SIZE(oom->device_free_bytes));
    else
        snprintf(buffer, size,
                 "limit: the memory fraction allows %s, of which %s are reserved; %s are free on "
                 "the card",
                 SIZE(refusal->limit_bytes), SIZE(oom->totals.reserved_bytes),
                 SIZE(oom->device_free_bytes));
}

static void text_leak(const fl_diagnosis *d, char *buffer, size_t size)
{
    char blocks[COUNT_TEXT];
    fl_format_count(d->leak.blocks, blocks, sizeof blocks);
    snprintf(buffer, size,
             "leak: %s blocks from one place, %s in all, were made step by step and never freed",
             blocks, SIZE(d->leak.bytes));
}

void fl_diagnosis_sentence(const fl_diagnosis *d, char *buffer, size_t size)
{
    const fl_point *oom = &d->points[FL_POINT_OOM];
    switch (d->trouble) {
    case FL_TROUBLE_FITS:
        text_fits(d, buffer, size);
        return;
    case FL_TROUBLE_FRAGMENTATION:
        d->has_events ? text_fragmentation(d, buffer, size) : text_final(d, buffer, size);
        return;
    case FL_TROUBLE_FULL:
        d->has_events ? text_full(d, buffer, size) : text_final(d, buffer, size);
        return;
    case FL_TROUBLE_LEAK:
        text_leak(d, buffer, size);
        return;
    case FL_TROUBLE_LIMIT:
        text_limit(d, buffer, size);
        return;
    case FL_TROUBLE_OUTSIDE:
        snprintf(buffer, size, "outside: %s were refused; others hold %s of the card",
                 SIZE(oom->requested_bytes), SIZE(d->outside_bytes));
        return;
    case FL_TROUBLE_STREAMS:
    case FL_TROUBLE_PRIVATE_POOLS:
    case FL_TROUBLE_PENDING_FREES:
        text_experiment(d, buffer, size);
        return;
    default:
        break;
    }
    if (!d->has_events)
        text_final(d, buffer, size);
    else
        snprintf(buffer, size, "%s: %s", fl_trouble_name(d->trouble),
                 d->summary.oom.why != NULL ? d->summary.oom.why : "what is known does not tell");
}

/* When all pins have one stack, phase or event, it is worth saying. */
static void text_since(const fl_diagnosis *d, char *buffer, size_t size)
{
    uint64_t first = FL_NO_EVENT, last = 0;
    for (size_t i = 0; i < d->pins.count; i++) {
        uint64_t made = d->pins.items[i].owner.made;
        if (made == FL_NO_EVENT) {
            snprintf(buffer, size, "live since before the first event");
            return;
        }
        first = made < first ? made : first;
        last = made > last ? made : last;
    }
    if (first == last)
        snprintf(buffer, size, "live since event %" PRIu64, first);
    else
        snprintf(buffer, size, "made between events %" PRIu64 " and %" PRIu64, first, last);
}

void fl_diagnosis_counterfactual(const fl_diagnosis *d, char *buffer, size_t size)
{
    char since[80], count[COUNT_TEXT];
    buffer[0] = '\0';
    if (d->pins.count == 0)
        return;
    text_since(d, since, sizeof since);
    fl_format_count(d->pins.count, count, sizeof count);
    if (d->pins.count == 1)
        snprintf(buffer, size, "freeing this block (%s, %s) would have let the request fit",
                 SIZE(d->pinned_bytes), since);
    else
        snprintf(buffer, size, "freeing these %s blocks (%s, %s) would have let the request fit",
                 count, SIZE(d->pinned_bytes), since);
}
