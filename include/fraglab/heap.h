/* fraglab/heap.h - the three records that everything passes through: op, result, change.
 *
 * An op is what a program asked of its allocator.  A result is the answer to one op.  A change is
 * one step of what the allocator did on the way, to its blocks or to the device.  Decision logs,
 * verification, heap pictures and findings are all made from the one stream of changes. */
#ifndef FRAGLAB_HEAP_H
#define FRAGLAB_HEAP_H

#include <fraglab/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Dense numbers: allocations, streams, pools and segments are numbered 0, 1, 2, ... in order of
 * first appearance; the trace's tables hold the original names. */
#define FL_NONE UINT32_MAX

typedef enum fl_op_kind {
    FL_OP_NONE = 0,
    FL_OP_ALLOC,        /* id, stream, size: allocate */
    FL_OP_FREE,         /* id: free; FL_OP_HELD: it stays pending until its FREE_DONE */
    FL_OP_USE,          /* id, stream: record_stream, the block is also used on that stream */
    FL_OP_SCOPE_BEGIN,  /* pool, flags, stream (FL_NONE: every stream): requests go to that pool */
    FL_OP_SCOPE_END,    /* pool */
    FL_OP_POOL_RELEASE, /* pool: its owner lets go of it */
    FL_OP_TRIM,         /* pool (FL_NONE: the default): empty_cache */
    FL_OP_LIMIT,        /* fraction: set_per_process_memory_fraction */
    FL_OP_CONFIGURE,    /* text: the settings change */
    FL_OP_EVENTS_HOLD,  /* events so far are complete, later ones stay pending */
    FL_OP_EVENTS_COMPLETE, /* every event completes, also later ones */
    FL_OP_FREE_DONE,       /* id: its pending free completes here */
    FL_OP_MARK,            /* text: a phase, step or note */
    FL_OP_OUTSIDE,         /* size: memory taken outside this allocator is now this much */
    FL_OP_SHOW_SEGMENTS,   /* report segments and blocks here */
    FL_OP_SHOW_COUNTERS,   /* report the statistics here */
    FL_OP_RESET_PEAKS,     /* reset_peak_memory_stats: peaks are what is current */
    FL_OP_RESET_SUMS,      /* reset_accumulated_memory_stats: sums and counters are 0 */
    FL_OP_KIND_COUNT
} fl_op_kind;

enum {                           /* fl_op.flags */
       FL_OP_HELD = 1 << 0,      /* FREE */
       FL_OP_AT = 1 << 1,        /* ALLOC: at `address`, or not at all */
       FL_OP_BYTES = 1 << 1,     /* LIMIT: `size` bytes, whatever the card has */
       FL_OP_CAPTURE = 1 << 1,   /* SCOPE_BEGIN: a graph capture, not only a routing scope */
       FL_OP_NO_SPLIT = 1 << 2,  /* SCOPE_BEGIN: blocks of this pool are handed out whole */
       FL_OP_INFERRED = 1 << 2,  /* LIMIT, CONFIGURE: found to explain a history; other settings, or
                                    another limit, that a replay is asked for take its place */
       FL_OP_USE_ON_OOM = 1 << 3 /* SCOPE_BEGIN: the pool also serves others before they run out */
};

typedef struct fl_op {
    uint8_t kind; /* fl_op_kind */
    uint8_t flags;
    uint32_t id;     /* dense allocation number, or FL_NONE */
    uint32_t stream; /* dense, or FL_NONE */
    uint32_t pool;   /* dense; 0 is the default pool; or FL_NONE */
    uint32_t text;   /* index into the trace's texts, or FL_NONE */
    union {
        uint64_t size;   /* bytes */
        double fraction; /* LIMIT, but for FL_OP_BYTES */
    };
    uint64_t address; /* only with FL_OP_AT */
} fl_op;

typedef enum fl_outcome {
    FL_DONE = 0,
    FL_REFUSED,  /* out of memory, after everything that release tries */
    FL_REJECTED, /* turned away by a setting before anything was tried */
    FL_FORBIDDEN /* that release would fail an internal assertion here */
} fl_outcome;

typedef struct fl_result {
    fl_outcome outcome;
    uint64_t address; /* ALLOC: where; 0 for a request of 0 bytes */
    uint64_t size;    /* ALLOC: bytes of the block handed out, tail included */
    const char *why;  /* static text for REJECTED and FORBIDDEN, else NULL */
} fl_result;

typedef enum fl_change_kind {
    FL_CHANGE_ACQUIRE,   /* a segment came from the device: segment, address, size */
    FL_CHANGE_RELEASE,   /* a segment went back: segment, address, size */
    FL_CHANGE_RESERVE,   /* an address range was reserved: segment, address, size */
    FL_CHANGE_UNRESERVE, /* and given back */
    FL_CHANGE_MAP,       /* memory mapped into a range by one call: segment, address, size, pages */
    FL_CHANGE_UNMAP, /* memory unmapped from a range by one call: segment, address, size, pages */
    FL_CHANGE_NO_SEGMENT, /* the device refused a segment: size asked */
    FL_CHANGE_NO_PAGE,    /* the device refused a physical page: size of one page */
    FL_CHANGE_PLACE,      /* a block was handed out: id, segment, address, size, requested */
    FL_CHANGE_FREE_ASKED, /* its owner let go of it: id and the same fields */
    FL_CHANGE_FREE_DONE,  /* it returned to the pool: id and the same fields */
    FL_CHANGE_KIND_COUNT
} fl_change_kind;

