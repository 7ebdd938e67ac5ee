/* libcudart.so: streams are numbers, nothing runs on them, and they are captured all or none. */
#include "interpose/abi.h"
#include "interpose/capture.h"
#include "interpose/events.h"

#include <stdatomic.h>

int cudaDeviceGetStreamPriorityRange(int *ret_least, int *ret_greatest)
{
    *ret_least = 0;
    *ret_greatest = -5;
    return FL_CUDA_SUCCESS;
}

/* Handles look like addresses of their own, 16 apart. */
int cudaStreamCreateWithPriority(void **ret_stream, unsigned flags, int priority)
{
    static atomic_uintptr_t next = 0x1000;
    (void)flags;
    (void)priority;
    *ret_stream = (void *)atomic_fetch_add(&next, 0x10);
    return FL_CUDA_SUCCESS;
}

int cudaStreamQuery(void *stream)
{
    (void)stream;
    return FL_CUDA_SUCCESS;
}

int cudaStreamSynchronize(void *stream)
{
    (void)stream;
    return FL_CUDA_SUCCESS;
}

int cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)stream;
    (void)event;
    (void)flags;
    return FL_CUDA_SUCCESS;
}

int cudaStreamIsCapturing(void *stream, int *ret_status)
{
    (void)stream;
    *ret_status = fl_capture_is_open(); /* none, active */
    return FL_CUDA_SUCCESS;
}

int cudaStreamGetCaptureInfo(void *stream, int *ret_status)
{
    return cudaStreamIsCapturing(stream, ret_status);
}

int cudaStreamGetCaptureInfo_v2(void *stream, int *ret_status)
{
    return cudaStreamIsCapturing(stream, ret_status);
}

int cudaThreadExchangeStreamCaptureMode(int *mode)
{
    (void)mode;
    return FL_CUDA_SUCCESS;
}

int cudaEventCreateWithFlags(void **ret_event, unsigned flags)
{
    (void)flags;
    struct fl_event *event = fl_event_new();
    if (event == NULL)
        return FL_CUDA_OUT_OF_MEMORY;
    *ret_event = event;
    return FL_CUDA_SUCCESS;
}

int cudaEventDestroy(void *event)
{
    fl_event_free(event);
    return FL_CUDA_SUCCESS;
}

int cudaEventRecord(void *event, void *stream)
{
    (void)stream;
    fl_event_record(event);
    return FL_CUDA_SUCCESS;
}

int cudaEventQuery(void *event)
{
    return fl_event_is_complete(event) ? FL_CUDA_SUCCESS : FL_CUDA_NOT_READY;
}

int cudaEventSynchronize(void *event)
{
    (void)event;
    return FL_CUDA_SUCCESS;
}
