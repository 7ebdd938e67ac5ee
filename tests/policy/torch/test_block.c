#include "heap_builder.h"

#include "test.h"

/* ---- merging (9.2, 9.3) ---------------------------------------------------------------------- */

static void a_free_merges_with_both_neighbours(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 10240; a 2 20480; a 3 30720; a 4 40960");
    heap_does(h, "f 1; f 3");
    heap_shows(h, "s",
               "S 0:0 2MiB small; B 10KiB 10KiB free; B 20KiB 20KiB live; "
               "B 30KiB 30KiB free; B 40KiB 40KiB live; B 1948KiB 0 free");
    heap_shows(h, "f 2; s",
               "F 2; S 0:0 2MiB small; B 60KiB 20KiB free; B 40KiB 40KiB live; "
               "B 1948KiB 0 free");
    heap_shows(h, "f 4; s", "F 4; S 0:0 2MiB small; B 2MiB 40KiB free");
    heap_close(h);
}

static void the_object_that_is_freed_survives_with_its_requested_size(void **state)
{
    (void)state;
    heap_example("a 1 100; a 2 200; f 1; f 2; s",
                 "+ 0 2MiB; A 1 0:0 512; A 2 0:512 512; F 1; F 2; S 0:0 2MiB small; "
                 "B 2MiB 200 free",
                 .release = "2.9.1");
    heap_example("a 1 100; a 2 200; f 2; f 1; s",
                 "+ 0 2MiB; A 1 0:0 512; A 2 0:512 512; F 2; F 1; S 0:0 2MiB small; "
                 "B 2MiB 100 free",
                 .release = "2.9.1");
}

static void the_remainder_of_a_split_is_the_old_object(void **state)
{
    (void)state;
    heap_example("a 1 700KiB; f 1; a 2 200; s",
                 "+ 0 2MiB; A 1 0:0 700KiB; F 1; A 2 0:0 512; S 0:0 2MiB small; "
                 "B 512 200 live; B 2MiB-512 700KiB free",
                 .release = "2.9.1");
}

static void a_pending_neighbour_is_not_merged_until_its_event_completes(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 10240; a 2 20480; a 3 30720; r 2 16; p; f 2; f 1; f 3");
    heap_shows(h, "s",
               "S 0:0 2MiB small; B 10KiB 10KiB free; B 20KiB 20KiB pend; "
               "B 2018KiB 30KiB free");
    heap_shows(h, "c; a 4 20MiB; s",
               "d 2; + 1 20MiB; A 4 1:0 20MiB; S 0:0 2MiB small; "
               "B 2MiB 20KiB free; S 1:0 20MiB large; B 20MiB 20MiB live");
    heap_close(h);
}

static void mapped_and_unmapped_neighbours_are_not_merged(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(160), .expandable = true});
    heap_does(h, "a 1 20MiB; f 1");
    heap_shows(h, "s", "S 0:0 20MiB large exp; B 20MiB 20MiB free");
    assert_int_equal(heap_state(h)->blocks.items[1].size, MIB(20));
    heap_close(h);
}

/* ---- inactive_split (8.2, 9.2, 20) ----------------------------------------------------------- */

static void a_split_of_a_whole_segment_counts_its_remainder(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 512");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "1 1 1 0");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "2MiB-512 2MiB-512 2MiB-512 0");
    heap_close(h);
}

static void a_split_of_a_piece_takes_its_bytes_off(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 512; a 2 512KiB");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "1 1 1 0");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "1572352 2MiB-512 2MiB-512 512KiB");
    heap_close(h);
}

static void a_piece_handed_out_whole_counts_no_more(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 1MiB; a 2 1MiB");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "0 1 1 1");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "0 1MiB 1MiB 1MiB");
    heap_close(h);
}

static void a_whole_segment_handed_out_whole_never_counts(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB; f 1; a 2 20MiB; f 2");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "0 0 0 0");
    heap_close(h);
}

/* One increase or decrease of the net amount: peak and sums tell it from two. */
static void a_free_moves_inactive_split_by_the_net_of_its_merges(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 512; a 2 512; a 3 512; a 4 1MiB; a 5 1047040"); /* all of it live */
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "0 1 1 1");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "0 2MiB-512 2MiB-512 2MiB-512");
    heap_does(h, "f 2"); /* between live neighbours */
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "1 1 2 1");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "512 2MiB-512 2MiB 2MiB-512");
    heap_does(h, "f 1"); /* joins one, still split: no piece more */
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "1 1 2 1");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "1KiB 2MiB-512 2MiB+512 2MiB-512");
    heap_does(h, "f 4; f 3"); /* one apart, then one that joins both sides */
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "1 2 3 2");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "1MiB+1536 2MiB-512 3MiB+1024 2MiB-512");
    heap_close(h);
}

/* What waits for an event is active, though not allocated: at once 31 MiB, of which no more than 21
 * were ever allocated. */
