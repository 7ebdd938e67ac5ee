#include "analysis/assignments.h"

#include <fraglab/settings.h>

#include "failing_host.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUDA "PYTORCH_CUDA_ALLOC_CONF"
#define ANY  "PYTORCH_ALLOC_CONF"

static struct fl_assignments found;
static char values[4096];

static void find(const char *text)
{
    assert_true(strlen(text) < sizeof values);
    found.count = 0;
    assert_int_equal(fl_assignments_find(fl_host_default(), text, values, &found, NULL), FL_OK);
}

/* The text sets the variable of CUDA once, to all that is known of `value`. */
static void sets(const char *text, const char *value)
{
    find(text);
    if (found.count != 1)
        fail_msg("%s: %zu assignments", text, found.count);
    assert_string_equal(found.items[0].value, value);
    assert_int_equal(found.items[0].variable, 0);
    if (found.items[0].is_incomplete)
        fail_msg("%s: incomplete", text);
}

static void sets_something_unknown(const char *text, const char *value)
{
    find(text);
    assert_int_equal(found.count, 1);
    assert_string_equal(found.items[0].value, value);
    assert_true(found.items[0].is_incomplete);
}

static void sets_nothing(const char *text)
{
    find(text);
    if (found.count != 0)
        fail_msg("%s: sets %s", text, found.items[0].value);
}

static void shells_are_understood(void **state)
{
    (void)state;
    sets(CUDA "=a:1", "a:1");
    sets("export " CUDA "=\"a:1,b:2\"\n", "a:1,b:2");
    sets("export " CUDA "='a:1'; python x.py", "a:1");
    sets("  " CUDA "=a:1 python x.py # run\n", "a:1");
    sets("env X=1 " CUDA "=a:[1:2,>:3] python", "a:[1:2,>:3]");
    sets(CUDA "='a:1,'\"b\"':2'\\,c:3&", "a:1,b:2,c:3");
    sets(CUDA "=\"a:1,\\\nb:2\"", "a:1,b:2");
    sets(CUDA "=\"say \\\"x\\\"\"", "say \"x\"");
    sets("docker run -e " CUDA "=a:1 image", "a:1");
    sets("(" CUDA "=a:1)", "a:1");
    sets(CUDA "=\n", "");
    sets(CUDA "=''", "");
}

static void programs_in_python_are_understood(void **state)
{
    (void)state;
    sets("os.environ[\"" CUDA "\"] = \"a:1\"\n", "a:1");
    sets("os.environ['" CUDA "']='a:1,b:$x'", "a:1,b:$x");
    sets("os.environ.setdefault('" CUDA "', 'a:1')", "a:1");
    sets("env = {\"" CUDA "\": f\"a:1\", \"X\": \"y\"}", "a:1");
    sets("os.environ[ '" CUDA "' ] = r'a:1'", "a:1");
    sets_something_unknown("os.environ['" CUDA "'] = conf", "");
    sets_nothing("if os.environ['" CUDA "'] == 'a:1':");
    sets_nothing("os.environ.get('" CUDA "')");
}

static void lists_of_variables_are_understood(void **state)
{
    (void)state;
    sets(CUDA " = a:1\n", "a:1");
    sets("  " CUDA ": \"a:1\"\n", "a:1");
    sets("  - " CUDA ": a:1\n", "a:1");
    sets("ENV " CUDA " a:1\n", "a:1");
    sets("ENV " CUDA "=a:1\n", "a:1");
    sets("setenv " CUDA " a:1\n", "a:1");
}

static void uses_are_no_assignments(void **state)
{
    (void)state;
    sets_nothing("echo $" CUDA "=x");
    sets_nothing("echo ${" CUDA ":-a:1}");
    sets_nothing("unset " CUDA "\n");
    sets_nothing("export " CUDA "\n");
    sets_nothing("test " CUDA " == 1");
    sets_nothing("# export " CUDA "=a:1\n");
    sets_nothing("   #" CUDA "=a:1");
    sets_nothing("MY_" CUDA "=a:1");
    sets_nothing(CUDA "2=a:1");
    sets_nothing("see " CUDA ": it matters");
    sets_nothing("");
}

