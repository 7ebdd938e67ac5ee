#include "base/checked.h"

#include "test.h"

static void sums_and_products_say_whether_they_fit(void **state)
{
    (void)state;
    uint64_t sum = 7;
    assert_true(fl_add(UINT64_MAX - 1, 1, &sum));
    assert_true(sum == UINT64_MAX);
    assert_false(fl_add(UINT64_MAX, 1, &sum));
    assert_true(sum == UINT64_MAX);
    assert_true(fl_mul(UINT64_C(1) << 32, UINT32_MAX, &sum));
    assert_true(sum == UINT64_C(0xffffffff00000000));
    assert_false(fl_mul(UINT64_C(1) << 32, UINT64_C(1) << 32, &sum));
    assert_true(sum == UINT64_C(0xffffffff00000000));
    assert_true(fl_mul(UINT64_MAX, 0, &sum));
    assert_true(sum == 0);
}

static void rounding_up_saturates(void **state)
{
    (void)state;
    assert_int_equal(fl_round_up(0, 512), 0);
    assert_int_equal(fl_round_up(1, 512), 512);
    assert_int_equal(fl_round_up(512, 512), 512);
    assert_int_equal(fl_round_up(513, 512), 1024);
    assert_int_equal(fl_round_up(10, 3), 12);
    assert_true(fl_round_up(UINT64_MAX - 511, 512) == UINT64_MAX - 511);
    assert_true(fl_round_up(UINT64_MAX - 510, 512) == UINT64_MAX);
    assert_true(fl_round_up(UINT64_MAX, 1) == UINT64_MAX);
}

static void log2_is_the_place_of_the_highest_bit(void **state)
{
    (void)state;
    assert_int_equal(fl_log2(0), 0);
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t power = UINT64_C(1) << bit;
        assert_int_equal(fl_log2(power), bit);
        assert_int_equal(fl_log2(power | (power - 1)), bit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_products_say_whether_they_fit),
        cmocka_unit_test(rounding_up_saturates),
        cmocka_unit_test(log2_is_the_place_of_the_highest_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
