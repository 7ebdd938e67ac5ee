/* Where a result goes: standard output, or a file that appears whole or not at all. */
#ifndef FL_CLI_OUTPUT_H
#define FL_CLI_OUTPUT_H

#include <fraglab/base.h>

#include <stdio.h>

#define FL_OUTPUT_PATH_SIZE 4096 /* PATH_MAX of every system we build on */

typedef struct fl_output {
    FILE *file;
    const char *path; /* as typed; NULL: standard output */
    int problem;      /* errno of the first write that failed, or 0 */
    /* What `path` leads to, and the file beside it until the result is complete; both empty where
     * nothing is to be renamed. */
    char target[FL_OUTPUT_PATH_SIZE], temporary[FL_OUTPUT_PATH_SIZE];
} fl_output;

/* Opens the file of `-o` (NULL or `-`: standard output).  A regular file, or one that is not there
 * yet, is written beside and renamed at the end, so an older result survives failure and signals;
 * devices and pipes are written directly.  FL_ERR_OUTPUT.  One output at a time. */
fl_status fl_output_open(fl_output *output, const char *path, fl_error *error);

/* Writes out, checks and puts the file in its place.  Ends the output whatever the result. */
fl_status fl_output_commit(fl_output *output, fl_error *error);

/* Ends it without a result; what was there before stays. */
void fl_output_discard(fl_output *output);

/* A write callback over an fl_output; false: it could not. */
bool fl_output_write(void *user, const char *data, size_t size);

/* Says why a write failed. */
fl_status fl_output_fail(const fl_output *output, fl_error *error);

/* A file that these signals also take away; NULL: none any more.  The path stays the caller's. */
void fl_output_scratch(const char *path);

/* From now on SIGINT, SIGTERM and SIGHUP take an unfinished file away before they end the process
 * as they always do, and a file beyond the size that the shell allows is a failure to write. */
void fl_output_catch_signals(void);

#endif
