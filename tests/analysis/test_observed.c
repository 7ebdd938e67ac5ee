#include "analysis/observed.h"

#include "diagnosing.h"
#include "test.h"

#include <string.h>

static void a_replay_is_observed_to_its_end(void **state)
{
    (void)state;
    fl_trace *trace = script_read("a 1 8MiB\na 2 8MiB\nf 1\n");
    fl_replay_options options = options_on(FL_UNLIMITED);
    fl_observed observed;
    assert_int_equal(fl_observe(trace, &options, 10, &observed, NULL), FL_OK);
    assert_int_equal(observed.summary.events, 3);
    assert_int_equal(observed.end_event, 3);
    assert_int_equal(observed.summary.end.allocated_bytes, MIB(8));
    fl_observed_deinit(&observed);
    fl_trace_free(trace);
}

static void what_cannot_be_replayed_leaves_nothing(void **state)
{
    (void)state;
    fl_trace *trace = script_read("a 1 8MiB\n");
    fl_replay_options options = options_on(FL_UNLIMITED);
    options.conf = "no_such_setting:1";
    fl_observed observed;
    assert_int_equal(fl_observe(trace, &options, 10, &observed, NULL), FL_ERR_USAGE);
    fl_trace_free(trace);
}

static void each_observer_names_a_table(void **state)
{
    (void)state;
    size_t count = 0;
    while (fl_observed_name(count) != NULL)
        count++;
    assert_true(count >= 7);
    assert_string_equal(fl_observed_name(0), "counters");
    for (size_t i = 0; i < count; i++)
        assert_non_null(fl_observed_summary(i));
    assert_null(fl_observed_summary(count));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_is_observed_to_its_end),
        cmocka_unit_test(what_cannot_be_replayed_leaves_nothing),
        cmocka_unit_test(each_observer_names_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
