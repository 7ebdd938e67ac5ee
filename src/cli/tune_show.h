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

#endif
