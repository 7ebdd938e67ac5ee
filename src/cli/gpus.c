/* What CUDA reports is less than what stands on the box: some memory is reserved for the driver,
 * and for error correction where it is on.  It differs by a few MiB between drivers.  The figures
 * are those that people have posted: exact bytes from deviceQuery, whole MiB from
 * torch.cuda.get_device_properties, hundredths of a GiB from out-of-memory messages. */
#include "cli/gpus.h"

#include <strings.h>

#define MIB                      UINT64_C(1048576)
#define EXACT(bytes)             UINT64_C(bytes), 1
#define TO_MIB(mib)              (uint64_t)(mib) * MIB, MIB
#define TO_HUNDREDTH(hundredths) (uint64_t)(hundredths) * MIB * 1024 / 100, MIB * 1024 / 100

static const fl_gpu gpus[] = {
    {"A10G", 24, TO_MIB(22587)},           {"A40", 48, EXACT(47622258688)},
    {"A100-40GB", 40, EXACT(42298834944)}, {"A100-80GB", 80, TO_HUNDREDTH(7915)},
    {"B200", 180, TO_MIB(182631)},         {"H20", 96, TO_MIB(97285)},
    {"H100-80GB", 80, TO_MIB(81089)},      {"H200", 141, TO_MIB(143156)},
    {"L4", 24, TO_HUNDREDTH(2203)},        {"L40S", 48, TO_MIB(45589)},
    {"P100-16GB", 16, TO_MIB(16280)},      {"RTX-2080-Ti", 11, TO_MIB(11019)},
    {"RTX-3060", 12, TO_MIB(11931)},       {"RTX-3090", 24, TO_MIB(24259)},
    {"RTX-4090", 24, TO_HUNDREDTH(2364)},  {"RTX-5090", 32, TO_HUNDREDTH(3136)},
    {"RTX-A6000", 48, TO_MIB(48676)},      {"T4", 16, TO_MIB(15102)},
    {"V100-16GB", 16, TO_MIB(16160)},      {"V100-32GB", 32, TO_HUNDREDTH(3174)},
};

enum { GPU_COUNT = sizeof gpus / sizeof *gpus };

const fl_gpu *fl_gpu_at(size_t index)
{
    return index < GPU_COUNT ? &gpus[index] : NULL;
}

const fl_gpu *fl_gpu_find(const char *name)
{
    for (size_t i = 0; i < GPU_COUNT; i++) {
        if (strcasecmp(gpus[i].name, name) == 0)
            return &gpus[i];
    }
    return NULL;
}

const fl_gpu *fl_gpu_sold_as(const fl_gpu *gpu, uint64_t gb)
{
    for (size_t i = gpu != NULL ? (size_t)(gpu - gpus) + 1 : 0; i < GPU_COUNT; i++) {
        if (gpus[i].sold_as_gb == gb)
            return &gpus[i];
    }
    return NULL;
}
