#include "base/vector.h"

#include "failing_host.h"
#include "test.h"

#include <string.h>

FL_VECTOR(numbers, uint64_t);

static void items_stay_while_the_vector_grows(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    struct numbers numbers = {0};
    for (uint64_t i = 0; i < 100000; i++) {
        assert_true(fl_vector_reserve(&host.host, &numbers, 1, NULL));
        numbers.items[numbers.count++] = i * i;
    }
    for (uint64_t i = 0; i < numbers.count; i++)
        assert_true(numbers.items[i] == i * i);
    assert_true(host.requests < 40); /* by half each time, not one by one */
    fl_vector_deinit(&host.host, &numbers);
    assert_null(numbers.items);
    assert_int_equal(numbers.count + numbers.capacity, 0);
    assert_int_equal(host.held_bytes, 0);
    assert_int_equal(host.wrong_sizes, 0);
}

static void room_for_many_is_made_at_once(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    struct numbers numbers = {0};
    size_t nothing = 0;
    assert_true(fl_vector_reserve(&host.host, &numbers, nothing, NULL));
    assert_int_equal(host.requests, 0);
    assert_true(fl_vector_reserve(&host.host, &numbers, 5000, NULL));
    assert_int_equal(host.requests, 1);
    assert_true(numbers.capacity >= 5000);
    numbers.count = 4000;
    assert_true(fl_vector_reserve(&host.host, &numbers, 1000, NULL));
    assert_int_equal(host.requests, 1);
    fl_vector_deinit(&host.host, &numbers);
    fl_vector_deinit(&host.host, &numbers);
    assert_int_equal(host.held, 0);
}

static void sizes_that_do_not_fit_are_refused_before_the_host_is_asked(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    struct numbers numbers = {0};
    assert_true(fl_vector_reserve(&host.host, &numbers, 10, NULL));
    numbers.count = 10;
    uint64_t *items = numbers.items;
    static const size_t hostile[] = {
        SIZE_MAX,     SIZE_MAX - 1, SIZE_MAX - 9,     SIZE_MAX - 10,
        SIZE_MAX / 2, SIZE_MAX / 8, SIZE_MAX / 8 - 9,
    };
    for (size_t i = 0; i < COUNT_OF(hostile); i++) {
        fl_error error = {0};
        assert_false(fl_vector_reserve(&host.host, &numbers, hostile[i], &error));
        assert_int_equal(error.status, FL_ERR_RESOURCE);
        assert_non_null(strstr(error.text, "items of 8 bytes"));
        assert_ptr_equal(numbers.items, items);
        assert_int_equal(numbers.count, 10);
    }
    assert_int_equal(host.requests, 1);
    fl_vector_deinit(&host.host, &numbers);
}

static fl_status fill(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    struct numbers numbers = {0};
    fl_status status = FL_OK;
    for (uint64_t i = 0; i < 300 && status == FL_OK; i++) {
        if (fl_vector_reserve(host, &numbers, 1, error))
            numbers.items[numbers.count++] = i;
        else
            status = FL_ERR_RESOURCE;
    }
    for (uint64_t i = 0; i < numbers.count; i++)
        assert_true(numbers.items[i] == i);
    fl_vector_deinit(host, &numbers);
    return status;
}

static void a_vector_that_cannot_grow_keeps_what_it_has(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(fill, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_while_the_vector_grows),
        cmocka_unit_test(room_for_many_is_made_at_once),
        cmocka_unit_test(sizes_that_do_not_fit_are_refused_before_the_host_is_asked),
        cmocka_unit_test(a_vector_that_cannot_grow_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
