/* One row for each wording.  Of PyTorch's own, 2.0 to 2.15 are byte for byte what the released
 * binaries print; older ones, and those of other programs, are known from what people pasted. */
#include "rules/layout.h"

#include <string.h>

static const char *const value_names[FL_VALUE_COUNT] = {
    [FL_VALUE_SEGMENT] = "segment",
    [FL_VALUE_TOTAL] = "total",
    [FL_VALUE_FREE] = "free",
    [FL_VALUE_ALLOCATED] = "allocated",
    [FL_VALUE_RESERVED] = "reserved",
    [FL_VALUE_UNALLOCATED] = "unallocated",
    [FL_VALUE_LIMIT] = "limit",
    [FL_VALUE_USED] = "used",
    [FL_VALUE_UNUSED] = "unused",
    [FL_VALUE_PRIVATE] = "private",
    [FL_VALUE_EXCEEDED] = "exceeded",
    [FL_VALUE_REQUESTED] = "requested",
    [FL_VALUE_ACTIVE] = "active",
    [FL_VALUE_OTHER] = "other",
    [FL_VALUE_OWN] = "own",
    [FL_VALUE_PEAK_ALLOCATED] = "peak_allocated",
    [FL_VALUE_PEAK_RESERVED] = "peak_reserved",
    [FL_VALUE_STUCK] = "stuck",
    [FL_VALUE_POOL] = "pool",
    [FL_VALUE_DEVICE] = "device",
    [FL_VALUE_DEVICE_CHARACTER] = "device_character",
    [FL_VALUE_PROCESSES] = "processes",
    [FL_VALUE_CLASS] = "class",
    [FL_VALUE_BACKEND] = "backend",
    [FL_VALUE_PID] = "pid",
    [FL_VALUE_PROCESS] = "process",
    [FL_VALUE_OOMS] = "ooms",
    [FL_VALUE_RETRIES] = "retries",
    [FL_VALUE_NUMBER] = "number",
    [FL_VALUE_WORD] = "word",
    [FL_VALUE_SKIP] = "skip",
    [FL_VALUE_PLACE] = "place",
    [FL_VALUE_SHAPE] = "shape",
    [FL_VALUE_TYPE] = "type",
    [FL_VALUE_NO_FAILURE] = "no_failure",
};

fl_value fl_layout_value(const char *at, const char **ret_after)
{
    at += at[1] == '#' ? 2 : 1;
    size_t length = strcspn(at, "}");
    *ret_after = at + length + 1;
    int value = 0;
    while (strncmp(value_names[value], at, length) != 0 || value_names[value][length] != '\0')
        value++;
    return (fl_value)value;
}

/* clang-format off */
#define HEAD FL_LAYOUT_HEAD "Tried to allocate {segment}"
#define SEE "  See documentation for Memory Management"
#define OLD(capacity) HEAD " (GPU {device}; {total}^ total capacity; {allocated} already allocated; {free} free; " capacity ")"
#define GPU(device, capacity) HEAD ". GPU {" device "} has a total " capacity " of {total}^ of which {free} is free. {processes}"
#define PYTORCH_2_1 "Of the allocated memory {allocated} is allocated by PyTorch, and {unallocated} is reserved by PyTorch but unallocated."
#define PYTORCH_2_4 "Of the allocated memory {used} is allocated by PyTorch, [with {private} allocated in private pools (e.g., {backend} Graphs), ]and {unused} is reserved by PyTorch but unallocated."
#define ALLOWED "[{limit} allowed; ]"
#define HINT_OLD " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation." SEE " and PYTORCH_CUDA_ALLOC_CONF"
#define ADVICE(setting) " If reserved but unallocated memory is large try setting " setting " to avoid fragmentation." SEE
#define LINK_OLD "  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)"
#define LINK_NEW "  (https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf)"
#define SETTING "PYTORCH_{backend}_ALLOC_CONF=expandable_segments:True"
#define RESERVE(whose) " This allocation exceeds the expandable-segment reserve of {exceeded} for " whose ", and a single allocation cannot span expandable segments. Raise PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve or expandable_segments_reserve_by_class (or unset it) so that a segment is at least {segment}."
#define ADDRESSES " expandable_segments is enabled. If instead the process is running out of virtual address space (VSZ), expandable segments may be over-reserving VA (each segment reserves ~9/8 of device memory, times the number of streams); reduce it via PYTORCH_CUDA_ALLOC_CONF expandable_segments_reserve / expandable_segments_reserve_by_class."
#define NPU HEAD " (NPU {device}; {total}^ total capacity; {allocated} already allocated; [{active} current active; ]{free} free; " ALLOWED "{reserved} reserved in total by PyTorch)[.]"

