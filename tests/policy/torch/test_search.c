#include "heap_builder.h"

#include "test.h"

/* ---- what is taken (5.2) --------------------------------------------------------------------- */

static void the_smallest_block_that_holds_the_request_is_taken(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 30MiB; a 2 24MiB; a 3 26MiB; f 1; f 2; f 3");
    heap_shows(h, "a 4 25MiB", "A 4 2:0 26MiB");
    heap_shows(h, "a 5 25MiB", "A 5 0:0 25MiB");
    heap_shows(h, "a 6 25MiB", "+ 3 26MiB; A 6 3:0 26MiB");
    heap_close(h);
}

static void streams_and_pools_do_not_share(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB; f 1");
    heap_shows(h, "a 2 20MiB 16", "+ 1 20MiB stream 16; A 2 1:0 20MiB");
    heap_shows(h, "b 1; a 3 20MiB", "+ 2 20MiB pool 1; A 3 2:0 20MiB");
    heap_shows(h, "q 1; a 4 1", "+ 3 2MiB; A 4 3:0 512");
    heap_shows(h, "a 5 20MiB", "A 5 0:0 20MiB");
    heap_close(h);
}

static void a_free_set_is_walked_by_ascending_stream_value(void **state)
{
    (void)state;
    /* Stream 64 is met first, 0 second, 16 last. */
    heap_example("a 1 30MiB 64; a 2 30MiB 0; a 3 30MiB 16; a 4 20MiB 64; f 1; f 2; f 3; f 4; e",
                 "+ 0 30MiB stream 64; A 1 0:0 30MiB; + 1 30MiB; A 2 1:0 30MiB; "
                 "+ 2 30MiB stream 16; A 3 2:0 30MiB; + 3 20MiB stream 64; A 4 3:0 20MiB; "
                 "F 1; F 2; F 3; F 4; - 1 30MiB trim; - 2 30MiB trim; - 3 20MiB trim; "
                 "- 0 30MiB trim",
                 .release = "2.9.1");
}

/* ---- ties (5.1) ------------------------------------------------------------------------------ */

/* The older of two equal segments lies higher. */
static void equal_segments_are_taken_by_address_then_by_age(void **state)
{
    (void)state;
    static const struct {
        const char *release, *changes;
    } eras[] = {
        {"2.0.1", "A 4 2:0 20MiB"},  {"2.11.0", "A 4 2:0 20MiB"}, {"2.12.0", "A 4 1:0 20MiB"},
        {"2.12.1", "A 4 1:0 20MiB"}, {"2.13.0", "A 4 1:0 20MiB"}, {"2.15.0", "A 4 1:0 20MiB"},
    };
    for (size_t i = 0; i < COUNT_OF(eras); i++) {
        heap *h = heap_open((heap_conf){.release = eras[i].release});
        heap_does(h, "a 1 20MiB; a 2 20MiB; f 1; e; a 3 20MiB; f 2; f 3");
        heap_shows(h, "a 4 20MiB", eras[i].changes);
        heap_close(h);
    }
}

/* The remainder of a split is the oldest object of its segment though it lies highest. */
static void equal_pieces_are_taken_by_age_of_the_object_only_in_2_12(void **state)
{
    (void)state;
    static const struct {
        const char *release, *changes;
    } eras[] = {{"2.11.0", "A 4 0:0 512KiB"},
                {"2.12.0", "A 4 0:1536KiB 512KiB"},
                {"2.12.1", "A 4 0:1536KiB 512KiB"},
                {"2.13.0", "A 4 0:0 512KiB"}};
    for (size_t i = 0; i < COUNT_OF(eras); i++) {
        heap *h = heap_open((heap_conf){.release = eras[i].release});
        heap_does(h, "a 1 512KiB; a 2 1MiB; a 3 512KiB; f 1; f 3");
        heap_shows(h, "a 4 512KiB", eras[i].changes);
        heap_close(h);
    }
}

/* A free block of 8 MiB behind another one in the range, and one at the start of a later segment.
 */
static void an_expandable_range_has_an_age_of_its_own(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.13.0", .capacity = MIB(160), .expandable = true});
    heap_does(h, "a 1 12MiB; a 2 8MiB; a 3 20MiB; f 2; expandable off; a 4 8MiB; a 5 11MiB; f 4");
    heap_shows(h, "expandable on; a 6 8MiB", "A 6 0:12MiB 8MiB");
    heap_close(h);
}

