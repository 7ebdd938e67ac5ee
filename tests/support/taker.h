/* A place for what a writer writes: text that grows. */
#ifndef TAKER_H
#define TAKER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct taker {
    char *text; /* ended by a NUL; to be freed */
    size_t length;
    size_t most; /* so many bytes are taken, then nothing more; 0: all */
} taker;

/* For `write` of fl_write_options and its like. */
bool taker_take(void *user, const char *data, size_t size);

#endif
