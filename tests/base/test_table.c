#include "base/table.h"

#include "failing_host.h"
#include "test.h"

static void an_empty_table_answers(void **state)
{
    (void)state;
    fl_table table = {0};
    assert_int_equal(fl_table_get(&table, 0), FL_TABLE_EMPTY);
    assert_int_equal(fl_table_take(&table, UINT64_MAX), FL_TABLE_EMPTY);
    fl_table_deinit(fl_host_default(), &table);
}

static void extreme_keys_and_values_are_kept(void **state)
{
    (void)state;
    fl_table table = {0};
    const fl_host *host = fl_host_default();
    assert_true(fl_table_set(host, &table, 0, 1, NULL));
    assert_true(fl_table_set(host, &table, UINT64_MAX, UINT32_MAX - 1, NULL));
    assert_true(fl_table_set(host, &table, UINT64_C(1) << 63, 0, NULL));
    assert_int_equal(fl_table_get(&table, 0), 1);
    assert_int_equal(fl_table_get(&table, UINT64_MAX), UINT32_MAX - 1);
    assert_int_equal(fl_table_get(&table, UINT64_C(1) << 63), 0);
    assert_int_equal(fl_table_get(&table, 1), FL_TABLE_EMPTY);
    fl_table_deinit(host, &table);
}

static void setting_a_key_again_replaces_its_value(void **state)
{
    (void)state;
    fl_table table = {0};
    const fl_host *host = fl_host_default();
    for (uint32_t value = 0; value < 1000; value++)
        assert_true(fl_table_set(host, &table, 42, value, NULL));
    assert_int_equal(table.count, 1);
    assert_int_equal(fl_table_get(&table, 42), 999);
    fl_table_deinit(host, &table);
}

/* The same random steps on the table and on an array that has one place per key. */
static void compare_with_an_array(uint64_t stride)
{
    enum { KEYS = 512, STEPS = 100000 };
    static uint32_t truth[KEYS];
    size_t live = 0;
    for (size_t i = 0; i < KEYS; i++)
        truth[i] = FL_TABLE_EMPTY;
    fl_table table = {0};
    uint64_t noise = 0x2545F4914F6CDD1Du;
    for (uint32_t step = 0; step < STEPS; step++) {
        noise ^= noise << 13, noise ^= noise >> 7, noise ^= noise << 17;
        size_t at = noise % KEYS;
        uint64_t key = at * stride;
        if ((noise >> 32) % 3 != 0) {
            assert_true(fl_table_set(fl_host_default(), &table, key, step, NULL));
            live += truth[at] == FL_TABLE_EMPTY;
            truth[at] = step;
        } else {
            assert_int_equal(fl_table_take(&table, key), truth[at]);
            live -= truth[at] != FL_TABLE_EMPTY;
            truth[at] = FL_TABLE_EMPTY;
        }
        assert_int_equal(table.count, live);
        size_t other = (noise >> 16) % KEYS;
        assert_int_equal(fl_table_get(&table, other * stride), truth[other]);
    }
    for (size_t i = 0; i < KEYS; i++)
        assert_int_equal(fl_table_take(&table, i * stride), truth[i]);
    assert_int_equal(table.count, 0);
    fl_table_deinit(fl_host_default(), &table);
}

static void taking_keys_never_hides_others(void **state)
{
    (void)state;
    static const uint64_t strides[] = {1, 16, 512, 0x200000, UINT64_C(1) << 32, UINT64_C(1) << 55};
    for (size_t i = 0; i < COUNT_OF(strides); i++)
        compare_with_an_array(strides[i]);
}

/* The inverse of an odd multiplier, by Newton's steps. */
static uint64_t inverse(uint64_t multiplier)
{
    uint64_t result = multiplier;
    for (int i = 0; i < 6; i++)
        result *= 2 - multiplier * result;
    return result;
}

static void keys_chosen_to_meet_do_not_slow_it_down(void **state)
{
    (void)state;
    enum { KEYS = 400000 };
    fl_table table = {0};
    uint64_t first = inverse(0x9E3779B97F4A7C15u), second = inverse(0xD6E8FEB86659FD93u);
    assert_true(first * 0x9E3779B97F4A7C15u == 1 && second * 0xD6E8FEB86659FD93u == 1);
    static uint64_t keys[KEYS];
    for (uint32_t i = 0; i < KEYS; i++) {
        uint64_t half = i * second;
        keys[i] = (half ^ (half >> 32)) * first;
    }
    /* Without the table's place in the hash each step would walk over all before it: minutes. */
    for (uint32_t i = 0; i < KEYS; i++)
        assert_true(fl_table_set(fl_host_default(), &table, keys[i], i, NULL));
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(fl_table_take(&table, keys[i]), i);
    fl_table_deinit(fl_host_default(), &table);
}

static fl_status fill(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_table table = {0};
    fl_status status = FL_OK;
    for (uint32_t i = 0; i < 1000 && status == FL_OK; i++) {
        if (!fl_table_set(host, &table, i, i, error)) {
            status = FL_ERR_RESOURCE;
            for (uint32_t kept = 0; kept < i; kept++)
                assert_int_equal(fl_table_get(&table, kept), kept);
        }
    }
    fl_table_deinit(host, &table);
    return status;
}

static void a_table_that_cannot_grow_keeps_what_it_has(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(fill, NULL) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_table_answers),
        cmocka_unit_test(extreme_keys_and_values_are_kept),
        cmocka_unit_test(setting_a_key_again_replaces_its_value),
        cmocka_unit_test(taking_keys_never_hides_others),
        cmocka_unit_test(keys_chosen_to_meet_do_not_slow_it_down),
        cmocka_unit_test(a_table_that_cannot_grow_keeps_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