/* ---- oversize (5.2 step 4, 20) --------------------------------------------------------------- */

static void a_request_below_the_limit_takes_no_block_at_or_above_it(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .split = MIB(64)});
    heap_does(h, "a 1 70MiB; f 1");
    heap_shows(h, "a 2 30MiB", "+ 1 30MiB; A 2 1:0 30MiB");
    heap_shows(h, "a 3 64MiB-512", "+ 2 64MiB; A 3 2:0 64MiB");
    heap_shows(h, "f 3; a 4 62MiB", "F 3; + 3 62MiB; A 4 3:0 62MiB");
    heap_shows(h, "a 5 64MiB", "A 5 2:0 64MiB");
    heap_shows(h, "f 4; a 6 50MiB", "F 4; A 6 3:0 50MiB");
    heap_close(h);
}

static void a_request_above_the_limit_takes_no_block_much_larger(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .split = MIB(64)});
    heap_does(h, "a 1 90MiB; f 1");
    heap_shows(h, "a 2 70MiB", "+ 1 70MiB; A 2 1:0 70MiB");
    heap_shows(h, "a 3 70MiB+1", "A 3 0:0 90MiB");
    heap_close(h);
    h = heap_open((heap_conf){.release = "2.9.1", .split = MIB(64), .non_split_rounding = MIB(30)});
    heap_does(h, "a 1 90MiB; f 1");
    heap_shows(h, "a 2 60MiB", "+ 1 60MiB; A 2 1:0 60MiB");
    heap_shows(h, "a 3 64MiB", "A 3 0:0 90MiB");
    heap_close(h);
}

static void no_further_candidate_is_tried_after_an_oversize_one(void **state)
{
    (void)state;
    /* 86 MiB would do for nobody: the search stops at the first block that is large enough. */
    heap *h = heap_open((heap_conf){.release = "2.9.1", .split = MIB(64)});
    heap_does(h, "a 1 64MiB; a 2 66MiB; f 1; f 2");
    heap_shows(h, "a 3 40MiB", "+ 2 40MiB; A 3 2:0 40MiB");
    heap_close(h);
}

/* ---- splitting (8.1) ------------------------------------------------------------------------- */

static void a_large_remainder_must_exceed_1_mib(void **state)
{
    (void)state;
    static const char setup[] = "a 1 32MiB; f 1; a 2 11MiB; a 3 21MiB; f 3";
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_shows(h, setup, "+ 0 32MiB; A 1 0:0 32MiB; F 1; A 2 0:0 11MiB; A 3 0:11MiB 21MiB; F 3");
    heap_shows(h, "a 4 20MiB; f 4", "A 4 0:11MiB 21MiB; F 4");
    heap_shows(h, "a 4 20MiB-512; f 4", "A 4 0:11MiB 20MiB-512; F 4");
    heap_close(h);
}

static void a_small_remainder_must_reach_512_bytes(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.0.1", .divisions = 1});
    heap_does(h, "a 1 1MiB; a 2 1MiB; f 2");
    heap_shows(h, "a 3 1048065", "A 3 0:1MiB 1MiB"); /* leaves 511 */
    heap_shows(h, "f 3; a 4 1048064; s",
               "F 3; A 4 0:1MiB 1MiB-512; "
               "S 0:0 2MiB small; B 1MiB 1MiB live; B 1MiB-512 1MiB-512 live; B 512 1MiB-511 free");
    heap_close(h);
}

static void a_request_at_the_split_limit_is_never_split(void **state)
{
    (void)state;
    heap_example("a 1 70MiB; f 1; a 2 64MiB; f 2; a 3 64MiB-512",
                 "+ 0 70MiB; A 1 0:0 70MiB; F 1; A 2 0:0 70MiB; F 2; + 1 64MiB; A 3 1:0 64MiB",
                 .release = "2.9.1", .split = MIB(64));
    /* A segment that is oversize though its request was not is split once, and then useless. */
    heap_example("a 1 20992KiB; s; f 1; a 2 20992KiB",
                 "+ 0 22MiB; A 1 0:0 20992KiB; "
                 "S 0:0 22MiB large; B 20992KiB 20992KiB live; B 1536KiB 0 free; "
                 "F 1; + 1 22MiB; A 2 1:0 20992KiB",
                 .release = "2.9.1", .split = MIB(21));
}

