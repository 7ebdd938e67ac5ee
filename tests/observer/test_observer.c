#include "observer/observer.h"

#include "test.h"

#include <string.h>

static void every_table_is_complete_and_found_by_its_name(void **state)
{
    (void)state;
    size_t count = 0;
    for (; fl_observer_at(count) != NULL; count++) {
        const fl_observer_ops *ops = fl_observer_at(count);
        assert_true(ops->name[0] != '\0' && ops->summary[0] != '\0');
        assert_true(ops->state_size > 0);
        assert_true(ops->open != NULL && ops->view != NULL && ops->emit != NULL &&
                    ops->close != NULL);
        assert_ptr_equal(fl_observer_find(ops->name), ops);
    }
    assert_true(count > 0);
    assert_null(fl_observer_at(count));
    assert_null(fl_observer_at(SIZE_MAX));
}

static void tables_are_in_order_of_name(void **state)
{
    (void)state;
    for (size_t i = 1; fl_observer_at(i) != NULL; i++)
        assert_true(strcmp(fl_observer_at(i - 1)->name, fl_observer_at(i)->name) < 0);
}

static void a_name_that_nobody_has_finds_nothing(void **state)
{
    (void)state;
    assert_null(fl_observer_find("nobody"));
    assert_null(fl_observer_find(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_is_complete_and_found_by_its_name),
        cmocka_unit_test(tables_are_in_order_of_name),
        cmocka_unit_test(a_name_that_nobody_has_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
