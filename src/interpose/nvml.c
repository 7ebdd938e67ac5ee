/* libnvidia-ml.so.1: one card, and one process on it: this one.
 *
 * nvmlDeviceGetGpuFabricInfoV is left out on purpose: PyTorch from 2.13 on looks for it, takes its
 * absence for a machine without a fabric, and its refusal for a failure. */
#include "interpose/abi.h"
#include "interpose/card.h"

#include <unistd.h>

/* The one card; only its address means anything. */
static char nvml_device;

int nvmlInit_v2(void)
{
    return FL_NVML_SUCCESS;
}

int nvmlSystemGetCudaDriverVersion_v2(int *ret_version)
{
    *ret_version = FL_CUDA_VERSION;
    return FL_NVML_SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **ret_device)
{
    (void)bus;
    *ret_device = &nvml_device;
    return FL_NVML_SUCCESS;
}

/* `count` comes with the room that the caller has, and goes with the number of processes. */
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
                                         struct fl_nvml_process *ret_processes)
{
    (void)device;
    fl_card_use use;
    unsigned room = *count;
    *count = fl_card_get_use(&use) ? 1 : 0;
    if (room < *count)
        return FL_NVML_INSUFFICIENT_SIZE;
    if (*count > 0) {
        ret_processes->pid = (unsigned)getpid();
        ret_processes->used_bytes = use.process_bytes;
    }
    return FL_NVML_SUCCESS;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *ret_type)
{
    (void)device;
    (void)link;
    (void)ret_type;
    return FL_NVML_NOT_SUPPORTED;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, void *ret_info)
{
    (void)device;
    (void)link;
    (void)ret_info;
    return FL_NVML_NOT_SUPPORTED;
}
