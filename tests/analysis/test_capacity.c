#include "failing_host.h"
#include "random_script.h"
#include "test.h"

#include <fraglab/capacity.h>
#include <fraglab/read.h>

#include <stdio.h>
#include <string.h>

#define MIB  (UINT64_C(1) << 20)
#define STEP (2 * MIB)

static char text[65536];

static fl_trace *read_text(void)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    if (fl_read_memory(text, strlen(text), "s.txt", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static fl_trace *read_script(const char *script)
{
    snprintf(text, sizeof text, "%s", script);
    return read_text();
}

static fl_capacity_options options_of(const char *conf, double fraction)
{
    return (fl_capacity_options){.replay = {.conf = conf, .fraction = fraction}, .jobs = 1};
}

static fl_capacity find(const fl_trace *trace, const fl_capacity_options *options)
{
    fl_capacity capacity = {0};
    fl_error error = {0};
    if (fl_capacity_find(trace, options, &capacity, &error) != FL_OK)
        fail_msg("%s", error.text);
    return capacity;
}

/* What one replay on one card says. */
static fl_replay_summary replay_on(const fl_trace *trace, const fl_capacity_options *options,
                                   uint64_t card)
{
    fl_replay_options replay_options = options->replay;
    fl_replay_summary summary;
    fl_replay *replay;
    replay_options.capacity_bytes = card;
    assert_int_equal(fl_replay_open(trace, &replay_options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    fl_replay_get_summary(replay, &summary);
    fl_replay_close(replay);
    return summary;
}

static void assert_whole(const fl_capacity *capacity)
{
    assert_int_equal(capacity->items[0].first_bytes, 0);
    for (size_t i = 1; i < capacity->count; i++)
        assert_int_equal(capacity->items[i].first_bytes, capacity->items[i - 1].end_bytes);
    assert_int_equal(capacity->items[capacity->count - 1].end_bytes, FL_UNLIMITED);
}

/* The interval of a card, against a replay on it. */
static void assert_replay_agrees(const fl_trace *trace, const fl_capacity_options *options,
                                 const fl_capacity *capacity, uint64_t card)
{
    const fl_capacity_interval *interval = &capacity->items[0];
    while (interval->end_bytes <= card)
        interval++;
    fl_replay_summary summary = replay_on(trace, options, card);
    assert_int_equal(interval->works, summary.ooms == 0);
    if (!interval->is_replayed)
        return;
    assert_int_equal(interval->driver_malloc, summary.driver_malloc);
    assert_int_equal(interval->driver_map, summary.driver_map);
    assert_int_equal(interval->peak_reserved_bytes, summary.peak.reserved_bytes);
    assert_int_equal(interval->alloc_retries, summary.stats.alloc_retries);
    if (summary.ooms > 0)
        assert_int_equal(interval->refused_event, summary.oom.event);
}

static const struct {
    const char *conf;
    double fraction;
} ways[] = {
    {NULL, -1},
    {"max_split_size_mb:25", -1},
    {"expandable_segments:True", -1},
    {NULL, 0.75},
    {"garbage_collection_threshold:0.6", 0.9},
    {"expandable_segments:True,max_split_size_mb:30", -1},
};

static void every_card_of_the_curve_is_as_a_replay_on_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3 * COUNT_OF(ways); seed++) {
        random_script(seed, 150, 2, text, sizeof text);
        fl_trace *trace = read_text();
        size_t way = seed % COUNT_OF(ways);
        fl_capacity_options options = options_of(ways[way].conf, ways[way].fraction);
        fl_capacity capacity = find(trace, &options);
        assert_whole(&capacity);
        uint64_t most = capacity.items[capacity.count - 1].first_bytes + 20 * STEP;
        for (uint64_t card = STEP; card < most; card += STEP)
            assert_replay_agrees(trace, &options, &capacity, card);
        fl_capacity_deinit(&capacity);
        fl_trace_free(trace);
    }
}

static void assert_same(const fl_capacity_interval *one, const fl_capacity_interval *other)
{
    assert_int_equal(one->first_bytes, other->first_bytes);
    assert_int_equal(one->end_bytes, other->end_bytes);
    assert_int_equal(one->works, other->works);
    assert_int_equal(one->is_replayed, other->is_replayed);
    assert_int_equal(one->refused_event, other->refused_event);
    assert_int_equal(one->peak_reserved_bytes, other->peak_reserved_bytes);
    assert_int_equal(one->driver_malloc, other->driver_malloc);
    assert_int_equal(one->driver_free, other->driver_free);
    assert_int_equal(one->driver_map, other->driver_map);
    assert_int_equal(one->driver_unmap, other->driver_unmap);
    assert_int_equal(one->alloc_retries, other->alloc_retries);
}

static void threads_find_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 31; seed <= 31 + COUNT_OF(ways); seed++) {
        random_script(seed, 300, 2, text, sizeof text);
        fl_trace *trace = read_text();
        size_t way = seed % COUNT_OF(ways);
        fl_capacity_options options = options_of(ways[way].conf, ways[way].fraction);
        fl_capacity alone = find(trace, &options);
        options.jobs = 7;
        fl_capacity shared = find(trace, &options);
        assert_int_equal(alone.count, shared.count);
        for (size_t i = 0; i < alone.count; i++)
            assert_same(&alone.items[i], &shared.items[i]);
        assert_int_equal(alone.step_bytes, shared.step_bytes);
        fl_capacity_deinit(&alone);
        fl_capacity_deinit(&shared);
        fl_trace_free(trace);
    }
}

