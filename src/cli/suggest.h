/* "Did you mean ...": the nearest of the words there are. */
#ifndef FL_CLI_SUGGEST_H
#define FL_CLI_SUGGEST_H

#include <fraglab/base.h>

/* The word of `words` (ending with NULL) nearest to `typed`, case aside, or NULL where none is
 * near. */
const char *fl_nearest(const char *const *words, const char *typed);

/* Hints at that word, with `lead` in front; returns the failure's status. */
fl_status fl_suggest(const char *const *words, const char *typed, const char *lead,
                     fl_error *error);

#endif
