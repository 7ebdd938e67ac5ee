/* Every key of the seventeen releases.  A key that was renamed, or whose range or message changed,
 * has a row for each form; `last` ends a form, and what begins later begins with its own row. */
#include "rules/keys.h"

#include <stddef.h>

#define SINCE(minor)      .first = FL_RELEASE(2, minor)
#define BETWEEN(from, to) .first = FL_RELEASE(2, from), .last = FL_RELEASE(2, to)
#define AT(member)        .field = offsetof(fl_settings, member)
#define IGNORED           .field = FL_KEY_NO_FIELD

#define MEGABYTES .kind = FL_KEY_MEGABYTES
#define FLAG      .kind = FL_KEY_FLAG
#define COMMON    .owner = FL_OWNER_COMMON
#define DEVICE    .owner = FL_OWNER_DEVICE

/* clang-format off */
static const fl_key keys[] = {
    {"max_split_size_mb", BETWEEN(0, 9), MEGABYTES, COMMON, AT(max_split_bytes), .least = 21,
     .refusal = "CachingAllocator option max_split_size_mb too small, must be > 20"},
    {"max_split_size_mb", SINCE(10), MEGABYTES, COMMON, AT(max_split_bytes),
     .least = FL_LEAST_LARGE,
     .refusal = "CachingAllocator option max_split_size_mb too small, must be >="},

    {"max_non_split_rounding_mb", BETWEEN(6, 9), MEGABYTES, COMMON, AT(non_split_rounding_bytes),
     .least = 21,
     .refusal = "CachingAllocator option max_non_split_rounding_mb too small, must be > 20"},
    {"max_non_split_rounding_mb", SINCE(10), MEGABYTES, COMMON, AT(non_split_rounding_bytes),
     .least = FL_LEAST_LARGE,
     .refusal = "CachingAllocator option max_non_split_rounding_mb too small, must be >="},

    {"large_segment_size_mb", SINCE(11), MEGABYTES, .owner = FL_OWNER_SEGMENT,
     AT(large_segment_bytes), .least = 11,
     .refusal = "CachingAllocator option large_segment_size_mb must be > 10 MB"},

    {"garbage_collection_threshold", BETWEEN(0, 9), .kind = FL_KEY_REAL, COMMON,
     AT(collect_threshold), .refusal = "garbage_collect_threshold too small, set it 0.0~1.0",
     .refusal2 = "garbage_collect_threshold too big, set it 0.0~1.0"},
    {"garbage_collection_threshold", SINCE(10), .kind = FL_KEY_REAL, COMMON, AT(collect_threshold),
     .refusal = "garbage_collect_threshold is invalid, set it in (0.0, 1.0)"},

    {"roundup_power2_divisions", BETWEEN(0, 3), .kind = FL_KEY_DIVISIONS, COMMON, AT(divisions),
     .refusal = "For roundups, the divisons has to be power of 2"},
    {"roundup_power2_divisions", BETWEEN(4, 7), .kind = FL_KEY_DIVISIONS, COMMON, AT(divisions),
     .refusal = "For roundups, the divisons has to be power of 2",
     .refusal2 = "For roundups, the divisons has to be power of 2 or 0 to disable roundup"},
    {"roundup_power2_divisions", SINCE(8), .kind = FL_KEY_DIVISIONS, COMMON, AT(divisions),
     .refusal = "For roundups, the divisions has to be power of 2",
     .refusal2 = "For roundups, the divisions has to be power of 2 or 0 to disable roundup"},

    {"expandable_segments", SINCE(1), FLAG, COMMON, AT(expandable),
     .missing = "Expected a single True/False argument for expandable_segments"},
    {"expandable_segments_reserve", SINCE(15), .kind = FL_KEY_RESERVE, DEVICE, AT(reserve)},
    {"expandable_segments_reserve_by_class", SINCE(15), .kind = FL_KEY_RESERVE_LIST, DEVICE,
     IGNORED},

    {"per_process_memory_fraction", SINCE(10), .kind = FL_KEY_REAL, DEVICE, AT(process_fraction),
     .is_closed = true,
     .refusal = "per_process_memory_fraction is invalid, set it in [0.0, 1.0]"},
    {"throw_on_cudamalloc_oom", SINCE(12), FLAG, DEVICE, AT(reject_on_oom)},
    {"backend", SINCE(0), .kind = FL_KEY_BACKEND, DEVICE, IGNORED,
     .refusal = "Unknown allocator backend, options are native and cudaMallocAsync",
     .missing = "Error parsing backend value"},

    {"graph_capture_record_stream_reuse", SINCE(9), FLAG, DEVICE, IGNORED},
    {"release_lock_on_cudamalloc", SINCE(2), FLAG, DEVICE, IGNORED,
     .missing = "Expected a single True/False argument for release_lock_on_cudamalloc"},
    {"release_lock_on_hipmalloc", SINCE(2), FLAG, DEVICE, IGNORED,
     .missing = "Expected a single True/False argument for release_lock_on_cudamalloc",
     .alias = "release_lock_on_cudamalloc"},

    {"pinned_use_cuda_host_register", SINCE(2), FLAG, DEVICE, IGNORED},
    {"pinned_use_hip_host_register", SINCE(2), FLAG, DEVICE, IGNORED,
     .alias = "pinned_use_cuda_host_register"},
    {"pinned_num_register_threads", BETWEEN(2, 9), .kind = FL_KEY_THREADS, DEVICE, IGNORED,
     .refusal = "Number of register threads has to be power of 2",
     .refusal2 = "Number of register threads should be less than or equal to 128"},
    {"pinned_num_register_threads", SINCE(10), .kind = FL_KEY_THREADS, DEVICE, IGNORED,
     .names_value = true, .refusal = "Number of register threads has to be power of 2",
     .refusal2 = "Number of register threads should be less than or equal to 128"},
    {"pinned_use_background_threads", SINCE(6), FLAG, COMMON, IGNORED},
    {"pinned_reserve_segment_size_mb", SINCE(10), MEGABYTES, DEVICE, IGNORED, .least = 1,
     .refusal = "Pinned reserve segment size has to be greater than 0"},
    {"pinned_free_catch_all", SINCE(12), FLAG, DEVICE, IGNORED},
    {"pinned_max_round_threshold_mb", SINCE(13), MEGABYTES, COMMON, IGNORED},
    {"pinned_max_cached_size_mb", SINCE(13), MEGABYTES, COMMON, IGNORED},
};
/* clang-format on */

_Static_assert(sizeof keys / sizeof *keys <= FL_KEYS_MOST, "room for the name of every row");

static bool key_is_read(const fl_key *key, const fl_profile *profile)
{
    unsigned release = FL_RELEASE(profile->major, profile->minor);
    return release >= key->first && (key->last == 0 || release <= key->last);
}

const fl_key *fl_key_find(const fl_profile *profile, const fl_token *name)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (key_is_read(&keys[i], profile) && fl_token_is(name, keys[i].name))
            return &keys[i];
    return NULL;
}

void fl_key_names(const fl_profile *profile, const char *ret_names[FL_KEYS_MOST + 1])
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (key_is_read(&keys[i], profile))
            ret_names[count++] = keys[i].name;
    ret_names[count] = NULL;
}

unsigned fl_key_first(const fl_token *name)
{
    unsigned first = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (fl_token_is(name, keys[i].name) && (first == 0 || keys[i].first < first))
            first = keys[i].first;
    return first;
}
