#include "diagnosing.h"
#include "test.h"

#include <string.h>

static void assert_sentence(const char *script, uint64_t card, const char *expected)
{
    diagnosing d = diagnose_script(script, card);
    char got[400];
    fl_diagnosis_sentence(&d.diagnosis, got, sizeof got);
    assert_string_equal(got, expected);
    diagnosing_close(&d);
}

static void every_verdict_has_its_sentence(void **state)
{
    (void)state;
    assert_sentence("a 1 30MiB\n", FL_UNLIMITED,
                    "fits: every request was served; 30.00 MiB were reserved at most, for at most "
                    "30.00 MiB live");
    assert_sentence("a 1 30MiB\n", MIB(40),
                    "fits: every request was served; of 40.00 MiB at most 30.00 MiB were reserved, "
                    "for at most 30.00 MiB live");
    assert_sentence(
        "a 1 30MiB\na 2 12MiB\n", MIB(40),
        "full: 30.00 MiB are live, and 12.00 MiB more do not fit 40.00 MiB however they lie");
    assert_sentence("a 1 8MiB\na 2 8MiB\na 3 8MiB\na 4 8MiB\nf 1\nf 3\na 5 20MiB\n", MIB(52),
                    "fragmentation: 20.00 MiB were refused with 24.00 MiB free in the cache, most "
                    "of it in pieces too small, between live blocks, and 12.00 MiB on the card");
    assert_sentence("o 30MiB\na 1 12MiB\n", MIB(40),
                    "outside: 12.00 MiB were refused; others hold 30.00 MiB of the card");
    assert_sentence("F 0.5\na 1 30MiB\na 2 30MiB\n", MIB(100),
                    "limit: the memory fraction allows 50.00 MiB, of which 30.00 MiB are reserved; "
                    "70.00 MiB are free on the card");
    assert_sentence("b 1\na 1 30MiB\nf 1\nq 1\na 2 30MiB\n", MIB(50),
                    "private-pools: 30.00 MiB were refused with 30.00 MiB free in the cache; "
                    "without private pools they would fit");
}

static void assert_counterfactual(const char *script, uint64_t card, const char *expected)
{
    diagnosing d = diagnose_script(script, card);
    char got[400];
    fl_diagnosis_counterfactual(&d.diagnosis, got, sizeof got);
    assert_string_equal(got, expected);
    diagnosing_close(&d);
}

static void the_pins_are_told_as_a_counterfactual(void **state)
{
    (void)state;
    assert_counterfactual("a 1 8MiB\na 2 4MiB\na 3 8MiB\nf 1\nf 3\na 4 16MiB\n", MIB(20),
                          "freeing this block (4.00 MiB, live since event 1) would have let the "
                          "request fit");
    assert_counterfactual("a 1 12MiB\na 2 12MiB\na 3 12MiB\na 4 24MiB\n", MIB(36),
                          "freeing these 2 blocks (24.00 MiB, made between events 0 and 1) would "
                          "have let the request fit");
    assert_counterfactual("a 1 8MiB\n", MIB(20), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verdict_has_its_sentence),
        cmocka_unit_test(the_pins_are_told_as_a_counterfactual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
