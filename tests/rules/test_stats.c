#include <fraglab/stats.h>

#include "stats_file.h"
#include "test.h"

static void statistics_have_the_names_of_memory_stats(void **state)
{
    (void)state;
    static const char *const names[] = {
        "allocation",      "segment",        "active",       "inactive_split",
        "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes",
        "requested_bytes",
    };
    assert_int_equal(COUNT_OF(names), FL_STAT_COUNT);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(fl_stat_name((fl_stat_kind)i), names[i]);
    assert_null(fl_stat_name(FL_STAT_COUNT));
}

static const fl_profile *release(const char *name)
{
    for (size_t i = 0; fl_profile_at(i) != NULL; i++)
        if (strcmp(fl_profile_release(fl_profile_at(i)), name) == 0)
            return fl_profile_at(i);
    fail_msg("no release '%s'", name);
    return NULL;
}

typedef struct listing {
    const stats_device *expected;
    size_t count;
} listing;

static void compare_key(void *user, const char *key, int64_t value)
{
    listing *l = user;
    assert_true(l->count < l->expected->key_count);
    assert_string_equal(key, l->expected->keys[l->count].key);
    assert_int_equal(value, l->expected->keys[l->count].value);
    l->count++;
}

static void genuine_statistics_are_listed_key_by_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(stats_files); i++) {
        static stats_file file;
        char path[256];
        snprintf(path, sizeof path, "%s.stats.json", stats_files[i]);
        stats_file_read(path, &file);
        for (size_t d = 0; d < file.device_count; d++) {
            stats_device *device = &file.devices[d];
            listing l = {device, 0};
            fl_stats_list(release(file.release), &device->stats, device->pools, device->pool_count,
                          compare_key, &l);
            assert_int_equal(l.count, device->key_count);
        }
    }
}

static void count_key(void *user, const char *key, int64_t value)
{
    (void)key;
    (void)value;
    ++*(size_t *)user;
}

static void keys_come_with_their_releases(void **state)
{
    (void)state;
    static const struct {
        const char *release;
        size_t count;
    } rows[] = {{"2.0.1", 119},  {"2.2.2", 119},  {"2.3.1", 122}, {"2.11.0", 122},
                {"2.12.0", 123}, {"2.13.0", 135}, {"2.15.0", 135}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_stats stats = {0};
        fl_pool_stats pool = {{0, 1}, {{0}}};
        size_t count = 0;
        fl_stats_list(release(rows[i].release), &stats, &pool, 1, count_key, &count);
        assert_int_equal(count, rows[i].count);
    }
}

static void find_limit(void *user, const char *key, int64_t value)
{
    if (strcmp(key, "max_split_size") == 0)
        *(int64_t *)user = value;
}

static void no_split_limit_is_minus_one(void **state)
{
    (void)state;
    fl_stats stats = {.max_split_bytes = FL_UNLIMITED};
    int64_t value = 0;
    fl_stats_list(release("2.9.1"), &stats, NULL, 0, find_limit, &value);
    assert_int_equal(value, -1);
}

typedef struct order {
    const char *const *expected;
    size_t at;
} order;

static void expect_pool(void *user, const char *key, int64_t value)
{
    order *o = user;
    (void)value;
    if (strstr(key, "pools.") != NULL && strstr(key, ".all.current") != NULL) {
        assert_string_equal(key, o->expected[o->at]);
        o->at++;
    }
}

static void pools_are_sorted_as_texts(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "reserved_bytes_by_private_pools.0_1.all.current",
        "reserved_bytes_by_private_pools.0_10.all.current",
        "reserved_bytes_by_private_pools.0_2.all.current",
        "reserved_bytes_by_private_pools.10_0.all.current",
        "reserved_bytes_by_private_pools.18446744073709551615_0.all.current",
        "reserved_bytes_by_private_pools.1_0.all.current",
    };
    fl_pool_stats pools[6] = {{{0, 2}, {{0}}},          {{1, 0}, {{0}}}, {{0, 10}, {{0}}},
                              {{UINT64_MAX, 0}, {{0}}}, {{0, 1}, {{0}}}, {{10, 0}, {{0}}}};
    fl_stats stats = {0};
    order o = {expected, 0};
    fl_stats_list(release("2.13.0"), &stats, pools, 6, expect_pool, &o);
    assert_int_equal(o.at, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_have_the_names_of_memory_stats),
        cmocka_unit_test(genuine_statistics_are_listed_key_by_key),
        cmocka_unit_test(keys_come_with_their_releases),
        cmocka_unit_test(no_split_limit_is_minus_one),
        cmocka_unit_test(pools_are_sorted_as_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
