/* Numbers as text, the same in every locale. */
#include "emit/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The decimal point is the only thing that a locale changes in %g; the loop compares in the same
 * locale that it writes in. */
static void number_real(double real, char buffer[FL_EMIT_NUMBER_SIZE])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, FL_EMIT_NUMBER_SIZE, "%.*g", digits, real);
        if (strtod(buffer, NULL) == real)
            break;
    }
    size_t end = strspn(buffer, "+-0123456789");
    if (buffer[end] != '\0' && buffer[end] != 'e')
        buffer[end] = '.';
}

void fl_emit_number(fl_emit_value value, char buffer[FL_EMIT_NUMBER_SIZE])
{
    switch (value.type) {
    case FL_EMIT_BOOL:
        snprintf(buffer, FL_EMIT_NUMBER_SIZE, "%s", value.is_true ? "true" : "false");
        break;
    case FL_EMIT_COUNT:
    case FL_EMIT_BYTES:
        snprintf(buffer, FL_EMIT_NUMBER_SIZE, "%" PRIu64, value.number);
        break;
    case FL_EMIT_ADDRESS:
        snprintf(buffer, FL_EMIT_NUMBER_SIZE, "0x%" PRIx64, value.number);
        break;
    case FL_EMIT_REAL:
        number_real(value.real, buffer);
        break;
    case FL_EMIT_NULL:
    case FL_EMIT_TEXT:
        buffer[0] = '\0';
        break;
    }
}

void fl_format_count(uint64_t number, char *buffer, size_t size)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    size_t used = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && used + 1 < size)
            buffer[used++] = ',';
        if (used + 1 < size)
            buffer[used++] = digits[i];
    }
    buffer[used] = '\0';
}

fl_emit_value fl_emit_null(void)
{
    return (fl_emit_value){.type = FL_EMIT_NULL};
}

fl_emit_value fl_emit_bool(bool is_true)
{
    return (fl_emit_value){.type = FL_EMIT_BOOL, .is_true = is_true};
}

fl_emit_value fl_emit_count(uint64_t number)
{
    return (fl_emit_value){.type = FL_EMIT_COUNT, .number = number};
}

fl_emit_value fl_emit_bytes(uint64_t number)
{
    return (fl_emit_value){.type = FL_EMIT_BYTES, .number = number};
}

fl_emit_value fl_emit_address(uint64_t number)
{
    return (fl_emit_value){.type = FL_EMIT_ADDRESS, .number = number};
}

fl_emit_value fl_emit_real(double real)
{
    return isfinite(real) ? (fl_emit_value){.type = FL_EMIT_REAL, .real = real} : fl_emit_null();
}

fl_emit_value fl_emit_text(const char *text)
{
    return text != NULL ? fl_emit_text_sized(text, strlen(text)) : fl_emit_null();
}

fl_emit_value fl_emit_text_sized(const char *data, size_t length)
{
    return (fl_emit_value){.type = FL_EMIT_TEXT, .text = {data, length}};
}
