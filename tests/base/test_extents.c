#include "base/extents.h"

#include "failing_host.h"
#include "test.h"

#include <string.h>

static void add(fl_extents *set, uint64_t address, uint64_t size)
{
    fl_extent extent = {.address = address, .size = size, .owner = (uint32_t)size};
    assert_true(fl_extents_insert(fl_host_default(), set, extent, NULL));
}

static void an_empty_set_fits_everything_at_its_start(void **state)
{
    (void)state;
    fl_extents set = {.start = 1000};
    fl_extent extent;
    assert_int_equal(fl_extents_lowest_fit(&set, UINT64_MAX), 1000);
    assert_false(fl_extents_floor(&set, UINT64_MAX, &extent));
    assert_false(fl_extents_ceiling(&set, 0, &extent));
    assert_false(fl_extents_remove(&set, 1000, NULL));
    assert_false(fl_extents_overlap(&set, 0, UINT64_MAX));
    assert_true(fl_extents_overlap(&set, 2, UINT64_MAX));
    fl_extents_deinit(fl_host_default(), &set);
}

static void neighbours_are_found_on_both_sides(void **state)
{
    (void)state;
    fl_extents set = {0};
    fl_extent extent;
    add(&set, 10, 5);
    add(&set, 30, 7);
    assert_false(fl_extents_floor(&set, 9, &extent));
    assert_true(fl_extents_floor(&set, 29, &extent));
    assert_int_equal(extent.address, 10);
    assert_true(fl_extents_ceiling(&set, 11, &extent));
    assert_int_equal(extent.address, 30);
    assert_int_equal(extent.size, 7);
    assert_int_equal(extent.owner, 7);
    assert_false(fl_extents_ceiling(&set, 31, &extent));
    fl_extents_deinit(fl_host_default(), &set);
}

static void touching_is_not_overlapping(void **state)
{
    (void)state;
    fl_extents set = {0};
    add(&set, 10, 5);
    assert_false(fl_extents_overlap(&set, 0, 10));
    assert_false(fl_extents_overlap(&set, 15, 10));
    assert_true(fl_extents_overlap(&set, 14, 1));
    assert_true(fl_extents_overlap(&set, 0, 11));
    assert_true(fl_extents_overlap(&set, 0, UINT64_MAX));
    fl_extents_deinit(fl_host_default(), &set);
}

static void what_an_extent_holds_lies_in_it_alone(void **state)
{
    (void)state;
    fl_extents set = {0};
    add(&set, 10, 5);
    add(&set, 15, 5);
    assert_true(fl_extents_hold(&set, 10, 5));
    assert_true(fl_extents_hold(&set, 19, 1));
    assert_false(fl_extents_hold(&set, 14, 2));
    assert_false(fl_extents_hold(&set, 9, 2));
    assert_false(fl_extents_hold(&set, 20, 1));
    assert_false(fl_extents_hold(&set, 12, UINT64_MAX));
    fl_extents_deinit(fl_host_default(), &set);
}

static void the_lowest_gap_that_holds_the_size_is_taken(void **state)
{
    (void)state;
    fl_extents set = {.start = 100};
    add(&set, 104, 6);
    add(&set, 120, 10);
    add(&set, 140, 10);
    assert_int_equal(fl_extents_lowest_fit(&set, 4), 100);
    assert_int_equal(fl_extents_lowest_fit(&set, 5), 110);
    assert_int_equal(fl_extents_lowest_fit(&set, 10), 110);
    assert_int_equal(fl_extents_lowest_fit(&set, 11), 150);
    assert_true(fl_extents_remove(&set, 120, NULL));
    assert_int_equal(fl_extents_lowest_fit(&set, 30), 110);
    assert_true(fl_extents_remove(&set, 140, NULL));
    assert_int_equal(fl_extents_lowest_fit(&set, 31), 110);
    fl_extents_deinit(fl_host_default(), &set);
}

static void another_size_moves_the_gap_behind(void **state)
{
    (void)state;
    fl_extents set = {0};
    fl_extent extent;
    add(&set, 0, 10);
    add(&set, 20, 10);
    fl_extents_resize(&set, 0, 4);
    assert_int_equal(fl_extents_lowest_fit(&set, 16), 4);
    fl_extents_resize(&set, 0, 20);
    assert_int_equal(fl_extents_lowest_fit(&set, 1), 30);
    fl_extents_resize(&set, 20, 100);
    assert_int_equal(fl_extents_lowest_fit(&set, 1), 120);
    assert_true(fl_extents_floor(&set, 19, &extent));
    assert_int_equal(extent.size, 20);
    fl_extents_deinit(fl_host_default(), &set);
}

