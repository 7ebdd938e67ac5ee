#include <fraglab/device.h>

#include "base/units.h"
#include "failing_host.h"
#include "test.h"

#include <string.h>

#define SEGMENTS UINT64_C(0x7f0000000000)
#define RANGES   UINT64_C(0x700000000000)
#define MIB(n)   ((uint64_t)(n)*FL_MIB)

static fl_device *open_sim(uint64_t capacity)
{
    fl_device *device = NULL;
    fl_device_env env = {.capacity_bytes = capacity};
    assert_int_equal(fl_device_open(fl_device_find("sim"), &env, &device, NULL), FL_OK);
    return device;
}

static uint64_t acquire(fl_device *device, uint64_t size)
{
    uint64_t address = 0;
    assert_int_equal(fl_device_acquire(device, size, 0, &address), FL_ANSWER_OK);
    return address;
}

static uint64_t reserve(fl_device *device, uint64_t size)
{
    uint64_t address = 0;
    assert_int_equal(fl_device_reserve(device, size, MIB(2), 0, &address), FL_ANSWER_OK);
    return address;
}

static uint64_t create(fl_device *device, uint64_t size)
{
    uint64_t page = 0;
    assert_int_equal(fl_device_page_create(device, size, &page), FL_ANSWER_OK);
    return page;
}

static uint64_t used(const fl_device *device)
{
    return fl_device_get_info(device)->used_bytes;
}

static void segments_take_the_lowest_gap_in_whole_granules(void **state)
{
    (void)state;
    fl_device *device = open_sim(UINT64_MAX);
    assert_int_equal(acquire(device, 1), SEGMENTS);
    assert_int_equal(acquire(device, MIB(20)), SEGMENTS + MIB(2));
    assert_int_equal(acquire(device, MIB(3)), SEGMENTS + MIB(22));
    assert_int_equal(used(device), MIB(26));
    assert_int_equal(fl_device_release(device, SEGMENTS + MIB(2), MIB(20)), FL_ANSWER_OK);
    assert_int_equal(acquire(device, MIB(21)), SEGMENTS + MIB(26));
    assert_int_equal(acquire(device, MIB(18)), SEGMENTS + MIB(2));
    assert_int_equal(acquire(device, MIB(2)), SEGMENTS + MIB(20));
    fl_device_close(device);
}

/* What a start state holds comes in order of age, not of address. */
static void places_may_be_taken_in_any_order(void **state)
{
    (void)state;
    const uint64_t low = UINT64_C(0x302000000), high = UINT64_C(0x7f5000000000);
    for (int descends = 0; descends < 2; descends++) {
        fl_device *device = open_sim(UINT64_MAX);
        uint64_t first = descends ? high : low, second = descends ? low : high;
        assert_int_equal(fl_device_acquire_at(device, MIB(2), first), FL_ANSWER_OK);
        assert_int_equal(fl_device_reserve_at(device, MIB(40), second), FL_ANSWER_OK);
        assert_int_equal(acquire(device, MIB(2)), low + MIB(descends ? 40 : 2));
        assert_int_equal(fl_device_acquire_at(device, MIB(2), 2 * low), FL_ANSWER_OK);
        fl_device_close(device);
    }
}

