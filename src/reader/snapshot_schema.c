/* What is in a snapshot: the words of releases 2.0 to 2.15, and how its dictionaries and lists
 * nest.  A new key is one word here; a key without a word is passed over with a warning. */
#include "reader/snapshot.h"

const char *const fl_snapshot_words[WORD_END] = {
    [KEY_SEGMENTS] = "segments",
    [KEY_DEVICE_TRACES] = "device_traces",
    [KEY_ALLOCATOR_SETTINGS] = "allocator_settings",
    [KEY_EXTERNAL_ANNOTATIONS] = "external_annotations",
    [KEY_HOST_SEGMENTS] = "host_segments",
    [KEY_HOST_TRACES] = "host_traces",
    [KEY_DEVICE] = "device",
    [KEY_ADDRESS] = "address",
    [KEY_TOTAL_SIZE] = "total_size",
    [KEY_ALLOCATED_SIZE] = "allocated_size",
    [KEY_ACTIVE_SIZE] = "active_size",
    [KEY_REQUESTED_SIZE] = "requested_size",
    [KEY_STREAM] = "stream",
    [KEY_SEGMENT_TYPE] = "segment_type",
    [KEY_SEGMENT_POOL_ID] = "segment_pool_id",
    [KEY_IS_EXPANDABLE] = "is_expandable",
    [KEY_FRAMES] = "frames",
    [KEY_FORWARD_FRAMES] = "forward_frames",
    [KEY_BLOCKS] = "blocks",
    [KEY_SIZE] = "size",
    [KEY_STATE] = "state",
    [KEY_HISTORY] = "history",
    [KEY_REAL_SIZE] = "real_size",
    [KEY_ACTION] = "action",
    [KEY_ADDR] = "addr",
    [KEY_DEVICE_FREE] = "device_free",
    [KEY_TIME_US] = "time_us",
    [KEY_COMPILE_CONTEXT] = "compile_context",
    [KEY_USER_METADATA] = "user_metadata",
    [KEY_INTERNAL_METADATA] = "internal_metadata",
    [KEY_POOL_ID] = "pool_id",
    [KEY_NAME] = "name",
    [KEY_FILENAME] = "filename",
    [KEY_LINE] = "line",
    [KEY_CONF] = "PYTORCH_CUDA_ALLOC_CONF",
    [KEY_MAX_SPLIT_SIZE] = "max_split_size",
    [KEY_GARBAGE_COLLECTION_THRESHOLD] = "garbage_collection_threshold",
    [KEY_EXPANDABLE_SEGMENTS] = "expandable_segments",
    [KEY_PINNED_NUM_REGISTER_THREADS] = "pinned_num_register_threads",
    [KEY_RELEASE_LOCK_ON_CUDAMALLOC] = "release_lock_on_cudamalloc",
    [KEY_PINNED_USE_CUDA_HOST_REGISTER] = "pinned_use_cuda_host_register",
    [KEY_GRAPH_CAPTURE_RECORD_STREAM_REUSE] = "graph_capture_record_stream_reuse",
    [KEY_MAX_ROUND_THRESHOLD] = "max_round_threshold",
    [KEY_MAX_CACHED_SIZE] = "max_cached_size",
    [KEY_ROUNDUP_POWER2_DIVISIONS] = "roundup_power2_divisions",
    [WORD_ALLOC] = "alloc",
    [WORD_FREE_REQUESTED] = "free_requested",
    [WORD_FREE_COMPLETED] = "free_completed",
    [WORD_SEGMENT_ALLOC] = "segment_alloc",
    [WORD_SEGMENT_FREE] = "segment_free",
    [WORD_SEGMENT_MAP] = "segment_map",
    [WORD_SEGMENT_UNMAP] = "segment_unmap",
    [WORD_OOM] = "oom",
    [WORD_SNAPSHOT] = "snapshot",
    [WORD_ANNOTATE] = "annotate",
    [WORD_ACTIVE_ALLOCATED] = "active_allocated",
    [WORD_ACTIVE_PENDING_FREE] = "active_pending_free",
    [WORD_ACTIVE_AWAITING_FREE] = "active_awaiting_free",
    [WORD_INACTIVE] = "inactive",
    [WORD_SMALL] = "small",
    [WORD_LARGE] = "large",
};

_Static_assert(KEY_END <= FL_KEY_LIMIT, "each key needs a bit");

enum {
    SHAPE_TOP = FL_SHAPE_NONE + 1,
    SHAPE_SEGMENTS,
    SHAPE_SEGMENT,
    SHAPE_BLOCKS,
    SHAPE_BLOCK,
    SHAPE_HISTORY,
    SHAPE_PAST,
    SHAPE_TRACES,
    SHAPE_TRACE,
    SHAPE_ENTRY,
    SHAPE_STACK,
    SHAPE_FRAME,
    SHAPE_SETTINGS,
    SHAPE_BARE,
    SHAPE_ANNOTATIONS,
    SHAPE_ANNOTATION,
    SHAPE_HOST_SEGMENTS,
    SHAPE_HOST_SEGMENT,
    SHAPE_HOST_ENTRIES,
    SHAPE_HOST_ENTRY,
    SHAPE_END
};

