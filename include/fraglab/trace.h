/* fraglab/trace.h - what was read from a file: events in columns, tables beside them.
 *
 * A recorded history holds both what the program asked (alloc, free) and what the allocator did
 * (segments, completions).  Both are events of one list, so an event number means the same thing
 * in the file, in the replay and in every report.  Each device of a file has its own list. */
#ifndef FRAGLAB_TRACE_H
#define FRAGLAB_TRACE_H

#include <fraglab/base.h>
#include <fraglab/heap.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds below FL_EVENT_OUTCOMES are fl_op_kind; the others record what the allocator did. */
typedef enum fl_event_kind {
    FL_EVENT_OUTCOMES = 32,
    FL_EVENT_SEGMENT_ALLOC = FL_EVENT_OUTCOMES, /* address, size, stream */
    FL_EVENT_SEGMENT_FREE,
    FL_EVENT_SEGMENT_MAP,
    FL_EVENT_SEGMENT_UNMAP,
    FL_EVENT_SNAPSHOT, /* size: total active bytes */
    FL_EVENT_OTHER,    /* an action this build does not know; kept so that numbers agree */
    FL_EVENT_KIND_END
} fl_event_kind;

enum {                            /* fl_event.flags; the low bits are those of fl_op */
       FL_EVENT_OOM = 1 << 4,     /* ALLOC: it was refused; `address` is the device's free bytes */
       FL_EVENT_SILENT = 1 << 5,  /* FREE_DONE: it follows from other ops, nothing to ask */
       FL_EVENT_INSERTED = 1 << 6 /* inferred ops come before this event: fl_trace_insertions */
};

#define FL_TIME_UNKNOWN INT64_MIN

/* One event, gathered from the columns. */
typedef struct fl_event {
    uint8_t kind; /* fl_op_kind or fl_event_kind */
    uint8_t flags;
    uint32_t id, stream, pool, text; /* as in fl_op */
    uint32_t stack;                  /* index into the stacks, or FL_NONE */
    uint64_t address;                /* recorded address, or 0 */
    union {
        uint64_t size;
        double fraction;
    };
    int64_t time_us;
} fl_event;

/* An op that is not in the file but must have happened just before an event. */
typedef struct fl_insertion {
    uint64_t event; /* the event it comes before */
    fl_op op;
} fl_insertion;

/* A `key=value` part of an event that this build does not know: kept, not understood. */
typedef struct fl_note {
    uint64_t event;
    uint32_t text;
} fl_note;

/* What a file tells: only what the program asked, or also what the allocator did, which is inferred
 * from and compared with.  A reader of another format says which of the two its files are like. */
typedef enum fl_format { FL_FORMAT_SCRIPT, FL_FORMAT_SNAPSHOT } fl_format;

/* One stack frame; the strings live as long as the trace.  `line` 0: unknown. */
typedef struct fl_frame {
    const char *name, *file;
    uint32_t line;
} fl_frame;

/* The releases that can have written a file, judged by the keys in it: from `first` to `last`, both
 * included; `known` false: nothing tells. */
typedef struct fl_release_range {
    uint32_t first_major, first_minor, last_major, last_minor;
    bool known;
} fl_release_range;

/* What a snapshot holds beside its events and its final state: counted, not kept. */
typedef struct fl_beside {
    uint64_t annotations;   /* of ranges in the program, by record_function and the like */
    uint64_t host_segments; /* of pinned host memory, and their bytes */
    uint64_t host_bytes;
    uint64_t host_events;
} fl_beside;

/* One end of a range of events: a number, or seconds since the first event that has a time. */
typedef struct fl_range_end {
    bool is_given, is_time;
    uint64_t event;
    double seconds;
} fl_range_end;

/* What is known of the events behind the end of a range, which are read and not kept. */
typedef struct fl_behind {
    uint64_t events;
    bool has_refusal; /* the first request of them that was refused: */
    uint64_t refused_bytes, free_bytes;
    uint64_t added_bytes;    /* of segments taken from the range's end to it */
    uint64_t returned_bytes; /* and of those given back; sums stop at UINT64_MAX */
    uint64_t grown_bytes;    /* by how much segments taken exceeded those given back, at most */
    bool gives_back;         /* a segment or a part of one */
} fl_behind;

typedef struct fl_trace fl_trace;

FL_API void fl_trace_free(fl_trace *trace); /* accepts NULL */

FL_API const char *fl_trace_path(const fl_trace *trace);
FL_API fl_format fl_trace_format(const fl_trace *trace);
/* The name of the reader, as `fl_reader_at` has it; NULL: not read from a file. */
FL_API const char *fl_trace_format_name(const fl_trace *trace);

/* One more than the highest device number that the file speaks of; each has its own events, maybe
 * none. */
FL_API size_t fl_trace_device_count(const fl_trace *trace);
FL_API uint64_t fl_trace_event_count(const fl_trace *trace, size_t device);
FL_API uint32_t fl_trace_alloc_count(const fl_trace *trace, size_t device);

/* All zero where the trace was read to its end.  Events of the same operation as the last one of
 * the range are kept; what the file shows at its end is undone to there, and shows of blocks only
 * those in use, with size 0 where they were freed behind it. */
FL_API fl_behind fl_trace_behind(const fl_trace *trace, size_t device);

