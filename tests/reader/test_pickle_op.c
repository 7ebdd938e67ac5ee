#include "assemble.h"
#include "test.h"

#include <stdio.h>

/* The time of an event, the number in the file that may be anything signed. */
static int64_t time_of(const char *number)
{
    pickle_bytes pickle;
    char entry[300];
    snprintf(entry, sizeof entry,
             "{ ( 'action' 'segment_alloc' 'addr' #4096 'size' #512 'stream' #0 'time_us' %s u ",
             number);
    assemble_snapshot(&pickle, "", entry);
    fl_trace *trace = read_valid(&pickle);
    fl_event event;
    fl_trace_event(trace, 0, 0, &event);
    fl_trace_free(trace);
    return event.time_us;
}

/* The address of an event, a number from 0 on. */
static uint64_t address_of(const char *number)
{
    pickle_bytes pickle;
    char entry[300];
    snprintf(entry, sizeof entry, "{ ( 'action' 'alloc' 'addr' %s 'size' #0 'stream' #0 u ",
             number);
    assemble_snapshot(&pickle, "", entry);
    fl_trace *trace = read_valid(&pickle);
    fl_event event;
    fl_trace_event(trace, 0, 0, &event);
    fl_trace_free(trace);
    return event.address;
}

static void address_fails(const char *number, const char *message)
{
    pickle_bytes pickle;
    char entry[300];
    snprintf(entry, sizeof entry, "{ ( 'action' 'alloc' 'addr' %s 'size' #9 'stream' #0 u ",
             number);
    assemble_snapshot(&pickle, "", entry);
    read_fails(&pickle, FL_ERR_INPUT, message);
}

static void numbers_of_every_size_are_read(void **state)
{
    (void)state;
    assert_int_equal(time_of("K xFF"), 255);
    assert_int_equal(time_of("M xFF xFF"), 65535);
    assert_int_equal(time_of("J xFF xFF xFF xFF"), -1);
    assert_int_equal(time_of("J xFF xFF xFF x7F"), INT32_MAX);
    assert_int_equal(time_of("x8A x00"), 0);
    assert_int_equal(time_of("x8A x01 xFF"), -1);
    assert_int_equal(time_of("x8A x01 x7F"), 127);
    assert_int_equal(time_of("x8A x03 x00 x00 x80"), -8388608);
    assert_int_equal(time_of("x8A x05 x01 x00 x00 x00 x01"), INT64_C(4294967297));
    assert_true(time_of("x8A x08 x00 x00 x00 x00 x00 x00 x00 x80") == INT64_MIN);
    assert_true(time_of("x8A x08 xFF xFF xFF xFF xFF xFF xFF x7F") == INT64_MAX);
    assert_int_equal(time_of("x8B x02 x00 x00 x00 xFE xFF"), -2);
}

static void addresses_from_two_to_the_63_on_are_read(void **state)
{
    (void)state;
    assert_true(address_of("x8A x09 x00 x00 x00 x00 x00 x00 x00 x80 x00") == UINT64_C(1) << 63);
    assert_true(address_of("x8A x09 xFF xFF xFF xFF xFF xFF xFF xFF x00") == UINT64_MAX);
}

static void numbers_that_do_not_fit_are_refused_where_they_matter(void **state)
{
    (void)state;
    address_fails("x8A x09 x00 x00 x00 x00 x00 x00 x00 x00 x01",
                  "'addr' is a number of more than 64 bits, expected a number from 0 to 2^64 - 1");
    address_fails("x8A x0B x00 x00 x00 x00 x00 x00 x00 x00 x00 x00 x01",
                  "'addr' is a number of more than 64 bits, expected a number from 0 to 2^64 - 1");
    address_fails("#-1", "'addr' is a number, expected a number from 0 to 2^64 - 1");
    address_fails("G x00 x00 x00 x00 x00 x00 x00 x00",
                  "'addr' is a number with a fraction, expected a number from 0 to 2^64 - 1");
    address_fails("x8A x09 xFF xFF xFF xFF xFF xFF xFF xFF x00", "an address range beyond 2^64");
}

static void texts_of_every_kind_are_one_text(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(&pickle, "",
                      ENTRY_SEGMENT
                      "{ ( 'action' 'alloc' 'addr' #4096 'size' #1 'stream' #0 'frames' ] ( "
                      "{ ( 'name' x58 x01 x00 x00 x00 x61 'filename' 'a' 'line' #1 u "
                      "{ ( 'name' x8D x01 x00 x00 x00 x00 x00 x00 x00 x61 'filename' 'a' "
                      "'line' #1 u e u ");
    fl_trace *trace = read_valid(&pickle);
    fl_event event;
    fl_trace_event(trace, 0, 1, &event);
    assert_int_equal(fl_trace_stack_depth(trace, event.stack), 2);
    fl_frame first = fl_trace_stack_frame(trace, event.stack, 0);
    fl_frame second = fl_trace_stack_frame(trace, event.stack, 1);
    assert_ptr_equal(first.name, second.name);
    assert_ptr_equal(first.name, first.file);
    fl_trace_free(trace);
}

static void names_that_are_not_utf8_are_made_so(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(&pickle, "",
                      ENTRY_SEGMENT
                      "{ ( 'action' 'alloc' 'addr' #4096 'size' #1 'stream' #0 'frames' ] ( "
                      "{ ( 'name' x8C x03 xFF x00 x41 'filename' '' "
                      "'line' x8A x09 xFF xFF xFF xFF xFF xFF xFF xFF x00 u e u ");
    fl_trace *trace = read_valid(&pickle);
    fl_event event;
    fl_trace_event(trace, 0, 1, &event);
    fl_frame frame = fl_trace_stack_frame(trace, event.stack, 0);
    assert_string_equal(frame.name, "\xEF\xBF\xBD\xEF\xBF\xBD"
                                    "A");
    assert_string_equal(frame.file, "");
    assert_int_equal(frame.line, 0);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_size_are_read),
        cmocka_unit_test(addresses_from_two_to_the_63_on_are_read),
        cmocka_unit_test(numbers_that_do_not_fit_are_refused_where_they_matter),
        cmocka_unit_test(texts_of_every_kind_are_one_text),
        cmocka_unit_test(names_that_are_not_utf8_are_made_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
