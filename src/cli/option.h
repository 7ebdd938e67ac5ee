/* Options as rows: what each is called, takes, says in --help, and sets.
 *
 * getopt_long, --help and the suggestions for mistyped names all work from the same rows. */
#ifndef FL_CLI_OPTION_H
#define FL_CLI_OPTION_H

#include <fraglab/base.h>
#include <fraglab/message.h>

#include <stdio.h>

#define FL_NOT_GIVEN UINT64_MAX

#define FL_PROCESSES_MOST 64

/* Processes that a message tells of, in the order typed; bytes FL_NOT_GIVEN: all that is used. */
typedef struct fl_process_list {
    fl_process items[FL_PROCESSES_MOST];
    size_t count;
} fl_process_list;

/* What was typed.  Texts are NULL and numbers FL_NOT_GIVEN where an option was not given and has
 * no default. */
typedef struct fl_options {
    /* every command */
    const char *format, *output, *color;
    bool is_quiet, wants_help, wants_version;
    bool fakes_terminal;    /* for tests: stdout and stderr are terminals */
    uint64_t fake_clock_ms; /* for tests: the clock moves so much at each look */
    /* input */
    const char *from;
    bool accepts_cut;
    /* how the allocator is chosen */
    const char *torch, *conf, *gpu, *policy, *backing, *range, *start, *on_oom;
    uint64_t context_bytes, trace_device, jobs;
    double fraction; /* < 0: not given */
    /* single commands */
    bool fails_on_oom, wants_decisions, wants_stats, wants_summary;
    fl_process_list processes;
    uint64_t top, frames;
    const char *output_dir, *image;
    uint64_t rows;
    const char *fail_on; /* verdicts, apart by commas */
    const char *while_command;
    const char *to;
    uint64_t most_tries;
    bool takes_environment;
    const char *prices;
    /* what is not an option */
    char *const *words;
    size_t word_count;
} fl_options;

typedef enum fl_option_kind {
    FL_OPTION_FLAG,     /* bool */
    FL_OPTION_TEXT,     /* const char * */
    FL_OPTION_WORD,     /* const char *, one of `words` */
    FL_OPTION_COUNT,    /* uint64_t */
    FL_OPTION_POSITIVE, /* uint64_t above 0 */
    FL_OPTION_SIZE,     /* uint64_t, bytes with or without a unit */
    FL_OPTION_SHARE,    /* double from 0 to 1 */
    FL_OPTION_PROCESS   /* fl_process_list: one more `PID:SIZE`, `self:SIZE` or `self` */
} fl_option_kind;

typedef struct fl_option {
    const char *name; /* without its dashes */
    char letter;      /* short form, or 0 */
    fl_option_kind kind;
    size_t offset;        /* in fl_options */
    const char *argument; /* as --help shows it; NULL for a FLAG */
    const char *help;     /* NULL: not shown */
    const char *const *words;
} fl_option;

/* Options that belong together, ending with a row without a name. */
typedef struct fl_option_group {
    const char *heading;
    const fl_option *rows;
} fl_option_group;

extern const fl_option_group fl_options_common, fl_options_input, fl_options_allocator,
    fl_options_convert, fl_options_diagnose, fl_options_info, fl_options_plot, fl_options_replay,
    fl_options_settings, fl_options_shrink, fl_options_tune, fl_options_verify;

/* Reads argv[1..] by the rows of `groups` (ending with NULL); options and other words may be
 * mixed, `--` ends the options.  FL_ERR_USAGE: the text names what was typed, the hint what is
 * nearest. */
fl_status fl_option_parse(const fl_option_group *const *groups, int argc, char **argv,
                          fl_options *ret_options, fl_error *error);

/* The options as --help shows them. */
void fl_option_print(const fl_option_group *const *groups, FILE *out);

#endif
