/* The statistics as torch.cuda.memory_stats lists them (14): sorted by name, `.` before `_`. */
#include <fraglab/stats.h>

#include "rules/keys.h"
#include "rules/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const stat_names[FL_STAT_COUNT] = {
    [FL_STAT_ALLOCATION] = "allocation",
    [FL_STAT_SEGMENT] = "segment",
    [FL_STAT_ACTIVE] = "active",
    [FL_STAT_INACTIVE_SPLIT] = "inactive_split",
    [FL_STAT_ALLOCATED_BYTES] = "allocated_bytes",
    [FL_STAT_RESERVED_BYTES] = "reserved_bytes",
    [FL_STAT_ACTIVE_BYTES] = "active_bytes",
    [FL_STAT_INACTIVE_SPLIT_BYTES] = "inactive_split_bytes",
    [FL_STAT_REQUESTED_BYTES] = "requested_bytes",
};

const char *fl_stat_name(fl_stat_kind kind)
{
    return (unsigned)kind < FL_STAT_COUNT ? stat_names[kind] : NULL;
}

typedef enum row_kind { ROW_GROUPS, ROW_SINGLE, ROW_COUNTER, ROW_POOLS } row_kind;

/* A row of the list; `at` is its place in fl_stats. */
#define GROUPS(kind)    ROW_GROUPS, offsetof(fl_stats, stat) + (kind) * sizeof(fl_stat[FL_STAT_GROUPS])
#define SINGLE(member)  ROW_SINGLE, offsetof(fl_stats, member)
#define COUNTER(member) ROW_COUNTER, offsetof(fl_stats, member)

/* clang-format off */
static const struct {
    const char *name;
    row_kind kind;
    size_t at;
    unsigned first; /* the release that brought it; 0: every one has it */
} rows[] = {
    {"active", GROUPS(FL_STAT_ACTIVE), 0},
    {"active_bytes", GROUPS(FL_STAT_ACTIVE_BYTES), 0},
    {"allocated_bytes", GROUPS(FL_STAT_ALLOCATED_BYTES), 0},
    {"allocation", GROUPS(FL_STAT_ALLOCATION), 0},
    {"inactive_split", GROUPS(FL_STAT_INACTIVE_SPLIT), 0},
    {"inactive_split_bytes", GROUPS(FL_STAT_INACTIVE_SPLIT_BYTES), 0},
    {"max_split_size", COUNTER(max_split_bytes), 0},
    {"num_alloc_retries", COUNTER(alloc_retries), 0},
    {"num_device_alloc", COUNTER(device_allocs), FL_RELEASE(2, 3)},
    {"num_device_free", COUNTER(device_frees), FL_RELEASE(2, 3)},
    {"num_oom_rejections", COUNTER(oom_rejections), FL_RELEASE(2, 12)},
    {"num_ooms", COUNTER(ooms), 0},
    {"num_sync_all_streams", COUNTER(sync_all_streams), FL_RELEASE(2, 3)},
    {"oversize_allocations", SINGLE(oversize_allocations), 0},
    {"oversize_segments", SINGLE(oversize_segments), 0},
    {"requested_bytes", GROUPS(FL_STAT_REQUESTED_BYTES), 0},
    {"reserved_bytes", GROUPS(FL_STAT_RESERVED_BYTES), 0},
    {"reserved_bytes_by_private_pools", ROW_POOLS, 0, FL_RELEASE(2, 13)},
    {"segment", GROUPS(FL_STAT_SEGMENT), 0},
};
/* clang-format on */

typedef struct lister {
    void (*visit)(void *user, const char *key, int64_t value);
    void *user;
} lister;

#define KEY_SIZE 128

static void list_stat(const lister *l, const char *name, const fl_stat *stat)
{
    const struct {
        const char *name;
        uint64_t value;
    } parts[] = {
        {"allocated", stat->allocated},
        {"current", stat->current},
        {"freed", stat->freed},
        {"peak", stat->peak},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char key[KEY_SIZE];
        fl_text text = fl_text_open(key, sizeof key);
        fl_text_print(&text, "%s.%s", name, parts[i].name);
        l->visit(l->user, key, (int64_t)parts[i].value);
    }
}

static void list_groups(const lister *l, const char *name, const fl_stat groups[FL_STAT_GROUPS])
{
    static const struct {
        const char *name;
        size_t group;
    } parts[] = {
        {"all", FL_STAT_ALL}, {"large_pool", FL_STAT_LARGE}, {"small_pool", FL_STAT_SMALL}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char key[KEY_SIZE];
        fl_text text = fl_text_open(key, sizeof key);
        fl_text_print(&text, "%s.%s", name, parts[i].name);
        list_stat(l, key, &groups[parts[i].group]);
    }
}

static void pool_name(const fl_pool_stats *pool, const char *end, char buffer[KEY_SIZE])
{
    fl_text text = fl_text_open(buffer, KEY_SIZE);
    fl_text_print(&text, "%llu_%llu%s", (unsigned long long)pool->id[0],
                  (unsigned long long)pool->id[1], end);
}

/* By key: pool (0,10) comes after (0,1) and before (0,2). */
static int pool_compare(const void *a, const void *b)
{
    char name_a[KEY_SIZE], name_b[KEY_SIZE];
    pool_name(a, ".", name_a);
    pool_name(b, ".", name_b);
    return strcmp(name_a, name_b);
}

static void list_pools(const lister *l, const char *name, fl_pool_stats *pools, size_t count)
{
    if (count > 1)
        qsort(pools, count, sizeof *pools, pool_compare);
    for (size_t i = 0; i < count; i++) {
        char id[KEY_SIZE], key[KEY_SIZE];
        pool_name(&pools[i], "", id);
        fl_text text = fl_text_open(key, sizeof key);
        fl_text_print(&text, "%s.%s", name, id);
        list_groups(l, key, pools[i].reserved);
    }
}

void fl_stats_list(const fl_profile *profile, const fl_stats *stats, fl_pool_stats *pools,
                   size_t pool_count, void (*visit)(void *user, const char *key, int64_t value),
                   void *user)
{
    const lister l = {visit, user};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (FL_RELEASE(profile->major, profile->minor) < rows[i].first)
            continue;
        const char *place = (const char *)stats + rows[i].at;
        fl_stat groups[FL_STAT_GROUPS];
        uint64_t counter;
        switch (rows[i].kind) {
        case ROW_GROUPS:
            memcpy(groups, place, sizeof groups);
            list_groups(&l, rows[i].name, groups);
            break;
        case ROW_SINGLE:
            memcpy(groups, place, sizeof *groups);
            list_stat(&l, rows[i].name, groups);
            break;
        case ROW_COUNTER:
            memcpy(&counter, place, sizeof counter);
            visit(user, rows[i].name, (int64_t)counter);
            break;
        case ROW_POOLS:
            list_pools(&l, rows[i].name, pools, pool_count);
            break;
        }
    }
}
