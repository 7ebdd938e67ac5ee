/* The memory layout of fl_trace: at most 40 bytes an event, once loaded.
 *
 * One list of columns per device.  Streams, pools, texts, frames and stacks are numbered once for
 * the whole file.  Columns that no event of a device needs are NULL.  The replay reads columns
 * through the inline functions here; everything is written through trace/build.h. */
#ifndef FL_TRACE_TRACE_H
#define FL_TRACE_TRACE_H

#include <fraglab/trace.h>

#include "base/mapping.h"
#include "base/table.h"
#include "base/vector.h"
#include "trace/arena.h"

#define FL_NONE16 UINT16_MAX

typedef enum fl_column {
    FL_COLUMN_KIND,
    FL_COLUMN_FLAGS,
    FL_COLUMN_STREAM,
    FL_COLUMN_ID,
    FL_COLUMN_SIZE,
    FL_COLUMN_POOL, /* from here on only where an event has one */
    FL_COLUMN_STACK,
    FL_COLUMN_ADDRESS,
    FL_COLUMN_TIME,
    FL_COLUMN_COUNT
} fl_column;

typedef struct fl_columns {
    uint64_t count;
    uint8_t *kind; /* fl_op_kind or fl_event_kind */
    uint8_t *flags;
    uint16_t *stream; /* FL_NONE16: none */
    uint32_t *id;     /* MARK and CONFIGURE keep their text's index here */
    uint64_t *size;   /* LIMIT keeps the bits of its fraction here */
    uint16_t *pool;   /* FL_NONE16: none */
    uint32_t *stack;
    uint64_t *address;
    int64_t *time_us;
    uint64_t capacity[FL_COLUMN_COUNT]; /* entries; 0: the column is NULL */
    bool is_lent; /* they lie in the trace's image: nothing can be added, nothing given back */
} fl_columns;

FL_VECTOR(fl_insertion_vector, fl_insertion);
FL_VECTOR(fl_note_vector, fl_note);
FL_VECTOR(fl_segment_vector, fl_segment_view);
FL_VECTOR(fl_block_vector, fl_block_view);
FL_VECTOR(fl_range_vector, fl_start_range);
FL_VECTOR(fl_u32_vector, uint32_t);
FL_VECTOR(fl_u64_vector, uint64_t);
FL_VECTOR(fl_pool_vector, fl_pool_name);
FL_VECTOR(fl_text_vector, const char *);
FL_VECTOR(fl_byte_vector, uint8_t);

/* Where a walk back from the final state meets what cannot be. */
typedef enum fl_break_kind {
    FL_BREAK_NONE,
    FL_BREAK_RUN_TWICE,     /* memory that is there already comes, or goes and stays */
    FL_BREAK_RUN_MISSING,   /* memory came that is not there later */
    FL_BREAK_RUN_IN_USE,    /* memory came under a block that lay there before */
    FL_BREAK_BLOCK_TWICE,   /* a block lies where another one does */
    FL_BREAK_BLOCK_MISSING, /* a block came that is not there later */
    FL_BREAK_BLOCK_OTHER,   /* a block is there later, of another size or freed */
    FL_BREAK_BLOCK_OUTSIDE  /* a block lies in no memory, before the first event */
} fl_break_kind;

typedef struct fl_break {
    fl_break_kind kind;
    uint64_t event; /* at which it shows; the number of events: in the final state */
    uint64_t address, size;
} fl_break;

/* An event, as far as it can be undone. */
typedef struct fl_undo_event {
    uint64_t address, size;
    uint32_t id, stream, pool; /* pool: FL_NONE where it is not recorded */
    uint32_t stack;
    uint64_t event; /* its number */
    uint8_t kind;   /* fl_op_kind or fl_event_kind */
    uint8_t flags;
} fl_undo_event;
FL_VECTOR(fl_undo_event_vector, fl_undo_event);

/* The end of a range, while reading goes on behind it. */
typedef struct fl_trace_end {
    bool is_reached;
    bool has_begin;
    int64_t begin_us;  /* of the first event that has a time */
    int64_t last_us;   /* of the last one behind the end, else FL_TIME_UNKNOWN, the least of all */
    bool goes_back;    /* times behind the end do */
    uint64_t kinds;    /* bits of the kinds of events behind it */
    uint32_t first_id; /* allocations behind it have numbers from here on */
    fl_behind behind;
    uint64_t added_bytes, returned_bytes; /* of segments, behind it */
    struct fl_undo_event_vector log;      /* what is to be undone of them */
    size_t settled; /* of which this was left when it was last looked through */
} fl_trace_end;

