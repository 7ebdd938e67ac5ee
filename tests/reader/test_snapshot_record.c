#include "assemble.h"
#include "test.h"

#include <stdio.h>

#define DATA "tests/data/snapshots/"

/* Entries with one key left out or changed: a machine for bad input. */
static void entry_fails(const char *entry, const char *message)
{
    pickle_bytes pickle;
    assemble_snapshot(&pickle, SEGMENT, entry);
    read_fails(&pickle, FL_ERR_INPUT, message);
}

static void segment_fails(const char *segment, const char *message)
{
    pickle_bytes pickle;
    assemble_snapshot(&pickle, segment, "");
    read_fails(&pickle, FL_ERR_INPUT, message);
}

static void every_action_has_its_kind(void **state)
{
    (void)state;
    static const struct {
        const char *entry;
        uint8_t kind, flags;
        uint32_t id;
        uint64_t address;
    } cases[] = {
        {"'action' 'segment_alloc' 'addr' #4096 ", FL_EVENT_SEGMENT_ALLOC, 0, FL_NONE, 4096},
        {"'action' 'segment_map' 'addr' #4096 ", FL_EVENT_SEGMENT_MAP, 0, FL_NONE, 4096},
        {"'action' 'alloc' 'addr' #4096 ", FL_OP_ALLOC, 0, 0, 4096},
        {"'action' 'oom' 'device_free' #77 ", FL_OP_ALLOC, FL_EVENT_OOM, 1, 77},
        {"'action' 'free_requested' 'addr' #4096 ", FL_OP_FREE, 0, 0, 4096},
        {"'action' 'free_completed' 'addr' #4096 ", FL_OP_FREE_DONE, 0, 0, 4096},
        {"'action' 'free_completed' 'addr' #4096 ", FL_OP_FREE_DONE, 0, 3, 4096},
        {"'action' 'alloc' 'addr' #4096 ", FL_OP_ALLOC, 0, 2, 4096},
        {"'action' 'free_requested' 'addr' #8192 ", FL_OP_FREE, 0, 4, 8192},
        {"'action' 'segment_unmap' 'addr' #4096 ", FL_EVENT_SEGMENT_UNMAP, 0, FL_NONE, 4096},
        {"'action' 'segment_free' 'addr' #4096 ", FL_EVENT_SEGMENT_FREE, 0, FL_NONE, 4096},
        {"'action' 'snapshot' 'addr' #0 ", FL_EVENT_SNAPSHOT, 0, FL_NONE, 0},
        {"'action' 'annotate' 'addr' #4096 ", FL_EVENT_OTHER, 0, FL_NONE, 4096},
        {"'action' 'of the future' 'addr' N ", FL_EVENT_OTHER, 0, FL_NONE, 0},
    };
    char entries[2048];
    size_t used = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        used += (size_t)snprintf(entries + used, sizeof entries - used,
                                 "{ ( %s'size' #512 'stream' #64 u ", cases[i].entry);
    pickle_bytes pickle;
    assemble_snapshot(&pickle, SEGMENT, entries);
    fl_trace *trace = read_valid(&pickle);
    assert_int_equal(fl_trace_event_count(trace, 0), COUNT_OF(cases));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fl_event event;
        fl_trace_event(trace, 0, i, &event);
        assert_int_equal(event.kind, cases[i].kind);
        assert_int_equal(event.flags, cases[i].flags);
        assert_int_equal(event.id, cases[i].id);
        assert_int_equal(event.address, cases[i].address);
        assert_int_equal(event.size, 512);
        assert_int_equal(fl_trace_names(trace)->streams[event.stream], 64);
        assert_true(event.time_us == FL_TIME_UNKNOWN);
    }
    size_t count;
    assert_int_equal(fl_trace_final_blocks(trace, 0, &count)[0].id, 2);
    assert_int_equal(fl_trace_warning_count(trace), 2); /* of the keys, too */
    assert_string_equal(fl_trace_warning(trace, 1),
                        "p: events with actions that this build does not know are passed over: 1, "
                        "the first one 'of the future'");
    fl_trace_free(trace);
}