_Static_assert(SHAPE_END <= FL_SHAPE_LIMIT, "the pickle machine keeps so many shapes");

static const fl_shape_child top_children[] = {
    {KEY_SEGMENTS, SHAPE_SEGMENTS},
    {KEY_DEVICE_TRACES, SHAPE_TRACES},
    {KEY_ALLOCATOR_SETTINGS, SHAPE_SETTINGS},
    {KEY_EXTERNAL_ANNOTATIONS, SHAPE_ANNOTATIONS},
    {KEY_HOST_SEGMENTS, SHAPE_HOST_SEGMENTS},
    {KEY_HOST_TRACES, SHAPE_HOST_ENTRIES},
    {0, 0},
};

static const fl_shape_child segment_children[] = {
    {KEY_BLOCKS, SHAPE_BLOCKS},
    {KEY_FRAMES, SHAPE_STACK},
    {0, 0},
};

static const fl_shape_child block_children[] = {
    {KEY_FRAMES, SHAPE_STACK},
    {KEY_HISTORY, SHAPE_HISTORY},
    {0, 0},
};

static const fl_shape_child stack_children[] = {
    {KEY_FRAMES, SHAPE_STACK},
    {0, 0},
};

static const fl_shape shapes[SHAPE_END] = {
    [SHAPE_TOP] = {"a snapshot", .children = top_children, .close = fl_snapshot_top},
    [SHAPE_SEGMENTS] = {"the list of segments", .is_list = true, .element = SHAPE_SEGMENT},
    [SHAPE_SEGMENT] = {"a segment", .children = segment_children, .open = fl_snapshot_segment_begin,
                       .close = fl_snapshot_segment},
    [SHAPE_BLOCKS] = {"the list of a segment's blocks", .is_list = true, .element = SHAPE_BLOCK},
    [SHAPE_BLOCK] = {"a block", .children = block_children, .open = fl_snapshot_block_begin,
                     .close = fl_snapshot_block},
    [SHAPE_HISTORY] = {"a block's history", .is_list = true, .element = SHAPE_PAST},
    [SHAPE_PAST] = {"an allocation of a block's history", .children = stack_children,
                    .close = fl_snapshot_past},
    [SHAPE_TRACES] = {"the list of traces", .is_list = true, .element = SHAPE_TRACE},
    [SHAPE_TRACE] = {"a device's trace", .is_list = true, .element = SHAPE_ENTRY,
                     .open = fl_snapshot_trace_begin, .close = fl_snapshot_trace},
    [SHAPE_ENTRY] = {"a trace entry", .children = stack_children, .close = fl_snapshot_entry},
    [SHAPE_STACK] = {"a list of frames", .is_list = true, .is_shared = true, .element = SHAPE_FRAME,
                     .close = fl_snapshot_stack},
    [SHAPE_FRAME] = {"a frame", .is_shared = true, .is_lenient = true, .close = fl_snapshot_frame},
    [SHAPE_SETTINGS] = {"the allocator's settings", .close = fl_snapshot_settings},
    [SHAPE_BARE] = {"a list of segments", .is_list = true, .element = SHAPE_SEGMENT,
                    .close = fl_snapshot_list},
    [SHAPE_ANNOTATIONS] = {"the list of annotations", .is_list = true, .is_loose = true,
                           .element = SHAPE_ANNOTATION},
    [SHAPE_ANNOTATION] = {"an annotation", .is_loose = true, .close = fl_snapshot_annotation},
    [SHAPE_HOST_SEGMENTS] = {"the list of host segments", .is_list = true, .is_loose = true,
                             .element = SHAPE_HOST_SEGMENT},
    [SHAPE_HOST_SEGMENT] = {"a host segment", .is_loose = true, .close = fl_snapshot_host_segment},
    [SHAPE_HOST_ENTRIES] = {"the list of host entries", .is_list = true, .is_loose = true,
                            .element = SHAPE_HOST_ENTRY},
    [SHAPE_HOST_ENTRY] = {"a host entry", .is_loose = true, .close = fl_snapshot_host_entry},
};

const fl_schema fl_snapshot_schema = {
    .shapes = shapes,
    .shape_count = SHAPE_END,
    .root = SHAPE_TOP,
    .root_list = SHAPE_BARE,
    .words = fl_snapshot_words,
    .word_count = WORD_END,
    .unknown_key = fl_snapshot_unknown_key,
};
