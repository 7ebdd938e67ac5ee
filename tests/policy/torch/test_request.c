#include "heap_builder.h"

#include "test.h"

#include <stdio.h>

/* ---- sizes (4, 20) --------------------------------------------------------------------------- */

static void small_requests_share_a_segment_of_2_mib(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_shows(h, "a 1 1", "+ 0 2MiB; A 1 0:0 512");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "1 1 1 0");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "2MiB-512 2MiB-512 2MiB-512 0");
    heap_shows(h, "a 2 1MiB", "A 2 0:512 1MiB");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "1MiB-512 2MiB-512 2MiB-512 1MiB");
    heap_shows(h, "a 3 1MiB", "+ 1 2MiB; A 3 1:0 1MiB");
    heap_shows(h, "a 4 1MiB+1", "+ 2 20MiB; A 4 2:0 1MiB+512");
    heap_shows(h, "s",
               "S 0:0 2MiB small; B 512 1 live; B 1MiB 1MiB live; B 1MiB-512 0 free; "
               "S 1:0 2MiB small; B 1MiB 1MiB live; B 1MiB 0 free; "
               "S 2:0 20MiB large; B 1MiB+512 1MiB+1 live; B 19MiB-512 0 free");
    heap_close(h);
}

static void a_segment_is_20_mib_below_10_and_even_mib_from_there(void **state)
{
    (void)state;
    heap_example("a 1 10MiB-512", "+ 0 20MiB; A 1 0:0 10MiB-512", .release = "2.9.1");
    heap_example("a 1 10MiB-511", "+ 0 10MiB; A 1 0:0 10MiB", .release = "2.9.1");
    heap_example("a 1 10MiB", "+ 0 10MiB; A 1 0:0 10MiB", .release = "2.9.1");
    heap_example("a 1 10MiB+1; s",
                 "+ 0 12MiB; A 1 0:0 10MiB+512; "
                 "S 0:0 12MiB large; B 10MiB+512 10MiB+1 live; B 2MiB-512 0 free",
                 .release = "2.9.1");
    heap_example("a 1 9MiB", "+ 0 24MiB; A 1 0:0 9MiB", .release = "2.11.0",
                 .large_segment = MIB(24));
}

static void a_tail_of_up_to_1_mib_is_handed_out_with_the_block(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_shows(h, "a 1 11776KiB", "+ 0 12MiB; A 1 0:0 12MiB");
    heap_stat_shows(h, FL_STAT_ALLOCATED_BYTES, "12MiB 12MiB 12MiB 0");
    heap_stat_shows(h, FL_STAT_REQUESTED_BYTES, "11776KiB 11776KiB 11776KiB 0");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "0 0 0 0");
    heap_close(h);
}

static void the_size_after_division_rounding_chooses_the_segment(void **state)
{
    (void)state;
    heap_example("a 1 9MiB", "+ 0 20MiB; A 1 0:0 9MiB", .release = "2.9.1", .divisions = 8);
    heap_example("a 1 9MiB", "+ 0 10MiB; A 1 0:0 10MiB", .release = "2.9.1", .divisions = 4);
    /* Guarded: a size is divided only above 512 times the divisions. */
    heap_example("a 1 1200; a 2 2048; a 3 2049",
                 "+ 0 2MiB; A 1 0:0 1536; A 2 0:1536 2KiB; A 3 0:3584 2560", .release = "2.9.1",
                 .divisions = 4);
}

static void one_division_left_sizes_unrounded_up_to_2_3(void **state)
{
    (void)state;
    heap_example("a 1 600; a 2 1", "+ 0 2MiB; A 1 0:0 600; A 2 0:600 512", .release = "2.3.1",
                 .divisions = 1);
    heap_example("a 1 600; a 2 1", "+ 0 2MiB; A 1 0:0 1KiB; A 2 0:1KiB 512", .release = "2.4.1",
                 .divisions = 1);
}

static void zero_bytes_never_reach_the_allocator(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_shows(h, "a 1 0; r 1 16; f 1", "A 1 null");
    heap_stat_shows(h, FL_STAT_ALLOCATION, "0 0 0 0");
    heap_close(h);
}

static void absurd_sizes_are_refused_without_overflow(void **state)
{
    (void)state;
    static const char *const sizes[] = {
        "1152921504606846976",                          /* 2^60 */
        "9223372036854775808",                          /* 2^63 */
        "18446744073709551104",                         /* 2^64-512 */
        "18446744073709551105", "18446744073709551615", /* 2^64-1 */
    };
    for (size_t release = 0; fl_profile_at(release) != NULL; release++) {
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            heap *h = heap_open((heap_conf){.release = fl_profile_release(fl_profile_at(release)),
                                            .capacity = MIB(100),
                                            .fraction = 0.5,
                                            .expandable = i % 2 == 1});
            char script[64];
            snprintf(script, sizeof script, "a 1 %s", sizes[i]);
            heap_shows(h, script, "O 1");
            assert_int_equal(heap_stats(h)->ooms, 1);
            assert_int_equal(heap_device(h)->used_bytes, 0);
            heap_shows(h, "a 2 20MiB; f 2",
                       i % 2 == 1 ? "R 0 120MiB; M 0:0 20MiB; A 2 0:0 20MiB; F 2"
                                  : "+ 0 20MiB; A 2 0:0 20MiB; F 2");
            heap_close(h);
        }
    }
}

