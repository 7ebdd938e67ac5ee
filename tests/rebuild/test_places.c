#include "rebuild/places.h"

#include "failing_host.h"
#include "recording.h"
#include "test.h"

#define MIB (UINT64_C(1) << 20)

struct step {
    uint8_t kind;
    uint64_t address, size;
    uint32_t stream, pool;
};

static fl_trace *trace_of(const struct step *steps, size_t count)
{
    uint32_t number;
    fl_trace *trace = fl_trace_new(fl_host_default(), "t", NULL);
    assert_non_null(trace);
    assert_int_equal(fl_trace_intern_pool(trace, (fl_pool_name){0, 1}, &number, NULL), FL_OK);
    for (size_t i = 0; i < count; i++) {
        fl_event event = {
            .kind = steps[i].kind,
            .id = FL_NONE,
            .stream = steps[i].stream,
            .pool = steps[i].pool,
            .text = FL_NONE,
            .stack = FL_NONE,
            .address = steps[i].address,
            .size = steps[i].size,
            .time_us = FL_TIME_UNKNOWN,
        };
        assert_int_equal(fl_trace_append(trace, 0, &event, NULL), FL_OK);
    }
    return trace;
}

static void a_segment_is_a_place_while_it_is_there(void **state)
{
    (void)state;
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_ALLOC, 20 * MIB, 20 * MIB, 0, FL_NONE},
        {FL_OP_ALLOC, 25 * MIB, 512, 0, FL_NONE},
        {FL_EVENT_SEGMENT_ALLOC, 40 * MIB, 2 * MIB, 0, FL_NONE}, /* touches, and is another */
        {FL_EVENT_SEGMENT_FREE, 20 * MIB, 20 * MIB, 0, FL_NONE},
        {FL_OP_ALLOC, 25 * MIB, 512, 0, FL_NONE},
        {FL_EVENT_SEGMENT_ALLOC, 20 * MIB, 20 * MIB, 0, FL_NONE},
        {FL_OP_ALLOC, 25 * MIB, 512, 0, FL_NONE},
    };
    static const uint32_t of[] = {0, 0, 1, 0, FL_NONE, 2, 2};
    fl_trace *trace = trace_of(steps, COUNT_OF(steps));
    fl_places places;
    assert_int_equal(fl_places_find(trace, 0, &places, NULL), FL_OK);
    for (size_t i = 0; i < COUNT_OF(of); i++)
        assert_int_equal(places.of[i], of[i]);
    assert_int_equal(places.items.items[0].first_event, 0);
    assert_int_equal(places.items.items[0].end_event, 3);
    assert_int_equal(places.items.items[1].end_event, COUNT_OF(steps));
    assert_false(places.items.items[0].is_known);
    fl_places_deinit(trace->host, &places);
    fl_trace_free(trace);
}

static void pages_that_touch_are_one_place_also_where_a_hole_closes(void **state)
{
    (void)state;
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_MAP, 20 * MIB, 20 * MIB, 0, FL_NONE},
        {FL_EVENT_SEGMENT_MAP, 60 * MIB, 20 * MIB, 0, FL_NONE},
        {FL_EVENT_SEGMENT_MAP, 80 * MIB, 20 * MIB, 1, FL_NONE}, /* of another stream */
        {FL_EVENT_SEGMENT_MAP, 40 * MIB, 20 * MIB, 0, FL_NONE},
        {FL_EVENT_SEGMENT_UNMAP, 40 * MIB, 20 * MIB, 0, FL_NONE},
        {FL_OP_ALLOC, 70 * MIB, 512, 0, FL_NONE},
        {FL_OP_ALLOC, 50 * MIB, 512, 0, FL_NONE},
    };
    static const uint32_t of[] = {0, 0, 2, 0, 0, 0, FL_NONE};
    fl_trace *trace = trace_of(steps, COUNT_OF(steps));
    fl_places places;
    assert_int_equal(fl_places_find(trace, 0, &places, NULL), FL_OK);
    for (size_t i = 0; i < COUNT_OF(of); i++)
        assert_int_equal(places.of[i], of[i]);
    fl_places_deinit(trace->host, &places);
    fl_trace_free(trace);
}

static void a_pool_is_known_from_an_entry_or_from_the_final_state(void **state)
{
    (void)state;
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_ALLOC, 20 * MIB, 20 * MIB, 0, 1},
        {FL_EVENT_SEGMENT_ALLOC, 60 * MIB, 2 * MIB, 0, FL_NONE},
        {FL_EVENT_SEGMENT_ALLOC, 80 * MIB, 2 * MIB, 0, FL_NONE},
    };
    fl_trace *trace = trace_of(steps, COUNT_OF(steps));
    fl_segment_view run = {.pool = 1, .address = 60 * MIB, .size = 2 * MIB};
    assert_int_equal(fl_trace_add_segment(trace, 0, &run, NULL), FL_OK);
    fl_places places;
    assert_int_equal(fl_places_find(trace, 0, &places, NULL), FL_OK);
    assert_true(places.items.items[0].is_known && places.items.items[0].pool == 1);
    assert_true(places.items.items[1].is_known && places.items.items[1].pool == 1);
    assert_false(places.items.items[2].is_known);
    fl_places_deinit(trace->host, &places);
    trace->lacks_pools = true;
    assert_int_equal(fl_places_find(trace, 0, &places, NULL), FL_OK);
    assert_false(places.items.items[1].is_known);
    fl_places_deinit(trace->host, &places);
    fl_trace_free(trace);
}

static void a_record_that_contradicts_itself_gives_no_place(void **state)
{
    (void)state;
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_ALLOC, 20 * MIB, 20 * MIB, 0, FL_NONE},
        {FL_EVENT_SEGMENT_ALLOC, 30 * MIB, 20 * MIB, 0, FL_NONE},
        {FL_EVENT_SEGMENT_FREE, 90 * MIB, 20 * MIB, 0, FL_NONE},
        {FL_EVENT_SEGMENT_FREE, 20 * MIB, UINT64_MAX, 0, FL_NONE},
        {FL_EVENT_SEGMENT_ALLOC, UINT64_MAX - 5, 20 * MIB, 0, FL_NONE},
        {FL_EVENT_SEGMENT_ALLOC, 20 * MIB, 0, 0, FL_NONE},
    };
    static const uint32_t of[] = {0, FL_NONE, FL_NONE, 0, FL_NONE, FL_NONE};
    fl_trace *trace = trace_of(steps, COUNT_OF(steps));
    fl_places places;
    assert_int_equal(fl_places_find(trace, 0, &places, NULL), FL_OK);
    for (size_t i = 0; i < COUNT_OF(of); i++)
        assert_int_equal(places.of[i], of[i]);
    fl_places_deinit(trace->host, &places);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segment_is_a_place_while_it_is_there),
        cmocka_unit_test(pages_that_touch_are_one_place_also_where_a_hole_closes),
        cmocka_unit_test(a_pool_is_known_from_an_entry_or_from_the_final_state),
        cmocka_unit_test(a_record_that_contradicts_itself_gives_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
