#include "analysis/workers.h"

#include "test.h"

#include <pthread.h>

struct calls {
    pthread_mutex_t lock;
    unsigned per_index[FL_WORKERS_MOST];
    pthread_t caller;
    bool first_is_caller;
};

static void note_call(void *user, unsigned index)
{
    struct calls *calls = user;
    pthread_mutex_lock(&calls->lock);
    calls->per_index[index]++;
    if (index == 0)
        calls->first_is_caller = pthread_equal(calls->caller, pthread_self()) != 0;
    pthread_mutex_unlock(&calls->lock);
}

static void each_worker_is_called_once_and_the_caller_is_one(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= FL_WORKERS_MOST; count *= 4) {
        struct calls calls = {.lock = PTHREAD_MUTEX_INITIALIZER, .caller = pthread_self()};
        fl_workers_run(count, note_call, &calls);
        for (unsigned i = 0; i < FL_WORKERS_MOST; i++)
            assert_int_equal(calls.per_index[i], i < count);
        assert_true(calls.first_is_caller);
    }
}

static void a_wish_for_workers_is_bounded(void **state)
{
    (void)state;
    assert_int_equal(fl_workers_count(0), 1);
    assert_int_equal(fl_workers_count(1), 1);
    assert_int_equal(fl_workers_count(5), 5);
    assert_int_equal(fl_workers_count(1000000), FL_WORKERS_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_worker_is_called_once_and_the_caller_is_one),
        cmocka_unit_test(a_wish_for_workers_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
