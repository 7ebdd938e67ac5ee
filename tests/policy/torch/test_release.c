#include "heap_builder.h"

#include "test.h"

/* ---- garbage collection (10.1, 20) ----------------------------------------------------------- */

/* A card of 2000 MiB, a limit of 1000, a threshold of 800. */
static heap *open_collected(const char *release)
{
    return heap_open(
        (heap_conf){.release = release, .capacity = MIB(2000), .fraction = 0.5, .collect = 0.8});
}

/* Requests of another stream that find their block age the free blocks of the pool. */
static void age_by_four(heap *h)
{
    heap_does(h, "a 91 2MiB 16; f 91; a 91 2MiB 16; f 91; a 91 2MiB 16; f 91; a 91 2MiB 16; f 91");
}

static void blocks_older_than_the_average_go_first_and_a_pass_is_finished(void **state)
{
    (void)state;
    heap *h = open_collected("2.9.1");
    heap_does(h, "a 90 2MiB 16; a 1 100MiB; a 2 50MiB; a 3 20MiB; a 4 710MiB; f 3");
    age_by_four(h);
    heap_does(h, "f 2");
    age_by_four(h);
    /* Ages 0, 4 and 8 and one more by the request itself; 100 MiB are to go. */
    heap_shows(h, "f 1; a 5 110MiB",
               "F 1; - 3 20MiB collect; - 2 50MiB collect; - 1 100MiB collect; + 5 110MiB; "
               "A 5 5:0 110MiB");
    heap_close(h);
}

static void a_pass_does_not_stop_at_its_target(void **state)
{
    (void)state;
    heap *h = open_collected("2.9.1");
    /* One byte less than nothing is to go: 802 of 800; both are as old as the average. */
    heap_does(h, "a 1 20MiB; a 2 22MiB; a 3 760MiB; f 1; f 2");
    heap_shows(h, "a 4 30MiB", "- 0 20MiB collect; - 1 22MiB collect; + 3 30MiB; A 4 3:0 30MiB");
    heap_close(h);
}

static void the_average_is_that_of_the_beginning_of_the_pass(void **state)
{
    (void)state;
    heap *h = open_collected("2.9.1");
    /* Ages 9, 9, 1 in order of size: when the first two are gone the last would be average. */
    heap_does(h, "a 90 2MiB 16; a 1 20MiB; a 2 22MiB; a 3 24MiB; a 4 740MiB; f 1; f 2");
    age_by_four(h);
    age_by_four(h);
    heap_shows(h, "f 3; a 5 30MiB",
               "F 3; - 1 20MiB collect; - 2 22MiB collect; + 5 30MiB; A 5 5:0 30MiB");
    heap_close(h);
}

static void an_age_equal_to_the_average_is_old_enough(void **state)
{
    (void)state;
    heap *h = open_collected("2.9.1");
    /* Ages 9, 5, 1: the middle one is the average. */
    heap_does(h, "a 90 2MiB 16; a 1 20MiB; a 2 22MiB; a 3 24MiB; a 4 740MiB; f 3");
    age_by_four(h);
    heap_does(h, "f 2");
    age_by_four(h);
    heap_shows(h, "f 1; a 5 30MiB",
               "F 1; - 2 22MiB collect; - 3 24MiB collect; + 5 30MiB; A 5 5:0 30MiB");
    heap_close(h);
}

static void nothing_is_collected_up_to_the_threshold(void **state)
{
    (void)state;
    heap *h = open_collected("2.9.1");
    heap_does(h, "a 1 20MiB; a 2 780MiB; f 1");
    heap_shows(h, "a 3 30MiB", "+ 2 30MiB; A 3 2:0 30MiB");
    heap_shows(h, "a 4 30MiB", "- 0 20MiB collect; + 3 30MiB; A 4 3:0 30MiB");
    heap_close(h);
}

static void only_whole_blocks_of_the_default_large_pool_are_collected(void **state)
{
    (void)state;
    heap *h = open_collected("2.9.1");
    heap_does(h, "a 1 1; f 1; b 1; a 2 20MiB; f 2; q 1; a 3 2MiB; a 4 780MiB; a 5 20MiB; f 5");
    heap_shows(h, "a 6 30MiB", "- 4 20MiB collect; + 5 30MiB; A 6 5:0 30MiB");
    heap_close(h);
}

