#include <fraglab/policy.h>

#include "test.h"

#include <string.h>

static void tables_are_in_order_of_name_and_found_by_it(void **state)
{
    (void)state;
    size_t count = 0;
    for (; fl_policy_at(count) != NULL; count++) {
        assert_ptr_equal(fl_policy_find(fl_policy_at(count)->name), fl_policy_at(count));
        if (count > 0)
            assert_true(strcmp(fl_policy_at(count - 1)->name, fl_policy_at(count)->name) < 0);
    }
    assert_true(count > 0);
    assert_null(fl_policy_at(SIZE_MAX));
    assert_null(fl_policy_find("pass"));
}

static void every_table_has_what_is_required(void **state)
{
    (void)state;
    for (size_t i = 0; fl_policy_at(i) != NULL; i++) {
        const fl_policy_ops *ops = fl_policy_at(i);
        assert_non_null(ops->summary);
        assert_true(ops->state_size > 0);
        assert_true(ops->open != NULL && ops->close != NULL && ops->alloc != NULL);
        assert_true(ops->free != NULL && ops->control != NULL && ops->check != NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_in_order_of_name_and_found_by_it),
        cmocka_unit_test(every_table_has_what_is_required),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