static void a_place_that_cannot_be_is_the_fault_of_the_file(void **state)
{
    (void)state;
    const struct {
        uint64_t address, size;
    } rows[] = {
        {SEGMENTS + MIB(1), MIB(1)},       {SEGMENTS - MIB(1), MIB(2)},
        {(UINT64_C(1) << 62) - 1, MIB(2)}, {UINT64_MAX - MIB(4), MIB(2)},
        {MIB(2), UINT64_MAX - MIB(4)},     {MIB(2), 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fl_device *device = open_sim(UINT64_MAX);
        fl_error error = {0};
        assert_int_equal(fl_device_acquire_at(device, 1, SEGMENTS), FL_ANSWER_OK);
        assert_int_equal(fl_device_reserve_at(device, rows[i].size, rows[i].address),
                         FL_ANSWER_ERROR);
        assert_int_equal(fl_device_failure(device, &error), FL_ERR_INPUT);
        assert_non_null(strstr(error.text, "start state: "));
        fl_device_close(device);
    }
}

static void ranges_go_upward_and_are_never_used_twice(void **state)
{
    (void)state;
    fl_device *device = open_sim(0);
    assert_int_equal(reserve(device, MIB(3)), RANGES);
    assert_int_equal(fl_device_unreserve(device, RANGES, MIB(3)), FL_ANSWER_OK);
    assert_int_equal(reserve(device, MIB(2)), RANGES + MIB(6));
    assert_int_equal(fl_device_unreserve(device, RANGES, MIB(3)), FL_ANSWER_ERROR);
    fl_device_close(device);
}

static void ranges_that_no_longer_fit_below_the_segments_go_above(void **state)
{
    (void)state;
    fl_device *device = open_sim(UINT64_MAX);
    uint64_t most = SEGMENTS - RANGES - MIB(4), address = 0;
    assert_int_equal(reserve(device, most), RANGES);
    assert_int_equal(reserve(device, MIB(2)), UINT64_C(1) << 62);
    assert_int_equal(acquire(device, 1), SEGMENTS);
    assert_int_equal(fl_device_reserve(device, UINT64_C(1) << 62, MIB(2), 0, &address),
                     FL_ANSWER_FULL);
    assert_int_equal(fl_device_reserve(device, UINT64_MAX, MIB(2), 0, &address), FL_ANSWER_FULL);
    assert_int_equal(address, 0);
    fl_device_close(device);
}

static void the_capacity_is_a_bound_that_may_be_reached(void **state)
{
    (void)state;
    fl_device *device = open_sim(MIB(10));
    uint64_t address = 7, page = 7;
    acquire(device, MIB(7));
    assert_int_equal(fl_device_free_bytes(device), MIB(2));
    assert_int_equal(fl_device_acquire(device, MIB(2) + 1, 0, &address), FL_ANSWER_FULL);
    assert_int_equal(fl_device_page_create(device, MIB(3), &page), FL_ANSWER_FULL);
    assert_int_equal(address, 7);
    assert_int_equal(page, 7);
    assert_int_equal(used(device), MIB(8));
    create(device, MIB(2));
    assert_int_equal(fl_device_free_bytes(device), 0);
    fl_device_close(device);
}

static void huge_sizes_are_refused_and_nothing_is_asked_for_0_bytes(void **state)
{
    (void)state;
    uint64_t address = 7;
    for (int i = 0; i < 2; i++) {
        fl_device *device = open_sim(i == 0 ? UINT64_MAX : MIB(100));
        acquire(device, 1);
        for (uint64_t size = UINT64_MAX; size > UINT64_MAX / 4; size -= UINT64_MAX / 8)
            assert_int_equal(fl_device_acquire(device, size, 0, &address), FL_ANSWER_FULL);
        assert_int_equal(fl_device_page_create(device, UINT64_MAX, &address), FL_ANSWER_FULL);
        assert_int_equal(fl_device_acquire(device, 0, 0, &address), FL_ANSWER_ERROR);
        assert_int_equal(fl_device_reserve(device, 0, MIB(2), 0, &address), FL_ANSWER_ERROR);
        assert_int_equal(fl_device_page_create(device, 0, &address), FL_ANSWER_ERROR);
        assert_int_equal(address, 7);
        assert_int_equal(used(device), MIB(2));
        fl_device_close(device);
    }
}

static void a_page_counts_until_it_is_freed_and_no_longer_mapped(void **state)
{
    (void)state;
    fl_device *device = open_sim(MIB(100));
    uint64_t base = reserve(device, MIB(100)), page = create(device, MIB(21));
    assert_int_equal(used(device), MIB(22));
    assert_int_equal(fl_device_map(device, base, MIB(21), page), FL_ANSWER_OK);
    assert_int_equal(fl_device_map(device, base + MIB(21), MIB(21), page), FL_ANSWER_OK);
    assert_int_equal(fl_device_page_free(device, page), FL_ANSWER_OK);
    assert_int_equal(used(device), MIB(22));
    assert_int_equal(fl_device_unmap(device, base + MIB(21), MIB(21)), FL_ANSWER_OK);
    assert_int_equal(used(device), MIB(22));
    assert_int_equal(fl_device_unreserve(device, base, MIB(100)), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_unmap(device, base, MIB(21)), FL_ANSWER_OK);
    assert_int_equal(used(device), 0);
    assert_int_equal(fl_device_unreserve(device, base, MIB(100)), FL_ANSWER_OK);
    fl_device_close(device);
}

static void pages_are_mapped_only_where_a_range_has_room(void **state)
{
    (void)state;
    fl_device *device = open_sim(UINT64_MAX);
    uint64_t base = reserve(device, MIB(4)), page = create(device, MIB(2));
    assert_int_equal(fl_device_map(device, base - MIB(2), MIB(2), page), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_map(device, base + MIB(3), MIB(2), page), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_map(device, base, MIB(4), page), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_map(device, base, MIB(2), page + 1), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_map(device, base, MIB(2), page), FL_ANSWER_OK);
    assert_int_equal(fl_device_map(device, base + MIB(1), MIB(2), page), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_unmap(device, base, MIB(4)), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_unmap(device, base, MIB(1)), FL_ANSWER_ERROR);
    assert_int_equal(used(device), MIB(2));
    fl_device_close(device);
}

/* Books of single pages must not outgrow the machine that keeps them. */
static void no_more_than_16_tib_is_ever_paged(void **state)
{
    (void)state;
    fl_device_env env = {.capacity_bytes = UINT64_MAX};
    fl_device *device = NULL;
    assert_int_equal(fl_device_open(fl_device_find("sim"), &env, &device, NULL), FL_OK);
    uint64_t page;
    for (int i = 0; i < 16; i++)
        assert_int_equal(fl_device_page_create(device, UINT64_C(1) << 40, &page), FL_ANSWER_OK);
    assert_int_equal(fl_device_page_create(device, 1 << 21, &page), FL_ANSWER_FULL);
    assert_int_equal(fl_device_page_free(device, page), FL_ANSWER_OK);
    assert_int_equal(fl_device_page_create(device, 1 << 21, &page), FL_ANSWER_OK);
    fl_device_close(device);
}

static void memory_taken_outside_counts_against_the_capacity(void **state)
{
    (void)state;
    fl_device *device = open_sim(MIB(10));
    uint64_t address;
    acquire(device, MIB(4));
    assert_int_equal(fl_device_outside(device, MIB(5)), FL_ANSWER_OK);
    assert_int_equal(fl_device_free_bytes(device), MIB(1));
    assert_int_equal(fl_device_acquire(device, 1, 0, &address), FL_ANSWER_FULL);
    assert_int_equal(fl_device_get_info(device)->least_refused_bytes, MIB(11));
    assert_int_equal(fl_device_get_info(device)->most_granted_bytes, MIB(4));
    assert_int_equal(fl_device_outside(device, UINT64_MAX), FL_ANSWER_OK);
    assert_int_equal(used(device), UINT64_MAX);
    assert_int_equal(fl_device_free_bytes(device), 0);
    assert_int_equal(fl_device_acquire(device, 1, 0, &address), FL_ANSWER_FULL);
    assert_int_equal(fl_device_outside(device, 0), FL_ANSWER_OK);
    assert_int_equal(used(device), MIB(4));
    fl_device_close(device);
}

static void what_was_never_handed_out_cannot_come_back(void **state)
{
    (void)state;
    fl_device *device = open_sim(UINT64_MAX);
    uint64_t address = acquire(device, MIB(4));
    fl_error error = {0};
    assert_int_equal(fl_device_release(device, address + MIB(2), MIB(2)), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_failure(device, &error), FL_ERR_INTERNAL);
    assert_non_null(strstr(error.text, "0x7f0000200000"));
    assert_int_equal(fl_device_release(device, address, MIB(2)), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_page_free(device, 1), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_release(device, address, MIB(4)), FL_ANSWER_OK);
    assert_int_equal(fl_device_release(device, address, MIB(4)), FL_ANSWER_ERROR);
    uint64_t page = create(device, MIB(2));
    assert_int_equal(fl_device_page_free(device, page), FL_ANSWER_OK);
    assert_int_equal(fl_device_page_free(device, page), FL_ANSWER_ERROR);
    fl_device_close(device);
}

/* A comb of holes that are all too small: a scan of the gaps would take minutes. */
static void many_holes_do_not_make_the_search_slow(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    fl_device *device = open_sim(UINT64_MAX);
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(acquire(device, MIB(2)), SEGMENTS + MIB(2) * i);
    for (uint64_t i = 0; i < COUNT; i += 2)
        fl_device_release(device, SEGMENTS + MIB(2) * i, MIB(2));
    for (uint64_t i = 0; i < COUNT; i++)
        assert_int_equal(acquire(device, MIB(4)), SEGMENTS + MIB(2) * COUNT + MIB(4) * i);
    fl_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_take_the_lowest_gap_in_whole_granules),
        cmocka_unit_test(places_may_be_taken_in_any_order),
        cmocka_unit_test(a_place_that_cannot_be_is_the_fault_of_the_file),
        cmocka_unit_test(ranges_go_upward_and_are_never_used_twice),
        cmocka_unit_test(ranges_that_no_longer_fit_below_the_segments_go_above),
        cmocka_unit_test(the_capacity_is_a_bound_that_may_be_reached),
        cmocka_unit_test(huge_sizes_are_refused_and_nothing_is_asked_for_0_bytes),
        cmocka_unit_test(a_page_counts_until_it_is_freed_and_no_longer_mapped),
        cmocka_unit_test(pages_are_mapped_only_where_a_range_has_room),
        cmocka_unit_test(no_more_than_16_tib_is_ever_paged),
        cmocka_unit_test(memory_taken_outside_counts_against_the_capacity),
        cmocka_unit_test(what_was_never_handed_out_cannot_come_back),
        cmocka_unit_test(many_holes_do_not_make_the_search_slow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