static void the_smallest_card_alone_is_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 61; seed <= 61 + 2 * COUNT_OF(ways); seed++) {
        random_script(seed, 300, 2, text, sizeof text);
        fl_trace *trace = read_text();
        size_t way = seed % COUNT_OF(ways);
        fl_capacity_options options = options_of(ways[way].conf, ways[way].fraction);
        fl_capacity all = find(trace, &options);
        options.extent = FL_CAPACITY_SMALLEST;
        fl_capacity smallest = find(trace, &options);
        assert_int_equal(all.smallest_card_bytes, smallest.smallest_card_bytes);
        assert_int_equal(smallest.lowest_fit_bytes, FL_UNLIMITED);
        assert_true(smallest.count <= all.count);
        if (smallest.count > 1)
            assert_false(smallest.items[0].works);
        fl_capacity_deinit(&all);
        fl_capacity_deinit(&smallest);
        fl_trace_free(trace);
    }
}

static void it_fits_is_not_monotonic(void **state)
{
    (void)state;
    /* On 86 MiB the second block is asked for anew; on 96 it fits beside the first one's cache,
     * which is then too small for the third. */
    fl_trace *trace = read_script("a 1 40MiB\nf 1\na 2 20MiB\na 3 24MiB\nf 2\na 4 40MiB\n");
    fl_capacity_options options = options_of(NULL, -1);
    fl_capacity capacity = find(trace, &options);
    assert_true(capacity.lowest_fit_bytes <= capacity.smallest_card_bytes);
    for (uint64_t card = STEP; card < 160 * MIB; card += STEP)
        assert_replay_agrees(trace, &options, &capacity, card);
    fl_capacity_deinit(&capacity);
    fl_trace_free(trace);
}

static void an_empty_trace_runs_on_any_card(void **state)
{
    (void)state;
    fl_trace *trace = read_script("m nothing\n");
    fl_capacity_options options = options_of(NULL, -1);
    fl_capacity capacity = find(trace, &options);
    assert_int_equal(capacity.smallest_card_bytes, 1);
    assert_int_equal(capacity.lowest_fit_bytes, 1);
    fl_capacity_deinit(&capacity);
    fl_trace_free(trace);
}

static void what_no_card_serves_has_no_smallest_card(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1MiB\nF 0\na 2 1MiB\na 3 3MiB\n");
    fl_capacity_options options = options_of(NULL, -1);
    fl_capacity capacity = find(trace, &options);
    assert_int_equal(capacity.smallest_card_bytes, FL_UNLIMITED);
    assert_int_equal(capacity.lowest_fit_bytes, FL_UNLIMITED);
    assert_whole(&capacity);
    fl_capacity_deinit(&capacity);
    fl_trace_free(trace);
    trace = read_script("a 1 18446744073709551615\n");
    capacity = find(trace, &options);
    assert_int_equal(capacity.smallest_card_bytes, FL_UNLIMITED);
    fl_capacity_deinit(&capacity);
    fl_trace_free(trace);
}

static void memory_outside_counts(void **state)
{
    (void)state;
    fl_trace *trace = read_script("o 100MiB\na 1 20MiB\nf 1\no 0\na 2 50MiB\n");
    fl_capacity_options options = options_of(NULL, -1);
    fl_capacity capacity = find(trace, &options);
    assert_int_equal(capacity.smallest_card_bytes, 120 * MIB);
    fl_capacity_deinit(&capacity);
    fl_trace_free(trace);
}

static void another_allocator_is_asked_as_well(void **state)
{
    (void)state;
    random_script(5, 200, 1, text, sizeof text);
    fl_trace *trace = read_text();
    fl_capacity_options options = options_of(NULL, -1);
    options.replay.policy = fl_policy_find("passthrough");
    fl_capacity capacity = find(trace, &options);
    fl_replay_summary summary = replay_on(trace, &options, FL_UNLIMITED);
    assert_true(capacity.smallest_card_bytes >= summary.peak.requested_bytes);
    assert_int_equal(capacity.step_bytes, 0);
    assert_int_equal(capacity.items[capacity.count - 1].alloc_retries, FL_UNLIMITED);
    fl_capacity_deinit(&capacity);
    fl_trace_free(trace);
}

static void where_a_limit_is_part_of_the_card_the_steps_are_told(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 50MiB\n");
    fl_capacity_options options = options_of(NULL, 0.5);
    fl_capacity capacity = find(trace, &options);
    assert_int_equal(capacity.step_bytes, STEP);
    assert_int_equal(capacity.smallest_card_bytes, 100 * MIB);
    fl_capacity_deinit(&capacity);
    fl_trace_free(trace);
}

