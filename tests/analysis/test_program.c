#include "analysis/program.h"

#include <fraglab/read.h>

#include "failing_host.h"
#include "shrinking.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static fl_trace *read_script(const char *text)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options options = {.format = "script"};
    if (fl_read_memory(text, strlen(text), "s", &options, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

/* What is left of a script's events [first, end) with these ops; `kept` has a letter for each, `-`
 * leaves it out. */
static void leaves(const char *text, uint64_t first, uint64_t end, const char *kept,
                   const char *expected)
{
    fl_trace *trace = read_script(text), *built = NULL;
    fl_program program;
    bool is_kept[64] = {false};
    assert_int_equal(fl_program_init(&program, fl_host_default(), trace, 0, first, end, -1, NULL),
                     FL_OK);
    assert_int_equal(program.ops.count, strlen(kept));
    for (size_t i = 0; kept[i] != '\0'; i++)
        is_kept[i] = kept[i] != '-';
    assert_int_equal(fl_program_trace(&program, is_kept, &built, NULL), FL_OK);
    char *script = script_of(built);
    assert_string_equal(script, expected);
    free(script);
    fl_trace_free(built);
    fl_program_compact(&program, is_kept);
    assert_int_equal(fl_program_trace(&program, NULL, &built, NULL), FL_OK);
    script = script_of(built);
    assert_string_equal(script, expected);
    free(script);
    fl_trace_free(built);
    fl_program_deinit(&program);
    fl_trace_free(trace);
}

static const char all_kinds[] = "a 7 1024 64\nr 7 128\np\nf 7\nd 7\ne 3\nF 0.5\nb 3 stream=64\n"
                                "q 3\nx 3\nC max_split_size_mb:64\no 5\nm hello\ns\nt\nc\n";

static void a_script_comes_back_with_its_allocations_named_anew(void **state)
{
    (void)state;
    leaves(all_kinds, 0, 16, "arpfdeFbqxComstc",
           "a 1 1024 64\nr 1 128\np\nf 1\nd 1\ne 3\nF 0.5\nb 3 stream=64\n"
           "q 3\nx 3\nC max_split_size_mb:64\no 5\nm hello\ns\nt\nc\n");
}

static void what_is_asked_about_an_allocation_goes_with_it(void **state)
{
    (void)state;
    leaves("a 1 512\na 2 600\nr 1 64\nf 1\nf 2\n", 0, 5, "-arff", "a 1 600 0\nf 1\n");
}

static void a_free_is_held_as_long_as_its_completion_is_kept(void **state)
{
    (void)state;
    static const char text[] = "a 1 512\nf 1\na 2 512\nd 1\n";
    leaves(text, 0, 4, "afad", "a 1 512 0\nf 1\na 2 512 0\nd 1\n");
    leaves(text, 0, 4, "afa-", "a 1 512 0\nf 1\na 2 512 0\n");
    leaves(text, 0, 4, "a-ad", "a 1 512 0\na 2 512 0\n");
}

static void only_a_range_is_taken_and_what_it_does_not_finish_is_finished(void **state)
{
    (void)state;
    static const char text[] = "a 1 512\na 2 600\nf 1\nf 2\na 3 700\nd 2\n";
    leaves(text, 1, 5, "afad", "a 1 600 0\nf 1\na 2 700 0\nd 1\n");
    leaves(text, 4, 6, "a", "a 1 700 0\n");
}

static void a_fraction_comes_first(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 512\n"), *built = NULL;
    fl_program program;
    assert_int_equal(fl_program_init(&program, fl_host_default(), trace, 0, 0, 1, 0.75, NULL),
                     FL_OK);
    assert_int_equal(fl_program_trace(&program, NULL, &built, NULL), FL_OK);
    char *script = script_of(built);
    assert_string_equal(script, "F 0.75\na 1 512 0\n");
    free(script);
    fl_trace_free(built);
    fl_program_deinit(&program);
    fl_trace_free(trace);
}

static void the_target_is_followed_when_others_go(void **state)
{
    (void)state;
    fl_trace *trace = read_script("a 1 512\na 2 600\na 3 700\n");
    fl_program program;
    const bool is_kept[] = {false, true, true};
    assert_int_equal(fl_program_init(&program, fl_host_default(), trace, 0, 0, 3, -1, NULL), FL_OK);
    program.target = 2;
    fl_program_compact(&program, is_kept);
    assert_int_equal(program.target, 1);
    assert_int_equal(program.alloc_count, 2);
    assert_int_equal(program.ops.items[1].size, 700);
    fl_program_deinit(&program);
    fl_trace_free(trace);
}

static fl_status build_all(const fl_host *host, void *user, fl_error *error)
{
    fl_program program;
    fl_trace *built = NULL;
    fl_status status = fl_program_init(&program, host, user, 0, 0, 16, 0.5, error);
    if (status != FL_OK)
        return status;
    status = fl_program_trace(&program, NULL, &built, error);
    fl_trace_free(built);
    fl_program_deinit(&program);
    return status;
}

static void a_host_without_memory_is_a_resource_error(void **state)
{
    (void)state;
    fl_trace *trace = read_script(all_kinds);
    assert_true(failing_host_sweep(build_all, trace) > 5);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_script_comes_back_with_its_allocations_named_anew),
        cmocka_unit_test(what_is_asked_about_an_allocation_goes_with_it),
        cmocka_unit_test(a_free_is_held_as_long_as_its_completion_is_kept),
        cmocka_unit_test(only_a_range_is_taken_and_what_it_does_not_finish_is_finished),
        cmocka_unit_test(a_fraction_comes_first),
        cmocka_unit_test(the_target_is_followed_when_others_go),
        cmocka_unit_test(a_host_without_memory_is_a_resource_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
