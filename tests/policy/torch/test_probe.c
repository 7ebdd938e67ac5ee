#include "heap_builder.h"

#include "test.h"

static void a_probe_tells_usable_bytes_from_unusable_ones_by_cause(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .split = MIB(64)});
    heap_does(h, "a 1 30MiB");         /* usable */
    heap_does(h, "a 2 64MiB");         /* at the split limit */
    heap_does(h, "a 3 12MiB");         /* too small */
    heap_does(h, "a 4 20MiB 16");      /* another stream's */
    heap_does(h, "a 5 1");             /* another pool's */
    heap_does(h, "a 6 40MiB; r 6 16"); /* pending */
    heap_does(h, "p; f 1; f 2; f 3; f 4; f 5; f 6");
    fl_probe probe = heap_probe(h, MIB(24), 0);
    assert_true(probe.usable);
    assert_int_equal(probe.usable_bytes, MIB(30));
    assert_int_equal(probe.largest_usable_bytes, MIB(30));
    assert_int_equal(probe.unusable_bytes[FL_UNUSABLE_SPLIT], MIB(64));
    assert_int_equal(probe.unusable_bytes[FL_UNUSABLE_PINNED], MIB(12));
    assert_int_equal(probe.unusable_bytes[FL_UNUSABLE_STREAM], MIB(20));
    assert_int_equal(probe.unusable_bytes[FL_UNUSABLE_POOL], MIB(2));
    assert_int_equal(probe.unusable_bytes[FL_UNUSABLE_PENDING], MIB(40));
    assert_false(heap_probe(h, MIB(31), 0).usable);
    assert_false(heap_probe(h, MIB(24), 32).usable);
    assert_true(heap_probe(h, 0, 32).usable);
    assert_false(heap_probe(h, UINT64_MAX, 0).usable);
    heap_close(h);
}

/* What is served without mapping, once the limit, the rejection and collection let it (11.4). */
static void a_probe_sees_a_block_that_would_be_reused_without_mapping(void **state)
{
    (void)state;
    heap_conf conf = {.release = "2.12.0",
                      .capacity = MIB(400),
                      .split = MIB(64),
                      .fraction = 0.5,
                      .expandable = true};
    static const char setup[] = "expandable off; a 9 20MiB 16; f 9; expandable on; a 1 80MiB; f 1";
    heap *h = heap_open(conf);
    heap_does(h, setup);
    assert_true(heap_probe(h, MIB(10), 0).usable);
    assert_int_equal(heap_probe(h, MIB(10), 0).largest_usable_bytes, MIB(80));
    heap_does(h, "collect 0.4"); /* of 200 MiB: 100 are held, 20 of them whole and free */
    assert_false(heap_probe(h, MIB(10), 0).usable);
    heap_does(h, "collect 0.6");
    assert_true(heap_probe(h, MIB(10), 0).usable);
    heap_does(h, "F 0.27");
    assert_false(heap_probe(h, MIB(10), 0).usable);
    heap_close(h);
    conf.rejects = true;
    conf.process_fraction = 0.27;
    h = heap_open(conf);
    heap_does(h, setup);
    assert_false(heap_probe(h, MIB(10), 0).usable);
    heap_shows(h, "a 2 10MiB", "J 2");
    heap_close(h);
}

/* Frees that the request itself would complete, with the merges they lead to. */
static void frees_that_would_complete_count_as_complete(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 10MiB; a 2 12MiB; a 3 12MiB; r 2 16; p; f 1; f 2");
    assert_false(heap_probe(h, MIB(11), 0).usable);
    assert_int_equal(heap_probe(h, MIB(11), 0).unusable_bytes[FL_UNUSABLE_PENDING], MIB(12));
    heap_does(h, "c");
    assert_true(heap_probe(h, MIB(11), 0).usable);
    assert_int_equal(heap_probe(h, MIB(11), 0).unusable_bytes[FL_UNUSABLE_PENDING], 0);
    heap_shows(h, "a 4 11MiB", "d 2; A 4 1:0 12MiB");
    heap_close(h);
    h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 8MiB; a 2 2MiB; a 3 10MiB; r 2 16; f 1; f 2; f 3");
    assert_true(heap_probe(h, MIB(20), 0).usable);
    assert_int_equal(heap_probe(h, MIB(20), 0).usable_bytes, MIB(20));
    heap_close(h);
}

/* Behind an event that is not complete nothing of that stream completes. */
static void a_free_behind_a_pending_one_stays_pending(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 12MiB; a 2 14MiB; r 1 16; r 2 16; r 2 32; p; f 1; c; p; f 2");
    assert_true(heap_probe(h, MIB(12), 0).usable);
    assert_false(heap_probe(h, MIB(13), 0).usable);
    heap_close(h);
}

static void in_a_capture_nothing_completes(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "b 1; a 1 12MiB; r 1 16; f 1");
    assert_false(heap_probe(h, MIB(12), 0).usable);
    assert_int_equal(heap_probe(h, MIB(12), 0).unusable_bytes[FL_UNUSABLE_PENDING], MIB(12));
    heap_does(h, "q 1; b 2");
    assert_false(heap_probe(h, MIB(12), 0).usable);
    heap_does(h, "q 2");
    assert_int_equal(heap_probe(h, MIB(12), 0).unusable_bytes[FL_UNUSABLE_POOL], MIB(12));
    heap_close(h);
}

static void a_request_tells_what_it_comes_to(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .split = MIB(64)});
    fl_probe probe = heap_probe(h, 1000, 0);
    assert_int_equal(probe.rounded_bytes, 1024);
    assert_int_equal(probe.segment_bytes, MIB(2));
    assert_int_equal(probe.most_bytes, MIB(64));
    assert_true(probe.is_small);
    probe = heap_probe(h, MIB(65), 0);
    assert_int_equal(probe.segment_bytes, MIB(66));
    assert_int_equal(probe.most_bytes, MIB(85));
    assert_false(probe.is_small);
    heap_close(h);
}

/* Below a limit the device is not asked, and the pool marked so comes next. */
static void a_pool_marked_use_on_oom_counts_where_a_limit_refuses(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.11.0", .capacity = MIB(100), .fraction = 0.3});
    heap_does(h, "b 1 use_on_oom; a 1 20MiB; f 1; q 1");
    assert_true(heap_probe(h, MIB(12), 0).usable);
    heap_shows(h, "a 2 12MiB", "A 2 0:0 12MiB");
    heap_close(h);
}

/* What expandable segments hold is passed by while the setting is off. */
static void blocks_of_the_other_kind_of_segment_do_not_serve(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1", .capacity = MIB(160), .expandable = true});
    heap_does(h, "a 1 20MiB; f 1; expandable off");
    assert_false(heap_probe(h, MIB(12), 0).usable);
    assert_int_equal(heap_probe(h, MIB(12), 0).unusable_bytes[FL_UNUSABLE_POOL], MIB(20));
    heap_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_probe_tells_usable_bytes_from_unusable_ones_by_cause),
        cmocka_unit_test(a_probe_sees_a_block_that_would_be_reused_without_mapping),
        cmocka_unit_test(frees_that_would_complete_count_as_complete),
        cmocka_unit_test(a_free_behind_a_pending_one_stays_pending),
        cmocka_unit_test(in_a_capture_nothing_completes),
        cmocka_unit_test(a_request_tells_what_it_comes_to),
        cmocka_unit_test(a_pool_marked_use_on_oom_counts_where_a_limit_refuses),
        cmocka_unit_test(blocks_of_the_other_kind_of_segment_do_not_serve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
