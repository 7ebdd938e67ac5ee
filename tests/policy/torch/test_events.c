#include "heap_builder.h"

#include "test.h"

/* ---- record_stream and its events (9.1, 9.4, 9.5) -------------------------------------------- */

static void a_block_that_another_stream_used_waits_for_its_event(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB; r 1 16; p");
    heap_shows(h, "f 1", "f 1");
    heap_shows(h, "a 2 20MiB", "+ 1 20MiB; A 2 1:0 20MiB");
    heap_shows(h, "c", "");
    heap_shows(h, "a 3 20MiB", "d 1; A 3 0:0 20MiB");
    heap_close(h);
}

static void events_are_looked_at_by_the_next_request_only(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_shows(h, "a 1 20MiB; r 1 16; f 1", "+ 0 20MiB; A 1 0:0 20MiB; f 1");
    heap_shows(h, "a 2 1; a 3 20MiB", "d 1; + 1 2MiB; A 2 1:0 512; A 3 0:0 20MiB");
    heap_close(h);
}

static void uses_on_its_own_stream_by_nobody_or_too_late_make_no_event(void **state)
{
    (void)state;
    heap_example("p; a 1 20MiB 16; r 1 16; f 1", "+ 0 20MiB stream 16; A 1 0:0 20MiB; F 1",
                 .release = "2.9.1");
    heap_example("p; r 7 16; a 1 20MiB; f 1; r 1 16; a 1 20MiB; f 1",
                 "+ 0 20MiB; A 1 0:0 20MiB; F 1; A 1 0:0 20MiB; F 1", .release = "2.9.1");
}

static void every_stream_that_used_a_block_has_to_complete(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    /* An event of stream 16 in front keeps the second one of that stream. */
    heap_does(h, "a 1 20MiB; a 2 20MiB; r 1 16; r 1 16; r 1 32; r 2 32; p");
    heap_does(h, "f 1");
    assert_int_equal(heap_state(h)->events_recorded, 2);
    assert_int_equal(heap_state(h)->blocks.items[1].events, 2);
    heap_does(h, "f 2; p"); /* what was pending is complete */
    heap_shows(h, "a 3 1", "d 1; d 2; + 2 2MiB; A 3 2:0 512");
    heap_close(h);
}

static void a_pending_event_keeps_only_those_of_its_stream_behind_it(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB; a 2 20MiB; a 3 20MiB; r 1 16; r 2 32; r 3 16");
    heap_does(h, "f 2; p; f 1; f 3"); /* 2 completes, 1 and 3 do not */
    heap_shows(h, "a 4 1", "d 2; + 3 2MiB; A 4 3:0 512");
    heap_shows(h, "c; a 5 1", "d 1; d 3; A 5 3:512 512");
    heap_close(h);
}

/* The queue of stream 0 is looked at before that of 64 (22.3). */
static void a_stream_that_is_not_done_does_not_keep_those_behind_it(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB 16; a 2 20MiB 16; r 1 0; r 2 64; f 2; p; f 1");
    heap_shows(h, "a 3 1", "d 2; + 2 2MiB; A 3 2:0 512");
    heap_close(h);
}

static void hold_completes_what_was_recorded_so_far(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "p; a 1 20MiB; a 2 20MiB; r 1 16; r 2 16; f 1");
    heap_shows(h, "p; f 2; a 3 1", "f 2; d 1; + 2 2MiB; A 3 2:0 512");
    heap_shows(h, "c; a 4 1", "d 2; A 4 2:512 512");
    heap_close(h);
}

/* ---- the order of streams (22.3) ------------------------------------------------------------- */

static void streams_complete_in_order_of_the_hash_table(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB 16; a 2 20MiB 16; a 3 20MiB 16; r 1 0; r 2 64; r 3 128; f 1; f 2; f 3");
    heap_shows(h, "a 4 1", "d 1; d 3; d 2; + 3 2MiB; A 4 3:0 512");
    heap_close(h);
    h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB 16; a 2 20MiB 16; r 1 128; r 2 0; f 1; f 2");
    heap_shows(h, "a 4 1", "d 1; d 2; + 2 2MiB; A 4 2:0 512");
    heap_close(h);
}

/* A queue that empties leaves the table, but the table stays as large. */
static void a_table_of_queues_that_grew_keeps_its_order(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB 16; a 2 20MiB 16; a 3 20MiB 16; r 1 0; r 2 64; r 3 128");
    heap_does(h, "f 1; f 2; f 3; a 1 20MiB 16; a 2 20MiB 16; r 1 128; r 2 0; f 1; f 2");
    heap_shows(h, "a 4 1", "d 2; d 1; + 3 2MiB; A 4 3:0 512");
    heap_close(h);
}

