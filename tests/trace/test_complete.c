#include "trace/told.h"

#include "test.h"

/* A trace of a few events, with or without a final state. */
typedef struct maker {
    fl_trace *trace;
} maker;

static maker maker_new(bool has_final_state)
{
    maker make = {fl_trace_new(fl_host_default(), "p", NULL)};
    make.trace->format = FL_FORMAT_SNAPSHOT;
    make.trace->devices.items[0].has_final_state = has_final_state;
    return make;
}

static void add(maker *make, uint8_t kind, uint32_t id, uint64_t address, uint64_t size)
{
    fl_event event = {
        .kind = kind,
        .id = id,
        .stream = 0,
        .pool = FL_NONE,
        .stack = FL_NONE,
        .address = address,
        .size = size,
        .time_us = FL_TIME_UNKNOWN,
    };
    assert_int_equal(fl_trace_append(make->trace, 0, &event, NULL), FL_OK);
}

static void add_segment(maker *make, uint64_t address, uint64_t size)
{
    fl_segment_view segment = {.address = address, .size = size};
    assert_int_equal(fl_trace_add_segment(make->trace, 0, &segment, NULL), FL_OK);
}

static void add_block(maker *make, fl_block_state state, uint32_t id)
{
    fl_block_view block = {.state = state, .id = id};
    assert_int_equal(fl_trace_add_block(make->trace, 0, &block, FL_NONE, NULL), FL_OK);
}

static bool is_complete(maker *make)
{
    assert_int_equal(fl_trace_finish(make->trace, NULL), FL_OK);
    bool complete = fl_trace_is_complete(make->trace, 0);
    fl_trace_free(make->trace);
    return complete;
}

static void a_window_that_accounts_for_everything_is_complete(void **state)
{
    (void)state;
    maker make = maker_new(true);
    add(&make, FL_EVENT_SEGMENT_ALLOC, FL_NONE, 0x1000, 0x1000);
    add(&make, FL_EVENT_SEGMENT_ALLOC, FL_NONE, 0x2000, 0x1000);
    add(&make, FL_OP_ALLOC, 0, 0x1000, 512);
    add(&make, FL_OP_ALLOC, 1, 0x2000, 512);
    add(&make, FL_OP_FREE, 0, 0x1000, 512);
    add(&make, FL_OP_FREE_DONE, 0, 0x1000, 512);
    add(&make, FL_EVENT_SEGMENT_FREE, FL_NONE, 0x1000, 0x1000);
    add_segment(&make, 0x2000, 0x1000);
    add_block(&make, FL_BLOCK_LIVE, 1);
    add_block(&make, FL_BLOCK_FREE, FL_NONE);
    assert_true(is_complete(&make));
}

static void ranges_mapped_and_unmapped_in_other_pieces_add_up(void **state)
{
    (void)state;
    maker make = maker_new(true);
    add(&make, FL_EVENT_SEGMENT_MAP, FL_NONE, 0x1000, 0x1000);
    add(&make, FL_EVENT_SEGMENT_MAP, FL_NONE, 0x2000, 0x3000);
    add(&make, FL_EVENT_SEGMENT_UNMAP, FL_NONE, 0x1800, 0x1000);
    add_segment(&make, 0x1000, 0x800);
    add_segment(&make, 0x2800, 0x2800);
    assert_true(is_complete(&make));
}

static void memory_from_before_the_window_makes_it_incomplete(void **state)
{
    (void)state;
    maker final = maker_new(true);
    add_segment(&final, 0x2000, 0x1000);
    assert_false(is_complete(&final));
    maker freed = maker_new(true);
    add(&freed, FL_EVENT_SEGMENT_FREE, FL_NONE, 0x1000, 0x1000);
    assert_false(is_complete(&freed));
    maker other_size = maker_new(true);
    add(&other_size, FL_EVENT_SEGMENT_ALLOC, FL_NONE, 0x1000, 0x1000);
    add_segment(&other_size, 0x1000, 0x2000);
    assert_false(is_complete(&other_size));
}

static void blocks_from_before_the_window_make_it_incomplete(void **state)
{
    (void)state;
    maker freed = maker_new(true);
    add(&freed, FL_OP_FREE_DONE, FL_NONE, 0x1000, 512);
    assert_false(is_complete(&freed));
    maker live = maker_new(true);
    add_block(&live, FL_BLOCK_LIVE, FL_NONE);
    assert_false(is_complete(&live));
    maker pending = maker_new(true);
    add_block(&pending, FL_BLOCK_PENDING, FL_NONE);
    assert_false(is_complete(&pending));
}

static void a_start_that_was_told_makes_it_incomplete(void **state)
{
    (void)state;
    for (int has_final_state = 0; has_final_state < 2; has_final_state++) {
        maker make = maker_new(has_final_state);
        fl_segment_view run = {.address = 0x1000, .size = 0x1000};
        assert_int_equal(fl_told_add_run(make.trace, 0, &run, 0, 0, NULL), FL_OK);
        assert_int_equal(fl_told_finish(make.trace, 0, NULL), FL_OK);
        assert_false(is_complete(&make));
    }
}

static void a_block_that_the_final_state_lacks_makes_it_incomplete(void **state)
{
    (void)state;
    maker make = maker_new(true);
    add(&make, FL_OP_ALLOC, 0, 0x1000, 512);
    assert_false(is_complete(&make));
}

static void a_refused_request_leaves_nothing_behind(void **state)
{
    (void)state;
    maker make = maker_new(true);
    add(&make, FL_OP_ALLOC, 0, 0x1000, 512);
    fl_trace_set_flags(make.trace, 0, 0, FL_EVENT_OOM);
    assert_true(is_complete(&make));
}

static void without_a_final_state_the_beginning_decides(void **state)
{
    (void)state;
    maker fresh = maker_new(false);
    add(&fresh, FL_EVENT_SNAPSHOT, FL_NONE, 0, 0);
    add(&fresh, FL_EVENT_SEGMENT_ALLOC, FL_NONE, 0x1000, 0x1000);
    add(&fresh, FL_OP_ALLOC, 0, 0x1000, 512);
    assert_true(is_complete(&fresh));
    maker warm = maker_new(false);
    add(&warm, FL_OP_ALLOC, 0, 0x1000, 512);
    assert_false(is_complete(&warm));
    maker late = maker_new(false);
    add(&late, FL_EVENT_SEGMENT_MAP, FL_NONE, 0x1000, 0x1000);
    add(&late, FL_OP_FREE, FL_NONE, 0x5000, 512);
    assert_false(is_complete(&late));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_that_accounts_for_everything_is_complete),
        cmocka_unit_test(ranges_mapped_and_unmapped_in_other_pieces_add_up),
        cmocka_unit_test(memory_from_before_the_window_makes_it_incomplete),
        cmocka_unit_test(blocks_from_before_the_window_make_it_incomplete),
        cmocka_unit_test(a_start_that_was_told_makes_it_incomplete),
        cmocka_unit_test(a_block_that_the_final_state_lacks_makes_it_incomplete),
        cmocka_unit_test(a_refused_request_leaves_nothing_behind),
        cmocka_unit_test(without_a_final_state_the_beginning_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
