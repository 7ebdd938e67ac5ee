#include "analysis/explain.h"

#include "test.h"

#include <string.h>

static fl_number between(uint64_t low, uint64_t bytes, uint64_t high)
{
    return (fl_number){true, false, bytes, low, high};
}

static void sums_and_differences_keep_what_rounding_hides(void **state)
{
    (void)state;
    fl_number sum = fl_number_add(between(9, 10, 11), between(4, 5, 6));
    assert_int_equal(sum.low, 13);
    assert_int_equal(sum.bytes, 15);
    assert_int_equal(sum.high, 17);
    fl_number difference = fl_number_subtract(between(9, 10, 11), between(4, 5, 6));
    assert_int_equal(difference.low, 3);
    assert_int_equal(difference.bytes, 5);
    assert_int_equal(difference.high, 7);
    difference = fl_number_subtract(between(4, 5, 6), between(4, 5, 6));
    assert_int_equal(difference.low, 0);
    assert_int_equal(difference.high, 2);
}

static void what_is_not_given_gives_nothing(void **state)
{
    (void)state;
    fl_number none = {.is_given = false}, some = between(1, 1, 1);
    fl_judge judge = {.is_close = false};
    assert_false(fl_number_add(none, some).is_given);
    assert_false(fl_number_subtract(some, none).is_given);
    assert_false(fl_at_least(&judge, some, none));
    assert_false(fl_is_beyond(&some, &none));
    assert_false(judge.is_close);
}

static void huge_numbers_stay_huge(void **state)
{
    (void)state;
    fl_number huge = between(UINT64_MAX, UINT64_MAX, UINT64_MAX);
    assert_int_equal(fl_number_add(huge, huge).bytes, UINT64_MAX);
}

static void a_comparison_notes_whether_rounding_could_turn_it(void **state)
{
    (void)state;
    fl_judge judge = {.is_close = false};
    assert_true(fl_at_least(&judge, between(9, 10, 11), between(7, 8, 9)));
    assert_false(judge.is_close);
    assert_false(fl_at_least(&judge, between(4, 5, 6), between(7, 8, 9)));
    assert_false(judge.is_close);
    assert_true(fl_at_least(&judge, between(9, 10, 11), between(8, 9, 10)));
    assert_true(judge.is_close);
    fl_number a = between(10, 11, 12), b = between(8, 9, 10);
    assert_false(fl_is_beyond(&a, &b));
    a.low = 11;
    assert_true(fl_is_beyond(&a, &b));
}

static void sentences_beyond_the_room_are_left_out(void **state)
{
    (void)state;
    static fl_sentences sentences;
    for (int i = 0; i < 2 * FL_SENTENCES_MOST; i++)
        fl_say(&sentences, "%d of %s", i, fl_say_size(2097152).text);
    assert_int_equal(sentences.count, FL_SENTENCES_MOST);
    assert_string_equal(sentences.items[1], "1 of 2.00 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_differences_keep_what_rounding_hides),
        cmocka_unit_test(what_is_not_given_gives_nothing),
        cmocka_unit_test(huge_numbers_stay_huge),
        cmocka_unit_test(a_comparison_notes_whether_rounding_could_turn_it),
        cmocka_unit_test(sentences_beyond_the_room_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
