/* How a trace is made: by readers event by event, and by the rebuild on a finished one.
 *
 * Every function returns FL_OK, FL_ERR_RESOURCE, or FL_ERR_INPUT where a file exceeds what a trace
 * can hold; on failure the trace is as it was and must still be freed. */
#ifndef FL_TRACE_BUILD_H
#define FL_TRACE_BUILD_H

#include "trace/trace.h"

/* An empty trace of one device, with the default pool; NULL with `error` filled on failure.  `host`
 * must outlive it. */
fl_trace *fl_trace_new(const fl_host *host, const char *path, fl_error *error);

/* Highest device number, and the most events of one device. */
#define FL_TRACE_MAX_DEVICE 255
#define FL_TRACE_MAX_EVENTS (UINT32_MAX - 1)

/* Makes devices 0 to `device` exist. */
fl_status fl_trace_add_device(fl_trace *trace, uint64_t device, fl_error *error);

/* The number for a value, new or known.  A stream or pool is numbered below FL_NONE16. */
fl_status fl_trace_intern_stream(fl_trace *trace, uint64_t value, uint32_t *ret_stream,
                                 fl_error *error);
fl_status fl_trace_intern_pool(fl_trace *trace, fl_pool_name name, uint32_t *ret_pool,
                               fl_error *error);

/* Keeps a copy of a text as UTF-8; bytes that are not, and NULs, become U+FFFD. */
fl_status fl_trace_intern_text(fl_trace *trace, const char *text, size_t length, uint32_t *ret_text,
                               fl_error *error);
fl_status fl_trace_intern_frame(fl_trace *trace, fl_frame_row row, uint32_t *ret_frame,
                                fl_error *error);
fl_status fl_trace_intern_stack(fl_trace *trace, const uint32_t *frames, size_t depth,
                                uint32_t *ret_stack, fl_error *error);

/* The next dense allocation number of a device, which must exist; `original` is its name in the
 * file (the number itself where the file has none). */
fl_status fl_trace_new_id(fl_trace *trace, size_t device, uint64_t original, uint32_t *ret_id,
                          fl_error *error);
fl_status fl_trace_set_category(fl_trace *trace, size_t device, uint32_t id, uint32_t text,
                                fl_error *error);

/* Gives an event the number of the allocation that it speaks of, a new one to a request.  `live`
 * finds them by address, and is kept up to date; pending ones are in it. */
fl_status fl_trace_identify(fl_trace *trace, size_t device, fl_table *live, fl_event *event,
                            fl_error *error);

/* Adds an event after the last one.  Its time is FL_TIME_UNKNOWN where there is none. */
fl_status fl_trace_append(fl_trace *trace, size_t device, const fl_event *event, fl_error *error);

/* Lets the trace end there, before anything is added to it.  What is added behind is not kept. */
void fl_trace_end_at(fl_trace *trace, const fl_range_end *end);

/* Parts of fl_trace_append and fl_trace_finish, behind.c: does the event lie behind the end?  Takes
 * note of it; and in the end undoes what they came to in the final state.  Where that cannot be
 * done, needs_whole is set. */
bool fl_trace_is_behind(const fl_trace *trace, fl_trace_device *device, const fl_event *event);
fl_status fl_trace_add_behind(fl_trace *trace, fl_trace_device *device, const fl_event *event,
                              fl_error *error);
fl_status fl_trace_finish_behind(fl_trace *trace, fl_trace_device *device, fl_error *error);

/* Adds a note on an event not before those of earlier notes. */
fl_status fl_trace_add_note(fl_trace *trace, size_t device, uint64_t event, uint32_t text,
                            fl_error *error);

/* Adds an op that happened just before `event`, which must not be below those of earlier
 * insertions, and flags the event. */
fl_status fl_trace_insert(fl_trace *trace, size_t device, uint64_t event, const fl_op *op,
                          fl_error *error);

/* Takes back all insertions but the first `kept`, and the flags that they set. */
void fl_trace_drop_insertions(fl_trace *trace, size_t device, size_t kept);

/* Sets or clears flags of an event; the others stay. */
void fl_trace_set_flags(fl_trace *trace, size_t device, uint64_t event, uint8_t flags);
void fl_trace_clear_flags(fl_trace *trace, size_t device, uint64_t event, uint8_t flags);

/* Keeps a line that the user should see. */
fl_status fl_trace_warn(fl_trace *trace, fl_error *error, const char *format, ...) FL_PRINTF(3, 4);

/* Adds to the final state. */
fl_status fl_trace_add_segment(fl_trace *trace, size_t device, const fl_segment_view *segment,
                               fl_error *error);
fl_status fl_trace_add_block(fl_trace *trace, size_t device, const fl_block_view *block,
                             uint32_t stack, fl_error *error);

/* Counts a segment with its blocks as shown at the end; `reason` tells how it cannot be, or is
 * NULL.
 */
fl_status fl_trace_show_segment(fl_trace *trace, size_t device, size_t block_count,
                                const char *reason, fl_error *error);

/* After the last event: gives unused room back, judges whether each window is complete, numbers
 * what a cut one speaks of without having seen it come, and puts it in order. */
fl_status fl_trace_finish(fl_trace *trace, fl_error *error);

/* Parts of the former, in files of their own: complete.c and before.c. */
fl_status fl_trace_judge_window(const fl_trace *trace, const fl_trace_device *device,
                                bool *ret_complete, fl_error *error);
fl_status fl_trace_number_before(fl_trace *trace, size_t device, fl_error *error);

/* The same, unrecorded.c: which kinds of events happened, but were left out while recording, as far
 * as the blocks show it.  Completions of frees that nobody recorded become frees. */
fl_status fl_trace_judge_kinds(const fl_trace *trace, fl_trace_device *device, fl_error *error);

/* And which one is missing where the walk back broke, or 0: none. */
uint64_t fl_trace_judge_break(const fl_trace *trace, const fl_trace_device *device);

/* The state before the first event of a cut window, by a walk back from the final one, which must
 * be there.  For the rebuild: start.is_known tells whether the events and the final state agree,
 * else start.broken where they do not. */
fl_status fl_trace_find_start(fl_trace *trace, size_t device, fl_error *error);

/* The same, order.c: where the times go back, puts the events in order by them, as far as the walk
 * back holds; where events behind a range would be needed, sets needs_whole. */
fl_status fl_trace_restore_order(fl_trace *trace, size_t device, fl_error *error);

/* Finds out whether the final state of a window that is not complete is newer than its last event,
 * and says so; then the window is complete, but its end is not known.  FL_ERR_RESOURCE. */
fl_status fl_trace_judge_newer(fl_trace *trace, size_t device, fl_error *error);

/* Drops a start state. */
void fl_trace_drop_start(const fl_host *host, fl_trace_start *start);

#endif
