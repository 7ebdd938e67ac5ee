#include "observing.h"

#include "test.h"

static void each_row_tells_the_most_of_its_stretch(void **state)
{
    (void)state;
    assert_observed(
        "a 1 8MiB\na 2 4MiB\nf 1\na 3 1\n", "timeline", 2,
        "event,time_us,requested_bytes,allocated_bytes,active_bytes,reserved_bytes,ooms\n"
        "0,,12582912,12582912,12582912,20971520,0\n"
        "2,,12582912,12582912,12582912,23068672,0\n");
}

static void refusals_are_counted_where_they_happen(void **state)
{
    (void)state;
    assert_observed(
        "# cap=30MiB conf=\na 1 20MiB t=5\na 2 12MiB t=7\nf 1\n", "timeline", 3,
        "event,time_us,requested_bytes,allocated_bytes,active_bytes,reserved_bytes,ooms\n"
        "0,5,20971520,20971520,20971520,20971520,0\n"
        "1,7,20971520,20971520,20971520,20971520,1\n"
        "2,,20971520,20971520,20971520,20971520,0\n");
}

static void with_more_rows_than_events_each_has_its_own(void **state)
{
    (void)state;
    assert_observed(
        "a 1 1\nf 1\n", "timeline", 9,
        "event,time_us,requested_bytes,allocated_bytes,active_bytes,reserved_bytes,ooms\n"
        "0,,1,512,512,2097152,0\n"
        "1,,1,512,512,2097152,0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_tells_the_most_of_its_stretch),
        cmocka_unit_test(refusals_are_counted_where_they_happen),
        cmocka_unit_test(with_more_rows_than_events_each_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
