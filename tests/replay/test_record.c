#include "replay/record.h"

#include "failing_host.h"
#include "test.h"
#include "trace/build.h"

static const fl_event blank = {
    .id = FL_NONE,
    .stream = FL_NONE,
    .pool = FL_NONE,
    .text = FL_NONE,
    .stack = FL_NONE,
    .time_us = FL_TIME_UNKNOWN,
};

static void add(fl_trace *trace, uint8_t kind, uint64_t address, uint64_t size, uint32_t stream)
{
    fl_event event = blank;
    event.kind = kind;
    event.address = address;
    event.size = size;
    event.stream = stream;
    assert_int_equal(fl_trace_append(trace, 0, &event, NULL), FL_OK);
}

static fl_trace *example(void)
{
    fl_trace *trace = fl_trace_new(fl_host_default(), "t", NULL);
    assert_non_null(trace);
    add(trace, FL_EVENT_SEGMENT_ALLOC, 0x1000, 7, 1);
    add(trace, FL_OP_TRIM, 0, 0, FL_NONE);
    add(trace, FL_EVENT_SEGMENT_MAP, 0x2000, 8, 0);
    add(trace, FL_EVENT_SNAPSHOT, 0, 0, 0);
    add(trace, FL_EVENT_SEGMENT_UNMAP, 0x3000, 9, 2);
    add(trace, FL_EVENT_SEGMENT_FREE, 0x4000, 10, FL_NONE);
    return trace;
}

static void a_record_holds_the_segment_events_in_order(void **state)
{
    (void)state;
    static const fl_recorded_event expected[] = {
        {0, 0x1000, 7, 1, FL_RECORDED_ALLOC},
        {2, 0x2000, 8, 0, FL_RECORDED_MAP},
        {4, 0x3000, 9, 2, FL_RECORDED_UNMAP},
        {5, 0x4000, 10, FL_NONE, FL_RECORDED_FREE},
    };
    fl_trace *trace = example();
    fl_record record = {0};
    assert_int_equal(fl_record_init(&record, fl_host_default(), fl_trace_columns(trace, 0), NULL),
                     FL_OK);
    assert_int_equal(record.view.count, COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const fl_recorded_event *got = &record.view.events[i];
        assert_int_equal(got->event, expected[i].event);
        assert_int_equal(got->address, expected[i].address);
        assert_int_equal(got->size, expected[i].size);
        assert_int_equal(got->stream, expected[i].stream);
        assert_int_equal(got->kind, expected[i].kind);
    }
    fl_record_deinit(&record, fl_host_default());
    assert_int_equal(record.view.count, 0);
    fl_trace_free(trace);
}

static void events_without_addresses_have_address_0(void **state)
{
    (void)state;
    fl_trace *trace = fl_trace_new(fl_host_default(), "t", NULL);
    add(trace, FL_EVENT_SEGMENT_ALLOC, 0, 7, 0);
    fl_record record = {0};
    assert_int_equal(fl_record_init(&record, fl_host_default(), fl_trace_columns(trace, 0), NULL),
                     FL_OK);
    assert_int_equal(record.view.events[0].address, 0);
    fl_record_deinit(&record, fl_host_default());
    fl_trace_free(trace);
}

static fl_status gather(const fl_host *host, void *user, fl_error *error)
{
    fl_record record = {0};
    fl_status status = fl_record_init(&record, host, user, error);
    fl_record_deinit(&record, host);
    return status;
}

static void without_memory_there_is_no_record(void **state)
{
    (void)state;
    fl_trace *trace = example();
    fl_columns columns = *fl_trace_columns(trace, 0);
    assert_int_equal(failing_host_sweep(gather, &columns), 1);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_holds_the_segment_events_in_order),
        cmocka_unit_test(events_without_addresses_have_address_0),
        cmocka_unit_test(without_memory_there_is_no_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
