#include "observing.h"

#include "test.h"

static void a_stretch_is_told_of_by_its_largest_request(void **state)
{
    (void)state;
    assert_observed("a 1 8MiB\na 2 8MiB\nf 1\na 3 1\na 4 12MiB\na 5 2MiB\n", "unusable", 2,
                    "event,asked_bytes,refused,usable_bytes,largest_usable_bytes,pool_bytes,stream_"
                    "bytes,pending_bytes,pinned_bytes,split_limit_bytes,device_bytes\n"
                    "0,8388608,false,12582912,12582912,0,0,0,0,0,0\n"
                    "4,12582912,false,0,8388608,2096640,0,0,12582912,0,0\n");
}

static void and_before_that_by_its_refusal(void **state)
{
    (void)state;
    assert_observed("# cap=22MiB conf=\na 1 8MiB\na 2 8MiB\nf 1\na 3 12MiB\na 4 1\n", "unusable", 1,
                    "event,asked_bytes,refused,usable_bytes,largest_usable_bytes,pool_bytes,stream_"
                    "bytes,pending_bytes,pinned_bytes,split_limit_bytes,device_bytes\n"
                    "3,12582912,true,0,8388608,0,0,0,12582912,0,2097152\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stretch_is_told_of_by_its_largest_request),
        cmocka_unit_test(and_before_that_by_its_refusal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
