#include "assemble.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void what_would_build_or_call_is_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *notation, *name;
    } refused[] = {
        {"c 'os' 'system'", "GLOBAL"},
        {"'os' 'system' x93", "STACK_GLOBAL"},
        {"R", "REDUCE"},
        {"i", "INST"},
        {"o", "OBJ"},
        {"x81", "NEWOBJ"},
        {"x92", "NEWOBJ_EX"},
        {"b", "BUILD"},
        {"x82 #1", "EXT1"},
        {"x83 #1", "EXT2"},
        {"x84 #1", "EXT4"},
        {"P", "PERSID"},
        {"Q", "BINPERSID"},
        {"x97", "NEXT_BUFFER"},
        {"x98", "READONLY_BUFFER"},
        {"0", "POP"},
        {"x31", "POP_MARK"},
        {"x32", "DUP"},
        {"S", "STRING"},
        {"x54", "BINSTRING"},
        {"U", "SHORT_BINSTRING"},
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        pickle_bytes pickle;
        assemble_begin(&pickle);
        assemble(&pickle, "{ ( 'segments' ");
        assemble(&pickle, refused[i].notation);
        char message[100];
        snprintf(message, sizeof message,
                 "the pickle instruction %s is refused: a snapshot is plain data", refused[i].name);
        read_fails(&pickle, FL_ERR_INPUT, message);
    }
}

static void bytes_that_are_no_instruction_are_refused(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_begin(&pickle);
    assemble(&pickle, "{ xFF");
    read_fails(&pickle, FL_ERR_INPUT, "p:3: 0xff is no pickle instruction");
}

static void protocols_of_the_future_are_refused(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_begin(&pickle);
    pickle.bytes[1] = 6;
    read_fails(&pickle, FL_ERR_UNAVAILABLE,
               "p:0: pickle protocol 6, of which this build knows none above 5");
}

static void a_pickle_that_stops_early_is_refused(void **state)
{
    (void)state;
    static const char *const stops[] = {".", "#1 .", "{ #1 .", "{ ( .", "{ ( 'segments' ] ."};
    for (size_t i = 0; i < COUNT_OF(stops); i++) {
        pickle_bytes pickle;
        assemble_begin(&pickle);
        assemble(&pickle, stops[i]);
        read_fails(&pickle, FL_ERR_INPUT, "expected a snapshot and nothing else on the stack");
    }
}

static void an_empty_stack_is_no_place_to_take_from(void **state)
{
    (void)state;
    static const struct {
        const char *notation, *message;
    } cases[] = {
        {"s", "expected 3 values on the stack"},
        {"{ ( #1 #2 s", "expected 3 values on the stack"},
        {"a", "expected 2 values on the stack"},
        {"{ ( 'a' ] ( #1 a", "expected 2 values on the stack"},
        {"2", "expected 2 values on the stack"},
        {"( 1", "expected 1 values on the stack"},
        {"u", "expected a mark on the stack"},
        {"e", "expected a mark on the stack"},
        {"t", "expected a mark on the stack"},
        {"d", "expected a mark on the stack"},
        {"( e", "expected a container below the mark"},
        {"{ ( ( u", "expected a container below the mark"},
        {"( #1 l", "expected no items between a mark and LIST"},
        {"m", "expected a value to memoize on the stack"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        pickle_bytes pickle;
        assemble_begin(&pickle);
        assemble(&pickle, cases[i].notation);
        read_fails(&pickle, FL_ERR_INPUT, cases[i].message);
    }
}

/* A pickle of `count` times the same byte. */
static void repeated_fails(uint8_t byte, size_t count, const char *message)
{
    uint8_t *bytes = malloc(count + 2);
    memcpy(bytes, "\x80\x04", 2);
    memset(bytes + 2, byte, count);
    fl_trace *trace = NULL;
    fl_error error = {0};
    assert_int_equal(fl_read_memory(bytes, count + 2, "p", NULL, &trace, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, message);
    free(bytes);
}

static void nesting_has_a_bound(void **state)
{
    (void)state;
    repeated_fails('(', 100000, "p:1002: nested deeper than 1000 levels");
}

static void a_text_longer_than_the_buffer_is_passed_over(void **state)
{
    (void)state;
    pickle_bytes start, end;
    assemble_snapshot(&start, "", ENTRY_SEGMENT);
    const size_t length = (size_t)1 << 20, size = start.size + length + 64;
    uint8_t *bytes = calloc(size, 1);
    size_t at = start.size - 2;
    memcpy(bytes, start.bytes, at);
    end.size = 0;
    assemble(&end, "'long' x58 x00 x00 x10 x00");
    memcpy(bytes + at, end.bytes, end.size);
    at += end.size + length;
    memcpy(bytes + at, "u.", 2);
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(bytes, at + 2, "p", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fl_trace_event_count(trace, 0), 1);
    fl_trace_free(trace);
    free(bytes);
}

static void bytes_behind_the_pickle_are_told(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(&pickle, "", "");
    assemble(&pickle, "x00 x01 x02");
    fl_trace *trace = read_valid(&pickle);
    assert_int_equal(fl_trace_warning_count(trace), 1);
    assert_string_equal(fl_trace_warning(trace, 0), "p: 3 bytes behind the snapshot are left out");
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_would_build_or_call_is_refused_by_name),
        cmocka_unit_test(bytes_that_are_no_instruction_are_refused),
        cmocka_unit_test(protocols_of_the_future_are_refused),
        cmocka_unit_test(a_pickle_that_stops_early_is_refused),
        cmocka_unit_test(an_empty_stack_is_no_place_to_take_from),
        cmocka_unit_test(nesting_has_a_bound),
        cmocka_unit_test(a_text_longer_than_the_buffer_is_passed_over),
        cmocka_unit_test(bytes_behind_the_pickle_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
