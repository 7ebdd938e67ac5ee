/* What people see: alignment, colour, and text from outside that must not reach a terminal raw. */
#include "emit/emit.h"
#include "test.h"

#include "page.h"

static void control_characters_show_as_escapes(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "text", fl_host_default(), false);
    fl_emit_pair(emit, "name", "name", fl_emit_text("\033[2Jgone\x7f"));
    fl_emit_line(emit, FL_EMIT_PLAIN, "%s", "\a\xc2\x9b");
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_string_equal(page.text, "name  \\x1b[2Jgone\\x7f\n\\x07\\x9b\n");
}

static void columns_are_as_wide_as_their_characters(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "text", fl_host_default(), false);
    static const fl_emit_column columns[] = {
        {"name", "name", FL_EMIT_TEXT}, {"n", "n", FL_EMIT_COUNT}, {"why", "why", FL_EMIT_TEXT}};
    fl_emit_table_begin(emit, "t", NULL, columns, COUNT_OF(columns));
    fl_emit_row(emit, (fl_emit_value[]){fl_emit_text("\xc3\xa4\xc3\xb6"), fl_emit_count(12345),
                                        fl_emit_text("first")});
    fl_emit_row(emit, (fl_emit_value[]){fl_emit_text("abcde"), fl_emit_null(), fl_emit_text("")});
    fl_emit_table_end(emit);
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_string_equal(page.text, "name        n  why\n"
                                   "\xc3\xa4\xc3\xb6     12,345  first\n"
                                   "abcde       -  \n");
}

static void headings_and_lines_are_coloured_on_demand(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "text", fl_host_default(), true);
    fl_emit_line(emit, FL_EMIT_GOOD, "equal");
    fl_emit_line(emit, FL_EMIT_PLAIN, "so");
    fl_emit_object_begin(emit, "peak", "peak");
    fl_emit_object_end(emit);
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_string_equal(page.text, "\033[32mequal\033[0m\nso\n\n\033[1mpeak\033[0m\n");
}

static void a_list_of_objects_has_a_heading_and_spaces_them(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "text", fl_host_default(), false);
    fl_emit_list_begin(emit, "devices", "devices");
    for (uint64_t i = 0; i < 2; i++) {
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "device", "device", fl_emit_count(i));
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
    fl_emit_pair(emit, "a", "a", fl_emit_bool(false));
    fl_emit_list_begin(emit, "b", "b");
    fl_emit_list_end(emit);
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_string_equal(page.text, "devices\n  device  0\n\n  device  1\na  no\nb  none\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_show_as_escapes),
        cmocka_unit_test(columns_are_as_wide_as_their_characters),
        cmocka_unit_test(headings_and_lines_are_coloured_on_demand),
        cmocka_unit_test(a_list_of_objects_has_a_heading_and_spaces_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
