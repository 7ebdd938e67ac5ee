/* A diagnosed file, and how it is shown. */
#ifndef FL_CLI_DIAGNOSED_H
#define FL_CLI_DIAGNOSED_H

#include "analysis/diagnose.h"
#include "cli/setup.h"

#define FL_SENTENCE_SIZE 400

/* What the table of files says of one. */
typedef struct fl_diagnosed_row {
    const char *path;
    size_t device;
    fl_trouble trouble;
    char sentence[FL_SENTENCE_SIZE];
    fl_totals peak;
    bool has_oom;
    uint64_t oom_event, requested_bytes;
    uint64_t pinned_bytes;
} fl_diagnosed_row;

/* One file in full. */
typedef struct fl_diagnosed {
    fl_trace *trace;
    fl_setup setup;
    fl_diagnosis diagnosis;
    fl_diagnosed_row row;
} fl_diagnosed;

/* The record for programs. */
void fl_diagnosed_emit(fl_session *session, const fl_diagnosed *file);

/* The same for people: the sentence, the evidence, what to do. */
void fl_diagnosed_emit_text(fl_session *session, const fl_diagnosed *file);

/* The table of all files: for tables the whole result, for the others the beginning where there are
 * several. */
void fl_diagnosed_emit_rows(fl_emit *emit, const fl_diagnosed_row *rows, size_t count);

#endif
