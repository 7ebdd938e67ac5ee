#include "rules/quantity.h"

#include "base/checked.h"

#include <string.h>

#define DIGITS_MOST   32
#define LEAD_MOST     200 /* bytes that a log may put before its lines */
#define DECIMALS_MOST 6   /* more is cut off: their product with a unit must fit */

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

/* Where the digits of a number with a unit may go on behind a line's end: within its decimals, or
 * anywhere, though the next line's own first number could stand there as well. */
typedef enum breaks { BREAKS_NOWHERE, BREAKS_DECIMALS, BREAKS_ANYWHERE } breaks;

static bool read_figures(fl_clean *text, size_t *at, breaks breaks_at, figures *ret)
{
    size_t here = *at;
    *ret = (figures){.count = 0};
    for (;;) {
        int c = fl_clean_at(text, here);
        size_t behind = breaks_at == BREAKS_NOWHERE ? here + 1 : skip_break(text, here + 1);
        if (fl_is_digit(c) && ret->count < DIGITS_MOST) {
            ret->digits[ret->count++] = (char)c;
            here++;
            if (breaks_at == BREAKS_ANYWHERE ||
                (breaks_at == BREAKS_DECIMALS && ret->separators == 1 &&
                 ret->count - ret->last < 2))
                here = skip_break(text, here);
        } else if ((c == '.' || c == ',') && ret->count > 0 &&
                   fl_is_digit(fl_clean_at(text, behind))) {
            ret->is_mixed = ret->is_mixed || (ret->separators > 0 && c != ret->mark);
            ret->separators++;
            ret->last = ret->count;
            ret->mark = (char)c;
            here = behind;
        } else if (breaks_at == BREAKS_ANYWHERE && c == '\n' &&
                   fl_clean_at(text, here + 1) == '.' && ret->count > 0) {
            here++;
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

/* The unit that is written at `at`; `joins`: over a line's end. */
static bool read_unit_word(fl_clean *text, size_t *at, bool joins, unsigned *ret_shift)
{
    char word[6] = {0};
    size_t here = *at, length = 0;
    while (length < sizeof word - 1) {
        size_t skipped = joins && length > 0 && fl_clean_at(text, here) == '\n';
        int c = fl_clean_at(text, here + skipped);
        if (!fl_is_letter(c))
            break;
        word[length++] = (char)fl_lower(c);
        here += skipped + 1;
    }
    int after = fl_clean_at(text, here);
    if (fl_is_letter(after) || fl_is_digit(after) || after == '_')
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(word, units[i].name) == 0) {
            *at = here;
            *ret_shift = units[i].shift;
            return true;
        }
    }
    return false;
}

/* After a line's end the unit may stand behind whatever a log puts before its lines: the first word
 * that can be nothing else, and is no other number's. */
static bool find_unit(fl_clean *text, size_t *at, unsigned *ret_shift)
{
    int before = '\n', before_blank = '\n';
    for (size_t here = *at; here < *at + LEAD_MOST; here++) {
        int c = fl_clean_at(text, here);
        if (c < 0 || c == '\n')
            return false;
        size_t trial = here;
        bool is_start = fl_is_letter(c) && !fl_is_letter(before) && !fl_is_digit(before_blank);
        if (is_start && read_unit_word(text, &trial, false, ret_shift) && trial - here >= 2) {
            *at = trial;
            return true;
        }
        before = c;
        before_blank = c != ' ' ? c : before_blank;
    }
    return false;
}

static bool read_unit(fl_clean *text, size_t *at, unsigned *ret_shift)
{
    size_t here = *at;
    int c = fl_clean_at(text, here);
    here += c == ' ' || c == '\n';
    if (!read_unit_word(text, &here, true, ret_shift) &&
        !read_unit_word(text, &here, false, ret_shift) &&
        (c != '\n' || !find_unit(text, &here, ret_shift)))
        return false;
    *at = here;
    return true;
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

static bool read_quantity(fl_clean *text, size_t *at, bool needs_unit, breaks breaks_at,
                          fl_number *ret_number)
{
    size_t here = *at;
    figures f;
    unsigned shift = 0;
    if (!read_figures(text, &here, breaks_at, &f))
        return false;
    bool has_unit = read_unit(text, &here, &shift);
    int after = fl_clean_at(text, here);
    if (!has_unit && (needs_unit || fl_is_letter(after) || after == '_'))
        return false;
    *ret_number = number_of(&f, decimals_of(&f), shift);
    *at = here;
    return true;
}

bool fl_quantity_read(fl_clean *text, size_t *at, bool needs_unit, fl_number *ret_number)
{
    if (!needs_unit)
        return read_quantity(text, at, false, BREAKS_NOWHERE, ret_number);
    return read_quantity(text, at, true, BREAKS_DECIMALS, ret_number) ||
           read_quantity(text, at, true, BREAKS_ANYWHERE, ret_number);
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
