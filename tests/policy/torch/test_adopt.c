#include "failing_host.h"
#include "heap_builder.h"

#include "test.h"

#include <string.h>

/* What the tests take over: a small segment, a large one, and an expandable range with a hole.  The
 * allocations 10 to 14 were there before. */
static const fl_segment_view runs[] = {
    {.segment = 0, .is_small = true, .address = 0x7e0000000000, .size = MIB(2)},
    {.segment = 1, .address = 0x7e0001000000, .size = MIB(20)},
    {.segment = 2, .is_expandable = true, .address = 0x7e0010000000, .size = MIB(20)},
    {.segment = 2, .is_expandable = true, .address = 0x7e0010000000 + MIB(40), .size = MIB(20)},
};
static const fl_block_view blocks[] = {
    {FL_BLOCK_FREE, FL_NONE, 0x7e0000000000, 512, 0, 0, 0},
    {FL_BLOCK_LIVE, 10, 0x7e0000000200, MIB(2) - 512, 700, 0, 0},
    {FL_BLOCK_PENDING, 11, 0x7e0001000000, MIB(5), MIB(5), 0, 0},
    {FL_BLOCK_FREE, FL_NONE, 0x7e0001000000 + MIB(5), MIB(15), 0, 0, 0},
    {FL_BLOCK_LIVE, 12, 0x7e0010000000, MIB(20), MIB(20), 0, 0},
    {FL_BLOCK_FREE, FL_NONE, 0x7e0010000000 + MIB(40), MIB(20), 0, 0, 0},
};
static const fl_start_range ranges[] = {
    {0x7e0000000000, MIB(16), 0},
    {0x7e0001000000, MIB(240), 0},
    {0x7e0010000000, UINT64_MAX, MIB(20)},
};

static fl_start whole_start(void)
{
    return (fl_start){
        runs,   sizeof runs / sizeof *runs,     blocks, sizeof blocks / sizeof *blocks,
        ranges, sizeof ranges / sizeof *ranges, NULL,   0};
}

/* The first segment and range alone. */
static fl_start first_start(void)
{
    return (fl_start){runs, 1, blocks, 2, ranges, 1, NULL, 0};
}

static fl_status adopt(heap *h, const fl_start *start, fl_error *error)
{
    return torch_adopt(heap_state(h), start, error);
}

static heap *adopted(heap_conf conf, const fl_start *start)
{
    fl_error error = {0};
    heap *h = heap_open(conf);
    if (adopt(h, start, &error) != FL_OK || torch_check(heap_state(h), &error) != FL_OK)
        fail_msg("%s", error.text);
    return h;
}

static void statistics_tell_what_is_current(void **state)
{
    (void)state;
    fl_start start = whole_start();
    heap *h = adopted((heap_conf){.split = MIB(20)}, &start);
    heap_stat_shows(h, FL_STAT_ALLOCATION, "2 2 0 0");
    heap_stat_shows(h, FL_STAT_ACTIVE, "3 3 0 0");
    heap_stat_shows(h, FL_STAT_SEGMENT, "2 2 0 0");
    heap_stat_shows(h, FL_STAT_INACTIVE_SPLIT, "2 2 0 0");
    assert_int_equal(heap_stats(h)->stat[FL_STAT_RESERVED_BYTES][FL_STAT_ALL].current, MIB(62));
    assert_int_equal(heap_stats(h)->oversize_allocations.current, 1);
    assert_int_equal(heap_stats(h)->oversize_segments.current, 1);
    assert_int_equal(heap_stats(h)->device_allocs, 0);
    assert_int_equal(heap_device(h)->used_bytes, MIB(62));
    assert_int_equal(heap_device(h)->calls[FL_CALL_MAP][fl_log2(MIB(20))], 0);
    heap_close(h);
}

static void free_blocks_are_found_and_live_ones_are_not(void **state)
{
    (void)state;
    fl_start start = first_start();
    heap *h = adopted((heap_conf){.release = "2.9.1"}, &start);
    assert_true(heap_probe(h, 512, 0).usable);
    assert_false(heap_probe(h, 1024, 0).usable);
    heap_close(h);
}

