#include "heap_builder.h"

#include "test.h"

/* ---- scopes (12.2) --------------------------------------------------------------------------- */

static void a_scope_routes_requests_to_its_pool(void **state)
{
    (void)state;
    heap_example("b 1; a 1 1; a 2 20MiB; q 1; a 3 1",
                 "+ 0 2MiB pool 1; A 1 0:0 512; + 1 20MiB pool 1; A 2 1:0 20MiB; + 2 2MiB; "
                 "A 3 2:0 512",
                 .release = "2.9.1");
}

static void a_freed_block_returns_to_the_pool_it_came_from(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB; b 1; a 2 20MiB; f 1; q 1; f 2");
    heap_shows(h, "a 3 20MiB", "A 3 0:0 20MiB");
    heap_shows(h, "b 1; a 4 20MiB", "A 4 1:0 20MiB");
    heap_close(h);
}

static void a_scope_may_be_for_one_stream_only(void **state)
{
    (void)state;
    heap_example("b 1 stream=16; a 1 20MiB; a 2 20MiB 16",
                 "+ 0 20MiB; A 1 0:0 20MiB; + 1 20MiB stream 16 pool 1; A 2 1:0 20MiB",
                 .release = "2.9.1");
}

static void nested_scopes_are_searched_oldest_first_up_to_2_9(void **state)
{
    (void)state;
    heap_example("b 1; b 2; a 1 20MiB; q 1; a 2 20MiB",
                 "+ 0 20MiB pool 1; A 1 0:0 20MiB; + 1 20MiB pool 2; A 2 1:0 20MiB",
                 .release = "2.9.1");
    heap_example("b 1; b 2; a 1 20MiB; q 2; a 2 20MiB",
                 "+ 0 20MiB pool 2; A 1 0:0 20MiB; + 1 20MiB pool 1; A 2 1:0 20MiB",
                 .release = "2.10.0");
}

/* ---- what ends in an assertion (12.2, 22.10) ------------------------------------------------- */

static void opening_an_open_pool_fails_and_its_use_stays_counted(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_shows(h, "b 1; b 1", "E");
    heap_shows(h, "q 1; x 1; b 1; q 1; x 1; x 1", ""); /* two opened, one lost */
    heap_shows(h, "x 1", "E");
    heap_close(h);
}

static void ending_what_is_not_open_fails(void **state)
{
    (void)state;
    heap_example("q 1", "E", .release = "2.9.1");
    heap_example("b 1; q 1; q 1", "E", .release = "2.9.1");
    heap_example("b 1; q 2", "E", .release = "2.9.1");
}

static void releasing_an_unknown_pool_or_once_too_often_fails(void **state)
{
    (void)state;
    heap_example("x 1", "E", .release = "2.9.1");
    heap_example("b 1; a 1 1; q 1; x 1; x 1", "+ 0 2MiB pool 1; A 1 0:0 512; E",
                 .release = "2.9.1");
}

static void a_released_pool_cannot_be_opened_until_it_is_deleted(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "b 1; a 1 20MiB; q 1; x 1");
    heap_shows(h, "b 1", "E");
    heap_shows(h, "f 1; e", "F 1; - 0 20MiB trim");
    heap_shows(h, "b 1; a 2 20MiB; q 1; x 1", "+ 1 20MiB pool 1; A 2 1:0 20MiB");
    heap_close(h);
}

static void a_pool_is_freeable_after_as_many_releases_as_openings(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "b 1; a 1 20MiB; f 1; q 1; b 1; q 1");
    heap_shows(h, "e; x 1; e", "");
    heap_shows(h, "x 1; e", "- 0 20MiB trim");
    heap_close(h);
}

