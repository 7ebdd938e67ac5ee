#include "assemble.h"
#include "test.h"

#include <string.h>

/* The first entry brings texts and keys into the memo; those behind fetch them. */
#define FIRST                                                                                      \
    "{ m ( 'action' q1 'alloc' q2 'addr' q3 #4096 'size' q4 #100 'stream' q5 #0 "                  \
    "'compile_context' q6 'N/A' q7 u "
#define ALIKE "{ m ( h1 h2 h3 #8192 h4 #101 h5 #0 h6 'N/A' m u "

static fl_trace *trace_of(const char *entries)
{
    pickle_bytes pickle;
    assemble_snapshot(&pickle, "", entries);
    return read_valid(&pickle);
}

static void fails(const char *entries, const char *end)
{
    pickle_bytes pickle;
    assemble_snapshot(&pickle, "", entries);
    read_fails(&pickle, FL_ERR_INPUT, end);
}

static void event_is(const fl_trace *trace, uint64_t index, uint8_t kind, uint64_t address,
                     uint64_t size)
{
    fl_event event;
    assert_true(index < fl_trace_event_count(trace, 0));
    fl_trace_event(trace, 0, index, &event);
    assert_int_equal(event.kind, kind);
    assert_int_equal(event.address, address);
    assert_int_equal(event.size, size);
}

static void records_written_alike_are_read_one_behind_the_other(void **state)
{
    (void)state;
    fl_trace *trace = trace_of(FIRST ALIKE ALIKE "{ ( h1 h2 h3 #4095 h4 #7 h5 #0 u ");
    assert_int_equal(fl_trace_event_count(trace, 0), 4);
    event_is(trace, 0, FL_OP_ALLOC, 4096, 100);
    event_is(trace, 1, FL_OP_ALLOC, 8192, 101);
    event_is(trace, 2, FL_OP_ALLOC, 8192, 101);
    event_is(trace, 3, FL_OP_ALLOC, 4095, 7);
    fl_trace_free(trace);
}

static void keys_may_come_in_another_order_or_be_missing(void **state)
{
    (void)state;
    fl_trace *trace = trace_of(FIRST ALIKE "{ m ( h4 #5 h1 h2 h5 #0 h3 #70000 u "
                                           "{ m ( h1 h2 h5 #0 h3 #512 h4 #6 u " ALIKE);
    assert_int_equal(fl_trace_event_count(trace, 0), 5);
    event_is(trace, 2, FL_OP_ALLOC, 70000, 5);
    event_is(trace, 3, FL_OP_ALLOC, 512, 6);
    event_is(trace, 4, FL_OP_ALLOC, 8192, 101);
    fl_trace_free(trace);
    fails(FIRST ALIKE "{ m ( h1 h2 h4 #5 h5 #0 u ", "expected 'addr' among the keys");
}

static void numbers_of_every_size_are_taken(void **state)
{
    (void)state;
    fl_trace *trace = trace_of(FIRST ALIKE "{ m ( h1 h2 h3 #140737488355328 h4 x4D x00 x02 "
                                           "h5 #-3 u "
                                           "{ m ( h1 h2 h3 x8A x03 xFF xFF x7F h4 #70000 "
                                           "h5 #0 u ");
    assert_int_equal(fl_trace_event_count(trace, 0), 4);
    event_is(trace, 2, FL_OP_ALLOC, (uint64_t)1 << 47, 512);
    event_is(trace, 3, FL_OP_ALLOC, 0x7FFFFF, 70000);
    fl_trace_free(trace);
}

static void a_key_twice_is_refused(void **state)
{
    (void)state;
    fails(FIRST ALIKE "{ m ( h1 h2 h3 #8192 h3 #4096 h4 #101 h5 #0 u ",
          "a trace entry has 'addr' twice");
}

/* Parts of a tuple look like a value and the next key until the tuple is made. */
static void texts_of_a_tuple_are_no_pairs(void **state)
{
    (void)state;
    fl_trace *trace = trace_of(FIRST ALIKE "{ m ( 'user_metadata' q8 h2 h3 2 h1 h2 "
                                           "h3 #512 h4 #6 h5 #0 u "
                                           "{ m ( h1 h2 h8 h3 h4 h5 3 "
                                           "h3 #513 h4 #6 h5 #0 u " ALIKE);
    assert_int_equal(fl_trace_event_count(trace, 0), 5);
    event_is(trace, 2, FL_OP_ALLOC, 512, 6);
    event_is(trace, 3, FL_OP_ALLOC, 513, 6);
    event_is(trace, 4, FL_OP_ALLOC, 8192, 101);
    fl_trace_free(trace);
}

/* The text behind a number may change between two records that are written alike. */
static void a_memo_entry_may_be_put_anew(void **state)
{
    (void)state;
    fl_trace *trace =
        trace_of(FIRST ALIKE ALIKE "{ m ( 'addr' q4 #4096 'size' q3 #100 h1 h2 h5 #0 u "
                                   "{ m ( h1 h2 h3 #8192 h4 #101 h5 #0 u ");
    assert_int_equal(fl_trace_event_count(trace, 0), 5);
    event_is(trace, 2, FL_OP_ALLOC, 8192, 101);
    event_is(trace, 4, FL_OP_ALLOC, 101, 8192);
    fl_trace_free(trace);
}