static void a_range_grows_where_it_has_holes(void **state)
{
    (void)state;
    fl_start start = whole_start();
    heap *h = adopted((heap_conf){.expandable = true, .capacity = MIB(200)}, &start);
    heap_state(h)->sink = NULL; /* the builder names segments that came while it listened */
    fl_op op = {.kind = FL_OP_ALLOC,
                .id = 20,
                .stream = 0,
                .pool = FL_NONE,
                .text = FL_NONE,
                .size = MIB(38)};
    fl_result result;
    extern const fl_policy_ops fl_policy_torch;
    assert_int_equal(fl_policy_torch.alloc(heap_state(h), &op, &result, NULL), FL_OK);
    assert_int_equal(result.outcome, FL_DONE);
    assert_int_equal(result.address, runs[2].address + MIB(20));
    assert_int_equal(torch_check(heap_state(h), NULL), FL_OK);
    heap_drop(h);
}

/* Nine eighths of this card are less than what lies between the ends of the range. */
static void a_range_of_a_larger_card_keeps_its_length(void **state)
{
    (void)state;
    fl_segment_view far[] = {runs[2], runs[3]};
    far[0].segment = far[1].segment = 0;
    far[1].address = far[0].address + MIB(200);
    fl_block_view mapped[] = {blocks[4],
                              {FL_BLOCK_FREE, FL_NONE, far[1].address, far[1].size, 0, 0, 0}};
    fl_start start = {far, 2, mapped, 2, ranges + 2, 1, NULL, 0};
    heap *h = adopted((heap_conf){.expandable = true, .capacity = MIB(60)}, &start);
    assert_int_equal(heap_state(h)->segments.items[0].size, MIB(220));
    heap_close(h);
    h = adopted((heap_conf){.expandable = true, .capacity = MIB(400)}, &start);
    assert_int_equal(heap_state(h)->segments.items[0].size, MIB(460)); /* 450, in whole pages */
    heap_close(h);
}

struct births_seen {
    uint64_t births[8];
    size_t count;
};

static void births_segment(void *user, const fl_segment_view *segment)
{
    (void)user;
    (void)segment;
}

static void births_block(void *user, const fl_block_view *block)
{
    struct births_seen *seen = user;
    seen->births[seen->count++] = block->birth;
}

/* Blocks that the list leaves out, and ends of it that no block has, do not change the others. */
static void blocks_were_born_in_the_order_that_is_told(void **state)
{
    (void)state;
    const uint64_t births[] = {blocks[1].address, 0x1000, blocks[0].address};
    fl_start start = first_start();
    start.births = births;
    start.birth_count = 3;
    heap *h = adopted((heap_conf){.release = "2.12.0"}, &start);
    struct births_seen seen = {{0}, 0};
    fl_walk walk = {births_segment, births_block, &seen};
    assert_int_equal(torch_walk(heap_state(h), &walk, NULL), FL_OK);
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.births[0], 2);
    assert_int_equal(seen.births[1], 0);
    heap_drop(h);
    start.birth_count = 1;
    h = adopted((heap_conf){.release = "2.12.0"}, &start);
    seen.count = 0;
    assert_int_equal(torch_walk(heap_state(h), &walk, NULL), FL_OK);
    assert_int_equal(seen.births[0], 1);
    assert_int_equal(seen.births[1], 0);
    heap_drop(h);
}

static void ages_block(void *user, const fl_block_view *block)
{
    uint64_t *age = user;
    if (block->state == FL_BLOCK_FREE)
        *age = block->age;
}

/* By which collection judges: it goes on, however little the new allocator has searched. */
static void free_blocks_keep_their_ages(void **state)
{
    (void)state;
    fl_block_view aged[] = {blocks[0], blocks[1]};
    aged[0].age = aged[1].age = 7;
    fl_start start = first_start();
    start.blocks = aged;
    heap *h = adopted((heap_conf){.capacity = MIB(100), .collect = 0.9, .fraction = 0.9}, &start);
    uint64_t age = 0;
    fl_walk walk = {births_segment, ages_block, &age};
    assert_int_equal(torch_walk(heap_state(h), &walk, NULL), FL_OK);
    assert_int_equal(age, 7);
    heap_drop(h);
}

