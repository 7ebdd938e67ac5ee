#include "heap_builder.h"

#include "test.h"

#include <stdio.h>

static heap *open_expandable(const char *release, uint64_t capacity)
{
    return heap_open((heap_conf){.release = release, .capacity = capacity, .expandable = true});
}

/* ---- ranges and pages (11.1, 11.2) ----------------------------------------------------------- */

static void a_range_is_nine_eighths_of_the_card_in_whole_pages(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(160));
    heap_shows(h, "a 1 1", "R 0 180MiB; M 0:0 2MiB; A 1 0:0 512");
    heap_shows(h, "a 2 3MiB", "R 1 180MiB; M 1:0 20MiB; A 2 1:0 3MiB");
    heap_shows(h, "a 3 1 16", "R 2 180MiB stream 16; M 2:0 2MiB; A 3 2:0 512");
    heap_close(h);
    h = open_expandable("2.9.1", MIB(170)); /* 191.25 MiB */
    heap_shows(h, "a 1 1; a 2 2MiB",
               "R 0 192MiB; M 0:0 2MiB; A 1 0:0 512; R 1 200MiB; M 1:0 20MiB; A 2 1:0 2MiB");
    heap_close(h);
    h = heap_open((heap_conf){
        .release = "2.11.0", .capacity = MIB(160), .expandable = true, .large_segment = MIB(32)});
    heap_shows(h, "a 1 33MiB", "R 0 192MiB; M 0:0 64MiB; A 1 0:0 33MiB");
    heap_close(h);
}

/* From 2.15 on a setting makes it smaller, never larger (18.6). */
static void a_range_is_as_large_as_its_setting_says(void **state)
{
    (void)state;
    static const struct {
        const char *reserve, *range;
    } cases[] = {{"0.25", "520MiB"}, {"1G", "1040MiB"}, {"1.2", "2320MiB"}, {"3G", "2320MiB"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char ops[96], changes[96];
        snprintf(ops, sizeof ops, "C expandable_segments_reserve:%s; expandable on; a 1 3MiB",
                 cases[i].reserve);
        snprintf(changes, sizeof changes, "R 0 %s; M 0:0 20MiB; A 1 0:0 3MiB", cases[i].range);
        heap_example(ops, changes, .release = "2.15.0", .capacity = MIB(2048));
    }
}

static void what_is_mapped_counts_as_reserved_but_not_as_segment(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(160));
    heap_does(h, "a 1 3MiB");
    heap_stat_shows(h, FL_STAT_RESERVED_BYTES, "20MiB 20MiB 20MiB 0");
    heap_stat_shows(h, FL_STAT_SEGMENT, "0 0 0 0");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "0 0 0 0");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "0 0 0 0");
    heap_does(h, "f 1");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "0 0 0 0");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "0 0 0 0");
    assert_int_equal(heap_stats(h)->device_allocs, 1);
    heap_close(h);
}

/* ---- growing (11.4) -------------------------------------------------------------------------- */

static void a_free_block_before_the_unmapped_rest_grows(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(160));
    heap_shows(h, "a 1 3MiB", "R 0 180MiB; M 0:0 20MiB; A 1 0:0 3MiB");
    heap_shows(h, "a 2 18MiB", "M 0:20MiB 20MiB; A 2 0:3MiB 18MiB");
    heap_shows(h, "s",
               "S 0:0 40MiB large exp; B 3MiB 3MiB live; B 18MiB 18MiB live; "
               "B 19MiB 0 free");
    heap_close(h);
}

static void the_limit_counts_the_segment_though_less_or_more_is_mapped(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){
        .release = "2.9.1", .capacity = MIB(160), .fraction = 0.25, .expandable = true});
    heap_does(h, "a 1 3MiB");
    heap_shows(h, "a 2 18MiB", "M 0:20MiB 20MiB; A 2 0:3MiB 18MiB"); /* 20 + 18 of 40 */
    heap_shows(h, "a 3 20MiB", "O 3");                               /* one MiB would do */
    heap_shows(h, "a 4 19MiB", "A 4 0:21MiB 19MiB");
    heap_shows(h, "a 5 1", "O 5");
    assert_int_equal(heap_device(h)->refusals, 0);
    heap_close(h);
    /* 40 MiB held of 54: a request of 14 MiB maps 20. */
    h = heap_open((heap_conf){
        .release = "2.9.1", .capacity = MIB(216), .fraction = 0.25, .expandable = true});
    heap_does(h, "a 1 40MiB");
    heap_shows(h, "a 2 14MiB", "M 0:40MiB 20MiB; A 2 0:40MiB 14MiB");
    heap_stat_shows(h, FL_STAT_RESERVED_BYTES, "60MiB 60MiB 60MiB 0");
    heap_close(h);
}

