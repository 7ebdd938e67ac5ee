#include "explaining.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *text, *layout;
    fl_trouble trouble;
    fl_certainty certainty;
} rows[] = {
    {"CUDA out of memory. Tried to allocate more than 1EB memory.", "pt-1EB",
     FL_TROUBLE_INCONSISTENT, FL_CERTAINTY_PROVED},
    {"CUDA out of memory. Allocation was preemptively rejected because it would exceed "
     "per_process_memory_fraction limit. Requested size: 1.00 GiB",
     "pt-rejected", FL_TROUBLE_LIMIT, FL_CERTAINTY_PROVED},
    {"RuntimeError: CUDA out of memory.", "pt-bare", FL_TROUBLE_UNKNOWN, FL_CERTAINTY_NONE},
    {"RuntimeError: CUDA error: out of memory", "pt-cuda-error", FL_TROUBLE_UNKNOWN,
     FL_CERTAINTY_NONE},
    {"cuda runtime error (2) : out of memory at THCStorage.cu:58", "pt-pre-1.0", FL_TROUBLE_UNKNOWN,
     FL_CERTAINTY_NONE},
    {"MPS backend out of memory (MPS allocated: 1.00 GB, other allocations: 5.00 GB, max "
     "allowed: 6.00 GB). Tried to allocate 768.00 MB on private pool.",
     "mps", FL_TROUBLE_OUTSIDE, FL_CERTAINTY_LIKELY},
    {"MPS backend out of memory (MPS allocated: 5.00 GB, other allocations: 1.00 GB, max "
     "allowed: 6.00 GB). Tried to allocate 768.00 MB on private pool.",
     "mps", FL_TROUBLE_FULL, FL_CERTAINTY_LIKELY},
    {"Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated "
     ": "
     "13.74 GiB\nRequested : 640.00 MiB\nDevice limit : 14.75 GiB\nFree (according to CUDA): "
     "27.06 MiB",
     "cudaMallocAsync", FL_TROUBLE_FULL, FL_CERTAINTY_LIKELY},
    {"Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated "
     ": "
     "3.00 GiB\nRequested : 640.00 MiB\nDevice limit : 14.75 GiB\nFree (according to CUDA): "
     "27.06 MiB",
     "cudaMallocAsync", FL_TROUBLE_UNKNOWN, FL_CERTAINTY_NONE},
    {"Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated "
     ": "
     "3.00 GiB\nRequested : 640.00 MiB\nDevice limit : 14.75 GiB\nFree (according to CUDA): "
     "5.00 GiB",
     "cudaMallocAsync", FL_TROUBLE_INCONSISTENT, FL_CERTAINTY_PROVED},
    {"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 111289565184 bytes.", "jax",
     FL_TROUBLE_FULL, FL_CERTAINTY_LIKELY},
    {"RESOURCE_EXHAUSTED: Attempting to allocate 9.27G. That was not possible. There are 4.31G "
     "free.",
     "jax", FL_TROUBLE_FULL, FL_CERTAINTY_LIKELY},
    {"OOM when allocating tensor with shape[64,64] and type float on "
     "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
     "tensorflow", FL_TROUBLE_FULL, FL_CERTAINTY_GUESSED},
    {"OOM when allocating tensor with shape[64,64]", "tensorflow", FL_TROUBLE_UNKNOWN,
     FL_CERTAINTY_NONE},
    {"Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.16GiB with "
     "freed_by_count=0. "
     "The caller indicates that this is not a failure, but may mean that there could be "
     "performance gains if more memory were available.",
     "tensorflow", FL_TROUBLE_UNKNOWN, FL_CERTAINTY_NONE},
    {"Limit: 8000000000\nInUse: 4000000000\nMaxInUse: 7000000000\nNumAllocs: 54412",
     "tensorflow-stats", FL_TROUBLE_FRAGMENTATION, FL_CERTAINTY_LIKELY},
    {"std::bad_alloc: out_of_memory: CUDA error at: /include/cuda_memory_resource.hpp:60: "
     "cudaErrorMemoryAllocation out of memory",
     "rmm", FL_TROUBLE_OUTSIDE, FL_CERTAINTY_GUESSED},
    {"std::bad_alloc: out_of_memory: RMM failure at:/include/pool_memory_resource.hpp:193: "
     "Maximum pool size exceeded",
     "rmm-pool", FL_TROUBLE_FULL, FL_CERTAINTY_GUESSED},
    {"ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9866.00 MiB on device 1: "
     "cudaMalloc "
     "failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA1 buffer of size "
     "10345253120",
     "llama.cpp", FL_TROUBLE_FULL, FL_CERTAINTY_GUESSED},
    {"Out of memory error on GPU 0. Cannot allocate 145.468994MB memory on GPU 0, available "
     "memory is only 72.312500MB.",
     "paddlepaddle", FL_TROUBLE_FULL, FL_CERTAINTY_LIKELY},
    {"Failed to allocate memory for requested buffer of size 1024", "onnx", FL_TROUBLE_FULL,
     FL_CERTAINTY_GUESSED},
    {"Available memory of 100 is smaller than requested bytes of 200", "onnx-limit",
     FL_TROUBLE_LIMIT, FL_CERTAINTY_LIKELY},
    {"Out of memory allocating 25,600,000 bytes (allocated so far: 3,635,267,072 bytes, limit "
     "set to: 4,000,000,000 bytes).",
     "cupy", FL_TROUBLE_LIMIT, FL_CERTAINTY_LIKELY},
    {"CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`", "cublas", FL_TROUBLE_UNKNOWN,
     FL_CERTAINTY_NONE},
};

static void every_program_gets_a_class(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const fl_explanation *got = explain_text(rows[i].text);
        if (strcmp(got->message.layout, rows[i].layout) != 0 || got->trouble != rows[i].trouble ||
            got->certainty != rows[i].certainty)
            fail_msg("%s: %s, %s, for:\n%s", got->message.layout, fl_trouble_name(got->trouble),
                     fl_certainty_name(got->certainty), rows[i].text);
        assert_true(strlen(got->sentence) > 20);
    }
}

static const fl_explanation *explain_table(unsigned ooms, const char *stuck)
{
    static char text[2048];
    snprintf(
        text, sizeof text,
        "|=====|\n|  PyTorch CUDA memory summary, device ID 0   |\n|-----|\n| CUDA OOMs: %u | "
        "cudaMalloc retries: 3 |\n|=====|\n| Metric | Cur Usage | Peak Usage |\n|-----|\n"
        "| Allocated memory |   5000 MiB |   6000 MiB |\n| Active memory | 5000 MiB | 6000 MiB "
        "|\n| GPU reserved memory | 7000 MiB | 8000 MiB |\n| Non-releasable memory | %s | 2000 "
        "MiB |\n",
        ooms, stuck);
    return explain_text(text);
}

static void a_summary_tells_of_pieces_but_not_of_requests(void **state)
{
    (void)state;
    assert_int_equal(explain_table(0, "2000 MiB")->trouble, FL_TROUBLE_FITS);
    assert_int_equal(explain_table(1, "2000 MiB")->trouble, FL_TROUBLE_FRAGMENTATION);
    assert_int_equal(explain_table(1, "20 MiB")->trouble, FL_TROUBLE_UNKNOWN);
    assert_int_equal(explain_table(1, "20 MiB")->message.ooms, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_program_gets_a_class),
        cmocka_unit_test(a_summary_tells_of_pieces_but_not_of_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
