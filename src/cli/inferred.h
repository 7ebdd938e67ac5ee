/* What a rebuild put into a trace, as `verify` and `replay` show it. */
#ifndef FL_CLI_INFERRED_H
#define FL_CLI_INFERRED_H

#include "emit/emit.h"
#include <fraglab/verify.h>

/* Which changes that were found are shown: a replay leaves out those that an option overrules. */
enum fl_changes {
    FL_CHANGES_SETTINGS = 1 << 0,
    FL_CHANGES_LIMIT = 1 << 1,
    FL_CHANGES_ALL = FL_CHANGES_SETTINGS | FL_CHANGES_LIMIT
};

/* Adds what was inferred for another device. */
void fl_inferred_add(fl_inferred *sum, const fl_inferred *one);

/* "1 empty_cache, 0 completions, 2 scopes of private pools" */
void fl_inferred_words(const fl_inferred *inferred, char *buffer, size_t size);

/* The object `inferred`. */
void fl_inferred_emit(fl_emit *emit, const fl_inferred *inferred);

/* The list `changes`: settings that changed on the way, and limits, which no file states. */
void fl_inferred_emit_changes(fl_emit *emit, const fl_trace *trace, size_t device, unsigned which);
void fl_inferred_text_changes(fl_emit *emit, const fl_trace *trace, size_t device, unsigned which);

/* Of a cut window: how much of what was there before is inferred. */
void fl_inferred_text_window(fl_emit *emit, const fl_inferred *inferred);

#endif
