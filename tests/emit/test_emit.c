/* One sequence of calls in every format, and what becomes of wrong calls and failing sinks. */
#include "emit/emit.h"
#include "failing_host.h"
#include "test.h"

#include "page.h"

static const fl_emit_column columns[] = {
    {"address", "address", FL_EMIT_ADDRESS},
    {"size_bytes", "size", FL_EMIT_BYTES},
    {"name", "name", FL_EMIT_TEXT},
};

static void write_record(fl_emit *emit)
{
    fl_emit_line(emit, FL_EMIT_STRONG, "a.pickle: %d events", 1234);
    fl_emit_pair(emit, "events", "events", fl_emit_count(1234));
    fl_emit_pair(emit, "fraction", "fraction", fl_emit_real(0.25));
    fl_emit_object_begin(emit, "peak", "peak");
    fl_emit_pair(emit, "reserved_bytes", "reserved", fl_emit_bytes(20 << 20));
    fl_emit_pair(emit, "is_complete", "complete", fl_emit_bool(true));
    fl_emit_object_end(emit);
    fl_emit_list_begin(emit, "profiles", "releases");
    fl_emit_item(emit, fl_emit_text("2.9.1"));
    fl_emit_item(emit, fl_emit_text("2.9.0"));
    fl_emit_list_end(emit);
    fl_emit_pair(emit, "oom", "out of memory", fl_emit_null());
    fl_emit_for(emit, FL_EMIT_FOR_PEOPLE | FL_EMIT_FOR_PROGRAMS);
    fl_emit_table_begin(emit, "blocks", "blocks", columns, COUNT_OF(columns));
    fl_emit_row(emit, (fl_emit_value[]){fl_emit_address(0x7f0000000000), fl_emit_bytes(512),
                                        fl_emit_text("x")});
    fl_emit_row(emit,
                (fl_emit_value[]){fl_emit_address(0x200), fl_emit_bytes(2048), fl_emit_null()});
    fl_emit_table_end(emit);
}

static void one_sequence_reads_well_as_text(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "text", fl_host_default(), false);
    write_record(emit);
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_string_equal(page.text, "a.pickle: 1234 events\n"
                                   "events    1,234\n"
                                   "fraction  0.25\n"
                                   "\n"
                                   "peak\n"
                                   "  reserved  20.00 MiB\n"
                                   "  complete  yes\n"
                                   "releases       2.9.1, 2.9.0\n"
                                   "out of memory  -\n"
                                   "\n"
                                   "blocks\n"
                                   "  address             size  name\n"
                                   "  0x7f0000000000     512 B  x\n"
                                   "  0x200           2.00 KiB  -\n");
}

static void the_same_sequence_is_json(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    write_record(emit);
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_string_equal(
        page.text, "{\n"
                   "  \"events\": 1234,\n"
                   "  \"fraction\": 0.25,\n"
                   "  \"peak\": {\n"
                   "    \"reserved_bytes\": 20971520,\n"
                   "    \"is_complete\": true\n"
                   "  },\n"
                   "  \"profiles\": [\n"
                   "    \"2.9.1\",\n"
                   "    \"2.9.0\"\n"
                   "  ],\n"
                   "  \"oom\": null,\n"
                   "  \"blocks\": [\n"
                   "    {\"address\": \"0x7f0000000000\", \"size_bytes\": 512, \"name\": \"x\"},\n"
                   "    {\"address\": \"0x200\", \"size_bytes\": 2048, \"name\": null}\n"
                   "  ]\n"
                   "}\n");
}

static void the_same_sequence_is_one_csv_table(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "csv", fl_host_default(), false);
    write_record(emit);
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_string_equal(page.text,
                        "events,fraction,peak.reserved_bytes,peak.is_complete,profiles,oom\n"
                        "1234,0.25,20971520,true,2.9.1 2.9.0,\n");
}

static void every_listed_format_is_found_by_its_name(void **state)
{
    (void)state;
    size_t count = 0;
    for (; fl_emit_at(count) != NULL; count++)
        assert_ptr_equal(fl_emit_find(fl_emit_name(fl_emit_at(count))), fl_emit_at(count));
    assert_int_equal(count, 3);
    assert_null(fl_emit_find("yaml"));
}

