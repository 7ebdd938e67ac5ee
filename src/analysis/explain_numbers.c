/* Arithmetic with numbers that were rounded for printing, and sentences about them. */
#include "analysis/explain.h"

#include "base/checked.h"

#include <stdarg.h>
#include <stdio.h>

fl_sized fl_say_size(uint64_t bytes)
{
    fl_sized sized;
    fl_format_size(bytes, sized.text);
    return sized;
}

static void print(char text[FL_SENTENCE_SIZE], const char *format, va_list args)
{
    vsnprintf(text, FL_SENTENCE_SIZE, format, args);
}

void fl_say(fl_sentences *sentences, const char *format, ...)
{
    if (sentences->count == FL_SENTENCES_MOST)
        return;
    va_list args;
    va_start(args, format);
    print(sentences->items[sentences->count++], format, args);
    va_end(args);
}

void fl_say_sentence(fl_explanation *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print(out->sentence, format, args);
    va_end(args);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    uint64_t both;
    return fl_add(a, b, &both) ? both : UINT64_MAX;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

fl_number fl_number_add(fl_number a, fl_number b)
{
    if (!a.is_given || !b.is_given)
        return (fl_number){.is_given = false};
    return (fl_number){true, false, sum(a.bytes, b.bytes), sum(a.low, b.low), sum(a.high, b.high)};
}

fl_number fl_number_subtract(fl_number a, fl_number b)
{
    if (!a.is_given || !b.is_given)
        return (fl_number){.is_given = false};
    return (fl_number){true, false, difference(a.bytes, b.bytes), difference(a.low, b.high),
                       difference(a.high, b.low)};
}

bool fl_at_least(fl_judge *judge, fl_number a, fl_number b)
{
    if (!a.is_given || !b.is_given)
        return false;
    bool holds = a.bytes >= b.bytes;
    bool is_sure = holds ? a.low >= b.high : a.high < b.low;
    judge->is_close = judge->is_close || !is_sure;
    return holds;
}

bool fl_is_beyond(const fl_number *a, const fl_number *b)
{
    return a->is_given && b->is_given && a->low > b->high;
}
