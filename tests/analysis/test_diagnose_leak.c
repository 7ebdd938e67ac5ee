#include "diagnosing.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* Steps of a program: in each `made` MiB that stay, and work that comes and goes. */
static diagnosing steps(unsigned count, const char *step, uint64_t card)
{
    static char script[65536];
    size_t used = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned id = i * 10;
        used += (size_t)snprintf(script + used, sizeof script - used, step, id, id + 1, id + 2,
                                 id + 1, id + 2);
    }
    return diagnose_script(script, card);
}

static void blocks_of_one_place_that_only_come_are_a_leak(void **state)
{
    (void)state;
    diagnosing d = steps(
        60, "a %u 1MiB stack=1\na %u 40MiB stack=2\na %u 40MiB stack=2\nf %u\nf %u\n", MIB(120));
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_LEAK);
    assert_string_equal(fl_trace_stack_frame(d.trace, d.diagnosis.leak.key, 0).name, "1");
    assert_true(d.diagnosis.leak.blocks > 30);
    assert_int_equal(d.diagnosis.leak.bytes, d.diagnosis.leak.blocks * MIB(1));
    diagnosing_close(&d);
}

static void without_stacks_the_size_tells(void **state)
{
    (void)state;
    diagnosing d = steps(60, "a %u 1MiB\na %u 40MiB\na %u 40MiB\nf %u\nf %u\n", MIB(120));
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_LEAK);
    diagnosing_close(&d);
}

/* A forward pass: everything comes, and nothing has gone yet. */
static void what_only_grows_without_anything_coming_and_going_is_full(void **state)
{
    (void)state;
    diagnosing d =
        steps(60, "a %u 1MiB stack=1\na %u 1MiB stack=2\na %u 1MiB stack=3\n#%u %u\n", MIB(120));
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_FULL);
    diagnosing_close(&d);
}

static void what_was_freed_before_by_the_same_place_is_no_leak(void **state)
{
    (void)state;
    diagnosing d = steps(
        60, "a %u 1MiB stack=1\na %u 40MiB stack=1\na %u 40MiB stack=1\nf %u\nf %u\n", MIB(120));
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_FULL);
    diagnosing_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_one_place_that_only_come_are_a_leak),
        cmocka_unit_test(without_stacks_the_size_tells),
        cmocka_unit_test(what_only_grows_without_anything_coming_and_going_is_full),
        cmocka_unit_test(what_was_freed_before_by_the_same_place_is_no_leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
