#include "rebuild/compare.h"

#include "recording.h"
#include "test.h"

/* A comparison with a history from words; steps with the device get addresses 0x100, 0x200, ... by
 * event, requests 0x10000 and up. */
struct bench {
    fl_trace *trace;
    fl_compare compare;
};

static uint64_t address_at(const fl_columns *columns, uint64_t event)
{
    return columns->kind[event] == FL_OP_ALLOC ? 0x10000 * (event + 1) : 0x100 * (event + 1);
}

static void bench_open(struct bench *bench, const char *words)
{
    bench->trace = fl_trace_new(fl_host_default(), "t", NULL);
    fl_trace *plain = history_make(words);
    for (uint64_t i = 0; i < fl_trace_event_count(plain, 0); i++) {
        fl_event event;
        fl_trace_event(plain, 0, i, &event);
        event.address = address_at(fl_trace_columns(plain, 0), i);
        assert_int_equal(fl_trace_append(bench->trace, 0, &event, NULL), FL_OK);
    }
    fl_trace_free(plain);
    fl_compare_init(&bench->compare, fl_host_default(), bench->trace, 0);
}

static void bench_close(struct bench *bench)
{
    fl_trace_free(bench->trace);
}

/* The change that event `event` records. */
static fl_change change_of(const struct bench *bench, uint64_t event, fl_cause cause)
{
    static const uint8_t kinds[] = {FL_CHANGE_ACQUIRE, FL_CHANGE_RELEASE, FL_CHANGE_MAP,
                                    FL_CHANGE_UNMAP};
    const fl_columns *columns = fl_trace_columns(bench->trace, 0);
    return (fl_change){
        .kind = kinds[columns->kind[event] - FL_EVENT_SEGMENT_ALLOC],
        .cause = (uint8_t)cause,
        .id = FL_NONE,
        .address = columns->address[event],
        .size = columns->size[event],
    };
}

/* The op at `event` brought these changes and this answer. */
static void show(struct bench *bench, uint64_t event, bool is_inferred, fl_op_kind kind,
                 fl_result result, const fl_change *changes, size_t count)
{
    fl_op op = {.kind = (uint8_t)kind};
    fl_view view = {
        .event = event,
        .is_inferred = is_inferred,
        .op = &op,
        .result = &result,
        .changes = changes,
        .change_count = count,
    };
    fl_compare_view(&bench->compare, &view);
}

static void show_request(struct bench *bench, uint64_t event, uint64_t address,
                         const fl_change *changes, size_t count)
{
    fl_result result = {.outcome = address == 0 ? FL_REFUSED : FL_DONE, .address = address};
    show(bench, event, false, FL_OP_ALLOC, result, changes, count);
}

static void assert_tally(const struct bench *bench, fl_decision decision, uint64_t equal,
                         uint64_t different)
{
    const fl_tally *tally = &bench->compare.tallies[decision];
    assert_int_equal(tally->equal, equal);
    assert_int_equal(tally->different, different);
    assert_int_equal(tally->checked, equal + different);
    assert_int_equal(tally->excused, 0);
}

static void steps_and_places_as_recorded_are_equal(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "S+ a1 S- S+ a2 o3");
    fl_change first = change_of(&bench, 0, FL_CAUSE_REQUEST);
    fl_change more[] = {change_of(&bench, 2, FL_CAUSE_RELEASE_ALL),
                        change_of(&bench, 3, FL_CAUSE_REQUEST)};
    show_request(&bench, 1, 0x20000, &first, 1);
    show_request(&bench, 4, 0x50000, more, 2);
    show_request(&bench, 5, 0, NULL, 0);
    assert_int_equal(bench.compare.differences, 0);
    assert_tally(&bench, FL_DECISION_SEGMENT, 3, 0);
    assert_tally(&bench, FL_DECISION_ADDRESS, 3, 0);
    assert_int_equal(bench.compare.releases_by_cause[FL_CAUSE_RELEASE_ALL], 1);
    bench_close(&bench);
}

static void changes_that_are_no_steps_with_the_device_do_not_count(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "S+ a1");
    fl_change changes[] = {{.kind = FL_CHANGE_NO_SEGMENT, .size = 5},
                           {.kind = FL_CHANGE_RESERVE, .size = 5},
                           change_of(&bench, 0, FL_CAUSE_REQUEST),
                           {.kind = FL_CHANGE_PLACE, .size = 512}};
    show_request(&bench, 1, 0x20000, changes, 4);
    assert_tally(&bench, FL_DECISION_SEGMENT, 1, 0);
    bench_close(&bench);
}

