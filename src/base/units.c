/* Numbers are read digit by digit: strtod and printf's %f follow the locale of whoever links us. */
#include "base/units.h"

#include "base/checked.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A number without a unit: `digits`/10^`decimals`. */
typedef struct decimal {
    uint64_t digits;
    unsigned decimals;
    bool has_point;
} decimal;

static uint64_t power_of_ten(unsigned exponent)
{
    uint64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* Reads digits and one point; returns how many characters it took, 0 where there is no number. */
static size_t decimal_read(const char *text, size_t length, decimal *ret)
{
    decimal number = {0};
    size_t at = 0, seen = 0;
    for (; at < length; at++) {
        if (text[at] == '.' && !number.has_point) {
            number.has_point = true;
            continue;
        }
        if (text[at] < '0' || text[at] > '9')
            break;
        uint64_t digit = (uint64_t)(text[at] - '0');
        if (!fl_mul(number.digits, 10, &number.digits) ||
            !fl_add(number.digits, digit, &number.digits))
            return 0;
        number.decimals += number.has_point;
        seen++;
    }
    if (seen == 0 || number.decimals > 19)
        return 0;
    *ret = number;
    return at;
}

/* The multiplier of a unit, or 0.  Binary unless an SI unit is spelled out with its B. */
static uint64_t unit_factor(const char *unit, size_t length)
{
    static const char letters[] = "KMGT";
    char low[3] = {0};
    if (length > sizeof low)
        return 0;
    for (size_t i = 0; i < length; i++)
        low[i] = unit[i] >= 'A' && unit[i] <= 'Z' ? (char)(unit[i] - 'A' + 'a') : unit[i];
    if (length == 0 || (length == 1 && low[0] == 'b'))
        return 1;
    uint64_t base = length == 2 && low[1] == 'b' ? 1000 : 1024;
    if (base == 1024 && length != 1 && !(length == 3 && low[1] == 'i' && low[2] == 'b'))
        return 0;
    uint64_t factor = 1;
    for (const char *letter = letters; *letter != '\0'; letter++) {
        factor *= base;
        if (low[0] == *letter - 'A' + 'a')
            return factor;
    }
    return 0;
}

bool fl_parse_size(const char *text, size_t length, uint64_t *ret_bytes)
{
    decimal number;
    size_t unit = decimal_read(text, length, &number);
    if (unit == 0 || text[0] == '.' || text[unit - 1] == '.')
        return false;
    size_t number_end = unit;
    while (unit < length && text[unit] == ' ')
        unit++;
    if (unit == length && unit != number_end)
        return false;
    uint64_t factor = unit_factor(text + unit, length - unit);
    if (factor == 0 || (number.has_point && factor == 1))
        return false;
    uint64_t scale = power_of_ten(number.decimals);
    double rest = (double)(number.digits % scale) / (double)scale;
    uint64_t bytes;
    if (!fl_mul(number.digits / scale, factor, &bytes) ||
        !fl_add(bytes, (uint64_t)(rest * (double)factor + 0.5), &bytes))
        return false;
    *ret_bytes = bytes;
    return true;
}

/* Long division in binary: 55 bits of the quotient or more, the last one standing for all that
 * follow, so that the conversion to double rounds once and rightly. */
static double decimal_divide(uint64_t dividend, uint64_t divisor)
{
    if (dividend == 0)
        return 0;
    uint64_t quotient = dividend / divisor, rest = dividend % divisor;
    int exponent = 0;
    for (; quotient < UINT64_C(1) << 54; exponent--) {
        bool carries = rest >= divisor - rest;
        rest = carries ? rest - (divisor - rest) : rest * 2;
        quotient = quotient * 2 + carries;
    }
    return ldexp((double)(quotient | (rest != 0)), exponent);
}

bool fl_parse_real(const char *text, size_t length, double *ret_value)
{
    decimal number;
    size_t taken = decimal_read(text, length, &number);
    if (taken == 0 || taken != length)
        return false;
    *ret_value = decimal_divide(number.digits, power_of_ten(number.decimals));
    return true;
}

void fl_format_bytes(uint64_t bytes, char *buffer, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    unsigned unit = fl_log2(bytes) / 10;
    if (unit == 0) {
        snprintf(buffer, size, "%u B", (unsigned)bytes);
        return;
    }
    /* In 1024ths of the unit first, with two bits to spare: hundredths of an EiB fit. */
    uint64_t fine = unit == 1 ? bytes * 4 : bytes >> (10 * (unit - 1) - 2);
    uint64_t hundredths = (fine * 100 + 2048) / 4096;
    snprintf(buffer, size, "%llu.%02u %s", (unsigned long long)(hundredths / 100),
             (unsigned)(hundredths % 100), units[unit]);
}