static void what_waits_completes_when_told(void **state)
{
    (void)state;
    fl_start start = whole_start();
    heap *h = adopted((heap_conf){.release = "2.9.1"}, &start);
    heap_state(h)->sink = NULL;
    fl_op op = {.kind = FL_OP_FREE_DONE, .id = 11, .stream = 0, .pool = FL_NONE, .text = FL_NONE};
    fl_result result;
    extern const fl_policy_ops fl_policy_torch;
    assert_int_equal(fl_policy_torch.control(heap_state(h), &op, &result, NULL), FL_OK);
    assert_int_equal(torch_check(heap_state(h), NULL), FL_OK);
    heap_stat_shows(h, FL_STAT_ACTIVE, "2 3 0 1");
    assert_true(heap_probe(h, MIB(20), 0).usable);
    heap_drop(h);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    fl_start start = whole_start();
    fl_error error = {0};
    heap *h = heap_open((heap_conf){.capacity = MIB(20)});
    assert_int_equal(adopt(h, &start, &error), FL_ERR_UNAVAILABLE);
    assert_string_equal(error.text,
                        "the device is smaller than what was there before the first event");
    heap_drop(h);

    fl_segment_view private = runs[0];
    private.pool = 70000;
    start = (fl_start){&private, 1, blocks, 2, ranges, 1, NULL, 0};
    error = (fl_error){0};
    h = heap_open((heap_conf){.release = "2.9.1"});
    assert_int_equal(adopt(h, &start, &error), FL_ERR_INPUT);
    assert_non_null(strstr(error.text, "a pool without a name"));
    heap_drop(h);

    fl_segment_view uneven = runs[2];
    uneven.address += MIB(2);
    uneven.segment = 0;
    fl_block_view block = {FL_BLOCK_FREE, FL_NONE, uneven.address, uneven.size, 0, 0, 0};
    start = (fl_start){&uneven, 1, &block, 1, ranges + 2, 1, NULL, 0};
    error = (fl_error){0};
    h = heap_open((heap_conf){.release = "2.9.1"});
    assert_int_equal(adopt(h, &start, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "start state: at 0x7e0010200000: a mapped run does not fit the "
                                    "pages of its range");
    heap_drop(h);

    fl_segment_view huge = runs[2];
    huge.segment = 0;
    huge.size = ranges[2].page << 24;
    block = (fl_block_view){FL_BLOCK_FREE, FL_NONE, huge.address, huge.size, 0, 0, 0};
    start = (fl_start){&huge, 1, &block, 1, ranges + 2, 1, NULL, 0};
    error = (fl_error){0};
    h = heap_open((heap_conf){.release = "2.9.1", .total = UINT64_C(1) << 60});
    assert_int_equal(adopt(h, &start, &error), FL_ERR_INPUT);
    assert_string_equal(error.text,
                        "start state: at 0x7e0010000000: a mapped run is larger than any card");
    heap_drop(h);
}

static fl_status open_and_adopt(const fl_host *host, void *user, fl_error *error)
{
    heap *h = NULL;
    fl_status status = heap_try_open((heap_conf){.release = "2.9.1"}, host, &h, error);
    if (status == FL_OK)
        status = adopt(h, user, error);
    if (h != NULL)
        heap_drop(h);
    return status;
}

static void every_failure_of_the_host_is_told(void **state)
{
    (void)state;
    fl_start start = whole_start();
    assert_true(failing_host_sweep(open_and_adopt, &start) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_tell_what_is_current),
        cmocka_unit_test(free_blocks_are_found_and_live_ones_are_not),
        cmocka_unit_test(a_range_grows_where_it_has_holes),
        cmocka_unit_test(a_range_of_a_larger_card_keeps_its_length),
        cmocka_unit_test(blocks_were_born_in_the_order_that_is_told),
        cmocka_unit_test(free_blocks_keep_their_ages),
        cmocka_unit_test(what_waits_completes_when_told),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(every_failure_of_the_host_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
