#include "assemble.h"
#include "failing_host.h"
#include "test.h"

#include <fraglab/read.h>

#include <string.h>

#define HEAD  "Thread,Time,Action,Pointer,Size,Stream\n"
#define SMALL "tests/fuzz/corpus/rmm/small.csv"

static void lines_are_requests_and_frees(void **state)
{
    (void)state;
    fl_trace *trace = read_file(SMALL, false);
    static const struct {
        uint8_t kind;
        uint32_t id;
        uint64_t size, stream;
        int64_t time_us;
    } rows[] = {
        {FL_OP_ALLOC, 0, 1000, 0, INT64_C(86399000001)},
        {FL_OP_ALLOC, 1, 2097152, 16, INT64_C(86399500000)},
        {FL_OP_FREE, 0, 1000, UINT64_MAX, INT64_C(86401250000)},
    };
    assert_int_equal(fl_trace_event_count(trace, 0), COUNT_OF(rows));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_event event;
        fl_trace_event(trace, 0, i, &event);
        assert_int_equal(event.kind, rows[i].kind);
        assert_int_equal(event.id, rows[i].id);
        assert_int_equal(event.size, rows[i].size);
        assert_true(event.time_us == rows[i].time_us);
        if (rows[i].stream != UINT64_MAX)
            assert_int_equal(fl_trace_names(trace)->streams[event.stream], rows[i].stream);
    }
    assert_int_equal(fl_trace_warning_count(trace), 2);
    assert_false(fl_trace_is_complete(trace, 0));
    fl_trace_free(trace);
}

static void wrong_lines_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *line, *message;
    } rows[] = {
        {"1,2,3\n", "r:2: expected 6 cells"},
        {"1,2,3,4,5,6,7\n", "r:2: expected 6 cells"},
        {"1,12:00,free,0x1,1,0x0\n", "r:2: expected a time as HH:MM:SS.MICROSECONDS"},
        {"1,12:00:00.1,take,0x1,1,0x0\n", "r:2: expected allocate, free or allocate failure"},
        {"1,12:00:00.1,free,x,1,0x0\n", "r:2: expected a pointer"},
        {"1,12:00:00.1,free,0x1,-1,0x0\n", "r:2: expected a size in bytes"},
        {"1,12:00:00.1,free,0x1,1,\n", "r:2: expected a stream"},
        {"1,12:00:00.1,allocate,0x1,1,0\n1,12:00:00.1,allocate,0x1,1,0\n",
         "r:3: expected a pointer that is not in use"},
        {"1,12:00:00.1,free", "r:2: expected a line break at the end of the last line"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[256] = HEAD;
        strcat(text, rows[i].line);
        fl_trace *trace = NULL;
        fl_error error = {0};
        assert_int_equal(fl_read_memory(text, strlen(text), "r", NULL, &trace, &error),
                         FL_ERR_INPUT);
        assert_string_equal(error.text, rows[i].message);
    }
}

static void no_memory_is_told(void **state)
{
    (void)state;
    char path[] = SMALL;
    assert_true(failing_host_sweep(read_file_with, path) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_requests_and_frees),
        cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
