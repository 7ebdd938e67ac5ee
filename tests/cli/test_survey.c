/* Counting what is in a trace, over small scripts. */
#include "cli/survey.h"
#include "failing_host.h"
#include "test.h"

#include <fraglab/read.h>

#include <string.h>

static fl_trace *read_script(const char *script)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options options = {.format = "script"};
    if (fl_read_memory(script, strlen(script), "script", &options, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static void the_peak_is_the_first_moment_with_most_live(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 100 0\n"
                                  "a 2 300 0\n"
                                  "f 1\n"
                                  "a 3 100 0\n"
                                  "f 2\n");
    fl_survey survey;
    assert_int_equal(fl_survey_trace(fl_host_default(), trace, 0, &survey, NULL), FL_OK);
    assert_int_equal(survey.events, 5);
    assert_int_equal(survey.kinds[FL_OP_ALLOC], 3);
    assert_int_equal(survey.kinds[FL_OP_FREE], 2);
    assert_int_equal(survey.peak.event, 1);
    assert_int_equal(survey.peak.bytes, 400);
    assert_int_equal(survey.peak.blocks, 2);
    assert_int_equal(survey.end.bytes, 100);
    assert_int_equal(survey.end.blocks, 1);
    assert_true(survey.is_complete);
    fl_survey_deinit(fl_host_default(), &survey);
    fl_trace_free(trace);
}

static void holders_come_by_size_and_those_without_a_stack_together(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 100 0 stack=7\n"
                                  "a 2 300 0 stack=8\n"
                                  "a 3 250 0 stack=7\n"
                                  "a 4 10 0\n"
                                  "a 5 10 0\n");
    fl_survey survey;
    assert_int_equal(fl_survey_trace(fl_host_default(), trace, 0, &survey, NULL), FL_OK);
    assert_true(survey.has_stacks);
    assert_int_equal(survey.end.holder_count, 3);
    assert_int_equal(survey.end.holders[0].bytes, 350);
    assert_int_equal(survey.end.holders[0].blocks, 2);
    assert_int_equal(survey.end.holders[1].bytes, 300);
    assert_int_equal(survey.end.holders[2].bytes, 20);
    assert_true(survey.end.holders[2].stack == FL_NONE);
    fl_survey_deinit(fl_host_default(), &survey);
    fl_trace_free(trace);
}

static void times_and_streams_are_those_of_the_events(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 100 0 t=5000\n"
                                  "a 2 300 16 t=9000\n"
                                  "f 1\n");
    fl_survey survey;
    assert_int_equal(fl_survey_trace(fl_host_default(), trace, 0, &survey, NULL), FL_OK);
    assert_int_equal(survey.stream_count, 2);
    assert_true(survey.has_times);
    assert_int_equal(survey.last_us - survey.first_us, 4000);
    fl_survey_deinit(fl_host_default(), &survey);
    fl_trace_free(trace);
}

static void no_events_are_no_peak(void **state)
{
    (void)state;
    fl_trace *trace = read_script("# cap=100\n");
    fl_survey survey;
    if (fl_trace_device_count(trace) > 0) {
        assert_int_equal(fl_survey_trace(fl_host_default(), trace, 0, &survey, NULL), FL_OK);
        assert_int_equal(survey.peak.bytes, 0);
        fl_survey_deinit(fl_host_default(), &survey);
    }
    fl_trace_free(trace);
}

static fl_status survey_with(const fl_host *host, void *user, fl_error *error)
{
    fl_survey survey;
    fl_status status = fl_survey_trace(host, user, 0, &survey, error);
    if (status == FL_OK)
        fl_survey_deinit(host, &survey);
    return status;
}

static void a_host_out_of_memory_is_told_and_leaks_nothing(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 100 0 stack=7\nf 1\n");
    assert_true(failing_host_sweep(survey_with, trace) >= 4);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_is_the_first_moment_with_most_live),
        cmocka_unit_test(holders_come_by_size_and_those_without_a_stack_together),
        cmocka_unit_test(times_and_streams_are_those_of_the_events),
        cmocka_unit_test(no_events_are_no_peak),
        cmocka_unit_test(a_host_out_of_memory_is_told_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
