#include "rules/token.h"

#include "test.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fl_token only_token(const char *text)
{
    fl_tokens tokens = {text, " ", 0};
    fl_token token = {.start = NULL};
    assert_true(fl_tokens_next(&tokens, &token));
    return token;
}

static void separators_cut_and_blanks_do_not_count(void **state)
{
    (void)state;
    static const char *const expected[] = {"max", ":", "6 4", ",", "[", "x", "]", ":", "\ty"};
    fl_tokens tokens = {"  ma x :6 4,[ x]  :\ty ", " ", 0};
    fl_token token;
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        assert_true(fl_tokens_next(&tokens, &token));
        assert_int_equal(token.index, i);
        fl_token wanted = only_token(expected[i]);
        char got[FL_TOKEN_QUOTE], want[FL_TOKEN_QUOTE];
        fl_token_quote(&token, got);
        fl_token_quote(&wanted, want);
        assert_string_equal(got, want);
        assert_true(fl_token_is(&token, want));
    }
    assert_false(fl_tokens_next(&tokens, &token));
    assert_int_equal(token.index, COUNT_OF(expected) - 1);
}

static void a_token_is_a_word_only_if_all_of_it_is(void **state)
{
    (void)state;
    fl_token token = only_token("T ru e");
    assert_true(fl_token_is(&token, "True"));
    assert_false(fl_token_is(&token, "Tru"));
    assert_false(fl_token_is(&token, "Trues"));
    assert_false(fl_token_is(&token, ""));
}

static void a_long_token_is_quoted_in_part_and_not_inside_a_character(void **state)
{
    (void)state;
    char text[200], quote[FL_TOKEN_QUOTE];
    for (size_t ascii = 0; ascii < 4; ascii++) {
        memset(text, 'x', ascii);
        text[ascii] = '\0';
        for (size_t i = 0; i < 30; i++)
            strcat(text, "\xe2\x82\xac"); /* a euro sign */
        fl_token token = only_token(text);
        fl_token_quote(&token, quote);
        size_t length = strlen(quote);
        assert_true(length < FL_TOKEN_QUOTE && length > FL_TOKEN_QUOTE - 8);
        assert_string_equal(quote + length - 3, "...");
        assert_int_equal((length - 3 - ascii) % 3, 0);
        assert_memory_equal(quote, text, length - 3);
    }
    memset(text, '\x80', 100);
    text[100] = '\0';
    fl_token token = only_token(text);
    fl_token_quote(&token, quote);
    assert_string_equal(quote, "...");
}

static const struct {
    const char *text;
    bool is_number, is_negative;
    uint64_t absolute;
} integers[] = {
    {"0", true, false, 0},
    {"64", true, false, 64},
    {"6 4", true, false, 64},
    {"64mb", true, false, 64},
    {"64.9", true, false, 64},
    {"0x40", true, false, 0},
    {"\t\v\f\r\n64", true, false, 64},
    {"+64", true, false, 64},
    {"-64", true, true, 64},
    {"- 64", true, true, 64},
    {"000000000000000000000000000064", true, false, 64},
    {"18446744073709551615", true, false, UINT64_MAX},
    {"-18446744073709551615", true, true, UINT64_MAX},
    {"18446744073709551616", false, false, 0},
    {"99999999999999999999999999", false, false, 0},
    {"", false, false, 0},
    {"-", false, false, 0},
    {"+-1", false, false, 0},
    {"x1", false, false, 0},
    {"\xa0"
     "1",
     false, false, 0},
};

static void integers_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(integers); i++) {
        const char *text = integers[i].text;
        fl_token token = {text, text + strlen(text), " ", 0};
        bool is_negative = false;
        uint64_t absolute = 4711;
        assert_int_equal(fl_token_integer(&token, &is_negative, &absolute), integers[i].is_number);
        assert_int_equal(is_negative, integers[i].is_negative);
        assert_int_equal(absolute, integers[i].is_number ? integers[i].absolute : 4711);
    }
}

/* What strtod says, in the C locale that a test starts in. */
static void assert_reads_like_strtod(const char *text)
{
    char *end;
    errno = 0;
    double expected = strtod(text, &end);
    bool is_number = end != text && errno == 0, is_all = false;
    double value = 4711;
    fl_token token = {text, text + strlen(text), "", 0};
    if (fl_token_real(&token, &value, &is_all) != is_number)
        fail_msg("'%s' is%s a number", text, is_number ? "" : " not");
    if (!is_number) {
        assert_true(value == 4711);
        return;
    }
    if (memcmp(&value, &expected, sizeof value) != 0 && !(isnan(value) && isnan(expected)))
        fail_msg("'%s' gives %a, expected %a", text, value, expected);
    if (!isnan(value) && !isinf(value))
        assert_int_equal(is_all, *end == '\0');
}