static void the_final_state_is_kept(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_snapshot(
        &pickle,
        "{ ( 'device' #0 'address' #4096 'total_size' #1024 'stream' #64 'segment_type' 'large' "
        "'segment_pool_id' #0 #5 2 'is_expandable' T 'frames' ] 'blocks' ] ( "
        "{ ( 'address' #4096 'size' #512 'requested_size' #9 'state' 'active_pending_free' u "
        "{ ( 'address' #4608 'size' #512 'requested_size' #7 'state' 'inactive' u e u ",
        "");
    fl_trace *trace = read_valid(&pickle);
    size_t count;
    const fl_segment_view *segments = fl_trace_final_segments(trace, 0, &count);
    assert_int_equal(count, 1);
    assert_int_equal(segments[0].address, 4096);
    assert_int_equal(segments[0].size, 1024);
    assert_int_equal(fl_trace_names(trace)->streams[segments[0].stream], 64);
    assert_int_equal(fl_trace_names(trace)->pools[segments[0].pool].second, 5);
    assert_false(segments[0].is_small);
    assert_true(segments[0].is_expandable);
    const fl_block_view *blocks = fl_trace_final_blocks(trace, 0, &count);
    assert_int_equal(count, 2);
    assert_int_equal(blocks[0].state, FL_BLOCK_PENDING);
    assert_int_equal(blocks[0].id, 0); /* it was there before the first event */
    assert_int_equal(blocks[0].requested, 9);
    assert_int_equal(blocks[1].state, FL_BLOCK_FREE);
    assert_int_equal(blocks[1].address, 4608);
    assert_string_equal(fl_trace_conf(trace), "a:b");
    assert_false(fl_trace_is_complete(trace, 0));
    fl_trace_free(trace);
}

static void wrong_entries_are_named(void **state)
{
    (void)state;
    entry_fails("{ ( 'addr' #1 u ", "expected 'action' among the keys");
    entry_fails("{ ( 'action' #1 u ", "'action' is a number, expected a text");
    entry_fails("{ ( 'action' 'alloc' 'addr' #1 'stream' #0 u ", "expected 'size' among the keys");
    entry_fails("{ ( 'action' 'alloc' 'size' #1 'stream' #0 u ", "expected 'addr' among the keys");
    entry_fails("{ ( 'action' 'alloc' 'size' #1 'addr' #1 u ", "expected 'stream' among the keys");
    entry_fails("{ ( 'action' 'alloc' 'size' 'x' 'addr' #1 u ",
                "'size' is a text, expected a number from 0 to 2^64 - 1");
    entry_fails(ENTRY_ALLOC "'time_us' 'now' s ", "'time_us' is a text, expected a number below "
                                                  "2^63");
    entry_fails(ENTRY_ALLOC "'pool_id' #1 s ", "'pool_id' is a number, expected a pair of "
                                               "numbers");
    entry_fails(ENTRY_ALLOC "'frames' ] { ( 'name' 'a' 'line' #1 u a s ",
                "expected 'filename' among the keys");
    entry_fails(ENTRY_ALLOC "'frames' ] { ( 'name' N 'filename' 'b' 'line' #1 u a s ",
                "'name' is nothing, expected a text");
}

static void wrong_segments_are_named(void **state)
{
    (void)state;
    segment_fails("{ ( 'device' #256 'address' #0 'total_size' #0 'stream' #0 'segment_type' "
                  "'small' u ",
                  "device 256 is beyond 255, the highest supported");
    segment_fails("{ ( 'device' #-1 u ",
                  "'device' is a number, expected a number from 0 to 2^64 - 1");
    segment_fails("{ ( 'device' #0 'address' #0 'total_size' #0 'stream' #0 'segment_type' 'odd' "
                  "u ",
                  "a segment that is neither 'small' nor 'large'");
    segment_fails(SEGMENT_START "'blocks' ] ( { ( 'address' #4096 'size' #512 'requested_size' #1 "
                                "'state' 'dead' u e u ",
                  "a block in a state that is not known");
}

static void state_is_left_out(const char *segments, const char *reason)
{
    pickle_bytes pickle;
    assemble_snapshot(&pickle, segments,
                      "{ ( 'action' 'snapshot' 'size' #0 'stream' #0 'time_us' #1 u ");
    fl_trace *trace = read_valid(&pickle);
    char line[200];
    size_t count;
    snprintf(line, sizeof line, "the final state of device 0 is impossible and left out: %s",
             reason);
    assert_int_equal(fl_trace_warning_count(trace), 1);
    assert_string_equal(fl_trace_warning(trace, 0), line);
    assert_int_equal(fl_trace_event_count(trace, 0), 1);
    fl_trace_final_segments(trace, 0, &count);
    assert_int_equal(count, 0);
    fl_trace_final_blocks(trace, 0, &count);
    assert_int_equal(count, 0);
    fl_trace_free(trace);
}

static void an_impossible_state_is_told_once_and_left_out(void **state)
{
    (void)state;
    state_is_left_out(SEGMENT_START "'frames' ] 'blocks' ] ( " BLOCK_LIVE "e u ",
                      "blocks of 512 bytes in a segment of 2097152 bytes");
    state_is_left_out(SEGMENT_START "'blocks' ] ( " BLOCK_FREE BLOCK_LIVE "e u ",
                      "a block at 0x1200, expected one at 0x1000, where the one before ends");
    state_is_left_out(SEGMENT_START "'blocks' ] ( { ( 'address' #4096 'size' #512 "
                                    "'requested_size' #513 'state' 'active_allocated' u e u ",
                      "513 bytes asked for in a block of 512 bytes");
    state_is_left_out(SEGMENT_START "u " SEGMENT_START "u ",
                      "blocks of 0 bytes in a segment of 2097152 bytes");
    state_is_left_out(SEGMENT SEGMENT SEGMENT, "segments that do not ascend by address");
    state_is_left_out(SEGMENT "{ ( 'device' #0 'address' #8192 'total_size' #0 'stream' #0 "
                              "'segment_type' 'small' u ",
                      "segments that overlap");
}

