#include "rebuild/look.h"

#include "test.h"

#include <fraglab/read.h>

#include <string.h>

#define BASE   UINT64_C(0x7f0000000000)
#define MIB(n) ((uint64_t)(n) << 20)

static fl_look look_after_by(fl_status (*look_by)(const fl_replay *replay, uint64_t address,
                                                  fl_look *ret_look, fl_error *error),
                             const char *script, uint64_t address)
{
    fl_trace *trace = NULL;
    fl_replay *replay = NULL;
    fl_replay_options options = {.fraction = -1, .capacity_bytes = MIB(1024)};
    assert_int_equal(fl_read_memory(script, strlen(script), "s", NULL, &trace, NULL), FL_OK);
    assert_int_equal(fl_replay_open(trace, &options, &replay, NULL), FL_OK);
    assert_int_equal(fl_replay_run(replay, NULL), FL_OK);
    fl_look look;
    assert_int_equal(look_by(replay, address, &look, NULL), FL_OK);
    fl_replay_close(replay);
    fl_trace_free(trace);
    return look;
}

static fl_look look_after(const char *script, uint64_t address)
{
    return look_after_by(fl_look_at, script, address);
}

static void a_block_is_seen_with_its_neighbours(void **state)
{
    (void)state;
    fl_look look = look_after("a 1 3MiB\na 2 2MiB\na 3 4MiB\nf 3\n", BASE + MIB(3));
    assert_true(look.found);
    assert_int_equal(look.before.address, BASE);
    assert_int_equal(look.before.state, FL_BLOCK_LIVE);
    assert_int_equal(look.block.size, MIB(2));
    assert_int_equal(look.behind.state, FL_BLOCK_FREE);
    assert_int_equal(look.behind.size, MIB(15));
    assert_int_equal(look.segment.address, BASE);
    assert_int_equal(fl_look_size_before(&look), MIB(17));
}

static void a_segment_has_no_neighbours(void **state)
{
    (void)state;
    fl_look look = look_after("a 1 20MiB\na 2 20MiB\na 3 20MiB\n", BASE + MIB(20));
    assert_true(look.found);
    assert_int_equal(look.before.size, 0);
    assert_int_equal(look.behind.size, 0);
    assert_int_equal(fl_look_size_before(&look), MIB(20));
}

static void nothing_begins_inside_of_a_block(void **state)
{
    (void)state;
    assert_false(look_after("a 1 20MiB\n", BASE + 512).found);
}

static void a_block_is_found_by_any_address_in_it(void **state)
{
    (void)state;
    static const char script[] = "a 1 3MiB\na 2 2MiB\n";
    fl_look look = look_after_by(fl_look_around, script, BASE + MIB(5) - 1);
    assert_true(look.found);
    assert_int_equal(look.block.address, BASE + MIB(3));
    assert_int_equal(look.before.address, BASE);
    assert_int_equal(look.behind.address, BASE + MIB(5));
    assert_false(look_after_by(fl_look_around, script, BASE - 1).found);
    assert_false(look_after_by(fl_look_around, script, BASE + MIB(20)).found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_seen_with_its_neighbours),
        cmocka_unit_test(a_segment_has_no_neighbours),
        cmocka_unit_test(nothing_begins_inside_of_a_block),
        cmocka_unit_test(a_block_is_found_by_any_address_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
