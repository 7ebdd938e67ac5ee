#include "trace/build.h"

#include "failing_host.h"
#include "test.h"

#define MIB(n) ((uint64_t)(n) << 20)

static fl_trace *window_new(const fl_host *host)
{
    fl_trace *trace = fl_trace_new(host, "p", NULL);
    if (trace != NULL)
        trace->format = FL_FORMAT_SNAPSHOT;
    return trace;
}

static fl_status add(fl_trace *trace, uint8_t kind, uint32_t id, uint64_t address)
{
    fl_event event = {
        .kind = kind,
        .id = id,
        .stream = 0,
        .pool = FL_NONE,
        .stack = FL_NONE,
        .address = address,
        .size = 512,
        .time_us = FL_TIME_UNKNOWN,
    };
    return fl_trace_append(trace, 0, &event, NULL);
}

static fl_status add_block(fl_trace *trace, uint64_t address, fl_block_state state, uint32_t id)
{
    fl_block_view block = {
        .state = state, .id = id, .address = address, .size = 512, .requested = 512};
    trace->devices.items[0].has_final_state = true;
    return fl_trace_add_block(trace, 0, &block, FL_NONE, NULL);
}

static uint32_t id_of(const fl_trace *trace, uint64_t index)
{
    fl_event event;
    fl_trace_event(trace, 0, index, &event);
    return event.id;
}

static void finish(fl_trace *trace)
{
    assert_int_equal(fl_trace_finish(trace, NULL), FL_OK);
    assert_false(fl_trace_is_complete(trace, 0));
}

static void what_was_there_before_is_numbered_behind_the_window(void **state)
{
    (void)state;
    fl_trace *trace = window_new(fl_host_default());
    uint32_t own;
    assert_int_equal(fl_trace_new_id(trace, 0, 0, &own, NULL), FL_OK);
    add(trace, FL_OP_FREE, FL_NONE, MIB(10) + 1024);
    add(trace, FL_OP_FREE_DONE, FL_NONE, MIB(10) + 1024);
    add(trace, FL_OP_ALLOC, own, MIB(10) + 1024);
    add_block(trace, MIB(10), FL_BLOCK_LIVE, FL_NONE);
    add_block(trace, MIB(10) + 512, FL_BLOCK_FREE, FL_NONE);
    add_block(trace, MIB(10) + 1024, FL_BLOCK_LIVE, own);
    finish(trace);
    const fl_trace_device *device = &trace->devices.items[0];
    assert_int_equal(device->start.first_id, 1);
    assert_int_equal(id_of(trace, 0), 2);
    assert_int_equal(id_of(trace, 1), 2);
    assert_int_equal(id_of(trace, 2), own);
    assert_int_equal(device->blocks.items[0].id, 1);
    assert_int_equal(device->blocks.items[1].id, FL_NONE);
    assert_int_equal(device->blocks.items[2].id, own);
    assert_int_equal(fl_trace_alloc_count(trace, 0), 3);
    fl_trace_free(trace);
}

static void a_second_free_of_the_same_is_nobodys(void **state)
{
    (void)state;
    fl_trace *trace = window_new(fl_host_default());
    for (int i = 0; i < 2; i++) {
        add(trace, FL_OP_FREE, FL_NONE, MIB(10));
        add(trace, FL_OP_FREE_DONE, FL_NONE, MIB(10));
    }
    finish(trace);
    assert_int_equal(id_of(trace, 0), 0);
    assert_int_equal(id_of(trace, 1), 0);
    assert_int_equal(id_of(trace, 2), FL_NONE);
    assert_int_equal(id_of(trace, 3), FL_NONE);
    assert_int_equal(fl_trace_alloc_count(trace, 0), 1);
    fl_trace_free(trace);
}

static fl_status make_window(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_trace *trace = window_new(host);
    if (trace == NULL)
        return fl_fail(error, FL_ERR_RESOURCE, "no room");
    fl_status status = add(trace, FL_OP_FREE_DONE, FL_NONE, MIB(10));
    if (status == FL_OK)
        status = add_block(trace, MIB(10) + 512, FL_BLOCK_LIVE, FL_NONE);
    if (status == FL_OK)
        status = fl_trace_finish(trace, error);
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
        cmocka_unit_test(what_was_there_before_is_numbered_behind_the_window),
        cmocka_unit_test(a_second_free_of_the_same_is_nobodys),
        cmocka_unit_test(every_failure_of_the_host_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
