#include "rebuild/card.h"

#include "failing_host.h"
#include "recording.h"
#include "test.h"

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)

struct step {
    uint8_t kind, flags;
    uint64_t address, size;
};

static fl_trace *trace_of(const struct step *steps, size_t count)
{
    fl_trace *trace = fl_trace_new(fl_host_default(), "t", NULL);
    assert_non_null(trace);
    for (size_t i = 0; i < count; i++) {
        fl_event event = {
            .kind = steps[i].kind,
            .flags = steps[i].flags,
            .id = FL_NONE,
            .pool = FL_NONE,
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

static uint64_t estimate(const struct step *steps, size_t count)
{
    fl_trace *trace = trace_of(steps, count);
    uint64_t total = 1;
    assert_int_equal(
        fl_card_estimate(fl_host_default(), fl_trace_columns(trace, 0), NULL, &total, NULL), FL_OK);
    fl_trace_free(trace);
    return total;
}

static void ranges_side_by_side_tell_nine_eighths(void **state)
{
    (void)state;
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_MAP, 0, 100 * GIB, 20 * MIB},
        {FL_EVENT_SEGMENT_MAP, 0, 190 * GIB, 2 * MIB}, /* 90 GiB further */
        {FL_EVENT_SEGMENT_UNMAP, 0, 100 * GIB, 20 * MIB},
        {FL_EVENT_SEGMENT_MAP, 0, 100 * GIB + 20 * MIB, 40 * MIB},
        {FL_EVENT_SEGMENT_MAP, 0, 500 * GIB, 2 * MIB},
    };
    assert_in_range(estimate(steps, COUNT_OF(steps)), 80 * GIB - 2 * MIB, 80 * GIB);
}

/* What a cut window starts with may have holes, from which pages went before it. */
static void holes_of_a_cut_window_are_no_distance_between_ranges(void **state)
{
    (void)state;
    fl_segment_view runs[] = {
        {.is_expandable = true, .is_small = true, .address = 10 * GIB, .size = 2 * MIB},
        {.is_expandable = true, .address = 19 * GIB, .size = 20 * MIB},
        {.is_expandable = true, .address = 22 * GIB, .size = 40 * MIB},
        {.is_expandable = true, .address = 28 * GIB, .size = 20 * MIB, .pool = 1},
        {.is_expandable = true, .address = 37 * GIB, .size = 20 * MIB, .pool = 1, .stream = 1},
    };
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_MAP, 0, 25 * GIB, 20 * MIB}, /* of the second range */
        {FL_EVENT_SEGMENT_MAP, 0, 10 * GIB + 8 * MIB, 2 * MIB},
        {FL_OP_ALLOC, FL_EVENT_OOM, GIB, 5 * GIB},
    };
    fl_trace_start start = {.segments = {runs, COUNT_OF(runs), COUNT_OF(runs)}};
    fl_trace *trace = trace_of(steps, COUNT_OF(steps));
    uint64_t total = 1;
    assert_int_equal(
        fl_card_estimate(fl_host_default(), fl_trace_columns(trace, 0), &start, &total, NULL),
        FL_OK);
    assert_in_range(total, 8 * GIB - 2 * MIB, 8 * GIB);
    fl_trace_free(trace);
}

/* More than was there, as the refusal has it: something else was on the card. */
static void a_card_is_as_large_as_its_ranges_ask_for(void **state)
{
    (void)state;
    fl_segment_view runs[] = {
        {.is_expandable = true, .address = 19 * GIB, .size = 20 * MIB},
        {.is_expandable = true, .address = 22 * GIB, .size = 40 * MIB},
    };
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_MAP, 0, 28 * GIB - 20 * MIB, 20 * MIB},
        {FL_OP_ALLOC, FL_EVENT_OOM, GIB, 5 * GIB},
    };
    fl_trace_start start = {.segments = {runs, COUNT_OF(runs), COUNT_OF(runs)}};
    fl_trace *trace = trace_of(steps, COUNT_OF(steps));
    uint64_t total = 1;
    assert_int_equal(
        fl_card_estimate(fl_host_default(), fl_trace_columns(trace, 0), &start, &total, NULL),
        FL_OK);
    assert_int_equal(total, 8 * GIB);
    fl_trace_free(trace);
}

static void a_refusal_tells_what_was_there(void **state)
{
    (void)state;
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_ALLOC, 0, 0x1000, 3 * GIB},
        {FL_OP_ALLOC, FL_EVENT_OOM, GIB, 5 * GIB}, /* 1 GiB was free */
        {FL_EVENT_SEGMENT_FREE, 0, 0x1000, 3 * GIB},
        {FL_OP_ALLOC, FL_EVENT_OOM, GIB, 5 * GIB},
    };
    assert_int_equal(estimate(steps, COUNT_OF(steps)), 4 * GIB);
}

static void ranges_that_hold_less_than_was_there_are_no_evidence(void **state)
{
    (void)state;
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_MAP, 0, GIB, 20 * MIB},
        {FL_EVENT_SEGMENT_MAP, 0, 2 * GIB, 20 * MIB},
        {FL_OP_ALLOC, FL_EVENT_OOM, 7 * GIB, 9 * GIB},
    };
    assert_int_equal(estimate(steps, COUNT_OF(steps)), 7 * GIB + 40 * MIB);
}

static void without_ranges_or_refusals_nothing_tells(void **state)
{
    (void)state;
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_ALLOC, 0, 0x1000, 3 * GIB},
        {FL_EVENT_SEGMENT_MAP, 0, 9 * GIB, 20 * MIB},
    };
    assert_int_equal(estimate(steps, COUNT_OF(steps)), 0);
    assert_int_equal(estimate(NULL, 0), 0);
}

static void sizes_that_make_no_sense_do_no_harm(void **state)
{
    (void)state;
    const struct step steps[] = {
        {FL_EVENT_SEGMENT_MAP, 0, UINT64_MAX - 5, 20 * MIB},
        {FL_EVENT_SEGMENT_ALLOC, 0, 0, UINT64_MAX},
        {FL_EVENT_SEGMENT_ALLOC, 0, 0, UINT64_MAX},
        {FL_EVENT_SEGMENT_FREE, 0, 0, 7},
        {FL_OP_ALLOC, FL_EVENT_OOM, UINT64_MAX, UINT64_MAX},
    };
    assert_int_equal(estimate(steps, COUNT_OF(steps)), 0);
}

static fl_status estimate_on(const fl_host *host, void *user, fl_error *error)
{
    uint64_t total;
    return fl_card_estimate(host, user, NULL, &total, error);
}

static void the_hosts_failure_is_told(void **state)
{
    (void)state;
    const struct step steps[] = {{FL_EVENT_SEGMENT_MAP, 0, 9 * GIB, 20 * MIB}};
    fl_trace *trace = trace_of(steps, 1);
    fl_columns columns = *fl_trace_columns(trace, 0);
    assert_int_equal(failing_host_sweep(estimate_on, &columns), 1);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_side_by_side_tell_nine_eighths),
        cmocka_unit_test(holes_of_a_cut_window_are_no_distance_between_ranges),
        cmocka_unit_test(a_card_is_as_large_as_its_ranges_ask_for),
        cmocka_unit_test(a_refusal_tells_what_was_there),
        cmocka_unit_test(ranges_that_hold_less_than_was_there_are_no_evidence),
        cmocka_unit_test(without_ranges_or_refusals_nothing_tells),
        cmocka_unit_test(sizes_that_make_no_sense_do_no_harm),
        cmocka_unit_test(the_hosts_failure_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
