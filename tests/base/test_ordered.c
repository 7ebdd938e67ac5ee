#include "base/ordered.h"

#include "failing_host.h"
#include "test.h"

#include <string.h>

static void put(fl_ordered *set, uint64_t major, uint64_t minor, uint32_t value)
{
    assert_true(fl_ordered_insert(fl_host_default(), set, major, minor, value));
}

/* Values in order, read forward and then backward. */
static void expect_values(const fl_ordered *set, const uint32_t *values, uint32_t count)
{
    fl_ordered_at at;
    assert_int_equal(set->count, count);
    bool more = fl_ordered_first(set, &at);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(more);
        assert_int_equal(fl_ordered_get(set, at)->value, values[i]);
        more = fl_ordered_next(set, &at);
    }
    assert_false(more);
    more = fl_ordered_last(set, &at);
    for (uint32_t i = count; i > 0; i--) {
        assert_true(more);
        assert_int_equal(fl_ordered_get(set, at)->value, values[i - 1]);
        more = fl_ordered_previous(set, &at);
    }
    assert_false(more);
}

static void an_empty_set_has_no_first_and_no_last(void **state)
{
    (void)state;
    fl_ordered set = {0};
    fl_ordered_at at = {7, 7};
    assert_false(fl_ordered_first(&set, &at));
    assert_false(fl_ordered_last(&set, &at));
    assert_false(fl_ordered_seek(&set, 0, 0, &at));
    assert_int_equal(at.chunk, 7);
    fl_ordered_deinit(fl_host_default(), &set);
}

static void pairs_are_ordered_by_major_then_by_minor(void **state)
{
    (void)state;
    static const uint32_t order[] = {1, 2, 3, 4, 5};
    fl_ordered set = {0};
    put(&set, 7, 0, 3);
    put(&set, UINT64_MAX, UINT64_MAX, 5);
    put(&set, 0, 0, 1);
    put(&set, 7, 1, 4);
    put(&set, 0, UINT64_MAX, 2);
    expect_values(&set, order, COUNT_OF(order));
    fl_ordered_deinit(fl_host_default(), &set);
}

static void seeking_finds_the_first_that_is_not_below(void **state)
{
    (void)state;
    fl_ordered set = {0};
    fl_ordered_at at;
    put(&set, 10, 5, 1);
    put(&set, 20, 5, 2);
    assert_true(fl_ordered_seek(&set, 10, 5, &at));
    assert_int_equal(fl_ordered_get(&set, at)->value, 1);
    assert_true(fl_ordered_seek(&set, 10, 6, &at));
    assert_int_equal(fl_ordered_get(&set, at)->value, 2);
    assert_true(fl_ordered_seek(&set, 11, 0, &at));
    assert_int_equal(fl_ordered_get(&set, at)->value, 2);
    assert_false(fl_ordered_seek(&set, 20, 6, &at));
    fl_ordered_deinit(fl_host_default(), &set);
}

static void a_step_beyond_the_end_leaves_the_position(void **state)
{
    (void)state;
    fl_ordered set = {0};
    fl_ordered_at at;
    put(&set, 1, 0, 1);
    assert_true(fl_ordered_first(&set, &at));
    assert_false(fl_ordered_next(&set, &at));
    assert_false(fl_ordered_previous(&set, &at));
    assert_int_equal(fl_ordered_get(&set, at)->value, 1);
    fl_ordered_deinit(fl_host_default(), &set);
}

/* Full chunks split wherever the new pair falls: in front, behind, and on the seam. */
static void every_place_in_a_full_chunk_takes_a_pair(void **state)
{
    (void)state;
    for (uint32_t place = 0; place <= FL_CHUNK; place++) {
        uint32_t order[FL_CHUNK + 1];
        fl_ordered set = {0};
        for (uint32_t i = 0; i < FL_CHUNK; i++)
            put(&set, 2 * i + 1, 0, 2 * i + 1);
        put(&set, UINT64_C(2) * place, 0, 2 * place);
        for (uint32_t i = 0; i <= FL_CHUNK; i++)
            order[i] = i < place ? 2 * i + 1 : i == place ? 2 * i : 2 * i - 1;
        expect_values(&set, order, COUNT_OF(order));
        assert_int_equal(set.chunk_count, 2);
        fl_ordered_deinit(fl_host_default(), &set);
    }
}

