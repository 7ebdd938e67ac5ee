#include "diagnosing.h"
#include "failing_host.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* 20 MiB segments hold two pieces of 8 MiB; what is freed of them serves no 12 MiB. */
static const char pinned[] = "a 1 8MiB\na 2 8MiB\na 3 8MiB\na 4 8MiB\nf 1\nf 3\na 5 12MiB\n"
                             "f 2\na 6 12MiB\na 7 12MiB\n";

static void the_points_are_found_and_looked_at(void **state)
{
    (void)state;
    diagnosing d = diagnose_script(pinned, MIB(52));
    const fl_point *first = &d.diagnosis.points[FL_POINT_FIRST_GROWTH];
    const fl_point *peak = &d.diagnosis.points[FL_POINT_PEAK_GROWTH];
    const fl_point *oom = &d.diagnosis.points[FL_POINT_OOM];
    assert_int_equal(first->event, 6);
    assert_int_equal(first->requested_bytes, MIB(12));
    assert_int_equal(first->totals.reserved_bytes, MIB(40));
    assert_int_equal(first->probe.unusable_bytes[FL_UNUSABLE_PINNED], MIB(24));
    assert_int_equal(first->device_free_bytes, MIB(12));
    assert_int_equal(peak->event, 6);
    assert_int_equal(oom->event, 9);
    assert_int_equal(oom->totals.allocated_bytes, MIB(32));
    assert_false(oom->probe.usable);
    assert_int_equal(oom->probe.largest_usable_bytes, MIB(8));
    diagnosing_close(&d);
}

static void where_everything_is_served_there_is_no_refusal_to_explain(void **state)
{
    (void)state;
    diagnosing d = diagnose_script(pinned, FL_UNLIMITED);
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_FITS);
    assert_int_equal(d.diagnosis.points[FL_POINT_OOM].event, FL_NO_EVENT);
    assert_int_equal(d.diagnosis.points[FL_POINT_FIRST_GROWTH].event, 6);
    assert_int_equal(d.diagnosis.pins.count, 0);
    assert_int_equal(d.diagnosis.remedies_tried, 0);
    assert_int_equal(d.diagnosis.smallest_card_bytes, MIB(64));
    diagnosing_close(&d);
}

static void the_peak_is_that_of_what_is_live(void **state)
{
    (void)state;
    diagnosing d = diagnose_script("a 1 30MiB\na 2 10MiB\nf 1\na 3 12MiB\n", FL_UNLIMITED);
    assert_int_equal(d.diagnosis.peak_event, 1);
    assert_int_equal(d.diagnosis.peak.allocated_bytes, MIB(40));
    assert_int_equal(d.diagnosis.live[FL_BY_STACK].items[0].bytes, MIB(40));
    diagnosing_close(&d);
}

/* A policy that cannot be asked what if, nor walked, still has its points. */
static void another_policy_is_diagnosed_as_far_as_it_tells(void **state)
{
    (void)state;
    fl_replay_options options = {
        .policy = fl_policy_find("passthrough"), .fraction = -1, .capacity_bytes = MIB(40)};
    diagnosing d = diagnose_with("a 1 30MiB\na 2 12MiB\n", &options);
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_FULL);
    assert_int_equal(d.diagnosis.points[FL_POINT_OOM].event, 1);
    assert_int_equal(d.diagnosis.remedies.count, 0);
    diagnosing_close(&d);
}

static fl_status diagnose_on(const fl_host *host, void *user, fl_error *error)
{
    fl_diagnose_options options = {.replay = options_on(MIB(52)), .jobs = 1};
    fl_diagnosis diagnosis;
    options.replay.host = host;
    fl_status status = fl_diagnose(user, &options, &diagnosis, error);
    if (status == FL_OK)
        fl_diagnosis_deinit(&diagnosis);
    return status;
}

static void a_host_without_memory_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    fl_trace *trace = script_read("a 1 8MiB\na 2 8MiB\na 3 8MiB\nf 1\na 4 30MiB\n");
    assert_true(failing_host_sweep(diagnose_on, trace) > 20);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_points_are_found_and_looked_at),
        cmocka_unit_test(where_everything_is_served_there_is_no_refusal_to_explain),
        cmocka_unit_test(the_peak_is_that_of_what_is_live),
        cmocka_unit_test(another_policy_is_diagnosed_as_far_as_it_tells),
        cmocka_unit_test(a_host_without_memory_is_an_error_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
