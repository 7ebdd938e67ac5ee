#include "analysis/capacity_walk.h"

#include "base/vector.h"
#include "test.h"

#include <fraglab/read.h>

#include <string.h>

#define MIB (UINT64_C(1) << 20)

static fl_capacity_question open_question(const char *script, const char *conf)
{
    fl_capacity_question question = {
        .host = fl_host_default(),
        .replay = {.conf = conf, .fraction = -1, .is_lean = true, .is_tracked = true},
    };
    fl_trace *trace;
    assert_int_equal(fl_read_memory(script, strlen(script), "s.txt", NULL, &trace, NULL), FL_OK);
    question.trace = trace;
    return question;
}

static void close_question(fl_capacity_question *question)
{
    fl_trace *trace;
    memcpy(&trace, &question->trace, sizeof trace); /* this test's own, so it may end it */
    fl_trace_free(trace);
}

static void a_try_holds_up_to_the_least_that_was_refused(void **state)
{
    (void)state;
    fl_capacity_question question = open_question("a 1 40MiB\nf 1\na 2 50MiB\n", NULL);
    fl_capacity_interval interval;
    bool is_stepped = false;
    assert_int_equal(fl_capacity_try(&question, 60 * MIB, &interval, &is_stepped, NULL), FL_OK);
    assert_false(is_stepped);
    assert_int_equal(interval.first_bytes, 60 * MIB);
    assert_int_equal(interval.end_bytes, 90 * MIB);
    assert_true(interval.works);
    assert_int_equal(interval.alloc_retries, 1);
    assert_int_equal(fl_capacity_try(&question, 45 * MIB, &interval, &is_stepped, NULL), FL_OK);
    assert_false(interval.works);
    assert_int_equal(interval.refused_event, 2);
    assert_int_equal(interval.end_bytes, 50 * MIB);
    close_question(&question);
}

static void a_walk_covers_its_range_and_may_reach_beyond(void **state)
{
    (void)state;
    fl_capacity_question question = open_question("a 1 40MiB\nf 1\na 2 50MiB\n", NULL);
    fl_capacity_options options = {.jobs = 3};
    struct fl_capacity_vector found = {0};
    bool is_stepped = false;
    assert_int_equal(
        fl_capacity_walk(&question, 10 * MIB, 80 * MIB, &options, &found, &is_stepped, NULL),
        FL_OK);
    assert_int_equal(found.count, 3);
    assert_int_equal(found.items[0].first_bytes, 10 * MIB);
    assert_int_equal(found.items[1].first_bytes, 40 * MIB);
    assert_int_equal(found.items[2].first_bytes, 50 * MIB);
    assert_int_equal(found.items[2].end_bytes, 90 * MIB);
    assert_false(is_stepped);
    fl_vector_deinit(question.host, &found);
    close_question(&question);
}

static void a_walk_over_nothing_finds_nothing(void **state)
{
    (void)state;
    fl_capacity_question question = open_question("a 1 40MiB\n", NULL);
    fl_capacity_options options = {.jobs = 1};
    struct fl_capacity_vector found = {0};
    bool is_stepped = false;
    assert_int_equal(fl_capacity_walk(&question, 8, 8, &options, &found, &is_stepped, NULL), FL_OK);
    assert_int_equal(found.count, 0);
    close_question(&question);
}

static void stretches_are_put_in_order_and_once(void **state)
{
    (void)state;
    fl_capacity_interval items[] = {
        {.first_bytes = 50, .end_bytes = 60},
        {.first_bytes = 10, .end_bytes = 50},
        {.first_bytes = 30, .end_bytes = 50},
    };
    struct fl_capacity_vector found = {items, 3, 3};
    fl_capacity_tidy(&found);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.items[0].first_bytes, 10);
    assert_int_equal(found.items[1].first_bytes, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_try_holds_up_to_the_least_that_was_refused),
        cmocka_unit_test(a_walk_covers_its_range_and_may_reach_beyond),
        cmocka_unit_test(a_walk_over_nothing_finds_nothing),
        cmocka_unit_test(stretches_are_put_in_order_and_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