#define ALWAYS FL_LAYOUT_ALWAYS
#define EXPANDABLE FL_LAYOUT_EXPANDABLE
#define RAISED FL_LAYOUT_RAISED

const fl_layout fl_layouts[] = {
    /* The caching allocator of PyTorch. */
    {"pt-cached", 100, 103, ALWAYS, OLD("{unallocated} cached")},
    {"pt-reserved", 104, 109, ALWAYS, OLD(ALLOWED "{reserved} reserved in total by PyTorch")},
    {"pt-reserved-hint", 110, 200, ALWAYS, OLD(ALLOWED "{reserved} reserved in total by PyTorch") HINT_OLD},
    {"pt-2.1-capacty", 201, 201, ALWAYS, GPU("device", "capacty") PYTORCH_2_1 ADVICE("max_split_size_mb") " and PYTORCH_CUDA_ALLOC_CONF"},
    {"pt-2.2+", 202, 202, ALWAYS, GPU("device", "capacity") PYTORCH_2_1 ADVICE(SETTING) LINK_OLD},
    {"pt-2.2+", 203, 203, ALWAYS, GPU("device_character", "capacity") PYTORCH_2_1 ADVICE(SETTING) LINK_OLD},
    {"pt-2.2+", 204, 204, ALWAYS, GPU("device", "capacity") PYTORCH_2_4 ADVICE(SETTING) LINK_OLD},
    {"pt-2.2+", 205, 209, ALWAYS, GPU("device", "capacity") ALLOWED PYTORCH_2_4 ADVICE(SETTING) LINK_OLD},
    {"pt-2.2+", 210, 210, ALWAYS, GPU("device", "capacity") ALLOWED PYTORCH_2_4 ADVICE("PYTORCH_ALLOC_CONF=expandable_segments:True") LINK_OLD},
    {"pt-2.2+", 211, FL_RELEASE_OPEN, ALWAYS, GPU("device", "capacity") ALLOWED PYTORCH_2_4 ADVICE(SETTING) LINK_NEW},
    {"pt-2.2+", 214, 214, EXPANDABLE, GPU("device", "capacity") ALLOWED PYTORCH_2_4},
    {"pt-2.2+", 215, FL_RELEASE_OPEN, EXPANDABLE, GPU("device", "capacity") ALLOWED PYTORCH_2_4 "[" RESERVE("stream reserve class '{class}'") "|" RESERVE("this stream") "|" ADDRESSES "]"},

    /* PyTorch's other messages, and those of its builds for other hardware. */
    {"pt-cut", 0, 0, ALWAYS, HEAD "^"},
    {"pt-1EB", 0, 0, ALWAYS, FL_LAYOUT_HEAD "Tried to allocate more than 1EB memory.^"},
    {"pt-rejected", 0, 0, ALWAYS, FL_LAYOUT_HEAD "Allocation was preemptively rejected because it would exceed per_process_memory_fraction limit.^ Requested size: {requested}"},
    {"pt-bare", 0, 0, RAISED, "{backend} out of memory^"},
    {"pt-cuda-error", 0, 0, ALWAYS, "{backend} error: out of memory^[ {word} kernel errors might be asynchronously reported at some other API call]"},
    {"pt-pre-1.0", 0, 0, ALWAYS, "cuda runtime error (2) : out of memory^ at {word}"},
    {"pt-pre-1.0", 0, 0, ALWAYS, "THCudaCheck FAIL file={word} line={#number} error=2 : out of memory^ cuda runtime error (2) : out of memory at {word}"},
    {"pt-memory-summary", 0, 0, ALWAYS, "PyTorch CUDA memory summary, device ID {device}^ {skip}CUDA OOMs: {ooms} | cudaMalloc retries: {retries} "
        "{skip}Allocated memory | {allocated} | {peak_allocated} {skip}Active memory | {active} {skip}reserved memory | {reserved} | {peak_reserved} {skip}Non-releasable memory | {stuck} "
        "{skip}Non-releasable allocs {skip}from small pool"},
    {"pt-cpu", 0, 0, ALWAYS, "DefaultCPUAllocator: can't allocate memory: you tried to allocate {requested}^"},
    {"pt-cpu", 0, 0, ALWAYS, "DefaultCPUAllocator: not enough memory: you tried to allocate {requested}^"},
    {"cudaMallocAsync", 0, 0, ALWAYS, "Allocation on device {device} would exceed allowed memory. (out of memory)^ Currently allocated : {allocated} Requested : {requested} Device limit : {total} Free (according to CUDA): {free} PyTorch limit (set by user-supplied memory fraction) : {limit}"},
    {"xpu", 0, 0, ALWAYS, "XPU out of memory. Tried to allocate {segment}. GPU {device} has a total capacity of {total}^ of which {free} is free. " ALLOWED "Of the allocated memory {allocated} is allocated by PyTorch, and {unallocated} is reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached memory."},
    {"npu", 0, 0, ALWAYS, NPU},
    {"npu", 0, 0, ALWAYS, NPU " If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."},
    {"mps", 0, 0, ALWAYS, "MPS backend out of memory (MPS allocated: {allocated}, other allocations: {other}, max allowed: {limit})^. Tried to allocate {requested} on {word} pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure)."},

    /* TensorFlow and XLA. */
    {"tensorflow", 0, 0, ALWAYS, "failed to allocate {word} ({number}) from device: CUDA_ERROR_OUT_OF_MEMORY[: out of memory] Allocator ({place}) ran out of memory trying to allocate {requested}^[ (rounded to {#number})]"},
    {"tensorflow-driver", 0, 0, ALWAYS, "failed to allocate {word} ({requested}) from device: CUDA_ERROR_OUT_OF_MEMORY^[: out of memory]"},
    {"tensorflow-host", 0, 0, ALWAYS, "failed to alloc {#requested} on host: CUDA_ERROR_OUT_OF_MEMORY^[: out of memory]"},
    {"tensorflow", 0, 0, ALWAYS, "Allocator ({place}) ran out of memory trying to allocate {requested}^[ (rounded to {#number})][ with freed_by_count={#number}.][ The caller indicates that this is not a failure{no_failure}]"},
    {"tensorflow", 0, 0, ALWAYS, "Ran out of memory trying to allocate {requested}^"},
    {"tensorflow", 0, 0, ALWAYS, "OOM when allocating tensor with shape {shape}^ and type {type} on {place} by allocator {place}"},
    {"tensorflow", 0, 0, ALWAYS, "OOM when allocating tensor of shape {shape}^ and type {type}"},
    {"tensorflow-stats", 0, 0, ALWAYS, "Sum Total of in-use chunks: {allocated} {skip}Limit: {#pool} InUse: {#allocated}^ MaxInUse: {#peak_allocated} NumAllocs: {#number} MaxAllocSize: {#number}"},
    {"tensorflow-stats", 0, 0, ALWAYS, "Limit: {#pool} InUse: {#allocated} MaxInUse: {#peak_allocated}^ NumAllocs: {#number} MaxAllocSize: {#number}"},
    {"jax", 0, 0, ALWAYS, "RESOURCE_EXHAUSTED: Out of memory[ while trying to allocate| allocating] {#requested}^"},
    {"jax", 0, 0, ALWAYS, "Resource exhausted: Out of memory[ while trying to allocate| allocating] {#requested}^"},
    {"jax", 0, 0, ALWAYS, "Failed to allocate request for {word} ({requested}) on device ordinal {device}^"},
    {"jax", 0, 0, ALWAYS, "Attempting to [allocate|reserve] {requested}[ at the bottom of memory]. That was not possible. There are {free} free^"},
    {"jax", 0, 0, ALWAYS, "Ran out of memory in memory space {word} Used {allocated} of {total}^ {word} Exceeded {word} capacity by {requested}"},

    /* Others. */
    {"onnx", 0, 0, ALWAYS, "Failed to allocate memory for requested buffer of size {#requested}^"},
    {"onnx-limit", 0, 0, ALWAYS, "Available memory of {#free} is smaller than requested bytes of {#requested}^"},
    {"llama.cpp", 0, 0, ALWAYS, "allocating {requested} on device {device}: cudaMalloc failed: out of memory^ failed to allocate {word} buffer of size {#requested}"},
    {"llama.cpp", 0, 0, ALWAYS, "failed to allocate {word} buffer of size {#requested}^"},
    {"llama.cpp-pinned", 0, 0, ALWAYS, "failed to allocate {requested} of pinned memory: out of memory^"},
    {"llama.cpp", 0, 0, ALWAYS, "Device memory allocation of size {#requested} failed^"},
    {"llama.cpp", 0, 0, ALWAYS, "CUDA error 2 at {word}: out of memory^"},
    {"rmm", 0, 0, ALWAYS, "std::bad_alloc: [out_of_memory: ]CUDA error[ (failed to allocate {requested})] at:^[ {word}: cudaErrorMemoryAllocation out of memory]"},
    {"rmm-pool", 0, 0, ALWAYS, "std::bad_alloc: out_of_memory: RMM failure at:^[ {word}: Maximum pool size exceeded][ (failed to allocate {requested})]"},
    {"rmm", 0, 0, ALWAYS, "std::bad_alloc: cudaErrorMemoryAllocation: out of memory^"},
    {"rmm-spark", 0, 0, ALWAYS, "Device allocation of {#requested} failed, device store has {#number}^. Total RMM allocated is {#allocated}"},
    {"paddlepaddle", 0, 0, ALWAYS, "Out of memory error on GPU {device}. Cannot allocate {requested}[ GPU memory| memory on GPU {device}]^[, {allocated} memory has been allocated and available memory is only {free}|, available memory is only {free}|, available memory is {free}]"},
    {"cupy", 0, 0, ALWAYS, "out of memory to allocate {requested} (total {allocated})^"},
    {"cupy", 0, 0, ALWAYS, "Out of memory allocating {requested} (allocated so far: {allocated}^[, limit set to: {limit}]"},
    {"bitsandbytes", 0, 0, ALWAYS, "Error out of memory at line {#number} in file {word}^"},
    {"torch-directml", 0, 0, ALWAYS, "Could not allocate tensor with {requested}.^ There is not enough GPU video memory available!"},
    {"spconv", 0, 0, ALWAYS, "cuda failed with error 2 out of memory^"},
    {"mxnet-bind", 0, 0, ALWAYS, "simple_bind error. Arguments: {skip}cudaMalloc[ retry] failed: out of memory^"},
    {"mxnet", 0, 0, ALWAYS, "cudaMalloc[ retry] failed: out of memory^"},
    {"caffe", 0, 0, ALWAYS, "Check failed: error == cudaSuccess (2 vs. 0) out of memory^"},
    {"julia", 0, 0, ALWAYS, "Out of GPU memory trying to allocate {requested}^ Effective GPU memory usage: {word} ({number}/{total}) [CUDA allocator|Memory pool] usage: {allocated} ({reserved} reserved)"},
    {"tensorrt", 0, 0, ALWAYS, "Requested amount of GPU memory ({#requested}) could not be allocated^"},
    {"xgboost", 0, 0, ALWAYS, "Memory allocation error on worker {#number}: {skip}Free memory: {#free} {skip}Requested memory: {#requested}^"},
    {"vllm", 0, 0, ALWAYS, "No available memory for the cache blocks^"},
    {"vllm-startup", 0, 0, ALWAYS, "Free memory on device {word} on startup is less than desired GPU memory utilization^"},
    {"mlx", 0, 0, ALWAYS, "Attempting to allocate {#requested} which is greater than the maximum allowed buffer size of {#limit}^"},
    {"nccl", 0, 0, ALWAYS, "Cuda failure[ 2] 'out of memory'^"},
    {"cublas", 0, 0, ALWAYS, "CUBLAS_STATUS_ALLOC_FAILED^"},
    {"cudnn", 0, 0, ALWAYS, "CUDNN_STATUS_ALLOC_FAILED^"},
    {"cuda", 0, 0, ALWAYS, "CUDA_ERROR_OUT_OF_MEMORY^"},
    {"cuda", 0, 0, ALWAYS, "cudaErrorMemoryAllocation^"},
    {"hip", 0, 0, ALWAYS, "hipErrorOutOfMemory^"},
    {"hip", 0, 0, ALWAYS, "hipErrorMemoryAllocation^"},
    {"xpu", 0, 0, ALWAYS, "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY^"},
    {"metal", 0, 0, ALWAYS, "kIOGPUCommandBufferCallbackErrorOutOfMemory^"},
};
/* clang-format on */

const size_t fl_layout_count = sizeof fl_layouts / sizeof *fl_layouts;