/* From 2.8 on empty_cache can delete a pool whose scope is open. */
static void requests_in_the_scope_of_a_deleted_pool_fail(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "b 1; x 1; e");
    heap_shows(h, "a 1 20MiB", "E 1");
    heap_shows(h, "a 2 0", "A 2 null");
    assert_int_equal(heap_stats(h)->ooms, 0);
    assert_false(heap_probe(h, MIB(20), 0).usable);
    /* Opening it again makes it anew before it says that its scope is open. */
    heap_shows(h, "b 1; a 3 20MiB", "E; + 0 20MiB pool 1; A 3 0:0 20MiB");
    heap_shows(h, "q 1; a 4 20MiB", "+ 1 20MiB; A 4 1:0 20MiB");
    heap_close(h);
}

/* ---- freeable pools (10.3, 22.3) ------------------------------------------------------------- */

static void freeable_pools_are_released_small_before_large_in_order_of_their_hashes(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "b 1; a 1 20MiB; a 2 1; q 1; b 2; a 3 20MiB; q 2; b 3; a 4 20MiB; q 3");
    heap_does(h, "a 5 1; f 1; f 2; f 3; f 4; f 5; x 1; x 2; x 3");
    heap_shows(h, "e",
               "- 4 2MiB trim; - 2 20MiB trim; - 1 2MiB trim; - 0 20MiB trim; "
               "- 3 20MiB trim"); /* pools 2, 1, 3 */
    heap_close(h);
}

static void a_refused_request_releases_freeable_pools_only(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(60)});
    heap_does(h, "b 1; a 1 20MiB; q 1; b 2; a 2 20MiB; q 2; f 1; f 2; x 2");
    heap_shows(h, "a 3 40MiB", "! 40MiB; - 1 20MiB all; + 2 40MiB; A 3 2:0 40MiB");
    heap_close(h);
}

static void a_pool_with_live_blocks_is_released_in_part_and_kept(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "b 1; a 1 20MiB; a 2 22MiB; q 1; f 1; x 1");
    heap_shows(h, "e", "- 0 20MiB trim");
    heap_shows(h, "b 1", "E");
    heap_shows(h, "f 2; e; b 1", "F 2; - 1 22MiB trim");
    heap_close(h);
}

/* ---- pools that are not split (12.4) --------------------------------------------------------- */

static void a_no_split_pool_hands_its_blocks_out_whole_from_2_10_on(void **state)
{
    (void)state;
    heap_example("b 1 nosplit; a 1 1; a 2 2MiB",
                 "+ 0 2MiB pool 1; A 1 0:0 512; + 1 20MiB pool 1; A 2 1:0 2MiB",
                 .release = "2.9.1");
    heap_example("b 1 nosplit; a 1 1; a 2 2MiB",
                 "+ 0 2MiB pool 1; A 1 0:0 2MiB; + 1 20MiB pool 1; A 2 1:0 20MiB",
                 .release = "2.10.0");
    /* From 2.14 on the pool leaves the set when it is released. */
    heap_example("b 1 nosplit; x 1; a 1 1", "+ 0 2MiB pool 1; A 1 0:0 2MiB", .release = "2.13.0");
    heap_example("b 1 nosplit; x 1; a 1 1", "+ 0 2MiB pool 1; A 1 0:0 512", .release = "2.14.1");
}

/* ---- use on out-of-memory (12.6, 22.11) ------------------------------------------------------ */

static const char cached_for_all[] =
    "b 1 use_on_oom; a 1 20MiB; q 1; f 1; a 2 30MiB; f 2; a 3 10MiB";

static void before_2_8_no_pool_serves_others(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.7.1", .capacity = MIB(60)});
    heap_does(h, cached_for_all);
    heap_shows(h, "a 4 15MiB", "A 4 1:10MiB 15MiB");
    heap_shows(h, "a 5 15MiB", "! 16MiB; ! 16MiB; O 5");
    heap_close(h);
}