static void the_peak_of_what_is_active_counts_what_is_pending(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB; a 2 1MiB; r 1 16; r 2 16; p; f 1; f 2; a 3 10MiB");
    heap_stat_shows(h, FL_STAT_ALLOCATED_BYTES, "10MiB 21MiB 31MiB 21MiB");
    heap_stat_shows(h, FL_STAT_ACTIVE_BYTES, "31MiB 31MiB 31MiB 0");
    heap_stat_shows(h, FL_STAT_ACTIVE, "3 3 3 0");
    heap_does(h, "c; f 3; a 4 512");
    heap_stat_shows(h, FL_STAT_ACTIVE_BYTES, "512 31MiB 31MiB+512 31MiB");
    heap_stat_shows(h, FL_STAT_ACTIVE, "1 3 4 3");
    heap_close(h);
}

static void the_free_that_makes_a_segment_whole_takes_both_pieces_off(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 1MiB; a 2 512; a 3 1MiB-512; f 1; f 3");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "2 2 3 1");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "2MiB-512 2MiB-512 3MiB-512 1MiB");
    heap_does(h, "f 2");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "0 2 3 3");
    heap_close(h);
}

/* ---- statistics and the split limit as it is now (8.2, 9.1) ---------------------------------- */

static void active_bytes_last_until_the_free_completes(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 11776KiB; r 1 16; p; f 1");
    heap_stat_shows(h, FL_STAT_ALLOCATION, "0 1 1 1");
    heap_stat_shows(h, FL_STAT_ALLOCATED_BYTES, "0 12MiB 12MiB 12MiB");
    heap_stat_shows(h, FL_STAT_ACTIVE, "1 1 1 0");
    heap_stat_shows(h, FL_STAT_ACTIVE_BYTES, "12MiB 12MiB 12MiB 0");
    heap_stat_shows(h, FL_STAT_REQUESTED_BYTES, "11776KiB 11776KiB 11776KiB 0");
    heap_does(h, "c; a 2 0"); /* never enters, so no event is looked at */
    heap_stat_shows(h, FL_STAT_ACTIVE, "1 1 1 0");
    heap_does(h, "a 3 1");
    heap_stat_shows(h, FL_STAT_ACTIVE_BYTES, "512 12MiB 12MiB+512 12MiB");
    heap_stat_shows(h, FL_STAT_REQUESTED_BYTES, "1 11776KiB 12058625 11776KiB");
    heap_close(h);
}

/* Both together peaked while the large pool had its 20 MiB. */
static void each_kind_of_pool_has_its_own_count(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 1; a 2 20MiB; f 2; e; a 3 1MiB; a 4 1MiB");
    const fl_stat *reserved = heap_stats(h)->stat[FL_STAT_RESERVED_BYTES];
    assert_int_equal(reserved[FL_STAT_ALL].current, MIB(4));
    assert_int_equal(reserved[FL_STAT_ALL].peak, MIB(22));
    assert_int_equal(reserved[FL_STAT_SMALL].current, MIB(4));
    assert_int_equal(reserved[FL_STAT_SMALL].peak, MIB(4));
    assert_int_equal(reserved[FL_STAT_LARGE].current, 0);
    assert_int_equal(reserved[FL_STAT_LARGE].peak, MIB(20));
    assert_int_equal(reserved[FL_STAT_LARGE].freed, MIB(20));
    heap_close(h);
}

static void a_free_counts_as_oversize_by_the_limit_of_its_time(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 64MiB; a 2 62MiB; split 64MiB; a 3 70MiB; f 3");
    assert_int_equal(heap_stats(h)->oversize_allocations.current, 0);
    assert_int_equal(heap_stats(h)->oversize_allocations.peak, 1);
    heap_does(h, "f 2");
    assert_int_equal(heap_stats(h)->oversize_allocations.freed, 1);
    heap_does(h, "f 1");
    assert_int_equal(heap_stats(h)->oversize_allocations.freed, 2);
    heap_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_merges_with_both_neighbours),
        cmocka_unit_test(the_object_that_is_freed_survives_with_its_requested_size),
        cmocka_unit_test(the_remainder_of_a_split_is_the_old_object),
        cmocka_unit_test(a_pending_neighbour_is_not_merged_until_its_event_completes),
        cmocka_unit_test(mapped_and_unmapped_neighbours_are_not_merged),
        cmocka_unit_test(a_split_of_a_whole_segment_counts_its_remainder),
        cmocka_unit_test(a_split_of_a_piece_takes_its_bytes_off),
        cmocka_unit_test(a_piece_handed_out_whole_counts_no_more),
        cmocka_unit_test(a_whole_segment_handed_out_whole_never_counts),
        cmocka_unit_test(a_free_moves_inactive_split_by_the_net_of_its_merges),
        cmocka_unit_test(the_peak_of_what_is_active_counts_what_is_pending),
        cmocka_unit_test(the_free_that_makes_a_segment_whole_takes_both_pieces_off),
        cmocka_unit_test(active_bytes_last_until_the_free_completes),
        cmocka_unit_test(each_kind_of_pool_has_its_own_count),
        cmocka_unit_test(a_free_counts_as_oversize_by_the_limit_of_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