static void a_request_for_any_pool_collects(void **state)
{
    (void)state;
    heap *h = open_collected("2.9.1");
    heap_does(h, "a 1 20MiB; a 2 800MiB; f 1");
    heap_shows(h, "a 3 1", "- 0 20MiB collect; + 2 2MiB; A 3 2:0 512");
    heap_close(h);
}

static void without_a_limit_nothing_is_collected(void **state)
{
    (void)state;
    static const char script[] = "F 1.0; a 1 20MiB; a 2 1800MiB; f 1; a 3 30MiB";
    heap_example(script,
                 "+ 0 20MiB; A 1 0:0 20MiB; + 1 1800MiB; A 2 1:0 1800MiB; F 1; "
                 "- 0 20MiB collect; + 2 30MiB; A 3 2:0 30MiB",
                 .release = "2.9.1", .capacity = MIB(2000), .collect = 0.8);
    /* From 2.10 on a fraction of 1 is no limit. */
    heap_example(script,
                 "+ 0 20MiB; A 1 0:0 20MiB; + 1 1800MiB; A 2 1:0 1800MiB; F 1; "
                 "+ 2 30MiB; A 3 2:0 30MiB",
                 .release = "2.10.0", .capacity = MIB(2000), .collect = 0.8);
}

static void expandable_blocks_count_for_the_average_but_stay(void **state)
{
    (void)state;
    heap *h = open_collected("2.5.1");
    heap_does(h, "a 1 20MiB; a 2 780MiB; f 1; expandable on; a 3 22MiB");
    heap_does(h, "f 3; expandable off");
    /* The expandable block is split by its unmapped rest and so not counted. */
    heap_shows(h, "a 4 30MiB", "- 0 20MiB collect; + 3 30MiB; A 4 3:0 30MiB");
    heap_close(h);
}

static void searches_that_find_nothing_are_the_clock_too(void **state)
{
    (void)state;
    heap *h = open_collected("2.9.1");
    /* Ages 2 and 1, an average of 1.5: 20 MiB are enough for the 12 that are to go. */
    heap_does(h, "a 1 20MiB; a 2 22MiB; a 3 740MiB; f 1; a 4 30MiB; f 2");
    heap_shows(h, "a 5 30MiB", "- 0 20MiB collect; + 4 30MiB; A 5 4:0 30MiB");
    heap_close(h);
}

static void searches_from_before_there_is_a_limit_do_not_count(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(2000), .collect = 0.8});
    heap_does(h, "a 1 20MiB; a 2 22MiB; a 3 740MiB; f 1; a 4 24MiB; f 2; F 0.5");
    heap_shows(h, "a 5 30MiB", "- 0 20MiB collect; - 1 22MiB collect; + 4 30MiB; A 5 4:0 30MiB");
    heap_close(h);
}

/* 0.7 of the limit is a byte less than 702 MiB, and 0.7 more. */
static void the_threshold_is_truncated(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1",
                                    .capacity = MIB(2000),
                                    .total = 1051571931,
                                    .fraction = 1,
                                    .collect = 0.7});
    heap_does(h, "a 1 20MiB; a 2 682MiB; f 1");
    heap_shows(h, "a 3 30MiB", "- 0 20MiB collect; + 2 30MiB; A 3 2:0 30MiB");
    heap_close(h);
}

static void a_target_that_is_just_met_ends_the_collection(void **state)
{
    (void)state;
    heap *h = open_collected("2.9.1");
    heap_does(h, "a 90 2MiB 16; a 1 20MiB; a 2 22MiB; a 3 758MiB; f 1");
    age_by_four(h);
    heap_shows(h, "f 2; a 4 30MiB", "F 2; - 1 20MiB collect; + 4 30MiB; A 4 4:0 30MiB");
    heap_close(h);
}

/* Ages 2, 3 and, of the expandable block, 1: without it the two would go in two passes. */
static void whole_expandable_blocks_lower_the_average(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.5.1", .capacity = MIB(1000), .total = MIB(160)});
    heap_does(h, "expandable on; a 1 180MiB; expandable off; a 90 2MiB 16; a 2 20MiB; a 3 22MiB");
    heap_does(h, "f 3; F 1; collect 0.5; a 91 2MiB 16; f 91; f 2; a 92 2MiB 16; f 1");
    heap_shows(h, "a 4 30MiB",
               "- 2 20MiB collect; - 3 22MiB collect; U 0:0 180MiB all; r 0 180MiB all; + 4 30MiB; "
               "A 4 4:0 30MiB");
    heap_close(h);
}