static void in_2_8_to_2_10_everything_is_released_first(void **state)
{
    (void)state;
    static const char *const releases[] = {"2.8.0", "2.9.1", "2.10.0"};
    for (size_t i = 0; i < COUNT_OF(releases); i++) {
        heap *h = heap_open((heap_conf){.release = releases[i], .capacity = MIB(60)});
        heap_does(h, "b 1 use_on_oom; a 1 20MiB; q 1; f 1; a 2 20MiB; f 2");
        heap_shows(h, "a 3 50MiB", "! 50MiB; - 1 20MiB all; ! 50MiB; O 3");
        heap_shows(h, "a 4 30MiB; a 5 12MiB",
                   "+ 2 30MiB; A 4 2:0 30MiB; ! 12MiB; ! 12MiB; A 5 0:0 12MiB");
        assert_int_equal(heap_stats(h)->ooms, 1);
        heap_close(h);
    }
}

static void from_2_11_on_it_is_searched_before_anything_is_released(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.11.0", .capacity = MIB(60)});
    heap_does(h, "b 1 use_on_oom; a 1 20MiB; q 1; f 1; a 2 20MiB; a 3 1; f 3; f 2");
    heap_shows(h, "a 4 20MiB; a 5 20MiB", "A 4 1:0 20MiB; ! 20MiB; A 5 0:0 20MiB");
    assert_int_equal(heap_stats(h)->alloc_retries, 0);
    heap_close(h);
}

static void a_pool_that_is_not_marked_serves_no_others(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.11.0", .capacity = MIB(40)});
    heap_does(h, "b 1; a 1 20MiB; q 1; f 1; a 2 20MiB");
    heap_shows(h, "a 3 20MiB", "! 20MiB; ! 20MiB; O 3");
    heap_close(h);
}

static void a_fallback_of_1_mib_is_searched_among_small_blocks(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.11.0", .capacity = MIB(2)});
    heap_does(h, "b 1 use_on_oom; a 1 1MiB; q 1; f 1");
    heap_shows(h, "a 2 1MiB", "! 2MiB; A 2 0:0 1MiB");
    heap_close(h);
}

static void a_fallback_leaves_its_pool_as_it_was_held(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.11.0", .capacity = MIB(40)});
    heap_does(h, "b 1 use_on_oom; a 1 20MiB; q 1; f 1; a 2 20MiB; a 3 20MiB; f 3");
    heap_shows(h, "x 1; e", "- 0 20MiB trim");
    heap_close(h);
}

static void a_request_of_a_private_pool_has_no_fallback(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.13.0", .capacity = MIB(40)});
    heap_does(h, "b 1 use_on_oom; a 1 20MiB; q 1; f 1; a 2 20MiB; b 2");
    heap_shows(h, "a 3 20MiB", "! 20MiB; ! 20MiB; O 3");
    heap_close(h);
}

static void the_split_of_a_fallback_is_plain_from_2_10_on(void **state)
{
    (void)state;
    static const char setup[] = "b 1 use_on_oom; a 1 20MiB; q 1; f 1; a 2 20MiB; expandable on";
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(40)});
    heap_does(h, setup);
    heap_shows(h, "a 3 19MiB", "R 2 60MiB; C! 20MiB; C! 20MiB; A 3 0:0 19MiB");
    heap_close(h);
    h = heap_open((heap_conf){.release = "2.10.0", .capacity = MIB(40)});
    heap_does(h, setup);
    heap_shows(h, "a 3 19MiB", "R 2 60MiB; C! 20MiB; C! 20MiB; A 3 0:0 20MiB");
    heap_close(h);
}

/* With the setting taken for off, expandable blocks are passed by. */
static void a_fallback_takes_no_expandable_block_from_2_10_on(void **state)
{
    (void)state;
    static const char setup[] = "b 1 use_on_oom; a 1 20MiB; q 1; f 1; a 2 20MiB";
    heap_conf conf = {.release = "2.9.1", .capacity = MIB(40), .expandable = true};
    heap *h = heap_open(conf);
    heap_does(h, setup);
    heap_shows(h, "a 3 20MiB", "C! 20MiB; C! 20MiB; A 3 0:0 20MiB");
    heap_close(h);
    conf.release = "2.10.0";
    h = heap_open(conf);
    heap_does(h, setup);
    heap_shows(h, "a 3 20MiB", "C! 20MiB; C! 20MiB; O 3");
    heap_close(h);
}

