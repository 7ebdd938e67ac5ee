#include "cli/memory.h"
#include "failing_host.h"
#include "test.h"

static void items_are_zeroed_and_given_back_in_full(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    uint32_t *items = fl_cli_new(&host.host, 1000, sizeof *items, NULL);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(items[i], 0);
    fl_cli_delete(&host.host, items, 1000, sizeof *items);
    uint32_t *none = fl_cli_new(&host.host, 0, sizeof *none, NULL);
    assert_non_null(none);
    fl_cli_delete(&host.host, none, 0, sizeof *none);
    fl_cli_delete(&host.host, NULL, 10, sizeof *none);
    assert_int_equal(host.held_bytes, 0);
    assert_int_equal(host.wrong_sizes, 0);
}

static void a_host_without_memory_is_an_error(void **state)
{
    (void)state;
    failing_host host;
    fl_error error = {0};
    failing_host_init(&host, 0);
    assert_null(fl_cli_new(&host.host, 10, 8, &error));
    assert_int_equal(error.status, FL_ERR_RESOURCE);
}

static void a_size_that_does_not_fit_is_never_asked_for(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    assert_null(fl_cli_new(&host.host, SIZE_MAX / 4, 8, NULL));
    assert_int_equal(host.requests, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_zeroed_and_given_back_in_full),
        cmocka_unit_test(a_host_without_memory_is_an_error),
        cmocka_unit_test(a_size_that_does_not_fit_is_never_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
