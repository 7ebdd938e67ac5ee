#include "observing.h"

#include "test.h"

static void each_stream_has_its_row(void **state)
{
    (void)state;
    assert_observed("a 1 8MiB 0\na 2 12MiB 64\nf 2\n", "streams", 1,
                    "stream,blocks_placed,allocated_bytes,peak_allocated_bytes,active_bytes,"
                    "reserved_bytes,peak_reserved_bytes,free_bytes\n"
                    "0x0,1,8388608,8388608,8388608,20971520,20971520,12582912\n"
                    "0x40,1,0,12582912,0,12582912,12582912,12582912\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stream_has_its_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
