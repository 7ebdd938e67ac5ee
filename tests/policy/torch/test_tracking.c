#include "random_script.h"
#include "test.h"

#include <fraglab/read.h>
#include <fraglab/replay.h>
#include <fraglab/units.h>

#include <stdio.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

static char text[65536];

static fl_trace *read_text(void)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(text, strlen(text), "s.txt", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

/* Everything that a policy did, in one number. */
static fl_status add_changes(void *user, const fl_view *view, fl_error *error)
{
    uint64_t *sum = user;
    (void)error;
    for (size_t i = 0; i < view->change_count; i++) {
        const fl_change *change = &view->changes[i];
        uint64_t part = change->kind + change->address * 31 + change->size * 1009;
        *sum = (*sum ^ part) * UINT64_C(0x100000001B3);
    }
    *sum = *sum * 31 + view->result->outcome;
    return FL_OK;
}

struct answer {
    uint64_t sum, next;
};

static struct answer ask(const fl_trace *trace, fl_replay_options options, const char *parameter)
{
    struct answer answer = {0, 0};
    fl_replay *replay;
    options.is_tracked = true;
    options.watch = add_changes;
    options.user = &answer.sum;
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    answer.next = fl_replay_next_value(replay, parameter);
    fl_replay_close(replay);
    return answer;
}

static struct answer ask_split(const fl_trace *trace, uint64_t capacity, unsigned mebibytes)
{
    char conf[64];
    snprintf(conf, sizeof conf, "max_split_size_mb:%u", mebibytes);
    fl_replay_options options = {
        .fraction = -1, .conf = conf, .capacity_bytes = capacity, .on_oom = FL_ON_OOM_SKIP};
    return ask(trace, options, "max_split_size");
}

/* The next whole MiB at which anything may differ. */
static uint64_t next_mebibyte(uint64_t next)
{
    return next == UINT64_MAX ? UINT64_MAX : (next + MIB - 1) / MIB;
}

static void split_limits_up_to_the_next_value_do_the_same(void **state)
{
    (void)state;
    unsigned steps = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        random_script(seed, 400, 2, text, sizeof text);
        fl_trace *trace = read_text();
        uint64_t capacity = seed % 2 == 0 ? FL_UNLIMITED : 2400 * MIB;
        struct answer from = ask_split(trace, capacity, 20);
        for (unsigned limit = 21; limit <= 130; limit++) {
            struct answer own = ask_split(trace, capacity, limit);
            if (limit < next_mebibyte(from.next)) {
                assert_int_equal(own.sum, from.sum);
                assert_int_equal(own.next, from.next);
            } else {
                from = own;
                steps++;
            }
        }
        assert_true(next_mebibyte(from.next) > 130);
        fl_trace_free(trace);
    }
    assert_true(steps > 60);
}

static void beyond_every_comparison_a_split_limit_is_none(void **state)
{
    (void)state;
    snprintf(text, sizeof text, "a 1 50MiB\nf 1\na 2 30MiB\nf 2\n");
    fl_trace *trace = read_text();
    /* 30 MiB out of a block of 50: with 50 the block is not below the limit. */
    assert_int_equal(ask_split(trace, FL_UNLIMITED, 31).next, 50 * MIB + 1);
    assert_int_equal(ask_split(trace, FL_UNLIMITED, 51).next, UINT64_MAX);
    /* 20 MiB apart is not less than the rounding. */
    assert_int_equal(ask_split(trace, FL_UNLIMITED, 25).next, 30 * MIB + 1);
    fl_trace_free(trace);
}

static void released_memory_that_was_just_enough_ends_the_stretch(void **state)
{
    (void)state;
    /* 40 + 60 MiB in the cache, 100 MiB asked on a card of 100: 60 go back, then 40. */
    snprintf(text, sizeof text, "a 1 40MiB\na 2 60MiB\nf 1\nf 2\na 3 100MiB\n");
    fl_trace *trace = read_text();
    assert_int_equal(ask_split(trace, 100 * MIB, 25).next, 40 * MIB + 1);
    fl_trace_free(trace);
}

