/* fraglab/units.h - sizes and plain numbers as people write and read them, whatever the locale. */
#ifndef FRAGLAB_UNITS_H
#define FRAGLAB_UNITS_H

#include <fraglab/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a size from `text[0..length)`: `24GiB`, `80GB` (decimal), `16.5MiB`, plain bytes; false
 * where it is not one or does not fit.  Fractions need a unit and are rounded to the nearest byte.
 * Units: B, K/KB/KiB ... T/TB/TiB; `KB` is 1000 and `K`, `KiB` 1024. */
FL_API bool fl_parse_size(const char *text, size_t length, uint64_t *ret_bytes);

/* Reads digits with at most one point (`0.75`, `1`, `.5`) as the nearest double, as strtod does in
 * the C locale.  At most 19 significant digits; no sign, exponent, blank, infinity or NaN. */
FL_API bool fl_parse_real(const char *text, size_t length, double *ret_value);

/* `1.50 GiB`, `512 B`: two decimals from KiB on, halves up; at most 24 characters with the NUL. */
FL_API void fl_format_bytes(uint64_t bytes, char *buffer, size_t size);

#ifdef __cplusplus
}
#endif

#endif
