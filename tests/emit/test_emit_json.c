/* JSON read back by another library: every byte string survives, or is replaced as documented. */
#include "page.h"

#include <stdio.h>

#if HAVE_JANSSON

#include "test.h"

#include <jansson.h>
#include <string.h>

static json_t *read_back(const fl_page *page)
{
    json_error_t problem;
    json_t *root = json_loadb(page->text, page->length, JSON_ALLOW_NUL, &problem);
    if (root == NULL)
        fail_msg("line %d: %s", problem.line, problem.text);
    return root;
}

static void every_byte_is_read_back_or_replaced(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    char bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    fl_emit_pair(emit, "bytes", NULL, fl_emit_text_sized(bytes, sizeof bytes));
    assert_int_equal(page_close(&page, emit), FL_OK);

    json_t *root = read_back(&page);
    const json_t *text = json_object_get(root, "bytes");
    assert_int_equal(json_string_length(text), 128 + 128 * 3);
    assert_memory_equal(json_string_value(text), bytes, 128);
    for (size_t i = 0; i < 128; i++)
        assert_memory_equal(json_string_value(text) + 128 + 3 * i, "\xef\xbf\xbd", 3);
    json_decref(root);
}

static void control_characters_are_written_as_escapes(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    fl_emit_pair(emit, "a", NULL, fl_emit_text_sized("\0\b\n\x1f\"\\/", 7));
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_string_equal(page.text, "{\n  \"a\": \"\\u0000\\b\\n\\u001f\\\"\\\\/\"\n}\n");
}

static void the_largest_numbers_are_digits(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    fl_emit_pair(emit, "count", NULL, fl_emit_count(INT64_MAX));
    fl_emit_pair(emit, "address", NULL, fl_emit_address(UINT64_MAX));
    fl_emit_pair(emit, "real", NULL, fl_emit_real(1.0 / 3));
    fl_emit_pair(emit, "infinite", NULL, fl_emit_real(1e308 * 10));
    assert_int_equal(page_close(&page, emit), FL_OK);

    json_t *root = read_back(&page);
    assert_true(json_integer_value(json_object_get(root, "count")) == INT64_MAX);
    assert_string_equal(json_string_value(json_object_get(root, "address")), "0xffffffffffffffff");
    assert_true(json_real_value(json_object_get(root, "real")) == 1.0 / 3);
    assert_true(json_is_null(json_object_get(root, "infinite")));
    json_decref(root);
}

static void empty_containers_are_valid(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    assert_int_equal(page_close(&page, emit), FL_OK);
    json_decref(read_back(&page));

    static const fl_emit_column columns[] = {{"n", "n", FL_EMIT_COUNT}};
    emit = page_open(&page, "json", fl_host_default(), false);
    fl_emit_object_begin(emit, "o", NULL);
    fl_emit_object_end(emit);
    fl_emit_list_begin(emit, "l", NULL);
    fl_emit_object_begin(emit, NULL, NULL);
    fl_emit_object_end(emit);
    fl_emit_item(emit, fl_emit_null());
    fl_emit_list_end(emit);
    fl_emit_table_begin(emit, "t", NULL, columns, 1);
    fl_emit_table_end(emit);
    assert_int_equal(page_close(&page, emit), FL_OK);
    json_t *root = read_back(&page);
    assert_int_equal(json_object_size(root), 3);
    assert_int_equal(json_array_size(json_object_get(root, "l")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "t")), 0);
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_read_back_or_replaced),
        cmocka_unit_test(control_characters_are_written_as_escapes),
        cmocka_unit_test(the_largest_numbers_are_digits),
        cmocka_unit_test(empty_containers_are_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("needs jansson");
    return 77;
}

#endif
