/* Sizes as people write them: `24GiB`, `80GB` (decimal), `16.5MiB`, plain bytes. */
#ifndef FL_BASE_UNITS_H
#define FL_BASE_UNITS_H

#include <fraglab/base.h>

#define FL_KIB (UINT64_C(1) << 10)
#define FL_MIB (UINT64_C(1) << 20)
#define FL_GIB (UINT64_C(1) << 30)

/* Reads a size from `text[0..length)`; false where it is not one or does not fit.  Fractions need
 * a unit and are rounded to the nearest byte.  Units: B, K/KB/KiB ... T/TB/TiB; `KB` is 1000 and
 * `K`, `KiB` 1024. */
bool fl_parse_size(const char *text, size_t length, uint64_t *ret_bytes);

/* `1.50 GiB`, `512 B`: two decimals from KiB on; at most 24 characters with the NUL. */
void fl_format_bytes(uint64_t bytes, char *buffer, size_t size);

#endif