/* ---- release-available (10.2) ---------------------------------------------------------------- */

static void one_block_that_holds_the_request_is_enough(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(300), .split = MIB(64)});
    heap_does(h, "a 1 64MiB; a 2 100MiB; a 3 90MiB; f 1; f 2; f 3");
    heap_shows(h, "a 4 50MiB", "! 50MiB; - 0 64MiB available; + 3 50MiB; A 4 3:0 50MiB");
    heap_shows(h, "a 5 66MiB", "! 66MiB; - 2 90MiB available; + 4 66MiB; A 5 4:0 66MiB");
    heap_close(h);
}

static void the_released_stay_released_where_they_are_not_enough(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(200), .split = MIB(64)});
    heap_does(h, "a 1 64MiB; a 2 70MiB; a 3 62MiB; f 1; f 2; f 3");
    /* No attempt follows them: the next one is the retry. */
    heap_shows(h, "a 4 150MiB",
               "! 150MiB; - 1 70MiB available; - 0 64MiB available; - 2 62MiB all; + 3 150MiB; "
               "A 4 3:0 150MiB");
    assert_int_equal(heap_stats(h)->alloc_retries, 1);
    heap_close(h);
}

static void release_available_stops_once_there_is_enough(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(300), .split = MIB(64)});
    heap_does(h, "a 1 64MiB; a 2 70MiB; a 3 90MiB; f 1; f 2; f 3");
    heap_shows(h, "a 4 160MiB",
               "! 160MiB; - 2 90MiB available; - 1 70MiB available; + 3 160MiB; A 4 3:0 160MiB");
    heap_close(h);
}

static void other_streams_and_pools_keep_their_oversize_blocks(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(300), .split = MIB(64)});
    heap_does(h, "a 1 90MiB 16; a 2 90MiB 32; a 3 70MiB; f 1; f 2; f 3");
    heap_shows(h, "a 4 100MiB",
               "! 100MiB; - 2 70MiB available; - 0 90MiB all; - 1 90MiB all; + 3 100MiB; "
               "A 4 3:0 100MiB");
    heap_close(h);
}

static void without_a_split_limit_nothing_is_released_first(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(100)});
    heap_does(h, "a 1 90MiB; f 1");
    heap_shows(h, "a 2 95MiB", "! 96MiB; - 0 90MiB all; + 1 96MiB; A 2 1:0 96MiB");
    heap_close(h);
}

/* Before 2.5 an expandable block met here fails an assertion: no out-of-memory (22.2). */
static void expandable_blocks_are_passed_by_from_2_5_on(void **state)
{
    (void)state;
    static const char setup[] = "a 1 64MiB; f 1; expandable on; a 2 80MiB; f 2; expandable off";
    heap *h = heap_open((heap_conf){.release = "2.4.1", .capacity = MIB(150), .split = MIB(64)});
    heap_does(h, setup);
    heap_shows(h, "a 3 70MiB", "! 70MiB; E 3");
    assert_int_equal(heap_stats(h)->ooms, 0);
    assert_int_equal(heap_stats(h)->alloc_retries, 0);
    heap_close(h);
    h = heap_open((heap_conf){.release = "2.5.1", .capacity = MIB(150), .split = MIB(64)});
    heap_does(h, setup);
    heap_shows(h, "a 3 70MiB",
               "! 70MiB; - 0 64MiB available; U 1:0 80MiB all; r 1 180MiB all; + 2 70MiB; "
               "A 3 2:0 70MiB");
    heap_close(h);
}

/* Only a range that is mapped to its end has a whole block: a card that grants more than it says.
 */
static void collection_meets_an_expandable_block_in_the_same_way(void **state)
{
    (void)state;
    heap_conf conf = {.release = "2.4.1", .capacity = MIB(100), .total = MIB(32)};
    static const char setup[] = "expandable on; a 1 40MiB; f 1; expandable off; F 1; collect 0.5";
    heap *h = heap_open(conf);
    heap_shows(h, setup, "R 0 40MiB; M 0:0 40MiB; A 1 0:0 40MiB; F 1");
    heap_shows(h, "a 2 1", "E 2");
    assert_int_equal(heap_stats(h)->ooms, 0);
    heap_close(h);
    conf.release = "2.5.1";
    h = heap_open(conf);
    heap_does(h, setup);
    heap_shows(h, "a 2 1", "U 0:0 40MiB all; r 0 40MiB all; + 1 2MiB; A 2 1:0 512");
    heap_close(h);
}

