#include <fraglab/base.h>

#include "base/memory.h"
#include "failing_host.h"
#include "test.h"

#include <string.h>

static void the_default_host_resizes_and_keeps_the_contents(void **state)
{
    (void)state;
    const fl_host *host = fl_host_default();
    char *piece = host->resize(host->user, NULL, 0, 8);
    assert_non_null(piece);
    memcpy(piece, "fraglab", 8);
    piece = host->resize(host->user, piece, 8, 1 << 20);
    assert_non_null(piece);
    assert_string_equal(piece, "fraglab");
    assert_null(host->resize(host->user, piece, 1 << 20, 0));
}

static void the_default_clock_never_goes_back(void **state)
{
    (void)state;
    const fl_host *host = fl_host_default();
    uint64_t last = host->now_ns(host->user);
    for (int i = 0; i < 1000; i++) {
        uint64_t now = host->now_ns(host->user);
        assert_true(now >= last);
        last = now;
    }
}

static void new_memory_is_zeroed_and_given_back_whole(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    static const size_t sizes[] = {0, 1, 7, 4096, 100001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *piece = fl_new(&host.host, sizes[i], NULL);
        assert_non_null(piece);
        for (size_t at = 0; at < sizes[i]; at++)
            assert_int_equal(piece[at], 0);
        fl_delete(&host.host, piece, sizes[i]);
        assert_int_equal(host.held, 0);
    }
    assert_int_equal(host.wrong_sizes, 0);
    fl_delete(&host.host, NULL, 99);
    assert_int_equal(host.wrong_sizes, 0);
}

static void a_request_that_the_host_refuses_is_an_error_in_words(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, 0);
    fl_error error = {0};
    assert_null(fl_new(&host.host, 4711, &error));
    assert_int_equal(error.status, FL_ERR_RESOURCE);
    assert_non_null(strstr(error.text, "4711 bytes"));
    assert_null(fl_new(&host.host, 1, NULL));
    assert_int_equal(host.held, 0);
}

static void a_virtual_clock_replaces_the_real_one(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    host.clock_ns = 41;
    assert_int_equal(host.host.now_ns(host.host.user), 41);
    assert_int_equal(host.host.now_ns(host.host.user), 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_host_resizes_and_keeps_the_contents),
        cmocka_unit_test(the_default_clock_never_goes_back),
        cmocka_unit_test(new_memory_is_zeroed_and_given_back_whole),
        cmocka_unit_test(a_request_that_the_host_refuses_is_an_error_in_words),
        cmocka_unit_test(a_virtual_clock_replaces_the_real_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
