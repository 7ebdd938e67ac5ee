/* Searches for settings over scripts, for the tests of tune. */
#ifndef TUNING_H
#define TUNING_H

#include "analysis/tune.h"

/* A script as a trace; the test ends it with fl_trace_free. */
fl_trace *tuning_read(const char *script);

/* Options for PyTorch 2.9.1 (NULL) or another release, and a card in MiB; 0: none. */
fl_tune_options tuning_options(const char *release, uint64_t card_mebibytes);

/* A search that must not fail; the test ends it with fl_tuning_deinit. */
fl_tuning tuning_run(const fl_trace *trace, const fl_tune_options *options);

/* What lies between the survey and the end of a search; ended with tuning_close. */
fl_tune_state tuning_open(const fl_trace *const *traces, size_t count,
                          const fl_tune_options *options);
void tuning_close(fl_tune_state *state);

/* The candidate with this text; fails the test where there is none. */
const fl_tune_candidate *tuning_find(const fl_tune_state *state, const char *conf);

#endif