/* Two candidates that could grow: an ordinary segment does not, and a range of a size of its own is
 * the same on every card.  So no step is needed, and none of 8 million tried. */
static void ranges_that_no_card_makes_larger_need_no_steps(void **state)
{
    (void)state;
    static const struct {
        const char *conf, *script;
        uint64_t smallest;
    } cases[] = {
        {"",
         "a 1 8704 1\na 2 2795287 2\na 3 36864 2\na 4 939 2\na 5 853607 3\n"
         "C roundup_power2_divisions:2,expandable_segments:True\n"
         "a 6 10485254 2\na 7 115343872 2\na 8 5272019 2\nf 6\nf 7\n"
         "a 9 125829120 2\na 10 125829120 3\na 11 2928983 2\n",
         306 * MIB},
        {"expandable_segments:True,expandable_segments_reserve:0.1G",
         "a 1 60MiB\na 2 60MiB\nf 1\nf 2\na 3 70MiB\na 4 70MiB\na 5 3MiB\n", 160 * MIB},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        fl_trace *trace = read_script(cases[i].script);
        fl_capacity_options options = options_of(cases[i].conf, -1);
        fl_capacity capacity = find(trace, &options);
        assert_int_equal(capacity.step_bytes, 0);
        assert_int_equal(capacity.smallest_card_bytes, cases[i].smallest);
        for (uint64_t card = STEP; card < 400 * MIB; card += STEP)
            assert_replay_agrees(trace, &options, &capacity, card);
        fl_capacity_deinit(&capacity);
        fl_trace_free(trace);
    }
}

static bool stop_soon(void *user, uint64_t done, uint64_t total)
{
    unsigned *calls = user;
    assert_true(done <= total);
    return ++*calls < 3;
}

/* Several threads may be done before the one that tells of it had its third turn. */
static void stop_the_search(const fl_trace *trace, fl_capacity_extent extent, unsigned jobs)
{
    unsigned calls = 0;
    fl_capacity_options options = options_of("max_split_size_mb:20", -1);
    options.extent = extent;
    options.jobs = jobs;
    options.progress = stop_soon;
    options.user = &calls;
    fl_capacity capacity = {.count = 77};
    fl_error error = {0};
    fl_status status = fl_capacity_find(trace, &options, &capacity, &error);
    if (jobs > 1 && status == FL_OK) {
        assert_true(calls < 3);
        fl_capacity_deinit(&capacity);
        return;
    }
    assert_int_equal(status, FL_ERR_NO);
    assert_string_equal(error.text, "the search was stopped");
    assert_int_equal(capacity.count, 77);
    assert_int_equal(calls, 3);
}

static void progress_can_end_the_search(void **state)
{
    (void)state;
    random_script(7, 300, 2, text, sizeof text);
    fl_trace *trace = read_text();
    for (unsigned jobs = 1; jobs <= 2; jobs++) {
        stop_the_search(trace, FL_CAPACITY_ALL, jobs);
        stop_the_search(trace, FL_CAPACITY_SMALLEST, jobs);
    }
    fl_trace_free(trace);
}

static void what_cannot_be_replayed_is_said(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 1\nf 1\n");
    fl_capacity_options options = options_of("max_split_size_mb:19", -1);
    fl_capacity capacity;
    fl_error error = {0};
    assert_int_equal(fl_capacity_find(trace, &options, &capacity, &error), FL_ERR_USAGE);
    assert_int_equal(fl_capacity_find(trace, NULL, &capacity, NULL), FL_ERR_USAGE);
    fl_trace_free(trace);
}

static fl_status find_with(const fl_host *host, void *user, fl_error *error)
{
    fl_capacity_options options = options_of("max_split_size_mb:25", -1);
    options.replay.host = host;
    fl_capacity capacity = {0};
    fl_status status = fl_capacity_find(user, &options, &capacity, error);
    fl_capacity_deinit(&capacity);
    return status;
}

static void a_failing_host_is_reported_and_leaves_nothing(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 40MiB\nf 1\na 2 20MiB\na 3 24MiB\nf 2\na 4 40MiB\n");
    assert_true(failing_host_sweep(find_with, trace) > 20);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_card_of_the_curve_is_as_a_replay_on_it),
        cmocka_unit_test(threads_find_the_same),
        cmocka_unit_test(the_smallest_card_alone_is_the_same),
        cmocka_unit_test(it_fits_is_not_monotonic),
        cmocka_unit_test(an_empty_trace_runs_on_any_card),
        cmocka_unit_test(what_no_card_serves_has_no_smallest_card),
        cmocka_unit_test(memory_outside_counts),
        cmocka_unit_test(another_allocator_is_asked_as_well),
        cmocka_unit_test(where_a_limit_is_part_of_the_card_the_steps_are_told),
        cmocka_unit_test(ranges_that_no_card_makes_larger_need_no_steps),
        cmocka_unit_test(progress_can_end_the_search),
        cmocka_unit_test(what_cannot_be_replayed_is_said),
        cmocka_unit_test(a_failing_host_is_reported_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
