#include "observing.h"

#include "test.h"

static void each_side_of_each_pool_has_its_row(void **state)
{
    (void)state;
    assert_observed("a 1 1\na 2 8MiB\nb 1\na 3 30MiB\nq 1\nf 2\n", "pools", 1,
                    "pool,side,blocks_placed,allocated_bytes,peak_allocated_bytes,active_bytes,"
                    "reserved_bytes,peak_reserved_bytes,free_bytes\n"
                    "0.0,small,1,512,512,512,2097152,2097152,2096640\n"
                    "0.0,large,1,0,8388608,0,20971520,20971520,20971520\n"
                    "0.1,large,1,31457280,31457280,31457280,31457280,31457280,0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_side_of_each_pool_has_its_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
