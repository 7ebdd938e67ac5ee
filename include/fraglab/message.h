/* fraglab/message.h - what a release prints when it is out of memory, byte for byte (15). */
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

#ifdef __cplusplus
}
#endif

#endif
