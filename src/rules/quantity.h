/* Sizes as programs print them: rounded to a few decimals, with units that are powers of two
 * whatever they are called, in whatever country. */
#ifndef FL_RULES_QUANTITY_H
#define FL_RULES_QUANTITY_H

#include <fraglab/message.h>

#include "rules/clean.h"

/* Reads `2.00 MiB`, `2,00MB`, `17.79G`, `1,024 bytes`, and without a unit, where none is needed,
 * bytes.  False, and *at untouched, where there is none. */
bool fl_quantity_read(fl_clean *text, size_t *at, bool needs_unit, fl_number *ret_number);

/* A whole number of at most 18 digits, with nothing that belongs to it behind. */
bool fl_whole_read(fl_clean *text, size_t *at, uint64_t *ret_value);

static inline bool fl_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool fl_is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline int fl_lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

#endif
