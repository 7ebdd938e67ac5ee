#include "shrinking.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char left[1024];

static bool holds_ten_thousand(const char *script)
{
    uint64_t sum = 0;
    for (; *script != '\0'; script = strchr(script, '\n') + 1) {
        char *end = NULL;
        if (*script == 'a' && strtoull(script + 2, &end, 10) > 0)
            sum += strtoull(end, NULL, 10);
    }
    return sum == 10000;
}

static void allocations_that_stay_become_one(void **state)
{
    (void)state;
    assert_true(step_leaves(fl_shrink_merge, "a 1 1000\na 2 2000\na 3 3000\na 4 4000\n",
                            holds_ten_thousand, left, sizeof left));
    assert_string_equal(left, "a 1 10000 0\n");
}

static void those_that_are_freed_are_merged_with_each_other(void **state)
{
    (void)state;
    assert_true(step_leaves(fl_shrink_merge,
                            "a 1 1000\na 2 2000\na 3 3000\nf 2\nr 3 64\na 4 4000\nf 3\n",
                            holds_ten_thousand, left, sizeof left));
    assert_string_equal(left, "a 1 5000 0\na 2 5000 0\nf 2\n");
}

static bool has_anything(const char *script)
{
    return *script != '\0';
}

static void streams_and_sums_beyond_all_memory_keep_them_apart(void **state)
{
    (void)state;
    assert_false(step_leaves(fl_shrink_merge, "a 1 5000 64\na 2 5000\n", holds_ten_thousand, left,
                             sizeof left));
    assert_false(step_leaves(fl_shrink_merge,
                             "a 1 576460752303423488\na 2 576460752303423488\na 3 1\n",
                             has_anything, left, sizeof left));
}

static bool has_first_alone(const char *script)
{
    return holds_ten_thousand(script) && strstr(script, " 1000 ") != NULL;
}

static void what_must_stay_apart_does(void **state)
{
    (void)state;
    assert_true(step_leaves(fl_shrink_merge, "a 1 1000\na 2 2000\na 3 3000\na 4 4000\n",
                            has_first_alone, left, sizeof left));
    assert_string_equal(left, "a 1 1000 0\na 2 9000 0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_that_stay_become_one),
        cmocka_unit_test(those_that_are_freed_are_merged_with_each_other),
        cmocka_unit_test(streams_and_sums_beyond_all_memory_keep_them_apart),
        cmocka_unit_test(what_must_stay_apart_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
