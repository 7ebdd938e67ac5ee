#include "assemble.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START "(dp0\nVsegments\np1\n(lp2\nsVdevice_traces\np3\n(lp4\n(lp5\n"
#define ENTRY "(dp6\nVaction\nVsegment_alloc\nsVaddr\nL4096L\nsVsize\nI512\nsVstream\nI0\ns"
#define END   "aasVallocator_settings\n(dVPYTORCH_CUDA_ALLOC_CONF\nV\nss."

static fl_status read_text(const char *text, fl_trace **ret_trace, fl_error *error)
{
    *ret_trace = NULL;
    return fl_read_memory(text, strlen(text), "p", NULL, ret_trace, error);
}

static void fails(const char *text, const char *end)
{
    fl_trace *trace;
    fl_error error = {0};
    assert_int_equal(read_text(text, &trace, &error), FL_ERR_INPUT);
    assert_string_equal(error.text + strlen(error.text) - strlen(end), end);
}

static void protocol_0_is_read(void **state)
{
    (void)state;
    fl_trace *trace;
    fl_error error = {0};
    if (read_text(START ENTRY "Vtime_us\nI-5\nsVpool_id\n(I1\nL77L\ntsVx\nF0.5\nsVy\nI01\ns" END,
                  &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_event event;
    fl_trace_event(trace, 0, 0, &event);
    assert_int_equal(event.kind, FL_EVENT_SEGMENT_ALLOC);
    assert_int_equal(event.address, 4096);
    assert_int_equal(event.size, 512);
    assert_int_equal(event.time_us, -5);
    assert_int_equal(fl_trace_names(trace)->pools[event.pool].second, 77);
    fl_trace_free(trace);
}

static void escapes_are_characters(void **state)
{
    (void)state;
    fl_trace *trace;
    fl_error error = {0};
    if (read_text(START ENTRY "Vframes\n(l(dVname\nV\\u20ac\\u005c\\U0001F600\xE9\\x\\u12\\uzzzz\n"
                              "sVfilename\nVf\nsVline\nI1\nsas" END,
                  &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_event event;
    fl_trace_event(trace, 0, 0, &event);
    assert_string_equal(fl_trace_stack_frame(trace, event.stack, 0).name,
                        "\xE2\x82\xAC\\\xF0\x9F\x98\x80\xC3\xA9\\x\\u12\\uzzzz");
    fl_trace_free(trace);
}

static void texts_may_be_empty(void **state)
{
    (void)state;
    fl_trace *trace;
    fl_error error = {0};
    if (read_text(START ENTRY "Vframes\n(l(dVname\nV\nsVfilename\nV\nsVline\nI1\nsas" END, &trace,
                  &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_string_equal(fl_trace_stack_frame(trace, 0, 0).file, "");
    fl_trace_free(trace);
}

static void arguments_that_are_no_numbers_are_refused(void **state)
{
    (void)state;
    fails("(dp0\nVsegments\nI12x\n", "p:15: expected a number, got '12x'");
    fails("(dp0\nVsegments\nL-L\n", "p:15: expected a number, got '-'");
    fails("(dp0\nVsegments\nI\n", "p:15: expected a number, got ''");
    fails("(dp0\nVsegments\npx\n", "p:15: expected a memo index, got 'x'");
    fails("(dp0\nVsegments\np-1\n", "p:15: expected a memo index, got '-1'");
    fails("(dp0\nVsegments\ng9\n", "p:15: memo entry 9 was never set");
    fails("(dp0\nVsegments\np99999999999999999999\n",
          "p:15: expected a memo index, got '99999999999999999999'");
    fails(START ENTRY "Vtime_us\nI99999999999999999999\ns" END,
          "'time_us' is a number of more than 64 bits, expected a number below 2^63");
    fails(START ENTRY "Vtime_us\nI-9223372036854775809\ns" END,
          "'time_us' is a number of more than 64 bits, expected a number below 2^63");
}

static void an_argument_without_its_newline_is_cut_off(void **state)
{
    (void)state;
    fails("(dp0\nVsegm", "p:10: the file ends here, inside a snapshot");
    size_t size = (size_t)1 << 20;
    char *text = malloc(size + 1);
    memset(text, 'x', size);
    memcpy(text, "(dp0\nV", 6);
    text[size] = '\0';
    fails(text, "p:5: an argument of more than 262144 bytes");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(protocol_0_is_read),
        cmocka_unit_test(escapes_are_characters),
        cmocka_unit_test(texts_may_be_empty),
        cmocka_unit_test(arguments_that_are_no_numbers_are_refused),
        cmocka_unit_test(an_argument_without_its_newline_is_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
