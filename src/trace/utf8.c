#include "trace/utf8.h"

#include "base/utf8.h"

#include <string.h>

/* Length of the UTF-8 character at `bytes`; 0 where there is none: truncated, overlong, a
 * surrogate, above U+10FFFF, or NUL, which would end a C string. */
static size_t utf8_length(const char *bytes, size_t size)
{
    uint32_t point;
    if (size == 0)
        return 0;
    size_t length = fl_utf8_next(bytes, size, &point);
    return point == 0 || (point == FL_UTF8_REPLACEMENT && length == 1) ? 0 : length;
}

size_t fl_utf8_clean(const char *text, size_t length, char *buffer)
{
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        size_t step = utf8_length(text + i, length - i);
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
        size_t step = utf8_length(text + i, length - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}
