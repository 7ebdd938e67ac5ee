#include "trace/arena.h"

#include "failing_host.h"
#include "test.h"

#include <string.h>

static void copies_end_with_a_nul_and_never_move(void **state)
{
    (void)state;
    failing_host host;
    failing_host_init(&host, FAILING_HOST_NEVER);
    struct fl_arena arena = {0};
    const char *first = fl_arena_copy(&host.host, &arena, "first!", 5, NULL);
    for (int i = 0; i < 20000; i++)
        assert_non_null(fl_arena_copy(&host.host, &arena, "something", 9, NULL));
    assert_string_equal(first, "first");
    assert_string_equal(fl_arena_copy(&host.host, &arena, NULL, 0, NULL), "");
    fl_arena_deinit(&host.host, &arena);
    assert_int_equal(host.held_bytes, 0);
}

static void a_string_may_be_longer_than_a_chunk(void **state)
{
    (void)state;
    static char text[200000];
    memset(text, 'x', sizeof text - 1);
    struct fl_arena arena = {0};
    const char *small = fl_arena_copy(fl_host_default(), &arena, "a", 1, NULL);
    assert_string_equal(fl_arena_copy(fl_host_default(), &arena, text, sizeof text - 1, NULL),
                        text);
    assert_string_equal(small, "a");
    fl_arena_deinit(fl_host_default(), &arena);
}

static void without_memory_there_is_no_copy(void **state)
{
    (void)state;
    for (uint64_t failing = 0; failing < 2; failing++) {
        failing_host host;
        failing_host_init(&host, failing);
        struct fl_arena arena = {0};
        fl_error error = {0};
        assert_null(fl_arena_copy(&host.host, &arena, "a", 1, &error));
        assert_int_equal(error.status, FL_ERR_RESOURCE);
        fl_arena_deinit(&host.host, &arena);
        assert_int_equal(host.held, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_end_with_a_nul_and_never_move),
        cmocka_unit_test(a_string_may_be_longer_than_a_chunk),
        cmocka_unit_test(without_memory_there_is_no_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
