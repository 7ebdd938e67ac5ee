/* The parts of the snapshot reader: snapshot.c reads the file, snapshot_record.c makes the trace of
 * what is in it, snapshot_schema.c names that, snapshot_release.c judges who wrote it,
 * snapshot_settings.c what settings a file had that lacks them. */
#ifndef FL_READER_SNAPSHOT_H
#define FL_READER_SNAPSHOT_H

#include "base/checked.h"
#include "base/vector.h"
#include "reader/pickle.h"
#include "reader/reader.h"

/* Words of the file: keys first, then values. */
typedef enum snapshot_word {
    KEY_SEGMENTS = 1,
    KEY_DEVICE_TRACES,
    KEY_ALLOCATOR_SETTINGS,
    KEY_EXTERNAL_ANNOTATIONS,
    KEY_HOST_SEGMENTS,
    KEY_HOST_TRACES,

    KEY_DEVICE,
    KEY_ADDRESS,
    KEY_TOTAL_SIZE,
    KEY_ALLOCATED_SIZE,
    KEY_ACTIVE_SIZE,
    KEY_REQUESTED_SIZE,
    KEY_STREAM,
    KEY_SEGMENT_TYPE,
    KEY_SEGMENT_POOL_ID,
    KEY_IS_EXPANDABLE,
    KEY_FRAMES,
    KEY_FORWARD_FRAMES,
    KEY_BLOCKS,

    KEY_SIZE,
    KEY_STATE,
    KEY_HISTORY,
    KEY_REAL_SIZE,

    KEY_ACTION,
    KEY_ADDR,
    KEY_DEVICE_FREE,
    KEY_TIME_US,
    KEY_COMPILE_CONTEXT,
    KEY_USER_METADATA,
    KEY_INTERNAL_METADATA,
    KEY_POOL_ID,

    KEY_NAME,
    KEY_FILENAME,
    KEY_LINE,

    KEY_CONF,
    KEY_MAX_SPLIT_SIZE,
    KEY_GARBAGE_COLLECTION_THRESHOLD,
    KEY_EXPANDABLE_SEGMENTS,
    KEY_PINNED_NUM_REGISTER_THREADS,
    KEY_RELEASE_LOCK_ON_CUDAMALLOC,
    KEY_PINNED_USE_CUDA_HOST_REGISTER,
    KEY_GRAPH_CAPTURE_RECORD_STREAM_REUSE,
    KEY_MAX_ROUND_THRESHOLD,
    KEY_MAX_CACHED_SIZE,
    KEY_ROUNDUP_POWER2_DIVISIONS,

    KEY_FRAGLAB, /* of our own: what the keys of a snapshot that we write do not tell */
    KEY_RELEASE,
    KEY_FIRST_RELEASE,
    KEY_LAST_RELEASE,
    KEY_OPS,
    KEY_CAPACITY,
    KEY_OP,
    KEY_ID,
    KEY_HELD,
    KEY_AT,
    KEY_INFERRED,
    KEY_START,
    KEY_HOST_BYTES,
    KEY_CATEGORY,
    KEY_PARTS,
    KEY_END,

    WORD_ALLOC = FL_KEY_LIMIT,
    WORD_FREE_REQUESTED,
    WORD_FREE_COMPLETED,
    WORD_SEGMENT_ALLOC,
    WORD_SEGMENT_FREE,
    WORD_SEGMENT_MAP,
    WORD_SEGMENT_UNMAP,
    WORD_OOM,
    WORD_SNAPSHOT,
    WORD_ANNOTATE,
    WORD_OPERATION, /* of our own */
    WORD_OTHER,

    WORD_ACTIVE_ALLOCATED,
    WORD_ACTIVE_PENDING_FREE,
    WORD_ACTIVE_AWAITING_FREE,
    WORD_INACTIVE,
    WORD_SMALL,
    WORD_LARGE,
    WORD_END
} snapshot_word;

