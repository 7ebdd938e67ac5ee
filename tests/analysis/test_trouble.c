#include <fraglab/trouble.h>

#include "test.h"

static void every_trouble_is_found_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < FL_TROUBLE_COUNT; i++) {
        fl_trouble found = FL_TROUBLE_COUNT;
        assert_true(fl_trouble_find(fl_trouble_name((fl_trouble)i), &found));
        assert_int_equal(found, i);
    }
}

static void other_words_are_no_trouble(void **state)
{
    (void)state;
    static const char *const words[] = {"", "ful", "fulls", "Full", "private pools"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        fl_trouble found = FL_TROUBLE_LEAK;
        assert_false(fl_trouble_find(words[i], &found));
        assert_int_equal(found, FL_TROUBLE_LEAK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_trouble_is_found_by_its_name),
        cmocka_unit_test(other_words_are_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