static void an_open_object_at_the_end_is_an_error(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    fl_emit_object_begin(emit, "peak", NULL);
    assert_int_equal(page_close(&page, emit), FL_ERR_INTERNAL);
}

static void an_end_without_its_beginning_is_an_error(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    fl_emit_object_begin(emit, "peak", NULL);
    fl_emit_list_end(emit);
    assert_int_equal(page_close(&page, emit), FL_ERR_INTERNAL);
}

static void a_value_without_a_name_does_not_fit_an_object(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    fl_emit_item(emit, fl_emit_count(1));
    assert_int_equal(page_close(&page, emit), FL_ERR_INTERNAL);
}

static void a_cell_of_another_type_is_an_error(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    fl_emit_table_begin(emit, "blocks", NULL, columns, COUNT_OF(columns));
    fl_emit_row(emit, (fl_emit_value[]){fl_emit_count(1), fl_emit_bytes(512), fl_emit_text("x")});
    fl_emit_table_end(emit);
    assert_int_equal(page_close(&page, emit), FL_ERR_INTERNAL);
}

static void nesting_too_deep_is_an_error(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    for (int i = 0; i < 40; i++)
        fl_emit_object_begin(emit, "deeper", NULL);
    assert_int_equal(page_close(&page, emit), FL_ERR_INTERNAL);
}

static void a_full_sink_is_told_at_the_end(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "json", fl_host_default(), false);
    page.room = 10;
    write_record(emit);
    assert_int_equal(page_close(&page, emit), FL_ERR_OUTPUT);
}

static void more_than_a_buffer_comes_out_whole(void **state)
{
    (void)state;
    fl_page page;
    fl_emit *emit = page_open(&page, "csv", fl_host_default(), false);
    static const fl_emit_column one[] = {{"n", "n", FL_EMIT_COUNT}};
    fl_emit_table_begin(emit, "numbers", NULL, one, 1);
    for (uint64_t i = 0; i < 3000; i++)
        fl_emit_row(emit, (fl_emit_value[]){fl_emit_count(1000 + i % 9)});
    fl_emit_table_end(emit);
    assert_int_equal(page_close(&page, emit), FL_OK);
    assert_int_equal(page.length, 2 + 3000 * 5);
}

static fl_status write_with(const fl_host *host, void *user, fl_error *error)
{
    fl_page page;
    fl_emit *emit = page_open(&page, user, host, true);
    if (emit == NULL)
        return fl_fail(error, page.error.status, "%s", page.error.text);
    write_record(emit);
    fl_status status = page_close(&page, emit);
    return status == FL_OK ? FL_OK : fl_fail(error, status, "%s", page.error.text);
}

static void a_host_out_of_memory_is_told_and_leaks_nothing(void **state)
{
    (void)state;
    char text[] = "text", json[] = "json", csv[] = "csv";
    assert_true(failing_host_sweep(write_with, text) > 2);
    assert_true(failing_host_sweep(write_with, json) >= 2);
    assert_true(failing_host_sweep(write_with, csv) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sequence_reads_well_as_text),
        cmocka_unit_test(the_same_sequence_is_json),
        cmocka_unit_test(the_same_sequence_is_one_csv_table),
        cmocka_unit_test(every_listed_format_is_found_by_its_name),
        cmocka_unit_test(an_open_object_at_the_end_is_an_error),
        cmocka_unit_test(an_end_without_its_beginning_is_an_error),
        cmocka_unit_test(a_value_without_a_name_does_not_fit_an_object),
        cmocka_unit_test(a_cell_of_another_type_is_an_error),
        cmocka_unit_test(nesting_too_deep_is_an_error),
        cmocka_unit_test(a_full_sink_is_told_at_the_end),
        cmocka_unit_test(more_than_a_buffer_comes_out_whole),
        cmocka_unit_test(a_host_out_of_memory_is_told_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
