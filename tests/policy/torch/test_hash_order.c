#include "policy/torch/hash_order.h"

#include <fraglab/heap.h>

#include "failing_host.h"
#include "test.h"

enum { MOST = 64 };

/* Streams go in by value and come out in order of iteration; a negative one is erased. */
static void expect_streams(const int *script, size_t count, const uint32_t *order, size_t length)
{
    struct hash_order map = {0};
    uint32_t values[MOST];
    for (size_t i = 0; i < count; i++) {
        if (script[i] < 0)
            hash_order_erase(&map, hash_of_stream((uint64_t)-script[i]), (uint32_t)-script[i]);
        else
            assert_true(hash_order_put(fl_host_default(), &map, hash_of_stream((uint64_t)script[i]),
                                       (uint32_t)script[i]));
    }
    assert_int_equal(map.count, length);
    hash_order_list(&map, values);
    for (size_t i = 0; i < length; i++)
        assert_int_equal(values[i], order[i]);
    hash_order_deinit(fl_host_default(), &map);
}

#define EXPECT_STREAMS(script, order)                                                              \
    expect_streams(script, COUNT_OF(script), order, COUNT_OF(order))

static void three_streams_iterate_by_their_slots(void **state)
{
    (void)state;
    static const int put[] = {0, 64, 128};
    static const uint32_t order[] = {0, 128, 64};
    EXPECT_STREAMS(put, order);
}

static void two_that_share_a_home_iterate_as_they_came(void **state)
{
    (void)state;
    static const int one[] = {0, 128}, other[] = {128, 0};
    static const uint32_t one_order[] = {0, 128}, other_order[] = {128, 0};
    EXPECT_STREAMS(one, one_order);
    EXPECT_STREAMS(other, other_order);
}

/* 128 and 0 share a home, so the second lies one slot on until the first is gone. */
static void a_removal_moves_up_what_was_displaced(void **state)
{
    (void)state;
    const fl_host *host = fl_host_default();
    struct hash_order map = {0};
    assert_true(hash_order_put(host, &map, hash_of_stream(128), 1));
    assert_true(hash_order_put(host, &map, hash_of_stream(0), 2));
    hash_order_erase(&map, hash_of_stream(128), 1);
    assert_true(hash_order_has(&map, hash_of_stream(0), 2));
    hash_order_deinit(host, &map);
}

static void a_table_that_grew_does_not_shrink_again(void **state)
{
    (void)state;
    static const int put[] = {128, 0, 64, -64};
    static const uint32_t order[] = {0, 128};
    EXPECT_STREAMS(put, order);
}

static void twenty_streams_grow_the_table_to_64_slots(void **state)
{
    (void)state;
    static const uint32_t order[] = {288, 0,  144, 272, 128, 112, 256, 96,  240, 80,
                                     224, 64, 208, 48,  192, 32,  176, 160, 304, 16};
    int put[20];
    for (int i = 0; i < 20; i++)
        put[i] = i * 16;
    EXPECT_STREAMS(put, order);
}

static void too_long_a_probe_doubles_a_table_that_is_not_half_full(void **state)
{
    (void)state;
    static const int put[] = {4320, 5904, 160, 16, 3840, 3008, 448};
    static const uint32_t order[] = {3008, 3840, 5904, 160, 448, 16, 4320};
    EXPECT_STREAMS(put, order);
}

static void pools_are_hashed_by_the_first_number_that_is_not_0(void **state)
{
    (void)state;
    static const uint32_t put[] = {5, 3, 1, 2, 4, 9}, order[] = {5, 2, 4, 9, 1, 3};
    struct hash_order map = {0};
    uint32_t values[COUNT_OF(order)];
    for (size_t i = 0; i < COUNT_OF(put); i++)
        assert_true(hash_order_put(fl_host_default(), &map,
                                   hash_of_pool(i % 2 ? put[i] : 0, put[i] + i % 2), put[i]));
    hash_order_list(&map, values);
    assert_memory_equal(values, order, sizeof order);
    hash_order_deinit(fl_host_default(), &map);
}

static void what_was_put_is_found_until_it_is_erased(void **state)
{
    (void)state;
    enum { KEYS = 300, STEPS = 20000 };
    bool is_in[KEYS] = {false};
    uint32_t count = 0;
    struct hash_order map = {0};
    uint64_t noise = 0x9E3779B97F4A7C15u;
    for (int step = 0; step < STEPS; step++) {
        noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
        uint32_t key = (uint32_t)(noise % KEYS);
        uint64_t hash = hash_of_stream(key * 16);
        assert_int_equal(hash_order_has(&map, hash, key), is_in[key]);
        if (is_in[key])
            hash_order_erase(&map, hash, key);
        else
            assert_true(hash_order_put(fl_host_default(), &map, hash, key));
        count += is_in[key] ? -1u : 1u;
        is_in[key] = !is_in[key];
        assert_int_equal(map.count, count);
    }
    hash_order_deinit(fl_host_default(), &map);
}

static void only_so_many_equal_hashes_have_room(void **state)
{
    (void)state;
    struct hash_order map = {0};
    bool fits = true;
    uint32_t count = 0;
    while (fits && count < MOST)
        fits = hash_order_put(fl_host_default(), &map, 7, count++);
    assert_false(fits);
    assert_true(hash_order_has(&map, 7, 0));
    hash_order_deinit(fl_host_default(), &map);
}

static void two_values_of_one_hash_are_told_apart(void **state)
{
    (void)state;
    struct hash_order map = {0};
    uint64_t hash = hash_of_pool(3, 0);
    assert_int_equal(hash_of_pool(0, 3), hash);
    assert_true(hash_order_put(fl_host_default(), &map, hash, 1));
    assert_false(hash_order_has(&map, hash, 2));
    assert_true(hash_order_put(fl_host_default(), &map, hash, 2));
    hash_order_erase(&map, hash, 1);
    assert_false(hash_order_has(&map, hash, 1));
    assert_true(hash_order_has(&map, hash, 2));
    hash_order_deinit(fl_host_default(), &map);
}

static fl_status fill_a_map(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    struct hash_order map = {0};
    bool done = true;
    for (uint32_t i = 0; i < 40 && done; i++) {
        uint32_t before = map.count;
        done = hash_order_put(host, &map, hash_of_stream(i * 16), i);
        assert_int_equal(map.count, before + done);
    }
    hash_order_deinit(host, &map);
    return done ? FL_OK : fl_fail(error, FL_ERR_RESOURCE, "no room");
}

static void a_host_without_memory_leaves_the_map_as_it_was(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(fill_a_map, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_streams_iterate_by_their_slots),
        cmocka_unit_test(two_that_share_a_home_iterate_as_they_came),
        cmocka_unit_test(a_removal_moves_up_what_was_displaced),
        cmocka_unit_test(a_table_that_grew_does_not_shrink_again),
        cmocka_unit_test(twenty_streams_grow_the_table_to_64_slots),
        cmocka_unit_test(too_long_a_probe_doubles_a_table_that_is_not_half_full),
        cmocka_unit_test(pools_are_hashed_by_the_first_number_that_is_not_0),
        cmocka_unit_test(what_was_put_is_found_until_it_is_erased),
        cmocka_unit_test(only_so_many_equal_hashes_have_room),
        cmocka_unit_test(two_values_of_one_hash_are_told_apart),
        cmocka_unit_test(a_host_without_memory_leaves_the_map_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