static void a_limit_that_an_op_replaces_matters_only_before_it(void **state)
{
    (void)state;
    snprintf(text, sizeof text, "C max_split_size_mb:64\na 1 50MiB\nf 1\na 2 30MiB\n");
    fl_trace *trace = read_text();
    assert_int_equal(ask_split(trace, FL_UNLIMITED, 25).next, UINT64_MAX);
    fl_trace_free(trace);
}

static uint64_t next_card(const char *conf, double fraction, uint64_t card)
{
    fl_trace *trace = read_text();
    fl_replay_options options = {
        .fraction = fraction, .conf = conf, .capacity_bytes = card, .on_oom = FL_ON_OOM_SKIP};
    uint64_t next = ask(trace, options, "capacity").next;
    fl_trace_free(trace);
    return next;
}

static void a_limit_in_force_matters_once_it_is_exceeded(void **state)
{
    (void)state;
    snprintf(text, sizeof text, "a 1 50MiB\na 2 40MiB\n");
    assert_int_equal(next_card(NULL, 0.5, 200 * MIB), UINT64_MAX);
    assert_int_equal(next_card(NULL, 0.5, 160 * MIB), 160 * MIB + 1);
    assert_int_equal(next_card(NULL, -1, 60 * MIB), UINT64_MAX);
    const char *collecting = "garbage_collection_threshold:0.5";
    assert_int_equal(next_card(collecting, 0.9, 200 * MIB), UINT64_MAX);
    assert_int_equal(next_card(collecting, 0.9, 100 * MIB), 100 * MIB + 1);
    assert_int_equal(next_card(collecting, -1, 100 * MIB), UINT64_MAX);
}

static void a_limit_in_bytes_is_the_same_on_every_card(void **state)
{
    (void)state;
    const char *collecting = "garbage_collection_threshold:0.5";
    snprintf(text, sizeof text, "F 100MiB\na 1 50MiB\nf 1\na 2 60MiB\na 3 60MiB\n");
    assert_int_equal(next_card(collecting, -1, 400 * MIB), UINT64_MAX);
    assert_int_equal(next_card(NULL, 0.5, 400 * MIB), UINT64_MAX);
    snprintf(text, sizeof text, "F 100MiB\na 1 50MiB\nF 0.5\na 2 60MiB\n");
    assert_int_equal(next_card(NULL, -1, 200 * MIB), 200 * MIB + 1);
}

static void the_end_of_a_range_matters(void **state)
{
    (void)state;
    const char *expandable = "expandable_segments:True";
    snprintf(text, sizeof text, "a 1 100MiB\na 2 20MiB\nf 1\na 3 110MiB\n");
    assert_int_equal(next_card(expandable, -1, 600 * MIB), UINT64_MAX);
    /* A range of 160 MiB holds 120 and has no 110 behind them. */
    assert_int_equal(next_card(expandable, -1, 140 * MIB), 140 * MIB + 1);
}

static void a_parameter_that_does_not_exist_changes_nothing(void **state)
{
    (void)state;
    snprintf(text, sizeof text, "a 1 50MiB\n");
    fl_trace *trace = read_text();
    fl_replay_options options = {.fraction = -1, .capacity_bytes = FL_UNLIMITED};
    assert_int_equal(ask(trace, options, "colour").next, UINT64_MAX);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_limits_up_to_the_next_value_do_the_same),
        cmocka_unit_test(beyond_every_comparison_a_split_limit_is_none),
        cmocka_unit_test(released_memory_that_was_just_enough_ends_the_stretch),
        cmocka_unit_test(a_limit_that_an_op_replaces_matters_only_before_it),
        cmocka_unit_test(a_limit_in_force_matters_once_it_is_exceeded),
        cmocka_unit_test(a_limit_in_bytes_is_the_same_on_every_card),
        cmocka_unit_test(the_end_of_a_range_matters),
        cmocka_unit_test(a_parameter_that_does_not_exist_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
