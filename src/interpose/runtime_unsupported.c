/* libcudart.so: functions that libc10_cuda.so of PyTorch 2.0 to 2.15 names and that no allocation
 * decision rests on.  They say that they are not supported.  Arguments are not looked at. */
#include "interpose/abi.h"

#define UNSUPPORTED(name)                                                                          \
    FL_API int name(void);                                                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return FL_CUDA_NOT_SUPPORTED;                                                              \
    }

/* clang-format off */
UNSUPPORTED(cudaDeviceEnablePeerAccess)
UNSUPPORTED(cudaDeviceGetDefaultMemPool)
UNSUPPORTED(cudaDeviceGetGraphMemAttribute)
UNSUPPORTED(cudaDeviceSetGraphMemAttribute)
UNSUPPORTED(cudaEventElapsedTime)
UNSUPPORTED(cudaFreeAsync)
UNSUPPORTED(cudaGraphAddEmptyNode)
UNSUPPORTED(cudaGraphNodeGetDependencies)
UNSUPPORTED(cudaGraphNodeGetType)
UNSUPPORTED(cudaIpcCloseMemHandle)
UNSUPPORTED(cudaIpcGetMemHandle)
UNSUPPORTED(cudaIpcOpenMemHandle)
UNSUPPORTED(cudaMallocAsync)
UNSUPPORTED(cudaMemPoolGetAttribute)
UNSUPPORTED(cudaMemPoolSetAccess)
UNSUPPORTED(cudaMemPoolSetAttribute)
UNSUPPORTED(cudaMemPoolTrimTo)
UNSUPPORTED(cudaMemcpy)
UNSUPPORTED(cudaMemcpyAsync)
UNSUPPORTED(cudaMemcpyPeerAsync)
UNSUPPORTED(cudaStreamUpdateCaptureDependencies)
