#include <fraglab/stats.h>

#include "test.h"

static void statistics_have_the_names_of_memory_stats(void **state)
{
    (void)state;
    static const char *const names[] = {
        "allocation",      "segment",        "active",       "inactive_split",
        "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes",
        "requested_bytes",
    };
    assert_int_equal(COUNT_OF(names), FL_STAT_COUNT);
    for (size_t i = 0; i < COUNT_OF(names); i++)
        assert_string_equal(fl_stat_name((fl_stat_kind)i), names[i]);
    assert_null(fl_stat_name(FL_STAT_COUNT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statistics_have_the_names_of_memory_stats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
