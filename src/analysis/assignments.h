/* Settings in the text around them: shell scripts, lists of variables, programs in Python.
 *
 * Nothing is executed.  Found is what gives one of the variables of fl_settings_variable a value:
 *
 *     export NAME="VALUE"     NAME=VALUE command     env NAME='VALUE' command     NAME = VALUE
 *     os.environ["NAME"] = "VALUE"     setdefault("NAME", "VALUE")     {"NAME": "VALUE"}
 *     NAME: VALUE  and  ENV NAME VALUE  at the beginning of a line
 *
 * Lines that begin with # are comments.  What a variable or a command puts into the value is not
 * known. */
#ifndef FL_ANALYSIS_ASSIGNMENTS_H
#define FL_ANALYSIS_ASSIGNMENTS_H

#include "base/vector.h"

typedef struct fl_assignment {
    size_t variable;    /* index for fl_settings_variable */
    const char *value;  /* without quotes; as it stands where it is not complete */
    uint64_t line;      /* from 1 */
    bool is_incomplete; /* `$` stands for something in it, or it is no plain text */
    bool needs_quotes;  /* a shell would take the `>` of a list for a redirection */
} fl_assignment;

FL_VECTOR(fl_assignments, fl_assignment);

/* Adds all that stand in `text`, in order.  Their values go to `values`, which has room for
 * strlen(text) + 1 bytes and must live as long as they. */
fl_status fl_assignments_find(const fl_host *host, const char *text, char *values,
                              struct fl_assignments *assignments, fl_error *error);

/* Does one of the variables' names stand in it? */
bool fl_assignments_name_one(const char *text);

#endif
