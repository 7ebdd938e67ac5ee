/* fraglab/device.h - where segments come from: a card in simulation, in a record, or in the slot.
 *
 * A device is one const table in its own file under src/device/.  It answers, it never decides;
 * prices never change what it answers. */
#ifndef FRAGLAB_DEVICE_H
#define FRAGLAB_DEVICE_H

#include <fraglab/base.h>
#include <fraglab/param.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fl_device_state; /* each device file defines its own under this tag */

typedef enum fl_answer {
    FL_ANSWER_OK = 0,
    FL_ANSWER_FULL, /* out of device memory; nothing changed */
    FL_ANSWER_ERROR /* anything else; the device's error text says what */
} fl_answer;

typedef enum fl_call {
    FL_CALL_ACQUIRE,
    FL_CALL_RELEASE,
    FL_CALL_RESERVE,
    FL_CALL_UNRESERVE,
    FL_CALL_PAGE_CREATE,
    FL_CALL_PAGE_FREE,
    FL_CALL_MAP,
    FL_CALL_UNMAP,
    FL_CALL_COUNT
} fl_call;

/* What a device tells of itself; kept by the wrapper in device.c, so every device has it.
 * A replay at capacity C behaves the same for every capacity from `most_granted_bytes` up to, but
 * not including, `least_refused_bytes`: the walk over capacities rests on these two.  Only segments
 * and pages count for them; memory taken by others is never refused. */
typedef struct fl_device_info {
    uint64_t total_bytes;        /* what the card reports (cudaMemGetInfo); UINT64_MAX: no limit */
    uint64_t used_bytes;         /* in use, in whole physical pages, what is outside included */
    uint64_t most_granted_bytes; /* largest `used_bytes` that a granted call led to */
    uint64_t
        least_refused_bytes; /* least total that any refusal would have needed; UINT64_MAX: none */
    uint64_t calls[FL_CALL_COUNT][64]; /* successful calls by kind and floor(log2 size); PAGE_FREE,
                                        * which tells no size, in slot 0 */
    uint64_t refusals;
} fl_device_info;

typedef struct fl_device_env {
    const fl_host *host;          /* NULL: the default host */
    uint64_t capacity_bytes;      /* what this process can get; UINT64_MAX: no limit */
    uint64_t total_bytes;         /* what the card reports as its size; 0: the same */
    const fl_param_value *params; /* one per row of the table's `params`, in order */
    const void *record;           /* `recorded` only: a const fl_device_record */
    fl_error *error;              /* where a device says what FL_ANSWER_ERROR means; set by
                                   * fl_device_open, not by its caller */
} fl_device_env;

/* The table.  Sizes are bytes, at least 1; `stream` is the dense stream for which memory is asked
 * (only `recorded` looks at it).  Addresses and sizes given back are those handed out.  A page
 * handle stands for one physical page, which may be mapped more than once; it counts against the
 * capacity until it is freed and no longer mapped. */
