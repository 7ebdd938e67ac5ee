/* Reads what PyTorch said of itself (NAME.stats.json) back into our records, by the names of the
 * keys, so that listing and printing those records must give the files again. */
#ifndef STATS_FILE_H
#define STATS_FILE_H

#include <fraglab/stats.h>

#include "test.h"

#include <stdio.h>
#include <string.h>

typedef struct stats_device {
    fl_stats stats;
    fl_pool_stats pools[8];
    size_t pool_count;
    size_t key_count;
    struct {
        char key[128];
        long long value;
    } keys[512]; /* in the order of the file */
} stats_device;

typedef struct stats_file {
    char release[32];
    stats_device devices[4];
    size_t device_count;
} stats_file;

static inline uint64_t *stats_file_part(fl_stat *stat, const char *part)
{
    return strcmp(part, "current") == 0     ? &stat->current
           : strcmp(part, "peak") == 0      ? &stat->peak
           : strcmp(part, "allocated") == 0 ? &stat->allocated
                                            : &stat->freed;
}

static inline int stats_file_group(const char *group)
{
    return strcmp(group, "all") == 0          ? FL_STAT_ALL
           : strcmp(group, "small_pool") == 0 ? FL_STAT_SMALL
                                              : FL_STAT_LARGE;
}

static inline uint64_t *stats_file_place(stats_device *device, const char *key)
{
    char name[128], group[32], part[32];
    unsigned long long a, b;
    fl_stats *stats = &device->stats;
    if (sscanf(key, "reserved_bytes_by_private_pools.%llu_%llu.%31[^.].%31s", &a, &b, group,
               part) == 4) {
        size_t i = 0;
        while (i < device->pool_count &&
               (device->pools[i].id[0] != a || device->pools[i].id[1] != b))
            i++;
        assert_true(i < COUNT_OF(device->pools));
        device->pool_count += i == device->pool_count;
        device->pools[i].id[0] = a;
        device->pools[i].id[1] = b;
        return stats_file_part(&device->pools[i].reserved[stats_file_group(group)], part);
    }
    int parts = sscanf(key, "%127[^.].%31[^.].%31s", name, group, part);
    if (parts == 3) {
        for (int kind = 0; kind < FL_STAT_COUNT; kind++)
            if (strcmp(fl_stat_name((fl_stat_kind)kind), name) == 0)
                return stats_file_part(&stats->stat[kind][stats_file_group(group)], part);
    } else if (parts == 2) {
        if (strcmp(name, "oversize_allocations") == 0)
            return stats_file_part(&stats->oversize_allocations, group);
        if (strcmp(name, "oversize_segments") == 0)
            return stats_file_part(&stats->oversize_segments, group);
    } else {
        const struct {
            const char *name;
            uint64_t *place;
        } counters[] = {
            {"num_alloc_retries", &stats->alloc_retries},
            {"num_ooms", &stats->ooms},
            {"num_sync_all_streams", &stats->sync_all_streams},
            {"num_device_alloc", &stats->device_allocs},
            {"num_device_free", &stats->device_frees},
            {"num_oom_rejections", &stats->oom_rejections},
            {"max_split_size", &stats->max_split_bytes},
        };
        for (size_t i = 0; i < COUNT_OF(counters); i++)
            if (strcmp(counters[i].name, key) == 0)
                return counters[i].place;
    }
    fail_msg("unknown statistic '%s'", key);
    return NULL;
}

static inline void stats_file_read(const char *path, stats_file *ret_file)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s: not there", path);
    memset(ret_file, 0, sizeof *ret_file);
    stats_device *device = NULL;
    char line[256], key[128];
    while (fgets(line, sizeof line, file) != NULL) {
        long long value;
        sscanf(line, " \"torch\": \"%31[^+\"]", ret_file->release);
        if (strstr(line, "\"memory_stats\": {") != NULL) {
            assert_true(ret_file->device_count < COUNT_OF(ret_file->devices));
            device = &ret_file->devices[ret_file->device_count++];
        } else if (strchr(line, '}') != NULL) {
            device = NULL;
        } else if (device != NULL && sscanf(line, " \"%127[^\"]\": %lld", key, &value) == 2) {
            assert_true(device->key_count < COUNT_OF(device->keys));
            strcpy(device->keys[device->key_count].key, key);
            device->keys[device->key_count++].value = value;
            *stats_file_place(device, key) = (uint64_t)value;
        }
    }
    fclose(file);
    assert_true(ret_file->device_count > 0);
}

/* Every file there is, without `.stats.json`. */
static const char *const stats_files[] = {
    "tests/data/rules/memory_stats/2.0.1-graph.captured",
    "tests/data/rules/memory_stats/2.1.2-annot",
    "tests/data/rules/memory_stats/2.4.1-twodev",
    "tests/data/rules/memory_stats/2.10.0-pressure",
    "tests/data/rules/memory_stats/2.13.0-features",
    "tests/data/rules/memory_stats/2.13.0-graph_expand.captured",
    "tests/data/rules/memory_stats/2.15.0-fraction",
    "tests/data/snapshots/conv",
    "tests/data/snapshots/default",
    "tests/data/snapshots/events",
    "tests/data/snapshots/expandable",
    "tests/data/snapshots/expandpress",
    "tests/data/snapshots/fmt",
    "tests/data/snapshots/gpt",
    "tests/data/snapshots/gpt_oom",
    "tests/data/snapshots/pressure",
    "tests/data/snapshots/split128",
    "tests/data/snapshots/streams",
    "tests/data/snapshots/train",
};

#endif