/* What is wanted is 64 MiB, so the expandable block is not what is met first. */
static void less_than_the_split_limit_is_never_wanted(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(160)});
    heap_does(h, "expandable on; a 1 40MiB; f 1; expandable off; split 64MiB; a 2 100MiB; f 2");
    heap_shows(h, "a 3 30MiB", "! 30MiB; - 1 100MiB available; + 2 30MiB; A 3 2:0 30MiB");
    heap_close(h);
}

static void before_an_expandable_block_that_would_do_only_smaller_ones_go(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(400)});
    heap_does(h, "expandable on; a 1 120MiB; f 1; expandable off; split 64MiB");
    heap_does(h, "a 2 200MiB; a 3 70MiB; f 2; f 3");
    heap_shows(h, "a 4 100MiB",
               "! 100MiB; - 2 70MiB available; - 1 200MiB all; U 0:0 120MiB all; r 0 460MiB all; "
               "+ 3 100MiB; A 4 3:0 100MiB");
    heap_close(h);
}

static void expandable_blocks_that_are_passed_by_make_no_room(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(250)});
    heap_does(h, "expandable on; a 1 80MiB; f 1; expandable off; split 64MiB");
    heap_does(h, "a 2 70MiB; a 3 90MiB; f 2; f 3");
    heap_shows(h, "a 4 150MiB",
               "! 150MiB; - 2 90MiB available; - 1 70MiB available; + 3 150MiB; A 4 3:0 150MiB");
    heap_close(h);
}

/* ---- release-all and empty_cache (10.3, 10.4) ------------------------------------------------ */

static void large_segments_go_before_small_ones(void **state)
{
    (void)state;
    heap_example("a 1 1; a 2 30MiB; a 3 20MiB; f 1; f 2; f 3; e",
                 "+ 0 2MiB; A 1 0:0 512; + 1 30MiB; A 2 1:0 30MiB; + 2 20MiB; A 3 2:0 20MiB; "
                 "F 1; F 2; F 3; - 2 20MiB trim; - 1 30MiB trim; - 0 2MiB trim",
                 .release = "2.9.1");
}

static void segments_go_before_pages_of_the_same_pool(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(160)});
    heap_does(h, "expandable on; a 1 20MiB; expandable off; a 2 30MiB; a 3 1; f 1; f 2; f 3");
    heap_shows(h, "e", "- 1 30MiB trim; U 0:0 20MiB trim; r 0 180MiB trim; - 2 2MiB trim");
    heap_close(h);
}

static void pages_go_in_order_of_the_free_set(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(160), .expandable = true});
    heap_does(h, "a 1 40MiB; a 2 20MiB; a 3 20MiB; a 4 20MiB; f 1; f 3");
    heap_shows(h, "e", "U 0:60MiB 20MiB trim; U 0:0 40MiB trim");
    heap_close(h);
}

static void split_segments_stay(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 2MiB; a 2 2MiB; f 1");
    heap_shows(h, "e", "");
    heap_shows(h, "f 2; e; e", "F 2; - 0 20MiB trim");
    assert_int_equal(heap_stats(h)->sync_all_streams, 3);
    assert_int_equal(heap_stats(h)->device_frees, 1);
    heap_close(h);
}

/* ---- with a scope open (22.7, 22.8) ---------------------------------------------------------- */

static void empty_cache_in_a_scope_is_refused_then_spares_the_default_then_does_all(void **state)
{
    (void)state;
    static const struct {
        const char *release, *changes;
    } eras[] = {
        {"2.3.1", "E"},
        {"2.7.1", "E"},
        {"2.8.0", "- 1 20MiB trim"},
        {"2.12.1", "- 1 20MiB trim"},
        {"2.13.0", "d 4; - 0 20MiB trim; - 3 30MiB trim; - 1 20MiB trim"},
    };
    for (size_t i = 0; i < COUNT_OF(eras); i++) {
        heap *h = heap_open((heap_conf){.release = eras[i].release});
        heap_does(h, "a 1 20MiB; b 1; a 2 20MiB; f 2; q 1; x 1; b 2; a 3 20MiB; f 3; q 2");
        heap_does(h, "a 4 30MiB; r 4 16; f 4; f 1; b 2");
        heap_shows(h, "e", eras[i].changes);
        heap_close(h);
    }
}