static void several_fallback_pools_are_searched_in_order_of_their_hashes(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.11.0", .capacity = MIB(60)});
    heap_does(h, "b 1 use_on_oom; a 1 20MiB; q 1; b 2 use_on_oom; a 2 20MiB; q 2; f 1; f 2");
    heap_does(h, "a 3 20MiB");
    heap_shows(h, "a 4 12MiB; a 5 12MiB", "! 12MiB; A 4 1:0 12MiB; ! 12MiB; A 5 0:0 12MiB");
    heap_close(h);
}

static void the_fallback_fails_where_its_pool_cannot_be_opened(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.13.0", .capacity = MIB(40)});
    heap_does(h, "b 1 use_on_oom stream=16; a 1 20MiB 16; a 2 20MiB");
    heap_shows(h, "a 3 20MiB", "! 20MiB; E 3");                /* its scope is open */
    heap_shows(h, "q 1; x 1; x 1; a 3 20MiB", "! 20MiB; E 3"); /* it is released */
    assert_int_equal(heap_stats(h)->ooms, 0);
    heap_close(h);
}

static void the_fallback_makes_a_deleted_pool_anew(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.13.0", .capacity = MIB(20)});
    heap_does(h, "b 1 use_on_oom; a 1 20MiB; q 1; f 1; x 1; e; a 2 20MiB");
    heap_shows(h, "a 3 20MiB", "! 20MiB; ! 20MiB; O 3");
    heap_shows(h, "b 1", ""); /* made, released and deleted again by the release of everything */
    heap_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scope_routes_requests_to_its_pool),
        cmocka_unit_test(a_freed_block_returns_to_the_pool_it_came_from),
        cmocka_unit_test(a_scope_may_be_for_one_stream_only),
        cmocka_unit_test(nested_scopes_are_searched_oldest_first_up_to_2_9),
        cmocka_unit_test(opening_an_open_pool_fails_and_its_use_stays_counted),
        cmocka_unit_test(ending_what_is_not_open_fails),
        cmocka_unit_test(releasing_an_unknown_pool_or_once_too_often_fails),
        cmocka_unit_test(a_released_pool_cannot_be_opened_until_it_is_deleted),
        cmocka_unit_test(a_pool_is_freeable_after_as_many_releases_as_openings),
        cmocka_unit_test(requests_in_the_scope_of_a_deleted_pool_fail),
        cmocka_unit_test(freeable_pools_are_released_small_before_large_in_order_of_their_hashes),
        cmocka_unit_test(a_refused_request_releases_freeable_pools_only),
        cmocka_unit_test(a_pool_with_live_blocks_is_released_in_part_and_kept),
        cmocka_unit_test(a_no_split_pool_hands_its_blocks_out_whole_from_2_10_on),
        cmocka_unit_test(before_2_8_no_pool_serves_others),
        cmocka_unit_test(in_2_8_to_2_10_everything_is_released_first),
        cmocka_unit_test(from_2_11_on_it_is_searched_before_anything_is_released),
        cmocka_unit_test(a_pool_that_is_not_marked_serves_no_others),
        cmocka_unit_test(a_fallback_of_1_mib_is_searched_among_small_blocks),
        cmocka_unit_test(a_fallback_leaves_its_pool_as_it_was_held),
        cmocka_unit_test(a_request_of_a_private_pool_has_no_fallback),
        cmocka_unit_test(the_split_of_a_fallback_is_plain_from_2_10_on),
        cmocka_unit_test(a_fallback_takes_no_expandable_block_from_2_10_on),
        cmocka_unit_test(several_fallback_pools_are_searched_in_order_of_their_hashes),
        cmocka_unit_test(the_fallback_fails_where_its_pool_cannot_be_opened),
        cmocka_unit_test(the_fallback_makes_a_deleted_pool_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
