#include "interpose/abi.h"
#include "interpose/capture.h"
#include "interpose/events.h"

#include "test.h"

static void streams_differ_and_are_always_ready(void **state)
{
    (void)state;
    void *one, *other;
    int least, greatest;
    assert_int_equal(cudaDeviceGetStreamPriorityRange(&least, &greatest), FL_CUDA_SUCCESS);
    assert_true(greatest < least);
    assert_int_equal(cudaStreamCreateWithPriority(&one, 0, 0), FL_CUDA_SUCCESS);
    assert_int_equal(cudaStreamCreateWithPriority(&other, 0, greatest), FL_CUDA_SUCCESS);
    assert_ptr_not_equal(one, other);
    assert_int_equal(cudaStreamQuery(one), FL_CUDA_SUCCESS);
    assert_int_equal(cudaStreamSynchronize(other), FL_CUDA_SUCCESS);
}

static void streams_are_captured_while_a_capture_is_open(void **state)
{
    (void)state;
    int status = -1, mode = 0;
    assert_int_equal(cudaStreamIsCapturing(NULL, &status), FL_CUDA_SUCCESS);
    assert_int_equal(status, 0);
    fl_capture_begin();
    assert_int_equal(cudaStreamGetCaptureInfo(NULL, &status), FL_CUDA_SUCCESS);
    assert_int_equal(status, 1);
    fl_capture_end();
    assert_int_equal(cudaStreamGetCaptureInfo_v2(NULL, &status), FL_CUDA_SUCCESS);
    assert_int_equal(status, 0);
    assert_int_equal(cudaThreadExchangeStreamCaptureMode(&mode), FL_CUDA_SUCCESS);
}

static void an_event_is_ready_when_it_has_completed(void **state)
{
    (void)state;
    void *event;
    assert_int_equal(cudaEventCreateWithFlags(&event, 0), FL_CUDA_SUCCESS);
    fl_events_hold();
    assert_int_equal(cudaEventRecord(event, NULL), FL_CUDA_SUCCESS);
    assert_int_equal(cudaStreamWaitEvent(NULL, event, 0), FL_CUDA_SUCCESS);
    assert_int_equal(cudaEventQuery(event), FL_CUDA_NOT_READY);
    assert_int_equal(cudaEventSynchronize(event), FL_CUDA_SUCCESS);
    fl_events_complete();
    assert_int_equal(cudaEventQuery(event), FL_CUDA_SUCCESS);
    assert_int_equal(cudaEventDestroy(event), FL_CUDA_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_differ_and_are_always_ready),
        cmocka_unit_test(streams_are_captured_while_a_capture_is_open),
        cmocka_unit_test(an_event_is_ready_when_it_has_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