/* `index` < fl_trace_event_count. */
FL_API void fl_trace_event(const fl_trace *trace, size_t device, uint64_t index,
                           fl_event *ret_event);

/* Inferred ops, ascending by event. */
FL_API const fl_insertion *fl_trace_insertions(const fl_trace *trace, size_t device,
                                               size_t *ret_count);

/* Parts that are kept without being understood, ascending by event. */
FL_API const fl_note *fl_trace_notes(const fl_trace *trace, size_t device, size_t *ret_count);

/* Original names of streams, pools and texts; one table for all devices.  Texts are UTF-8. */
FL_API const fl_names *fl_trace_names(const fl_trace *trace);

/* The number that the file itself uses for an allocation (a script's ID). */
FL_API uint64_t fl_trace_original_id(const fl_trace *trace, size_t device, uint32_t id);

/* The category that a file gives to an allocation: index of a text, or FL_NONE. */
FL_API uint32_t fl_trace_category(const fl_trace *trace, size_t device, uint32_t id);

/* Frames of a stack, innermost first.  A script's stack is one frame named by its number. */
FL_API size_t fl_trace_stack_count(const fl_trace *trace);
FL_API size_t fl_trace_stack_depth(const fl_trace *trace, uint32_t stack);
FL_API fl_frame fl_trace_stack_frame(const fl_trace *trace, uint32_t stack, size_t depth);

/* What the file states of its world: NULL, UINT64_MAX or `known` false where it does not. */
FL_API const char *fl_trace_conf(const fl_trace *trace);          /* settings text */
FL_API uint64_t fl_trace_capacity(const fl_trace *trace);         /* a script's cap= */
FL_API fl_release_range fl_trace_releases(const fl_trace *trace); /* from the keys in it */
FL_API const char *fl_trace_release(const fl_trace *trace);       /* a script's `# torch:` */

/* The settings were not in the file, which is cut off or of a release that did not write them yet:
 * fl_trace_conf is what the events show of them, the rest is not known. */
FL_API bool fl_trace_lacks_conf(const fl_trace *trace);

/* Sizes of requests are those of blocks: what was asked for is not in the file. */
FL_API bool fl_trace_has_block_sizes(const fl_trace *trace);

/* Are its ops found rather than told, here or where it was made from?  What leaves no entry in a
 * history is missing then: an empty_cache that gave nothing back. */
FL_API bool fl_trace_is_inferred(const fl_trace *trace);

FL_API fl_beside fl_trace_beside(const fl_trace *trace);

/* What no file states: the memory fraction that the recorded program had set (< 0: none), and the
 * size of its card (0: unknown), of which it is a part.  Rebuild and verify go by them. */
FL_API void fl_trace_set_limit(fl_trace *trace, double fraction, uint64_t total_bytes);

/* The state at the end of the file, by address; blocks of a segment follow each other.  A script
 * has none, nor has a file that was cut off before it. */
FL_API bool fl_trace_has_final_state(const fl_trace *trace, size_t device);
/* Was recording stopped before that state? */
FL_API bool fl_trace_is_state_newer(const fl_trace *trace, size_t device);
FL_API const fl_segment_view *fl_trace_final_segments(const fl_trace *trace, size_t device,
                                                      size_t *ret_count);
FL_API const fl_block_view *fl_trace_final_blocks(const fl_trace *trace, size_t device,
                                                  size_t *ret_count);

/* Segments and blocks that the file shows at its end, those that cannot be included; how many
 * cannot be, and what is wrong with the first of them, NULL: nothing.  Where segments and their
 * blocks do not fit each other there is no final state; where only the sums are wrong there is. */
FL_API const char *fl_trace_impossible(const fl_trace *trace, size_t device, uint64_t *ret_shown,
                                       uint64_t *ret_impossible);

/* Stack of the last allocation in each of the final blocks, or FL_NONE. */
FL_API uint32_t fl_trace_final_stack(const fl_trace *trace, size_t device, size_t block);

/* The event by which the program frees the block behind the range that was read; UINT64_MAX: none.
 */
FL_API uint64_t fl_trace_final_free(const fl_trace *trace, size_t device, size_t block);

/* Is the window complete: does walking back from the final state end with nothing?  A script is
 * complete.  A file cut off has no final state: complete if it starts with the device's memory and
 * frees nothing that it did not allocate. */
FL_API bool fl_trace_is_complete(const fl_trace *trace, size_t device);

/* Was this kind of event left out while recording?  Only where the rest shows it. */
FL_API bool fl_trace_leaves_out(const fl_trace *trace, size_t device, uint8_t kind);

/* In which order the events are: as in the file; put in order by their times, without so many that
 * lay before a gap (*ret_left_out, else 0); or in a wrong one that could not be restored. */
typedef enum fl_order { FL_ORDER_AS_RECORDED, FL_ORDER_RESTORED, FL_ORDER_WRONG } fl_order;
FL_API fl_order fl_trace_order(const fl_trace *trace, size_t device, uint64_t *ret_left_out);

/* What the reader noticed: one line each, in order. */
FL_API size_t fl_trace_warning_count(const fl_trace *trace);
FL_API const char *fl_trace_warning(const fl_trace *trace, size_t index);

#ifdef __cplusplus
}
#endif

#endif
