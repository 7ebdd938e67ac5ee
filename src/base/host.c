/* The default host: the C library's allocator and the monotonic clock. */
#include <fraglab/base.h>

#include <stdlib.h>
#include <time.h>

static void *libc_resize(void *user, void *piece, size_t old_size, size_t new_size)
{
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(piece);
        return NULL;
    }
    return realloc(piece, new_size);
}

static uint64_t monotonic_now(void *user)
{
    (void)user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const fl_host *fl_host_default(void)
{
    static const fl_host host = {libc_resize, monotonic_now, NULL};
    return &host;
}