static void files_without_what_matters_are_named(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_begin(&pickle);
    assemble(&pickle, "{ 'device_traces' ] s .");
    read_fails(&pickle, FL_ERR_INPUT, "p:20: expected 'segments' among the keys");
}

static void blocks_of_2_0_lie_behind_each_other(void **state)
{
    (void)state;
    fl_trace *trace = read_file(DATA "releases/2.0.1.pickle", false);
    size_t segment_count, block_count;
    const fl_segment_view *segments = fl_trace_final_segments(trace, 0, &segment_count);
    const fl_block_view *blocks = fl_trace_final_blocks(trace, 0, &block_count);
    assert_true(segment_count > 1);
    size_t block = 0;
    for (size_t i = 0; i < segment_count; i++) {
        uint64_t at = segments[i].address;
        assert_false(segments[i].is_expandable);
        assert_int_equal(segments[i].pool, 0);
        for (; at < segments[i].address + segments[i].size; at += blocks[block++].size) {
            assert_true(block < block_count);
            assert_int_equal(blocks[block].address, at);
        }
    }
    assert_int_equal(block, block_count);
    assert_null(fl_trace_conf(trace));
    assert_true(fl_trace_is_complete(trace, 0));
    fl_trace_free(trace);
}

#define OLD_SEGMENT                                                                                \
    "{ ( 'device' #0 'address' #4096 'total_size' #512 'stream' #0 'segment_type' 'small' "        \
    "'blocks' ] { ( 'size' #512 'requested_size' #9 'state' 'active_allocated' 'history' ] ( "
#define OLD_FRAME(line) "'frames' ] { ( 'name' 'f' 'filename' 'a' 'line' " line " u a "

static void a_block_of_2_0_has_the_stack_of_the_last_allocation_it_served(void **state)
{
    (void)state;
    pickle_bytes pickle;
    assemble_begin(&pickle);
    assemble(&pickle, "{ ( 'segments' ] " OLD_SEGMENT "{ ( 'addr' #4096 'real_size' #9 " OLD_FRAME(
                          "#7") "u "
                                "{ ( 'addr' #4096 'real_size' #100 " OLD_FRAME(
                                    "#8") "u "
                                          "e u a u a 'device_traces' ] u .");
    fl_trace *trace = read_valid(&pickle);
    uint32_t stack = fl_trace_final_stack(trace, 0, 0);
    assert_int_equal(fl_trace_stack_depth(trace, stack), 1);
    assert_int_equal(fl_trace_stack_frame(trace, stack, 0).line, 7);
    fl_trace_free(trace);
    assemble_begin(&pickle);
    assemble(&pickle, "{ ( 'segments' ] " OLD_SEGMENT "#5 e u a u a u .");
    read_fails(&pickle, FL_ERR_INPUT,
               "a block's history holds a number, expected an allocation of "
               "a block's history");
}

static void a_bare_list_of_segments_is_a_state_without_events(void **state)
{
    (void)state;
    fl_trace *trace = read_file(DATA "list.pickle", false);
    size_t count;
    fl_trace_final_segments(trace, 0, &count);
    assert_true(count > 0);
    assert_int_equal(fl_trace_event_count(trace, 0), 0);
    assert_int_equal(fl_trace_warning_count(trace), 0);
    assert_false(fl_trace_is_complete(trace, 0));
    fl_trace_free(trace);
    pickle_bytes pickle;
    assemble_begin(&pickle);
    assemble(&pickle, "] .");
    trace = read_valid(&pickle);
    fl_trace_final_segments(trace, 0, &count);
    assert_int_equal(count, 0);
    fl_trace_free(trace);
    assemble_begin(&pickle);
    assemble(&pickle, "] #1 a .");
    read_fails(&pickle, FL_ERR_INPUT, "a list of segments holds a number, expected a segment");
}

