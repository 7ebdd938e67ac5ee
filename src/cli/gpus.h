/* Cards by name, with the memory that CUDA reports for them. */
#ifndef FL_CLI_GPUS_H
#define FL_CLI_GPUS_H

#include <fraglab/base.h>

typedef struct fl_gpu {
    const char *name;
    unsigned sold_as_gb;  /* what stands on the box */
    uint64_t total_bytes; /* as cudaMemGetInfo and total_memory report it */
    uint64_t known_to;    /* how exact that is, in bytes */
} fl_gpu;

/* What a process uses of a card beside the allocator, unless told otherwise: the CUDA context and
 * loaded kernels.  An estimate: drivers and CUDA versions differ by some hundred MiB. */
#define FL_GPU_CONTEXT_BYTES (UINT64_C(512) << 20)

const fl_gpu *fl_gpu_at(size_t index); /* NULL beyond the last */

/* Case aside; NULL: no such card. */
const fl_gpu *fl_gpu_find(const char *name);

/* The next card after `gpu` (NULL: the first) that is sold as so many GB, or NULL. */
const fl_gpu *fl_gpu_sold_as(const fl_gpu *gpu, uint64_t gb);

#endif
