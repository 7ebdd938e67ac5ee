#include "analysis/review.h"

#include "rules/keys.h"
#include "rules/sizes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BEYOND_MEMORY (UINT64_C(1) << 60)
#define KEYS_MOST     64 /* items of one text that are looked at for repetitions */

static void remark(fl_review *review, const char *kind, const char *format, ...) FL_PRINTF(3, 4);

static void remark(fl_review *review, const char *kind, const char *format, ...)
{
    if (review->remark_count == FL_REMARKS_MOST)
        return;
    fl_remark *to = &review->remarks[review->remark_count++];
    va_list args;
    va_start(args, format);
    to->kind = kind;
    vsnprintf(to->text, sizeof to->text, format, args);
    va_end(args);
}

/* ---- item by item ---------------------------------------------------------------------------- */

/* A text's items as they pass. */
typedef struct items {
    const fl_profile *profile;
    fl_review *review;
    fl_tokens tokens;
    const fl_key *seen[KEYS_MOST];
    bool is_repeated[KEYS_MOST];
    size_t count;
    const fl_key *key; /* of the item at hand */
    fl_token value;
} items;

static void note_repeated(items *it)
{
    for (size_t i = 0; i < it->count; i++) {
        if (it->seen[i] != it->key)
            continue;
        if (!it->is_repeated[i])
            remark(it->review, "repeated", "%s is set more than once: %s", it->key->name,
                   it->key->kind == FL_KEY_DIVISIONS ? "a later one is written over an earlier"
                                                     : "the last one counts");
        it->is_repeated[i] = true;
        return;
    }
    if (it->count < KEYS_MOST)
        it->seen[it->count++] = it->key;
}

/* A number is read as far as it goes; a negative one wraps around. */
static void check_integer(const items *it)
{
    char quoted[FL_TOKEN_QUOTE];
    bool is_negative;
    uint64_t absolute;
    if (!fl_token_integer(&it->value, &is_negative, &absolute))
        return;
    fl_token_quote(&it->value, quoted);
    size_t sign = strspn(quoted, "+-");
    if (is_negative && absolute > 0)
        remark(it->review, "wraps", "%s: '%s' wraps around to a number far beyond any memory",
               it->key->name, quoted);
    else if (quoted[sign + strspn(quoted + sign, "0123456789")] != '\0')
        remark(it->review, "misread", "%s: '%s' is read as %" PRIu64 ": what follows is dropped",
               it->key->name, quoted, absolute);
}

static void check_real(const items *it)
{
    char quoted[FL_TOKEN_QUOTE];
    double value;
    bool is_all;
    if (!fl_token_real(&it->value, &value, &is_all) || is_all)
        return;
    fl_token_quote(&it->value, quoted);
    remark(it->review, "misread",
           "%s: '%s' is read to the end of the number: what follows is dropped", it->key->name,
           quoted);
}

static void check_list(const items *it)
{
    if (it->review->has_list)
        return;
    it->review->has_list = true;
    remark(it->review, "list",
           "%s: a size in the list is where its class begins, not where it ends, as the manual has "
           "it; the first one also counts below",
           it->key->name);
}

static void check_divisions(const items *it)
{
    bool is_negative;
    uint64_t absolute;
    if (fl_token_is(&it->value, "[")) {
        check_list(it);
        return;
    }
    check_integer(it);
    if (fl_token_integer(&it->value, &is_negative, &absolute) && absolute == 1)
        remark(it->review, "one_division", "%s: with 1 division %s", it->key->name,
               it->profile->one_division_unrounded
                   ? "sizes above 512 bytes are not rounded at all"
                   : "sizes are rounded to 512 bytes, as without it");
}

static void check_reserve(const items *it)
{
    char quoted[FL_TOKEN_QUOTE];
    fl_token_quote(&it->value, quoted);
    if (!it->review->settings.reserve.is_given)
        remark(it->review, "passed_over",
               "%s: '%s' is no positive number: passed over with a warning", it->key->name, quoted);
    if (!it->review->settings.expandable)
        remark(it->review, "needs", "%s matters only with expandable_segments:True", it->key->name);
}

