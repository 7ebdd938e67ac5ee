#include "heap_builder.h"

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
}

static void neighbours_must_know_each_other(void **state)
{
    (void)state;
    heap *h = open_checked();
    torch_block_at(heap_state(h), block_of(h, 3))->previous = FL_NONE;
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
    heap_state(h)->lanes.items[0].bins->count++;
    expect_broken(h, "a set holds a block that does not exist");
}

static void sums_must_be_those_of_the_statistics(void **state)
{
    (void)state;
    static const fl_stat_kind kinds[] = {FL_STAT_RESERVED_BYTES, FL_STAT_ACTIVE_BYTES,
                                         FL_STAT_ALLOCATED_BYTES, FL_STAT_REQUESTED_BYTES};
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        heap *h = open_checked();
        heap_state(h)->counts[0].current[kinds[i]]++;
        expect_broken(h, "do not add up");
    }
    heap *h = open_checked();
    heap_state(h)->held += 512;
    expect_broken(h, "reserved bytes do not add up");
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
