#include <fraglab/policy.h>

#include "base/memory.h"
#include "base/units.h"
#include "failing_host.h"
#include "test.h"

#include <string.h>

enum { MOST_CHANGES = 16 };

/* A policy over a card, and what it told. */
struct bench {
    fl_device *device;
    struct fl_policy_state *state;
    fl_sink sink;
    fl_change changes[MOST_CHANGES];
    size_t count;
};

static const fl_policy_ops *passthrough(void)
{
    return fl_policy_find("passthrough");
}

static void bench_hear(void *user, const fl_change *change)
{
    struct bench *bench = user;
    assert_true(bench->count < MOST_CHANGES);
    bench->changes[bench->count++] = *change;
}

static void bench_open(struct bench *bench, uint64_t capacity)
{
    *bench = (struct bench){.sink = {.change = bench_hear}};
    bench->sink.user = bench;
    fl_device_env card = {.capacity_bytes = capacity};
    assert_int_equal(fl_device_open(fl_device_find("sim"), &card, &bench->device, NULL), FL_OK);
    fl_policy_env env = {
        .host = fl_host_default(), .device = bench->device, .sink = &bench->sink, .fraction = -1};
    bench->state = fl_new(env.host, passthrough()->state_size, NULL);
    assert_int_equal(passthrough()->open(bench->state, &env, NULL), FL_OK);
}

static void bench_close(struct bench *bench)
{
    passthrough()->close(bench->state);
    fl_delete(fl_host_default(), bench->state, passthrough()->state_size);
    fl_device_close(bench->device);
}

static fl_result ask(struct bench *bench, uint32_t id, uint64_t size)
{
    fl_op op = {.kind = FL_OP_ALLOC, .id = id, .text = FL_NONE, .size = size};
    fl_result result;
    assert_int_equal(passthrough()->alloc(bench->state, &op, &result, NULL), FL_OK);
    return result;
}

static fl_status let_go(struct bench *bench, uint32_t id, fl_error *error)
{
    fl_op op = {.kind = FL_OP_FREE, .id = id};
    fl_result result;
    return passthrough()->free(bench->state, &op, &result, error);
}

static void a_request_is_a_segment_of_that_size(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, UINT64_MAX);
    fl_result result = ask(&bench, 0, 1000);
    assert_int_equal(result.outcome, FL_DONE);
    assert_int_equal(result.size, 1000);
    assert_int_equal(result.address, 0x7f0000000000);
    assert_int_equal(bench.count, 2);
    assert_int_equal(bench.changes[0].kind, FL_CHANGE_ACQUIRE);
    assert_int_equal(bench.changes[1].kind, FL_CHANGE_PLACE);
    assert_int_equal(bench.changes[1].requested, 1000);
    bench_close(&bench);
}

static void a_free_gives_the_segment_back(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, UINT64_MAX);
    ask(&bench, 0, 1000);
    ask(&bench, 1, 1000);
    bench.count = 0;
    assert_int_equal(let_go(&bench, 0, NULL), FL_OK);
    assert_int_equal(bench.count, 3);
    assert_int_equal(bench.changes[0].kind, FL_CHANGE_FREE_ASKED);
    assert_int_equal(bench.changes[1].kind, FL_CHANGE_FREE_DONE);
    assert_int_equal(bench.changes[2].kind, FL_CHANGE_RELEASE);
    assert_int_equal(fl_device_get_info(bench.device)->used_bytes, 2 * FL_MIB);
    bench_close(&bench);
}

static void zero_bytes_touch_nothing(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, 0);
    fl_result result = ask(&bench, 0, 0);
    assert_int_equal(result.outcome, FL_DONE);
    assert_int_equal(result.address, 0);
    assert_int_equal(let_go(&bench, 0, NULL), FL_OK);
    assert_int_equal(bench.count, 0);
    bench_close(&bench);
}

static void a_refusal_is_an_outcome_and_tells_what_was_left(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, 4 * FL_MIB);
    fl_facts facts;
    passthrough()->facts(bench.state, &facts);
    assert_null(facts.refusal);
    ask(&bench, 0, 1);
    assert_int_equal(ask(&bench, 1, 3 * FL_MIB).outcome, FL_REFUSED);
    passthrough()->facts(bench.state, &facts);
    assert_int_equal(facts.refusal->segment_bytes, 3 * FL_MIB);
    assert_int_equal(facts.refusal->device_free_bytes, 2 * FL_MIB);
    assert_int_equal(bench.changes[2].kind, FL_CHANGE_NO_SEGMENT);
    assert_int_equal(bench.changes[2].size, 3 * FL_MIB);
    assert_int_equal(let_go(&bench, 1, NULL), FL_OK);
    assert_int_equal(ask(&bench, 1, 2 * FL_MIB).outcome, FL_DONE);
    bench_close(&bench);
}

static void a_free_of_what_is_not_live_is_an_error(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, UINT64_MAX);
    fl_error error = {0};
    assert_int_equal(let_go(&bench, 7, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "free of allocation 7 which is not live");
    ask(&bench, 0, 1);
    assert_int_equal(let_go(&bench, 0, NULL), FL_OK);
    assert_int_equal(let_go(&bench, 0, NULL), FL_ERR_INPUT);
    bench_close(&bench);
}

static void every_other_op_is_done_without_effect(void **state)
{
    (void)state;
    struct bench bench;
    bench_open(&bench, UINT64_MAX);
    ask(&bench, 0, 1);
    bench.count = 0;
    for (int kind = FL_OP_USE; kind < FL_OP_KIND_COUNT; kind++) {
        fl_op op = {.kind = (uint8_t)kind, .id = 0};
        fl_result result = {.outcome = FL_FORBIDDEN};
        assert_int_equal(passthrough()->control(bench.state, &op, &result, NULL), FL_OK);
        assert_int_equal(result.outcome, FL_DONE);
    }
    assert_int_equal(bench.count, 0);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_a_segment_of_that_size),
        cmocka_unit_test(a_free_gives_the_segment_back),
        cmocka_unit_test(zero_bytes_touch_nothing),
        cmocka_unit_test(a_refusal_is_an_outcome_and_tells_what_was_left),
        cmocka_unit_test(a_free_of_what_is_not_live_is_an_error),
        cmocka_unit_test(every_other_op_is_done_without_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
