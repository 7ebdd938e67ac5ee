/* What CSV makes of text, rows and of what does not fit into one table. */
#include "emit/emit.h"
#include "test.h"

#include "page.h"

static void text_is_quoted_where_it_must_be(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "csv", fl_host_default(), false);
    fl_emit_pair(emit, "a", NULL, fl_emit_text("plain"));
    fl_emit_pair(emit, "b", NULL, fl_emit_text("one,two"));
    fl_emit_pair(emit, "c", NULL, fl_emit_text("say \"no\""));
    fl_emit_pair(emit, "d", NULL, fl_emit_text("two\nlines"));
    fl_emit_pair(emit, "e", NULL, fl_emit_text_sized("\0\xff", 2));
    fl_emit_pair(emit, "f", NULL, fl_emit_text(""));
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_string_equal(page.text, "a,b,c,d,e,f\n"
                                   "plain,\"one,two\",\"say \"\"no\"\"\",\"two\nlines\","
                                   "\"\xef\xbf\xbd\xef\xbf\xbd\",\n");
}

static void objects_of_a_list_are_rows(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "csv", fl_host_default(), false);
    fl_emit_list_begin(emit, "devices", NULL);
    for (uint64_t i = 0; i < 2; i++) {
        fl_emit_object_begin(emit, NULL, NULL);
        fl_emit_pair(emit, "device", NULL, fl_emit_count(i));
        fl_emit_object_begin(emit, "address", NULL);
        fl_emit_pair(emit, "checked", NULL, fl_emit_count(10 * i));
        fl_emit_object_end(emit);
        fl_emit_list_begin(emit, "profiles", NULL);
        fl_emit_item(emit, fl_emit_text("2.9.1"));
        fl_emit_item(emit, fl_emit_count(7));
        fl_emit_list_end(emit);
        fl_emit_object_end(emit);
    }
    fl_emit_list_end(emit);
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_string_equal(page.text, "device,address.checked,profiles\n"
                                   "0,0,2.9.1 7\n"
                                   "1,10,2.9.1 7\n");
}

static void rows_with_other_columns_are_an_error(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "csv", fl_host_default(), false);
    fl_emit_list_begin(emit, "devices", NULL);
    fl_emit_object_begin(emit, NULL, NULL);
    fl_emit_pair(emit, "a", NULL, fl_emit_count(1));
    fl_emit_object_end(emit);
    fl_emit_object_begin(emit, NULL, NULL);
    fl_emit_pair(emit, "b", NULL, fl_emit_count(1));
    fl_emit_object_end(emit);
    fl_emit_list_end(emit);
    assert_int_equal(page_close(&page, emit), FL_ERR_INTERNAL);
}

static void a_value_beside_the_rows_is_an_error(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "csv", fl_host_default(), false);
    fl_emit_pair(emit, "a", NULL, fl_emit_count(1));
    fl_emit_list_begin(emit, "devices", NULL);
    fl_emit_object_begin(emit, NULL, NULL);
    fl_emit_object_end(emit);
    fl_emit_list_end(emit);
    assert_int_equal(page_close(&page, emit), FL_ERR_INTERNAL);

    emit = page_open(&page, "csv", fl_host_default(), false);
    fl_emit_list_begin(emit, "devices", NULL);
    fl_emit_object_begin(emit, NULL, NULL);
    fl_emit_object_end(emit);
    fl_emit_list_end(emit);
    fl_emit_pair(emit, "a", NULL, fl_emit_count(1));
    assert_int_equal(page_close(&page, emit), FL_ERR_INTERNAL);
}

static void a_second_table_is_an_error(void **state)
{
    (void)state;
    static const fl_emit_column columns[] = {{"n", "n", FL_EMIT_COUNT}};
    fl_page page;
    fl_emit *emit = page_open(&page, "csv", fl_host_default(), false);
    for (int i = 0; i < 2; i++) {
        fl_emit_table_begin(emit, "numbers", NULL, columns, 1);
        fl_emit_row(emit, (fl_emit_value[]){fl_emit_count(1)});
        fl_emit_table_end(emit);
    }
    assert_int_equal(page_close(&page, emit), FL_ERR_INTERNAL);
}

static void nothing_at_all_is_an_empty_file(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "csv", fl_host_default(), false);
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_int_equal(page.length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_quoted_where_it_must_be),
        cmocka_unit_test(objects_of_a_list_are_rows),
        cmocka_unit_test(rows_with_other_columns_are_an_error),
        cmocka_unit_test(a_value_beside_the_rows_is_an_error),
        cmocka_unit_test(a_second_table_is_an_error),
        cmocka_unit_test(nothing_at_all_is_an_empty_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