typedef struct pending_block {
    fl_block_view view;
    uint32_t stack;
    bool has_address; /* else it lies where the one before ends */
} pending_block;
FL_VECTOR(pending_vector, pending_block);

typedef struct snapshot_reader {
    const fl_host *host;
    fl_trace *trace;
    fl_table live[FL_TRACE_MAX_DEVICE + 1];  /* address to allocation, freed but pending included */
    struct pending_vector blocks;            /* of the segment that is being read */
    fl_table named[FL_TRACE_MAX_DEVICE + 1]; /* name to allocation: snapshot_ops.c */
    bool is_impossible[FL_TRACE_MAX_DEVICE + 1]; /* a final state that cannot be */
    uint32_t history_stack;                      /* of the block that is being read, or FL_NONE */
    size_t history_count;                        /* allocations told of it */
    size_t device;                               /* whose events are being read */
    size_t trace_count, whole_traces;            /* begun and ended */
    uint64_t entry_count;
    uint64_t unknown_count;  /* entries whose action this build does not know */
    uint32_t unknown_action; /* text: that of the first one */
    bool is_whole;           /* the file was read to its end */

    uint64_t last_stream; /* most events are on the same stream as the one before */
    uint32_t last_stream_number;
    bool has_stream;

    uint64_t top_keys, settings_keys, entry_keys, segment_keys, block_keys; /* bits of keys seen */
    bool is_list; /* a bare list of segments */
    bool has_settings, has_annotate, shows_expandable;
    bool tells_release; /* the file says itself which releases wrote it */
    fl_beside told;     /* what it says there was beside the rest, in another file */
} snapshot_reader;

extern const char *const fl_snapshot_words[WORD_END];
extern const fl_schema fl_snapshot_schema;

/* Reads a snapshot as JSON. */
fl_status fl_snapshot_read_json(fl_input *input, const fl_read_options *options, fl_trace *trace,
                                fl_error *error);

/* Callbacks of the schema, in snapshot_record.c; fl_snapshot_own in snapshot_release.c. */
fl_status fl_snapshot_frame(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_stack(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_past(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_block(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_segment(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_entry(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_trace(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_settings(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_own(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_annotation(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_host_segment(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_host_entry(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_top(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_list(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_block_begin(void *user, fl_error *error);
fl_status fl_snapshot_segment_begin(void *user, fl_error *error);
fl_status fl_snapshot_trace_begin(void *user, fl_error *error);
fl_status fl_snapshot_unknown_key(void *user, const char *key, size_t length, const char *what,
                                  fl_error *error);

/* Once all is read: settings that the file lacks, as far as its events show them. */
fl_status fl_snapshot_infer_settings(snapshot_reader *reader, const char *name, bool is_cut,
                                     fl_error *error);

/* In snapshot_ops.c: the number of the allocation that an entry speaks of; an entry that is an
 * operation; and, once all is read, completions that ask for nothing. */
fl_status fl_snapshot_identify(snapshot_reader *reader, const fl_record *record, fl_event *event,
                               fl_error *error);
fl_status fl_snapshot_operation(snapshot_reader *reader, fl_closing *closing, fl_event *event,
                                fl_error *error);
void fl_snapshot_take_world(snapshot_reader *reader, const fl_record *record);
fl_status fl_snapshot_start_line(void *user, fl_closing *closing, fl_error *error);
fl_status fl_snapshot_settle_ops(snapshot_reader *reader, fl_error *error);

/* The same: category and unknown parts of an entry, which is the last event. */
fl_status fl_snapshot_keep(snapshot_reader *reader, fl_closing *closing, const fl_event *event,
                           fl_error *error);

/* Does a record have something to keep? */
static inline bool fl_snapshot_has_kept(const fl_record *record)
{
    return (record->has & (UINT64_C(1) << KEY_CATEGORY | UINT64_C(1) << KEY_PARTS)) != 0;
}

/* Tells the trace which releases write such keys. */
fl_status fl_snapshot_judge_release(const snapshot_reader *reader, fl_error *error);

#endif
