/* A replay with all observers on. */
#ifndef FL_ANALYSIS_OBSERVED_H
#define FL_ANALYSIS_OBSERVED_H

#include "observer/watch.h"

#include <fraglab/replay.h>

typedef struct fl_observed {
    fl_watch watch;
    fl_replay_summary summary; /* its pools are not kept */
    uint64_t end_event;        /* behind the last one that was replayed */
} fl_observed;

/* Replays under `options`, whose `watch` and `user` are not looked at, nor is `progress`; tables
 * over time get at most `rows` rows.  On success the caller ends *ret_observed with
 * fl_observed_deinit. */
fl_status fl_observe(const fl_trace *trace, const fl_replay_options *options, size_t rows,
                     fl_observed *ret_observed, fl_error *error);
void fl_observed_deinit(fl_observed *observed);

/* The tables: one from each observer.  NULL beyond the last. */
const char *fl_observed_name(size_t index);
const char *fl_observed_summary(size_t index);
void fl_observed_emit(const fl_observed *observed, size_t index, fl_emit *emit);

#endif