/* The last event of a block is what frees it: uses {64, 128, 0} record 0, 128, 64. */
static void a_block_of_many_streams_is_freed_by_the_last_in_that_order(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB 16; a 2 20MiB 16; r 1 64; r 1 128; r 1 0; r 2 128; f 2; f 1");
    heap_shows(h, "a 4 1", "d 2; d 1; + 2 2MiB; A 4 2:0 512");
    heap_close(h);
}

/* ---- captures (12.5, 22.5) ------------------------------------------------------------------- */

static void in_a_capture_events_are_not_looked_at(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB; r 1 16; f 1; b 1");
    heap_shows(h, "a 2 20MiB", "+ 1 20MiB pool 1; A 2 1:0 20MiB");
    heap_shows(h, "q 1; a 3 20MiB", "d 1; A 3 0:0 20MiB");
    heap_close(h);
}

static void a_scope_is_no_capture_from_2_13_on(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.13.0"});
    heap_does(h, "a 1 20MiB; r 1 16; f 1; b 1");
    heap_shows(h, "a 2 20MiB", "d 1; + 1 20MiB pool 1; A 2 1:0 20MiB");
    heap_close(h);
    h = heap_open((heap_conf){.release = "2.13.0"});
    heap_does(h, "a 1 20MiB; r 1 16; f 1; b 1 capture stream=16");
    heap_shows(h, "a 2 20MiB 16", "+ 1 20MiB stream 16 pool 1; A 2 1:0 20MiB");
    heap_shows(h, "a 3 20MiB", "d 1; A 3 0:0 20MiB");
    heap_close(h);
}

static void a_free_in_a_capture_is_deferred_until_its_end(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB; r 1 16; b 1");
    heap_shows(h, "f 1; a 2 1", "f 1; + 1 2MiB pool 1; A 2 1:0 512");
    heap_shows(h, "q 1; p; a 3 20MiB", "+ 2 20MiB; A 3 2:0 20MiB");
    heap_shows(h, "c; a 4 20MiB", "d 1; A 4 0:0 20MiB");
    heap_close(h);
}

static void uses_of_a_capture_make_events_only_before_2_4(void **state)
{
    (void)state;
    static const char script[] = "a 1 20MiB; b 1; r 1 16; f 1; q 1; p; a 2 20MiB";
    heap_example(script, "+ 0 20MiB; A 1 0:0 20MiB; f 1; + 1 20MiB; A 2 1:0 20MiB",
                 .release = "2.3.1");
    heap_example(script, "+ 0 20MiB; A 1 0:0 20MiB; f 1; d 1; A 2 0:0 20MiB", .release = "2.4.1");
}

static void uses_from_before_the_capture_are_not_forgotten(void **state)
{
    (void)state;
    heap_example("a 1 20MiB; r 1 32; b 1; r 1 16; f 1; q 1; p; a 2 20MiB",
                 "+ 0 20MiB; A 1 0:0 20MiB; f 1; + 1 20MiB; A 2 1:0 20MiB", .release = "2.9.1");
    /* The same stream before and during the capture counts as of the capture. */
    heap_example("a 1 20MiB; r 1 16; b 1; r 1 16; f 1; q 1; p; a 2 20MiB",
                 "+ 0 20MiB; A 1 0:0 20MiB; f 1; d 1; A 2 0:0 20MiB", .release = "2.9.1");
}

static void deferred_frees_complete_as_they_were_asked(void **state)
{
    (void)state;
    heap_example("a 1 20MiB; a 2 20MiB; b 1; r 2 16; r 1 16; f 2; f 1; q 1; a 3 1",
                 "+ 0 20MiB; A 1 0:0 20MiB; + 1 20MiB; A 2 1:0 20MiB; f 2; f 1; d 2; d 1; "
                 "+ 2 2MiB; A 3 2:0 512",
                 .release = "2.8.0");
}

/* ---- waiting for all of them (9.6) ----------------------------------------------------------- */

static void empty_cache_waits_for_every_event(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "p; a 1 20MiB; a 2 20MiB; a 3 20MiB; r 1 16; r 2 32; r 3 16; f 1; f 2; f 3 held");
    heap_shows(h, "e", "d 1; d 2; d 3; - 0 20MiB trim; - 1 20MiB trim; - 2 20MiB trim");
    assert_int_equal(heap_stats(h)->sync_all_streams, 1);
    heap_close(h);
}

static void empty_cache_waits_for_deferred_frees(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB; b 1; r 1 16; f 1; q 1");
    heap_shows(h, "e", "d 1; - 0 20MiB trim");
    heap_close(h);
}

/* ---- frees that the trace completes ---------------------------------------------------------- */

static void a_held_free_completes_when_the_trace_says_so(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_shows(h, "a 1 20MiB; f 1 held", "+ 0 20MiB; A 1 0:0 20MiB; f 1");
    heap_shows(h, "a 2 20MiB", "+ 1 20MiB; A 2 1:0 20MiB");
    heap_shows(h, "d 1; a 3 20MiB", "d 1; A 3 0:0 20MiB");
    heap_shows(h, "d 1; d 3; d 77", "");
    heap_close(h);
}

