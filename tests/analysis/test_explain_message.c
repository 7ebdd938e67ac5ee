#include "analysis/explain.h"

#include "test.h"

#include <string.h>

static void certainties_have_names(void **state)
{
    (void)state;
    assert_string_equal(fl_certainty_name(FL_CERTAINTY_PROVED), "proved");
    assert_string_equal(fl_certainty_name(FL_CERTAINTY_LIKELY), "likely");
    assert_string_equal(fl_certainty_name(FL_CERTAINTY_GUESSED), "guessed");
    assert_string_equal(fl_certainty_name(FL_CERTAINTY_NONE), "none");
}

/* Numbers that nobody printed, in every combination of given and missing. */
static void any_numbers_get_an_answer(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 2097152, 20971520, UINT64_C(8) << 30, UINT64_MAX};
    static fl_explanation explanation;
    uint64_t seed = 11;
    for (int i = 0; i < 20000; i++) {
        fl_message message = {.layout = i % 2 ? "pt-2.2+" : "jax", .first = i % 2 ? 205 : 0};
        message.is_segment = i % 3 == 0;
        message.advice = (fl_printed_advice)(i % 5);
        for (int k = 0; k < FL_FIGURE_COUNT; k++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint64_t value = values[(seed >> 33) % COUNT_OF(values)];
            fl_number *number = &message.figures[k];
            *number =
                (fl_number){(seed >> 40) % 3 != 0, (seed >> 50) % 7 == 0, value, value, value};
        }
        fl_explain_message(&message, &explanation);
        assert_true(explanation.sentence[0] != '\0');
        assert_int_equal(explanation.certainty == FL_CERTAINTY_NONE,
                         explanation.trouble == FL_TROUBLE_UNKNOWN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(certainties_have_names),
        cmocka_unit_test(any_numbers_get_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
