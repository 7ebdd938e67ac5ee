/* The writing half of JSON snapshots; json.c has the table. */
#ifndef FL_READER_JSON_WRITE_H
#define FL_READER_JSON_WRITE_H

#include <fraglab/write.h>

/* Writes a history as the dictionaries and lists of a snapshot in JSON, as json.dump would.
 * FL_ERR_UNAVAILABLE: the trace has no final state, or is a script, which has no history. */
fl_status fl_json_write(const fl_trace *trace, const fl_write_options *options, fl_error *error);

#endif
