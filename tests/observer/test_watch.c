#include "failing_host.h"
#include "observing.h"
#include "test.h"

static void every_observer_watches_and_has_a_record(void **state)
{
    (void)state;
    for (size_t i = 0; fl_observer_at(i) != NULL; i++) {
        const char *table = observed("a 1 1\nf 1\n", fl_observer_at(i)->name, 10);
        assert_true(table[0] != '\0');
        assert_true(i < FL_OBSERVERS_MOST);
    }
}

static void nothing_watched_is_a_record_too(void **state)
{
    (void)state;
    for (size_t i = 0; fl_observer_at(i) != NULL; i++)
        assert_true(observed("# cap=1GiB conf=\n", fl_observer_at(i)->name, 1)[0] != '\0');
}

static fl_status open_and_close(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_watch watch = {0};
    fl_names names = {0};
    fl_observer_env env = {host, &names, 0, 100, 10};
    fl_status status = fl_watch_open(&watch, &env, error);
    fl_watch_close(&watch);
    return status;
}

static void a_host_without_memory_leaves_nothing(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(open_and_close, NULL) >= 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_observer_watches_and_has_a_record),
        cmocka_unit_test(nothing_watched_is_a_record_too),
        cmocka_unit_test(a_host_without_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
