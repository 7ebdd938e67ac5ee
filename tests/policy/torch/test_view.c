#include "heap_builder.h"

#include "policy/torch/block.h"

#include "test.h"

#include <string.h>

extern const fl_policy_ops fl_policy_torch;

/* ---- walk ------------------------------------------------------------------------------------ */

static void segments_are_walked_by_address_whatever_their_age(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 20MiB 16; a 2 30MiB; f 1; e; b 1; a 3 1; q 1; r 2 16; p; f 2");
    heap_shows(h, "s",
               "S 2:0 2MiB small pool 1; B 512 1 live; B 2MiB-512 0 free; "
               "S 1:0 30MiB large; B 30MiB 30MiB pend");
    heap_close(h);
}

static void unmapped_ranges_part_the_runs_of_an_expandable_segment(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.capacity = MIB(160), .expandable = true});
    heap_does(h, "a 1 20MiB 16; a 2 40MiB 16; a 3 19MiB 16; f 2; e");
    heap_shows(h, "s",
               "S 0:0 20MiB large stream 16 exp; B 20MiB 20MiB live; "
               "S 0:60MiB 20MiB large stream 16 exp; B 19MiB 19MiB live; B 1MiB 0 free");
    heap_close(h);
}

static void an_empty_heap_shows_nothing(void **state)
{
    (void)state;
    heap_example("s; a 1 20MiB; f 1; e; s", "+ 0 20MiB; A 1 0:0 20MiB; F 1; - 0 20MiB trim",
                 .release = "2.9.1");
}

/* ---- facts ----------------------------------------------------------------------------------- */

static void facts_hold_statistics_and_the_last_refusal(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.capacity = MIB(60), .split = MIB(64)});
    assert_int_equal(heap_stats(h)->max_split_bytes, MIB(64));
    assert_null(heap_refusal(h));
    heap_does(h, "a 1 2MiB; a 2 16MiB; a 3 70MiB; a 4 41MiB");
    assert_int_equal(heap_refusal(h)->requested_bytes, MIB(41));
    assert_int_equal(heap_refusal(h)->rounded_bytes, MIB(41));
    assert_int_equal(heap_refusal(h)->segment_bytes, MIB(42));
    assert_int_equal(heap_refusal(h)->device_free_bytes, MIB(40));
    assert_int_equal(heap_refusal(h)->cached_free_bytes, MIB(2));
    assert_int_equal(heap_stats(h)->ooms, 2);
    heap_close(h);
}

/* ---- check: each invariant, broken by hand --------------------------------------------------- */

/* Blocks 0 and 1 are the remainder and the block of id 1; 2 is another's. */
static heap *open_checked(void)
{
    heap *h = heap_open((heap_conf){.release = "2.9.1"});
    heap_does(h, "a 1 2MiB; a 2 2MiB; a 3 2MiB; f 2");
    return h;
}

static void expect_broken(heap *h, const char *text)
{
    fl_error error = {0};
    assert_int_equal(fl_policy_torch.check(heap_state(h), &error), FL_ERR_INTERNAL);
    if (strstr(error.text, text) == NULL)
        fail_msg("expected '%s', got '%s'", text, error.text);
    heap_drop(h);
}

static uint32_t block_of(heap *h, uint32_t id)
{
    return heap_state(h)->block_of.items[id];
}

static void blocks_must_tile_their_segment(void **state)
{
    (void)state;
    heap *h = open_checked();
    torch_block_at(heap_state(h), block_of(h, 1))->size += 512;
    expect_broken(h, "do not tile");
    h = open_checked();
    torch_block_at(heap_state(h), block_of(h, 1))->size -= 512;
    expect_broken(h, "do not tile");
}

static void neighbours_must_know_each_other(void **state)
{
    (void)state;
    heap *h = open_checked();
    torch_block_at(heap_state(h), block_of(h, 3))->previous = NO_BLOCK;
    expect_broken(h, "do not know each other");
}

static void active_blocks_must_be_known_by_their_id(void **state)
{
    (void)state;
    heap *h = open_checked();
    heap_state(h)->block_of.items[3] = FL_NONE;
    expect_broken(h, "not known by its id");
}

static void free_blocks_must_be_in_the_free_set(void **state)
{
    (void)state;
    heap *h = open_checked();
    torch *st = heap_state(h);
    torch_free_remove(st, torch_block_at(st, block_of(h, 1))->next);
    expect_broken(h, "not in the free set");
}

static void free_neighbours_must_be_merged(void **state)
{
    (void)state;
    heap *h = open_checked();
    torch *st = heap_state(h);
    uint32_t index = block_of(h, 1);
    torch_block_at(st, index)->flags = BLOCK_MAPPED | BLOCK_FREE;
    assert_true(torch_free_insert(st, index));
    expect_broken(h, "were not merged");
}

static void unmapped_ranges_must_be_in_the_unmapped_set(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.capacity = MIB(160), .expandable = true});
    heap_does(h, "a 1 20MiB");
    torch *st = heap_state(h);
    torch_unmapped_remove(st, torch_block_at(st, block_of(h, 1))->next);
    expect_broken(h, "not in the unmapped set");
}

static void sets_must_hold_nothing_else(void **state)
{
    (void)state;
    heap *h = open_checked();
    heap_state(h)->lanes.items[0]->unmapped.count++;
    expect_broken(h, "a set holds a block that does not exist");
}

