/* Which settings there are to try.
 *
 * A candidate that the release refuses is none.  One whose settings differ from an earlier one's
 * only where the trace never looks (divisions that round every size of it as before, a large
 * segment size without a request of that class) must do the same, and is left out. */
#include "analysis/tune.h"

#include "base/checked.h"
#include "rules/sizes.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLLECT_FRACTION 0.999 /* garbage collection needs a limit; this one hardly is */
#define MARKS_MOST       48    /* places tried for one empty_cache() */

/* ---- what the traces ask for ----------------------------------------------------------------- */

static int compare_sizes(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void keep_distinct(struct fl_tune_sizes *sizes)
{
    size_t kept = 0;
    if (sizes->count > 0)
        qsort(sizes->items, sizes->count, sizeof *sizes->items, compare_sizes);
    for (size_t i = 0; i < sizes->count; i++)
        if (kept == 0 || sizes->items[i] != sizes->items[kept - 1])
            sizes->items[kept++] = sizes->items[i];
    sizes->count = kept;
}

static void survey_op(fl_tune_state *state, uint8_t kind)
{
    state->has_limit |= kind == FL_OP_LIMIT;
    state->is_configured |= kind == FL_OP_CONFIGURE;
}

static fl_status survey_trace(fl_tune_state *state, size_t index, fl_error *error)
{
    size_t device = state->options->trace_devices[index], count;
    const fl_columns *columns = fl_trace_columns(state->traces[index], device);
    const fl_insertion *inferred = fl_trace_insertions(state->traces[index], device, &count);
    state->events += columns->count;
    for (size_t i = 0; i < count; i++)
        survey_op(state, inferred[i].op.kind);
    for (uint64_t i = 0; i < columns->count; i++) {
        survey_op(state, columns->kind[i]);
        if (columns->kind[i] != FL_OP_ALLOC || columns->size[i] == 0)
            continue;
        /* Repetitions are thinned out before the list could outgrow the distinct sizes much. */
        if (state->sizes.count == state->sizes.capacity)
            keep_distinct(&state->sizes);
        if (!fl_vector_reserve(state->host, &state->sizes, 1 + state->sizes.count / 2, error))
            return FL_ERR_RESOURCE;
        state->sizes.items[state->sizes.count++] = columns->size[i];
    }
    return FL_OK;
}

fl_status fl_tune_survey(fl_tune_state *state, fl_error *error)
{
    fl_status status = FL_OK;
    for (size_t i = 0; i < state->trace_count && status == FL_OK; i++)
        status = survey_trace(state, i, error);
    keep_distinct(&state->sizes);
    return status;
}

/* ---- what could not differ ------------------------------------------------------------------- */

static void mix(uint64_t *sum, uint64_t value)
{
    *sum = (*sum ^ value) * UINT64_C(0x100000001B3);
    *sum ^= *sum >> 29;
}

static void mix_real(uint64_t *sum, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    mix(sum, bits);
}

/* Rounded sizes and what they are asked of the device in, as far as each matters.  A block is never
 * larger than its segment, so a split limit above all of those is none; but an expandable one
 * grows. */
static void mix_sizes(const fl_tune_state *state, const fl_settings *settings, uint64_t *sum)
{
    bool has_large = settings->expandable;
    uint64_t largest = settings->expandable ? FL_UNLIMITED : 0;
    for (size_t i = 0; i < state->sizes.count; i++) {
        uint64_t rounded =
            fl_round_size(state->options->replay.profile, settings, state->sizes.items[i]);
        uint64_t segment = fl_segment_size(settings, rounded);
        has_large |= rounded > FL_SMALL_SIZE && rounded < FL_MIN_LARGE_ALLOC;
        largest = segment > largest ? segment : largest;
        mix(sum, rounded);
    }
    bool has_split =
        settings->max_split_bytes <= largest && settings->max_split_bytes != FL_UNLIMITED;
    mix(sum, has_large ? settings->large_segment_bytes : 0);
    mix(sum, has_split ? settings->max_split_bytes : FL_UNLIMITED);
    mix(sum, has_split ? settings->non_split_rounding_bytes : 0);
}

/* Two candidates with one signature do the same. */
static uint64_t signature_of(const fl_tune_state *state, const fl_tune_candidate *candidate,
                             const fl_settings *settings)
{
    uint64_t sum = UINT64_C(0xCBF29CE484222325);
    bool has_limit = state->has_limit || candidate->fraction >= 0 || settings->process_fraction < 1;
    mix(&sum, settings->expandable);
    mix(&sum, settings->reject_on_oom);
    mix(&sum, settings->reserve.is_given + 2u * settings->reserve.is_fraction);
    mix_real(&sum, settings->reserve.value);
    mix_real(&sum, has_limit ? settings->collect_threshold : 0);
    mix_real(&sum, candidate->fraction >= 0 ? candidate->fraction : settings->process_fraction);
    mix(&sum, (uint64_t)candidate->change);
    mix(&sum, candidate->change_event);
    mix_sizes(state, settings, &sum);
    /* What replaces some settings on its way may make others matter. */
    for (const char *at = candidate->conf; state->is_configured && *at != '\0'; at++)
        mix(&sum, (unsigned char)*at);
    return sum;
}

fl_status fl_tune_add(fl_tune_state *state, const fl_tune_candidate *candidate, fl_error *error)
{
    const fl_profile *profile = state->options->replay.profile;
    fl_settings settings;
    fl_settings_default(profile, &settings);
    if (candidate->conf[0] != '\0' &&
        fl_settings_parse(profile, candidate->conf, &settings, NULL) != FL_OK)
        return FL_OK;
    uint64_t signature = signature_of(state, candidate, &settings);
    for (size_t i = 0; i < state->signatures.count; i++)
        if (state->signatures.items[i] == signature)
            return FL_OK;
    if (!fl_vector_reserve(state->host, &state->signatures, 1, error) ||
        !fl_vector_reserve(state->host, &state->candidates, 1, error))
        return FL_ERR_RESOURCE;
    state->signatures.items[state->signatures.count++] = signature;
    fl_tune_candidate *own = &state->candidates.items[state->candidates.count++];
    *own = *candidate;
    own->smallest_card_bytes = FL_UNLIMITED;
    if (settings.expandable && settings.max_split_bytes != FL_UNLIMITED)
        own->flags |= FL_TUNE_CONFLICTING;
    return FL_OK;
}

/* ---- the list -------------------------------------------------------------------------------- */

static fl_status add_conf(fl_tune_state *state, unsigned flags, fl_error *error, const char *format,
                          ...) FL_PRINTF(4, 5);

static fl_status add_conf(fl_tune_state *state, unsigned flags, fl_error *error, const char *format,
                          ...)
{
    fl_tune_candidate candidate = {.fraction = state->options->replay.fraction, .flags = flags};
    va_list args;
    va_start(args, format);
    vsnprintf(candidate.conf, sizeof candidate.conf, format, args);
    va_end(args);
    return fl_tune_add(state, &candidate, error);
}

/* Garbage collection is off without a limit: one comes along where there is none, in the settings
 * where the release knows it there. */
static fl_status add_collecting(fl_tune_state *state, unsigned flags, const char *conf,
                                double threshold, fl_error *error)
{
    const fl_profile *profile = state->options->replay.profile;
    fl_tune_candidate candidate = {.fraction = state->options->replay.fraction, .flags = flags};
    bool has_limit = state->has_limit || candidate.fraction >= 0;
    bool in_conf = !has_limit && profile->has_process_fraction;
    if (!has_limit && !in_conf)
        candidate.fraction = COLLECT_FRACTION;
    char limit[48] = "";
    if (in_conf)
        snprintf(limit, sizeof limit, ",per_process_memory_fraction:%g", COLLECT_FRACTION);
    snprintf(candidate.conf, sizeof candidate.conf, "%s%sgarbage_collection_threshold:%g%s", conf,
             *conf != '\0' ? "," : "", threshold, limit);
    return fl_tune_add(state, &candidate, error);
}

static fl_status add_base(fl_tune_state *state, fl_error *error)
{
    const char *conf = state->options->replay.conf;
    return add_conf(state, FL_TUNE_BASE | FL_TUNE_USUAL, error, "%s", conf != NULL ? conf : "");
}

fl_status fl_tune_add_usual(fl_tune_state *state, fl_error *error)
{
    static const char *const confs[] = {
        "",
        "expandable_segments:True",
        "max_split_size_mb:128",
        "max_split_size_mb:64",
        "max_split_size_mb:256",
        "max_split_size_mb:512",
        "max_split_size_mb:1024",
        "max_split_size_mb:32",
        "max_split_size_mb:21",
        "roundup_power2_divisions:4",
        "roundup_power2_divisions:8",
        "roundup_power2_divisions:16",
        "expandable_segments:True,roundup_power2_divisions:4",
        "expandable_segments:True,max_split_size_mb:128",
    };
    static const struct {
        const char *conf;
        double threshold;
    } collecting[] = {{"", 0.6}, {"", 0.8}, {"max_split_size_mb:128", 0.8}};
    fl_status status = add_base(state, error);
    for (size_t i = 0; i < sizeof confs / sizeof *confs && status == FL_OK; i++)
        status = add_conf(state, FL_TUNE_USUAL, error, "%s", confs[i]);
    for (size_t i = 0; i < sizeof collecting / sizeof *collecting && status == FL_OK; i++)
        status = add_collecting(state, FL_TUNE_USUAL, collecting[i].conf, collecting[i].threshold,
                                error);
    return status;
}

/* Rounding in one class of sizes only. */
static fl_status add_divisions(fl_tune_state *state, fl_error *error)
{
    fl_status status = FL_OK;
    unsigned below = state->options->replay.profile->zero_division_accepted ? 0 : 1;
    for (unsigned slot = 0; slot < FL_ROUNDUP_SLOTS; slot++) {
        for (unsigned divisions = 2; divisions <= 32 && status == FL_OK; divisions *= 2) {
            if (slot == 0)
                status = add_conf(state, 0, error, "roundup_power2_divisions:[1:%u]", divisions);
            else
                status = add_conf(state, 0, error, "roundup_power2_divisions:[1:%u,%u:%u]", below,
                                  1u << slot, divisions);
        }
    }
    return status;
}

/* The split limit of what fits and needs least, for the combinations; 0: none fits. */
static unsigned best_split(const fl_tune_state *state)
{
    const fl_tune_candidate *best = NULL;
    unsigned best_limit = 0;
    for (size_t i = 0; i < state->candidates.count; i++) {
        const fl_tune_candidate *candidate = &state->candidates.items[i];
        unsigned limit;
        static const char key[] = "max_split_size_mb:";
        const char *digits = candidate->conf + sizeof key - 1;
        if (strncmp(candidate->conf, key, sizeof key - 1) != 0 || strchr(digits, ',') != NULL)
            continue;
        limit = (unsigned)strtoul(digits, NULL, 10);
        bool is_better = best == NULL || (candidate->outcome.fits && !best->outcome.fits) ||
                         (candidate->outcome.fits == best->outcome.fits &&
                          candidate->outcome.cost_us < best->outcome.cost_us);
        if (is_better) {
            best = candidate;
            best_limit = limit;
        }
    }
    return best_limit;
}

static fl_status add_with_split(fl_tune_state *state, unsigned split, fl_error *error)
{
    static const unsigned roundings[] = {32, 64, 128, 256, 512, 1024};
    static const double thresholds[] = {0.6, 0.7, 0.8, 0.9};
    char conf[48];
    fl_status status = FL_OK;
    snprintf(conf, sizeof conf, "max_split_size_mb:%u", split);
    for (size_t i = 0; i < sizeof roundings / sizeof *roundings && status == FL_OK; i++)
        status = add_conf(state, 0, error, "%s,max_non_split_rounding_mb:%u", conf, roundings[i]);
    for (unsigned divisions = 4; divisions <= 16 && status == FL_OK; divisions *= 2)
        status = add_conf(state, 0, error, "%s,roundup_power2_divisions:%u", conf, divisions);
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds && status == FL_OK; i++)
        status = add_collecting(state, 0, conf, thresholds[i], error);
    return status;
}

