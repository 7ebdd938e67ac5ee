#include "explaining.h"

#include "base/units.h"
#include "test.h"

#include <string.h>

static void each_class_has_its_arithmetic(void **state)
{
    (void)state;
    static const struct {
        const char *asked, *free, *process, *allocated, *unused;
        fl_trouble trouble;
        fl_certainty certainty;
    } rows[] = {
        /* more than the card; more than any card */
        {"9.00 GiB", "1.00 GiB", NULL, "5.00 GiB", "1.00 GiB", FL_TROUBLE_FULL,
         FL_CERTAINTY_PROVED},
        {"8.00 GiB", "0 bytes", NULL, "5.00 GiB", "1.00 GiB", FL_TROUBLE_FULL, FL_CERTAINTY_PROVED},
        {"130206.04 GiB", "1.00 GiB", NULL, "5.00 GiB", "1.00 GiB", FL_TROUBLE_INCONSISTENT,
         FL_CERTAINTY_PROVED},
        /* pieces: unused alone, both together, and as far as printing tells */
        {"200.00 MiB", "10.00 MiB", NULL, "6.00 GiB", "500.00 MiB", FL_TROUBLE_FRAGMENTATION,
         FL_CERTAINTY_PROVED},
        {"200.00 MiB", "150.00 MiB", NULL, "6.00 GiB", "100.00 MiB", FL_TROUBLE_FRAGMENTATION,
         FL_CERTAINTY_PROVED},
        {"1.50 GiB", "0 bytes", NULL, "6.00 GiB", "1.50 GiB", FL_TROUBLE_FRAGMENTATION,
         FL_CERTAINTY_LIKELY},
        /* live bytes and request exceed the card, or nearly so */
        {"2.00 GiB", "500.00 MiB", NULL, "7.00 GiB", "100.00 MiB", FL_TROUBLE_FULL,
         FL_CERTAINTY_PROVED},
        {"1.00 GiB", "0 bytes", NULL, "6.50 GiB", "100.00 MiB", FL_TROUBLE_FULL,
         FL_CERTAINTY_LIKELY},
        /* somebody else's: counted, or by what a context leaves over */
        {"1.00 GiB", "100.00 MiB",
         "Process 7 has 5.00 GiB memory in use. Including non-PyTorch memory, this process has "
         "2.40 "
         "GiB memory in use. ",
         "2.00 GiB", "100.00 MiB", FL_TROUBLE_OUTSIDE, FL_CERTAINTY_PROVED},
        {"1.00 GiB", "100.00 MiB", NULL, "3.00 GiB", "100.00 MiB", FL_TROUBLE_OUTSIDE,
         FL_CERTAINTY_LIKELY},
        /* the process itself, beside the allocator */
        {"1.00 GiB", "100.00 MiB",
         "Including non-PyTorch memory, this process has 7.80 GiB memory in use. ", "3.00 GiB",
         "100.00 MiB", FL_TROUBLE_OUTSIDE, FL_CERTAINTY_LIKELY},
        /* caps: one that the request exceeds, and one that it does not */
        {"1.00 GiB", "5.00 GiB", "3.00 GiB allowed; ", "2.20 GiB", "100.00 MiB", FL_TROUBLE_LIMIT,
         FL_CERTAINTY_PROVED},
        {"1.00 GiB", "5.00 GiB", "3.00 GiB allowed; ", "1.00 GiB", "100.00 MiB",
         FL_TROUBLE_INCONSISTENT, FL_CERTAINTY_PROVED},
        /* numbers that exclude each other */
        {"32.00 MiB", "5.00 GiB", NULL, "1.00 GiB", "1.00 MiB", FL_TROUBLE_INCONSISTENT,
         FL_CERTAINTY_PROVED},
        {"32.00 MiB", "0 bytes", NULL, "9.00 GiB", "1.00 MiB", FL_TROUBLE_INCONSISTENT,
         FL_CERTAINTY_PROVED},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const fl_explanation *got = explain_sizes(rows[i].asked, rows[i].free, rows[i].process,
                                                  rows[i].allocated, rows[i].unused);
        if (got->trouble != rows[i].trouble || got->certainty != rows[i].certainty)
            fail_msg("row %zu: %s, %s: %s", i, fl_trouble_name(got->trouble),
                     fl_certainty_name(got->certainty), got->sentence);
        assert_true(strlen(got->sentence) > 20);
        assert_true(got->advice.count > 0);
    }
}

static void a_segment_tells_what_was_asked(void **state)
{
    (void)state;
    static const struct {
        const char *asked;
        uint64_t from, to;
    } rows[] = {
        {"2.00 MiB", 1, FL_MIB},
        {"20.00 MiB", FL_MIB + 1, 20 * FL_MIB},
        {"24.00 MiB", 0, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const fl_explanation *got =
            explain_sizes(rows[i].asked, "0 bytes", NULL, "6.00 GiB", "500.00 MiB");
        if (rows[i].from != 0) {
            assert_int_equal(got->asked_from, rows[i].from);
            assert_int_equal(got->asked_to, rows[i].to);
        } else {
            assert_in_range(got->asked_from, 21 * FL_MIB, 22 * FL_MIB + 1);
            assert_in_range(got->asked_to, 24 * FL_MIB, 24 * FL_MIB + FL_KIB * 6);
        }
    }
}

/* The one process that a container lists is this one, under a number that it does not know. */
static void the_only_process_is_this_one(void **state)
{
    (void)state;
    const fl_explanation *got =
        explain_sizes("1.00 GiB", "100.00 MiB", "Process 4711 has 7.90 GiB memory in use. ",
                      "7.00 GiB", "100.00 MiB");
    assert_int_equal(got->trouble, FL_TROUBLE_FULL);
    assert_true(says(&got->evidence, "Process 4711 is this one"));
    got = explain_sizes("1.00 GiB", "100.00 MiB", "Process 4711 has 5.00 GiB memory in use. ",
                        "1.00 GiB", "100.00 MiB");
    assert_int_equal(got->trouble, FL_TROUBLE_OUTSIDE);
    assert_false(says(&got->evidence, "4711"));
}

static void a_message_cut_short_proves_nothing(void **state)
{
    (void)state;
    const fl_explanation *got = explain_text("CUDA out of memory. Tried to allocate 1.00 GiB. GPU "
                                             "0 has a total capacity of 8.00 GiB of");
    assert_int_equal(got->trouble, FL_TROUBLE_UNKNOWN);
    assert_int_equal(got->certainty, FL_CERTAINTY_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_class_has_its_arithmetic),
        cmocka_unit_test(a_segment_tells_what_was_asked),
        cmocka_unit_test(the_only_process_is_this_one),
        cmocka_unit_test(a_message_cut_short_proves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
