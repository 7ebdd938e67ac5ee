#include "rebuild/ages.h"

#include "failing_host.h"
#include "recording.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_profile *profile_of(const char *release)
{
    const fl_profile *profile;
    bool is_exact;
    assert_int_equal(fl_profile_find(release, &profile, &is_exact, NULL), FL_OK);
    return profile;
}

/* The second segment goes and comes back below the third: by address older, in truth younger.  Then
 * all three lie free; the window begins there. */
#define YOUNGER_BELOW                                                                              \
    "# cap=1GiB conf=\n"                                                                           \
    "a 1 20MiB\na 2 20MiB\na 3 20MiB\nf 2\ne\na 4 20MiB\nf 1\nf 4\nf 3\n"

static fl_verdict verdict_of_cut(const char *script, const char *release, uint64_t lost)
{
    recording run;
    recording_make_as(&run, "ages", script, strlen(script), profile_of(release), false);
    fl_trace *cut = recording_cut(&run, lost);
    fl_verdict verdict;
    fl_error error = {0};
    if (fl_verify(cut, 0, profile_of(release), NULL, &verdict, &error) != FL_OK)
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

static void a_choice_among_equals_shows_which_segment_is_older(void **state)
{
    (void)state;
    static const char script[] = YOUNGER_BELOW "a 5 20MiB\na 6 20MiB\na 7 20MiB\n";
    fl_verdict verdict = verdict_of_cut(script, "2.13.0", 17);
    assert_false(verdict.is_complete);
    assert_int_equal(verdict.inferred.ages, 1);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        assert_int_equal(verdict.decisions[i].equal, verdict.decisions[i].checked);
}

static void the_order_of_what_is_given_back_shows_it_too(void **state)
{
    (void)state;
    fl_verdict verdict = verdict_of_cut(YOUNGER_BELOW "e\n", "2.13.0", 17);
    assert_int_equal(verdict.inferred.ages, 1);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        assert_int_equal(verdict.decisions[i].equal, verdict.decisions[i].checked);
}

/* The block before the one that was not taken is freed later, so its tail is open. */
static void equals_are_a_matter_of_order_and_not_of_a_tail(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\n"
                                 "a 1 40MiB\na 2 40MiB\nf 1\ne\na 3 40MiB\nf 2\nf 3\n"
                                 "a 4 20MiB\na 6 20MiB\na 5 20MiB\nf 6\n"
                                 "a 7 20MiB\nf 5\nf 4\nf 7\n";
    fl_verdict verdict = verdict_of_cut(script, "2.13.0", 18);
    assert_int_equal(verdict.inferred.ages, 1);
    assert_int_equal(verdict.inferred.hidden_tails, 0);
    assert_int_equal(verdict.inferred.start_blocks, 2);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        assert_int_equal(verdict.decisions[i].equal, verdict.decisions[i].checked);
}

static void so_it_does_of_blocks_where_their_age_decides(void **state)
{
    (void)state;
    static const char script[] = YOUNGER_BELOW "a 5 20MiB\na 6 20MiB\na 7 20MiB\n";
    fl_verdict verdict = verdict_of_cut(script, "2.12.0", 17);
    assert_int_equal(verdict.inferred.ages, 1);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        assert_int_equal(verdict.decisions[i].equal, verdict.decisions[i].checked);
    verdict = verdict_of_cut(YOUNGER_BELOW "e\n", "2.12.0", 17);
    assert_int_equal(verdict.inferred.ages, 1);
    for (size_t i = 0; i < FL_DECISION_COUNT; i++)
        assert_int_equal(verdict.decisions[i].equal, verdict.decisions[i].checked);
}

/* ---- any history ----------------------------------------------------------------------------- */

static uint32_t dice(uint32_t *seed, uint32_t sides)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 10) % sides;
}

#define HISTORY_ROOM 16384

/* Few sizes, so that many free blocks are equal, and segments that come and go. */
static void write_history(uint32_t seed, const char *conf, char text[HISTORY_ROOM])
{
    static const char *const sizes[] = {"20MiB", "12MiB", "1MiB", "1536KiB", "300KiB", "24MiB"};
    uint8_t is_live[160] = {0};
    size_t used = (size_t)snprintf(text, HISTORY_ROOM, "# cap=1GiB conf=%s\n", conf);
    uint32_t next = 1;
    while (next < 150) {
        uint32_t what = dice(&seed, 100), id = 1 + dice(&seed, next);
        if (what < 50) {
            is_live[next] = 1;
            used += (size_t)snprintf(text + used, HISTORY_ROOM - used, "a %u %s\n", next++,
                                     sizes[dice(&seed, 6)]);
        } else if (what < 96 && is_live[id]) {
            is_live[id] = 0;
            used += (size_t)snprintf(text + used, HISTORY_ROOM - used, "f %u\n", id);
        } else if (what >= 97) {
            used += (size_t)snprintf(text + used, HISTORY_ROOM - used, "e\n");
        }
    }
}

/* What is not learnt is excused; of plain segments almost nothing is. */
static uint64_t sum_excused_of(const char *release, const char *conf)
{
    uint64_t excused = 0;
    for (uint32_t seed = 1; seed <= 40; seed++) {
        char text[HISTORY_ROOM];
        write_history(seed, conf, text);
        fl_verdict verdict = verdict_of_cut(text, release, 60 + seed * 3);
        excused += verdict.excused[FL_EXCUSE_OLD_ORDER];
        for (int i = 0; i < FL_EXCUSE_COUNT; i++)
            assert_true(i == FL_EXCUSE_OLD_ORDER || verdict.excused[i] == 0);
    }
    return excused;
}

static void cut_histories_of_any_release_come_out(void **state)
{
    (void)state;
    assert_int_equal(sum_excused_of("2.11.0", ""), 0);
    assert_int_equal(sum_excused_of("2.13.0", ""), 0);
    assert_int_equal(sum_excused_of("2.15.0", "expandable_segments:True"), 0);
    assert_int_equal(sum_excused_of("2.12.0", ""), 0);
    assert_int_equal(sum_excused_of("2.12.0", "max_split_size_mb:21"), 0);
    assert_int_equal(sum_excused_of("2.12.1", "expandable_segments:True"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_choice_among_equals_shows_which_segment_is_older),
        cmocka_unit_test(the_order_of_what_is_given_back_shows_it_too),
        cmocka_unit_test(equals_are_a_matter_of_order_and_not_of_a_tail),
        cmocka_unit_test(so_it_does_of_blocks_where_their_age_decides),
        cmocka_unit_test(cut_histories_of_any_release_come_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
