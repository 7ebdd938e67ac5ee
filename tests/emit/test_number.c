#include "emit/format.h"
#include "test.h"

static void counts_have_commas_every_three_digits(void **state)
{
    (void)state;
    static const struct {
        uint64_t number;
        const char *text;
    } rows[] = {{0, "0"},
                {999, "999"},
                {1000, "1,000"},
                {1234567, "1,234,567"},
                {UINT64_MAX, "18,446,744,073,709,551,615"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char buffer[27];
        fl_format_count(rows[i].number, buffer, sizeof buffer);
        assert_string_equal(buffer, rows[i].text);
    }
}

static void a_real_is_the_shortest_that_reads_back(void **state)
{
    (void)state;
    static const struct {
        double real;
        const char *text;
    } rows[] = {{0.1, "0.1"},
                {1, "1"},
                {-2.5, "-2.5"},
                {1e300, "1e+300"},
                {0.1 + 0.2, "0.30000000000000004"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char buffer[FL_EMIT_NUMBER_SIZE];
        fl_emit_number(fl_emit_real(rows[i].real), buffer);
        assert_string_equal(buffer, rows[i].text);
    }
}

static void what_is_no_number_is_null(void **state)
{
    (void)state;
    assert_int_equal(fl_emit_real(1e308 * 10).type, FL_EMIT_NULL);
    assert_int_equal(fl_emit_text(NULL).type, FL_EMIT_NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_have_commas_every_three_digits),
        cmocka_unit_test(a_real_is_the_shortest_that_reads_back),
        cmocka_unit_test(what_is_no_number_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
