/* Shrinking with questions about the text of a candidate. */
#ifndef SHRINKING_H
#define SHRINKING_H

#include "analysis/shrink_state.h"

typedef struct shrinking {
    fl_trace *trace;
    fl_shrink_options options;
    bool (*shows)(const char *script); /* NULL: the refusal */
    uint64_t tries;
} shrinking;

/* Opens a script that must be valid, for PyTorch 2.9.1 and the card that it states.  The shrinking
 * must stay where it is. */
void shrinking_open(shrinking *s, const char *script, bool (*shows)(const char *script));
void shrinking_close(shrinking *s);

/* A trace as a script without its comments; to be freed. */
char *script_of(const fl_trace *trace);

/* What one step leaves of a script, which goes into `buffer`; says whether it is better. */
bool step_leaves(fl_status (*step)(fl_shrink_state *state, bool *ret_any, fl_error *error),
                 const char *script, bool (*shows)(const char *script), char *buffer, size_t size);

/* What all steps leave. */
fl_status shrink_leaves(shrinking *s, char *buffer, size_t size, fl_shrink_report *ret_report,
                        fl_error *error);

#endif
