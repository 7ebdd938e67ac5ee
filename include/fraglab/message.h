/* fraglab/message.h - what a release prints when it is out of memory, byte for byte (15), and what
 * a printed message says. */
#ifndef FRAGLAB_MESSAGE_H
#define FRAGLAB_MESSAGE_H

#include <fraglab/base.h>
#include <fraglab/settings.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A process on the device, as the driver's library reports it. */
typedef struct fl_process {
    uint64_t pid;
    uint64_t bytes;
    bool is_own;
} fl_process;

/* What the message is made of; sizes in bytes. */
typedef struct fl_oom_facts {
    unsigned device;
    uint64_t total, free;         /* of the device */
    uint64_t allocated, reserved; /* the "all" currents of the statistics */
    uint64_t private_free;        /* free blocks of private pools */
    uint64_t segment;             /* what the device was asked for */
    uint64_t limit;               /* FL_UNLIMITED: none */
    bool expandable;
    uint64_t reserve; /* of the stream, before rounding to pages; FL_UNLIMITED: none given */
    const char *reserve_class;   /* the class whose reserve that is; NULL: the stream has none */
    const fl_process *processes; /* as the driver's library lists them; none where it is absent */
    size_t process_count;
} fl_oom_facts;

/* Writes the message that `profile` prints, cut to `size - 1` bytes and ended by a NUL; returns the
 * length of the whole.  The text of 2.3 contains the device number as a character, a NUL for device
 * 0 (21), so only the length tells where it ends. */
FL_API size_t fl_oom_message(const fl_profile *profile, const fl_oom_facts *oom, char *buffer,
                             size_t size);

/* The same for a request that throw_on_cudamalloc_oom rejected (15.5). */
FL_API size_t fl_rejection_message(uint64_t requested, char *buffer, size_t size);

/* A size as these messages print it: `1024 bytes`, `1.50 KiB`, ... GiB, two decimals rounded half
 * to even (15.2). */
#define FL_FORMAT_SIZE 32
FL_API void fl_format_size(uint64_t bytes, char buffer[FL_FORMAT_SIZE]);

/* ---- reading ---------------------------------------------------------------------------------
 */

/* A printed number.  Printing rounded it: before, it was somewhere from `low` to `high`. */
typedef struct fl_number {
    bool is_given;
    bool is_wrapped; /* 2^64 bytes: how "not available" and negative numbers come out; not given */
    uint64_t bytes;  /* as printed, to the nearest byte */
    uint64_t low, high;
} fl_number;

typedef enum fl_figure {
    FL_FIGURE_REQUESTED,
    FL_FIGURE_TOTAL,
    FL_FIGURE_FREE,
    FL_FIGURE_ALLOCATED,
    FL_FIGURE_RESERVED,
    FL_FIGURE_UNALLOCATED, /* of the reserved */
    FL_FIGURE_ALLOWED,
    FL_FIGURE_PRIVATE,      /* free in private pools, which the message counts as allocated */
    FL_FIGURE_THIS_PROCESS, /* on the device, as the driver's library counts it */
    FL_FIGURE_OTHER,        /* what is not the allocator's own (MPS) */
    FL_FIGURE_ACTIVE,
    FL_FIGURE_PEAK_ALLOCATED,
    FL_FIGURE_PEAK_RESERVED,
    FL_FIGURE_STUCK,    /* free, in segments that cannot be released */
    FL_FIGURE_EXCEEDED, /* the reserve of address space that the segment does not fit into */
    FL_FIGURE_COUNT
} fl_figure;

/* `requested_bytes` and so on. */
FL_API const char *fl_figure_key(fl_figure figure);

/* What the message itself recommends. */
typedef enum fl_printed_advice {
    FL_ADVICE_NONE,
    FL_ADVICE_SPLIT,      /* max_split_size_mb */
    FL_ADVICE_EXPANDABLE, /* expandable_segments:True */
    FL_ADVICE_EMPTY,      /* empty_cache */
    FL_ADVICE_WATERMARK   /* PYTORCH_MPS_HIGH_WATERMARK_RATIO */
} fl_printed_advice;

#define FL_READ_PROCESSES_MOST 32

typedef struct fl_read_process {
    uint64_t pid;
    fl_number used;
} fl_read_process;

/* A message as read.  `first` and `last` are the PyTorch releases that print it, 100 times the
 * major number and the minor number (204 is 2.4); 0: not known. */
#define FL_RELEASE_OPEN 999 /* as `last`: no end is known */
typedef struct fl_message {
    const char *layout; /* which wording: `pt-2.2+`, `jax`, ... */
    char backend[12];   /* as printed: `CUDA`, `HIP`, ... or empty */
    unsigned first, last;
    bool is_segment; /* the request is printed as the segment that was asked for (4) */
    bool has_device;
    unsigned device;
    fl_number figures[FL_FIGURE_COUNT];
    fl_read_process processes[FL_READ_PROCESSES_MOST]; /* of others */
    size_t process_count;                              /* of those kept */
    bool has_counts;                                   /* of out-of-memories and retries */
    uint64_t ooms, retries;
    bool is_size_assumed; /* a shape without a type: elements of four bytes */
    bool is_no_failure;   /* it says so itself */
    fl_printed_advice advice;
} fl_message;

#ifdef __cplusplus
}
#endif

#endif
