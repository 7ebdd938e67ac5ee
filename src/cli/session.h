/* One run of one command: its options, what it reads and where it writes, and all talk with the
 * person.  Commands get a session, compute, and emit; everything that must happen around that
 * happens here. */
#ifndef FL_CLI_SESSION_H
#define FL_CLI_SESSION_H

#include "cli/option.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "emit/emit.h"

#include <fraglab/trace.h>

typedef struct fl_session fl_session;

/* A command: one table in its own file, cmd_NAME.c. */
typedef struct fl_command {
    const char *name;
    const char *summary;  /* one line for `fraglab --help` */
    const char *synopsis; /* "replay [options] FILE" */
    const char *help;     /* a paragraph or two, wrapped by hand */
    const fl_option_group *const *groups;
    const char *word;      /* the one word it takes, as the synopsis has it: "FILE" */
    const char *word_key;  /* the same in JSON: "file" */
    bool is_word_optional; /* the command itself says when it is missing */
    bool takes_more;       /* several of it */
    /* FL_ERR_NO: done, and the answer is no.  Nothing is emitted before everything is known. */
    fl_status (*run)(fl_session *session, fl_error *error);
} fl_command;

#define FL_WARNING_SIZE 512

typedef struct fl_warnings {
    char (*items)[FL_WARNING_SIZE];
    size_t count;
} fl_warnings;

struct fl_session {
    const fl_command *command;
    fl_options options;
    fl_host host;
    uint64_t fake_now_ns;
    fl_output output;
    fl_emit *emit;
    fl_progress progress;
    fl_warnings warnings;
    fl_range_end read_end; /* of --range: what lies behind is not kept */
};

/* Prints `fraglab: TEXT` and the hint, if any, to standard error. */
void fl_session_complain(const fl_error *error);

/* A warning: on standard error unless --quiet, and kept for the record. */
void fl_session_warn(fl_session *session, const char *format, ...) FL_PRINTF(2, 3);

/* A hint without a failure: on standard error unless --quiet. */
void fl_session_hint(const fl_session *session, const char *format, ...) FL_PRINTF(2, 3);

/* Runs a command with argv[0] its name; returns the exit code. */
int fl_session_run(const fl_command *command, int argc, char **argv);

/* Reads the file named in the options, with progress, and passes the reader's warnings on.  On
 * success the caller owns *ret_trace. */
fl_status fl_session_read(fl_session *session, fl_trace **ret_trace, fl_error *error);

/* Worker threads: --jobs, else one for each core. */
unsigned fl_session_jobs(const fl_session *session);

/* The same of any file. */
fl_status fl_session_read_file(fl_session *session, const char *path, fl_trace **ret_trace,
                               fl_error *error);

/* The --help of a command. */
void fl_command_print_help(const fl_command *command, FILE *out);

/* Commands of this build, NULL beyond the last. */
const fl_command *fl_command_at(size_t index);

#endif
