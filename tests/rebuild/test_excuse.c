#include "recording.h"
#include "test.h"

#include <fraglab/verify.h>

#include <string.h>

static void every_excuse_has_a_name_of_its_own_and_a_sentence(void **state)
{
    (void)state;
    for (int i = 0; i < FL_EXCUSE_COUNT; i++) {
        assert_true(fl_excuse_name(i)[0] != '\0');
        assert_true(i == FL_EXCUSE_NONE || fl_excuse_sentence(i)[0] != '\0');
        for (int k = 0; k < i; k++)
            assert_string_not_equal(fl_excuse_name(i), fl_excuse_name(k));
    }
    assert_string_equal(fl_excuse_name(FL_EXCUSE_CUT_OFF), "cut_off");
}

/* Segments of both pools, streams, completions, refusals, empty_cache. */
static const char rich[] = "# cap=60MiB conf=\n"
                           "a 1 20MiB\na 2 1\na 3 5MiB 64\nr 1 64\np\nf 1\na 4 600\na 5 30MiB\n"
                           "f 2\na 6 100MiB\nf 5\nf 4\ne\na 7 2MiB 64\nc\na 8 1MiB\na 9 700\n";

/* Whatever was still to come, what is there comes out.  Where only new memory came, it may have
 * been there before the first event as well: that is left out here. */
static void recording_may_have_stopped_before_the_final_state(void **state)
{
    (void)state;
    recording run;
    recording_make(&run, "stopped", rich, strlen(rich));
    uint64_t count = fl_trace_event_count(run.trace, 0), newer = 0;
    for (uint64_t missed = 1; missed < count; missed++) {
        fl_trace *trace = recording_stop(&run, 0, missed);
        fl_verdict verdict;
        assert_int_equal(fl_verify(trace, 0, NULL, NULL, &verdict, NULL), FL_OK);
        if (fl_trace_is_state_newer(trace, 0)) {
            newer++;
            const fl_tally *address = &verdict.decisions[FL_DECISION_ADDRESS];
            assert_true(verdict.is_complete);
            assert_false(verdict.has_difference);
            assert_int_equal(address->equal, address->checked);
            assert_int_equal(verdict.decisions[FL_DECISION_FINAL_STATE].excused,
                             verdict.excused[FL_EXCUSE_NEWER_STATE]);
        }
        fl_trace_free(trace);
    }
    assert_true(newer > count * 3 / 4);
    recording_free(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_excuse_has_a_name_of_its_own_and_a_sentence),
        cmocka_unit_test(recording_may_have_stopped_before_the_final_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
