/* Everything that can be done with bytes of which nothing is known: for fuzzing, and for tests of
 * files that were damaged on purpose.
 *
 * What must hold whatever the bytes are: they are a trace or are refused in words that name the
 * place; memory is in proportion; all that is held is given back; a trace can be looked at,
 * rebuilt, verified, replayed and written, and each of these ends with an answer. */
#ifndef EXAMINE_H
#define EXAMINE_H

#include <fraglab/read.h>

typedef struct examine_options {
    const char *format; /* NULL: found from the content */
    bool accept_cut;
} examine_options;

typedef struct examined {
    fl_status read;       /* what reading answered */
    bool is_different;    /* a verification says what is wrong */
    bool is_forged;       /* nobody writes such a file: other formats need not know its like */
    char complaint[1024]; /* what does not hold; empty: all does */
} examined;

void examine(const uint8_t *bytes, size_t size, const examine_options *options,
             examined *ret_examined);

#endif
