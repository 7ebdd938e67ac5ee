#include "trace/columns.h"

#include "failing_host.h"
#include "test.h"

static void columns_have_room_for_one_more(void **state)
{
    (void)state;
    const fl_host *host = fl_host_default();
    fl_columns columns = {0};
    for (columns.count = 0; columns.count < 5000; columns.count++) {
        if (columns.count == columns.capacity[FL_COLUMN_KIND])
            assert_true(fl_columns_grow(host, &columns, NULL));
        columns.kind[columns.count] = (uint8_t)columns.count;
        columns.size[columns.count] = columns.count;
    }
    assert_null(columns.pool);
    for (uint64_t i = 0; i < columns.count; i++) {
        assert_int_equal(columns.kind[i], (uint8_t)i);
        assert_int_equal(columns.size[i], i);
    }
    fl_columns_deinit(host, &columns);
}

static void a_column_put_to_use_has_nothing_in_it(void **state)
{
    (void)state;
    const fl_host *host = fl_host_default();
    fl_columns columns = {0};
    assert_true(fl_columns_grow(host, &columns, NULL));
    columns.count = 3;
    for (int column = FL_COLUMN_POOL; column < FL_COLUMN_COUNT; column++)
        assert_true(fl_columns_use(host, &columns, (fl_column)column, NULL));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(columns.pool[i], FL_NONE16);
        assert_int_equal(columns.stack[i], FL_NONE);
        assert_int_equal(columns.address[i], 0);
        assert_true(columns.time_us[i] == FL_TIME_UNKNOWN);
    }
    fl_columns_deinit(host, &columns);
}

static void trimmed_columns_hold_their_events_and_no_more(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    fl_columns columns = {0};
    assert_true(fl_columns_grow(&host.host, &columns, NULL));
    columns.count = 10;
    assert_true(fl_columns_trim(&host.host, &columns, NULL));
    assert_int_equal(host.held_bytes, 10 * (1 + 1 + 2 + 4 + 8));
    fl_columns_deinit(&host.host, &columns);
    assert_int_equal(host.held, 0);
    assert_int_equal(host.wrong_sizes, 0);
}

static void growth_that_fails_half_way_keeps_every_column_whole(void **state)
{
    (void)state;
    for (uint64_t failing = 0; failing < 10; failing++) {
        failing_host host;
        failing_host_init(&host, failing);
        fl_columns columns = {0};
        bool fits = fl_columns_grow(&host.host, &columns, NULL);
        columns.count = columns.capacity[FL_COLUMN_SIZE];
        assert_int_equal(fits, failing >= 5);
        assert_false(fl_columns_grow(&host.host, &columns, NULL));
        fl_columns_deinit(&host.host, &columns);
        assert_int_equal(host.held, 0);
        assert_int_equal(host.wrong_sizes, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_have_room_for_one_more),
        cmocka_unit_test(a_column_put_to_use_has_nothing_in_it),
        cmocka_unit_test(trimmed_columns_hold_their_events_and_no_more),
        cmocka_unit_test(growth_that_fails_half_way_keeps_every_column_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
