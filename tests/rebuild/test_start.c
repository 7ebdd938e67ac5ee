#include "recording.h"
#include "test.h"

#include "rebuild/start.h"
#include "trace/build.h"

#include <fraglab/verify.h>

#include <stdio.h>
#include <string.h>

/* ---- what is there before a cut -------------------------------------------------------------- */

struct shown {
    char text[2048];
    size_t used;
};

static void show(struct shown *shown, const char *format, ...) FL_PRINTF(2, 3);

static void show(struct shown *shown, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length =
        vsnprintf(shown->text + shown->used, sizeof shown->text - shown->used, format, args);
    va_end(args);
    assert_true(length >= 0 && (size_t)length < sizeof shown->text - shown->used);
    shown->used += (size_t)length;
}

static void show_segment(void *user, const fl_segment_view *segment)
{
    show(user, "S %llx %llu%s%s; ", (unsigned long long)segment->address,
         (unsigned long long)segment->size, segment->is_small ? " small" : "",
         segment->is_expandable ? " exp" : "");
}

static void show_block(void *user, const fl_block_view *block)
{
    static const char *const states[] = {"live", "pend", "free"};
    show(user, "B %llu %s; ", (unsigned long long)block->size, states[block->state]);
}

/* The state that a whole recording is in after its first events. */
static void show_truth(const recording *run, uint64_t events, struct shown *ret)
{
    *ret = (struct shown){.used = 0};
    fl_error error = {0};
    fl_replay_options options = {
        .conf = fl_trace_conf(run->trace),
        .fraction = -1,
        .device = fl_device_find("recorded"),
        .capacity_bytes = FL_UNLIMITED,
        .on_oom = FL_ON_OOM_SKIP,
        .end_event = events,
    };
    fl_replay *replay;
    assert_int_equal(fl_rebuild(run->trace, 0, NULL, NULL), FL_OK);
    if (fl_replay_open(run->trace, &options, &replay, &error) != FL_OK ||
        fl_replay_run(replay, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_walk walk = {show_segment, show_block, ret};
    assert_int_equal(fl_replay_walk(replay, &walk, NULL), FL_OK);
    fl_replay_close(replay);
}

static void show_start(fl_trace *trace, struct shown *ret)
{
    *ret = (struct shown){.used = 0};
    fl_error error = {0};
    if (fl_rebuild(trace, 0, NULL, &error) != FL_OK)
        fail_msg("%s", error.text);
    const fl_trace_start *start = &trace->devices.items[0].start;
    assert_true(start->is_placed);
    size_t at = 0;
    for (size_t i = 0; i < start->segments.count; i++) {
        const fl_segment_view *run = &start->segments.items[i];
        show_segment(ret, run);
        while (at < start->blocks.count &&
               start->blocks.items[at].address - run->address < run->size)
            show_block(ret, &start->blocks.items[at++]);
    }
}

static uint64_t count_of(const char *script, recording *ret_run)
{
    recording_make(ret_run, "recording", script, strlen(script));
    return fl_trace_event_count(ret_run->trace, 0);
}

/* Wherever the window begins, every decision in it comes out as recorded; but for one place, 0
 * where there is none. */
static void assert_explained_wherever_cut(const char *script, uint64_t but)
{
    recording run;
    uint64_t count = count_of(script, &run);
    for (uint64_t lost = 1; lost < count; lost++) {
        fl_trace *trace = recording_cut(&run, lost);
        fl_verdict verdict;
        fl_error error = {0};
        if (fl_trace_is_complete(trace, 0) || lost == but) {
            fl_trace_free(trace);
            continue;
        }
        if (fl_verify(trace, 0, NULL, NULL, &verdict, &error) != FL_OK)
            fail_msg("%d lost: %s", (int)lost, error.text);
        if (verdict.has_difference)
            fail_msg("%d lost: event %d: expected %s, got %s: %s", (int)lost,
                     (int)verdict.first_difference.event, verdict.first_difference.expected,
                     verdict.first_difference.got, verdict.first_difference.because);
        assert_false(verdict.is_complete);
        fl_trace_free(trace);
    }
    recording_free(&run);
}

static const char native[] = "# cap=1GiB conf=\na 1 1\na 2 5MiB\na 3 20MiB\na 4 700\nf 2\na 5 "
                             "2MiB\na 6 512KiB\nf 1\nf 3\ne\n"
                             "a 7 30MiB\nf 4\na 8 3MiB\nf 5\nf 6\nf 7\nf 8\ne\na 9 1\n";
static const char expandable[] =
    "# cap=1GiB conf=expandable_segments:True\na 1 30MiB\na 2 25MiB\na 3 700\na 4 5MiB\nf 1\ne\n"
    "a 5 12MiB\nf 2\na 6 61MiB\nf 3\nf 4\ne\na 7 1\nf 6\na 8 19MiB\n";
static const char waiting[] = "# cap=60MiB conf=\na 1 20MiB\nr 1 64\np\nf 1\na 2 1\na 3 8MiB\n"
                              "r 3 64\nf 3\na 4 30MiB\nc\na 5 1\nf 2\nf 4\na 6 50MiB\n";
static const char split[] = "# cap=130MiB conf=max_split_size_mb:32\na 1 40MiB\na 2 60MiB\n"
                            "a 3 22MiB\nf 1\nf 2\nf 3\na 4 90MiB\nf 4\na 5 91MiB\na 6 5MiB\n";

static void wherever_a_window_begins_it_is_explained(void **state)
{
    (void)state;
    assert_explained_wherever_cut(native, 0);
    assert_explained_wherever_cut(expandable, 0);
    assert_explained_wherever_cut(waiting, 0);
    /* There the request had given back one of two segments before: with the other alone it would
     * not have been content. */
    assert_explained_wherever_cut(split, 13);
}

/* After these events, which end an operation, the start state is what was there. */
static void assert_start_is_truth(const char *script, uint64_t lost)
{
    recording run;
    count_of(script, &run);
    struct shown truth, start;
    fl_trace *trace = recording_cut(&run, lost);
    show_truth(&run, lost, &truth);
    show_start(trace, &start);
    assert_string_equal(start.text, truth.text);
    fl_trace_free(trace);
    recording_free(&run);
}

static void the_start_state_is_what_was_there(void **state)
{
    (void)state;
    assert_start_is_truth("# cap=1GiB conf=\na 1 1\na 2 5MiB\nf 1\na 3 2MiB\nf 2\nf 3\n", 4);
    assert_start_is_truth(
        "# cap=1GiB conf=expandable_segments:True\na 1 30MiB\na 2 25MiB\na 3 700\nf 1\nf 2\n", 6);
    assert_start_is_truth("# cap=1GiB conf=\na 1 1\nr 1 64\np\nf 1\na 2 600\nc\na 3 1\n", 3);
}

/* ---- tails ----------------------------------------------------------------------------------- */

/* Block 1 keeps 0.75 MiB behind it: what was left of 5 MiB was too little to be split off. */
static void a_tail_up_to_the_next_block_is_found(void **state)
{
    (void)state;
    assert_start_is_truth("# cap=1GiB conf=\na 1 5MiB\na 2 15MiB\nf 1\na 3 4352KiB\nf 3\na 4 1\n",
                          6);
}

/* Behind the tail of 3 lies a free block; the first request in it shows where it begins. */
static void a_tail_in_front_of_a_free_block_is_found_by_the_next_request(void **state)
{
    (void)state;
    assert_start_is_truth("# cap=1GiB conf=\na 1 5MiB\na 2 10239KiB\nf 1\na 3 4352KiB\nf 2\n"
                          "a 4 3MiB\nf 3\n",
                          9);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void events_that_contradict_the_final_state_have_no_start(void **state)
{
    (void)state;
    recording run;
    count_of(native, &run);
    fl_trace *trace = recording_cut(&run, 6);
    trace->devices.items[0].segments.count = 0;
    fl_error error = {0};
    assert_int_equal(fl_rebuild(trace, 0, NULL, &error), FL_ERR_UNAVAILABLE);
    assert_non_null(strstr(error.text, "the events contradict the final state"));
    fl_trace_free(trace);
    recording_free(&run);
}

static void placing_again_gives_the_same(void **state)
{
    (void)state;
    recording run;
    count_of(expandable, &run);
    fl_trace *trace = recording_cut(&run, 9);
    struct shown first, second;
    show_start(trace, &first);
    show_start(trace, &second);
    assert_string_equal(first.text, second.text);
    fl_trace_free(trace);
    recording_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wherever_a_window_begins_it_is_explained),
        cmocka_unit_test(the_start_state_is_what_was_there),
        cmocka_unit_test(a_tail_up_to_the_next_block_is_found),
        cmocka_unit_test(a_tail_in_front_of_a_free_block_is_found_by_the_next_request),
        cmocka_unit_test(events_that_contradict_the_final_state_have_no_start),
        cmocka_unit_test(placing_again_gives_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
