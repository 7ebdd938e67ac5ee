#include "assemble.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define FRAME_A     "{ ( 'name' 'a' 'filename' 'f' 'line' #1 u "
#define FRAME_B     "{ ( 'name' 'b' 'filename' 'f' 'line' #2 u "
#define ALLOC_START "{ ( 'action' 'alloc' 'addr' #4096 'size' #100 'stream' #0 "

static void frames_are(const fl_trace *trace, uint64_t index, const char *names)
{
    fl_event event;
    fl_trace_event(trace, 0, index, &event);
    size_t depth = fl_trace_stack_depth(trace, event.stack);
    assert_int_equal(depth, strlen(names));
    for (size_t i = 0; i < depth; i++)
        assert_int_equal(fl_trace_stack_frame(trace, event.stack, i).name[0], names[i]);
}

/* One event with these frames. */
static void stack_is(const char *frames, const char *names)
{
    pickle_bytes pickle;
    char entries[512];
    snprintf(entries, sizeof entries, ENTRY_SEGMENT ALLOC_START "'frames' %s u ", frames);
    assemble_snapshot(&pickle, SEGMENT, entries);
    fl_trace *trace = read_valid(&pickle);
    frames_are(trace, 1, names);
    fl_trace_free(trace);
}

/* One event that cannot be read. */
static void entry_fails(const char *entry, const char *message)
{
    pickle_bytes pickle;
    assemble_snapshot(&pickle, SEGMENT, entry);
    read_fails(&pickle, FL_ERR_INPUT, message);
}

static void frames_may_come_from_the_memo(void **state)
{
    (void)state;
    stack_is("]", "");
    stack_is("] ( " FRAME_A FRAME_B "e", "ab");
    stack_is("] " FRAME_A "a", "a");
    stack_is("] " FRAME_A "a " FRAME_B "a", "ab");
    stack_is("] ( { m ( 'name' 'a' 'filename' 'f' 'line' #1 u h0 h0 " FRAME_B "h0 e", "aaaba");
    stack_is("] ( { ( 'name' 'a' 'filename' 'f' 'line' #1 u q7 h7 " FRAME_B "h7 h7 " FRAME_B "e",
             "aabaab");
    stack_is("] ( { q7 'name' 'a' s 'filename' 'f' s 'line' #1 s " FRAME_B "h7 e", "aba");
    stack_is("] ( " FRAME_A "e ( " FRAME_B FRAME_A "e", "aba");
}

static void a_list_of_frames_may_be_shared(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(&pickle, SEGMENT,
                      ENTRY_SEGMENT ALLOC_START
                      "'frames' ] q5 ( " FRAME_A FRAME_B "e u " //
                      "{ ( 'action' 'free_requested' 'addr' #4096 'size' #100 'stream' #0 "
                      "'frames' h5 'forward_frames' h5 u ");
    fl_trace *trace = read_valid(&pickle);
    frames_are(trace, 1, "ab");
    frames_are(trace, 2, "ab");
    fl_event alloc, release;
    fl_trace_event(trace, 0, 1, &alloc);
    fl_trace_event(trace, 0, 2, &release);
    assert_int_equal(alloc.stack, release.stack);
    assert_int_equal(alloc.id, release.id);
    fl_trace_free(trace);
}

static void single_items_are_like_lists_of_them(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_begin(&pickle);
    assemble(&pickle, "{ 'segments' ] " SEGMENT_START "'blocks' ] " BLOCK_LIVE "a " BLOCK_FREE "a "
                      "'frames' ] " FRAME_A "a u a s "
                      "'device_traces' ] ] " ENTRY_SEGMENT "a " ALLOC_START "u a a s "
                      "'allocator_settings' { 'PYTORCH_CUDA_ALLOC_CONF' '' s s .");
    fl_trace *trace = read_valid(&pickle);
    assert_int_equal(fl_trace_event_count(trace, 0), 2);
    size_t count;
    const fl_block_view *blocks = fl_trace_final_blocks(trace, 0, &count);
    assert_int_equal(count, 2);
    assert_int_equal(blocks[0].id, 0);
    assert_true(fl_trace_is_complete(trace, 0));
    fl_trace_free(trace);
}

