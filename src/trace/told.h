/* A start state that a file tells outright: mapped runs by address, each followed by its blocks in
 * use.  Everything else (what is free between them, the ranges of expandable segments) follows. */
#ifndef FL_TRACE_TOLD_H
#define FL_TRACE_TOLD_H

#include "trace/build.h"

/* Adds a run; an expandable one has the base of its range and the size of its pages, else `page` is
 * 0.  FL_ERR_INPUT: it lies before the one before, or in it. */
fl_status fl_told_add_run(fl_trace *trace, size_t device, const fl_segment_view *run, uint64_t base,
                          uint64_t page, fl_error *error);

/* Adds a block in use, with its number, to the last run.  FL_ERR_INPUT: it does not lie behind the
 * one before in that run. */
fl_status fl_told_add_block(fl_trace *trace, size_t device, const fl_block_view *block,
                            fl_error *error);

/* Once all is told. */
fl_status fl_told_finish(fl_trace *trace, size_t device, fl_error *error);

#endif
