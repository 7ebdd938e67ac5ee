#include "analysis/perturb.h"

#include "failing_host.h"
#include "random_script.h"
#include "test.h"

#include <fraglab/heap.h>
#include <fraglab/read.h>

#include <string.h>

static char text[32768];

static fl_trace *read_text(void)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(text, strlen(text), "s.txt", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static fl_trace *perturb(const fl_trace *trace, double spread, uint64_t seed)
{
    fl_trace *other = NULL;
    fl_perturbation how = {
        .end_event = fl_trace_event_count(trace, 0), .spread = spread, .seed = seed};
    assert_int_equal(fl_perturb(trace, &how, fl_host_default(), &other, NULL), FL_OK);
    return other;
}

static uint64_t size_of_alloc(const fl_trace *trace, uint64_t number)
{
    for (uint64_t i = 0; i < fl_trace_event_count(trace, 0); i++) {
        fl_event event;
        fl_trace_event(trace, 0, i, &event);
        if (event.kind == FL_OP_ALLOC && number-- == 0)
            return event.size;
    }
    return 0;
}

static void sizes_stay_near_and_equal_ones_equal(void **state)
{
    (void)state;
    strcpy(text, "a 1 1000000\na 2 5000000\na 3 1000000\nf 1\na 4 0\n");
    fl_trace *trace = read_text();
    unsigned changed = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        fl_trace *other = perturb(trace, 0.02, seed);
        uint64_t size = size_of_alloc(other, 0);
        assert_in_range(size, 980000, 1020000);
        assert_int_equal(size_of_alloc(other, 2), size);
        assert_in_range(size_of_alloc(other, 1), 4900000, 5100000);
        assert_int_equal(size_of_alloc(other, 3), 0);
        changed += size != 1000000;
        fl_trace_free(other);
    }
    assert_true(changed > 15);
    fl_trace_free(trace);
}

static void neighbours_on_different_streams_change_places(void **state)
{
    (void)state;
    strcpy(text, "a 1 1000 0\na 2 2000 1\na 3 3000 1\na 4 4000 0\n");
    fl_trace *trace = read_text();
    unsigned swapped = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        fl_trace *other = perturb(trace, 0, seed);
        assert_int_equal(fl_trace_event_count(other, 0), 4);
        swapped += size_of_alloc(other, 0) == 2000;
        fl_trace_free(other);
    }
    assert_in_range(swapped, 10, 30);
    fl_trace_free(trace);
}

static void the_same_seed_gives_the_same_trace(void **state)
{
    (void)state;
    random_script(3, 200, 3, text, sizeof text);
    fl_trace *trace = read_text();
    fl_trace *one = perturb(trace, 0.02, 9), *two = perturb(trace, 0.02, 9);
    for (uint64_t i = 0; i < fl_trace_event_count(one, 0); i++) {
        fl_event a, b;
        fl_trace_event(one, 0, i, &a);
        fl_trace_event(two, 0, i, &b);
        assert_int_equal(a.kind, b.kind);
        assert_int_equal(a.id, b.id);
        assert_int_equal(a.size, b.size);
    }
    fl_trace_free(one);
    fl_trace_free(two);
    fl_trace_free(trace);
}

static fl_status perturb_with(const fl_host *host, void *user, fl_error *error)
{
    fl_trace *other = NULL;
    fl_perturbation how = {.end_event = 3, .spread = 0.02, .seed = 1};
    fl_status status = fl_perturb(user, &how, host, &other, error);
    fl_trace_free(other);
    return status;
}

static void a_failing_host_is_reported(void **state)
{
    (void)state;
    strcpy(text, "a 1 1000 0\na 2 2000 1\nf 1\n");
    fl_trace *trace = read_text();
    assert_true(failing_host_sweep(perturb_with, trace) > 3);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_stay_near_and_equal_ones_equal),
        cmocka_unit_test(neighbours_on_different_streams_change_places),
        cmocka_unit_test(the_same_seed_gives_the_same_trace),
        cmocka_unit_test(a_failing_host_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