static void what_no_key_asks_for_is_passed_over(void **state)
{
    (void)state;
    static const char *const others[] = {
        "N",
        "T",
        "'text'",
        "#-12345678901",
        "G xBF xF0 x00 x00 x00 x00 x00 x00",
        "#1 #2 2",
        ") 1",
        "( #1 'a' ] ( N e #4 t",
        "{ ( 'segments' ] ( " SEGMENT "e 'device_traces' ] ( ] ( " ENTRY_ALLOC "e e u",
        "{ 'frames' ] " FRAME_A "a s",
        "{ #1 #2 2 ] ( N e s",
        "] ( ] ( { ( #1 { u e e",
        "C x02 x00 xFF",
        "x8F ( #1 x90",
        "( #1 #2 x91",
        "] m h0 a",
        "{ m ( 'self' h0 u",
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        pickle_bytes pickle;
        char entries[700];
        snprintf(entries, sizeof entries,
                 ENTRY_SEGMENT ALLOC_START "'time_us' #1 'later' %s u " ENTRY_SEGMENT, others[i]);
        assemble_snapshot(&pickle, "", entries);
        fl_trace *trace = read_valid(&pickle);
        assert_int_equal(fl_trace_event_count(trace, 0), 3);
        assert_int_equal(fl_trace_warning_count(trace), 1);
        assert_string_equal(fl_trace_warning(trace, 0),
                            "a trace entry has a key 'later' that this build does not know: it is "
                            "left out");
        size_t count;
        fl_trace_final_segments(trace, 0, &count);
        assert_int_equal(count, 0);
        fl_trace_free(trace);
    }
}

static void each_unknown_key_is_told_once_and_not_too_many(void **state)
{
    (void)state;
    pickle_bytes pickle;
    char entries[4096];
    size_t used = 0;
    for (int i = 0; i < 30; i++)
        used +=
            (size_t)snprintf(entries + used, sizeof entries - used,
                             ENTRY_SEGMENT "'k%d' N s 'k0' N s 'time_us' #1 s ", i > 0 ? i : 99);
    assemble_snapshot(&pickle, "", entries);
    fl_trace *trace = read_valid(&pickle);
    assert_int_equal(fl_trace_event_count(trace, 0), 30);
    assert_int_equal(fl_trace_warning_count(trace), 16);
    fl_trace_free(trace);
}

static void things_in_wrong_places_are_refused(void **state)
{
    (void)state;
    entry_fails(ALLOC_START "'frames' #5 u ",
                "'frames' of a trace entry is a number, expected a list of frames");
    entry_fails(ALLOC_START "'frames' { u ", "a list of frames is a dictionary, expected a list");
    entry_fails(ALLOC_START "'frames' ] ( #1 e u ",
                "a list of frames holds a number, expected a frame");
    entry_fails(ALLOC_START "'frames' ] ( ] e u ", "a frame is a list, expected a dictionary");
    entry_fails(ALLOC_START "'frames' ] ( ) e u ",
                "a list of frames holds a value of another kind, expected a frame");
    entry_fails(ALLOC_START "'frames' ] q3 h3 a u ",
                "expected a list or dictionary to fill, got a known item");
    entry_fails(ALLOC_START "'size' #5 u ", "a trace entry has 'size' twice");
    entry_fails(ALLOC_START "#5 #5 u ", "a trace entry has a number for a key, expected a text");
    entry_fails(ALLOC_START "{ #5 u ",
                "a trace entry has a value of another kind for a key, expected a text");
    entry_fails(ALLOC_START "'frames' u ", "a key without a value");
    entry_fails("{ q3 ( 'action' 'alloc' 'addr' #1 'size' #1 'stream' #0 u h3 ",
                "a device's trace holds the same list or dictionary again, expected a trace entry");
    entry_fails("#5 ", "a device's trace holds a number, expected a trace entry");
    entry_fails(ENTRY_ALLOC "#1 a ", "expected keys and values for a trace entry");
    entry_fails(ENTRY_ALLOC "1 ", "a trace entry in a place where none belongs");
    entry_fails(ALLOC_START "'frames' ] ( 'a' #1 u u ",
                "a list of frames is a list, got keys and values");
}

static void a_snapshot_is_a_dictionary_or_a_list(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_begin(&pickle);
    assemble(&pickle, "#1 .");
    read_fails(&pickle, FL_ERR_INPUT, "p:4: expected a snapshot and nothing else on the stack");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_may_come_from_the_memo),
        cmocka_unit_test(a_list_of_frames_may_be_shared),
        cmocka_unit_test(single_items_are_like_lists_of_them),
        cmocka_unit_test(what_no_key_asks_for_is_passed_over),
        cmocka_unit_test(each_unknown_key_is_told_once_and_not_too_many),
        cmocka_unit_test(things_in_wrong_places_are_refused),
        cmocka_unit_test(a_snapshot_is_a_dictionary_or_a_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
