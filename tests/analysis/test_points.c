#include "analysis/points.h"

#include "base/units.h"
#include "test.h"

/* One op: changes as they came, and what was answered. */
static void see(fl_points *points, uint64_t event, fl_outcome outcome, uint64_t size,
                const fl_change *changes, size_t count)
{
    fl_op op = {.kind = FL_OP_ALLOC, .size = size};
    fl_result result = {.outcome = outcome};
    fl_view view = {
        .event = event, .op = &op, .result = &result, .changes = changes, .change_count = count};
    fl_points_view(points, &view);
}

#define ACQUIRE(bytes)                                                                             \
    {                                                                                              \
        .kind = FL_CHANGE_ACQUIRE, .size = (bytes)                                                 \
    }
#define PLACE(bytes)                                                                               \
    {                                                                                              \
        .kind = FL_CHANGE_PLACE, .size = (bytes), .requested = (bytes)                             \
    }

static const fl_change grows[] = {ACQUIRE(20 * FL_MIB), PLACE(12 * FL_MIB)};

static void growth_without_room_is_no_point(void **state)
{
    (void)state;
    fl_points points;
    fl_points_init(&points);
    see(&points, 3, FL_DONE, 12 * FL_MIB, grows, 2);
    assert_int_equal(points.events[FL_POINT_FIRST_GROWTH], FL_NO_EVENT);
    assert_int_equal(points.events[FL_POINT_PEAK_GROWTH], 3);
    assert_int_equal(points.events[FL_POINT_OOM], FL_NO_EVENT);
}

/* 8 MiB are free after each of them. */
static void growth_in_spite_of_room_is_the_first_point_once(void **state)
{
    (void)state;
    fl_points points;
    fl_points_init(&points);
    see(&points, 0, FL_DONE, 12 * FL_MIB, grows, 2);
    see(&points, 1, FL_DONE, 8 * FL_MIB + 1, grows, 2);
    assert_int_equal(points.events[FL_POINT_FIRST_GROWTH], FL_NO_EVENT);
    see(&points, 2, FL_DONE, 16 * FL_MIB, grows, 2);
    assert_int_equal(points.events[FL_POINT_FIRST_GROWTH], 2);
    see(&points, 3, FL_DONE, 8 * FL_MIB, grows, 2);
    assert_int_equal(points.events[FL_POINT_FIRST_GROWTH], 2);
    assert_int_equal(points.events[FL_POINT_PEAK_GROWTH], 3);
}

static void what_is_served_from_the_cache_is_no_growth(void **state)
{
    (void)state;
    fl_points points;
    fl_points_init(&points);
    see(&points, 0, FL_DONE, 12 * FL_MIB, grows, 2);
    static const fl_change placed[] = {PLACE(8 * FL_MIB)};
    see(&points, 1, FL_DONE, 8 * FL_MIB, placed, 1);
    assert_int_equal(points.events[FL_POINT_FIRST_GROWTH], FL_NO_EVENT);
    assert_int_equal(points.events[FL_POINT_PEAK_GROWTH], 0);
}

/* By a limit, without a word to the device. */
static void a_refusal_with_room_in_the_cache_is_a_point_too(void **state)
{
    (void)state;
    fl_points points;
    fl_points_init(&points);
    see(&points, 0, FL_DONE, 12 * FL_MIB, grows, 2);
    see(&points, 1, FL_REFUSED, 6 * FL_MIB, NULL, 0);
    see(&points, 2, FL_REFUSED, 6 * FL_MIB, NULL, 0);
    assert_int_equal(points.events[FL_POINT_FIRST_GROWTH], 1);
    assert_int_equal(points.events[FL_POINT_OOM], 1);
}

static void frees_that_complete_first_count_as_room(void **state)
{
    (void)state;
    fl_points points;
    fl_points_init(&points);
    see(&points, 0, FL_DONE, 20 * FL_MIB, grows, 2);
    static const fl_change freed[] = {
        {.kind = FL_CHANGE_FREE_ASKED, .size = 12 * FL_MIB, .requested = 12 * FL_MIB},
        {.kind = FL_CHANGE_FREE_DONE, .size = 12 * FL_MIB, .requested = 12 * FL_MIB},
        ACQUIRE(20 * FL_MIB),
        PLACE(20 * FL_MIB),
    };
    see(&points, 1, FL_DONE, 20 * FL_MIB, freed, 4);
    assert_int_equal(points.events[FL_POINT_FIRST_GROWTH], 1);
}

static void what_is_inferred_is_nobodys_request(void **state)
{
    (void)state;
    fl_points points;
    fl_points_init(&points);
    fl_op op = {.kind = FL_OP_ALLOC, .size = FL_MIB};
    fl_result result = {0};
    fl_view view = {.op = &op, .result = &result, .changes = grows, .change_count = 2};
    view.is_inferred = true;
    fl_points_view(&points, &view);
    fl_points_view(&points, &view);
    for (int kind = 0; kind < FL_POINT_COUNT; kind++)
        assert_int_equal(points.events[kind], FL_NO_EVENT);
    assert_int_equal(points.most_reserved_bytes, 40 * FL_MIB);
}

static void points_have_names(void **state)
{
    (void)state;
    assert_string_equal(fl_point_name(FL_POINT_FIRST_GROWTH), "first_growth");
    assert_string_equal(fl_point_name(FL_POINT_PEAK_GROWTH), "peak_growth");
    assert_string_equal(fl_point_name(FL_POINT_OOM), "oom");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_without_room_is_no_point),
        cmocka_unit_test(growth_in_spite_of_room_is_the_first_point_once),
        cmocka_unit_test(what_is_served_from_the_cache_is_no_growth),
        cmocka_unit_test(a_refusal_with_room_in_the_cache_is_a_point_too),
        cmocka_unit_test(frees_that_complete_first_count_as_room),
        cmocka_unit_test(what_is_inferred_is_nobodys_request),
        cmocka_unit_test(points_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
