/* The released allocators as rows (1, 21, 22).  Each group of releases names what it changed; a
 * later initialiser of the same field wins, so a row reads as "as before, but". */
#include "rules/profile.h"

#include <string.h>

/* clang-format off */
#define RULES_2_0                                                                                  \
    .tie = FL_TIE_ADDRESS, .use_on_oom = FL_USE_ON_OOM_NEVER, .parser = FL_PARSER_OLD,             \
    .one_division_unrounded = true, .scope_is_capture = true, .trim_refused_in_scope = true
#define RULES_2_1  RULES_2_0 /* expandable segments: keys.c knows the setting */
#define RULES_2_4  RULES_2_1, .one_division_unrounded = false, .zero_division_accepted = true,     \
    .capture_uses_forgotten = true
#define RULES_2_5  RULES_2_4, .expandable_in_private_pools = true, .expandable_not_released = true
#define RULES_2_6  RULES_2_5 /* max_non_split_rounding_mb: likewise */
#define RULES_2_8  RULES_2_6, .trim_refused_in_scope = false, .use_on_oom = FL_USE_ON_OOM_LAST
#define RULES_2_10 RULES_2_8, .parser = FL_PARSER_NEW, .has_process_fraction = true,               \
    .has_no_split = true, .fraction_one_is_no_limit = true, .newest_scope_first = true,            \
    .fallback_splits_plainly = true
#define RULES_2_11 RULES_2_10, .has_large_segment = true, .use_on_oom = FL_USE_ON_OOM_EARLY
#define RULES_2_12 RULES_2_11, .tie = FL_TIE_BLOCK
#define RULES_2_13 RULES_2_12, .tie = FL_TIE_SEGMENT, .limit_is_rounded = true,                    \
    .scope_is_capture = false, .has_exact_address = true
#define RULES_2_14 RULES_2_13, .no_split_ends_with_pool = true
#define RULES_2_15 RULES_2_14, .small_range_is_dropped = true

/* A row repeats fields on purpose. */
#pragma GCC diagnostic push
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#else
#pragma GCC diagnostic ignored "-Woverride-init"
#endif
static const fl_profile profiles[] = {
    {"2.0.1",  2,  0, 1, RULES_2_0},
    {"2.1.2",  2,  1, 2, RULES_2_1},
    {"2.2.2",  2,  2, 2, RULES_2_1},
    {"2.3.1",  2,  3, 1, RULES_2_1},
    {"2.4.1",  2,  4, 1, RULES_2_4},
    {"2.5.1",  2,  5, 1, RULES_2_5},
    {"2.6.0",  2,  6, 0, RULES_2_6},
    {"2.7.1",  2,  7, 1, RULES_2_6},
    {"2.8.0",  2,  8, 0, RULES_2_8},
    {"2.9.1",  2,  9, 1, RULES_2_8},
    {"2.10.0", 2, 10, 0, RULES_2_10},
    {"2.11.0", 2, 11, 0, RULES_2_11},
    {"2.12.0", 2, 12, 0, RULES_2_12},
    {"2.12.1", 2, 12, 1, RULES_2_12},
    {"2.13.0", 2, 13, 0, RULES_2_13},
    {"2.14.1", 2, 14, 1, RULES_2_14},
    {"2.15.0", 2, 15, 0, RULES_2_15},
};
#pragma GCC diagnostic pop
/* clang-format on */

enum { PROFILE_COUNT = sizeof profiles / sizeof *profiles };

const fl_profile *fl_profile_at(size_t index)
{
    return index < PROFILE_COUNT ? &profiles[index] : NULL;
}

const fl_profile *fl_profile_newest(void)
{
    return &profiles[PROFILE_COUNT - 1];
}

const char *fl_profile_release(const fl_profile *profile)
{
    return profile->release;
}

/* Reads digits; what follows them, or NULL where there are none.  Beyond 9999 is all the same. */
static const char *profile_read_part(const char *text, unsigned *ret_part)
{
    if (*text < '0' || *text > '9')
        return NULL;
    unsigned part = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (part < 10000)
            part = part * 10 + (unsigned)(*text - '0');
    *ret_part = part;
    return text;
}

/* What may follow the numbers: `a0`, `rc1`, `.post1`, `.dev20250101`, `+cu128`. */
static bool profile_is_suffix(const char *text)
{
    static const char *const marks[] = {"a", "b", "rc", ".post", ".dev"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t length = strlen(marks[i]);
        if (strncmp(text, marks[i], length) == 0)
            text += length + strspn(text + length, "0123456789");
    }
    return *text == '\0' || (*text == '+' && text[1] != '\0');
}

/* Reads `MAJOR.MINOR[.PATCH]` with or without a suffix; the number of parts, 0 where it is none. */
static int profile_read_version(const char *text, unsigned parts[3])
{
    int count = 0;
    for (const char *part = text; count < 3; part = text + 1) {
        const char *rest = profile_read_part(part, &parts[count]);
        if (rest == NULL)
            break;
        text = rest;
        count++;
        if (*text != '.')
            break;
    }
    return count >= 2 && profile_is_suffix(text) ? count : 0;
}

/* The newest row of a minor release, or the one of that patch level if there is one. */
static const fl_profile *profile_match(const unsigned parts[3], bool has_patch, bool *ret_exact)
{
    const fl_profile *best = NULL;
    *ret_exact = false;
    for (size_t i = 0; i < PROFILE_COUNT; i++) {
        const fl_profile *row = &profiles[i];
        if (row->major != parts[0] || row->minor != parts[1])
            continue;
        if (has_patch && row->patch == parts[2]) {
            *ret_exact = true;
            return row;
        }
        if (best == NULL || !has_patch || row->patch <= parts[2])
            best = row;
    }
    if (best != NULL && !has_patch)
        *ret_exact = true;
    return best;
}

fl_status fl_profile_find(const char *version, const fl_profile **ret_profile, bool *ret_exact,
                          fl_error *error)
{
    unsigned parts[3] = {0};
    int count = profile_read_version(version, parts);
    const fl_profile *newest = &profiles[PROFILE_COUNT - 1];
    if (count == 0) {
        fl_fail(error, FL_ERR_USAGE, "'%.60s' is not a PyTorch version", version);
        fl_hint(error, "expected one from %s to %s, such as 2.9 or 2.9.1", profiles[0].release,
                newest->release);
        return FL_ERR_USAGE;
    }
    bool exact;
    const fl_profile *profile = profile_match(parts, count == 3, &exact);
    if (profile == NULL) {
        fl_fail(error, FL_ERR_USAGE, "no rules for PyTorch %.60s are known", version);
        fl_hint(error, "known are %s to %s", profiles[0].release, newest->release);
        return FL_ERR_USAGE;
    }
    *ret_profile = profile;
    *ret_exact = exact;
    return FL_OK;
}
