#include "base/units.h"

#include "base/checked.h"
#include "test.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parses(const char *text, uint64_t expected)
{
    uint64_t bytes = 0;
    bool is_size = fl_parse_size(text, strlen(text), &bytes);
    if (!is_size || bytes != expected)
        print_error("'%s' gives %llu\n", text, (unsigned long long)bytes);
    return is_size && bytes == expected;
}

static bool refuses(const char *text)
{
    uint64_t bytes = 4711;
    bool is_size = fl_parse_size(text, strlen(text), &bytes);
    if (is_size || bytes != 4711)
        print_error("'%s' gives %llu\n", text, (unsigned long long)bytes);
    return !is_size && bytes == 4711;
}

static void every_unit_is_read(void **state)
{
    (void)state;
    static const char letters[] = "KMGT";
    uint64_t binary = 1, decimal = 1;
    for (size_t i = 0; letters[i] != '\0'; i++) {
        binary *= 1024;
        decimal *= 1000;
        static const struct {
            const char *blank, *rest;
            bool is_decimal;
        } spellings[] = {
            {"", "", false},      {" ", "", false},  {"", "iB", false}, {" ", "iB", false},
            {"   ", "IB", false}, {"", "ib", false}, {"", "B", true},   {" ", "b", true},
        };
        for (size_t s = 0; s < COUNT_OF(spellings); s++) {
            uint64_t unit = spellings[s].is_decimal ? decimal : binary;
            for (int is_lower = 0; is_lower < 2; is_lower++) {
                char text[16];
                snprintf(text, sizeof text, "3%s%c%s", spellings[s].blank,
                         letters[i] + is_lower * ('a' - 'A'), spellings[s].rest);
                assert_true(parses(text, 3 * unit));
            }
        }
    }
    assert_true(parses("512", 512));
    assert_true(parses("512B", 512));
    assert_true(parses("512 b", 512));
    assert_true(parses("0", 0));
    assert_true(parses("007", 7));
    assert_true(parses("24GiB", UINT64_C(25769803776)));
    assert_true(parses("80GB", UINT64_C(80000000000)));
}

static void fractions_need_a_unit_and_round_to_the_nearest_byte(void **state)
{
    (void)state;
    assert_true(parses("16.5MiB", 17301504));
    assert_true(parses("0.5KiB", 512));
    assert_true(parses("1.0005KB", 1001));
    assert_true(parses("1.0004KB", 1000));
    assert_true(parses("79.25GiB", UINT64_C(85094039552)));
    assert_true(parses("1.000000000000000000T", UINT64_C(1) << 40));
    assert_true(refuses("16.5"));
    assert_true(refuses("16.5B"));
    assert_true(refuses(".5MiB"));
    assert_true(refuses("5.MiB"));
    assert_true(refuses("1.2.3MiB"));
    assert_true(refuses("."));
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    assert_true(parses("18446744073709551615", UINT64_MAX));
    assert_true(refuses("18446744073709551616"));
    assert_true(refuses("99999999999999999999"));
    assert_true(parses("16777215TiB", UINT64_C(16777215) << 40));
    assert_true(refuses("16777216TiB"));
    assert_true(refuses("18446744073709551615K"));
    assert_true(refuses("16777215.9999999999999TiB"));
    char digits[5000];
    memset(digits, '9', sizeof digits - 1);
    digits[sizeof digits - 1] = '\0';
    assert_true(refuses(digits));
}

static void what_is_no_size_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",    " ",   "B",    "KiB", "-1",     "+1",        " 1",   "1 ",       "1KiBB",   "1K iB",
        "1Ki", "1iB", "1KBi", "1P",  "1EiB",   "1e3",       "0x10", "1,5MB",    "1_000",   "inf",
        "nan", "1KK", "1\t",  "1\n", "1MiB\n", "1\xc2\xa0", "1;",   "\xff\xff", "1Mi\xff",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_true(refuses(texts[i]));
}