static void on_a_card_without_limit_they_do_not_overflow_either(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_shows(h, "a 1 1152921504606846976; a 2 1152921504606846976; f 1; f 2; e",
               "+ 0 1099511627776MiB; A 1 0:0 1099511627776MiB; + 1 1099511627776MiB; "
               "A 2 1:0 1099511627776MiB; F 1; F 2; - 0 1099511627776MiB trim; "
               "- 1 1099511627776MiB trim");
    heap_shows(h, "a 3 18446744073709551615", "O 3");
    heap_close(h);
    /* A range is made for a card of 1 TiB: too small, and released again. */
    h = heap_open((heap_conf){.release = "2.9.1", .expandable = true});
    heap_does(h, "a 1 1152921504606846976; e");
    assert_int_equal(heap_stats(h)->ooms, 1);
    assert_int_equal(heap_device(h)->used_bytes, 0);
    heap_close(h);
}

/* ---- the limit (7, 13) ----------------------------------------------------------------------- */

static void the_limit_counts_whole_segments_and_may_be_reached(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(400), .fraction = 0.25});
    heap_shows(h, "a 1 80MiB; a 2 20MiB", "+ 0 80MiB; A 1 0:0 80MiB; + 1 20MiB; A 2 1:0 20MiB");
    heap_shows(h, "a 3 1", "O 3");
    heap_close(h);
}

static void a_refusal_by_the_limit_calls_no_driver_and_counts_one_retry(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(400), .fraction = 0.25});
    heap_does(h, "a 1 90MiB");
    assert_null(heap_refusal(h));
    heap_shows(h, "a 2 1536KiB", "O 2");
    assert_int_equal(heap_device(h)->refusals, 0);
    assert_int_equal(heap_stats(h)->alloc_retries, 1);
    assert_int_equal(heap_stats(h)->ooms, 1);
    assert_int_equal(heap_refusal(h)->requested_bytes, 1536 * FL_KIB);
    assert_int_equal(heap_refusal(h)->segment_bytes, MIB(20));
    assert_int_equal(heap_refusal(h)->device_free_bytes, MIB(310));
    heap_close(h);
}

static void each_segment_is_counted_as_it_comes(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(42)});
    heap_does(h, "a 1 1; a 2 20MiB; a 3 20MiB; a 4 20MiB; f 2; a 5 20MiB");
    assert_int_equal(heap_stats(h)->device_allocs, 3);
    heap_stat_shows(h, FL_STAT_SEGMENT, "3 3 3 0");
    heap_close(h);
}

/* ---- the ladder (6) -------------------------------------------------------------------------- */

static void everything_cached_goes_before_a_request_is_refused(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(40)});
    heap_does(h, "a 1 20MiB; f 1");
    heap_shows(h, "a 2 30MiB", "! 30MiB; - 0 20MiB all; + 1 30MiB; A 2 1:0 30MiB");
    assert_int_equal(heap_stats(h)->alloc_retries, 1);
    assert_int_equal(heap_stats(h)->ooms, 0);
    heap_shows(h, "a 3 30MiB", "! 30MiB; ! 30MiB; O 3");
    assert_int_equal(heap_stats(h)->alloc_retries, 2);
    assert_int_equal(heap_stats(h)->ooms, 1);
    assert_int_equal(heap_stats(h)->sync_all_streams, 2);
    heap_close(h);
}

static void what_a_refused_request_released_stays_released(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(40)});
    heap_does(h, "a 1 20MiB; a 2 1; f 1; f 2");
    heap_shows(h, "a 3 50MiB", "! 50MiB; - 0 20MiB all; - 1 2MiB all; ! 50MiB; O 3");
    heap_shows(h, "s", "");
    assert_int_equal(heap_refusal(h)->cached_free_bytes, 0);
    heap_close(h);
}

static void enough_oversize_blocks_make_room_without_a_retry(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(200), .split = MIB(64)});
    heap_does(h, "a 1 64MiB; a 2 90MiB; f 1; f 2");
    heap_shows(h, "a 3 100MiB",
               "! 100MiB; - 1 90MiB available; - 0 64MiB available; + 2 100MiB; A 3 2:0 100MiB");
    assert_int_equal(heap_stats(h)->alloc_retries, 0);
    heap_close(h);
}

static void no_second_search_follows_when_everything_is_released(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(20)});
    heap_does(h, "a 1 9MiB; a 2 9MiB; r 1 16; p; f 1");
    heap_shows(h, "a 3 9MiB", "! 20MiB; d 1; ! 20MiB; O 3");
    heap_shows(h, "a 4 9MiB", "A 4 0:0 9MiB");
    heap_close(h);
}

