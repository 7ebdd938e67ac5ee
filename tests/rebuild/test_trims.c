#include "rebuild/trims.h"

#include "recording.h"
#include "test.h"

static void releases_of_one_pool_are_one_run(void **state)
{
    (void)state;
    fl_trace *trace = history_make("a1 a2 f1 S- S- d1 S- M- S- a3");
    uint32_t of[] = {FL_NONE, FL_NONE, FL_NONE, 1, 1, FL_NONE, 0, 0, 2, FL_NONE}, only;
    fl_place place[] = {{.pool = 0}, {.pool = 1}, {.pool = 2}};
    fl_places places = {.items = {.items = place, .count = 3}, .of = of, .event_count = 10};
    const fl_columns *columns = fl_trace_columns(trace, 0);
    fl_burst burst;
    fl_trim_run run;
    assert_true(fl_burst_find(columns, 0, &burst));
    assert_int_equal(fl_trims_count(columns, &places, &burst, &only), 3);
    assert_int_equal(only, 0);
    static const fl_trim_run wanted[] = {{3, 5, 1}, {6, 8, 0}, {8, 9, 2}};
    uint64_t from = burst.begin;
    for (size_t i = 0; i < COUNT_OF(wanted); i++, from = run.end) {
        assert_true(fl_trims_next(columns, &places, &burst, from, &run));
        assert_int_equal(run.begin, wanted[i].begin);
        assert_int_equal(run.end, wanted[i].end);
        assert_int_equal(run.pool, wanted[i].pool);
    }
    assert_false(fl_trims_next(columns, &places, &burst, from, &run));
    of[6] = of[7] = of[8] = 1;
    assert_int_equal(fl_trims_count(columns, &places, &burst, &only), 1);
    assert_int_equal(only, 1);
    fl_trace_free(trace);
}

static void without_places_all_is_of_the_default_pool(void **state)
{
    (void)state;
    fl_trace *trace = history_make("a1 f1 d1 S- S-");
    fl_places places = {0};
    fl_burst burst;
    uint32_t only = 1;
    assert_true(fl_burst_find(fl_trace_columns(trace, 0), 0, &burst));
    assert_int_equal(fl_trims_count(fl_trace_columns(trace, 0), &places, &burst, &only), 1);
    assert_int_equal(only, 0);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_of_one_pool_are_one_run),
        cmocka_unit_test(without_places_all_is_of_the_default_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
