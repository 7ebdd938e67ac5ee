#include "interpose/abi.h"
#include "interpose/card.h"

#include "base/units.h"
#include "test.h"

static int open_card(void **state)
{
    (void)state;
    fl_card_options options = {.capacity_bytes = 4 * FL_MIB};
    return fl_card_open(&options, NULL) == FL_OK ? 0 : -1;
}

static int close_card(void **state)
{
    (void)state;
    fl_card_close();
    return 0;
}

static void a_range_is_mapped_page_by_page_until_the_card_is_full(void **state)
{
    (void)state;
    size_t granule;
    uint64_t range;
    unsigned long long pages[3];
    assert_int_equal(cuMemGetAllocationGranularity(&granule, NULL, 0), FL_CUDA_SUCCESS);
    assert_int_equal(granule, 2 * FL_MIB);
    assert_int_equal(cuMemAddressReserve(&range, 3 * granule, 0, 0, 0), FL_CUDA_SUCCESS);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(cuMemCreate(&pages[i], granule, NULL, 0), FL_CUDA_SUCCESS);
        assert_int_equal(cuMemMap(range + i * granule, granule, 0, pages[i], 0), FL_CUDA_SUCCESS);
        assert_int_equal(cuMemSetAccess(range + i * granule, granule, NULL, 1), FL_CUDA_SUCCESS);
    }
    assert_int_equal(cuMemCreate(&pages[2], granule, NULL, 0), FL_CUDA_OUT_OF_MEMORY);
    assert_int_equal(cuMemUnmap(range, 2 * granule), FL_CUDA_SUCCESS);
    assert_int_equal(cuMemRelease(pages[0]), FL_CUDA_SUCCESS);
    assert_int_equal(cuMemRelease(pages[1]), FL_CUDA_SUCCESS);
    assert_int_equal(cuMemAddressFree(range, 3 * granule), FL_CUDA_SUCCESS);
}

static void senseless_calls_are_invalid(void **state)
{
    (void)state;
    int device;
    unsigned long long page;
    assert_int_equal(cuMemCreate(&page, 2 * FL_MIB, NULL, 0), FL_CUDA_SUCCESS);
    assert_int_equal(cuMemMap(4096, 2 * FL_MIB, 0, page, 0), FL_CUDA_INVALID_VALUE);
    assert_int_equal(cuMemMap(4096, 2 * FL_MIB, 512, page, 0), FL_CUDA_INVALID_VALUE);
    assert_int_equal(cuMemUnmap(4096, 2 * FL_MIB), FL_CUDA_INVALID_VALUE);
    assert_int_equal(cuMemAddressFree(4096, 2 * FL_MIB), FL_CUDA_INVALID_VALUE);
    assert_int_equal(cuDeviceGet(&device, 1), FL_CUDA_INVALID_DEVICE);
}

static void there_is_one_device_with_a_context_and_no_extras(void **state)
{
    (void)state;
    int device = -1, value = -1, is_active = -1, version;
    unsigned flags;
    void *context = NULL;
    assert_int_equal(cuInit(0), FL_CUDA_SUCCESS);
    assert_int_equal(cuDeviceGet(&device, 0), FL_CUDA_SUCCESS);
    assert_int_equal(device, 0);
    assert_int_equal(cuDeviceGetAttribute(&value, 128, 0), FL_CUDA_SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(cuDevicePrimaryCtxGetState(0, &flags, &is_active), FL_CUDA_SUCCESS);
    assert_int_equal(is_active, 1);
    assert_int_equal(cuCtxGetCurrent(&context), FL_CUDA_SUCCESS);
    assert_non_null(context);
    assert_int_equal(cuCtxSetCurrent(context), FL_CUDA_SUCCESS);
    assert_int_equal(cuDriverGetVersion(&version), FL_CUDA_SUCCESS);
    assert_int_equal(version, FL_CUDA_VERSION);
}

static void without_a_card_there_is_no_device(void **state)
{
    (void)state;
    uint64_t range;
    assert_int_equal(cuInit(0), FL_CUDA_NO_DEVICE);
    assert_int_equal(cuMemAddressReserve(&range, 1, 0, 0, 0), FL_CUDA_NO_DEVICE);
}

static void errors_have_names_and_texts(void **state)
{
    (void)state;
    const char *text;
    assert_int_equal(cuGetErrorString(FL_CUDA_OUT_OF_MEMORY, &text), FL_CUDA_SUCCESS);
    assert_string_equal(text, "out of memory");
    assert_int_equal(cuGetErrorName(FL_CUDA_NOT_READY, &text), FL_CUDA_SUCCESS);
    assert_string_equal(text, "CUDA_ERROR_NOT_READY");
    assert_int_equal(cuGetErrorString(12345, &text), FL_CUDA_INVALID_VALUE);
    assert_null(text);
    assert_int_equal(cuGetErrorName(12345, &text), FL_CUDA_INVALID_VALUE);
    assert_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_range_is_mapped_page_by_page_until_the_card_is_full,
                                        open_card, close_card),
        cmocka_unit_test_setup_teardown(senseless_calls_are_invalid, open_card, close_card),
        cmocka_unit_test_setup_teardown(there_is_one_device_with_a_context_and_no_extras, open_card,
                                        close_card),
        cmocka_unit_test(without_a_card_there_is_no_device),
        cmocka_unit_test(errors_have_names_and_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
