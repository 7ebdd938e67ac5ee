#include "interpose/abi.h"
#include "interpose/card.h"

#include "base/units.h"
#include "test.h"

#include <string.h>

static int open_card(void **state)
{
    (void)state;
    fl_card_options options = {.capacity_bytes = 4 * FL_MIB, .context_bytes = 100};
    return fl_card_open(&options, NULL) == FL_OK ? 0 : -1;
}

static int close_card(void **state)
{
    (void)state;
    fl_card_close();
    cudaGetLastError();
    return 0;
}

static void memory_is_given_counted_and_taken_back(void **state)
{
    (void)state;
    void *piece, *other;
    size_t free_bytes, total;
    assert_int_equal(cudaMalloc(&piece, 3 * FL_MIB), FL_CUDA_SUCCESS);
    assert_int_equal(cudaMemGetInfo(&free_bytes, &total), FL_CUDA_SUCCESS);
    assert_int_equal(free_bytes, 0);
    assert_int_equal(total, 4 * FL_MIB + 100);
    assert_int_equal(cudaMalloc(&other, 1), FL_CUDA_OUT_OF_MEMORY);
    assert_int_equal(cudaFree(piece), FL_CUDA_SUCCESS);
    assert_int_equal(cudaFree(NULL), FL_CUDA_SUCCESS);
    assert_int_equal(cudaFree(piece), FL_CUDA_INVALID_VALUE);
}

static void the_last_error_stays_until_it_is_asked_for(void **state)
{
    (void)state;
    void *piece;
    assert_int_equal(cudaMalloc(&piece, 5 * FL_MIB), FL_CUDA_OUT_OF_MEMORY);
    assert_int_equal(cudaMalloc(&piece, 1), FL_CUDA_SUCCESS);
    assert_int_equal(cudaPeekAtLastError(), FL_CUDA_OUT_OF_MEMORY);
    assert_int_equal(cudaGetLastError(), FL_CUDA_OUT_OF_MEMORY);
    assert_int_equal(cudaGetLastError(), FL_CUDA_SUCCESS);
    assert_string_equal(cudaGetErrorString(FL_CUDA_OUT_OF_MEMORY), "out of memory");
    assert_string_equal(cudaGetErrorName(FL_CUDA_OUT_OF_MEMORY), "CUDA_ERROR_OUT_OF_MEMORY");
    assert_string_equal(cudaGetErrorString(12345), "unrecognized error code");
    assert_string_equal(cudaGetErrorName(12345), "unrecognized error code");
}

static void there_is_one_device(void **state)
{
    (void)state;
    int count, device = -1, value = -1, version;
    char properties[2048];
    size_t total;
    assert_int_equal(cudaGetDeviceCount(&count), FL_CUDA_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(cudaGetDevice(&device), FL_CUDA_SUCCESS);
    assert_int_equal(device, 0);
    assert_int_equal(cudaSetDevice(0), FL_CUDA_SUCCESS);
    assert_int_equal(cudaSetDevice(1), FL_CUDA_INVALID_DEVICE);
    assert_int_equal(cudaDeviceSynchronize(), FL_CUDA_SUCCESS);
    assert_int_equal(cudaDeviceGetAttribute(&value, 1, 0), FL_CUDA_SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(cudaDeviceCanAccessPeer(&value, 0, 1), FL_CUDA_SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(cudaGetDeviceProperties_v2(properties, 0), FL_CUDA_SUCCESS);
    memcpy(&total, properties + 288, sizeof total);
    assert_int_equal(total, 4 * FL_MIB + 100);
    assert_int_equal(cudaGetDeviceProperties(properties, 1), FL_CUDA_INVALID_DEVICE);
    assert_int_equal(cudaDriverGetVersion(&version), FL_CUDA_SUCCESS);
    assert_int_equal(cudaRuntimeGetVersion(&value), FL_CUDA_SUCCESS);
    assert_int_equal(version, value);
}

static void without_a_card_there_is_no_device(void **state)
{
    (void)state;
    int count = -1;
    void *piece;
    size_t free_bytes, total;
    char properties[2048];
    assert_int_equal(cudaGetDeviceCount(&count), FL_CUDA_NO_DEVICE);
    assert_int_equal(count, 0);
    assert_int_equal(cudaMalloc(&piece, 1), FL_CUDA_NO_DEVICE);
    assert_int_equal(cudaMemGetInfo(&free_bytes, &total), FL_CUDA_NO_DEVICE);
    assert_int_equal(cudaGetDeviceProperties(properties, 0), FL_CUDA_INVALID_DEVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_is_given_counted_and_taken_back, open_card,
                                        close_card),
        cmocka_unit_test_setup_teardown(the_last_error_stays_until_it_is_asked_for, open_card,
                                        close_card),
        cmocka_unit_test_setup_teardown(there_is_one_device, open_card, close_card),
        cmocka_unit_test_teardown(without_a_card_there_is_no_device, close_card),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
