/* Recorded answers of releases to settings texts: settings.tsv and its like. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include <fraglab/settings.h>

/* One row of a data file: what these releases answer to this text. */
typedef struct answer_row {
    const char *text;
    const char *answer;
    size_t first, last;
} answer_row;

/* The row of a release, which must exist. */
size_t release_index(const char *release, size_t length);

/* Calls `check` for each row of a file whose columns are text, releases, ..., answer; returns how
 * many there were. */
size_t each_answer(const char *path, void (*check)(const answer_row *row));

#endif
