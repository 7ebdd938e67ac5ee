#include "test.h"

#include <fraglab/verify.h>

#include <string.h>

static void every_excuse_has_a_name_of_its_own_and_a_sentence(void **state)
{
    (void)state;
    for (int i = 0; i < FL_EXCUSE_COUNT; i++) {
        assert_true(fl_excuse_name(i)[0] != '\0');
        assert_true(i == FL_EXCUSE_NONE || fl_excuse_sentence(i)[0] != '\0');
        for (int k = 0; k < i; k++)
            assert_string_not_equal(fl_excuse_name(i), fl_excuse_name(k));
    }
    assert_string_equal(fl_excuse_name(FL_EXCUSE_CUT_OFF), "cut_off");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_excuse_has_a_name_of_its_own_and_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
