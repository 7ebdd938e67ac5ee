/* What a fuzz target and the replay of its corpus share. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* A target: a reader by its name, or a form in which its files come (`gzip`, `json`, ...), of which
 * the reader is found from the content; `explain` takes any text.  Aborts, with a line on stderr,
 * where a promise is broken.
 */
void fuzz_one(const char *target, const uint8_t *bytes, size_t size);

#endif
