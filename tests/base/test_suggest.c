#include "test.h"
#include <fraglab/suggest.h>

#include <string.h>

static const char *const words[] = {"info", "replay", "verify", "list", "fail-on-oom", NULL};

static void typed_wrong_finds_the_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *nearest;
    } rows[] = {
        {"replya", "replay"}, /* neighbours exchanged */
        {"verfy", "verify"},  /* one left out */
        {"lisst", "list"},    /* one too many */
        {"Info", "info"},     /* case */
        {"rep", "replay"},    /* a beginning */
        {"failonoom", "fail-on-oom"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_string_equal(fl_nearest(words, rows[i].typed), rows[i].nearest);
}

static void what_is_far_from_everything_finds_nothing(void **state)
{
    (void)state;
    assert_null(fl_nearest(words, "xyzzy"));
    assert_null(fl_nearest(words, ""));
    assert_null(fl_nearest(words, "replay-replay-replay-replay-replay-replay-replay"));
}

static void the_hint_names_it_with_its_lead(void **state)
{
    (void)state;
    fl_error error = {0};
    fl_fail(&error, FL_ERR_USAGE, "unknown option");
    assert_int_equal(fl_suggest(words, "fail-on-om", "--", &error), FL_ERR_USAGE);
    assert_string_equal(error.hint, "did you mean '--fail-on-oom'?");
}

static void the_beginning_of_several_finds_them_all(void **state)
{
    (void)state;
    static const char *const cards[] = {"A10G", "A100-40GB", "A100-80GB", "B200", NULL};
    fl_error error = {0};
    fl_fail(&error, FL_ERR_USAGE, "unknown card");
    fl_suggest(cards, "a100", "--gpu ", &error);
    assert_string_equal(error.hint, "did you mean '--gpu A100-40GB' or '--gpu A100-80GB'?");
}

static void what_does_not_fit_into_a_hint_is_left_out(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "pinned_a_rather_long_name_for_a_setting_1", "pinned_a_rather_long_name_for_a_setting_2",
        "pinned_a_rather_long_name_for_a_setting_3", "pinned_a_rather_long_name_for_a_setting_4",
        "pinned_a_rather_long_name_for_a_setting_5", NULL};
    fl_error error = {0};
    fl_fail(&error, FL_ERR_USAGE, "unknown key");
    fl_suggest(keys, "pinned", "", &error);
    assert_non_null(strstr(error.hint, "setting_4'?"));
    assert_null(strstr(error.hint, "setting_5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(typed_wrong_finds_the_nearest),
        cmocka_unit_test(what_is_far_from_everything_finds_nothing),
        cmocka_unit_test(the_hint_names_it_with_its_lead),
        cmocka_unit_test(the_beginning_of_several_finds_them_all),
        cmocka_unit_test(what_does_not_fit_into_a_hint_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