static void a_request_can_run_over_several_free_and_unmapped_pieces(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(400));
    heap_does(h, "a 1 20MiB; a 2 20MiB; a 3 20MiB; a 4 20MiB; f 1; f 3; e; f 2");
    heap_shows(h, "s",
               "S 0:20MiB 20MiB large exp; B 20MiB 20MiB free; "
               "S 0:60MiB 20MiB large exp; B 20MiB 20MiB live");
    heap_shows(h, "a 5 50MiB", "M 0:0 20MiB; M 0:40MiB 20MiB; A 5 0:0 50MiB");
    heap_shows(h, "s",
               "S 0:0 80MiB large exp; B 50MiB 50MiB live; B 10MiB 20MiB free; "
               "B 20MiB 20MiB live");
    assert_int_equal(heap_stats(h)->device_allocs, 6);
    heap_close(h);
}

static void a_range_too_fragmented_for_a_request_gets_a_brother(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(160));
    heap_does(h, "a 1 100MiB; a 2 20MiB; f 1");
    heap_shows(h, "e", "U 0:0 100MiB trim");
    heap_shows(h, "a 3 110MiB",
               "R 1 180MiB; M 1:0 120MiB; A 3 1:0 110MiB"); /* 60 MiB are left behind block 2 */
    heap_close(h);
}

static void pages_of_a_failed_call_go_back_but_earlier_calls_stay_mapped(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(100));
    heap_does(h, "a 1 20MiB; a 2 20MiB; a 3 20MiB; f 2; e");
    heap_shows(h, "f 3; e", "F 3; U 0:40MiB 20MiB trim");
    /* One unmapped run of the range, and one call: nothing of it stays. */
    heap_shows(h, "a 4 90MiB", "C! 20MiB; C! 20MiB; O 4");
    heap_stat_shows(h, FL_STAT_RESERVED_BYTES, "20MiB 60MiB 60MiB 40MiB");
    assert_int_equal(heap_device(h)->used_bytes, MIB(20));
    heap_close(h);
}

static void pieces_mapped_on_the_way_to_a_failure_stay(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(140));
    /* Unmapped 20, free 20 kept by nobody, unmapped rest: pieces before and behind a free block. */
    heap_does(h, "a 1 20MiB; a 2 20MiB; a 3 20MiB; a 4 60MiB 16; f 1; e; f 2");
    heap_shows(h, "s",
               "S 0:20MiB 40MiB large exp; B 20MiB 20MiB free; B 20MiB 20MiB live; "
               "S 1:0 60MiB large stream 16 exp; B 60MiB 60MiB live");
    heap_shows(h, "f 3; a 5 100MiB",
               "F 3; M 0:0 20MiB; C! 20MiB; U 0:0 60MiB all; r 0 160MiB all; R 2 160MiB; C! 20MiB; "
               "O 5");
    heap_close(h);
}

static void a_request_that_is_larger_than_the_card_leaves_a_range_before_2_15(void **state)
{
    (void)state;
    heap_example("a 1 200MiB", "R 0 180MiB; C! 20MiB; R 1 180MiB; C! 20MiB; O 1",
                 .release = "2.14.1", .capacity = MIB(160), .expandable = true);
    heap_example("a 1 200MiB", "O 1", .release = "2.15.0", .capacity = MIB(160),
                 .expandable = true);
    heap_example("a 1 180MiB", "R 0 180MiB; C! 20MiB; C! 20MiB; O 1", .release = "2.15.0",
                 .capacity = MIB(160), .expandable = true);
}

static void a_range_that_is_mapped_to_its_end_is_refused_all_the_same(void **state)
{
    (void)state;
    /* A card that grants more than it says. */
    heap *h = heap_open((heap_conf){
        .release = "2.14.1", .capacity = MIB(200), .total = MIB(32), .expandable = true});
    heap_shows(h, "a 1 60MiB",
               "R 0 40MiB; M 0:0 40MiB; U 0:0 40MiB all; r 0 40MiB all; R 1 40MiB; M 1:0 40MiB; "
               "O 1");
    heap_shows(h, "s", "S 1:0 40MiB large exp; B 40MiB 0 free");
    heap_close(h);
}

static void a_card_that_claims_all_addresses_has_no_range(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){
        .release = "2.9.1", .capacity = MIB(200), .total = UINT64_MAX - 1, .expandable = true});
    fl_error error = {0};
    assert_int_equal(heap_try(h, "a 1 60MiB", &error), FL_ERR_UNAVAILABLE);
    heap_drop(h);
}

