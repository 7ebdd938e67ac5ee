#include "rules/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

fl_text fl_text_open(char *buffer, size_t size)
{
    if (size > 0)
        buffer[0] = '\0';
    return (fl_text){buffer, size, 0};
}

void fl_text_add(fl_text *text, const char *bytes, size_t count)
{
    size_t room = text->length + 1 < text->size ? text->size - 1 - text->length : 0;
    size_t kept = count < room ? count : room;
    if (kept > 0) {
        memcpy(text->buffer + text->length, bytes, kept);
        text->buffer[text->length + kept] = '\0';
    }
    text->length += count;
}

void fl_text_print(fl_text *text, const char *format, ...)
{
    char piece[256];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (length > 0)
        fl_text_add(text, piece, strlen(piece));
}