/* A large segment size is a quantity, not a threshold: every value counts on its own. */
static fl_status add_segment_sizes(fl_tune_state *state, fl_error *error)
{
    size_t before = state->candidates.count;
    fl_status status = FL_OK;
    for (unsigned size = 11; size <= 512 && status == FL_OK; size += size < 64 ? 1 : size / 8) {
        status = add_conf(state, 0, error, "large_segment_size_mb:%u", size);
        if (status == FL_OK && (size < 24 || size % 8 == 0))
            status = add_conf(state, 0, error, "expandable_segments:True,large_segment_size_mb:%u",
                              size);
    }
    state->is_sampled |= state->candidates.count > before; /* there are steps above 64 */
    return status;
}

fl_status fl_tune_add_further(fl_tune_state *state, fl_error *error)
{
    static const double thresholds[] = {0.5, 0.7, 0.9, 0.95};
    unsigned split = best_split(state);
    fl_status status = add_divisions(state, error);
    if (status == FL_OK && split > 0)
        status = add_with_split(state, split, error);
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds && status == FL_OK; i++)
        status = add_collecting(state, 0, "", thresholds[i], error);
    for (unsigned divisions = 8; divisions <= 16 && status == FL_OK; divisions *= 2)
        status = add_conf(state, 0, error, "expandable_segments:True,roundup_power2_divisions:%u",
                          divisions);
    return status == FL_OK ? add_segment_sizes(state, error) : status;
}