static void a_capture_keeps_empty_cache_from_the_default_pools(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.13.0"});
    heap_does(h, "a 1 20MiB; f 1; b 1 capture");
    heap_shows(h, "e", "");
    heap_shows(h, "q 1; e", "- 0 20MiB trim");
    heap_close(h);
}

static void empty_cache_of_one_pool_releases_it_if_it_is_freeable(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB; f 1; b 1; a 2 20MiB; a 3 1; q 1; b 2; a 4 20MiB; q 2");
    heap_does(h, "a 5 20MiB 16; f 5 held; r 2 16; r 4 16; f 2; f 3; f 4");
    heap_shows(h, "e 1; e 3", "");
    assert_int_equal(heap_stats(h)->sync_all_streams, 0);
    heap_shows(h, "x 1; e 1", "d 2; - 2 2MiB trim; - 1 20MiB trim");
    assert_int_equal(heap_stats(h)->sync_all_streams, 1);
    heap_shows(h, "d 5", "d 5");
    heap_shows(h, "x 2; b 3; e 2", "E"); /* a freeable pool, but a scope is open */
    heap_close(h);
}

/* 10.5: the count of a private pool is no true one, so that its last segment may go back to the
 * driver while an assertion keeps the block; from there on only what cannot hurt is done. */
static void a_segment_given_back_under_a_failing_assertion_is_not_given_back_again(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.capacity = MIB(300), .expandable = true});
    heap_does(h, "b 1; a 1 100MiB; f 1; a 2 20MiB; a 3 20MiB; a 4 20MiB; a 5 20MiB; a 6 20MiB");
    heap_does(h, "expandable off; a 7 20MiB; q 1; f 2; f 4; f 6; x 1");
    heap_does(h, "e");
    heap_does(h, "f 7");
    heap_shows(h, "e", "- 1 20MiB trim; E");
    heap_shows(h, "e", "E");
    heap_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_older_than_the_average_go_first_and_a_pass_is_finished),
        cmocka_unit_test(a_pass_does_not_stop_at_its_target),
        cmocka_unit_test(the_average_is_that_of_the_beginning_of_the_pass),
        cmocka_unit_test(an_age_equal_to_the_average_is_old_enough),
        cmocka_unit_test(nothing_is_collected_up_to_the_threshold),
        cmocka_unit_test(only_whole_blocks_of_the_default_large_pool_are_collected),
        cmocka_unit_test(a_request_for_any_pool_collects),
        cmocka_unit_test(without_a_limit_nothing_is_collected),
        cmocka_unit_test(expandable_blocks_count_for_the_average_but_stay),
        cmocka_unit_test(searches_that_find_nothing_are_the_clock_too),
        cmocka_unit_test(searches_from_before_there_is_a_limit_do_not_count),
        cmocka_unit_test(the_threshold_is_truncated),
        cmocka_unit_test(a_target_that_is_just_met_ends_the_collection),
        cmocka_unit_test(whole_expandable_blocks_lower_the_average),
        cmocka_unit_test(one_block_that_holds_the_request_is_enough),
        cmocka_unit_test(the_released_stay_released_where_they_are_not_enough),
        cmocka_unit_test(release_available_stops_once_there_is_enough),
        cmocka_unit_test(other_streams_and_pools_keep_their_oversize_blocks),
        cmocka_unit_test(without_a_split_limit_nothing_is_released_first),
        cmocka_unit_test(expandable_blocks_are_passed_by_from_2_5_on),
        cmocka_unit_test(collection_meets_an_expandable_block_in_the_same_way),
        cmocka_unit_test(less_than_the_split_limit_is_never_wanted),
        cmocka_unit_test(before_an_expandable_block_that_would_do_only_smaller_ones_go),
        cmocka_unit_test(expandable_blocks_that_are_passed_by_make_no_room),
        cmocka_unit_test(large_segments_go_before_small_ones),
        cmocka_unit_test(segments_go_before_pages_of_the_same_pool),
        cmocka_unit_test(pages_go_in_order_of_the_free_set),
        cmocka_unit_test(split_segments_stay),
        cmocka_unit_test(empty_cache_in_a_scope_is_refused_then_spares_the_default_then_does_all),
        cmocka_unit_test(a_capture_keeps_empty_cache_from_the_default_pools),
        cmocka_unit_test(empty_cache_of_one_pool_releases_it_if_it_is_freeable),
        cmocka_unit_test(a_segment_given_back_under_a_failing_assertion_is_not_given_back_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