/* ---- with a split limit (11.4) --------------------------------------------------------------- */

static void a_block_at_the_limit_before_the_unmapped_rest_is_reused_without_mapping(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){
        .release = "2.9.1", .capacity = MIB(400), .split = MIB(64), .expandable = true});
    heap_shows(h, "a 1 80MiB; f 1", "R 0 460MiB; M 0:0 80MiB; A 1 0:0 80MiB; F 1");
    heap_shows(h, "a 2 10MiB", "A 2 0:0 10MiB");
    assert_int_equal(heap_stats(h)->device_allocs, 1);
    heap_close(h);
    /* But the limit is asked, for the whole segment. */
    h = heap_open((heap_conf){.release = "2.9.1",
                              .capacity = MIB(400),
                              .split = MIB(64),
                              .fraction = 0.2,
                              .expandable = true});
    heap_does(h, "a 1 80MiB; f 1");
    heap_shows(h, "a 2 10MiB",
               "U 0:0 80MiB all; r 0 460MiB all; R 1 460MiB; M 1:0 20MiB; "
               "A 2 1:0 10MiB");
    heap_close(h);
}

static void a_block_at_the_limit_that_is_fenced_in_is_not_reused(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){
        .release = "2.9.1", .capacity = MIB(400), .split = MIB(64), .expandable = true});
    heap_does(h, "a 1 80MiB; a 2 20MiB; f 1");
    heap_shows(h, "a 3 10MiB", "M 0:100MiB 20MiB; A 3 0:100MiB 10MiB");
    heap_shows(h, "a 4 80MiB", "A 4 0:0 80MiB");
    heap_close(h);
}

/* ---- shrinking (11.3, 11.5) ------------------------------------------------------------------ */

static void only_whole_pages_of_a_free_block_are_unmapped(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(160));
    heap_does(h, "a 1 3MiB; a 2 50MiB; a 3 3MiB; f 2");
    heap_shows(h, "e", "U 0:20MiB 20MiB trim");
    heap_shows(h, "s",
               "S 0:0 20MiB large exp; B 3MiB 3MiB live; B 17MiB 0 free; "
               "S 0:40MiB 20MiB large exp; B 13MiB 0 free; B 3MiB 3MiB live; "
               "B 4MiB 0 free");
    heap_shows(h, "e", ""); /* no whole page in any of them */
    heap_shows(h, "a 4 30MiB", "M 0:20MiB 20MiB; A 4 0:3MiB 30MiB");
    heap_close(h);
}

static void small_pages_are_2_mib(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(160));
    heap_does(h, "a 1 1MiB; a 2 1MiB; a 3 1MiB; a 4 1MiB; a 5 1MiB; f 2; f 3; f 4");
    heap_shows(h, "e", "U 0:2MiB 2MiB trim");
    heap_close(h);
}

static void neighbouring_unmapped_ranges_become_one(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(160));
    heap_does(h, "a 1 20MiB; a 2 20MiB; a 3 20MiB; f 1; e; f 3; e");
    heap_shows(h, "f 2; e", "F 2; U 0:20MiB 20MiB trim; r 0 180MiB trim");
    assert_int_equal(heap_stats(h)->device_frees, 3);
    assert_int_equal(heap_device(h)->used_bytes, 0);
    heap_close(h);
}

static void a_range_without_anything_mapped_is_given_back(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(160));
    heap_does(h, "a 1 60MiB; f 1");
    heap_shows(h, "e", "U 0:0 60MiB trim; r 0 180MiB trim");
    heap_shows(h, "a 2 2MiB", "R 1 180MiB; M 1:0 20MiB; A 2 1:0 2MiB");
    heap_close(h);
}

/* ---- switched off, and private pools (5.2, 11.6) --------------------------------------------- */

static void blocks_stay_and_are_unmapped_after_it_is_switched_off(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(160));
    heap_does(h, "a 1 20MiB; f 1");
    heap_shows(h, "expandable off; a 2 20MiB", "+ 1 20MiB; A 2 1:0 20MiB");
    heap_shows(h, "e", "U 0:0 20MiB trim; r 0 180MiB trim");
    heap_close(h);
}

static void private_pools_are_expandable_from_2_5_on(void **state)
{
    (void)state;
    heap *h = open_expandable("2.4.1", MIB(160));
    /* Whole segments before, split down to 512 bytes like expandable ones. */
    heap_shows(h, "b 1; a 1 12MiB-512", "+ 0 12MiB pool 1; A 1 0:0 12MiB-512");
    heap_close(h);
    h = open_expandable("2.5.1", MIB(160));
    heap_shows(h, "b 1; a 1 12MiB", "R 0 180MiB pool 1; M 0:0 20MiB; A 1 0:0 12MiB");
    heap_close(h);
}