/* What was there before the first event of a cut window.  The window alone tells the mapped runs
 * and the blocks in use, with size 0 where they were freed later; the rebuild adds what follows
 * under a release and its settings, which is what a policy adopts. */
typedef struct fl_trace_start {
    struct fl_segment_vector segments;
    struct fl_block_vector in_use;
    uint32_t first_id; /* the first of `in_use` has this number, and so on; what was before the
                          window is numbered without a start state, too */
    bool is_known;     /* the walk back was made and met no contradiction */
    fl_break broken;   /* the one that it met */
    bool is_placed;    /* the rest is valid, and the runs know their range */
    uint64_t event;    /* before which it was; 0 unless a replay of what is before was made */
    struct fl_block_vector blocks;
    struct fl_range_vector ranges;
    struct fl_u64_vector births; /* of fl_start, where the age of blocks decides */
    struct fl_u64_vector ages;  /* pairs of ranges by address, or of blocks where their age decides,
                                   the older first, as decisions show */
    struct fl_u64_vector tails; /* pairs of a block's address and its tail, as decisions show */
    struct fl_u32_vector open;  /* indices of `in_use`: whose tails no address shows */
    uint64_t hidden_tail_bytes; /* of the next */
    uint64_t hidden_tails;      /* blocks larger than what was asked for, as the window shows */
    uint64_t open_tails;        /* and those that may be, which nothing shows */
} fl_trace_start;

/* What the last rebuild came to. */
typedef struct fl_trace_rebuilt {
    const void *profile; /* the release that it was made for; NULL: there was none */
    bool is_settled;     /* another for the same release would come to the same */
} fl_trace_rebuilt;

typedef struct fl_trace_device {
    fl_columns columns;
    uint32_t alloc_count;
    struct fl_u64_vector originals;  /* empty: every id is its own name */
    struct fl_u32_vector categories; /* by id, text or FL_NONE; shorter than alloc_count: none */
    struct fl_insertion_vector insertions;
    struct fl_note_vector notes;
    struct fl_segment_vector segments;
    struct fl_block_vector blocks;
    struct fl_u32_vector block_stacks;      /* one per block */
    struct fl_u64_vector block_frees;       /* the same, or none: by which event behind the end */
    uint64_t shown_parts, impossible_parts; /* segments and blocks: fl_trace_impossible */
    uint32_t impossible;                    /* text, valid where there are such parts */
    uint64_t unrecorded; /* bits of the kinds that were left out while recording */
    bool has_final_state, is_complete;
    bool is_newer;     /* the final state is, than the last event */
    bool starts_late;  /* there was memory before the first event of which the file tells nothing */
    bool is_reordered; /* the events stood in another order in the file */
    bool is_disordered; /* they still do, and it could not be restored */
    uint64_t left_out;  /* of a reordered history: events before a gap, which are not kept */
    fl_trace_end end;
    fl_trace_start start;
    fl_trace_rebuilt rebuilt;
} fl_trace_device;
/* Whatever is added here goes into flt_save.c and flt_load.c, too. */
FL_VECTOR(fl_device_vector, fl_trace_device);

/* A frame by numbers: both strings are texts. */
typedef struct fl_frame_row {
    uint32_t name, file, line;
} fl_frame_row;
FL_VECTOR(fl_frame_vector, fl_frame_row);

