/* The functions of the CUDA runtime, the CUDA driver and NVML that the stand-ins answer, as their
 * callers see them: enumerations are ints, handles are pointers or 64-bit numbers.
 *
 * Written down here so that the stand-ins build where no CUDA toolkit is installed.  Names and
 * argument lists are those of CUDA 11 to 13 (NVIDIA's API references); where versions of a function
 * differ, only the arguments that all of them have are named.  What a caller passes beyond is not
 * looked at, which the calling conventions of C allow on every machine that CUDA runs on. */
#ifndef FL_INTERPOSE_ABI_H
#define FL_INTERPOSE_ABI_H

#include <fraglab/base.h>

/* cudaError_t and CUresult agree on these. */
enum {
    FL_CUDA_SUCCESS = 0,
    FL_CUDA_INVALID_VALUE = 1,
    FL_CUDA_OUT_OF_MEMORY = 2,
    FL_CUDA_NO_DEVICE = 100,
    FL_CUDA_INVALID_DEVICE = 101,
    FL_CUDA_SYMBOL_NOT_FOUND = 500,
    FL_CUDA_NOT_READY = 600,
    FL_CUDA_NOT_SUPPORTED = 801
};

/* nvmlReturn_t. */
enum { FL_NVML_SUCCESS = 0, FL_NVML_NOT_SUPPORTED = 3, FL_NVML_INSUFFICIENT_SIZE = 7 };

/* The version that driver and runtime give themselves: 1000 * major + 10 * minor. */
#define FL_CUDA_VERSION 13000

/* Driver: memory (driver.c). */
FL_API int cuMemGetAllocationGranularity(size_t *ret_granularity, const void *properties,
                                         int option);
FL_API int cuMemAddressReserve(uint64_t *ret_address, size_t size, size_t alignment, uint64_t hint,
                               unsigned long long flags);
FL_API int cuMemAddressFree(uint64_t address, size_t size);
FL_API int cuMemCreate(unsigned long long *ret_page, size_t size, const void *properties,
                       unsigned long long flags);
FL_API int cuMemRelease(unsigned long long page);
FL_API int cuMemMap(uint64_t address, size_t size, size_t offset, unsigned long long page,
                    unsigned long long flags);
FL_API int cuMemUnmap(uint64_t address, size_t size);
FL_API int cuMemSetAccess(uint64_t address, size_t size, const void *access, size_t count);

/* Driver: the rest. */
FL_API int cuInit(unsigned flags);
FL_API int cuDriverGetVersion(int *ret_version);
FL_API int cuDeviceGet(int *ret_device, int ordinal);
FL_API int cuDeviceGetAttribute(int *ret_value, int attribute, int device);
FL_API int cuDevicePrimaryCtxGetState(int device, unsigned *ret_flags, int *ret_is_active);
FL_API int cuCtxGetCurrent(void **ret_context);
FL_API int cuCtxSetCurrent(void *context);
FL_API int cuGetErrorString(int error, const char **ret_text);
FL_API int cuGetErrorName(int error, const char **ret_name);

/* Runtime: memory (runtime.c). */
FL_API int cudaMalloc(void **ret_piece, size_t size);
FL_API int cudaFree(void *piece);
FL_API int cudaMemGetInfo(size_t *ret_free, size_t *ret_total);

/* Runtime: devices and errors. */
FL_API int cudaGetDeviceCount(int *ret_count);
FL_API int cudaGetDevice(int *ret_device);
FL_API int cudaSetDevice(int device);
FL_API int cudaDeviceSynchronize(void);
FL_API int cudaDeviceGetAttribute(int *ret_value, int attribute, int device);
FL_API int cudaDeviceCanAccessPeer(int *ret_can, int device, int peer);
FL_API int cudaGetDeviceProperties(void *ret_properties, int device);
FL_API int cudaGetDeviceProperties_v2(void *ret_properties, int device);
FL_API int cudaDriverGetVersion(int *ret_version);
FL_API int cudaRuntimeGetVersion(int *ret_version);
FL_API int cudaGetLastError(void);
FL_API int cudaPeekAtLastError(void);
FL_API const char *cudaGetErrorString(int error);
FL_API const char *cudaGetErrorName(int error);
FL_API int cudaGetDriverEntryPoint(const char *name, void **ret_function, unsigned long long flags,
                                   int *ret_result);
FL_API int cudaGetDriverEntryPointByVersion(const char *name, void **ret_function, unsigned version,
                                            unsigned long long flags, int *ret_result);

/* Runtime: streams, events, capture (streams.c). */
FL_API int cudaDeviceGetStreamPriorityRange(int *ret_least, int *ret_greatest);
FL_API int cudaStreamCreateWithPriority(void **ret_stream, unsigned flags, int priority);
FL_API int cudaStreamQuery(void *stream);
FL_API int cudaStreamSynchronize(void *stream);
FL_API int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
FL_API int cudaStreamIsCapturing(void *stream, int *ret_status);
FL_API int cudaStreamGetCaptureInfo(void *stream, int *ret_status);
FL_API int cudaStreamGetCaptureInfo_v2(void *stream, int *ret_status);
FL_API int cudaThreadExchangeStreamCaptureMode(int *mode);
FL_API int cudaEventCreateWithFlags(void **ret_event, unsigned flags);
FL_API int cudaEventDestroy(void *event);
FL_API int cudaEventRecord(void *event, void *stream);
FL_API int cudaEventQuery(void *event);
FL_API int cudaEventSynchronize(void *event);

/* NVML (nvml.c). */
struct fl_nvml_process {
    unsigned pid;
    unsigned long long used_bytes;
};
FL_API int nvmlInit_v2(void);
FL_API int nvmlSystemGetCudaDriverVersion_v2(int *ret_version);
FL_API int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **ret_device);
FL_API int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
                                                struct fl_nvml_process *ret_processes);
FL_API int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *ret_type);
FL_API int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, void *ret_info);

#endif
