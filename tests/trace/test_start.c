#include "trace/build.h"

#include "failing_host.h"
#include "test.h"

#define MIB(n) ((uint64_t)(n) << 20)

/* A cut window: events behind each other, then the final state. */
static fl_trace *window_new(const fl_host *host)
{
    fl_trace *trace = fl_trace_new(host, "p", NULL);
    if (trace == NULL)
        return NULL;
    trace->format = FL_FORMAT_SNAPSHOT;
    trace->devices.items[0].has_final_state = true;
    return trace;
}

static fl_status add(fl_trace *trace, uint8_t kind, uint32_t id, uint64_t address, uint64_t size)
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
    return fl_trace_append(trace, 0, &event, NULL);
}

static fl_status add_run(fl_trace *trace, uint64_t address, uint64_t size, bool is_expandable)
{
    fl_segment_view segment = {.address = address,
                               .size = size,
                               .is_small = size == MIB(2),
                               .is_expandable = is_expandable};
    return fl_trace_add_segment(trace, 0, &segment, NULL);
}

static fl_status add_block(fl_trace *trace, uint64_t address, uint64_t size, fl_block_state state,
                           uint32_t id)
{
    fl_block_view block = {
        .state = state, .id = id, .address = address, .size = size, .requested = size};
    return fl_trace_add_block(trace, 0, &block, FL_NONE, NULL);
}

static const fl_trace_start *finish(fl_trace *trace)
{
    assert_int_equal(fl_trace_finish(trace, NULL), FL_OK);
    assert_false(fl_trace_is_complete(trace, 0));
    assert_int_equal(fl_trace_find_start(trace, 0, NULL), FL_OK);
    return &trace->devices.items[0].start;
}

static void what_is_freed_in_the_window_was_there_before(void **state)
{
    (void)state;
    fl_trace *trace = window_new(fl_host_default());
    uint32_t own;
    assert_int_equal(fl_trace_new_id(trace, 0, 0, &own, NULL), FL_OK);
    add(trace, FL_OP_FREE, FL_NONE, MIB(10), 700);
    add(trace, FL_OP_FREE_DONE, FL_NONE, MIB(10), 700);
    add(trace, FL_OP_FREE_DONE, FL_NONE, MIB(10) + 1024, 512);
    add(trace, FL_OP_ALLOC, own, MIB(10), 600);
    add_run(trace, MIB(10), MIB(2), false);
    add_block(trace, MIB(10), 600, FL_BLOCK_LIVE, own);
    add_block(trace, MIB(10) + 2048, 4096, FL_BLOCK_PENDING, FL_NONE);
    const fl_trace_start *start = finish(trace);
    assert_true(start->is_known);
    assert_false(start->is_placed);
    assert_int_equal(start->segments.count, 1);
    assert_int_equal(start->in_use.count, 3);
    const fl_block_view *blocks = start->in_use.items;
    assert_int_equal(blocks[0].state, FL_BLOCK_LIVE);
    assert_int_equal(blocks[0].requested, 700);
    assert_int_equal(blocks[0].size, 0);
    assert_int_equal(blocks[1].state, FL_BLOCK_PENDING);
    assert_int_equal(blocks[2].state, FL_BLOCK_PENDING);
    assert_int_equal(blocks[2].size, 4096);
    fl_trace_free(trace);
}

static void blocks_of_the_start_have_the_numbers_that_events_know(void **state)
{
    (void)state;
    fl_trace *trace = window_new(fl_host_default());
    add(trace, FL_OP_FREE, FL_NONE, MIB(10) + 1024, 512);
    add(trace, FL_OP_FREE_DONE, FL_NONE, MIB(10) + 1024, 512);
    add_run(trace, MIB(10), MIB(2), false);
    add_block(trace, MIB(10), 512, FL_BLOCK_LIVE, FL_NONE);
    const fl_trace_start *start = finish(trace);
    fl_event event;
    fl_trace_event(trace, 0, 0, &event);
    assert_int_equal(start->first_id, 0);
    assert_int_equal(start->in_use.items[0].id, 0);
    assert_int_equal(start->in_use.items[1].id, 1);
    assert_int_equal(event.id, 1);
    fl_trace_free(trace);
}

/* What was freed twice, with nothing placed there in between, contradicts itself. */
static void a_free_too_many_leaves_no_start(void **state)
{
    (void)state;
    fl_trace *trace = window_new(fl_host_default());
    for (int i = 0; i < 2; i++) {
        add(trace, FL_OP_FREE, FL_NONE, MIB(10), 512);
        add(trace, FL_OP_FREE_DONE, FL_NONE, MIB(10), 512);
    }
    add_run(trace, MIB(10), MIB(2), false);
    assert_false(finish(trace)->is_known);
    fl_trace_free(trace);
}

static void segments_that_came_or_went_are_undone(void **state)
{
    (void)state;
    fl_trace *trace = window_new(fl_host_default());
    add(trace, FL_EVENT_SEGMENT_FREE, FL_NONE, MIB(100), MIB(2));
    add(trace, FL_EVENT_SEGMENT_FREE, FL_NONE, MIB(200), MIB(20));
    add(trace, FL_EVENT_SEGMENT_ALLOC, FL_NONE, MIB(100), MIB(30));
    add_run(trace, MIB(100), MIB(30), false);
    const fl_trace_start *start = finish(trace);
    assert_int_equal(start->segments.count, 2);
    assert_int_equal(start->segments.items[0].size, MIB(2));
    assert_true(start->segments.items[0].is_small);
    assert_int_equal(start->segments.items[1].address, MIB(200));
    assert_false(start->segments.items[1].is_small);
    fl_trace_free(trace);
}

