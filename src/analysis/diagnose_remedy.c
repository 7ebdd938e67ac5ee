/* Settings with which everything is served on the same card: each was replayed. */
#include "analysis/diagnose_state.h"

#include <stdlib.h>
#include <string.h>

/* What is tried, in the order in which it is named where two are as good. */
static const char *const remedy_confs[] = {
    "expandable_segments:True",
    "max_split_size_mb:512",
    "max_split_size_mb:256",
    "max_split_size_mb:128",
    "max_split_size_mb:64",
    "max_split_size_mb:32",
    "max_split_size_mb:21",
    "roundup_power2_divisions:4",
    "garbage_collection_threshold:0.8",
    "",
};

/* Does it differ from what is in force, and does this release take it? */
static bool remedy_is_new(const fl_diagnosing *d, const char *conf)
{
    const char *own = d->options.conf != NULL ? d->options.conf : "";
    fl_settings settings;
    fl_settings_default(d->options.profile, &settings);
    return strcmp(conf, own) != 0 &&
           fl_settings_parse(d->options.profile, conf, &settings, NULL) == FL_OK;
}

static uint64_t remedy_calls(const fl_replay_summary *summary)
{
    return summary->driver_malloc + summary->driver_free + summary->driver_map +
           summary->driver_unmap;
}

/* By how much the card could be smaller: what fits only just may not fit tomorrow. */
static fl_status remedy_spare(const fl_diagnosing *d, const fl_replay_options *options,
                              unsigned *ret_percent, fl_error *error)
{
    static const unsigned percents[] = {2, 5, 10, 20};
    fl_replay_options smaller = *options;
    fl_replay_summary summary;
    *ret_percent = 0;
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        smaller.capacity_bytes = options->capacity_bytes / 100 * (100 - percents[i]);
        fl_status status = fl_diagnose_run(d, &smaller, &summary, error);
        if (status != FL_OK || summary.has_oom)
            return status;
        *ret_percent = percents[i];
    }
    return FL_OK;
}

static fl_status remedy_try(fl_diagnosing *d, const char *conf, fl_error *error)
{
    struct fl_remedies *remedies = &d->result->remedies;
    fl_replay_options options = fl_diagnose_anew(d);
    fl_replay_summary summary;
    options.conf = *conf != '\0' ? conf : NULL;
    fl_status status = fl_diagnose_run(d, &options, &summary, error);
    if (status != FL_OK)
        return status;
    d->result->remedies_tried++;
    if (summary.has_oom)
        return FL_OK;
    fl_remedy remedy = {.conf = conf,
                        .peak_reserved_bytes = summary.peak.reserved_bytes,
                        .driver_calls = remedy_calls(&summary)};
    status = remedy_spare(d, &options, &remedy.spare_percent, error);
    if (status != FL_OK)
        return status;
    if (!fl_vector_reserve(d->host, remedies, 1, error))
        return FL_ERR_RESOURCE;
    remedies->items[remedies->count++] = remedy;
    return FL_OK;
}

static size_t remedy_rank(const fl_remedy *remedy)
{
    size_t rank = 0;
    while (strcmp(remedy_confs[rank], remedy->conf) != 0)
        rank++;
    return rank;
}

/* Most room to spare first, then the fewest calls of the driver. */
static int remedy_compare(const void *left, const void *right)
{
    const fl_remedy *a = left, *b = right;
    if (a->spare_percent != b->spare_percent)
        return a->spare_percent > b->spare_percent ? -1 : 1;
    if (a->driver_calls != b->driver_calls)
        return a->driver_calls < b->driver_calls ? -1 : 1;
    size_t first = remedy_rank(a), second = remedy_rank(b);
    return first < second ? -1 : first > second;
}

fl_status fl_diagnose_remedies(fl_diagnosing *d, fl_error *error)
{
    if (d->options.profile == NULL)
        return FL_OK; /* a policy without PyTorch's settings */
    for (size_t i = 0; i < sizeof remedy_confs / sizeof *remedy_confs; i++) {
        if (!remedy_is_new(d, remedy_confs[i]))
            continue;
        fl_status status = remedy_try(d, remedy_confs[i], error);
        if (status != FL_OK)
            return status;
    }
    struct fl_remedies *remedies = &d->result->remedies;
    if (remedies->count > 0)
        qsort(remedies->items, remedies->count, sizeof *remedies->items, remedy_compare);
    return FL_OK;
}