static void a_held_free_waits_for_the_trace_instead_of_for_events(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    for (int i = 0; i < 3; i++) {
        heap_does(h, "a 1 20MiB; r 1 16; f 1 held");
        assert_int_equal(heap_state(h)->events_recorded, 0);
        heap_shows(h, "d 1", "d 1");
    }
    assert_int_equal(heap_state(h)->use_sets.count, 1);
    heap_close(h);
}

static void a_request_that_releases_everything_completes_held_frees(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(60)});
    heap_does(h, "a 1 20MiB; a 2 20MiB; f 2 held; f 1 held");
    heap_shows(h, "a 3 50MiB",
               "! 50MiB; d 2; d 1; - 0 20MiB all; - 1 20MiB all; + 2 50MiB; "
               "A 3 2:0 50MiB");
    heap_shows(h, "d 1; d 2", "");
    heap_close(h);
}

/* Whatever it waits for: an event, the end of a capture, or the trace. */
static void every_kind_of_pending_free_can_be_completed(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "p; a 1 20MiB; a 2 20MiB; a 3 20MiB; a 4 20MiB; a 5 20MiB");
    heap_does(h, "r 1 16; r 1 32; r 2 16; r 3 16; r 4 16; f 1; f 2; f 4 held; f 5 held; b 1; f 3");
    heap_shows(h, "d 1", "d 1");
    heap_shows(h, "d 3", "d 3");
    heap_shows(h, "d 4", "d 4");
    heap_shows(h, "d 5", "d 5");
    heap_shows(h, "s",
               "S 0:0 20MiB large; B 20MiB 20MiB free; S 1:0 20MiB large; B 20MiB 20MiB pend; "
               "S 2:0 20MiB large; B 20MiB 20MiB free; S 3:0 20MiB large; B 20MiB 20MiB free; "
               "S 4:0 20MiB large; B 20MiB 20MiB free");
    heap_shows(h, "q 1; c; a 6 1", "d 2; + 5 2MiB; A 6 5:0 512");
    heap_does(h, "a 7 20MiB; a 8 20MiB; a 9 20MiB; a 10 20MiB; a 11 20MiB");
    assert_int_equal(heap_stats(h)->stat[FL_STAT_SEGMENT][FL_STAT_ALL].current, 6);
    heap_close(h);
}

static void a_completed_free_leaves_other_events_of_the_stream_in_order(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "p; a 1 20MiB; a 2 20MiB; a 3 20MiB; r 1 16; r 2 16; r 3 16; f 1; f 2; f 3");
    heap_shows(h, "d 2", "d 2");
    heap_shows(h, "c; a 4 1", "d 1; d 3; + 3 2MiB; A 4 3:0 512");
    heap_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_that_another_stream_used_waits_for_its_event),
        cmocka_unit_test(events_are_looked_at_by_the_next_request_only),
        cmocka_unit_test(uses_on_its_own_stream_by_nobody_or_too_late_make_no_event),
        cmocka_unit_test(every_stream_that_used_a_block_has_to_complete),
        cmocka_unit_test(a_pending_event_keeps_only_those_of_its_stream_behind_it),
        cmocka_unit_test(a_stream_that_is_not_done_does_not_keep_those_behind_it),
        cmocka_unit_test(hold_completes_what_was_recorded_so_far),
        cmocka_unit_test(streams_complete_in_order_of_the_hash_table),
        cmocka_unit_test(a_table_of_queues_that_grew_keeps_its_order),
        cmocka_unit_test(a_block_of_many_streams_is_freed_by_the_last_in_that_order),
        cmocka_unit_test(in_a_capture_events_are_not_looked_at),
        cmocka_unit_test(a_scope_is_no_capture_from_2_13_on),
        cmocka_unit_test(a_free_in_a_capture_is_deferred_until_its_end),
        cmocka_unit_test(uses_of_a_capture_make_events_only_before_2_4),
        cmocka_unit_test(uses_from_before_the_capture_are_not_forgotten),
        cmocka_unit_test(deferred_frees_complete_as_they_were_asked),
        cmocka_unit_test(empty_cache_waits_for_every_event),
        cmocka_unit_test(empty_cache_waits_for_deferred_frees),
        cmocka_unit_test(a_held_free_completes_when_the_trace_says_so),
        cmocka_unit_test(a_held_free_waits_for_the_trace_instead_of_for_events),
        cmocka_unit_test(a_request_that_releases_everything_completes_held_frees),
        cmocka_unit_test(every_kind_of_pending_free_can_be_completed),
        cmocka_unit_test(a_completed_free_leaves_other_events_of_the_stream_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
