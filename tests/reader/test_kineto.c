#include "assemble.h"
#include "failing_host.h"
#include "test.h"

#include <fraglab/read.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "available.h"

#define SMALL "tests/fuzz/corpus/kineto/small.trace.json"

static void entries_are_put_in_order_of_time(void **state)
{
    (void)state;
    fl_trace *trace = read_file(SMALL, false);
    static const struct {
        uint8_t kind;
        uint32_t id;
        uint64_t address, size;
        int64_t time_us;
    } rows[] = {
        {FL_OP_ALLOC, 0, 8192, 1024, FL_TIME_UNKNOWN}, /* from before, freed later */
        {FL_OP_ALLOC, 1, 4096, 512, 101},
        {FL_OP_ALLOC, 2, 16384, 4096, 102},
        {FL_OP_FREE, 0, 8192, 1024, 103},
        {FL_OP_FREE, 1, 4096, 512, 104},
    };
    assert_int_equal(fl_trace_event_count(trace, 0), COUNT_OF(rows));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_event event;
        fl_trace_event(trace, 0, i, &event);
        assert_int_equal(event.kind, rows[i].kind);
        assert_int_equal(event.id, rows[i].id);
        assert_int_equal(event.address, rows[i].address);
        assert_int_equal(event.size, rows[i].size);
        assert_true(event.time_us == rows[i].time_us);
    }
    assert_int_equal(fl_trace_event_count(trace, 1), 1);
    assert_true(fl_trace_has_block_sizes(trace));
    assert_false(fl_trace_is_complete(trace, 0));
    assert_true(fl_trace_is_complete(trace, 1));
    fl_trace_free(trace);
}

static void what_is_not_in_it_is_told(void **state)
{
    (void)state;
    static const char *const lines[] = {
        SMALL ": 1 entries of other memory than a CUDA device's are left out",
        SMALL ": a profiler trace tells sizes of blocks, not what was asked for, and no streams: "
              "all are taken as requests on stream 0",
        SMALL ": device 0: 1 blocks from before the profile are freed in it; they are requested "
              "first",
        SMALL ": device 0: 4096 bytes were allocated before the profile and are not in it",
    };
    fl_trace *trace = read_file(SMALL, false);
    assert_int_equal(fl_trace_warning_count(trace), COUNT_OF(lines));
    for (size_t i = 0; i < COUNT_OF(lines); i++)
        assert_string_equal(fl_trace_warning(trace, i), lines[i]);
    fl_trace_free(trace);
}

/* The totals that the file itself states: 424 requests, and what they come to. */
static void a_genuine_trace_adds_up(void **state)
{
    (void)state;
#if FL_HAVE_ZLIB
    fl_trace *trace = read_file("tests/data/kineto/genuine.trace.json.gz", false);
    uint64_t live = 0, peak = 0;
    for (uint64_t i = 0; i < fl_trace_event_count(trace, 0); i++) {
        fl_event event;
        fl_trace_event(trace, 0, i, &event);
        live += event.kind == FL_OP_ALLOC ? event.size : 0 - event.size;
        peak = live > peak ? live : peak;
    }
    assert_int_equal(fl_trace_alloc_count(trace, 0), 424);
    assert_int_equal(peak, 96689664);
    assert_int_equal(live, 56287232);
    fl_trace_free(trace);
#endif
}

static void refused(const char *text, const char *message)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    assert_int_equal(fl_read_memory(text, strlen(text), "k", NULL, &trace, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, message);
}

static void what_is_no_memory_profile_is_refused(void **state)
{
    (void)state;
    refused("{\"schemaVersion\": 1, \"traceEvents\": []}",
            "k:39: no [memory] entry of a CUDA device in the trace");
    refused("{\"schemaVersion\": 1}", "k:20: expected 'traceEvents' among the keys");
    refused("{\"traceEvents\": [{\"name\": \"[memory]\", \"args\": {\"Bytes\": 1, \"Addr\": 1, "
            "\"Device Type\": 1, \"Device Id\": 0}}]}",
            "k:103: expected 'ts', a time, of a [memory] entry");
}

static void hostile_entries_do_no_harm(void **state)
{
    (void)state;
    static const char *const args[] = {
        "\"Bytes\": -9223372036854775808, \"Addr\": 1, \"Device Type\": 1, \"Device Id\": 0",
        "\"Bytes\": 5, \"Addr\": 18446744073709551615, \"Device Type\": 1, \"Device Id\": 255",
        "\"Bytes\": 99999999999999999999, \"Addr\": 1, \"Device Type\": 1, \"Device Id\": 0",
        "\"Bytes\": 5, \"Addr\": 1, \"Device Type\": 1, \"Device Id\": 256",
        "\"Bytes\": [], \"Addr\": {}, \"Device Type\": 1, \"Device Id\": null",
        ("\"Total Allocated\": 18446744073709551615, \"Bytes\": -5, \"Addr\": 1, "
         "\"Device Type\": 1, \"Device Id\": 0"),
    };
    for (size_t i = 0; i < COUNT_OF(args); i++) {
        char text[512];
        int length = snprintf(text, sizeof text,
                              "{\"traceEvents\": [{\"name\": \"[memory]\", \"ts\": 1.5, \"args\": "
                              "{%s}}, {\"name\": \"[memory]\", \"ts\": 2, \"args\": {%s}}]}",
                              args[i], args[i]);
        fl_trace *trace = NULL;
        fl_error error = {0};
        fl_status status = fl_read_memory(text, (size_t)length, "k", NULL, &trace, &error);
        assert_true(status == FL_OK || status == FL_ERR_INPUT);
        fl_trace_free(trace);
    }
}

static void no_memory_is_told(void **state)
{
    (void)state;
    char path[] = SMALL;
    assert_true(failing_host_sweep(read_file_with, path) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_put_in_order_of_time),
        cmocka_unit_test(what_is_not_in_it_is_told),
        cmocka_unit_test(a_genuine_trace_adds_up),
        cmocka_unit_test(what_is_no_memory_profile_is_refused),
        cmocka_unit_test(hostile_entries_do_no_harm),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
