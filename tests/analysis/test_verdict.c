#include <fraglab/verdict.h>

#include "test.h"

static void every_verdict_is_found_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < FL_VERDICT_COUNT; i++) {
        fl_verdict found = FL_VERDICT_COUNT;
        assert_true(fl_verdict_find(fl_verdict_name((fl_verdict)i), &found));
        assert_int_equal(found, i);
    }
}

static void other_words_are_no_verdict(void **state)
{
    (void)state;
    static const char *const words[] = {"", "ful", "fulls", "Full", "private pools"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        fl_verdict found = FL_VERDICT_LEAK;
        assert_false(fl_verdict_find(words[i], &found));
        assert_int_equal(found, FL_VERDICT_LEAK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verdict_is_found_by_its_name),
        cmocka_unit_test(other_words_are_no_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
