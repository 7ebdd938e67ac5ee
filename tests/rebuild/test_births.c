#include "rebuild/births.h"

#include "failing_host.h"
#include "test.h"
#include "trace/build.h"

#include <string.h>

/* Two segments of two blocks each, and a run of one block in a range that begins below it. */
static const fl_segment_view runs[] = {
    {.segment = 0, .address = 0x1000, .size = 0x100},
    {.segment = 1, .address = 0x2000, .size = 0x100},
    {.segment = 2, .address = 0x4000, .size = 0x100, .is_expandable = true},
};
static const fl_block_view blocks[] = {
    {.address = 0x1000, .size = 0x80},  {.address = 0x1080, .size = 0x80},
    {.address = 0x2000, .size = 0x80},  {.address = 0x2080, .size = 0x80},
    {.address = 0x4000, .size = 0x100},
};
static const fl_start_range ranges[] = {{0x1000, 0x1000, 0}, {0x2000, 0x1000, 0}, {0x3000, 1, 1}};

struct ages {
    const uint64_t *pairs;
    size_t count;
};

static fl_status place_copy(const fl_host *host, const struct ages *ages, fl_trace_start *start,
                            fl_error *error)
{
    if (!fl_vector_reserve(host, &start->segments, 3, error) ||
        !fl_vector_reserve(host, &start->blocks, 5, error) ||
        !fl_vector_reserve(host, &start->ranges, 3, error) ||
        !fl_vector_reserve(host, &start->ages, ages->count, error))
        return FL_ERR_RESOURCE;
    memcpy(start->segments.items, runs, sizeof runs);
    memcpy(start->blocks.items, blocks, sizeof blocks);
    memcpy(start->ranges.items, ranges, sizeof ranges);
    start->segments.count = start->ranges.count = 3;
    start->blocks.count = 5;
    for (size_t i = 0; i < ages->count; i++)
        start->ages.items[start->ages.count++] = ages->pairs[i];
    return fl_births_place(host, start, error);
}

static fl_status place(const fl_host *host, void *user, fl_error *error)
{
    fl_trace_start start = {0};
    fl_status status = place_copy(host, user, &start, error);
    if (status == FL_OK)
        assert_int_equal(start.births.count, 7);
    fl_trace_drop_start(host, &start);
    return status;
}

static void assert_births(const uint64_t *pairs, size_t count, const uint64_t expected[7])
{
    struct ages ages = {pairs, count};
    fl_trace_start start = {0};
    assert_int_equal(place_copy(fl_host_default(), &ages, &start, NULL), FL_OK);
    assert_int_equal(start.births.count, 7);
    for (size_t i = 0; i < 7; i++)
        assert_int_equal(start.births.items[i], expected[i]);
    fl_trace_drop_start(fl_host_default(), &start);
}

static void what_is_unmapped_has_a_place_among_the_rest(void **state)
{
    (void)state;
    assert_births(NULL, 0,
                  (const uint64_t[]){0x1000, 0x1080, 0x2000, 0x2080, 0x3000, 0x4000, 0x4100});
}

static void what_is_older_comes_first_with_its_own_elders(void **state)
{
    (void)state;
    static const uint64_t pairs[] = {0x2080, 0x1080, 0x4100, 0x2080, 0x2000, 0x1080};
    assert_births(pairs, 6,
                  (const uint64_t[]){0x1000, 0x2000, 0x4100, 0x2080, 0x1080, 0x3000, 0x4000});
}

static void a_pair_of_what_is_not_there_has_no_effect(void **state)
{
    (void)state;
    static const uint64_t pairs[] = {0x2040, 0x1000, 0x2000, 0x1040};
    assert_births(pairs, 4,
                  (const uint64_t[]){0x1000, 0x1080, 0x2000, 0x2080, 0x3000, 0x4000, 0x4100});
}

static void a_circle_ends(void **state)
{
    (void)state;
    static const uint64_t pairs[] = {0x2000, 0x1000, 0x1000, 0x2000};
    assert_births(pairs, 4,
                  (const uint64_t[]){0x2000, 0x1000, 0x1080, 0x2080, 0x3000, 0x4000, 0x4100});
}

static void every_failure_of_the_host_is_passed_on(void **state)
{
    (void)state;
    static const uint64_t pairs[] = {0x2080, 0x1080, 0x4100, 0x2080, 0x2000, 0x1080};
    struct ages ages = {pairs, 6};
    assert_true(failing_host_sweep(place, &ages) > 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_unmapped_has_a_place_among_the_rest),
        cmocka_unit_test(what_is_older_comes_first_with_its_own_elders),
        cmocka_unit_test(a_pair_of_what_is_not_there_has_no_effect),
        cmocka_unit_test(a_circle_ends),
        cmocka_unit_test(every_failure_of_the_host_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
