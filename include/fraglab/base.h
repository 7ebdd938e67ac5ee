/* fraglab/base.h - what every other header builds on: status, error, and the gateway to the host.
 *
 * Units everywhere in fraglab: memory in bytes (uint64_t), host time in nanoseconds, trace time in
 * microseconds as PyTorch records it.  A name says which (`size_bytes`, `time_us`) where its type
 * does not. */
#ifndef FRAGLAB_BASE_H
#define FRAGLAB_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define FL_API                        __attribute__((visibility("default")))
#define FL_PRINTF(format_at, args_at) __attribute__((format(printf, format_at, args_at)))
#else
#define FL_API
#define FL_PRINTF(format_at, args_at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended.  A simulated out-of-memory is never a status: it is an outcome in fl_result.
 * The numbers up to FL_ERR_RESOURCE are the command line's exit codes. */
typedef enum fl_status {
    FL_OK = 0,
    FL_ERR_NO = 1, /* done, and the answer is no (a difference, a refusal that was asked about) */
    FL_ERR_USAGE = 2,       /* the caller asked for something that does not exist or does not fit */
    FL_ERR_INPUT = 3,       /* the file or script is unreadable or invalid */
    FL_ERR_UNAVAILABLE = 4, /* this build, machine or release cannot do it */
    FL_ERR_OUTPUT = 5,      /* the result could not be written */
    FL_ERR_RESOURCE = 6,    /* the host ran out of memory, threads or file handles */
    FL_ERR_INTERNAL = 7     /* an invariant of ours is broken; a bug to report */
} fl_status;

/* One sentence naming the status, for logs.  Never NULL. */
FL_API const char *fl_status_text(fl_status status);

/* The first failure of a call, in words.  The caller owns it and zeroes it before use; every
 * function that takes one also takes NULL. */
typedef struct fl_error {
    fl_status status;
    char text[512]; /* place first, lower case, no full stop: "a.txt:41: free of id 7 which is not
                       live" */
    char hint[256]; /* what to try, or empty */
} fl_error;

/* Fills `error` unless it already holds a failure; returns `status` so that callers can write
 * `return fl_fail(...)`. */
FL_API fl_status fl_fail(fl_error *error, fl_status status, const char *format, ...)
    FL_PRINTF(3, 4);

/* Adds the hint line to a failure that has none yet; returns the failure's status. */
FL_API fl_status fl_hint(fl_error *error, const char *format, ...) FL_PRINTF(2, 3);

/* Fills `error` with a failure that was kept apart, text and hint; returns its status. */
FL_API fl_status fl_pass_on(const fl_error *failure, fl_error *error);

/* Puts `context: ` in front of a failure's text (a file name, an event); returns its status. */
FL_API fl_status fl_prefix(fl_error *error, const char *format, ...) FL_PRINTF(2, 3);

/* What the library takes from its host process.  Both are injectable, so that tests can make the
 * nth allocation fail and run on a virtual clock. */
typedef struct fl_host {
    /* realloc with both sizes told: `old_size` is 0 for a new piece, `new_size` 0 frees.  Returns
     * NULL on failure (the old piece stays valid) and after freeing. */
    void *(*resize)(void *user, void *piece, size_t old_size, size_t new_size);
    uint64_t (*now_ns)(void *user); /* a clock that never goes back */
    void *user;
} fl_host;

/* The C library's allocator and CLOCK_MONOTONIC.  Static; never freed. */
FL_API const fl_host *fl_host_default(void);

/* fraglab's own version, as in meson.build. */
FL_API const char *fl_version(void);

#ifdef __cplusplus
}
#endif

#endif
