#include <fraglab/base.h>

#include "test.h"

#include <string.h>

static void every_status_has_its_sentence(void **state)
{
    (void)state;
    for (int status = FL_OK; status <= FL_ERR_INTERNAL; status++) {
        assert_true(strlen(fl_status_text((fl_status)status)) > 0);
        for (int other = FL_OK; other < status; other++)
            assert_string_not_equal(fl_status_text((fl_status)status),
                                    fl_status_text((fl_status)other));
    }
    assert_string_equal(fl_status_text((fl_status)(FL_ERR_INTERNAL + 1)), "unknown status");
    assert_string_equal(fl_status_text((fl_status)0x7fffffff), "unknown status");
}

static void the_first_failure_stays(void **state)
{
    (void)state;
    fl_error error = {0};
    assert_int_equal(fl_fail(&error, FL_ERR_INPUT, "a.txt:%d: no size", 41), FL_ERR_INPUT);
    assert_int_equal(fl_fail(&error, FL_ERR_RESOURCE, "too late"), FL_ERR_RESOURCE);
    assert_int_equal(error.status, FL_ERR_INPUT);
    assert_string_equal(error.text, "a.txt:41: no size");
    assert_string_equal(error.hint, "");
}

static void nobody_needs_to_want_the_words(void **state)
{
    (void)state;
    assert_int_equal(fl_fail(NULL, FL_ERR_OUTPUT, "%s", "gone"), FL_ERR_OUTPUT);
    assert_int_equal(fl_hint(NULL, "try harder"), FL_OK);
    assert_int_equal(fl_prefix(NULL, "here"), FL_OK);
}

static void a_hint_belongs_to_a_failure_and_the_first_one_stays(void **state)
{
    (void)state;
    fl_error error = {0};
    assert_int_equal(fl_hint(&error, "nothing went wrong"), FL_OK);
    assert_string_equal(error.hint, "");
    fl_fail(&error, FL_ERR_USAGE, "no command 'replya'");
    assert_int_equal(fl_hint(&error, "did you mean '%s'", "replay"), FL_ERR_USAGE);
    assert_int_equal(fl_hint(&error, "or something else"), FL_ERR_USAGE);
    assert_string_equal(error.hint, "did you mean 'replay'");
}

static void context_goes_in_front(void **state)
{
    (void)state;
    fl_error error = {0};
    assert_int_equal(fl_prefix(&error, "no failure yet"), FL_OK);
    assert_string_equal(error.text, "");
    fl_fail(&error, FL_ERR_INPUT, "expected a list");
    assert_int_equal(fl_prefix(&error, "offset %d", 17), FL_ERR_INPUT);
    assert_int_equal(fl_prefix(&error, "a.pickle"), FL_ERR_INPUT);
    assert_string_equal(error.text, "a.pickle: offset 17: expected a list");
}

static void texts_of_any_length_fit(void **state)
{
    (void)state;
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    fl_error error = {0};
    fl_fail(&error, FL_ERR_INPUT, "%s", text);
    fl_hint(&error, "%s", text);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_int_equal(strlen(error.hint), sizeof error.hint - 1);
    fl_prefix(&error, "place");
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_int_equal(strncmp(error.text, "place: xxx", 10), 0);
    fl_prefix(&error, "%s", text);
    assert_int_equal(strlen(error.text), sizeof error.text - 1);
    assert_string_equal(error.text + sizeof error.text - 4, "x: ");
}

static void quoted_text_cannot_steer_the_terminal_or_start_a_line(void **state)
{
    (void)state;
    fl_error error = {0};
    fl_fail(&error, FL_ERR_INPUT, "unknown key '%s'", "a\033[2J\nfraglab: all is well\x7f");
    assert_string_equal(error.text, "unknown key 'a?[2J?fraglab: all is well?'");
    fl_hint(&error, "remove '%s'", "\r\t");
    assert_string_equal(error.hint, "remove '\?\?'");
    fl_prefix(&error, "%s", "name\nwith a break");
    assert_string_equal(error.text, "name?with a break: unknown key 'a?[2J?fraglab: all is well?'");
    fl_error utf8 = {0};
    fl_fail(&utf8, FL_ERR_INPUT, "mark 'Grüße'");
    assert_string_equal(utf8.text, "mark 'Grüße'");
}

static void the_version_is_the_one_of_the_build(void **state)
{
    (void)state;
    assert_string_equal(fl_version(), FL_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_sentence),
        cmocka_unit_test(the_first_failure_stays),
        cmocka_unit_test(nobody_needs_to_want_the_words),
        cmocka_unit_test(a_hint_belongs_to_a_failure_and_the_first_one_stays),
        cmocka_unit_test(context_goes_in_front),
        cmocka_unit_test(texts_of_any_length_fit),
        cmocka_unit_test(quoted_text_cannot_steer_the_terminal_or_start_a_line),
        cmocka_unit_test(the_version_is_the_one_of_the_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
