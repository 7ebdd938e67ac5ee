#include <fraglab/observe.h>

#include "test.h"

static void every_cause_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (int i = 0; i < FL_UNUSABLE_COUNT; i++) {
        assert_non_null(fl_unusable_name((fl_unusable)i));
        for (int j = 0; j < i; j++)
            assert_string_not_equal(fl_unusable_name((fl_unusable)i),
                                    fl_unusable_name((fl_unusable)j));
    }
    assert_null(fl_unusable_name(FL_UNUSABLE_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cause_has_a_name_of_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
