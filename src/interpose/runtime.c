/* libcudart.so: memory, devices and errors, over the card.  A thread keeps its last error until it
 * asks for it, as CUDA does. */
#include "interpose/abi.h"
#include "interpose/card.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <string.h>

static _Thread_local int runtime_last_error;

static int runtime_return(int error)
{
    if (error != FL_CUDA_SUCCESS)
        runtime_last_error = error;
    return error;
}

static int runtime_result(fl_answer answer)
{
    if (answer == FL_ANSWER_OK)
        return FL_CUDA_SUCCESS;
    if (answer == FL_ANSWER_FULL)
        return runtime_return(FL_CUDA_OUT_OF_MEMORY);
    return runtime_return(fl_card_is_open() ? FL_CUDA_INVALID_VALUE : FL_CUDA_NO_DEVICE);
}

int cudaMalloc(void **ret_piece, size_t size)
{
    uint64_t address;
    fl_answer answer = fl_card_malloc(size, &address);
    if (answer == FL_ANSWER_OK)
        *ret_piece = (void *)(uintptr_t)address;
    return runtime_result(answer);
}

int cudaFree(void *piece)
{
    return piece == NULL ? FL_CUDA_SUCCESS : runtime_result(fl_card_free((uintptr_t)piece));
}

int cudaMemGetInfo(size_t *ret_free, size_t *ret_total)
{
    fl_card_use use;
    if (!fl_card_get_use(&use))
        return runtime_return(FL_CUDA_NO_DEVICE);
    *ret_free = use.free_bytes;
    *ret_total = use.total_bytes;
    return FL_CUDA_SUCCESS;
}

int cudaGetDeviceCount(int *ret_count)
{
    *ret_count = fl_card_is_open() ? 1 : 0;
    return *ret_count > 0 ? FL_CUDA_SUCCESS : runtime_return(FL_CUDA_NO_DEVICE);
}

int cudaGetDevice(int *ret_device)
{
    *ret_device = 0;
    return FL_CUDA_SUCCESS;
}

int cudaSetDevice(int device)
{
    return device == 0 ? FL_CUDA_SUCCESS : runtime_return(FL_CUDA_INVALID_DEVICE);
}

int cudaDeviceSynchronize(void)
{
    return FL_CUDA_SUCCESS;
}

int cudaDeviceGetAttribute(int *ret_value, int attribute, int device)
{
    (void)attribute;
    (void)device;
    *ret_value = 0;
    return FL_CUDA_SUCCESS;
}

int cudaDeviceCanAccessPeer(int *ret_can, int device, int peer)
{
    (void)device;
    (void)peer;
    *ret_can = 0;
    return FL_CUDA_SUCCESS;
}

/* The beginning of cudaDeviceProp, laid out the same from CUDA 11 to 13; the structures end at
 * different places behind it. */
struct runtime_properties {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t total_bytes;
    char rest[400];
};

int cudaGetDeviceProperties(void *ret_properties, int device)
{
    fl_card_use use;
    if (device != 0 || !fl_card_get_use(&use))
        return runtime_return(FL_CUDA_INVALID_DEVICE);
    struct runtime_properties properties = {.name = "fraglab card"};
    properties.total_bytes = use.total_bytes;
    memcpy(ret_properties, &properties, sizeof properties);
    return FL_CUDA_SUCCESS;
}

int cudaGetDeviceProperties_v2(void *ret_properties, int device)
{
    return cudaGetDeviceProperties(ret_properties, device);
}

int cudaDriverGetVersion(int *ret_version)
{
    return cuDriverGetVersion(ret_version);
}

int cudaRuntimeGetVersion(int *ret_version)
{
    return cuDriverGetVersion(ret_version);
}

int cudaGetLastError(void)
{
    int error = runtime_last_error;
    runtime_last_error = FL_CUDA_SUCCESS;
    return error;
}

int cudaPeekAtLastError(void)
{
    return runtime_last_error;
}

const char *cudaGetErrorString(int error)
{
    const char *text;
    return cuGetErrorString(error, &text) == FL_CUDA_SUCCESS ? text : "unrecognized error code";
}

const char *cudaGetErrorName(int error)
{
    const char *name;
    return cuGetErrorName(error, &name) == FL_CUDA_SUCCESS ? name : "unrecognized error code";
}

int cudaGetDriverEntryPoint(const char *name, void **ret_function, unsigned long long flags,
                            int *ret_result)
{
    (void)flags;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
    void *function = driver != NULL ? dlsym(driver, name) : NULL;
    if (driver != NULL)
        dlclose(driver); /* this library needs it too, so it stays */
    *ret_function = function;
    if (ret_result != NULL)
        *ret_result = function != NULL ? 0 : 1; /* success, symbol not found */
    return function != NULL ? FL_CUDA_SUCCESS : runtime_return(FL_CUDA_SYMBOL_NOT_FOUND);
}

int cudaGetDriverEntryPointByVersion(const char *name, void **ret_function, unsigned version,
                                     unsigned long long flags, int *ret_result)
{
    (void)version;
    return cudaGetDriverEntryPoint(name, ret_function, flags, ret_result);
}