static void chunks_that_empty_or_shrink_are_joined(void **state)
{
    (void)state;
    enum { COUNT = 40 * FL_CHUNK };
    fl_ordered set = {0};
    for (uint32_t i = 0; i < COUNT; i++)
        put(&set, i, 0, i);
    for (uint32_t i = COUNT; i-- > 0;) /* each finds a small neighbour behind it */
        if (i % 16 != 0)
            fl_ordered_remove(fl_host_default(), &set, i, 0);
    assert_int_equal(set.count, COUNT / 16);
    assert_true(set.chunk_count <= 20);
    for (uint32_t i = 0; i < COUNT; i += 16)
        fl_ordered_remove(fl_host_default(), &set, i, 0);
    assert_int_equal(set.chunk_count, 1); /* the last one stays */
    expect_values(&set, NULL, 0);
    put(&set, 3, 0, 3);
    expect_values(&set, (const uint32_t[]){3}, 1);
    fl_ordered_deinit(fl_host_default(), &set);
}

/* Every pair of a small space is in or out; the set must agree after every step. */
enum { MAJORS = 40, MINORS = 8, STEPS = 30000 };

static void expect_truth(const fl_ordered *set, bool (*is_in)[MINORS], uint64_t major,
                         uint64_t minor)
{
    fl_ordered_at at;
    uint64_t place = major * MINORS + minor;
    while (place < MAJORS * MINORS && !is_in[place / MINORS][place % MINORS])
        place++;
    bool found = fl_ordered_seek(set, major, minor, &at);
    assert_int_equal(found, place < MAJORS * MINORS);
    if (found)
        assert_int_equal(fl_ordered_get(set, at)->value, place);
}

static void random_steps_agree_with_a_table(void **state)
{
    (void)state;
    static bool is_in[MAJORS][MINORS];
    fl_ordered set = {0};
    uint32_t count = 0;
    uint64_t noise = 0x9E3779B97F4A7C15u;
    for (int step = 0; step < STEPS; step++) {
        noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
        uint64_t major = noise % MAJORS, minor = (noise >> 20) % MINORS;
        /* Filling and emptying take turns, so that chunks split and join. */
        bool wanted = (noise >> 40) % 8 < (step / 3000 % 2 == 0 ? 6u : 2u);
        if (is_in[major][minor] && !wanted)
            fl_ordered_remove(fl_host_default(), &set, major, minor);
        else if (!is_in[major][minor] && wanted)
            put(&set, major, minor, (uint32_t)(major * MINORS + minor));
        count += (uint32_t)wanted - (uint32_t)is_in[major][minor];
        is_in[major][minor] = wanted;
        assert_int_equal(set.count, count);
        expect_truth(&set, is_in, (noise >> 30) % MAJORS, (noise >> 50) % MINORS);
    }
    fl_ordered_deinit(fl_host_default(), &set);
}

static fl_status fill_a_set(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_ordered set = {0};
    bool done = true;
    for (uint32_t i = 0; i < 6 * FL_CHUNK && done; i++) {
        uint32_t before = set.count;
        fl_ordered_at at;
        done = fl_ordered_insert(host, &set, i * 7 % 192, i, i);
        assert_int_equal(set.count, before + done);
        uint32_t seen = 0;
        for (bool more = fl_ordered_first(&set, &at); more; more = fl_ordered_next(&set, &at))
            seen++;
        assert_int_equal(seen, set.count);
    }
    fl_ordered_deinit(host, &set);
    return done ? FL_OK : fl_fail(error, FL_ERR_RESOURCE, "no room");
}

static void a_host_without_memory_leaves_the_set_as_it_was(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(fill_a_set, NULL) > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_set_has_no_first_and_no_last),
        cmocka_unit_test(pairs_are_ordered_by_major_then_by_minor),
        cmocka_unit_test(seeking_finds_the_first_that_is_not_below),
        cmocka_unit_test(a_step_beyond_the_end_leaves_the_position),
        cmocka_unit_test(every_place_in_a_full_chunk_takes_a_pair),
        cmocka_unit_test(chunks_that_empty_or_shrink_are_joined),
        cmocka_unit_test(random_steps_agree_with_a_table),
        cmocka_unit_test(a_host_without_memory_leaves_the_set_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
