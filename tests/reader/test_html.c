#include "reader/input.h"

#include "assemble.h"
#include "failing_host.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define PAGE "tests/data/snapshots/rs_basic.trace_plot.html"

static fl_status read_page(const char *page, fl_trace **ret_trace, fl_error *error)
{
    *ret_trace = NULL;
    *error = (fl_error){0};
    return fl_read_memory(page, strlen(page), "p", NULL, ret_trace, error);
}

static void page_holds(const char *page, uint64_t count)
{
    fl_trace *trace;
    fl_error error;
    if (read_page(page, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fl_trace_event_count(trace, 0), count);
    fl_trace_free(trace);
}

static void page_fails(const char *page, const char *message)
{
    fl_trace *trace;
    fl_error error;
    assert_int_equal(read_page(page, &trace, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, message);
}

static void the_file_in_a_page_is_read(void **state)
{
    (void)state;
    fl_trace *trace = NULL, *plain = NULL;
    fl_error error = {0};
    if (fl_read_file(PAGE, NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fl_read_file("tests/data/snapshots/rs_basic.pickle", NULL, &plain, NULL),
                     FL_OK);
    assert_int_equal(fl_trace_format(trace), FL_FORMAT_SNAPSHOT);
    assert_int_equal(fl_trace_event_count(trace, 0), fl_trace_event_count(plain, 0));
    assert_int_equal(fl_trace_warning_count(trace), 0);
    fl_trace_free(plain);
    fl_trace_free(trace);
}

static void base64_has_any_length(void **state)
{
    (void)state;
    page_holds("<p>{\"base64\":\"cAo=\"}</script>", 1);
    page_holds("\n <p>{\"base64\" : \t\"YSAxIDkK\"}</script>", 1);
    page_holds("<p>{\"base64\":\"cAplCg==\"}</script>", 2);
    page_holds("<p>{\"base64\":\"cAplCg\"}</script>", 2);
    page_holds("<>\"base64 \"base64\"base64\"=\"base64\": 1 \"base64\":\"cAo=\"}</scr</script>", 1);
}

static void only_the_first_file_of_a_page_is_read(void **state)
{
    (void)state;
    page_holds("<p>[{\"base64\":\"cAo=\"},{\"base64\":\"cAplCg==\"}]</script>", 1);
}

static void pages_without_a_file_are_refused(void **state)
{
    (void)state;
    page_fails("<", "p:1: no snapshot in the html data");
    page_fails("<html>\"base64\"</html>", "p:21: no snapshot in the html data");
    page_fails("<html>\"base64\": ", "p:16: no snapshot in the html data");
    page_fails("<html>\"base64\": \"\"</script>", "p:0: the file is empty");
}

static void what_is_not_base64_is_refused_with_its_place(void **state)
{
    (void)state;
    page_fails("<>\"base64\":\"cA*o\"</script>",
               "p:14: the html data is damaged (1 bytes were unpacked)");
    page_fails("<>\"base64\":\"cA=o\"</script>",
               "p:15: the html data is damaged (1 bytes were unpacked)");
    page_fails("<>\"base64\":\"cAoB\\n\"</script>",
               "p:16: the html data is damaged (3 bytes were unpacked)");
}

static void a_cut_is_refused_at_every_byte(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = file_bytes(PAGE, &size);
    size_t whole = 0;
    while (memcmp(bytes + whole, "</script>", 9) != 0)
        whole++;
    for (size_t cut = 2; cut < whole + 9; cut++) {
        fl_trace *trace = NULL;
        fl_error error = {0};
        if (fl_read_memory(bytes, cut, "p", NULL, &trace, &error) != FL_ERR_INPUT)
            fail_msg("cut at %zu is taken", cut);
        assert_true(strncmp(error.text, "p:", 2) == 0);
    }
    uint64_t most = 0;
    for (size_t cut = 2; cut <= size; cut++) {
        fl_trace *trace = NULL;
        fl_read_options options = {.accept_cut = true};
        if (fl_read_memory(bytes, cut, "p", &options, &trace, NULL) == FL_OK) {
            assert_true(fl_trace_event_count(trace, 0) >= most);
            most = fl_trace_event_count(trace, 0);
            assert_true(cut >= whole + 9 || fl_trace_warning_count(trace) > 0);
        }
        fl_trace_free(trace);
    }
    assert_int_equal(most, 19);
    free(bytes);
}

static void any_byte_may_be_wrong(void **state)
{
    (void)state;
    size_t size;
    uint8_t *bytes = file_bytes(PAGE, &size);
    for (size_t at = 0; at < size; at++) {
        static const uint8_t changes[] = {0x01, 0x55, 0x80};
        for (size_t i = 0; i < COUNT_OF(changes); i++) {
            fl_trace *trace = NULL;
            fl_error error = {0};
            bytes[at] ^= changes[i];
            fl_status status = fl_read_memory(bytes, size, "p", NULL, &trace, &error);
            bool is_told = status == FL_ERR_INPUT || status == FL_ERR_UNAVAILABLE;
            assert_true(status == FL_OK || (is_told && strncmp(error.text, "p:", 2) == 0));
            fl_trace_free(trace);
            bytes[at] ^= changes[i];
        }
    }
    free(bytes);
}

static void failing_requests_do_not_leak(void **state)
{
    (void)state;
    char path[] = PAGE;
    assert_true(failing_host_sweep(read_file_with, path) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_file_in_a_page_is_read),
        cmocka_unit_test(base64_has_any_length),
        cmocka_unit_test(only_the_first_file_of_a_page_is_read),
        cmocka_unit_test(pages_without_a_file_are_refused),
        cmocka_unit_test(what_is_not_base64_is_refused_with_its_place),
        cmocka_unit_test(a_cut_is_refused_at_every_byte),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(failing_requests_do_not_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
