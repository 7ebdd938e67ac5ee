/* What a release makes of a settings text, and what its author should know about it.
 *
 * Whether a text is accepted, and what it sets, is read by the rules of that release.  Remarks are
 * about texts that are accepted and yet do not do what they seem to say. */
#ifndef FL_ANALYSIS_REVIEW_H
#define FL_ANALYSIS_REVIEW_H

#include "analysis/assignments.h"

#include <fraglab/settings.h>

typedef enum fl_review_verdict {
    FL_REVIEW_ACCEPTED,
    FL_REVIEW_REFUSED,
    FL_REVIEW_OTHER_BACKEND, /* accepted, but another allocator is chosen by it */
    FL_REVIEW_NOT_READ       /* none of the variables is read: ignored without a word */
} fl_review_verdict;

typedef struct fl_remark {
    const char *kind; /* static: a word for programs */
    char text[280];
} fl_remark;

#define FL_REMARKS_MOST 16

typedef struct fl_review {
    fl_review_verdict verdict;
    size_t variable;      /* the one that counts, as for fl_settings_variable; SIZE_MAX: none */
    const char *text;     /* what was read, the caller's; NULL: nothing */
    fl_error refusal;     /* REFUSED: what the release says, and our hint */
    fl_settings settings; /* ACCEPTED */
    bool has_list;        /* ACCEPTED: divisions are given by size class */
    fl_remark remarks[FL_REMARKS_MOST];
    size_t remark_count;
} fl_review;

/* Judges a text by itself. */
void fl_review_text(const fl_profile *profile, const char *text, fl_review *ret_review);

/* Judges variables as they are set, the later of two assignments to one of them counting. */
void fl_review_assignments(const fl_profile *profile, const struct fl_assignments *assignments,
                           fl_review *ret_review);

/* Do two releases make the same of it? */
bool fl_review_is_same(const fl_review *a, const fl_review *b);

/* Sizes with the same divisions: from `from` bytes on, to below `to` (FL_UNLIMITED: all above). */
typedef struct fl_division_class {
    uint64_t from, to, divisions;
} fl_division_class;

/* The divisions table of settings as it works, neighbours with the same divisions as one. */
size_t fl_division_classes(const fl_settings *settings,
                           fl_division_class ret_classes[FL_ROUNDUP_SLOTS]);

#endif
