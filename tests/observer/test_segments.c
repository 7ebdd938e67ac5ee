#include "observing.h"

#include "test.h"

static void a_segment_tells_its_life_and_its_pins(void **state)
{
    (void)state;
    assert_observed("a 1 8MiB\na 2 8MiB\na 3 30MiB\nf 1\nf 3\ne\n", "segments", 1,
                    "segment,address,size_bytes,side,expandable,stream,pool,born_event,died_event,"
                    "blocks_placed,peak_occupancy,mean_occupancy,pins,pinned_bytes\n"
                    "0,0x7f0000000000,20971520,large,false,0x0,0,0,,2,0.8,0.56,1,8388608\n"
                    "1,0x7f0001400000,31457280,large,false,0x0,0,2,5,1,1,0.6666666666666666,0,0\n");
}

static void an_expandable_segment_is_as_large_as_what_is_mapped(void **state)
{
    (void)state;
    assert_observed("# cap=200MiB conf=expandable_segments:True\na 1 30MiB\nf 1\ne\n", "segments",
                    1,
                    "segment,address,size_bytes,side,expandable,stream,pool,born_event,died_event,"
                    "blocks_placed,peak_occupancy,mean_occupancy,pins,pinned_bytes\n"
                    "0,0x700000000000,41943040,large,true,0x0,0,0,2,1,0.75,0.375,0,0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segment_tells_its_life_and_its_pins),
        cmocka_unit_test(an_expandable_segment_is_as_large_as_what_is_mapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