static void a_pool_may_be_a_list_of_two_numbers(void **state)
{
    (void)state;
    static const char *const pairs[] = {"] ( #3 #4 e ", "] #3 a #4 a ", "#3 #4 2 "};
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        pickle_bytes pickle;
        char entry[200];
        snprintf(entry, sizeof entry, ENTRY_ALLOC "'pool_id' %s s ", pairs[i]);
        assemble_snapshot(&pickle, SEGMENT, entry);
        fl_trace *trace = read_valid(&pickle);
        fl_event event;
        fl_trace_event(trace, 0, 0, &event);
        assert_int_equal(fl_trace_names(trace)->pools[event.pool].first, 3);
        assert_int_equal(fl_trace_names(trace)->pools[event.pool].second, 4);
        fl_trace_free(trace);
    }
    pickle_bytes shared;
    assemble_snapshot(&shared, SEGMENT,
                      ENTRY_ALLOC "'user_metadata' ] m ( #3 #4 e s 'pool_id' h0 s ");
    fl_trace *trace = read_valid(&shared);
    fl_event event;
    fl_trace_event(trace, 0, 0, &event);
    assert_int_equal(fl_trace_names(trace)->pools[event.pool].second, 4);
    fl_trace_free(trace);
    static const char *const others[] = {
        "] ",
        "] ( #3 e ",
        "] ( #3 #4 #5 e ",
        "] #3 a #4 a #5 a ",
        "] ( #3 'a' e ",
        "] ( #3 #-4 e ",
        "] ( 'a' #3 #4 e ",
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        char entry[200];
        snprintf(entry, sizeof entry, ENTRY_ALLOC "'pool_id' %s s ", others[i]);
        entry_fails(entry, "'pool_id' is a value of another kind, expected a pair of numbers");
    }
}

static fl_beside beside_of(const char *tail)
{
    pickle_bytes pickle;
    assemble_begin(&pickle);
    assemble(&pickle, "{ ( 'segments' ] 'device_traces' ] 'allocator_settings' { ( "
                      "'graph_capture_record_stream_reuse' F 'max_round_threshold' #0 u ");
    assemble(&pickle, tail);
    assemble(&pickle, "u .");
    fl_trace *trace = read_valid(&pickle);
    fl_beside beside = fl_trace_beside(trace);
    assert_int_equal(fl_trace_warning_count(trace), 0);
    fl_trace_free(trace);
    return beside;
}

static void annotations_and_host_memory_are_counted(void **state)
{
    (void)state;
    fl_trace *trace = read_file(DATA "releases/2.15.0.pickle", false);
    fl_beside beside = fl_trace_beside(trace);
    assert_int_equal(beside.annotations, 0);
    assert_int_equal(beside.host_segments, 4);
    assert_int_equal(beside.host_bytes, 9569280);
    assert_int_equal(beside.host_events, 11);
    fl_trace_free(trace);
    beside = beside_of("'external_annotations' ] ( { ( 'name' 'a' 'stage' 'START' 'mine' #1 u { "
                       "( 'name' 'b' 'device' #0 u e ");
    assert_int_equal(beside.annotations, 2);
    beside =
        beside_of("'external_annotations' ] 'host_segments' ] ( "
                  "{ ( 'device' #-1 'total_size' #100 'frames' ] 'blocks' ] ( { 'size' #1 s e u "
                  "{ 'total_size' #28 s e 'host_traces' ] { 'action' 'alloc' s a ");
    assert_int_equal(beside.host_segments, 2);
    assert_int_equal(beside.host_bytes, 128);
    assert_int_equal(beside.host_events, 1);
}

static void what_is_only_counted_may_be_anything(void **state)
{
    (void)state;
    static const char *const others[] = {
        "N ",
        "#5 ",
        "{ ",
        "{ 'a' #1 s ",
        "] #1 a ",
        "] ( ] ( { e 'a' e ",
        "] ( { ( #1 #2 u e ",
        "] { ( 'name' #1 'name' { 'name' ] s u a ",
        "] ( #1 { { e ",
    };
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        char tail[200];
        snprintf(tail, sizeof tail, "'external_annotations' %s", others[i]);
        (void)beside_of(tail);
    }
    fl_beside beside =
        beside_of("'external_annotations' ] 'host_segments' ] { 'total_size' N s a ");
    assert_int_equal(beside.host_segments, 1);
    assert_true(beside.host_bytes == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_action_has_its_kind),
        cmocka_unit_test(the_final_state_is_kept),
        cmocka_unit_test(wrong_entries_are_named),
        cmocka_unit_test(wrong_segments_are_named),
        cmocka_unit_test(an_impossible_state_is_told_once_and_left_out),
        cmocka_unit_test(files_without_what_matters_are_named),
        cmocka_unit_test(blocks_of_2_0_lie_behind_each_other),
        cmocka_unit_test(a_block_of_2_0_has_the_stack_of_the_last_allocation_it_served),
        cmocka_unit_test(a_bare_list_of_segments_is_a_state_without_events),
        cmocka_unit_test(a_pool_may_be_a_list_of_two_numbers),
        cmocka_unit_test(annotations_and_host_memory_are_counted),
        cmocka_unit_test(what_is_only_counted_may_be_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