static void values_that_do_not_fit_are_refused_where_they_stand(void **state)
{
    (void)state;
    fails(FIRST ALIKE "{ m ( h1 h2 h3 #-1 h4 #101 h5 #0 u " ALIKE,
          "'addr' is a number, expected a number from 0 to 2^64 - 1");
    fails(FIRST ALIKE "{ m ( h1 h2 h3 h99 h4 #101 h5 #0 u ", "memo entry 99 was never set");
    fails(FIRST ALIKE "{ m ( h1 h2 h3 #1 h4 e ", "expected keys and values for a trace entry");
}

/* Frames. */

#define FRAME(name) "{ m ( 'name' '" name "' 'filename' 'f' 'line' #1 u "
#define WITH_FRAMES                                                                                \
    FIRST "{ m ( h1 h2 h3 #64 h4 #1 h5 #0 'frames' q10 ] q11 ( "                                   \
          "{ q12 ( 'name' 'a' 'filename' 'f' 'line' #1 u "                                         \
          "{ q13 ( 'name' 'b' 'filename' 'f' 'line' #2 u e u "
#define ENTRY(frames) "{ m ( h1 h2 h3 #64 h4 #1 h5 #0 h10 " frames " u "

static void frames_are(const fl_trace *trace, uint64_t index, const char *names)
{
    fl_event event;
    fl_trace_event(trace, 0, index, &event);
    assert_int_equal(fl_trace_stack_depth(trace, event.stack), strlen(names));
    for (size_t i = 0; names[i] != '\0'; i++)
        assert_int_equal(fl_trace_stack_frame(trace, event.stack, i).name[0], names[i]);
}

static void lists_of_known_frames_are_taken_with_their_record(void **state)
{
    (void)state;
    fl_trace *trace = trace_of(WITH_FRAMES ENTRY("] m ( h13 h12 e") ENTRY("] m h13 a") ENTRY("] m")
                                   ENTRY("h11") ENTRY("] m ( h12 h12 h13 e"));
    assert_int_equal(fl_trace_event_count(trace, 0), 7);
    frames_are(trace, 1, "ab");
    frames_are(trace, 2, "ba");
    frames_are(trace, 3, "b");
    frames_are(trace, 4, "");
    frames_are(trace, 5, "ab");
    frames_are(trace, 6, "aab");
    fl_trace_free(trace);
}

/* The memo is at 14 behind the first two entries; the third is 14, its list 15. */
static void a_list_taken_so_can_be_fetched_again(void **state)
{
    (void)state;
    fl_trace *trace = trace_of(WITH_FRAMES ENTRY("] m ( h13 h12 e") ENTRY("h15") ENTRY("h15"));
    frames_are(trace, 3, "ba");
    frames_are(trace, 4, "ba");
    fl_trace_free(trace);
}

static void a_list_of_anything_else_is_left_to_the_machine(void **state)
{
    (void)state;
    fl_trace *trace = trace_of(WITH_FRAMES ENTRY("] m ( h13 h12 e ( h12 e")
                                   ENTRY("] m ( h12 " FRAME("c") "e") ENTRY("N"));
    frames_are(trace, 2, "baa");
    frames_are(trace, 3, "ac");
    frames_are(trace, 4, "");
    fl_trace_free(trace);
    fails(WITH_FRAMES ENTRY("] m ( h13 h1 e"), "a list of frames holds a text, expected a frame");
    fails(WITH_FRAMES ENTRY("] m ( h13 h11 e"),
          "a list of frames holds a known item, expected a frame");
    fails(WITH_FRAMES ENTRY("h12"),
          "'frames' of a trace entry is a known item, expected a list of frames");
    fails(WITH_FRAMES ENTRY("#1"),
          "'frames' of a trace entry is a number, expected a list of frames");
}

/* The bytes at hand end within a record, at every place. */
static void a_cut_leaves_the_records_before_it(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(&pickle, "", WITH_FRAMES ENTRY("] m ( h13 h12 e") ALIKE ALIKE);
    fl_trace *whole = read_valid(&pickle);
    uint64_t seen = 0;
    for (; pickle.size > 0; pickle.size--) {
        fl_read_options options = {.format = "snapshot", .accept_cut = true};
        fl_trace *trace = NULL;
        assert_int_equal(fl_read_memory(pickle.bytes, pickle.size, "p", &options, &trace, NULL),
                         FL_OK);
        uint64_t count = fl_trace_event_count(trace, 0);
        for (uint64_t i = 0; i < count; i++) {
            fl_event event, expected;
            fl_trace_event(trace, 0, i, &event);
            fl_trace_event(whole, 0, i, &expected);
            assert_int_equal(event.address, expected.address);
            assert_int_equal(event.size, expected.size);
            assert_int_equal(event.stack, expected.stack);
        }
        seen |= UINT64_C(1) << count;
        fl_trace_free(trace);
    }
    assert_int_equal(seen, 0x3F); /* 0 to 5 events */
    fl_trace_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_written_alike_are_read_one_behind_the_other),
        cmocka_unit_test(keys_may_come_in_another_order_or_be_missing),
        cmocka_unit_test(numbers_of_every_size_are_taken),
        cmocka_unit_test(a_key_twice_is_refused),
        cmocka_unit_test(texts_of_a_tuple_are_no_pairs),
        cmocka_unit_test(a_memo_entry_may_be_put_anew),
        cmocka_unit_test(values_that_do_not_fit_are_refused_where_they_stand),
        cmocka_unit_test(lists_of_known_frames_are_taken_with_their_record),
        cmocka_unit_test(a_list_taken_so_can_be_fetched_again),
        cmocka_unit_test(a_list_of_anything_else_is_left_to_the_machine),
        cmocka_unit_test(a_cut_leaves_the_records_before_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
