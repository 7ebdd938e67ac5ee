/* Making UTF-8 of bytes that claim to be it. */
#ifndef FL_TRACE_UTF8_H
#define FL_TRACE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the text as UTF-8, with U+FFFD for each byte that is not, and a NUL; `buffer` has room for
 * 3 * length + 1 bytes.  Returns the length without the NUL. */
size_t fl_utf8_clean(const char *text, size_t length, char *buffer);

/* Would fl_utf8_clean leave it as it is? */
bool fl_utf8_is_clean(const char *text, size_t length);

#endif
