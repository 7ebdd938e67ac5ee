/* Reading out-of-memory messages by the templates of layout.h, forgiving what copying does to them:
 * lines broken anywhere, with whatever a log puts before each; an end that is missing; a number of
 * blanks; capitals. */
#ifndef FL_RULES_READING_H
#define FL_RULES_READING_H

#include <fraglab/message.h>

#include "rules/clean.h"

/* Reads the message that begins at `at`, by the template that goes furthest.  False where none
 * does; on success *ret_end is behind it. */
bool fl_message_take(fl_clean *text, size_t at, fl_message *ret_message, size_t *ret_end);

/* Whether a message may begin at `at`: a word does. */
bool fl_message_may_begin(fl_clean *text, size_t at);

#endif
