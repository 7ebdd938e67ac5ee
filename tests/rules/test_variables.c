#include <fraglab/settings.h>

#include "test.h"

#include <string.h>

static const fl_profile *release(const char *version)
{
    const fl_profile *profile;
    bool is_exact;
    assert_int_equal(fl_profile_find(version, &profile, &is_exact, NULL), FL_OK);
    return profile;
}

static void the_variable_of_cuda_wins_over_the_others(void **state)
{
    (void)state;
    static const char *const names[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF",
                                        "PYTORCH_ALLOC_CONF"};
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(fl_settings_variable(i), names[i]);
    assert_null(fl_settings_variable(COUNT_OF(names)));
}

static void the_variable_of_cuda_is_read_by_every_release(void **state)
{
    (void)state;
    for (size_t i = 0; fl_profile_at(i) != NULL; i++)
        assert_true(fl_settings_reads_variable(fl_profile_at(i), 0));
}

static void the_others_are_read_from_2_10_on(void **state)
{
    (void)state;
    for (size_t variable = 1; variable < 3; variable++) {
        assert_false(fl_settings_reads_variable(release("2.0.1"), variable));
        assert_false(fl_settings_reads_variable(release("2.9.1"), variable));
        assert_true(fl_settings_reads_variable(release("2.10.0"), variable));
        assert_true(fl_settings_reads_variable(release("2.15.0"), variable));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_variable_of_cuda_wins_over_the_others),
        cmocka_unit_test(the_variable_of_cuda_is_read_by_every_release),
        cmocka_unit_test(the_others_are_read_from_2_10_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
