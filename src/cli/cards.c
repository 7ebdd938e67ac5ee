#include "cli/cards.h"

#include "emit/emit.h"

#include <stdio.h>

#define CARD_UNIT (UINT64_C(1) << 20)

void fl_card_words(uint64_t bytes, char *buffer, size_t size)
{
    char number[27];
    bool is_whole = bytes % CARD_UNIT == 0;
    fl_format_count(is_whole ? bytes / CARD_UNIT : bytes, number, sizeof number);
    if (bytes == UINT64_MAX)
        snprintf(buffer, size, "-");
    else
        snprintf(buffer, size, "%s %s", number, is_whole ? "MiB" : "B");
}