/* Why memory went back to the device (RELEASE, UNMAP), or FL_CAUSE_REQUEST. */
typedef enum fl_cause {
    FL_CAUSE_REQUEST = 0,
    FL_CAUSE_COLLECT,           /* garbage collection (10.1) */
    FL_CAUSE_RELEASE_AVAILABLE, /* oversize blocks, for one request (10.2) */
    FL_CAUSE_RELEASE_ALL,       /* everything free, for one request (10.3) */
    FL_CAUSE_TRIM,              /* empty_cache */
    FL_CAUSE_COUNT
} fl_cause;

enum {                                /* fl_change.flags */
       FL_CHANGE_SMALL = 1 << 0,      /* the small pool of the pair; else the large one */
       FL_CHANGE_EXPANDABLE = 1 << 1, /* in an expandable segment */
};

typedef struct fl_change {
    uint8_t kind;  /* fl_change_kind */
    uint8_t cause; /* fl_cause */
    uint8_t flags;
    uint32_t id;      /* PLACE, FREE_*: dense allocation number; FL_NONE: nobody's, for a moment,
                         on the way to a request for an exact address */
    uint32_t segment; /* dense segment number, in order of ACQUIRE and RESERVE */
    uint32_t stream;  /* dense */
    uint32_t pool;    /* dense */
    uint64_t address;
    uint64_t size;      /* bytes of the block, segment or range */
    uint64_t requested; /* PLACE, FREE_*: bytes the program asked for; MAP, UNMAP: bytes of one
                           page; RELEASE: `birth` of the block that goes */
} fl_change;

/* Where changes go.  A policy without a sink (NULL) pays one test per change. */
typedef struct fl_sink {
    void (*change)(void *user, const fl_change *change);
    void *user;
} fl_sink;

/* Blocks and segments as they are shown: by a policy that is walked, or by a snapshot. */
typedef enum fl_block_state { FL_BLOCK_LIVE, FL_BLOCK_PENDING, FL_BLOCK_FREE } fl_block_state;

typedef struct fl_block_view {
    fl_block_state state;
    uint32_t id; /* FL_NONE for a free block */
    uint64_t address, size;
    uint64_t requested; /* of a free block: the stale value that a snapshot would show */
    uint64_t birth;     /* where the age of blocks decides, their order of creation; else 0 */
    uint64_t age; /* of a free block: the searches of its pool since, as collection counts them */
} fl_block_view;

/* One segment, or one mapped run of an expandable one. */
typedef struct fl_segment_view {
    uint32_t segment, stream, pool;
    bool is_small, is_expandable;
    uint64_t address, size;
} fl_segment_view;

/* Where the memory of a start state lies: a segment, or the range of an expandable one. */
typedef struct fl_start_range {
    uint64_t address; /* the base */
    uint64_t room;    /* bytes up to what lies next; UINT64_MAX: nothing does */
    uint64_t page;    /* 0: not expandable, one segment in one piece */
} fl_start_range;

/* What an allocator holds before the first op: mapped runs by address, the blocks that tile them
 * (free neighbours are one block), and the ranges in which they lie, oldest first.  `segment` of a
 * run is an index into the ranges. */
typedef struct fl_start {
    const fl_segment_view *segments;
    size_t segment_count;
    const fl_block_view *blocks;
    size_t block_count;
    const fl_start_range *ranges;
    size_t range_count;
    const uint64_t *births; /* where blocks begin, mapped or not, in order of their creation; what
                               is not in it came later, by address.  Empty: all by address */
    size_t birth_count;
} fl_start;

/* Where a walk goes: segments and mapped runs by address, each followed by its blocks, which tile
 * it. */
typedef struct fl_walk {
    void (*segment)(void *user, const fl_segment_view *segment);
    void (*block)(void *user, const fl_block_view *block);
    void *user;
} fl_walk;

/* What no rule determines.  Simulated for what-if, played from the record for verify. */
typedef struct fl_oracle {
    /* Has the event with this number (0, 1, 2, ... in order of recording) completed? */
    bool (*event_complete)(void *user, uint64_t event);
    /* EVENTS_HOLD and EVENTS_COMPLETE were asked; `recorded` events exist so far. */
    void (*hold)(void *user, uint64_t recorded);
    void (*complete)(void *user);
    void *user;
} fl_oracle;

/* Original values of dense stream and pool numbers; grows while a trace is read or a program runs.
 * `streams[i]` is the stream pointer as an integer (0: the legacy default stream); pool 0 is
 * {0, 0}, the default pair. */
typedef struct fl_pool_name {
    uint64_t first, second;
} fl_pool_name;

typedef struct fl_names {
    const uint64_t *streams;
    size_t stream_count;
    const fl_pool_name *pools;
    size_t pool_count;
    const char *const *texts;
    size_t text_count;
} fl_names;

#ifdef __cplusplus
}
#endif

#endif
