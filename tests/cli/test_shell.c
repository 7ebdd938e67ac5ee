#include "cli/shell.h"

#include "test.h"

static int asks(const char *command)
{
    int code = -1;
    assert_int_equal(fl_shell_ask(command, "/tmp/a b", &code, NULL), FL_OK);
    return code;
}

static void the_exit_status_is_the_answer(void **state)
{
    (void)state;
    assert_int_equal(asks("true"), 0);
    assert_int_equal(asks("exit 7"), 7);
    assert_int_equal(asks("no-such-program-anywhere"), 127);
    assert_int_equal(asks("kill -TERM $$"), 128 + 15);
}

static void the_path_is_an_argument_and_a_variable(void **state)
{
    (void)state;
    assert_int_equal(asks("test \"$1\" = '/tmp/a b'"), 0);
    assert_int_equal(asks("test \"$FRAGLAB_TRACE\" = '/tmp/a b'"), 0);
    assert_int_equal(asks("test $# = 1"), 0);
}

static void it_reads_nothing_and_its_output_is_thrown_away(void **state)
{
    (void)state;
    assert_int_equal(asks("read x"), 1);
    assert_int_equal(asks("echo this is not to be seen; echo nor is this >&2"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exit_status_is_the_answer),
        cmocka_unit_test(the_path_is_an_argument_and_a_variable),
        cmocka_unit_test(it_reads_nothing_and_its_output_is_thrown_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
