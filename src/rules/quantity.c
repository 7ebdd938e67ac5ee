#include "rules/quantity.h"

#include "base/checked.h"

#include <string.h>

#define DIGITS_MOST   32
#define DECIMALS_MOST 6 /* more is cut off: their product with a unit must fit */

static const struct {
    const char *name;
    unsigned shift;
} units[] = {
    {"bytes", 0}, {"byte", 0}, {"b", 0},    {"kib", 10}, {"kb", 10}, {"k", 10},   {"mib", 20},
    {"mb", 20},   {"m", 20},   {"gib", 30}, {"gb", 30},  {"g", 30},  {"tib", 40}, {"tb", 40},
};

/* The digits of a number, and behind how many of them each separator stood. */
typedef struct figures {
    char digits[DIGITS_MOST];
    size_t count;
    size_t separators, last; /* how many, and the digits before the last one */
    char mark;               /* the last one */
    bool is_mixed;           /* both kinds occur */
} figures;

/* A line may end inside a number where a terminal ended it. */
static size_t skip_break(fl_clean *text, size_t at)
{
    return fl_clean_at(text, at) == '\n' && fl_is_digit(fl_clean_at(text, at + 1)) ? at + 1 : at;
}

static bool read_figures(fl_clean *text, size_t *at, figures *ret)
{
    size_t here = *at;
    *ret = (figures){.count = 0};
    for (;;) {
        int c = fl_clean_at(text, here);
        if (fl_is_digit(c) && ret->count < DIGITS_MOST) {
            ret->digits[ret->count++] = (char)c;
            here++;
            /* A break within decimals only: elsewhere the next line's first number would join. */
            if (ret->separators == 1 && ret->count - ret->last < 2)
                here = skip_break(text, here);
        } else if ((c == '.' || c == ',') && ret->count > 0 &&
                   fl_is_digit(fl_clean_at(text, skip_break(text, here + 1)))) {
            ret->is_mixed = ret->is_mixed || (ret->separators > 0 && c != ret->mark);
            ret->separators++;
            ret->last = ret->count;
            ret->mark = (char)c;
            here = skip_break(text, here + 1);
        } else {
            break;
        }
    }
    if (ret->count == 0 || (fl_is_digit(fl_clean_at(text, here)) && ret->count == DIGITS_MOST))
        return false;
    *at = here;
    return true;
}

/* How many of the digits are decimals: a single point or comma marks them, but a comma before
 * exactly three digits groups thousands, as several equal marks do. */
static size_t decimals_of(const figures *f)
{
    size_t behind = f->count - f->last;
    if (f->separators == 0 || (f->separators > 1 && !f->is_mixed))
        return 0;
    return f->separators == 1 && f->mark == ',' && behind == 3 ? 0 : behind;
}

static bool read_unit(fl_clean *text, size_t *at, unsigned *ret_shift)
{
    size_t here = *at;
    int c = fl_clean_at(text, here);
    if (c == ' ' || c == '\n')
        here++;
    char word[6] = {0};
    size_t length = 0;
    while (fl_is_letter(fl_clean_at(text, here + length)) && length < sizeof word - 1) {
        word[length] = (char)fl_lower(fl_clean_at(text, here + length));
        length++;
    }
    int after = fl_clean_at(text, here + length);
    if (fl_is_letter(after) || fl_is_digit(after) || after == '_')
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(word, units[i].name) == 0) {
            *at = here + length;
            *ret_shift = units[i].shift;
            return true;
        }
    }
    return false;
}

/* The whole part times the unit, and the decimals apart, so that neither overflows unseen.  What
 * was printed as n hundredths lay between n - 1/2 and n + 1/2 of them. */
static fl_number number_of(const figures *f, size_t decimals, unsigned shift)
{
    uint64_t whole = 0, rest = 0, scale = 1;
    bool fits = true;
    for (size_t i = 0; fits && i < f->count - decimals; i++)
        fits = fl_mul(whole, 10, &whole) && fl_add(whole, (uint64_t)(f->digits[i] - '0'), &whole);
    for (size_t i = 0; i < decimals && i < DECIMALS_MOST; i++) {
        rest = rest * 10 + (uint64_t)(f->digits[f->count - decimals + i] - '0');
        scale *= 10;
    }
    fits = fits && fl_mul(whole, UINT64_C(1) << shift, &whole) && whole < UINT64_MAX / 2;
    if (!fits)
        return (fl_number){.is_wrapped = true};
    fl_number number = {true, false, whole + ((rest << shift) + scale / 2) / scale, 0, 0};
    number.low = number.high = number.bytes;
    if (shift == 0 || decimals == 0)
        return number;
    uint64_t half = UINT64_C(1) << shift, twice = 2 * scale, part = 2 * rest * half;
    number.high = whole + (part + half) / twice;
    if (part >= half)
        number.low = whole + (part - half + twice - 1) / twice;
    else
        number.low = whole > half / twice ? whole - half / twice : 0;
    return number;
}

bool fl_quantity_read(fl_clean *text, size_t *at, bool needs_unit, fl_number *ret_number)
{
    size_t here = *at;
    figures f;
    unsigned shift = 0;
    if (!read_figures(text, &here, &f))
        return false;
    bool has_unit = read_unit(text, &here, &shift);
    int after = fl_clean_at(text, here);
    if (!has_unit && (needs_unit || fl_is_letter(after) || after == '_'))
        return false;
    *ret_number = number_of(&f, decimals_of(&f), shift);
    *at = here;
    return true;
}

bool fl_whole_read(fl_clean *text, size_t *at, uint64_t *ret_value)
{
    uint64_t value = 0;
    size_t here = *at, digits = 0;
    for (int c; fl_is_digit(c = fl_clean_at(text, here)); here++, digits++) {
        if (digits == 18)
            return false;
        value = 10 * value + (uint64_t)(c - '0');
    }
    if (digits == 0 || fl_is_letter(fl_clean_at(text, here)))
        return false;
    *at = here;
    *ret_value = value;
    return true;
}
