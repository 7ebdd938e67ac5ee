#include "trace/undo.h"

#include "test.h"
#include "trace/build.h"

#define MIB(n) ((uint64_t)(n) << 20)

/* A device at its end: one segment of 2 MiB and an expandable run of 40 MiB, a block in each. */
static fl_trace *end_new(fl_undo *undo)
{
    fl_trace *trace = fl_trace_new(fl_host_default(), "p", NULL);
    fl_segment_view small = {.address = MIB(10), .size = MIB(2), .is_small = true};
    fl_segment_view large = {.address = MIB(100), .size = MIB(40), .is_expandable = true};
    fl_block_view live = {
        .state = FL_BLOCK_LIVE, .id = 0, .address = MIB(10), .size = 1024, .requested = 1000};
    fl_block_view pending = {
        .state = FL_BLOCK_PENDING, .id = 1, .address = MIB(100), .size = MIB(4), .requested = 9};
    fl_block_view free = {.state = FL_BLOCK_FREE, .address = MIB(104), .size = MIB(36)};
    fl_trace_add_segment(trace, 0, &small, NULL);
    fl_trace_add_segment(trace, 0, &large, NULL);
    fl_trace_add_block(trace, 0, &live, FL_NONE, NULL);
    fl_trace_add_block(trace, 0, &pending, FL_NONE, NULL);
    fl_trace_add_block(trace, 0, &free, FL_NONE, NULL);
    *undo = (fl_undo){.host = fl_host_default(), .device = &trace->devices.items[0]};
    assert_true(fl_undo_begin(undo));
    return trace;
}

static void end_free(fl_trace *trace, fl_undo *undo)
{
    fl_undo_deinit(undo);
    fl_trace_free(trace);
}

static void undo_one(fl_undo *undo, uint8_t kind, uint32_t id, uint64_t address, uint64_t size)
{
    fl_undo_event event = {.kind = kind, .id = id, .address = address, .size = size};
    assert_true(fl_undo_one(undo, &event));
}

static size_t count_blocks(const fl_undo *undo)
{
    size_t count = 0;
    for (uint64_t from = 0; fl_undo_next_block(undo, from, &from) != NULL;)
        count++;
    return count;
}

static void only_blocks_in_use_are_looked_at(void **state)
{
    (void)state;
    fl_undo undo;
    fl_trace *trace = end_new(&undo);
    uint64_t end;
    assert_int_equal(count_blocks(&undo), 2);
    assert_int_equal(fl_undo_next_block(&undo, 0, &end)->id, 0);
    assert_int_equal(end, MIB(10) + 1024);
    assert_int_equal(fl_undo_next_block(&undo, end, &end)->id, 1);
    assert_null(fl_undo_next_block(&undo, end, &end));
    end_free(trace, &undo);
}

static void requests_and_frees_are_undone(void **state)
{
    (void)state;
    fl_undo undo;
    fl_trace *trace = end_new(&undo);
    uint64_t end;
    undo_one(&undo, FL_OP_FREE, 1, MIB(100), 9);
    assert_int_equal(fl_undo_next_block(&undo, MIB(100), &end)->state, FL_BLOCK_LIVE);
    undo_one(&undo, FL_OP_ALLOC, 0, MIB(10), 1000);
    assert_int_equal(count_blocks(&undo), 1);
    undo_one(&undo, FL_OP_FREE_DONE, 2, MIB(10), 77);
    const fl_block_view *freed = fl_undo_next_block(&undo, 0, &end);
    assert_int_equal(freed->id, 2);
    assert_int_equal(freed->size, 0);
    assert_int_equal(freed->requested, 77);
    assert_int_equal(freed->state, FL_BLOCK_PENDING);
    assert_false(fl_undo_is_broken(&undo));
    end_free(trace, &undo);
}

