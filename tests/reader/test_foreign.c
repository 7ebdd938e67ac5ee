#include "reader/foreign.h"

#include "test.h"

#include <fraglab/read.h>

#include <string.h>

static const char *refusal(const char *text, fl_error *error)
{
    *error = (fl_error){0};
    fl_status status = fl_foreign_refuse("p", (const uint8_t *)text, strlen(text), error);
    assert_int_equal(status, error->status);
    return status == FL_OK ? "" : error->text;
}

static void a_memory_timeline_is_told_from_a_list_of_segments(void **state)
{
    (void)state;
    static const char *const timelines[] = {
        "[[-1, 1, 262144, 0], [1795961784089973684, 2, 1024, 2]]",
        "[[1795961784089973, 1795961784090014], [[0, 23359488, 0], [0, 512, 0]]]",
        " [\n [0, 1, 512, 3]]",
        "[[], [[0]]]",
    };
    fl_error error;
    for (size_t i = 0; i < COUNT_OF(timelines); i++) {
        assert_string_equal(refusal(timelines[i], &error),
                            "p:0: this is a memory timeline of the profiler: sizes by category "
                            "without addresses, nothing to replay");
        assert_non_null(strstr(error.hint, "_record_memory_history()"));
        assert_non_null(strstr(error.hint, "profile_memory=True"));
        assert_int_equal(error.status, FL_ERR_INPUT);
    }
}

static void what_an_observer_is_given_is_told_by_its_keys(void **state)
{
    (void)state;
    fl_error error;
    assert_string_equal(
        refusal("{\"device\": 0, \"alloc\": 512, \"device_alloc\": 0, \"device_free\": 1}", &error),
        "p:0: this is the sums that an out-of-memory observer is given, nothing to replay");
    assert_non_null(strstr(error.hint, "_dump_snapshot()"));
}

static void traces_and_what_nobody_knows_pass(void **state)
{
    (void)state;
    static const char *const others[] = {
        "",
        "[",
        "[[",
        "[]",
        "[{\"device\": 0, \"address\": 1}]",
        "[[{}]]",
        "{\"segments\": [], \"device_traces\": [[{\"action\": \"oom\", \"device_free\": 1}]]}",
        "{\"segments\": [], \"device_alloc\": 1, \"device_free\": 1}",
        "a 0 512 0\n",
        "m \"device_alloc\" \"device_free\"\n",
    };
    fl_error error;
    for (size_t i = 0; i < COUNT_OF(others); i++)
        assert_string_equal(refusal(others[i], &error), "");
}

static void reading_such_a_file_fails_with_what_it_is(void **state)
{
    (void)state;
    static const char text[] = "[[-1, 1, 262144, 0]]";
    fl_trace *trace = NULL;
    fl_error error = {0};
    assert_int_equal(fl_read_memory(text, strlen(text), "p", NULL, &trace, &error), FL_ERR_INPUT);
    assert_null(trace);
    assert_non_null(strstr(error.text, "a memory timeline of the profiler"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_memory_timeline_is_told_from_a_list_of_segments),
        cmocka_unit_test(what_an_observer_is_given_is_told_by_its_keys),
        cmocka_unit_test(traces_and_what_nobody_knows_pass),
        cmocka_unit_test(reading_such_a_file_fails_with_what_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
