/* libcuda.so.1: functions that libc10_cuda.so of PyTorch 2.0 to 2.15 names and that no allocation
 * decision rests on.  They say that they are not supported.  Arguments are not looked at. */
#include "interpose/abi.h"

#define UNSUPPORTED(name)                                                                          \
    FL_API int name(void);                                                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return FL_CUDA_NOT_SUPPORTED;                                                              \
    }

/* clang-format off */
UNSUPPORTED(cuCtxFromGreenCtx)
UNSUPPORTED(cuCtxPopCurrent)
UNSUPPORTED(cuCtxPushCurrent)
UNSUPPORTED(cuDevResourceGenerateDesc)
UNSUPPORTED(cuDevSmResourceSplitByCount)
UNSUPPORTED(cuDeviceGetDevResource)
UNSUPPORTED(cuFlushGPUDirectRDMAWrites)
UNSUPPORTED(cuGreenCtxCreate)
UNSUPPORTED(cuGreenCtxDestroy)
UNSUPPORTED(cuGreenCtxStreamCreate)
UNSUPPORTED(cuLogsRegisterCallback)
UNSUPPORTED(cuLogsUnregisterCallback)
UNSUPPORTED(cuMemExportToShareableHandle)
UNSUPPORTED(cuMemGetAddressRange)
UNSUPPORTED(cuMemGetAllocationPropertiesFromHandle)
UNSUPPORTED(cuMemImportFromShareableHandle)
UNSUPPORTED(cuMemRetainAllocationHandle)
UNSUPPORTED(cuMemsetD32Async)
UNSUPPORTED(cuMulticastAddDevice)
UNSUPPORTED(cuMulticastBindMem)
UNSUPPORTED(cuMulticastCreate)
UNSUPPORTED(cuMulticastUnbind)
UNSUPPORTED(cuStreamWriteValue32)