/* ---- changes of the program ------------------------------------------------------------------ */

static fl_status add_change(fl_tune_state *state, fl_tune_change change, uint64_t event,
                            fl_error *error)
{
    fl_tune_candidate candidate = {
        .fraction = state->options->replay.fraction, .change = change, .change_event = event};
    const char *conf = state->options->replay.conf;
    snprintf(candidate.conf, sizeof candidate.conf, "%s", conf != NULL ? conf : "");
    return fl_tune_add(state, &candidate, error);
}

/* One empty_cache() at each mark, or at some of them. */
static fl_status add_trims(fl_tune_state *state, fl_error *error)
{
    const fl_columns *columns =
        fl_trace_columns(state->traces[0], state->options->trace_devices[0]);
    uint64_t count = 0, number = 0;
    for (uint64_t i = 0; i < columns->count; i++)
        count += columns->kind[i] == FL_OP_MARK;
    uint64_t step = 1 + count / MARKS_MOST;
    state->is_sampled |= step > 1;
    fl_status status = FL_OK;
    for (uint64_t i = 0; i < columns->count && status == FL_OK; i++)
        if (columns->kind[i] == FL_OP_MARK && number++ % step == 0)
            status = add_change(state, FL_TUNE_EMPTY_CACHE, i, error);
    return status;
}

fl_status fl_tune_add_changes(fl_tune_state *state, fl_error *error)
{
    fl_status status = add_change(state, FL_TUNE_LARGEST_FIRST, 0, error);
    return status == FL_OK && state->trace_count == 1 ? add_trims(state, error) : status;
}
