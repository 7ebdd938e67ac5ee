/* What a line of a script says, taken into a trace: by the reader of scripts, and by that of
 * snapshots, whose own operations are such lines. */
#ifndef FL_READER_SCRIPT_TAKE_H
#define FL_READER_SCRIPT_TAKE_H

#include "reader/script_line.h"

/* Numbers for the streams, pools and texts of a line, into the event that is made of it. */
fl_status fl_script_take_names(fl_trace *trace, const fl_script_line *line, fl_event *event,
                               fl_error *error);

/* Keeps the parts of a line whose keys nobody knows beside an event. */
fl_status fl_script_take_parts(fl_trace *trace, const fl_script_line *line, uint64_t event,
                               fl_error *error);

/* A segment from before the first operation, and a block in it, which gets its number.  The device
 * must exist.  FL_ERR_INPUT: an operation came first, or it does not lie behind what came before;
 * fl_told_finish ends it. */
fl_status fl_script_take_run(fl_trace *trace, const fl_script_line *line, fl_error *error);
fl_status fl_script_take_block(fl_trace *trace, const fl_script_line *line, uint32_t *ret_id,
                               fl_error *error);

#endif
