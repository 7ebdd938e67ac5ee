#include "failing_host.h"
#include "test.h"
#include "trace/trace.h"

#include <fraglab/read.h>
#include <fraglab/verify.h>

#include <string.h>

static fl_trace *read_text(const char *text, const fl_host *host)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options options = {.host = host, .format = "script"};
    if (fl_read_memory(text, strlen(text), "s", &options, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static fl_replay_options options_for(const char *conf)
{
    return (fl_replay_options){
        .conf = conf, .fraction = -1, .capacity_bytes = FL_UNLIMITED, .start = FL_START_RECORDED};
}

static void what_is_there_in_the_middle_is_the_start(void **state)
{
    (void)state;
    fl_trace *trace = read_text("a 1 512\na 2 600\nf 1\na 3 12MiB\na 4 512\n", NULL);
    fl_replay_options options = options_for(NULL);
    assert_int_equal(fl_start_at(trace, 0, NULL, 4, &options, NULL), FL_OK);
    const fl_trace_start *start = &trace->devices.items[0].start;
    assert_int_equal(start->event, 4);
    assert_int_equal(start->segments.count, 2);
    assert_int_equal(start->ranges.count, 2);
    assert_int_equal(start->ranges.items[0].page, 0);
    static const struct {
        fl_block_state state;
        uint32_t id;
        uint64_t size;
    } rows[] = {
        {FL_BLOCK_FREE, FL_NONE, 512},
        {FL_BLOCK_LIVE, 1, 1024},
        {FL_BLOCK_FREE, FL_NONE, 2097152 - 1536},
        {FL_BLOCK_LIVE, 2, 12582912},
    };
    assert_int_equal(start->blocks.count, COUNT_OF(rows));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(start->blocks.items[i].state, rows[i].state);
        assert_int_equal(start->blocks.items[i].id, rows[i].id);
        assert_int_equal(start->blocks.items[i].size, rows[i].size);
    }
    fl_trace_free(trace);
}

static void expandable_segments_keep_their_base_and_page(void **state)
{
    (void)state;
    fl_trace *trace = read_text("a 1 512\na 2 30MiB\nf 2\na 3 512\n", NULL);
    fl_replay_options options = options_for("expandable_segments:True");
    assert_int_equal(fl_start_at(trace, 0, NULL, 3, &options, NULL), FL_OK);
    const fl_trace_start *start = &trace->devices.items[0].start;
    assert_int_equal(start->ranges.count, 2);
    assert_int_equal(start->ranges.items[0].page, 2 << 20);
    assert_int_equal(start->ranges.items[1].page, 20 << 20);
    assert_int_equal(start->ranges.items[0].address, start->segments.items[0].address);
    assert_true(start->ranges.items[1].room == UINT64_MAX);
    fl_trace_free(trace);
}

/* The second comes back at its place, but is then the youngest. */
static void blocks_keep_their_ages_where_these_decide(void **state)
{
    (void)state;
    static const char text[] = "a 1 20MiB\na 2 20MiB\na 3 20MiB\nf 2\ne\na 4 20MiB\n"
                               "f 1\nf 4\nf 3\na 5 20MiB\n";
    fl_trace *trace = read_text(text, NULL);
    fl_replay_options options = options_for(NULL);
    bool is_exact;
    assert_int_equal(fl_profile_find("2.12.0", &options.profile, &is_exact, NULL), FL_OK);
    assert_int_equal(fl_start_at(trace, 0, NULL, 9, &options, NULL), FL_OK);
    const fl_trace_start *start = &trace->devices.items[0].start;
    assert_int_equal(start->births.count, 3);
    assert_true(start->births.items[0] == start->blocks.items[0].address);
    assert_true(start->births.items[1] == start->blocks.items[2].address);
    assert_true(start->births.items[2] == start->blocks.items[1].address);
    fl_trace_free(trace);
}

/* The free is asked again, so that it waits for the same as before. */
static void a_block_that_waits_is_woken(void **state)
{
    (void)state;
    fl_trace *trace = read_text("a 1 512\nr 1 64\np\nf 1\na 2 512\n", NULL);
    fl_replay_options options = options_for(NULL);
    assert_int_equal(fl_start_at(trace, 0, NULL, 4, &options, NULL), FL_OK);
    const fl_trace_start *start = &trace->devices.items[0].start;
    assert_int_equal(start->blocks.items[0].state, FL_BLOCK_LIVE);
    options.first_event = 4;
    options.end_event = 5;
    fl_replay *replay = NULL;
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    fl_replay_summary summary;
    fl_replay_get_summary(replay, &summary);
    assert_int_equal(summary.events, 1);
    assert_int_equal(summary.allocs, 1);
    assert_int_equal(summary.frees, 0);
    assert_int_equal(summary.end.active_bytes, 1024);
    assert_int_equal(summary.end.allocated_bytes, 512);
    fl_replay_close(replay);
    fl_trace_free(trace);
}

static fl_status start_with(const fl_host *host, void *user, fl_error *error)
{
    const char *text = user;
    fl_trace *trace = NULL;
    fl_read_options reading = {.host = host, .format = "script"};
    fl_status status = fl_read_memory(text, strlen(text), "s", &reading, &trace, error);
    if (status != FL_OK)
        return status;
    fl_replay_options options = options_for(NULL);
    options.host = host;
    status = fl_start_at(trace, 0, NULL, 2, &options, error);
    fl_trace_free(trace);
    return status;
}

static void no_memory_is_told(void **state)
{
    (void)state;
    char text[] = "a 1 512\na 2 12MiB\nf 1\n";
    assert_true(failing_host_sweep(start_with, text) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_in_the_middle_is_the_start),
        cmocka_unit_test(expandable_segments_keep_their_base_and_page),
        cmocka_unit_test(blocks_keep_their_ages_where_these_decide),
        cmocka_unit_test(a_block_that_waits_is_woken),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
