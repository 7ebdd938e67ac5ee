/* The same work on several threads, the caller's among them. */
#ifndef FL_ANALYSIS_WORKERS_H
#define FL_ANALYSIS_WORKERS_H

#include <fraglab/base.h>

#define FL_WORKERS_MOST 64

/* How many workers a wish for `jobs` makes: from 1 to FL_WORKERS_MOST. */
unsigned fl_workers_count(unsigned jobs);

/* Calls work(user, index) once for each index below `count`, side by side: index 0 on the caller's
 * thread.  Returns when all have ended.  Work that shares what it finds must be right with any
 * number of workers: where the host has no more threads, those that there are take it all, and the
 * other indices are never called. */
void fl_workers_run(unsigned count, void (*work)(void *user, unsigned index), void *user);

#endif