static void what_is_computed_is_not_known(void **state)
{
    (void)state;
    sets_something_unknown(CUDA "=a:$SIZE,b:2", "a:$SIZE,b:2");
    sets_something_unknown(CUDA "=\"a:$(cat x)\"", "a:$(cat x)");
    sets_something_unknown(CUDA "=\"a:`cat x`\"", "a:`cat x`");
    sets_something_unknown(CUDA "=`cat x`", "");
    sets_something_unknown(CUDA "=\"a:1", "a:1");
    sets(CUDA "='a:$x'", "a:$x");
    sets(CUDA "=\"a:\\$x\"", "a:$x");
}

static void all_are_found_with_their_lines(void **state)
{
    (void)state;
    find("#!/bin/sh\nexport " CUDA "=\"a:1,\\\nb:2\"\n" ANY "=c:3 python x.py\n\n"
         "PYTORCH_HIP_ALLOC_CONF=d " CUDA "=e\n");
    assert_int_equal(found.count, 4);
    static const struct {
        size_t variable;
        const char *value;
        uint64_t line;
    } expected[] = {{0, "a:1,b:2", 2}, {2, "c:3", 4}, {1, "d", 6}, {0, "e", 6}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(found.items[i].variable, expected[i].variable);
        assert_string_equal(found.items[i].value, expected[i].value);
        assert_int_equal(found.items[i].line, expected[i].line);
    }
}

static void names_are_seen_where_nothing_is_set(void **state)
{
    (void)state;
    assert_true(fl_assignments_name_one("unset " CUDA));
    assert_true(fl_assignments_name_one(ANY));
    assert_false(fl_assignments_name_one("max_split_size_mb:64"));
    assert_false(fl_assignments_name_one("X_" ANY));
}

/* Any bytes give an answer, and values never need more room than the text has. */
static void hostile_texts_are_read_within_their_room(void **state)
{
    (void)state;
    static const char *const words[] = {CUDA, ANY,   "=",    "\"", "'",    "\\", "\n",
                                        "$",  "`",   "ENV ", ":",  ",",    "[",  "]",
                                        " ",  "a:1", "#",    "- ", "\xff", "{"};
    uint64_t seed = 88172645463325252;
    for (int round = 0; round < 20000; round++) {
        char text[512] = "";
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        uint64_t bits = seed;
        for (uint64_t count = bits % 13; count > 0; count--, bits = bits * 6364136223846793005u + 1)
            strcat(text, words[(bits >> 33) % COUNT_OF(words)]);
        char *room = malloc(strlen(text) + 1);
        assert_non_null(room);
        found.count = 0;
        assert_int_equal(fl_assignments_find(fl_host_default(), text, room, &found, NULL), FL_OK);
        free(room);
    }
}

static fl_status find_all(const fl_host *host, void *user, fl_error *error)
{
    struct fl_assignments all = {0};
    fl_status status = fl_assignments_find(host, user, values, &all, error);
    fl_vector_deinit(host, &all);
    return status;
}

static void a_host_without_memory_is_a_resource_error(void **state)
{
    (void)state;
    static char text[] = CUDA "=a " ANY "=b";
    assert_true(failing_host_sweep(find_all, text) > 0);
}

static int give_back(void **state)
{
    (void)state;
    fl_vector_deinit(fl_host_default(), &found);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shells_are_understood),
        cmocka_unit_test(programs_in_python_are_understood),
        cmocka_unit_test(lists_of_variables_are_understood),
        cmocka_unit_test(uses_are_no_assignments),
        cmocka_unit_test(what_is_computed_is_not_known),
        cmocka_unit_test(all_are_found_with_their_lines),
        cmocka_unit_test(names_are_seen_where_nothing_is_set),
        cmocka_unit_test(hostile_texts_are_read_within_their_room),
        cmocka_unit_test(a_host_without_memory_is_a_resource_error),
    };
    return cmocka_run_group_tests(tests, NULL, give_back);
}
