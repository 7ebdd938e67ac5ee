#include "rebuild/explain.h"

#include "recording.h"
#include "test.h"

#include <string.h>

/* Records a script whose segments begin at 0x7f0000000000, spoils it, and verifies. */
static fl_difference difference_of(const char *script, void (*spoil)(fl_trace *trace))
{
    recording run;
    recording_make(&run, "spoilt", script, strlen(script));
    spoil(run.trace);
    fl_verdict verdict;
    fl_error error = {0};
    if (fl_verify(run.trace, 0, NULL, NULL, &verdict, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_true(verdict.has_difference);
    recording_free(&run);
    return verdict.first_difference;
}

static void assert_difference(const fl_difference *difference, const char *expected,
                              const char *got, const char *because)
{
    assert_string_equal(difference->expected, expected);
    assert_string_equal(difference->got, got);
    assert_string_equal(difference->because, because);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static uint64_t last_of(const fl_trace *trace, uint8_t kind)
{
    const fl_columns *columns = fl_trace_columns(trace, 0);
    uint64_t event = columns->count;
    do
        assert_true(event-- > 0);
    while (columns->kind[event] != kind);
    return event;
}

static uint64_t claimed_address;

/* The record claims that the last request landed elsewhere. */
static void claim_address(fl_trace *trace)
{
    fl_trace_columns(trace, 0)->address[last_of(trace, FL_OP_ALLOC)] = claimed_address;
}

static void assert_address_because(const char *script, uint64_t claimed, const char *because)
{
    claimed_address = claimed;
    fl_difference difference = difference_of(script, claim_address);
    assert_string_equal(difference.because, because);
}

/* One segment of 20 MiB: 3 MiB free, 1.5 MiB, 6 MiB free, 1.5 MiB, 8 MiB free. */
#define HOLES "# cap=1GiB conf=\na 1 3MiB\na 2 1536KiB\na 3 6MiB\na 4 1536KiB\nf 3\nf 1\n"

static void the_state_of_the_recorded_place_is_the_reason(void **state)
{
    (void)state;
    assert_address_because(HOLES "a 5 5MiB\n", 0x7f0000000000,
                           "the block at 0x7f0000000000 of 3.00 MiB was free and smaller than the "
                           "5.00 MiB asked for");
    assert_address_because(HOLES "a 5 5MiB\n", 0x7f0000c00000,
                           "the block at 0x7f0000c00000 of 8.00 MiB was free and larger; for 5.00 "
                           "MiB the smallest that fits is taken");
    assert_address_because(HOLES "a 5 5MiB\n", 0x7f0000300000,
                           "the block at 0x7f0000300000 of 1.50 MiB was still in use by allocation "
                           "1");
    assert_address_because(HOLES "a 5 5MiB\n", 0x7f0000480200,
                           "0x7f0000480200 lies inside of the block at 0x7f0000480000 of 6.00 MiB "
                           "that the replay took");
    assert_address_because(HOLES "a 5 5MiB\n", 0x7f0000d00000,
                           "0x7f0000d00000 lies inside of the free block at 0x7f0000c00000 of 8.00 "
                           "MiB");
    assert_address_because(HOLES "a 5 5MiB\n", 0x7f0009000000,
                           "the replay has no memory at 0x7f0009000000");
    assert_address_because(HOLES "a 5 5MiB 64\n", 0x7f0000480000,
                           "the block at 0x7f0000480000 of 6.00 MiB was free, but belongs to "
                           "another stream (asked: 5.00 MiB)");
    assert_address_because(
        HOLES "a 5 1000\n", 0x7f0000000000,
        "the block at 0x7f0000000000 of 3.00 MiB was free, but in the other pool "
        "(asked: 1.00 KiB)");
    assert_address_because(HOLES "r 2 64\np\nf 2\na 5 5MiB\n", 0x7f0000300000,
                           "the block at 0x7f0000300000 of 1.50 MiB was freed, but waited for "
                           "another stream");
}

static void an_address_shows_what_was_asked_and_both_places(void **state)
{
    (void)state;
    claimed_address = 0x7f0000000000;
    fl_difference difference = difference_of(HOLES "a 5 5MiB\n", claim_address);
    assert_string_equal(difference.expected, "5.00 MiB at 0x7f0000000000");
    assert_string_equal(difference.got, "0x7f0000480000");
}

static void flip_refusal(fl_trace *trace)
{
    fl_trace_columns(trace, 0)->flags[last_of(trace, FL_OP_ALLOC)] ^= FL_EVENT_OOM;
}

static void a_refusal_on_one_side_is_said(void **state)
{
    (void)state;
    fl_difference difference = difference_of(HOLES "a 5 5MiB\n", flip_refusal);
    assert_difference(&difference, "5.00 MiB refused", "0x7f0000480000",
                      "the replay had a place for it: the block at 0x7f0000480000, now 6.00 MiB");
    difference = difference_of("# cap=30MiB conf=\na 1 20MiB\na 2 20MiB\n", flip_refusal);
    assert_difference(&difference, "20.00 MiB at 0x0", "refused",
                      "the replay has no memory at 0x0");
}

/* ---- segments -------------------------------------------------------------------------------- */

static void spoil_segment_address(fl_trace *trace)
{
    fl_trace_columns(trace, 0)->address[last_of(trace, FL_EVENT_SEGMENT_FREE)] += 512;
}

static void another_step_than_the_recorded_one_shows_both(void **state)
{
    (void)state;
    fl_difference difference =
        difference_of("# cap=1GiB conf=\na 1 20MiB\nf 1\ne\n", spoil_segment_address);
    assert_difference(&difference, "segment_free of 20.00 MiB at 0x7f0000000200 on stream 0",
                      "segment_free of 20.00 MiB at 0x7f0000000000 on stream 0",
                      "the replay took another step at this point of the same operation");
}

static void forget_segment(fl_trace *trace)
{
    fl_trace_columns(trace, 0)->kind[last_of(trace, FL_EVENT_SEGMENT_FREE)] = FL_EVENT_OTHER;
}

static void a_step_that_was_not_recorded_is_said(void **state)
{
    (void)state;
    fl_difference difference =
        difference_of("# cap=1GiB conf=\na 1 20MiB\na 2 40MiB 64\nf 1\nf 2\ne\n", forget_segment);
    assert_difference(&difference, "no step with the device",
                      "segment_free of 40.00 MiB at 0x7f0001400000 on stream 64",
                      "the record shows no such step before event 9");
}

/* The last event becomes a step that the replay will not take. */
static void claim_release(fl_trace *trace)
{
    const fl_columns *columns = fl_trace_columns(trace, 0);
    uint64_t event = columns->count - 1;
    columns->kind[event] = FL_EVENT_SEGMENT_FREE;
    columns->address[event] = claimed_address;
    columns->size[event] = 20 << 20;
    columns->id[event] = FL_NONE;
}

static void a_release_that_did_not_come_says_what_was_in_the_way(void **state)
{
    (void)state;
    claimed_address = 0x7f0000000000;
    fl_difference difference =
        difference_of("# cap=1GiB conf=\na 1 5MiB\na 2 5MiB\na 3 1\na 4 1\n", claim_release);
    assert_difference(&difference, "segment_free of 20.00 MiB at 0x7f0000000000 on stream 0",
                      "no step with the device",
                      "in the replay 2 blocks of that segment were in use or waiting");
    claimed_address = 0x7f0123400000;
    difference =
        difference_of("# cap=1GiB conf=\na 1 5MiB\na 2 5MiB\na 3 1\na 4 1\n", claim_release);
    assert_string_equal(difference.because, "the replay has no memory at 0x7f0123400000");
}

static void claim_segment(fl_trace *trace)
{
    const fl_columns *columns = fl_trace_columns(trace, 0);
    uint64_t event = columns->count - 2;
    columns->kind[event] = FL_EVENT_SEGMENT_ALLOC;
    columns->size[event] = 20 << 20;
}

static void a_segment_that_was_not_needed_says_what_served_the_request(void **state)
{
    (void)state;
    fl_difference difference =
        difference_of("# cap=1GiB conf=\na 1 5MiB\na 2 1\na 3 3MiB\n", claim_segment);
    assert_string_equal(difference.got, "no step with the device");
    assert_string_equal(difference.because,
                        "the replay served the request from its cache, at 0x7f0000500000");
}

/* ---- the final state ------------------------------------------------------------------------- */

static void spoil_final_block(fl_trace *trace)
{
    trace->devices.items[0].blocks.items[0].requested = 17;
}

static void spoil_final_segment(fl_trace *trace)
{
    trace->devices.items[0].segments.items[0].is_expandable = true;
}

static void forget_final_block(fl_trace *trace)
{
    trace->devices.items[0].blocks.count--;
}

static void the_final_state_shows_both_pictures(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\na 1 5MiB\n";
    static const char because[] =
        "every recorded step before was the same, so the snapshot shows more than its history";
    fl_difference difference = difference_of(script, spoil_final_block);
    assert_difference(&difference, "live block at 0x7f0000000000 of 5.00 MiB, 17 bytes asked for",
                      "live block at 0x7f0000000000 of 5.00 MiB, 5242880 bytes asked for", because);
    difference = difference_of(script, spoil_final_segment);
    assert_difference(&difference,
                      "large expandable segment at 0x7f0000000000 of 20.00 MiB on stream 0",
                      "large segment at 0x7f0000000000 of 20.00 MiB on stream 0", because);
    difference = difference_of(script, forget_final_block);
    assert_difference(&difference, "nothing there", "free block at 0x7f0000500000 of 15.00 MiB",
                      because);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_state_of_the_recorded_place_is_the_reason),
        cmocka_unit_test(an_address_shows_what_was_asked_and_both_places),
        cmocka_unit_test(a_refusal_on_one_side_is_said),
        cmocka_unit_test(another_step_than_the_recorded_one_shows_both),
        cmocka_unit_test(a_step_that_was_not_recorded_is_said),
        cmocka_unit_test(a_release_that_did_not_come_says_what_was_in_the_way),
        cmocka_unit_test(a_segment_that_was_not_needed_says_what_served_the_request),
        cmocka_unit_test(the_final_state_shows_both_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
