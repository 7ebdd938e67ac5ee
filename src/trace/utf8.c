#include "trace/utf8.h"

#include <stdint.h>
#include <string.h>

size_t fl_utf8_length(const char *bytes, size_t size)
{
    /* By length: the first byte's mark and mask, and the least value that needs so many bytes. */
    static const struct {
        uint8_t mask, mark;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 1}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
    for (size_t length = 1; length <= 4 && length <= size; length++) {
        uint8_t first = (uint8_t)bytes[0];
        if ((first & forms[length - 1].mask) != forms[length - 1].mark)
            continue;
        uint32_t value = first & (uint8_t)~forms[length - 1].mask;
        for (size_t i = 1; i < length; i++) {
            if (((uint8_t)bytes[i] & 0xC0) != 0x80)
                return 0;
            value = value << 6 | ((uint8_t)bytes[i] & 0x3F);
        }
        bool is_surrogate = value >= 0xD800 && value < 0xE000;
        return value >= forms[length - 1].least && value <= 0x10FFFF && !is_surrogate ? length : 0;
    }
    return 0;
}

size_t fl_utf8_clean(const char *text, size_t length, char *buffer)
{
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        size_t step = fl_utf8_length(text + i, length - i);
        memcpy(buffer + used, step > 0 ? text + i : "\xEF\xBF\xBD", step > 0 ? step : 3);
        used += step > 0 ? step : 3;
        i += step > 0 ? step : 1;
    }
    buffer[used] = '\0';
    return used;
}

bool fl_utf8_is_clean(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t step = fl_utf8_length(text + i, length - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}
