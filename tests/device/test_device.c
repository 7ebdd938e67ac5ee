#include <fraglab/device.h>

#include "base/units.h"
#include "failing_host.h"
#include "test.h"

#include <string.h>

static fl_device *open_sim(uint64_t capacity, uint64_t total)
{
    fl_device *device = NULL;
    fl_device_env env = {.capacity_bytes = capacity, .total_bytes = total};
    assert_int_equal(fl_device_open(fl_device_find("sim"), &env, &device, NULL), FL_OK);
    return device;
}

static void tables_are_in_order_of_name_and_found_by_it(void **state)
{
    (void)state;
    size_t count = 0;
    for (; fl_device_at(count) != NULL; count++) {
        assert_ptr_equal(fl_device_find(fl_device_at(count)->name), fl_device_at(count));
        if (count > 0)
            assert_true(strcmp(fl_device_at(count - 1)->name, fl_device_at(count)->name) < 0);
    }
    assert_true(count > 0);
    assert_null(fl_device_at(SIZE_MAX));
    assert_null(fl_device_find("simulation"));
    assert_null(fl_device_find(""));
}

static void calls_are_counted_by_kind_and_size(void **state)
{
    (void)state;
    fl_device *device = open_sim(UINT64_MAX, 0);
    const fl_device_info *info = fl_device_get_info(device);
    uint64_t address, base, page;
    fl_device_acquire(device, 1, 0, &address);
    fl_device_acquire(device, 20 * FL_MIB, 0, &address);
    fl_device_release(device, address, 20 * FL_MIB);
    fl_device_reserve(device, 64 * FL_MIB, 2 * FL_MIB, 0, &base);
    fl_device_page_create(device, 2 * FL_MIB, &page);
    fl_device_map(device, base, 2 * FL_MIB, page);
    fl_device_page_free(device, page);
    fl_device_unmap(device, base, 2 * FL_MIB);
    fl_device_unreserve(device, base, 64 * FL_MIB);
    static const struct {
        fl_call call;
        unsigned log2_size;
    } counted[] = {
        {FL_CALL_ACQUIRE, 0},      {FL_CALL_ACQUIRE, 24},  {FL_CALL_RELEASE, 24},
        {FL_CALL_RESERVE, 26},     {FL_CALL_MAP, 21},      {FL_CALL_UNMAP, 21},
        {FL_CALL_PAGE_CREATE, 21}, {FL_CALL_PAGE_FREE, 0}, {FL_CALL_UNRESERVE, 26},
    };
    uint64_t all = 0;
    for (size_t i = 0; i < COUNT_OF(counted); i++)
        assert_int_equal(info->calls[counted[i].call][counted[i].log2_size], 1);
    for (size_t i = 0; i < FL_CALL_COUNT * 64; i++)
        all += info->calls[i / 64][i % 64];
    assert_int_equal(all, COUNT_OF(counted));
    fl_device_close(device);
}

static void refusals_keep_the_least_total_that_would_have_served(void **state)
{
    (void)state;
    fl_device *device = open_sim(10 * FL_MIB, 12 * FL_MIB);
    const fl_device_info *info = fl_device_get_info(device);
    uint64_t address;
    assert_int_equal(info->total_bytes, 12 * FL_MIB);
    assert_int_equal(info->least_refused_bytes, UINT64_MAX);
    fl_device_acquire(device, 6 * FL_MIB, 0, &address);
    fl_device_acquire(device, 20 * FL_MIB, 0, &address);
    assert_int_equal(info->least_refused_bytes, 26 * FL_MIB);
    fl_device_acquire(device, 5 * FL_MIB, 0, &address);
    assert_int_equal(info->least_refused_bytes, 12 * FL_MIB);
    fl_device_release(device, address, 6 * FL_MIB);
    fl_device_acquire(device, UINT64_MAX, 0, &address);
    assert_int_equal(info->least_refused_bytes, 12 * FL_MIB);
    assert_int_equal(info->most_granted_bytes, 6 * FL_MIB);
    assert_int_equal(info->used_bytes, 0);
    assert_int_equal(info->refusals, 3);
    fl_device_close(device);
}

static void every_capacity_between_the_two_totals_answers_alike(void **state)
{
    (void)state;
    uint64_t least = 0;
    for (uint64_t capacity = 0; capacity < 64 * FL_MIB; capacity += FL_MIB / 2) {
        fl_device *device = open_sim(capacity, 0);
        const fl_device_info *info = fl_device_get_info(device);
        uint64_t address;
        for (uint64_t size = 1; size < 40 * FL_MIB; size = size * 3 / 2 + 1)
            fl_device_acquire(device, size, 0, &address);
        assert_true(info->most_granted_bytes <= capacity);
        assert_true(info->least_refused_bytes > capacity);
        if (capacity < least)
            assert_int_equal(info->least_refused_bytes, least);
        least = info->least_refused_bytes;
        fl_device_close(device);
    }
}

static void a_failure_is_told_once_and_in_words(void **state)
{
    (void)state;
    fl_device *device = open_sim(UINT64_MAX, 0);
    fl_error error = {0};
    assert_int_equal(fl_device_release(device, 0x1000, 1), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_failure(device, &error), FL_ERR_INTERNAL);
    assert_non_null(strstr(error.text, "0x1000"));
    error = (fl_error){0};
    assert_int_equal(fl_device_release(device, 0x2000, 1), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_failure(device, &error), FL_ERR_INTERNAL);
    assert_non_null(strstr(error.text, "0x2000"));
    assert_int_equal(fl_device_failure(device, NULL), FL_ERR_INTERNAL);
    fl_device_close(device);
}

static void closing_nothing_is_allowed(void **state)
{
    (void)state;
    fl_device_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_in_order_of_name_and_found_by_it),
        cmocka_unit_test(calls_are_counted_by_kind_and_size),
        cmocka_unit_test(refusals_keep_the_least_total_that_would_have_served),
        cmocka_unit_test(every_capacity_between_the_two_totals_answers_alike),
        cmocka_unit_test(a_failure_is_told_once_and_in_words),
        cmocka_unit_test(closing_nothing_is_allowed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
