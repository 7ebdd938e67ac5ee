/* Prices of driver calls: the defaults, their text form, and the multiplication. */
#include <fraglab/prices.h>

#include <fraglab/units.h>

#include <string.h>

#define MIB ((double)(UINT64_C(1) << 20))

static const char *const names[FL_PRICE_COUNT] = {
    [FL_PRICE_MALLOC] = "malloc", [FL_PRICE_FREE] = "free",   [FL_PRICE_MAP] = "map",
    [FL_PRICE_UNMAP] = "unmap",   [FL_PRICE_RETRY] = "retry",
};

const char *fl_price_name(fl_price price)
{
    return names[price];
}

/* Sources and spread: docs/tuning.md. */
fl_prices fl_prices_default(void)
{
    return (fl_prices){
        .call_us = {[FL_PRICE_MALLOC] = 100,
                    [FL_PRICE_FREE] = 150,
                    [FL_PRICE_MAP] = 50,
                    [FL_PRICE_UNMAP] = 50,
                    [FL_PRICE_RETRY] = 2000},
        .mebibyte_us = {[FL_PRICE_MALLOC] = 0.5,
                        [FL_PRICE_FREE] = 0.5,
                        [FL_PRICE_MAP] = 1,
                        [FL_PRICE_UNMAP] = 1},
    };
}

/* ---- text ------------------------------------------------------------------------------------ */

#define WORDS_MOST 3

struct word {
    const char *at;
    size_t length;
};

static size_t split_line(const char *line, size_t length, struct word words[WORDS_MOST + 1])
{
    static const char blanks[] = " \t\r";
    size_t count = 0, at = 0;
    const char *comment = memchr(line, '#', length);
    if (comment != NULL)
        length = (size_t)(comment - line);
    while (count <= WORDS_MOST) {
        while (at < length && strchr(blanks, line[at]) != NULL)
            at++;
        if (at == length)
            break;
        size_t start = at;
        while (at < length && strchr(blanks, line[at]) == NULL)
            at++;
        words[count++] = (struct word){line + start, at - start};
    }
    return count;
}

static bool find_price(const struct word *word, fl_price *ret_price)
{
    for (size_t i = 0; i < FL_PRICE_COUNT; i++) {
        if (strlen(names[i]) == word->length && memcmp(names[i], word->at, word->length) == 0) {
            *ret_price = (fl_price)i;
            return true;
        }
    }
    return false;
}

static bool read_line(const char *line, size_t length, fl_prices *prices)
{
    struct word words[WORDS_MOST + 1];
    size_t count = split_line(line, length, words);
    fl_price price;
    double call, mebibyte;
    if (count == 0)
        return true;
    if (count != WORDS_MOST || !find_price(&words[0], &price) ||
        !fl_parse_real(words[1].at, words[1].length, &call) ||
        !fl_parse_real(words[2].at, words[2].length, &mebibyte))
        return false;
    prices->call_us[price] = call;
    prices->mebibyte_us[price] = mebibyte;
    return true;
}

fl_status fl_prices_parse(const char *text, size_t length, fl_prices *prices, fl_error *error)
{
    fl_prices read = *prices;
    size_t number = 1;
    for (size_t at = 0; at < length; number++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line = end != NULL ? (size_t)(end - text) - at : length - at;
        if (!read_line(text + at, line, &read)) {
            fl_fail(error, FL_ERR_INPUT, "line %zu: expected a price", number);
            return fl_hint(error, "malloc, free, map, unmap or retry, then microseconds for a call "
                                  "and for each MiB of it");
        }
        at += line + 1;
    }
    *prices = read;
    return FL_OK;
}

/* ---- cost ------------------------------------------------------------------------------------ */

/* Which price a call has; FL_PRICE_COUNT: none of its own. */
static fl_price price_of(fl_call call)
{
    switch (call) {
    case FL_CALL_ACQUIRE:
        return FL_PRICE_MALLOC;
    case FL_CALL_RELEASE:
        return FL_PRICE_FREE;
    case FL_CALL_MAP:
        return FL_PRICE_MAP;
    case FL_CALL_UNMAP:
        return FL_PRICE_UNMAP;
    default:
        return FL_PRICE_COUNT;
    }
}

double fl_prices_cost_us(const fl_prices *prices, const fl_device_info *info, uint64_t retries)
{
    double sum = (double)retries * prices->call_us[FL_PRICE_RETRY];
    for (int call = 0; call < FL_CALL_COUNT; call++) {
        fl_price price = price_of((fl_call)call);
        if (price == FL_PRICE_COUNT)
            continue;
        for (unsigned log = 0; log < 64; log++) {
            double mebibytes = 1.5 * (double)(UINT64_C(1) << log) / MIB;
            sum += (double)info->calls[call][log] *
                   (prices->call_us[price] + mebibytes * prices->mebibyte_us[price]);
        }
    }
    return sum;
}