/* Raised once for each request that mapped, lowered once for each block that is unmapped. */
static void the_count_of_a_private_pool_is_not_a_true_count(void **state)
{
    (void)state;
    heap *h = open_expandable("2.9.1", MIB(400));
    heap_does(h, "b 1; a 1 60MiB; a 2 2MiB; a 3 20MiB");
    assert_int_equal(heap_state(h)->privates.items[0].device_allocs, 3);
    heap_does(h, "f 1; q 1; x 1");
    heap_shows(h, "e", "U 0:0 60MiB trim");
    assert_int_equal(heap_state(h)->privates.items[0].device_allocs, 2);
    heap_close(h);
}

/* One request mapped what is unmapped in two pieces. */
static void a_count_that_would_fall_below_zero_is_an_assertion(void **state)
{
    (void)state;
    static const char setup[] =
        "b 1; a 1 60MiB; f 1; a 2 20MiB; a 3 20MiB; a 4 20MiB; q 1; f 2; f 4; x 1";
    heap *h = open_expandable("2.9.1", MIB(80));
    heap_does(h, setup);
    heap_shows(h, "e", "U 0:0 20MiB trim; U 0:40MiB 20MiB trim; E");
    heap_close(h);
    h = open_expandable("2.9.1", MIB(80));
    heap_does(h, setup);
    heap_shows(h, "a 5 30MiB", "R 1 100MiB; C! 20MiB; U 0:0 20MiB all; U 0:40MiB 20MiB all; E 5");
    assert_int_equal(heap_stats(h)->ooms, 0);
    heap_close(h);
}

/* So a pool is deleted while it has live blocks, and the released binaries crash (22.9). */
static void a_pool_deleted_with_live_blocks_does_no_harm_here(void **state)
{
    (void)state;
    for (size_t i = 5; fl_profile_at(i) != NULL; i++) {
        heap *h = open_expandable(fl_profile_release(fl_profile_at(i)), MIB(400));
        heap_shows(h, "b 1; a 1 62914560 0; f 1; a 2 2097152 0; q 1; x 1",
                   "R 0 460MiB pool 1; M 0:0 60MiB; A 1 0:0 60MiB; F 1; A 2 0:0 2MiB");
        heap_does(h, "e; f 2; a 3 2MiB; f 3; e; b 1; a 4 2MiB; q 1; f 4; x 1; e");
        heap_close(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_nine_eighths_of_the_card_in_whole_pages),
        cmocka_unit_test(a_range_is_as_large_as_its_setting_says),
        cmocka_unit_test(what_is_mapped_counts_as_reserved_but_not_as_segment),
        cmocka_unit_test(a_free_block_before_the_unmapped_rest_grows),
        cmocka_unit_test(the_limit_counts_the_segment_though_less_or_more_is_mapped),
        cmocka_unit_test(a_request_can_run_over_several_free_and_unmapped_pieces),
        cmocka_unit_test(a_range_too_fragmented_for_a_request_gets_a_brother),
        cmocka_unit_test(pages_of_a_failed_call_go_back_but_earlier_calls_stay_mapped),
        cmocka_unit_test(pieces_mapped_on_the_way_to_a_failure_stay),
        cmocka_unit_test(a_request_that_is_larger_than_the_card_leaves_a_range_before_2_15),
        cmocka_unit_test(a_range_that_is_mapped_to_its_end_is_refused_all_the_same),
        cmocka_unit_test(a_card_that_claims_all_addresses_has_no_range),
        cmocka_unit_test(a_block_at_the_limit_before_the_unmapped_rest_is_reused_without_mapping),
        cmocka_unit_test(a_block_at_the_limit_that_is_fenced_in_is_not_reused),
        cmocka_unit_test(only_whole_pages_of_a_free_block_are_unmapped),
        cmocka_unit_test(small_pages_are_2_mib),
        cmocka_unit_test(neighbouring_unmapped_ranges_become_one),
        cmocka_unit_test(a_range_without_anything_mapped_is_given_back),
        cmocka_unit_test(blocks_stay_and_are_unmapped_after_it_is_switched_off),
        cmocka_unit_test(private_pools_are_expandable_from_2_5_on),
        cmocka_unit_test(the_count_of_a_private_pool_is_not_a_true_count),
        cmocka_unit_test(a_count_that_would_fall_below_zero_is_an_assertion),
        cmocka_unit_test(a_pool_deleted_with_live_blocks_does_no_harm_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
