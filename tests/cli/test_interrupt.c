#include "cli/interrupt.h"

#include "test.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t others;

static void count(int number)
{
    (void)number;
    others++;
}

static void handle_with(void (*handler)(int number))
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(SIGINT, &action, NULL), 0);
}

static void the_first_is_noted_and_the_second_does_what_it_did(void **state)
{
    (void)state;
    others = 0;
    handle_with(count);
    fl_interrupt_catch();
    assert_false(fl_interrupt_came());
    raise(SIGINT);
    assert_true(fl_interrupt_came());
    assert_int_equal(others, 0);
    raise(SIGINT);
    assert_int_equal(others, 1);
    fl_interrupt_release();
}

static void after_release_it_is_as_before(void **state)
{
    (void)state;
    others = 0;
    handle_with(count);
    fl_interrupt_catch();
    fl_interrupt_release();
    raise(SIGINT);
    assert_int_equal(others, 1);
    fl_interrupt_catch();
    assert_false(fl_interrupt_came());
    fl_interrupt_release();
}

static void where_it_is_ignored_it_stays_ignored(void **state)
{
    (void)state;
    handle_with(SIG_IGN);
    fl_interrupt_catch();
    raise(SIGINT);
    assert_false(fl_interrupt_came());
    fl_interrupt_release();
    raise(SIGINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_is_noted_and_the_second_does_what_it_did),
        cmocka_unit_test(after_release_it_is_as_before),
        cmocka_unit_test(where_it_is_ignored_it_stays_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
