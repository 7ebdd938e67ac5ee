#include "analysis/delta.h"

#include "failing_host.h"
#include "test.h"

#include <string.h>

#define MOST 4096

/* A question about sets, and how often it was asked. */
typedef struct question {
    bool (*shows)(const bool *is_kept);
    size_t count, tries, most_tries; /* 0: any number */
    bool last[MOST];                 /* the last set that showed it */
} question;

static fl_status ask(void *user, const bool *is_kept, bool *ret_shows, fl_error *error)
{
    question *q = user;
    if (q->most_tries != 0 && q->tries == q->most_tries)
        return fl_fail(error, FL_ERR_NO, "enough");
    q->tries++;
    *ret_shows = q->shows(is_kept);
    if (*ret_shows)
        memcpy(q->last, is_kept, q->count);
    return FL_OK;
}

static void run(question *q, bool *is_kept)
{
    memset(is_kept, true, q->count);
    assert_true(q->shows(is_kept));
    assert_int_equal(fl_delta_run(fl_host_default(), is_kept, q->count, ask, q, NULL), FL_OK);
}

static bool needs_three_far_apart(const bool *k)
{
    return k[3] && k[700] && k[4095];
}

static bool needs_any_two_neighbours(const bool *k)
{
    for (size_t i = 0; i + 1 < 64; i++)
        if (k[i] && k[i + 1])
            return true;
    return false;
}

/* Item 2n goes only together with 2n + 1, as an open scope goes with its end. */
static bool needs_whole_pairs(const bool *k)
{
    for (size_t i = 0; i < 100; i += 2)
        if (k[i] != k[i + 1])
            return false;
    return k[40] && k[90];
}

static bool needs_nothing(const bool *k)
{
    (void)k;
    return true;
}

static bool needs_everything(const bool *k)
{
    for (size_t i = 0; i < 257; i++)
        if (!k[i])
            return false;
    return true;
}

static bool needs_an_odd_number(const bool *k)
{
    size_t kept = 0;
    for (size_t i = 0; i < 33; i++)
        kept += k[i];
    return kept % 2 == 1;
}

static size_t kept_of(const bool *is_kept, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        kept += is_kept[i];
    return kept;
}

static void what_is_needed_is_found_in_few_tries(void **state)
{
    (void)state;
    static question q = {.shows = needs_three_far_apart, .count = 4096};
    static bool is_kept[MOST];
    run(&q, is_kept);
    assert_int_equal(kept_of(is_kept, q.count), 3);
    assert_true(is_kept[3] && is_kept[700] && is_kept[4095]);
    assert_true(q.tries < 120);
}

static void the_result_is_1_minimal_whatever_is_asked(void **state)
{
    (void)state;
    static const struct {
        bool (*shows)(const bool *is_kept);
        size_t count, kept;
    } rows[] = {
        {needs_any_two_neighbours, 64, 2}, {needs_nothing, 64, 0}, {needs_everything, 257, 257},
        {needs_an_odd_number, 33, 1},      {needs_nothing, 1, 0},  {needs_nothing, 0, 0},
    };
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        static question q;
        static bool is_kept[MOST];
        q = (question){.shows = rows[r].shows, .count = rows[r].count};
        run(&q, is_kept);
        assert_int_equal(kept_of(is_kept, q.count), rows[r].kept);
        for (size_t i = 0; i < q.count; i++) {
            if (!is_kept[i])
                continue;
            is_kept[i] = false;
            assert_false(rows[r].shows(is_kept));
            is_kept[i] = true;
        }
    }
}

static void what_goes_only_together_goes_in_a_stretch(void **state)
{
    (void)state;
    static question q = {.shows = needs_whole_pairs, .count = 100};
    static bool is_kept[MOST];
    run(&q, is_kept);
    assert_true(needs_whole_pairs(is_kept));
    assert_true(kept_of(is_kept, q.count) < 100);
}

static void ended_early_the_last_set_that_showed_it_is_left(void **state)
{
    (void)state;
    for (size_t most = 1; most < 100; most++) {
        static question q;
        static bool is_kept[MOST];
        q = (question){.shows = needs_three_far_apart, .count = 4096, .most_tries = most};
        memset(is_kept, true, q.count);
        memset(q.last, true, q.count);
        fl_error error = {0};
        fl_status status = fl_delta_run(fl_host_default(), is_kept, q.count, ask, &q, &error);
        assert_true(status == FL_OK || status == FL_ERR_NO);
        assert_memory_equal(is_kept, q.last, q.count);
    }
}

static void items_left_out_from_the_start_stay_out(void **state)
{
    (void)state;
    static question q = {.shows = needs_three_far_apart, .count = 4096};
    static bool is_kept[MOST];
    memset(is_kept, true, q.count);
    memset(is_kept + 1000, false, 1000);
    assert_int_equal(fl_delta_run(fl_host_default(), is_kept, q.count, ask, &q, NULL), FL_OK);
    assert_int_equal(kept_of(is_kept, q.count), 3);
}

static fl_status sweep(const fl_host *host, void *user, fl_error *error)
{
    question *q = user;
    bool is_kept[64];
    memset(is_kept, true, sizeof is_kept);
    return fl_delta_run(host, is_kept, 64, ask, q, error);
}

static void a_host_without_memory_is_a_resource_error(void **state)
{
    (void)state;
    static question q = {.shows = needs_any_two_neighbours, .count = 64};
    assert_true(failing_host_sweep(sweep, &q) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_needed_is_found_in_few_tries),
        cmocka_unit_test(the_result_is_1_minimal_whatever_is_asked),
        cmocka_unit_test(what_goes_only_together_goes_in_a_stretch),
        cmocka_unit_test(ended_early_the_last_set_that_showed_it_is_left),
        cmocka_unit_test(items_left_out_from_the_start_stay_out),
        cmocka_unit_test(a_host_without_memory_is_a_resource_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