/* One byte per address says whether it is taken; the set must agree after every step. */
enum { SPACE = 400, STEPS = 40000 };

static uint64_t truth_fit(const char *taken, uint64_t size)
{
    uint64_t run = 0;
    for (uint64_t i = 0; i < SPACE; i++) {
        run = taken[i] ? 0 : run + 1;
        if (run == size)
            return i + 1 - size;
    }
    uint64_t end = SPACE;
    while (end > 0 && !taken[end - 1])
        end--;
    return end;
}

static void a_range_is_taken_out_of_all_that_it_meets(void **state)
{
    (void)state;
    const fl_host *host = fl_host_default();
    fl_extents set = {0};
    fl_extent extent;
    uint64_t taken = 0;
    add(&set, 10, 10);
    add(&set, 20, 5);
    add(&set, 30, 10);
    assert_true(fl_extents_take(host, &set, 15, 20, &taken, NULL));
    assert_int_equal(taken, 15); /* five bytes were in none */
    assert_int_equal(set.count, 2);
    assert_true(fl_extents_floor(&set, 10, &extent));
    assert_int_equal(extent.size, 5);
    assert_int_equal(extent.owner, 10);
    assert_true(fl_extents_ceiling(&set, 11, &extent));
    assert_int_equal(extent.address, 35);
    assert_int_equal(extent.size, 5);
    assert_true(fl_extents_take(host, &set, 36, 2, &taken, NULL));
    assert_int_equal(taken, 2);
    assert_int_equal(set.count, 3);
    fl_extents_deinit(host, &set);
}

static void random_steps_agree_with_a_map_of_bytes(void **state)
{
    (void)state;
    static char taken[SPACE];
    static uint64_t sizes[SPACE];
    fl_extents set = {0};
    size_t count = 0;
    uint64_t noise = 0x9E3779B97F4A7C15u;
    for (int step = 0; step < STEPS; step++) {
        noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
        uint64_t at = noise % SPACE, size = 1 + (noise >> 20) % 12;
        if (sizes[at] > 0) {
            assert_true(fl_extents_remove(&set, at, NULL));
            memset(taken + at, 0, sizes[at]);
            sizes[at] = 0;
            count--;
        } else if (at + size <= SPACE) {
            bool is_taken = memchr(taken + at, 1, size) != NULL;
            assert_int_equal(fl_extents_overlap(&set, at, size), is_taken);
            if (is_taken)
                continue;
            add(&set, at, size);
            memset(taken + at, 1, size);
            sizes[at] = size;
            count++;
        }
        assert_int_equal(set.count, count);
        uint64_t wanted = 1 + (noise >> 40) % 20, fit = fl_extents_lowest_fit(&set, wanted);
        assert_int_equal(fit, truth_fit(taken, wanted));
    }
    fl_extents_deinit(fl_host_default(), &set);
}

static void ascending_addresses_keep_the_tree_flat(void **state)
{
    (void)state;
    fl_extents set = {0};
    for (uint64_t i = 0; i < 100000; i++)
        add(&set, i * 2, 1);
    assert_true(set.nodes.items[set.root - 1].height <= 24);
    for (uint64_t i = 0; i < 100000; i++)
        assert_true(fl_extents_remove(&set, i * 2, NULL));
    assert_int_equal(set.root, 0);
    fl_extents_deinit(fl_host_default(), &set);
}

static fl_status fill_a_set(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_extents set = {0};
    bool done = true;
    for (uint64_t i = 0; i < 100 && done; i++) {
        size_t before = set.count;
        done = fl_extents_insert(host, &set, (fl_extent){i * 10, 5, 0}, error);
        assert_int_equal(set.count, before + done);
    }
    fl_extents_deinit(host, &set);
    return done ? FL_OK : FL_ERR_RESOURCE;
}

static void a_host_without_memory_leaves_the_set_as_it_was(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(fill_a_set, NULL) > 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_set_fits_everything_at_its_start),
        cmocka_unit_test(neighbours_are_found_on_both_sides),
        cmocka_unit_test(touching_is_not_overlapping),
        cmocka_unit_test(what_an_extent_holds_lies_in_it_alone),
        cmocka_unit_test(the_lowest_gap_that_holds_the_size_is_taken),
        cmocka_unit_test(another_size_moves_the_gap_behind),
        cmocka_unit_test(a_range_is_taken_out_of_all_that_it_meets),
        cmocka_unit_test(random_steps_agree_with_a_map_of_bytes),
        cmocka_unit_test(ascending_addresses_keep_the_tree_flat),
        cmocka_unit_test(a_host_without_memory_leaves_the_set_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
