#include "shrinking.h"
#include "test.h"

#include <string.h>

static char left[1024];

#define LEAVES(step, script, shows) step_leaves(step, script, shows, left, sizeof left)

static bool has_two_and_a_trim(const char *script)
{
    return strstr(script, " 600 ") != NULL && strstr(script, "e\n") != NULL;
}

static void allocations_go_with_all_that_is_asked_about_them(void **state)
{
    (void)state;
    assert_true(LEAVES(fl_shrink_allocations,
                       "a 1 512\na 2 600\nr 1 64\np\nf 1\nf 2\ne\nd 1\na 3 700\nf 3\n",
                       has_two_and_a_trim));
    assert_string_equal(left, "a 1 600 0\np\nf 1\ne\n");
    assert_false(LEAVES(fl_shrink_allocations, "a 2 600\ne\n", has_two_and_a_trim));
}

static bool has_the_request(const char *script)
{
    return strstr(script, " 600 ") != NULL;
}

static void operations_go_one_by_one(void **state)
{
    (void)state;
    assert_true(LEAVES(fl_shrink_operations, "a 2 600\nr 2 64\np\nf 2\ne\nd 2\nC x\nm y\nt\n",
                       has_two_and_a_trim));
    assert_string_equal(left, "a 1 600 0\ne\n");
    assert_true(LEAVES(fl_shrink_operations, "F 0.5\na 2 600\na 3 700\n", has_the_request));
    assert_string_equal(left, "a 1 600 0\na 2 700 0\n");
}

/* As an allocator insists: each scope that is closed was opened. */
static bool has_a_scope_of_two(const char *script)
{
    int open = 0, opened = 0, closed = 0, released = 0;
    for (const char *line = script; line != NULL && *line != '\0';) {
        opened += strncmp(line, "b 2", 3) == 0;
        closed += strncmp(line, "q 2", 3) == 0;
        released += strncmp(line, "x 2", 3) == 0;
        open += (*line == 'b') - (*line == 'q');
        if (open < 0)
            return false;
        line = strchr(line, '\n') + 1;
    }
    return opened > 0 && opened == closed && released > 0 && open == 0;
}

static void a_scope_goes_as_a_whole(void **state)
{
    (void)state;
    assert_true(LEAVES(fl_shrink_operations,
                       "b 1\nq 1\nb 2\nb 3\na 1 512\nq 3\nq 2\nb 2\nq 2\nx 1\nx 2\nx 2\nx 3\n",
                       has_a_scope_of_two));
    assert_string_equal(left, "b 2\na 1 512 0\nq 2\nx 2\n");
}

static bool has_two_streams(const char *script)
{
    return strstr(script, "a 1 512 0\n") == NULL && strstr(script, "a 2 512 0\n") != NULL;
}

static bool has_anything(const char *script)
{
    return *script != '\0';
}

static void streams_are_merged_where_they_do_not_matter(void **state)
{
    (void)state;
    static const char script[] = "a 1 512 64\na 2 512 128\nr 1 192\nb 1 stream=128\n";
    assert_true(LEAVES(fl_shrink_streams, script, has_anything));
    assert_string_equal(left, "a 1 512 64\na 2 512 64\nr 1 64\nb 1 stream=64\n");
    assert_true(LEAVES(fl_shrink_streams, "a 1 512 64\na 2 512 128\na 3 512 0\n", has_two_streams));
    assert_string_equal(left, "a 1 512 64\na 2 512 0\na 3 512 0\n");
    assert_false(LEAVES(fl_shrink_streams, "a 1 512\na 2 512\n", has_anything));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_go_with_all_that_is_asked_about_them),
        cmocka_unit_test(operations_go_one_by_one),
        cmocka_unit_test(a_scope_goes_as_a_whole),
        cmocka_unit_test(streams_are_merged_where_they_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
