/* Shell commands that answer a question about a file by their exit status. */
#ifndef FL_CLI_SHELL_H
#define FL_CLI_SHELL_H

#include <fraglab/base.h>

/* Runs `sh -c COMMAND` with `path` as $1 and in the variable FRAGLAB_TRACE, without input, its
 * output thrown away.  *ret_exit is the exit status, 128 + n where signal n ended it.
 * FL_ERR_RESOURCE: it could not be started. */
fl_status fl_shell_ask(const char *command, const char *path, int *ret_exit, fl_error *error);

#define FL_SHELL_NOT_FOUND 127

/* Runs a program found by its name, `words` ending with NULL, with its output thrown away but for
 * what it says on standard error.  *ret_exit as above; FL_SHELL_NOT_FOUND: there is none of that
 * name. */
fl_status fl_shell_run(const char *const *words, int *ret_exit, fl_error *error);

#endif
