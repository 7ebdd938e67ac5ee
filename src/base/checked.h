/* Arithmetic on trace data, which is hostile: every sum and product says whether it fits. */
#ifndef FL_BASE_CHECKED_H
#define FL_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False, and *ret untouched, where the result does not fit. */
static inline bool fl_add(uint64_t a, uint64_t b, uint64_t *ret)
{
    if (a > UINT64_MAX - b)
        return false;
    *ret = a + b;
    return true;
}

static inline bool fl_mul(uint64_t a, uint64_t b, uint64_t *ret)
{
    if (b != 0 && a > UINT64_MAX / b)
        return false;
    *ret = a * b;
    return true;
}

/* `value` rounded up to a multiple of `step` (> 0); UINT64_MAX where that does not fit. */
static inline uint64_t fl_round_up(uint64_t value, uint64_t step)
{
    uint64_t rest = value % step;
    if (rest == 0)
        return value;
    return value > UINT64_MAX - (step - rest) ? UINT64_MAX : value + (step - rest);
}

/* A real number that is not negative, cut to an integer; UINT64_MAX where it does not fit. */
static inline uint64_t fl_truncate(double value)
{
    return value < 18446744073709551616.0 ? (uint64_t)value : UINT64_MAX;
}

/* Position of the highest bit; 0 for 0. */
static inline unsigned fl_log2(uint64_t value)
{
    return value == 0 ? 0 : 63u - (unsigned)__builtin_clzll(value);
}

#endif
