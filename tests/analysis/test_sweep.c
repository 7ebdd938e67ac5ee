#include "analysis/sweep.h"

#include "test.h"

#include <string.h>

#define STRETCH 7

struct seen {
    unsigned char covered[1000];
    unsigned visits;
    uint64_t failing;
};

/* The stretch that holds `at` ends at the next multiple of STRETCH. */
static fl_status visit(void *user, uint64_t at, void *found, uint64_t *ret_end, fl_error *error)
{
    const struct seen *seen = user;
    if (at >= seen->failing)
        return fl_fail(error, FL_ERR_INPUT, "nothing at %llu", (unsigned long long)at);
    memcpy(found, &at, sizeof at);
    *ret_end = at / STRETCH * STRETCH + STRETCH;
    return FL_OK;
}

static fl_status keep(void *user, const void *found, fl_error *error)
{
    struct seen *seen = user;
    uint64_t at;
    (void)error;
    memcpy(&at, found, sizeof at);
    for (uint64_t i = at; i < at / STRETCH * STRETCH + STRETCH; i++)
        seen->covered[i] = 1;
    seen->visits++;
    return FL_OK;
}

static fl_sweep sweep_of(struct seen *seen, unsigned jobs)
{
    return (fl_sweep){.first = 10,
                      .end = 900,
                      .grain = 2,
                      .jobs = jobs,
                      .visit = visit,
                      .keep = keep,
                      .user = seen,
                      .progress_user = seen};
}

static void every_value_is_settled_however_many_workers(void **state)
{
    (void)state;
    for (unsigned jobs = 1; jobs <= 8; jobs++) {
        struct seen seen = {.failing = UINT64_MAX};
        fl_sweep sweep = sweep_of(&seen, jobs);
        assert_int_equal(fl_sweep_run(&sweep, NULL), FL_OK);
        for (unsigned i = 10; i < 900; i++)
            assert_true(seen.covered[i]);
        assert_false(seen.covered[9]);
        if (jobs == 1)
            assert_int_equal(seen.visits, 128);
    }
}

static void the_first_failure_ends_it(void **state)
{
    (void)state;
    struct seen seen = {.failing = 500};
    fl_error error = {0};
    fl_sweep sweep = sweep_of(&seen, 1);
    assert_int_equal(fl_sweep_run(&sweep, &error), FL_ERR_INPUT);
    assert_string_equal(error.text, "nothing at 504");
    sweep.jobs = 3;
    assert_int_equal(fl_sweep_run(&sweep, NULL), FL_ERR_INPUT);
}

static bool stop_at_once(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    assert_int_equal(total, 890);
    return done == 0;
}

static void progress_can_end_it(void **state)
{
    (void)state;
    struct seen seen = {.failing = UINT64_MAX};
    fl_sweep sweep = sweep_of(&seen, 1);
    sweep.progress = stop_at_once;
    assert_int_equal(fl_sweep_run(&sweep, NULL), FL_ERR_NO);
    assert_int_equal(seen.visits, 1);
}

static void an_empty_range_asks_nothing(void **state)
{
    (void)state;
    struct seen seen = {.failing = 0};
    fl_sweep sweep = sweep_of(&seen, 2);
    sweep.end = sweep.first;
    assert_int_equal(fl_sweep_run(&sweep, NULL), FL_OK);
    assert_int_equal(seen.visits, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_is_settled_however_many_workers),
        cmocka_unit_test(the_first_failure_ends_it),
        cmocka_unit_test(progress_can_end_it),
        cmocka_unit_test(an_empty_range_asks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
