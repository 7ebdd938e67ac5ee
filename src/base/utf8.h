/* UTF-8 code point by code point. */
#ifndef FL_BASE_UTF8_H
#define FL_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* What stands for a byte that starts no valid sequence. */
#define FL_UTF8_REPLACEMENT UINT32_C(0xfffd)

/* The next code point of `data[0..length)` (length > 0) and how many bytes it took.  A byte that
 * starts no valid sequence is FL_UTF8_REPLACEMENT and one byte. */
size_t fl_utf8_next(const char *data, size_t length, uint32_t *ret_point);

/* Writes a code point as UTF-8; returns its length (1 to 4). */
size_t fl_utf8_put(uint32_t point, char buffer[4]);

#endif
