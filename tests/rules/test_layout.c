#include "rules/layout.h"

#include "test.h"

#include <string.h>

static void every_template_names_values_that_there_are(void **state)
{
    (void)state;
    for (size_t i = 0; i < fl_layout_count; i++) {
        const char *text = fl_layouts[i].text, *after;
        for (const char *at = text; (at = strchr(at, '{')) != NULL; at = after)
            assert_true(fl_layout_value(at, &after) < FL_VALUE_COUNT);
    }
}

static void options_close_and_do_not_nest(void **state)
{
    (void)state;
    for (size_t i = 0; i < fl_layout_count; i++) {
        int depth = 0;
        for (const char *at = fl_layouts[i].text; *at != '\0'; at++) {
            depth += (*at == '[') - (*at == ']');
            assert_in_range(depth, 0, 1);
        }
        assert_int_equal(depth, 0);
    }
}

static void every_template_says_what_must_be_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < fl_layout_count; i++)
        assert_non_null(strchr(fl_layouts[i].text, '^'));
}

static void every_release_has_a_wording(void **state)
{
    (void)state;
    for (unsigned release = 200; release <= 215; release++) {
        size_t count = 0;
        for (size_t i = 0; i < fl_layout_count; i++)
            count += fl_layouts[i].first <= release && release <= fl_layouts[i].last &&
                     fl_layouts[i].when == FL_LAYOUT_ALWAYS;
        assert_int_equal(count, 1);
    }
}

static void a_value_may_lack_its_unit(void **state)
{
    (void)state;
    const char *after, *text = "{#total} rest";
    assert_int_equal(fl_layout_value(text, &after), FL_VALUE_TOTAL);
    assert_string_equal(after, " rest");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_template_names_values_that_there_are),
        cmocka_unit_test(options_close_and_do_not_nest),
        cmocka_unit_test(every_template_says_what_must_be_there),
        cmocka_unit_test(every_release_has_a_wording),
        cmocka_unit_test(a_value_may_lack_its_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