/* Settings that are read, and do nothing to the memory of a device. */
static void check_effect(const items *it)
{
    bool is_pinned = strncmp(it->key->name, "pinned_", 7) == 0;
    bool is_lock = strncmp(it->key->name, "release_lock_", 13) == 0;
    if (is_pinned || is_lock)
        remark(it->review, "no_effect", "%s changes nothing in the GPU's memory", it->key->name);
}

static void check_item(items *it)
{
    static void (*const checks[])(const items *it) = {
        [FL_KEY_MEGABYTES] = check_integer, [FL_KEY_REAL] = check_real,
        [FL_KEY_THREADS] = check_integer,   [FL_KEY_DIVISIONS] = check_divisions,
        [FL_KEY_RESERVE] = check_reserve,   [FL_KEY_RESERVE_LIST] = NULL,
    };
    note_repeated(it);
    if (checks[it->key->kind] != NULL)
        checks[it->key->kind](it);
    check_effect(it);
}

/* The text was accepted, so every item is a name, a separator, and a value or a list. */
static void check_items(items *it)
{
    fl_token name, token;
    while (fl_tokens_next(&it->tokens, &name)) {
        it->key = fl_key_find(it->profile, &name);
        if (!fl_tokens_next(&it->tokens, &token) || !fl_tokens_next(&it->tokens, &it->value))
            return;
        if (it->key != NULL)
            check_item(it);
        token = it->value;
        if (fl_token_is(&token, "[")) {
            while (!fl_token_is(&token, "]") && fl_tokens_next(&it->tokens, &token))
                continue;
        }
        fl_tokens_next(&it->tokens, &token); /* the comma */
    }
}

static bool has_key(const items *it, const char *name)
{
    for (size_t i = 0; i < it->count; i++) {
        if (strcmp(it->seen[i]->name, name) == 0)
            return true;
    }
    return false;
}

/* ---- all together ---------------------------------------------------------------------------- */

static void check_collection(const items *it)
{
    const fl_profile *profile = it->profile;
    bool has_limit =
        has_key(it, "per_process_memory_fraction") && it->review->settings.process_fraction < 1;
    if (has_key(it, "per_process_memory_fraction") && !has_limit)
        remark(it->review, "no_limit", "per_process_memory_fraction:1 means no limit");
    if (it->review->settings.collect_threshold == 0 || has_limit)
        return;
    remark(it->review, "needs",
           "garbage_collection_threshold does nothing without a memory fraction%s: call "
           "set_per_process_memory_fraction%s",
           profile->fraction_one_is_no_limit ? " below 1" : "",
           profile->has_process_fraction ? ", or set per_process_memory_fraction" : "");
}

/* A segment for a smaller request that is itself as large as the limit is split at its first use,
 * and then never serves such a request again (3). */
static void check_split_limit(const items *it)
{
    const fl_settings *settings = &it->review->settings;
    uint64_t limit = settings->max_split_bytes;
    if (limit >= BEYOND_MEMORY) {
        if (has_key(it, "max_non_split_rounding_mb"))
            remark(it->review, "needs",
                   "max_non_split_rounding_mb matters only with "
                   "max_split_size_mb");
        return;
    }
    if (settings->expandable)
        remark(it->review, "grows",
               "expandable segments with a split limit: freed blocks above the limit are not used "
               "again, and memory grows without bound; set one of the two");
    else if (limit <= settings->large_segment_bytes)
        remark(
            it->review, "segments_at_limit",
            "max_split_size_mb is no more than a segment has: one for requests of 1 to 10 MiB is "
            "split at its first use, and once all in it is free it serves no such request again");
    else if (limit % FL_ROUND_LARGE != 0)
        remark(
            it->review, "segments_at_limit",
            "max_split_size_mb is odd: a segment for a request in the last MiB below it is split "
            "at its first use, and once all in it is free it serves no such request again");
}