static void sums_must_be_those_of_the_statistics(void **state)
{
    (void)state;
    static const fl_stat_kind kinds[] = {FL_STAT_RESERVED_BYTES, FL_STAT_ALLOCATED_BYTES,
                                         FL_STAT_REQUESTED_BYTES};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        heap *h = open_checked();
        heap_state(h)->counts[0].current[kinds[i]]++;
        expect_broken(h, "do not add up");
    }
    heap *h = open_checked();
    heap_state(h)->counts[1].pending_bytes++;
    expect_broken(h, "bytes in use do not add up");
    h = open_checked();
    heap_state(h)->held += 512;
    expect_broken(h, "reserved bytes do not add up");
}

/* Peaks fall to what is current, sums to 0; what was freed before counts no more. */
static void statistics_start_anew(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.capacity = MIB(100), .release = "2.15.0"});
    heap_does(h, "a 1 3MiB; a 2 1MiB; a 3 30MiB; f 3; f 2; a 4 90MiB");
    heap_stat_shows(h, FL_STAT_ALLOCATED_BYTES, "3MiB 34MiB 34MiB 31MiB");
    assert_int_equal(heap_stats(h)->alloc_retries, 1);
    torch_reset_peaks(heap_state(h));
    heap_stat_shows(h, FL_STAT_ALLOCATED_BYTES, "3MiB 3MiB 34MiB 31MiB");
    torch_reset_sums(heap_state(h));
    heap_stat_shows(h, FL_STAT_ALLOCATED_BYTES, "3MiB 3MiB 0 0");
    heap_stat_shows(h, FL_STAT_SEGMENT, "1 1 0 0");
    assert_int_equal(heap_stats(h)->alloc_retries, 0);
    assert_int_equal(heap_stats(h)->device_allocs, 0);
    heap_does(h, "a 5 1MiB; f 1");
    heap_stat_shows(h, FL_STAT_ALLOCATED_BYTES, "1MiB 4MiB 1MiB 3MiB");
    heap_stat_shows(h, FL_STAT_SEGMENT, "2 2 1 0");
    heap_close(h);
}

static void a_pool_keeps_its_statistics_when_it_is_gone(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.release = "2.15.0"});
    heap_does(h, "b 1; b 2; a 1 1MiB; q 2; q 1; x 1; x 2");
    fl_facts facts;
    torch_facts(heap_state(h), &facts);
    assert_int_equal(facts.pool_count, 1);
    assert_int_equal(facts.pools[0].id[1], 2);
    heap_does(h, "f 1; e; b 2; a 2 30MiB; q 2");
    torch_facts(heap_state(h), &facts);
    assert_int_equal(facts.pool_count, 1);
    const fl_stat *reserved = facts.pools[0].reserved;
    assert_int_equal(reserved[FL_STAT_SMALL].current, 0);
    assert_int_equal(reserved[FL_STAT_SMALL].freed, MIB(2));
    assert_int_equal(reserved[FL_STAT_ALL].allocated, MIB(32));
    assert_int_equal(reserved[FL_STAT_ALL].peak, MIB(30));
    torch_reset_sums(heap_state(h));
    assert_int_equal(reserved[FL_STAT_ALL].allocated, 0);
    heap_close(h);
}

static void a_refusal_knows_what_its_message_tells(void **state)
{
    (void)state;
    heap *h = heap_open((heap_conf){.capacity = MIB(100), .fraction = 0.9, .release = "2.9.1"});
    heap_does(h, "a 1 40MiB; b 1; a 2 20MiB; f 2; q 1; a 3 60MiB");
    const fl_refusal *refusal = heap_refusal(h);
    assert_int_equal(refusal->total_bytes, MIB(100));
    assert_int_equal(refusal->limit_bytes, MIB(90));
    assert_int_equal(refusal->allocated_bytes, MIB(40));
    assert_int_equal(refusal->reserved_bytes, MIB(60));
    assert_int_equal(refusal->private_free_bytes, MIB(20));
    assert_int_equal(refusal->reserve_bytes, FL_UNLIMITED);
    assert_false(refusal->is_expandable);
    assert_false(refusal->is_rejected);
    heap_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_are_walked_by_address_whatever_their_age),
        cmocka_unit_test(unmapped_ranges_part_the_runs_of_an_expandable_segment),
        cmocka_unit_test(an_empty_heap_shows_nothing),
        cmocka_unit_test(facts_hold_statistics_and_the_last_refusal),
        cmocka_unit_test(blocks_must_tile_their_segment),
        cmocka_unit_test(neighbours_must_know_each_other),
        cmocka_unit_test(active_blocks_must_be_known_by_their_id),
        cmocka_unit_test(free_blocks_must_be_in_the_free_set),
        cmocka_unit_test(free_neighbours_must_be_merged),
        cmocka_unit_test(unmapped_ranges_must_be_in_the_unmapped_set),
        cmocka_unit_test(sets_must_hold_nothing_else),
        cmocka_unit_test(sums_must_be_those_of_the_statistics),
        cmocka_unit_test(statistics_start_anew),
        cmocka_unit_test(a_pool_keeps_its_statistics_when_it_is_gone),
        cmocka_unit_test(a_refusal_knows_what_its_message_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
