#include "trace/told.h"

#include "test.h"

#include <fraglab/read.h>

#include <string.h>

static fl_trace *read_text(const char *text, fl_error *error)
{
    fl_trace *trace = NULL;
    fl_read_options options = {.format = "script"};
    return fl_read_memory(text, strlen(text), "s", &options, &trace, error) == FL_OK ? trace : NULL;
}

static void what_is_between_blocks_is_free(void **state)
{
    (void)state;
    fl_trace *trace = read_text("S 0x1000 16384 0 small=1\nB 3 0x1200 512 100\n"
                                "B 4 0x2000 1024 1000 pending=1\nf 3\n",
                                NULL);
    assert_non_null(trace);
    const fl_trace_start *start = &trace->devices.items[0].start;
    assert_true(start->is_placed);
    assert_false(fl_trace_is_complete(trace, 0));
    static const struct {
        fl_block_state state;
        uint32_t id;
        uint64_t address, size;
    } rows[] = {
        {FL_BLOCK_FREE, FL_NONE, 0x1000, 0x200},  {FL_BLOCK_LIVE, 0, 0x1200, 512},
        {FL_BLOCK_FREE, FL_NONE, 0x1400, 0xC00},  {FL_BLOCK_PENDING, 1, 0x2000, 1024},
        {FL_BLOCK_FREE, FL_NONE, 0x2400, 0x2C00},
    };
    assert_int_equal(start->blocks.count, COUNT_OF(rows));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(start->blocks.items[i].state, rows[i].state);
        assert_int_equal(start->blocks.items[i].id, rows[i].id);
        assert_int_equal(start->blocks.items[i].address, rows[i].address);
        assert_int_equal(start->blocks.items[i].size, rows[i].size);
    }
    assert_int_equal(start->in_use.count, 2);
    fl_trace_free(trace);
}

static void runs_of_one_base_are_of_one_range(void **state)
{
    (void)state;
    fl_trace *trace = read_text("S 0x200000 2MiB 0 small=1 base=0x200000 page=2MiB\n"
                                "S 0x600000 2MiB 0 small=1 base=0x200000 page=2MiB\n"
                                "S 0x10000000 20MiB 0\n",
                                NULL);
    assert_non_null(trace);
    const fl_trace_start *start = &trace->devices.items[0].start;
    assert_int_equal(start->ranges.count, 2);
    assert_int_equal(start->segments.items[0].segment, 0);
    assert_int_equal(start->segments.items[1].segment, 0);
    assert_int_equal(start->segments.items[2].segment, 1);
    assert_int_equal(start->ranges.items[0].room, 0x10000000 - 0x200000);
    assert_true(start->ranges.items[1].room == UINT64_MAX);
    fl_trace_free(trace);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"B 1 0x1000 512 512\n", "s:1: a block before its segment"},
        {"S 0x1000 0 0\n", "s:1: a segment of no bytes, or beyond 2^64"},
        {"S 0xffffffffffffff00 512 0\n", "s:1: a segment of no bytes, or beyond 2^64"},
        {"S 0x4000 4096 0\nS 0x4800 4096 0\n",
         "s:2: a segment at 0x4800 does not lie behind the one before"},
        {"S 0x4000 4096 0\nB 1 0x4200 512 1\nB 2 0x4300 512 1\n",
         "s:3: a block at 0x4300 does not lie behind the one before"},
        {"S 0x4000 4096 0\nB 1 0x4e00 1024 1\n",
         "s:2: the block at 0x4e00 does not fit its segment"},
        {"S 0x4000 4096 0\nB 1 0x4200 512 513\n",
         "s:2: 513 bytes asked for in a block of 512 bytes"},
        {"S 0x4000 4096 0\nB 1 0x4200 512 1\nB 1 0x4800 512 1\n", "s:3: id 1 is live already"},
        {"S 0x4000 4096 0\na 1 512\nB 2 0x4200 512 1\n",
         "s:3: what was there before the first operation comes before it"},
        {"S 0x4000 4096 0\nB 1 0x4200 512 1 pending=1\nf 1\n",
         "s:3: free of id 1 which is not live"},
        {"S 0x4000 4096 0 base=0x5000 page=4096\n", "s:1: the base of a segment lies above it"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_error error = {0};
        assert_null(read_text(rows[i].text, &error));
        assert_string_equal(error.text, rows[i].message);
        assert_int_equal(error.status, FL_ERR_INPUT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_between_blocks_is_free),
        cmocka_unit_test(runs_of_one_base_are_of_one_range),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