void fl_review_text(const fl_profile *profile, const char *text, fl_review *ret_review)
{
    *ret_review = (fl_review){.variable = SIZE_MAX, .text = text};
    fl_settings_default(profile, &ret_review->settings);
    fl_status status =
        fl_settings_parse(profile, text, &ret_review->settings, &ret_review->refusal);
    if (status != FL_OK) {
        ret_review->verdict =
            status == FL_ERR_UNAVAILABLE ? FL_REVIEW_OTHER_BACKEND : FL_REVIEW_REFUSED;
        return;
    }
    items it = {.profile = profile,
                .review = ret_review,
                .tokens = {text, fl_parser_blanks(profile->parser), 0}};
    check_items(&it);
    check_collection(&it);
    check_split_limit(&it);
}

void fl_review_assignments(const fl_profile *profile, const struct fl_assignments *assignments,
                           fl_review *ret_review)
{
    const fl_assignment *best = NULL;
    for (size_t i = 0; i < assignments->count; i++) {
        const fl_assignment *next = &assignments->items[i];
        if (fl_settings_reads_variable(profile, next->variable) &&
            (best == NULL || next->variable <= best->variable))
            best = next;
    }
    if (best == NULL) {
        *ret_review = (fl_review){.verdict = FL_REVIEW_NOT_READ, .variable = SIZE_MAX};
        return;
    }
    fl_review_text(profile, best->value, ret_review);
    ret_review->variable = best->variable;
    for (size_t i = 0; fl_settings_variable(i) != NULL; i++) {
        bool is_set = false;
        for (size_t k = 0; k < assignments->count; k++)
            is_set |= assignments->items[k].variable == i;
        if (is_set && i != best->variable)
            remark(ret_review, "variable_ignored", "%s is ignored: %s", fl_settings_variable(i),
                   fl_settings_reads_variable(profile, i) ? "another variable wins"
                                                          : "this release does not read it");
    }
}

/* ---- comparison and table -------------------------------------------------------------------- */

static bool reserve_is_same(const fl_reserve *a, const fl_reserve *b)
{
    if (!a->is_given || !b->is_given)
        return a->is_given == b->is_given;
    return a->is_fraction == b->is_fraction && a->value == b->value;
}

static bool settings_are_same(const fl_settings *a, const fl_settings *b)
{
    return a->max_split_bytes == b->max_split_bytes &&
           a->non_split_rounding_bytes == b->non_split_rounding_bytes &&
           a->large_segment_bytes == b->large_segment_bytes &&
           a->collect_threshold == b->collect_threshold &&
           a->process_fraction == b->process_fraction &&
           memcmp(a->divisions, b->divisions, sizeof a->divisions) == 0 &&
           reserve_is_same(&a->reserve, &b->reserve) && a->expandable == b->expandable &&
           a->reject_on_oom == b->reject_on_oom;
}

bool fl_review_is_same(const fl_review *a, const fl_review *b)
{
    if (a->verdict != b->verdict || a->variable != b->variable ||
        strcmp(a->refusal.text, b->refusal.text) != 0 ||
        strcmp(a->refusal.hint, b->refusal.hint) != 0 || a->remark_count != b->remark_count)
        return false;
    for (size_t i = 0; i < a->remark_count; i++) {
        if (strcmp(a->remarks[i].text, b->remarks[i].text) != 0)
            return false;
    }
    return a->verdict != FL_REVIEW_ACCEPTED || settings_are_same(&a->settings, &b->settings);
}

size_t fl_division_classes(const fl_settings *settings,
                           fl_division_class ret_classes[FL_ROUNDUP_SLOTS])
{
    size_t count = 0;
    for (unsigned slot = 0; slot < FL_ROUNDUP_SLOTS; slot++) {
        uint64_t from = slot == 0 ? 0 : FL_MIB << slot;
        uint64_t to = slot + 1 == FL_ROUNDUP_SLOTS ? FL_UNLIMITED : FL_MIB << (slot + 1);
        if (count > 0 && ret_classes[count - 1].divisions == settings->divisions[slot])
            ret_classes[count - 1].to = to;
        else
            ret_classes[count++] = (fl_division_class){from, to, settings->divisions[slot]};
    }
    return count;
}
