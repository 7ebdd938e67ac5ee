#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The multiplier of a unit, or 0.  Binary unless an SI unit is spelled out with its B. */
static double unit_factor(const char *unit, size_t length)
{
    static const char letters[] = "KMGT";
    if (length == 0 || (length == 1 && (*unit == 'B' || *unit == 'b')))
        return 1;
    const char *letter = strchr(letters, *unit >= 'a' && *unit <= 'z' ? *unit - 'a' + 'A' : *unit);
    if (letter == NULL || *letter == '\0')
        return 0;
    double base = 1024;
    if (length == 2 && (unit[1] == 'B' || unit[1] == 'b'))
        base = 1000;
    else if (length != 1 && !(length == 3 && strncasecmp(unit + 1, "ib", 2) == 0))
        return 0;
    double factor = base;
    for (const char *step = letters; step < letter; step++)
        factor *= base;
    return factor;
}

static bool parse_fraction(const char *text, size_t digits, double factor, uint64_t *ret)
{
    char copy[64];
    if (digits == 0 || digits >= sizeof copy || factor <= 1)
        return false;
    memcpy(copy, text, digits);
    copy[digits] = '\0';
    char *end;
    double value = strtod(copy, &end) * factor + 0.5;
    if (*end != '\0' || !(value < 18446744073709551615.0))
        return false;
    *ret = (uint64_t)value;
    return true;
}

bool fl_parse_size(const char *text, size_t length, uint64_t *ret_bytes)
{
    size_t digits = 0, dots = 0;
    while (digits < length && ((text[digits] >= '0' && text[digits] <= '9') || text[digits] == '.'))
        dots += text[digits++] == '.';
    size_t unit = digits;
    while (unit < length && text[unit] == ' ')
        unit++;
    double factor = unit_factor(text + unit, length - unit);
    if (digits == 0 || dots > 1 || factor == 0 || (dots == 1 && digits == 1))
        return false;
    if (dots == 1)
        return parse_fraction(text, digits, factor, ret_bytes);
    uint64_t value = 0, scale = (uint64_t)factor;
    for (size_t i = 0; i < digits; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (value > UINT64_MAX / scale)
        return false;
    *ret_bytes = value * scale;
    return true;
}

void fl_format_bytes(uint64_t bytes, char *buffer, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(buffer, size, "%u B", (unsigned)bytes);
    else
        snprintf(buffer, size, "%.2f %s", value, units[unit]);
}
