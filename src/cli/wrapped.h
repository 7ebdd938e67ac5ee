/* Sentences for people, broken at blanks to fit a terminal. */
#ifndef FL_CLI_WRAPPED_H
#define FL_CLI_WRAPPED_H

#include "emit/emit.h"

/* `lead` stands in front of the first line; the text of all lines begins at column `indent`, which
 * is less than 60. */
void fl_cli_wrapped(fl_emit *emit, fl_emit_style style, const char *lead, size_t indent,
                    const char *text);

#endif
