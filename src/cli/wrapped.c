#include "cli/wrapped.h"

#include <string.h>

#define LINE_WIDTH 80

void fl_cli_wrapped(fl_emit *emit, fl_emit_style style, const char *lead, size_t indent,
                    const char *text)
{
    size_t most = LINE_WIDTH - indent;
    do {
        size_t length = strlen(text);
        if (length > most) {
            for (length = most; length > 0 && text[length] != ' ';)
                length--;
            length = length > 0 ? length : most;
        }
        fl_emit_line(emit, style, "%-*s%.*s", (int)indent, lead, (int)length, text);
        lead = "";
        text += length;
        text += strspn(text, " ");
    } while (*text != '\0');
}