static void only_the_given_length_is_read(void **state)
{
    (void)state;
    uint64_t bytes = 0;
    assert_true(fl_parse_size("123456", 3, &bytes));
    assert_int_equal(bytes, 123);
    assert_true(fl_parse_size("12MiB,more", 5, &bytes));
    assert_int_equal(bytes, 12 * FL_MIB);
    char *exact = malloc(2); /* no byte behind it: a sanitizer sees a step too far */
    assert_non_null(exact);
    memcpy(exact, "7G", 2);
    assert_true(fl_parse_size(exact, 2, &bytes));
    assert_int_equal(bytes, 7 * FL_GIB);
    assert_false(fl_parse_size(exact, 0, &bytes));
    free(exact);
}

static void reals_are_those_of_strtod(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0",
        "0.0",
        "1",
        ".5",
        "1.",
        "0.1",
        "0.3",
        "0.8",
        "0.9999999999999999",
        "0.30000000000000004",
        "0.1000000000000000055",
        "123456789012345678",
        "9007199254740993",
        "18446744073709551615",
        "9007199254740992.5",
        "0.0000000000000000001",
        "3.141592653589793238",
        "4503599627370497.5",
        "1844674407370955161.5",
        "0.7843137254901961",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        double value = -1;
        assert_true(fl_parse_real(texts[i], strlen(texts[i]), &value));
        double expected = strtod(texts[i], NULL);
        if (memcmp(&value, &expected, sizeof value) != 0)
            fail_msg("'%s' gives %.20g, not %.20g", texts[i], value, expected);
    }
    uint64_t noise = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
        char text[40];
        snprintf(text, sizeof text, "%llu.%0*llu", (unsigned long long)(noise % 10000), 1 + i % 15,
                 (unsigned long long)(noise >> 20) % 10);
        double value;
        assert_true(fl_parse_real(text, strlen(text), &value));
        assert_true(!(value < strtod(text, NULL)) && !(value > strtod(text, NULL)));
    }
}

static void what_is_no_real_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        ".",
        "-1",
        "+1",
        "1e5",
        "inf",
        "nan",
        "0x1p3",
        " 1",
        "1 ",
        "1.2.3",
        "1,5",
        "..",
        "1f",
        "99999999999999999999",
        "0.00000000000000000001",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        double value = 4711;
        if (fl_parse_real(texts[i], strlen(texts[i]), &value) || value != 4711)
            fail_msg("'%s' gives %g", texts[i], value);
    }
}

static void the_locale_changes_nothing(void **state)
{
    (void)state;
    static const char *const with_comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t i = 0; i < COUNT_OF(with_comma); i++)
        if (setlocale(LC_ALL, with_comma[i]) != NULL)
            break;
    double value;
    assert_true(fl_parse_real("0.75", 4, &value));
    assert_true(value > 0.74 && value < 0.76);
    assert_true(parses("16.5MiB", 17301504));
    char text[24];
    fl_format_bytes(3 * FL_MIB / 2, text, sizeof text);
    assert_string_equal(text, "1.50 MiB");
    setlocale(LC_ALL, "C");
}

static void sizes_are_shown_with_two_decimals(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {512, "512 B"},
        {1023, "1023 B"},
        {1024, "1.00 KiB"},
        {1536, "1.50 KiB"},
        {1034, "1.01 KiB"},
        {FL_MIB - 1, "1024.00 KiB"},
        {FL_MIB, "1.00 MiB"},
        {20 * FL_MIB, "20.00 MiB"},
        {UINT64_C(85094039552), "79.25 GiB"},
        {UINT64_C(1) << 40, "1.00 TiB"},
        {UINT64_C(1) << 50, "1.00 PiB"},
        {UINT64_C(3) << 59, "1.50 EiB"},
        {UINT64_MAX, "16.00 EiB"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[24];
        fl_format_bytes(cases[i].bytes, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    char small[5];
    fl_format_bytes(20 * FL_MIB, small, sizeof small);
    assert_string_equal(small, "20.0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_is_read),
        cmocka_unit_test(fractions_need_a_unit_and_round_to_the_nearest_byte),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(what_is_no_size_is_refused),
        cmocka_unit_test(only_the_given_length_is_read),
        cmocka_unit_test(reals_are_those_of_strtod),
        cmocka_unit_test(what_is_no_real_is_refused),
        cmocka_unit_test(the_locale_changes_nothing),
        cmocka_unit_test(sizes_are_shown_with_two_decimals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
