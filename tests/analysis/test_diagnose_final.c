#include "diagnosing.h"
#include "test.h"

#include <fraglab/read.h>

#include <stdio.h>

/* A snapshot that was taken without recording: segments, blocks and nothing else. */
static diagnosing diagnose_state(const char *path, uint64_t card)
{
    diagnosing d = {.options = options_on(card)};
    fl_diagnose_options asked = {.replay = d.options, .jobs = 1};
    fl_error error = {0};
    if (fl_read_file(path, NULL, &d.trace, &error) != FL_OK ||
        fl_diagnose(d.trace, &asked, &d.diagnosis, &error) != FL_OK)
        fail_msg("%s", error.text);
    return d;
}

static const char state_path[] = "tests/data/snapshots/list.pickle";

static void a_state_alone_tells_what_is_held(void **state)
{
    (void)state;
    diagnosing d = diagnose_state(state_path, FL_UNLIMITED);
    assert_false(d.diagnosis.has_events);
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_FITS);
    assert_true(d.diagnosis.peak.reserved_bytes > d.diagnosis.peak.allocated_bytes);
    assert_true(d.diagnosis.live[FL_BY_STACK].count > 0);
    for (int kind = 0; kind < FL_POINT_COUNT; kind++)
        assert_int_equal(d.diagnosis.points[kind].event, FL_NO_EVENT);
    diagnosing_close(&d);
}

static void a_card_smaller_than_that_is_judged_by_arithmetic(void **state)
{
    (void)state;
    diagnosing d = diagnose_state(state_path, FL_UNLIMITED);
    fl_totals totals = d.diagnosis.peak;
    diagnosing_close(&d);
    d = diagnose_state(state_path, totals.reserved_bytes);
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_FITS);
    diagnosing_close(&d);
    d = diagnose_state(state_path, totals.reserved_bytes - 1);
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_FRAGMENTATION);
    diagnosing_close(&d);
    d = diagnose_state(state_path, totals.allocated_bytes - 1);
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_FULL);
    diagnosing_close(&d);
}

static void a_script_without_events_tells_nothing(void **state)
{
    (void)state;
    diagnosing d = diagnose_script("# cap=1GiB conf=\n", MIB(1));
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_UNKNOWN);
    diagnosing_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_alone_tells_what_is_held),
        cmocka_unit_test(a_card_smaller_than_that_is_judged_by_arithmetic),
        cmocka_unit_test(a_script_without_events_tells_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