static void collection_comes_before_the_first_attempt(void **state)
{
    (void)state;
    heap *h = heap_open(
        (heap_conf){.release = "2.9.1", .capacity = MIB(200), .fraction = 0.5, .collect = 0.5});
    heap_does(h, "a 1 60MiB; f 1");
    heap_shows(h, "a 2 70MiB", "- 0 60MiB collect; + 1 70MiB; A 2 1:0 70MiB");
    assert_int_equal(heap_stats(h)->alloc_retries, 0);
    heap_close(h);
}

static void during_a_capture_nothing_is_released_for_a_request(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(40)});
    heap_does(h, "a 1 20MiB; f 1; b 1");
    heap_shows(h, "a 2 30MiB", "! 30MiB; O 2");
    assert_int_equal(heap_stats(h)->alloc_retries, 0);
    heap_close(h);
    h = heap_open((heap_conf){.release = "2.13.0", .capacity = MIB(40)});
    heap_does(h, "a 1 20MiB; f 1; b 1");
    heap_shows(h, "a 2 30MiB", "! 30MiB; - 0 20MiB all; + 1 30MiB pool 1; A 2 1:0 30MiB");
    heap_close(h);
}

/* ---- throw_on_cudamalloc_oom (15.5, 22.14) --------------------------------------------------- */

static void a_rejection_keeps_everything_and_counts_apart(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.12.0",
                                    .capacity = MIB(400),
                                    .fraction = 1,
                                    .process_fraction = 0.25,
                                    .rejects = true});
    heap_shows(h, "a 1 80MiB; a 2 20MiB; f 2",
               "+ 0 80MiB; A 1 0:0 80MiB; + 1 20MiB; A 2 1:0 20MiB; F 2");
    heap_shows(h, "a 3 22MiB", "J 3");
    heap_shows(h, "a 4 1", "J 4");
    assert_int_equal(heap_stats(h)->oom_rejections, 2);
    assert_int_equal(heap_stats(h)->ooms, 0);
    assert_int_equal(heap_stats(h)->alloc_retries, 0);
    heap_shows(h, "a 5 20MiB", "A 5 1:0 20MiB");
    heap_close(h);
}

static void the_limit_is_tested_before_the_rejection(void **state)
{
    (void)state;
    heap_example("a 1 102MiB", "O 1", .release = "2.12.0", .capacity = MIB(400),
                 .process_fraction = 0.25, .rejects = true);
    heap_example("a 1 102MiB", "J 1", .release = "2.12.0", .capacity = MIB(400), .fraction = 0.5,
                 .process_fraction = 0.25, .rejects = true);
}

/* ---- oversize counters (7, 8.2, 9.1, 10.5) --------------------------------------------------- */

static void oversize_segments_and_allocations_are_counted(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .split = MIB(64)});
    heap_does(h, "a 1 64MiB-512"); /* a segment of 64 MiB, all but its tail handed out */
    assert_int_equal(heap_stats(h)->oversize_segments.current, 1);
    assert_int_equal(heap_stats(h)->oversize_allocations.current, 1);
    heap_does(h, "a 2 64MiB-1048577; a 3 62MiB; f 2; f 3");
    assert_int_equal(heap_stats(h)->oversize_segments.current, 2);
    assert_int_equal(heap_stats(h)->oversize_allocations.current, 1);
    heap_does(h, "f 1; e");
    assert_int_equal(heap_stats(h)->oversize_segments.current, 0);
    assert_int_equal(heap_stats(h)->oversize_segments.freed, 2);
    assert_int_equal(heap_stats(h)->oversize_allocations.current, 0);
    heap_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_requests_share_a_segment_of_2_mib),
        cmocka_unit_test(a_segment_is_20_mib_below_10_and_even_mib_from_there),
        cmocka_unit_test(a_tail_of_up_to_1_mib_is_handed_out_with_the_block),
        cmocka_unit_test(the_size_after_division_rounding_chooses_the_segment),
        cmocka_unit_test(one_division_left_sizes_unrounded_up_to_2_3),
        cmocka_unit_test(zero_bytes_never_reach_the_allocator),
        cmocka_unit_test(absurd_sizes_are_refused_without_overflow),
        cmocka_unit_test(on_a_card_without_limit_they_do_not_overflow_either),
        cmocka_unit_test(the_limit_counts_whole_segments_and_may_be_reached),
        cmocka_unit_test(a_refusal_by_the_limit_calls_no_driver_and_counts_one_retry),
        cmocka_unit_test(each_segment_is_counted_as_it_comes),
        cmocka_unit_test(everything_cached_goes_before_a_request_is_refused),
        cmocka_unit_test(what_a_refused_request_released_stays_released),
        cmocka_unit_test(enough_oversize_blocks_make_room_without_a_retry),
        cmocka_unit_test(no_second_search_follows_when_everything_is_released),
        cmocka_unit_test(collection_comes_before_the_first_attempt),
        cmocka_unit_test(during_a_capture_nothing_is_released_for_a_request),
        cmocka_unit_test(a_rejection_keeps_everything_and_counts_apart),
        cmocka_unit_test(the_limit_is_tested_before_the_rejection),
        cmocka_unit_test(oversize_segments_and_allocations_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
