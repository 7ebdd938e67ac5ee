#include "rules/clean.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

static fl_clean *clean;

/* What remains of a text. */
static const char *cleaned(const char *raw)
{
    static char text[4096];
    size_t length = 0;
    fl_clean_start(clean, raw, strlen(raw));
    for (int c; (c = fl_clean_at(clean, length)) >= 0; length++)
        text[length] = (char)c;
    text[length] = '\0';
    return text;
}

static void blanks_become_one_and_line_ends_stay(void **state)
{
    (void)state;
    assert_string_equal(cleaned("a  b\t c \n  d\r\n\r\ne"), "a b c\nd\ne");
}

static void colours_and_links_of_terminals_go(void **state)
{
    (void)state;
    assert_string_equal(cleaned("\x1B[1;31mred\x1B[0m ^[[32mgreen\\u001b[0m\\x1b[4mline\\033[m"),
                        "red greenline");
    assert_string_equal(cleaned("\x1B]8;;http://x\atext"), "text");
}

static void escapes_of_json_become_what_they_stand_for(void **state)
{
    (void)state;
    assert_string_equal(cleaned("one\\ntwo\\\\nthree\\tfour \\\"five\\\" 1 \\u003e 0"),
                        "one\ntwo\nthree four \"five\" 1 > 0");
    assert_string_equal(cleaned("C:\\path"), "C:\\path");
}

static void html_becomes_text(void **state)
{
    (void)state;
    assert_string_equal(cleaned("<span class=\"x\">a&nbsp;&gt;&gt;&#39;b&amp;</span><br>c"),
                        "a >>'b&\nc");
    assert_string_equal(cleaned("1 < 2 and 3 <4"), "1 < 2 and 3 <4");
}

static void frames_of_tables_are_blanks(void **state)
{
    (void)state;
    assert_string_equal(cleaned("\xE2\x94\x82 in \xE2\x94\x82\n\xE2\x94\x82 two\xC2\xA0words"),
                        " in\ntwo words");
}

static void every_byte_knows_where_it_comes_from(void **state)
{
    (void)state;
    const char *raw = "ab \x1B[31m\n c&gt;d";
    assert_string_equal(cleaned(raw), "ab\nc>d");
    static const size_t origins[] = {0, 1, 2, 10, 11, 15};
    for (size_t i = 0; i < COUNT_OF(origins); i++)
        assert_int_equal(fl_clean_origin(clean, i), origins[i]);
    assert_int_equal(fl_clean_origin(clean, 99), strlen(raw));
}

static void what_is_too_far_away_does_not_exist(void **state)
{
    (void)state;
    static char raw[FL_CLEAN_MOST + 10];
    memset(raw, 'x', sizeof raw);
    fl_clean_start(clean, raw, sizeof raw);
    assert_int_equal(fl_clean_at(clean, FL_CLEAN_MOST - 1), 'x');
    assert_int_equal(fl_clean_at(clean, FL_CLEAN_MOST), -1);
}

static void an_escape_that_is_cut_off_ends_the_text(void **state)
{
    (void)state;
    static const char *const cuts[] = {"a\x1B", "a\x1B[", "a\x1B[31",  "a\x1B]8;", "a\\",
                                       "a<b",   "a\xE2",  "a\xE2\x94", "a&nb"};
    for (size_t i = 0; i < COUNT_OF(cuts); i++)
        assert_int_equal(cleaned(cuts[i])[0], 'a');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_become_one_and_line_ends_stay),
        cmocka_unit_test(colours_and_links_of_terminals_go),
        cmocka_unit_test(escapes_of_json_become_what_they_stand_for),
        cmocka_unit_test(html_becomes_text),
        cmocka_unit_test(frames_of_tables_are_blanks),
        cmocka_unit_test(every_byte_knows_where_it_comes_from),
        cmocka_unit_test(what_is_too_far_away_does_not_exist),
        cmocka_unit_test(an_escape_that_is_cut_off_ends_the_text),
    };
    clean = malloc(sizeof *clean);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(clean);
    return failed;
}
