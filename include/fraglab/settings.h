/* fraglab/settings.h - PyTorch releases as data, and the settings text as each of them reads it.
 *
 * Section numbers are those of docs/allocator-rules.md. */
#ifndef FRAGLAB_SETTINGS_H
#define FRAGLAB_SETTINGS_H

#include <fraglab/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one release does, one row per release in src/rules/profile.c.  Opaque outside rules and the
 * torch policy. */
typedef struct fl_profile fl_profile;

#define FL_UNLIMITED     UINT64_MAX
#define FL_ROUNDUP_SLOTS 16

/* How much address range an expandable segment reserves (18.6). */
typedef struct fl_reserve {
    bool is_given;    /* else 9/8 of the device */
    bool is_fraction; /* `value` is a part of the device; else GiB */
    double value;     /* finite, > 0 */
} fl_reserve;

/* Settings in force (18). */
typedef struct fl_settings {
    uint64_t max_split_bytes; /* FL_UNLIMITED: none */
    uint64_t non_split_rounding_bytes;
    uint64_t large_segment_bytes; /* 20 MiB */
    double collect_threshold;     /* garbage_collection_threshold; 0: off */
    double process_fraction; /* per_process_memory_fraction; 1: none; read at the start only (13) */
    uint64_t divisions[FL_ROUNDUP_SLOTS]; /* roundup_power2_divisions by size class; 0: off */
    fl_reserve reserve;                   /* expandable_segments_reserve */
    bool expandable;
    bool reject_on_oom; /* throw_on_cudamalloc_oom */
} fl_settings;

/* The release that a version text means: `2.9`, `2.9.1`, `2.9.1+cu128`.  A patch level that is not
 * known gives the nearest known one and sets *ret_exact to false.  FL_ERR_USAGE: not a version, or
 * one without a row. */
FL_API fl_status fl_profile_find(const char *version, const fl_profile **ret_profile,
                                 bool *ret_exact, fl_error *error);

/* Releases this build knows, oldest first; NULL beyond the last. */
FL_API const fl_profile *fl_profile_at(size_t index);
FL_API const fl_profile *fl_profile_newest(void);
FL_API const char *fl_profile_release(const fl_profile *profile); /* "2.9.1" */

/* The environment variables in which a settings text may stand, the one that wins over the others
 * first; NULL beyond the last (18.1). */
FL_API const char *fl_settings_variable(size_t index);

/* Does this release read the variable, `index` being below their number?  Where it does not, what
 * stands in it is ignored without a word. */
FL_API bool fl_settings_reads_variable(const fl_profile *profile, size_t index);

/* The settings of a release before anything is read. */
FL_API void fl_settings_default(const fl_profile *profile, fl_settings *ret_settings);

/* Reads a settings text over `settings` as that release does at its start: what the release
 * forgets before reading (split limit, divisions, threshold) is forgotten, everything else stays
 * unless named.  Settings that cannot matter to a replay (`pinned_*`, `release_lock_*`, …) are
 * checked and passed over.
 *
 * FL_ERR_USAGE: the release refuses the text; the error text is what it says, the hint ours where
 * it is not clear.  FL_ERR_UNAVAILABLE: valid there, but it chooses another back end.  On failure
 * `settings` is unchanged, although a real allocator keeps what it read before the mistake. */
FL_API fl_status fl_settings_parse(const fl_profile *profile, const char *text,
                                   fl_settings *settings, fl_error *error);

#ifdef __cplusplus
}
#endif

#endif