static void each_part_of_a_step_is_compared(void **state)
{
    (void)state;
    for (int part = 0; part < 4; part++) {
        struct bench bench;
        bench_open(&bench, "M+ a1");
        fl_change change = change_of(&bench, 0, FL_CAUSE_REQUEST);
        change.address += part == 0;
        change.size += part == 1;
        change.stream += part == 2;
        change.kind = part == 3 ? FL_CHANGE_ACQUIRE : change.kind;
        show_request(&bench, 1, 0x20000, &change, 1);
        assert_tally(&bench, FL_DECISION_SEGMENT, 0, 1);
        assert_int_equal(bench.compare.first.event, 0);
        assert_int_equal(bench.compare.first.recorded, 0);
        assert_true(bench.compare.first.has_change);
        bench_close(&bench);
    }
}

static void a_step_that_was_not_recorded_is_a_difference(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "a1 S-");
    fl_change change = change_of(&bench, 1, FL_CAUSE_TRIM);
    show_request(&bench, 0, 0x10000, &change, 1);
    assert_tally(&bench, FL_DECISION_SEGMENT, 0, 1);
    assert_int_equal(bench.compare.first.event, 0);
    assert_true(bench.compare.first.recorded == UINT64_MAX);
    bench_close(&bench);
}

static void recorded_steps_that_no_op_brought_are_differences(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "S- S- a1 S-");
    show_request(&bench, 2, 0x30000, NULL, 0);
    assert_tally(&bench, FL_DECISION_SEGMENT, 0, 2);
    assert_int_equal(bench.compare.first.event, 0);
    assert_false(bench.compare.first.has_change);
    fl_compare_catch_up(&bench.compare, 4);
    assert_tally(&bench, FL_DECISION_SEGMENT, 0, 3);
    bench_close(&bench);
}

static void what_an_inferred_op_leaves_over_the_next_op_may_bring(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "S- S+ a1");
    fl_change steps[] = {change_of(&bench, 0, FL_CAUSE_TRIM),
                         change_of(&bench, 1, FL_CAUSE_REQUEST)};
    show(&bench, 2, true, FL_OP_TRIM, (fl_result){0}, &steps[0], 1);
    show_request(&bench, 2, 0x30000, &steps[1], 1);
    assert_int_equal(bench.compare.differences, 0);
    assert_tally(&bench, FL_DECISION_SEGMENT, 2, 0);
    bench_close(&bench);
}

static void a_place_or_refusal_that_differs_is_a_difference(void **state)
{
    (void)state;
    static const struct {
        const char *words;
        uint64_t address;
    } cases[] = {{"a1", 0x20000}, {"a1", 0}, {"o1", 0x10000}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct bench bench;
        bench_open(&bench, cases[i].words);
        show_request(&bench, 0, cases[i].address, NULL, 0);
        assert_tally(&bench, FL_DECISION_ADDRESS, 0, 1);
        assert_int_equal(bench.compare.first.decision, FL_DECISION_ADDRESS);
        bench_close(&bench);
    }
}

static void only_the_first_difference_is_kept(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "a1 a2");
    show_request(&bench, 0, 0, NULL, 0);
    show_request(&bench, 1, 0, NULL, 0);
    assert_int_equal(bench.compare.differences, 2);
    assert_int_equal(bench.compare.first.event, 0);
    bench_close(&bench);
}

static void what_was_not_reached_counts_as_different(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, "S+ a1 a2 S- o3");
    fl_trace_add_segment(bench.trace, 0, &(fl_segment_view){.size = 5}, NULL);
    fl_trace_add_block(bench.trace, 0, &(fl_block_view){.size = 5}, FL_NONE, NULL);
    fl_change first = change_of(&bench, 0, FL_CAUSE_REQUEST);
    show_request(&bench, 1, 0x20000, &first, 1);
    fl_compare_abandon(&bench.compare, 2);
    assert_tally(&bench, FL_DECISION_SEGMENT, 1, 1);
    assert_tally(&bench, FL_DECISION_ADDRESS, 1, 2);
    assert_tally(&bench, FL_DECISION_FINAL_STATE, 0, 2);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_and_places_as_recorded_are_equal),
        cmocka_unit_test(changes_that_are_no_steps_with_the_device_do_not_count),
        cmocka_unit_test(each_part_of_a_step_is_compared),
        cmocka_unit_test(a_step_that_was_not_recorded_is_a_difference),
        cmocka_unit_test(recorded_steps_that_no_op_brought_are_differences),
        cmocka_unit_test(what_an_inferred_op_leaves_over_the_next_op_may_bring),
        cmocka_unit_test(a_place_or_refusal_that_differs_is_a_difference),
        cmocka_unit_test(only_the_first_difference_is_kept),
        cmocka_unit_test(what_was_not_reached_counts_as_different),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
