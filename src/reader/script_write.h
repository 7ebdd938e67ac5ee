/* The writing half of the script format; script.c has the table. */
#ifndef FL_READER_SCRIPT_WRITE_H
#define FL_READER_SCRIPT_WRITE_H

#include <fraglab/write.h>

/* Writes a trace as a script: everything that a replay asks for, under the card, the settings and
 * the release that the trace states, and what was there before the first event.  What was inferred
 * stands in its place.  Reading it gives the same ops, those left out that do nothing (a completion
 * that follows from other ops, a use of an unknown id).
 *
 * FL_ERR_UNAVAILABLE: the window is cut, and what was there before is not known. */
fl_status fl_script_write(const fl_trace *trace, const fl_write_options *options, fl_error *error);

/* One op as a line, with its end: allocations by their names, and nothing else of the event that it
 * is. */
fl_status fl_script_write_op(const fl_trace *trace, size_t device, const fl_op *op,
                             const fl_write_options *options, fl_error *error);

/* The same for a segment from before the first event, and for a block in it that is in use. */
fl_status fl_script_write_run(const fl_trace *trace, size_t device, const fl_segment_view *run,
                              const fl_write_options *options, fl_error *error);
fl_status fl_script_write_block(const fl_trace *trace, size_t device, const fl_block_view *block,
                                const fl_write_options *options, fl_error *error);

#endif
