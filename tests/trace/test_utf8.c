#include "trace/utf8.h"

#include "test.h"

#include <string.h>

static void cleans_to(const char *text, size_t length, const char *expected)
{
    char buffer[64];
    size_t clean = fl_utf8_clean(text, length, buffer);
    assert_string_equal(buffer, expected);
    assert_int_equal(clean, strlen(expected));
    assert_true(fl_utf8_is_clean(buffer, clean));
    assert_int_equal(fl_utf8_is_clean(text, length),
                     length == clean && memcmp(text, expected, clean) == 0);
}

static void text_that_is_utf8_stays(void **state)
{
    (void)state;
    cleans_to("", 0, "");
    cleans_to("plain", 5, "plain");
    cleans_to("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", 11,
              "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80");
    cleans_to("\xF4\x8F\xBF\xBF", 4, "\xF4\x8F\xBF\xBF");
}

static void bytes_that_are_not_become_replacement_characters(void **state)
{
    (void)state;
    cleans_to("a\0b", 3,
              "a\xEF\xBF\xBD"
              "b");
    cleans_to("\xFF", 1, "\xEF\xBF\xBD");
    cleans_to("\xC3", 1, "\xEF\xBF\xBD");
    cleans_to("\xC0\x80", 2, "\xEF\xBF\xBD\xEF\xBF\xBD");
    cleans_to("\xE0\x80\xAF", 3, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    cleans_to("\xED\xA0\x80", 3, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    cleans_to("\xF4\x90\x80\x80", 4, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    cleans_to("\xE2\x82x", 3, "\xEF\xBF\xBD\xEF\xBF\xBDx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_that_is_utf8_stays),
        cmocka_unit_test(bytes_that_are_not_become_replacement_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
