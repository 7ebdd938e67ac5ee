/* How the result of a search for settings is told. */
#ifndef FL_CLI_TUNE_SHOW_H
#define FL_CLI_TUNE_SHOW_H

#include "cli/setup.h"

#include <fraglab/tune.h>

/* A search, and of what. */
typedef struct fl_tune_finding {
    const fl_trace *const *traces;
    size_t trace_count;
    const fl_setup *setup; /* of the first trace */
    fl_tuning tuning;
} fl_tune_finding;

void fl_tune_emit(fl_session *session, const fl_tune_finding *finding);

/* The settings or the change of a candidate in words: `expandable_segments:True`, `as it is`,
 * `empty_cache() before event 12 (phase: eval)`. */
void fl_tune_words(const fl_tune_finding *finding, const fl_tune_candidate *candidate, char *buffer,
                   size_t size);

/* The answer in one sentence. */
void fl_tune_sentence(const fl_tune_finding *finding, char *buffer, size_t size);

#endif
