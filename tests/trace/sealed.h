/* Bytes of .flt files, to be changed and sealed again, so that a test gets past the check sums. */
#ifndef SEALED_H
#define SEALED_H

#include "taker.h"
#include "trace/flt.h"

/* A script as .flt; the bytes are freed with free. */
taker sealed_script(const char *script);

/* A trace as .flt. */
taker sealed_trace(const fl_trace *trace);

/* Bytes of a section; fails the test where there is none. */
uint8_t *sealed_section(const taker *flt, uint32_t tag, uint32_t device, size_t *ret_size);

/* Puts a number into a record of words. */
void sealed_set_word(const taker *flt, uint32_t tag, size_t word, uint64_t value);

/* Makes every check sum right again. */
void sealed_again(const taker *flt);

/* Loads it from memory: the trace, or NULL with `error` filled. */
fl_trace *sealed_load(const taker *flt, fl_error *error);

#endif
