#include "shrinking.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char left[1024];

/* Size of the request on that line, from 0. */
static uint64_t size_of(const char *script, int line)
{
    for (; line > 0; line--)
        script = strchr(script, '\n') + 1;
    char *end;
    strtoull(script + 2, &end, 10);
    return strtoull(end, NULL, 10);
}

static bool is_over_a_million(const char *script)
{
    return size_of(script, 0) > 1000000;
}

static void a_size_becomes_as_small_and_as_round_as_it_may(void **state)
{
    (void)state;
    assert_true(step_leaves(fl_shrink_sizes, "a 1 123456789\na 2 4567\n", is_over_a_million, left,
                            sizeof left));
    assert_string_equal(left, "a 1 1048576 0\na 2 512 0\n");
}

static bool is_just_large_enough(const char *script)
{
    return size_of(script, 0) >= 20971520;
}

static void a_round_size_that_is_needed_stays(void **state)
{
    (void)state;
    assert_false(
        step_leaves(fl_shrink_sizes, "a 1 20971520\n", is_just_large_enough, left, sizeof left));
    assert_true(
        step_leaves(fl_shrink_sizes, "a 1 22000000\n", is_just_large_enough, left, sizeof left));
    assert_string_equal(left, "a 1 20971520 0\n");
}

static bool are_equal(const char *script)
{
    return size_of(script, 0) == size_of(script, 1) && size_of(script, 0) >= 4096;
}

static void equal_sizes_go_together(void **state)
{
    (void)state;
    assert_true(
        step_leaves(fl_shrink_sizes, "a 1 10000\na 2 10000\n", are_equal, left, sizeof left));
    assert_string_equal(left, "a 1 4096 0\na 2 4096 0\n");
}

static bool has_anything(const char *script)
{
    return *script != '\0';
}

static void sizes_below_the_unit_are_left_alone(void **state)
{
    (void)state;
    assert_false(
        step_leaves(fl_shrink_sizes, "a 1 512\na 2 100\na 3 0\n", has_anything, left, sizeof left));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_becomes_as_small_and_as_round_as_it_may),
        cmocka_unit_test(a_round_size_that_is_needed_stays),
        cmocka_unit_test(equal_sizes_go_together),
        cmocka_unit_test(sizes_below_the_unit_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
