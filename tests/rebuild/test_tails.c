#include "rebuild/tails.h"

#include "recording.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* A hole of 3 MiB is taken for 2.5, 512 KiB are a tail; behind it 2 MiB are free, then one is used.
 * The window begins there. */
#define HIDDEN                                                                                     \
    "# cap=1GiB conf=\n"                                                                           \
    "a 1 3MiB\na 2 2MiB\na 3 15MiB\nf 1\na 4 2560KiB\nf 2\n"

static fl_verdict verdict_of_cut(const char *script, uint64_t lost)
{
    recording run;
    recording_make(&run, "tails", script, strlen(script));
    fl_trace *cut = recording_cut(&run, lost);
    fl_verdict verdict;
    fl_error error = {0};
    if (fl_verify(cut, 0, NULL, NULL, &verdict, &error) != FL_OK)
        fail_msg("%s", error.text);
    if (verdict.has_difference)
        fail_msg("event %llu: expected %s, got %s: %s",
                 (unsigned long long)verdict.first_difference.event,
                 verdict.first_difference.expected, verdict.first_difference.got,
                 verdict.first_difference.because);
    fl_trace_free(cut);
    recording_free(&run);
    return verdict;
}

static void assert_equal_throughout(const fl_verdict *verdict)
{
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        assert_int_equal(verdict->decisions[i].equal, verdict->decisions[i].checked);
}

/* 2.5 MiB would fit the gap of 2.5 but for the tail: the request goes to a new segment. */
static void a_request_that_went_elsewhere_shows_a_tail(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of_cut(HIDDEN "a 5 2304KiB\nf 4\na 6 3MiB\n", 10);
    assert_int_equal(verdict.inferred.start_blocks, 2);
    assert_int_equal(verdict.inferred.hidden_tails, 1);
    assert_int_equal(verdict.inferred.open_tails, 0);
    assert_equal_throughout(&verdict);
}

static void a_tail_that_no_decision_shows_stays_open(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of_cut(HIDDEN "a 5 30MiB\nf 4\na 6 3MiB\n", 10);
    assert_int_equal(verdict.inferred.hidden_tails, 0);
    assert_int_equal(verdict.inferred.open_tails, 1);
    assert_equal_throughout(&verdict);
}

/* The verdict on a window that begins where the first script ends. */
static fl_verdict verdict_behind(const char *before, const char *script)
{
    char text[1024];
    recording run;
    snprintf(text, sizeof text, "%s%s", before, script);
    recording_make(&run, "before", before, strlen(before));
    uint64_t lost = fl_trace_event_count(run.trace, 0);
    recording_free(&run);
    return verdict_of_cut(text, lost);
}

/* The tail is from a time when expandable segments were off; since then any rest is split off. */
static void where_a_request_went_shows_where_a_free_block_began(void **state)
{
    (void)state;
    static const char before[] = "# cap=1GiB conf=expandable_segments:True\n"
                                 "C expandable_segments:False\n"
                                 "a 1 3MiB\na 2 2MiB\na 3 15MiB\nf 1\na 4 2560KiB\n"
                                 "C expandable_segments:True\n";
    fl_verdict verdict = verdict_behind(before, "f 2\na 5 2MiB\nf 4\n");
    assert_int_equal(verdict.inferred.hidden_tails, 1);
    assert_int_equal(verdict.inferred.hidden_tail_bytes, 512 << 10);
    assert_equal_throughout(&verdict);
}

/* Of a segment that was split before there was a limit, a part is given whole, 4 MiB too large. */
static void what_may_not_be_split_has_a_larger_tail(void **state)
{
    (void)state;
    static const char before[] = "# cap=1GiB conf=max_split_size_mb:64\n"
                                 "C expandable_segments:False\n"
                                 "a 9 210MiB\nf 9\na 1 100MiB\na 2 104MiB\na 3 6MiB\nf 2\n"
                                 "C max_split_size_mb:64\na 4 100MiB\n";
    fl_verdict verdict = verdict_behind(before, "a 5 3MiB\nf 4\na 6 103MiB\n");
    assert_int_equal(verdict.inferred.hidden_tails, 1);
    assert_int_equal(verdict.inferred.hidden_tail_bytes, 4 << 20);
    assert_equal_throughout(&verdict);
}

/* ---- any history ----------------------------------------------------------------------------- */

static uint32_t dice(uint32_t *seed, uint32_t sides)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 10) % sides;
}

#define HISTORY_ROOM 16384

static void write_history(uint32_t seed, char text[HISTORY_ROOM])
{
    uint8_t is_live[260] = {0};
    size_t used = (size_t)snprintf(text, HISTORY_ROOM, "# cap=1GiB conf=\n");
    uint32_t next = 1;
    while (next < 250) {
        uint32_t id = 1 + dice(&seed, next);
        if (dice(&seed, 2) == 0) {
            is_live[next] = 1;
            uint32_t size = 1048577 + dice(&seed, 1 << 22) * (dice(&seed, 4) == 0 ? 6 : 2);
            used += (size_t)snprintf(text + used, HISTORY_ROOM - used, "a %u %u\n", next++, size);
        } else if (is_live[id]) {
            is_live[id] = 0;
            used += (size_t)snprintf(text + used, HISTORY_ROOM - used, "f %u\n", id);
        }
    }
}

static void cut_histories_come_out_whatever_was_hidden(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        char text[HISTORY_ROOM];
        write_history(seed, text);
        fl_verdict verdict = verdict_of_cut(text, 100 + seed * 7);
        assert_equal_throughout(&verdict);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_went_elsewhere_shows_a_tail),
        cmocka_unit_test(a_tail_that_no_decision_shows_stays_open),
        cmocka_unit_test(where_a_request_went_shows_where_a_free_block_began),
        cmocka_unit_test(what_may_not_be_split_has_a_larger_tail),
        cmocka_unit_test(cut_histories_come_out_whatever_was_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