/* ---- expandable blocks (5.2 step 3) ---------------------------------------------------------- */

/* Two ranges of one stream: the first has an unmapped tail behind its free block, and a smaller
 * free block between live ones. */
static void with_expandable_on_what_could_grow_least_is_preferred(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(160), .expandable = true});
    heap_does(h, "a 1 12MiB; a 2 4MiB; a 3 14MiB; f 1");
    heap_shows(h, "s",
               "S 0:0 40MiB large exp; B 12MiB 12MiB free; B 4MiB 4MiB live; "
               "B 14MiB 14MiB live; B 10MiB 0 free");
    /* 10 MiB could grow into the unmapped rest, 12 MiB could not. */
    heap_shows(h, "a 4 9MiB; f 4", "A 4 0:0 9MiB; F 4");
    heap_shows(h, "a 5 12MiB", "A 5 0:0 12MiB");
    heap_shows(h, "a 6 9MiB", "A 6 0:30MiB 9MiB");
    heap_close(h);
}

static void the_preference_is_a_descent_that_stops_at_the_first_rise(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(160), .expandable = true});
    /* Free: 6, 8, 5 MiB between live blocks; the smallest fit is kept, since 6 reaches further. */
    heap_does(h, "a 1 6MiB; a 2 2MiB; a 3 8MiB; a 4 2MiB; a 5 5MiB; a 6 2MiB; f 1; f 3; f 5");
    heap_shows(h, "a 7 4MiB; f 7", "A 7 0:18MiB 4MiB; F 7");
    heap_close(h);
}

static void a_block_that_could_grow_as_little_is_no_better(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(160), .expandable = true});
    heap_does(h, "a 1 4MiB; a 2 4MiB; a 3 4MiB; a 4 4MiB; f 1; f 3");
    heap_shows(h, "a 5 4MiB", "A 5 0:0 4MiB");
    heap_close(h);
}

static void with_expandable_off_its_blocks_are_passed_by(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(160), .expandable = true});
    heap_does(h, "a 1 12MiB; a 2 4MiB; f 1; expandable off; a 3 14MiB; f 3");
    heap_shows(h, "a 4 11MiB", "A 4 1:0 11MiB");
    heap_shows(h, "a 5 11MiB", "+ 2 12MiB; A 5 2:0 12MiB");
    heap_close(h);
}

static void with_expandable_on_segments_too_are_split_down_to_512_bytes(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(160)});
    heap_does(h, "a 1 12MiB; f 1; expandable on");
    heap_shows(h, "a 2 12MiB-512", "A 2 0:0 12MiB-512");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT_BYTES, "512 512 512 0");
    heap_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_block_that_holds_the_request_is_taken),
        cmocka_unit_test(streams_and_pools_do_not_share),
        cmocka_unit_test(a_free_set_is_walked_by_ascending_stream_value),
        cmocka_unit_test(equal_segments_are_taken_by_address_then_by_age),
        cmocka_unit_test(equal_pieces_are_taken_by_age_of_the_object_only_in_2_12),
        cmocka_unit_test(an_expandable_range_has_an_age_of_its_own),
        cmocka_unit_test(a_request_below_the_limit_takes_no_block_at_or_above_it),
        cmocka_unit_test(a_request_above_the_limit_takes_no_block_much_larger),
        cmocka_unit_test(no_further_candidate_is_tried_after_an_oversize_one),
        cmocka_unit_test(a_large_remainder_must_exceed_1_mib),
        cmocka_unit_test(a_small_remainder_must_reach_512_bytes),
        cmocka_unit_test(a_request_at_the_split_limit_is_never_split),
        cmocka_unit_test(with_expandable_on_what_could_grow_least_is_preferred),
        cmocka_unit_test(the_preference_is_a_descent_that_stops_at_the_first_rise),
        cmocka_unit_test(a_block_that_could_grow_as_little_is_no_better),
        cmocka_unit_test(with_expandable_off_its_blocks_are_passed_by),
        cmocka_unit_test(with_expandable_on_segments_too_are_split_down_to_512_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
