/* What is judged by `settings`, and how it comes out, release by release. */
#ifndef FL_CLI_JUDGEMENT_H
#define FL_CLI_JUDGEMENT_H

#include "analysis/review.h"
#include "cli/session.h"

/* Releases in a row that make the same of it. */
typedef struct fl_judged {
    const fl_profile *first, *last;
    size_t count;
    fl_review review;
} fl_judged;

typedef struct fl_judgement {
    fl_session *session;
    const fl_host *host;
    const fl_profile *only; /* --torch; NULL: all */
    const char *text;       /* a settings text by itself; NULL: `assignments` count */
    struct fl_assignments assignments;
    fl_judged *groups;
    size_t count, room;
    char *content, *values; /* of a file, and what is assigned in it */
    size_t content_room, values_room;
} fl_judgement;

/* Finds what is to be judged: in the environment if --env says so, else in the word of the options,
 * which is a file, `-`, or the text itself.  Warns of what it cannot know.  FL_ERR_NO: nothing is
 * set. */
fl_status fl_judgement_take(fl_judgement *judgement, fl_error *error);

/* Judges it: fills `groups`, the oldest releases first. */
fl_status fl_judgement_make(fl_judgement *judgement, fl_error *error);

void fl_judgement_deinit(fl_judgement *judgement);

/* The groups for people. */
void fl_judgement_emit_text(const fl_judgement *judgement);

#endif
