/* One line on a terminal while work takes longer than a second; nothing anywhere else. */
#ifndef FL_CLI_PROGRESS_H
#define FL_CLI_PROGRESS_H

#include <fraglab/base.h>

#include <stdio.h>

typedef struct fl_progress {
    const fl_host *host; /* its clock */
    FILE *out;           /* NULL: progress is not shown */
    const char *what;    /* "reading a.pickle" */
    uint64_t begun_ns, shown_ns;
    size_t width; /* of the line that stands there; 0: none */
} fl_progress;

void fl_progress_begin(fl_progress *progress, const char *what);

/* For the progress callbacks of the library; `user` is the fl_progress.  Always true: signals end
 * the process by themselves. */
bool fl_progress_tick(void *user, uint64_t done, uint64_t total);

/* Takes the line away; also safe where none was begun. */
void fl_progress_end(fl_progress *progress);

#endif