struct fl_trace {
    const fl_host *host;
    fl_format format;
    const char *format_name; /* the reader's; lives as long as the trace */
    const char *path;        /* in the arena */
    uint32_t conf, release;  /* texts; FL_NONE: not stated */
    bool lacks_conf;
    bool has_block_sizes; /* requests have the sizes of blocks, not those that were asked for */
    bool has_ops;     /* a history with all ops that were asked for: nothing is to be inferred */
    bool is_inferred; /* its ops were, from another history: fl_trace_is_inferred */
    bool lacks_pools; /* the final state does not say whose its segments are */
    fl_range_end end; /* of the range that is kept */
    bool needs_whole; /* it has to be read again, without an end */
    uint64_t capacity_bytes;
    double fraction;      /* < 0: none told */
    uint64_t total_bytes; /* 0: not told */
    fl_release_range releases;
    fl_beside beside;
    struct fl_device_vector devices;
    struct fl_u64_vector streams;
    struct fl_pool_vector pools;
    struct fl_text_vector texts;
    struct fl_frame_vector frames;
    struct fl_u32_vector stack_frames; /* of all stacks, one after the other */
    struct fl_u64_vector stack_ends;   /* where each stack's frames end in stack_frames */
    struct fl_u32_vector warnings;     /* texts */
    struct fl_arena arena;             /* the texts' bytes */
    fl_table stream_numbers, pool_numbers, text_numbers, frame_numbers, stack_numbers;
    fl_names names;
    /* The bytes of a .flt, in which the columns lie: mapped or read.  Such a trace was judged when
     * it was written, and its tables of numbers are empty: what it interns is new. */
    fl_mapping mapping;
    struct fl_byte_vector image;
    bool is_judged;
};

/* Is every free one event, because the other half was not recorded? */
static inline bool fl_trace_has_whole_frees(const fl_trace_device *device)
{
    uint64_t halves = UINT64_C(1) << FL_OP_FREE | UINT64_C(1) << FL_OP_FREE_DONE;
    return (device->unrecorded & halves) != 0;
}

/* Do the events lead to the final state? */
static inline bool fl_trace_has_end(const fl_trace_device *device)
{
    return device->has_final_state && !device->is_newer;
}

static inline const fl_columns *fl_trace_columns(const fl_trace *trace, size_t device)
{
    return &trace->devices.items[device].columns;
}

/* Of a history that has all ops: is the event one of which a recorder writes nothing?  A request
 * for nothing is, a free of nothing, and a completion that is asked for. */
static inline bool fl_trace_is_unwritten(const fl_trace *trace, const fl_columns *columns,
                                         uint64_t event)
{
    uint8_t kind = columns->kind[event];
    bool is_free = kind == FL_OP_FREE || kind == FL_OP_FREE_DONE;
    if (!trace->has_ops || kind >= FL_OP_KIND_COUNT || (is_free && columns->id[event] == FL_NONE))
        return false;
    if (kind == FL_OP_FREE)
        return columns->address == NULL || columns->address[event] == 0;
    if (kind == FL_OP_ALLOC)
        return columns->size[event] == 0;
    return kind != FL_OP_FREE_DONE || (columns->flags[event] & FL_EVENT_SILENT) == 0;
}

/* Does `id` of an event of this kind hold a text? */
static inline bool fl_kind_has_text(uint8_t kind)
{
    return kind == FL_OP_MARK || kind == FL_OP_CONFIGURE;
}

/* Does this kind of event record a step with the device? */
static inline bool fl_kind_is_segment(uint8_t kind)
{
    return kind >= FL_EVENT_SEGMENT_ALLOC && kind <= FL_EVENT_SEGMENT_UNMAP;
}

/* The op of an event; for kinds from FL_EVENT_OUTCOMES on there is nothing to ask. */
static inline void fl_columns_op(const fl_columns *columns, uint64_t index, fl_op *ret_op)
{
    uint8_t kind = columns->kind[index];
    uint16_t stream = columns->stream[index];
    uint16_t pool = columns->pool != NULL ? columns->pool[index] : FL_NONE16;
    bool has_text = fl_kind_has_text(kind);
    ret_op->kind = kind;
    ret_op->flags = columns->flags[index] & (FL_EVENT_OOM - 1);
    ret_op->id = has_text ? FL_NONE : columns->id[index];
    ret_op->text = has_text ? columns->id[index] : FL_NONE;
    ret_op->stream = stream != FL_NONE16 ? stream : FL_NONE;
    ret_op->pool = pool != FL_NONE16 ? pool : FL_NONE;
    ret_op->size = columns->size[index];
    if ((ret_op->flags & FL_OP_AT) && kind == FL_OP_ALLOC && columns->address != NULL)
        ret_op->address = columns->address[index];
}

#endif
