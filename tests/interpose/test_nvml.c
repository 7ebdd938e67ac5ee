#include "interpose/abi.h"
#include "interpose/card.h"

#include "base/units.h"
#include "test.h"

#include <unistd.h>

static void the_one_process_is_this_one_with_what_it_holds(void **state)
{
    (void)state;
    uint64_t a;
    void *device = NULL;
    unsigned count = 4;
    struct fl_nvml_process process = {0};
    fl_card_options options = {.capacity_bytes = 8 * FL_MIB, .context_bytes = 100};
    assert_int_equal(fl_card_open(&options, NULL), FL_OK);
    assert_int_equal(fl_card_malloc(1, &a), FL_ANSWER_OK);
    assert_int_equal(nvmlInit_v2(), FL_NVML_SUCCESS);
    assert_int_equal(nvmlDeviceGetHandleByPciBusId_v2("0000:00:00.0", &device), FL_NVML_SUCCESS);
    assert_int_equal(nvmlDeviceGetComputeRunningProcesses(device, &count, &process),
                     FL_NVML_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(process.pid, getpid());
    assert_int_equal(process.used_bytes, 2 * FL_MIB + 100);
    count = 0;
    assert_int_equal(nvmlDeviceGetComputeRunningProcesses(device, &count, NULL),
                     FL_NVML_INSUFFICIENT_SIZE);
    assert_int_equal(count, 1);
    fl_card_close();
}

static void without_a_card_no_process_runs(void **state)
{
    (void)state;
    unsigned count = 4;
    assert_int_equal(nvmlDeviceGetComputeRunningProcesses(NULL, &count, NULL), FL_NVML_SUCCESS);
    assert_int_equal(count, 0);
}

static void there_are_no_links_to_other_cards(void **state)
{
    (void)state;
    int type, version;
    assert_int_equal(nvmlDeviceGetNvLinkRemoteDeviceType(NULL, 0, &type), FL_NVML_NOT_SUPPORTED);
    assert_int_equal(nvmlDeviceGetNvLinkRemotePciInfo_v2(NULL, 0, NULL), FL_NVML_NOT_SUPPORTED);
    assert_int_equal(nvmlSystemGetCudaDriverVersion_v2(&version), FL_NVML_SUCCESS);
    assert_int_equal(version, FL_CUDA_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_process_is_this_one_with_what_it_holds),
        cmocka_unit_test(without_a_card_no_process_runs),
        cmocka_unit_test(there_are_no_links_to_other_cards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
