#include "rules/quantity.h"

#include "base/units.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static fl_clean *clean;

static bool read(const char *text, bool needs_unit, fl_number *number, size_t *at)
{
    *at = 0;
    fl_clean_start(clean, text, strlen(text));
    return fl_quantity_read(clean, at, needs_unit, number);
}

static void sizes_are_read_in_every_dress(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
        size_t length;
    } rows[] = {
        {"2.00 MiB", 2 * FL_MIB, 8},
        {"1.70 GiB.", UINT64_C(1825361101), 8},
        {"1,70 GiB", UINT64_C(1825361101), 8},
        {"0 bytes is", 0, 7},
        {"25,600,000 bytes", 25600000, 16},
        {"1,024 MiB", FL_GIB, 9},
        {"1.024,50 MiB", FL_GIB + FL_MIB / 2, 12},
        {"17.79G (", UINT64_C(19101867049), 6},
        {"145.468994MB ", UINT64_C(152535296), 12},
        {"896.00 KiB", 896 * FL_KIB, 10},
        {"3.00\nMiB", 3 * FL_MIB, 8},
        {"3.00 M\niB", 3 * FL_MIB, 9},
        {"3.00 MiB\nB", 3 * FL_MIB, 8},
        {"3.\n00 MiB", 3 * FL_MIB, 9},
        {"1\n3.00 MiB", 13 * FL_MIB, 10},
        {"3.00\n[rank 7]: MiB", 3 * FL_MIB, 18},
        {"3.00\n2024-01-01 INFO MiB", 3 * FL_MIB, 24},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_number number;
        size_t at;
        if (!read(rows[i].text, true, &number, &at))
            fail_msg("'%s' is not read", rows[i].text);
        if (number.bytes != rows[i].bytes || at != rows[i].length)
            fail_msg("'%s': %llu in %zu bytes", rows[i].text, (unsigned long long)number.bytes, at);
    }
}

static void what_is_no_size_is_left_alone(void **state)
{
    (void)state;
    static const char *const texts[] = {"",       "MiB",      "12",     "12 apples",    "12 MiBs",
                                        "12_MiB", "12.5 km2", "x2 MiB", "12\n13 bytes2"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        fl_number number;
        size_t at;
        if (read(texts[i], true, &number, &at) || at != 0)
            fail_msg("'%s' is read", texts[i]);
    }
    fl_number number;
    size_t at;
    assert_true(read("4718592)requested", false, &number, &at));
    assert_int_equal(number.bytes, 4718592);
    assert_false(read("12apples", false, &number, &at));
}

static void a_number_knows_what_its_rounding_hides(void **state)
{
    (void)state;
    fl_number number;
    size_t at;
    assert_true(read("1.16 GiB", true, &number, &at));
    fl_number greater;
    assert_true(read("1.17 GiB", true, &greater, &at));
    assert_int_equal(greater.low, number.high + 1);
    assert_true(read("1.00 KiB", true, &number, &at));
    assert_int_equal(number.low, 1019); /* 1018.88 */
    assert_int_equal(number.high, 1029);
    assert_true(read("512 bytes", true, &number, &at));
    assert_int_equal(number.low, 512);
    assert_int_equal(number.high, 512);
}

/* Whatever a release prints, the truth lies between low and high. */
static void the_printed_size_is_within_the_bounds(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 20000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t bytes = (seed >> 8) >> (seed % 50);
        char text[FL_FORMAT_SIZE];
        fl_format_size(bytes, text);
        fl_number number;
        size_t at;
        assert_true(read(text, true, &number, &at));
        assert_int_equal(at, strlen(text));
        assert_true(number.low <= bytes && bytes <= number.high);
        assert_true(number.low <= number.bytes && number.bytes <= number.high);
    }
}

static void what_does_not_fit_is_no_number(void **state)
{
    (void)state;
    static const char *const texts[] = {"17179869184.00 GiB", "99999999999999999999999999 bytes",
                                        "18446744073709551615 TiB"};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        fl_number number;
        size_t at;
        assert_true(read(texts[i], true, &number, &at));
        assert_false(number.is_given);
        assert_true(number.is_wrapped);
    }
}

static void whole_numbers_end_where_they_end(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_read;
        uint64_t value;
    } rows[] = {{"12;", true, 12},
                {"12x", false, 0},
                {"", false, 0},
                {"-1", false, 0},
                {"1234567890123456789", false, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t value = 0;
        size_t at = 0;
        fl_clean_start(clean, rows[i].text, strlen(rows[i].text));
        assert_int_equal(fl_whole_read(clean, &at, &value), rows[i].is_read);
        assert_int_equal(value, rows[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_read_in_every_dress),
        cmocka_unit_test(what_is_no_size_is_left_alone),
        cmocka_unit_test(a_number_knows_what_its_rounding_hides),
        cmocka_unit_test(the_printed_size_is_within_the_bounds),
        cmocka_unit_test(what_does_not_fit_is_no_number),
        cmocka_unit_test(whole_numbers_end_where_they_end),
    };
    clean = malloc(sizeof *clean);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(clean);
    return failed;
}