static void memory_is_undone_and_joined_where_it_touches(void **state)
{
    (void)state;
    fl_undo undo;
    fl_trace *trace = end_new(&undo);
    undo_one(&undo, FL_EVENT_SEGMENT_UNMAP, FL_NONE, MIB(140), MIB(20));
    undo_one(&undo, FL_EVENT_SEGMENT_FREE, FL_NONE, MIB(30), MIB(20));
    undo_one(&undo, FL_EVENT_SEGMENT_MAP, FL_NONE, MIB(120), MIB(20));
    struct fl_segment_vector runs = {0};
    assert_true(fl_undo_runs(&undo, &runs));
    assert_int_equal(runs.count, 4);
    assert_int_equal(runs.items[1].address, MIB(30));
    assert_int_equal(runs.items[2].size, MIB(20));
    assert_int_equal(runs.items[3].address, MIB(140));
    assert_int_equal(runs.items[3].size, MIB(20));
    assert_true(fl_extents_hold(&undo.runs, MIB(30), MIB(20)));
    assert_false(fl_extents_hold(&undo.runs, MIB(30), MIB(20) + 1));
    assert_false(fl_extents_hold(&undo.runs, MIB(120), 1));
    fl_vector_deinit(fl_host_default(), &runs);
    end_free(trace, &undo);
}

/* An unmapped run alone does not tell whose it was; a block in it does. */
static void the_pool_of_a_run_may_be_open(void **state)
{
    (void)state;
    fl_undo undo;
    fl_trace *trace = end_new(&undo);
    assert_false(fl_undo_is_open(&undo));
    undo_one(&undo, FL_EVENT_SEGMENT_UNMAP, FL_NONE, MIB(200), MIB(20));
    assert_true(fl_undo_is_open(&undo));
    undo_one(&undo, FL_OP_FREE_DONE, FL_NONE, MIB(200), 512);
    assert_false(fl_undo_is_open(&undo));
    end_free(trace, &undo);
}

static void what_cannot_have_happened_breaks_it(void **state)
{
    (void)state;
    static const struct {
        uint8_t kind, broken;
        uint64_t address, size;
    } rows[] = {
        {FL_OP_ALLOC, FL_BREAK_BLOCK_MISSING, MIB(11), 1},
        {FL_OP_ALLOC, FL_BREAK_BLOCK_OTHER, MIB(10), 999},
        {FL_OP_FREE, FL_BREAK_BLOCK_MISSING, MIB(11), 1},
        {FL_OP_FREE, FL_BREAK_BLOCK_OTHER, MIB(10), 1000},
        {FL_OP_FREE_DONE, FL_BREAK_BLOCK_TWICE, MIB(10), 1000},
        {FL_EVENT_SEGMENT_ALLOC, FL_BREAK_RUN_MISSING, MIB(12), MIB(2)},
        {FL_EVENT_SEGMENT_ALLOC, FL_BREAK_RUN_IN_USE, MIB(10), MIB(2)},
        {FL_EVENT_SEGMENT_FREE, FL_BREAK_RUN_TWICE, MIB(10), MIB(2)},
        {FL_EVENT_SEGMENT_MAP, FL_BREAK_RUN_IN_USE, MIB(100), MIB(20)},
        {FL_EVENT_SEGMENT_UNMAP, FL_BREAK_RUN_TWICE, MIB(110), MIB(20)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fl_undo undo;
        fl_trace *trace = end_new(&undo);
        undo.event = 7;
        undo_one(&undo, rows[i].kind, 0, rows[i].address, rows[i].size);
        assert_int_equal(undo.broken.kind, rows[i].broken);
        assert_int_equal(undo.broken.event, 7);
        end_free(trace, &undo);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_blocks_in_use_are_looked_at),
        cmocka_unit_test(requests_and_frees_are_undone),
        cmocka_unit_test(memory_is_undone_and_joined_where_it_touches),
        cmocka_unit_test(the_pool_of_a_run_may_be_open),
        cmocka_unit_test(what_cannot_have_happened_breaks_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
