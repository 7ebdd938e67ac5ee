/* UTF-8 in and out, strict: overlong forms, surrogates and what lies beyond U+10FFFF are not
 * accepted, because those who read what we write may refuse them. */
#include "base/utf8.h"

/* Length of the sequence that a first byte announces, or 0; *ret_least is the least code point
 * that needs so many bytes. */
static size_t utf8_announced(unsigned char first, uint32_t *ret_point, uint32_t *ret_least)
{
    static const struct {
        unsigned char mask, mark;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((first & forms[i].mask) != forms[i].mark)
            continue;
        *ret_point = first & (unsigned char)~forms[i].mask;
        *ret_least = forms[i].least;
        return i + 1;
    }
    return 0;
}

size_t fl_utf8_next(const char *data, size_t length, uint32_t *ret_point)
{
    uint32_t point = 0, least = 0;
    size_t size = utf8_announced((unsigned char)data[0], &point, &least);
    *ret_point = FL_UTF8_REPLACEMENT;
    if (size == 0 || size > length)
        return 1;
    for (size_t i = 1; i < size; i++) {
        unsigned char byte = (unsigned char)data[i];
        if ((byte & 0xc0) != 0x80)
            return 1;
        point = point << 6 | (byte & 0x3fu);
    }
    if (point < least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        return 1;
    *ret_point = point;
    return size;
}

size_t fl_utf8_put(uint32_t point, char buffer[4])
{
    size_t size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = {0, 0x00, 0xc0, 0xe0, 0xf0};
    for (size_t i = size; i-- > 1; point >>= 6)
        buffer[i] = (char)(0x80 | (point & 0x3f));
    buffer[0] = (char)(marks[size] | point);
    return size;
}