static const char *const reals[] = {
    "0",
    "-0",
    "0.8",
    ".5",
    "5.",
    "1e-1",
    "1E+2x",
    "1e",
    "1e+",
    "1ex",
    "0.5.5",
    "00.50",
    "1e400",
    "1e-400",
    "0e400",
    "0e99999999999999999999",
    "4.9e-324",
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "",
    "-",
    ".",
    "-.",
    "e5",
    ".e5",
    "x",
    "inf",
    "-INF",
    "infinity",
    "Infinite",
    "in",
    "nan",
    "NaN(7)",
    "na",
    "0x",
    "0x1",
    "0x.8",
    "0x.",
    "0x.p1",
    "0x1p-1",
    "0X.FP0",
    "0x1.8p+1y",
    "0x1p",
    "0x1p-1074",
    "0x1p-1080",
    "0x1p1024",
    "0xg",
    "0x1.00000000000008",
    "0x1.00000000000007ffffffffffffff",
    "0x1.000000000000080000000000000000000000000000000001",
    "9007199254740993",
    "9007199254740992.99999999999999999999999999999999",
    "0.1e1e1",
    "1,5",
    " \t0.5",
    "\n1",
    "0.29999999999999998889776975374843",
    "0.99999999999999994448884876874217",
    "1e2147483648",
    "1e-2147483649",
    "0x0.0000000000000000000000000001p+112",
    "1_000",
    "0b1",
};

static void reals_are_read_as_strtod_reads_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(reals); i++)
        assert_reads_like_strtod(reals[i]);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static void random_reals_round_rightly(void **state)
{
    (void)state;
    uint64_t seed = 0x9e3779b97f4a7c15;
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = next_random(&seed);
        double value;
        memcpy(&value, &bits, sizeof value);
        char text[1200];
        static const char *const formats[] = {"%.17g", "%.20e", "%a", "%.3g", "%.40e"};
        snprintf(text, sizeof text, formats[i % COUNT_OF(formats)], value);
        assert_reads_like_strtod(text);
    }
}

/* Halves between two doubles take hundreds of digits; the last one decides. */
static void ties_are_broken_by_the_last_of_many_digits(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252;
    for (int i = 0; i < 200; i++) {
        uint64_t bits = next_random(&seed) >> 2;
        double low, high;
        memcpy(&low, &bits, sizeof low);
        bits++;
        memcpy(&high, &bits, sizeof high);
        if (!(fabs(low) < 1e300))
            continue;
        long double half = ((long double)low + (long double)high) / 2;
        char text[2048];
        snprintf(text, sizeof text, "%.1100Lg", half);
        assert_reads_like_strtod(text);
        if (strchr(text, 'e') == NULL && strchr(text, '.') != NULL) {
            strcat(text, "00000000000000000000000000000001");
            assert_reads_like_strtod(text);
        }
    }
}

static void thousands_of_digits_do_not_matter(void **state)
{
    (void)state;
    enum { LENGTH = 5000 };
    char *text = malloc(LENGTH + 64);
    assert_non_null(text);
    memset(text, '0', LENGTH);
    strcpy(text + LENGTH, ".8");
    assert_reads_like_strtod(text);
    memset(text, '0', LENGTH);
    text[1] = '.';
    strcpy(text + LENGTH, "8e4999");
    assert_reads_like_strtod(text);
    memset(text, '9', LENGTH);
    strcpy(text + LENGTH, "e-5000");
    assert_reads_like_strtod(text);
    text[0] = '0';
    text[1] = '.';
    memset(text + 2, '1', LENGTH - 2);
    text[LENGTH] = '\0';
    assert_reads_like_strtod(text);
    free(text);
}

static void the_locale_does_not_matter(void **state)
{
    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL && setlocale(LC_ALL, "fr_FR.UTF-8") == NULL)
        print_message("no locale with a comma here: only the C locale was tried\n");
    fl_token token = only_token("0.75");
    double value = 0;
    assert_true(fl_token_real(&token, &value, NULL));
    setlocale(LC_ALL, "C");
    assert_true(value == 0.75);
}

static void the_last_character_can_be_taken_off(void **state)
{
    (void)state;
    fl_token token = only_token("2 G  "), rest;
    assert_int_equal(fl_token_last(&token, &rest), 'G');
    assert_true(fl_token_is(&rest, "2"));
    assert_int_equal(fl_token_last(&rest, &rest), '2');
    assert_int_equal(fl_token_last(&rest, &rest), '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators_cut_and_blanks_do_not_count),
        cmocka_unit_test(a_token_is_a_word_only_if_all_of_it_is),
        cmocka_unit_test(a_long_token_is_quoted_in_part_and_not_inside_a_character),
        cmocka_unit_test(integers_are_read_as_far_as_they_go),
        cmocka_unit_test(reals_are_read_as_strtod_reads_them),
        cmocka_unit_test(random_reals_round_rightly),
        cmocka_unit_test(ties_are_broken_by_the_last_of_many_digits),
        cmocka_unit_test(thousands_of_digits_do_not_matter),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(the_last_character_can_be_taken_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
