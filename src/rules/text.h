/* Writing into a buffer that may be too small, as snprintf does: `length` counts on beyond it. */
#ifndef FL_RULES_TEXT_H
#define FL_RULES_TEXT_H

#include <fraglab/base.h>

typedef struct fl_text {
    char *buffer; /* may be NULL where `size` is 0 */
    size_t size;
    size_t length; /* of all that was added, whether it fitted or not */
} fl_text;

/* An empty text; its buffer (if there is room) always ends in a NUL. */
fl_text fl_text_open(char *buffer, size_t size);

void fl_text_add(fl_text *text, const char *bytes, size_t count);
void fl_text_print(fl_text *text, const char *format, ...) FL_PRINTF(2, 3); /* 255 bytes at most */

#endif
