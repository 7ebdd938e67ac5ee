#include "trace/flt.h"

#include "test.h"

#include <string.h>

static void every_change_changes_the_check_sum(void **state)
{
    (void)state;
    uint8_t bytes[100];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37);
    for (size_t size = 1; size <= sizeof bytes; size++) {
        uint64_t sum = fl_flt_checksum(bytes, size);
        for (size_t bit = 0; bit < 8 * size; bit++) {
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
            assert_true(fl_flt_checksum(bytes, size) != sum);
            bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
    }
}

static void zeros_more_or_fewer_are_another_check_sum(void **state)
{
    (void)state;
    static const uint8_t zeros[80];
    for (size_t a = 0; a < sizeof zeros; a++)
        for (size_t b = 0; b < a; b++)
            assert_true(fl_flt_checksum(zeros, a) != fl_flt_checksum(zeros, b));
}

/* What was written must be read by every later build. */
static void the_check_sum_stays_what_it_is(void **state)
{
    (void)state;
    assert_int_equal(fl_flt_checksum("", 0), UINT64_C(0xaca91b577fe96737));
    assert_int_equal(fl_flt_checksum("fraglab", 7), UINT64_C(0xbf3c48cc167f9503));
}

static void every_column_has_a_section_of_its_own(void **state)
{
    (void)state;
    for (int a = 0; a < FL_COLUMN_COUNT; a++) {
        assert_true(fl_flt_column_tags[a] != 0);
        for (int b = 0; b < a; b++)
            assert_true(fl_flt_column_tags[a] != fl_flt_column_tags[b]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_change_changes_the_check_sum),
        cmocka_unit_test(zeros_more_or_fewer_are_another_check_sum),
        cmocka_unit_test(the_check_sum_stays_what_it_is),
        cmocka_unit_test(every_column_has_a_section_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