static void ranges_mapped_or_unmapped_are_cut_and_joined(void **state)
{
    (void)state;
    fl_trace *trace = window_new(fl_host_default());
    add(trace, FL_OP_FREE_DONE, FL_NONE, MIB(200), MIB(3));
    add(trace, FL_EVENT_SEGMENT_UNMAP, FL_NONE, MIB(200), MIB(40));
    add(trace, FL_EVENT_SEGMENT_UNMAP, FL_NONE, MIB(100), MIB(20));
    add(trace, FL_EVENT_SEGMENT_MAP, FL_NONE, MIB(140), MIB(20));
    add_run(trace, MIB(120), MIB(60), true);
    const fl_trace_start *start = finish(trace);
    assert_int_equal(start->segments.count, 3);
    const fl_segment_view *runs = start->segments.items;
    assert_int_equal(runs[0].address, MIB(100));
    assert_int_equal(runs[0].size, MIB(40));
    assert_int_equal(runs[1].address, MIB(160));
    assert_int_equal(runs[1].size, MIB(20));
    assert_int_equal(runs[2].size, MIB(40));
    assert_true(runs[2].is_expandable);
    assert_false(runs[2].is_small);
    fl_trace_free(trace);
}

/* Up to 2.11 entries name no pool, but the final state does. */
static void pages_that_went_are_of_the_pool_that_they_touch(void **state)
{
    (void)state;
    fl_trace *trace = window_new(fl_host_default());
    uint32_t pool;
    assert_int_equal(fl_trace_intern_pool(trace, (fl_pool_name){0, 7}, &pool, NULL), FL_OK);
    add(trace, FL_OP_FREE_DONE, FL_NONE, MIB(110), MIB(25));
    add(trace, FL_EVENT_SEGMENT_UNMAP, FL_NONE, MIB(140), MIB(20)); /* undone last */
    add(trace, FL_EVENT_SEGMENT_UNMAP, FL_NONE, MIB(120), MIB(20));
    add(trace, FL_EVENT_SEGMENT_UNMAP, FL_NONE, MIB(160), MIB(20)); /* touches nothing yet */
    fl_segment_view left = {
        .address = MIB(100), .size = MIB(20), .is_expandable = true, .pool = pool};
    assert_int_equal(fl_trace_add_segment(trace, 0, &left, NULL), FL_OK);
    const fl_trace_start *start = finish(trace);
    assert_true(start->is_known);
    assert_int_equal(start->segments.count, 1);
    assert_int_equal(start->segments.items[0].address, MIB(100));
    assert_int_equal(start->segments.items[0].size, MIB(80));
    assert_int_equal(start->segments.items[0].pool, pool);
    assert_int_equal(start->in_use.count, 1);
    fl_trace_free(trace);
}

static void assert_unknown(fl_trace *trace)
{
    const fl_trace_start *start = finish(trace);
    assert_false(start->is_known);
    assert_int_equal(start->segments.count, 0);
    assert_int_equal(start->in_use.count, 0);
    fl_trace_free(trace);
}

static void a_contradiction_leaves_no_start(void **state)
{
    (void)state;
    static const struct {
        uint8_t kind;
        uint64_t address, size;
    } rows[] = {
        {FL_OP_ALLOC, MIB(10) + 512, 512},   {FL_OP_ALLOC, MIB(10), 513},
        {FL_OP_FREE, MIB(10), 512},          {FL_OP_FREE_DONE, MIB(10), 512},
        {FL_OP_FREE_DONE, MIB(50), 512},     {FL_EVENT_SEGMENT_FREE, MIB(11), MIB(2)},
        {FL_EVENT_SEGMENT_FREE, MIB(50), 0}, {FL_EVENT_SEGMENT_UNMAP, MIB(11), MIB(2)},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_trace *trace = window_new(fl_host_default());
        add(trace, rows[i].kind, FL_NONE, rows[i].address, rows[i].size);
        add_run(trace, MIB(10), MIB(2), false);
        add_block(trace, MIB(10), 512, FL_BLOCK_LIVE, FL_NONE);
        assert_unknown(trace);
    }
}

static fl_status make_window(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_trace *trace = window_new(host);
    if (trace == NULL)
        return fl_fail(error, FL_ERR_RESOURCE, "no room");
    fl_status status = add(trace, FL_OP_FREE, FL_NONE, MIB(10), 700);
    if (status == FL_OK)
        status = add(trace, FL_OP_FREE_DONE, FL_NONE, MIB(10), 700);
    if (status == FL_OK)
        status = add(trace, FL_EVENT_SEGMENT_UNMAP, FL_NONE, MIB(40), MIB(20));
    if (status == FL_OK)
        status = add_run(trace, MIB(10), MIB(2), false);
    if (status == FL_OK)
        status = fl_trace_finish(trace, error);
    if (status == FL_OK)
        status = fl_trace_find_start(trace, 0, error);
    fl_trace_free(trace);
    return status == FL_OK ? FL_OK : fl_fail(error, status, "no room");
}

static void every_failure_of_the_host_leaves_nothing(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(make_window, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_freed_in_the_window_was_there_before),
        cmocka_unit_test(blocks_of_the_start_have_the_numbers_that_events_know),
        cmocka_unit_test(a_free_too_many_leaves_no_start),
        cmocka_unit_test(segments_that_came_or_went_are_undone),
        cmocka_unit_test(ranges_mapped_or_unmapped_are_cut_and_joined),
        cmocka_unit_test(pages_that_went_are_of_the_pool_that_they_touch),
        cmocka_unit_test(a_contradiction_leaves_no_start),
        cmocka_unit_test(every_failure_of_the_host_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
