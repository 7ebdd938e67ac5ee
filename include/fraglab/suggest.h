/* fraglab/suggest.h - "did you mean ...": the nearest of the words there are. */
#ifndef FRAGLAB_SUGGEST_H
#define FRAGLAB_SUGGEST_H

#include <fraglab/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The word of `words` (ending with NULL) nearest to `typed`, case aside, or NULL where none is
 * near. */
FL_API const char *fl_nearest(const char *const *words, const char *typed);

/* Hints at that word, with `lead` in front, or at all of them where `typed` begins several; returns
 * the failure's status. */
FL_API fl_status fl_suggest(const char *const *words, const char *typed, const char *lead,
                            fl_error *error);

#ifdef __cplusplus
}
#endif

#endif