typedef struct fl_device_ops {
    const char *name;
    const char *summary; /* one line for `fraglab list devices` */
    size_t state_size;   /* open() receives this much zeroed memory */
    const fl_param *params;
    fl_status (*open)(struct fl_device_state *state, const fl_device_env *env, fl_error *error);
    void (*close)(struct fl_device_state *state); /* accepts a half-opened state */
    fl_answer (*acquire)(struct fl_device_state *state, uint64_t size, uint32_t stream,
                         uint64_t *ret_address);
    fl_answer (*release)(struct fl_device_state *state, uint64_t address, uint64_t size);
    /* Pages of `page_size` bytes will be mapped into the range. */
    fl_answer (*reserve)(struct fl_device_state *state, uint64_t size, uint64_t page_size,
                         uint32_t stream, uint64_t *ret_address);
    fl_answer (*unreserve)(struct fl_device_state *state, uint64_t address, uint64_t size);
    fl_answer (*page_create)(struct fl_device_state *state, uint64_t size, uint64_t *ret_page);
    fl_answer (*page_free)(struct fl_device_state *state, uint64_t page);
    fl_answer (*map)(struct fl_device_state *state, uint64_t address, uint64_t size, uint64_t page);
    fl_answer (*unmap)(struct fl_device_state *state, uint64_t address, uint64_t size);
    /* What is there before the first op lies where it lies: the same, at a given address.  Only
     * before anything else is asked; FL_ANSWER_ERROR where something is in the way.  Optional. */
    fl_answer (*acquire_at)(struct fl_device_state *state, uint64_t size, uint64_t address);
    fl_answer (*reserve_at)(struct fl_device_state *state, uint64_t size, uint64_t address);
    /* Memory taken by others is now `bytes`.  Optional. */
    fl_answer (*outside)(struct fl_device_state *state, uint64_t bytes);
    /* `used_bytes` in whole pages, and what a request of `size` would take.  Pure. */
    uint64_t (*used)(const struct fl_device_state *state);
    uint64_t (*footprint)(const struct fl_device_state *state, uint64_t size);
    bool needs_record; /* opens only over `record`: for verification, not for a user to choose */
} fl_device_ops;

/* An open device: the table, its state and its totals. */
typedef struct fl_device fl_device;

/* Tables of this build, in order of name, or NULL beyond the last. */
FL_API const fl_device_ops *fl_device_at(size_t index);
FL_API const fl_device_ops *fl_device_find(const char *name);

/* Opens a device.  On success the caller owns *ret_device and ends it with fl_device_close; on
 * failure *ret_device is untouched.  FL_ERR_UNAVAILABLE: not on this machine. */
FL_API fl_status fl_device_open(const fl_device_ops *ops, const fl_device_env *env,
                                fl_device **ret_device, fl_error *error);
FL_API void fl_device_close(fl_device *device); /* accepts NULL */

/* The calls, counted. */
FL_API fl_answer fl_device_acquire(fl_device *device, uint64_t size, uint32_t stream,
                                   uint64_t *ret_address);
FL_API fl_answer fl_device_release(fl_device *device, uint64_t address, uint64_t size);
FL_API fl_answer fl_device_reserve(fl_device *device, uint64_t size, uint64_t page_size,
                                   uint32_t stream, uint64_t *ret_address);
FL_API fl_answer fl_device_unreserve(fl_device *device, uint64_t address, uint64_t size);
FL_API fl_answer fl_device_page_create(fl_device *device, uint64_t size, uint64_t *ret_page);
FL_API fl_answer fl_device_page_free(fl_device *device, uint64_t page);
FL_API fl_answer fl_device_map(fl_device *device, uint64_t address, uint64_t size, uint64_t page);
FL_API fl_answer fl_device_unmap(fl_device *device, uint64_t address, uint64_t size);
/* These two are not counted; fl_device_begin forgets the other calls before it, too, but not what
 * they took.  Nothing is taken at a given address any more. */
FL_API fl_answer fl_device_acquire_at(fl_device *device, uint64_t size, uint64_t address);
FL_API fl_answer fl_device_reserve_at(fl_device *device, uint64_t size, uint64_t address);
FL_API void fl_device_begin(fl_device *device);
FL_API fl_answer fl_device_outside(fl_device *device, uint64_t bytes);

/* What FL_ANSWER_ERROR from the last call meant, copied into `error`; returns its status, never
 * FL_OK, so that callers can write `return fl_device_failure(...)`. */
FL_API fl_status fl_device_failure(const fl_device *device, fl_error *error);

/* Free bytes as cudaMemGetInfo would say (0 is the least). */
FL_API uint64_t fl_device_free_bytes(const fl_device *device);
FL_API const fl_device_info *fl_device_get_info(const fl_device *device);
FL_API const fl_device_ops *fl_device_get_ops(const fl_device *device);
FL_API struct fl_device_state *fl_device_get_state(fl_device *device);

#ifdef __cplusplus
}
#endif

#endif
