/* Check sums made right, so that damage to a file is met by what lies behind them. */
#ifndef SEAL_H
#define SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes the size and the check sums of an .flt file anew; false where the bytes are none. */
bool seal_flt(uint8_t *bytes, size_t size);

#endif
