#include "diagnosing.h"
#include "random_script.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_pins(const char *script, uint64_t card, const char *expected)
{
    diagnosing d = diagnose_script(script, card);
    char got[128] = "";
    size_t used = 0;
    for (size_t i = 0; i < d.diagnosis.pins.count; i++)
        used += (size_t)snprintf(got + used, sizeof got - used, "%s%" PRIu64, used > 0 ? " " : "",
                                 fl_trace_original_id(d.trace, 0, d.diagnosis.pins.items[i].id));
    assert_string_equal(got, expected);
    assert_true(d.diagnosis.pins.count == 0 || pins_let_it_succeed(&d));
    diagnosing_close(&d);
}

static void the_cheapest_pins_of_the_own_pool_and_stream_are_told(void **state)
{
    (void)state;
    assert_pins("a 1 8MiB\na 2 4MiB\na 3 8MiB\nf 1\nf 3\na 4 16MiB\n", MIB(20), "2");
}

static void a_segment_that_goes_back_helps_too(void **state)
{
    (void)state;
    /* On another stream; and of the small pool, with what the card has left. */
    assert_pins("a 1 8MiB 64\na 2 8MiB 64\nf 1\na 3 20MiB\n", MIB(38), "2");
    assert_pins("a 1 1\na 2 18MiB\na 3 19MiB\n", MIB(38), "1");
}

static void several_segments_go_back_together_where_one_is_not_enough(void **state)
{
    (void)state;
    assert_pins("a 1 12MiB\na 2 12MiB\na 3 12MiB\na 4 24MiB\n", MIB(36), "2 1");
}

static void without_anything_live_there_are_no_pins(void **state)
{
    (void)state;
    assert_pins("a 1 8MiB\nf 1\na 2 50MiB\n", MIB(40), "");
}

/* A window of 70 MiB would be above the split limit, and be refused. */
static void what_the_split_limit_forbids_is_no_room(void **state)
{
    (void)state;
    fl_replay_options options = options_on(MIB(64));
    options.conf = "max_split_size_mb:40";
    diagnosing d =
        diagnose_with("a 1 38MiB\na 2 20MiB\nf 1\na 3 8MiB\nf 3\na 4 38MiB\na 5 6MiB\n", &options);
    assert_true(!d.diagnosis.summary.has_oom || d.diagnosis.pins.count == 0 ||
                pins_let_it_succeed(&d));
    diagnosing_close(&d);
}

static void every_segment_is_listed_with_its_cheapest_set(void **state)
{
    (void)state;
    diagnosing d =
        diagnose_script("a 1 8MiB\na 2 4MiB\na 3 8MiB\na 4 30MiB\nf 1\nf 3\na 5 16MiB\n", MIB(50));
    assert_int_equal(d.diagnosis.segments.count, 2);
    assert_int_equal(d.diagnosis.segments.items[0].pinned_bytes, MIB(4));
    assert_int_equal(d.diagnosis.segments.items[0].gained_bytes, MIB(20));
    assert_int_equal(d.diagnosis.segments.items[1].pinned_bytes, MIB(30));
    diagnosing_close(&d);
}

/* ---- freeing exactly the pins lets the request succeed --------------------------------------- */

static void the_zoo_succeeds_without_its_pins(void **state)
{
    (void)state;
    static const struct {
        const char *trace;
        unsigned card;
    } zoo[] = {
        {"T01", 23930}, {"T02", 1694},   {"T03ab", 1400}, {"T03ba", 1100}, {"T04", 5500},
        {"T05", 7200},  {"T06", 53248},  {"T07", 2110},   {"T08", 9696},   {"T09", 10000},
        {"T10", 1762},  {"T11", 54100},  {"T12", 1114},   {"T13", 320},    {"T14", 42432},
        {"T15", 20696}, {"T15e", 10788}, {"T16", 6872},   {"T17", 158},    {"T18", 31460},
    };
    for (size_t i = 0; i < COUNT_OF(zoo); i++) {
        char path[64];
        snprintf(path, sizeof path, "traces/zoo/%s.txt", zoo[i].trace);
        diagnosing d = diagnose_file(path, MIB(zoo[i].card) - MIB(2));
        assert_true(d.diagnosis.summary.has_oom);
        bool has_live = d.diagnosis.points[FL_POINT_OOM].totals.allocated_bytes > 0;
        assert_int_equal(d.diagnosis.pins.count > 0, has_live);
        if (has_live && !pins_let_it_succeed(&d))
            fail_msg("%s: the pins do not let it succeed", zoo[i].trace);
        diagnosing_close(&d);
    }
}

static void random_programs_succeed_without_their_pins(void **state)
{
    (void)state;
    static const char *const confs[] = {NULL, "max_split_size_mb:32", "expandable_segments:True",
                                        "max_split_size_mb:64,expandable_segments:True"};
    enum { OPERATIONS = 200 };
    static char script[OPERATIONS * 32];
    size_t refused = 0, explained = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        random_script(seed, OPERATIONS, 1 + (unsigned)(seed % 3), script, sizeof script);
        for (size_t i = 0; i < COUNT_OF(confs); i++) {
            fl_replay_options options = options_on(FL_UNLIMITED);
            options.conf = confs[i];
            diagnosing whole = diagnose_with(script, &options);
            uint64_t card = whole.diagnosis.summary.peak.reserved_bytes / 2;
            diagnosing_close(&whole);
            options.capacity_bytes = card - card % MIB(2);
            diagnosing d = diagnose_with(script, &options);
            refused += d.diagnosis.summary.has_oom;
            explained += d.diagnosis.pins.count > 0;
            if (d.diagnosis.pins.count > 0 && !pins_let_it_succeed(&d))
                fail_msg("seed %" PRIu64 ", '%s': the pins do not let it succeed", seed,
                         confs[i] != NULL ? confs[i] : "");
            diagnosing_close(&d);
        }
    }
    assert_true(refused > 80);
    assert_true(explained * 10 >= refused * 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheapest_pins_of_the_own_pool_and_stream_are_told),
        cmocka_unit_test(a_segment_that_goes_back_helps_too),
        cmocka_unit_test(several_segments_go_back_together_where_one_is_not_enough),
        cmocka_unit_test(without_anything_live_there_are_no_pins),
        cmocka_unit_test(what_the_split_limit_forbids_is_no_room),
        cmocka_unit_test(every_segment_is_listed_with_its_cheapest_set),
        cmocka_unit_test(the_zoo_succeeds_without_its_pins),
        cmocka_unit_test(random_programs_succeed_without_their_pins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
