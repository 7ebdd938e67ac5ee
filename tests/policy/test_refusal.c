#include <fraglab/policy.h>

#include "test.h"

#include <string.h>

#define MIB (UINT64_C(1) << 20)

static const fl_refusal refusal = {
    .requested_bytes = 3 * MIB,
    .rounded_bytes = 3 * MIB + 512,
    .segment_bytes = 20 * MIB,
    .device_free_bytes = 5 * MIB,
    .total_bytes = 100 * MIB,
    .limit_bytes = 90 * MIB,
    .allocated_bytes = 40 * MIB,
    .reserved_bytes = 70 * MIB,
    .private_free_bytes = 7 * MIB,
    .reserve_bytes = FL_UNLIMITED,
};

static void every_number_comes_to_its_place(void **state)
{
    (void)state;
    static const fl_process own = {1, 95 * MIB, true};
    char text[2048];
    size_t length =
        fl_refusal_message(fl_profile_newest(), &refusal, 3, &own, 1, text, sizeof text);
    static const char expected[] =
        "CUDA out of memory. Tried to allocate 20.00 MiB. GPU 3 has a total capacity of 100.00 MiB "
        "of which 5.00 MiB is free. Including non-PyTorch memory, this process has 95.00 MiB "
        "memory in use. 90.00 MiB allowed; Of the allocated memory 47.00 MiB is allocated by "
        "PyTorch, with 7.00 MiB allocated in private pools (e.g., CUDA Graphs), and 23.00 MiB is "
        "reserved by PyTorch but unallocated.";
    assert_memory_equal(text, expected, sizeof expected - 1);
    assert_int_equal(length, strlen(text));
}

static void a_rejection_tells_what_was_asked(void **state)
{
    (void)state;
    fl_refusal rejected = refusal;
    rejected.is_rejected = true;
    char text[512];
    fl_refusal_message(fl_profile_newest(), &rejected, 0, NULL, 0, text, sizeof text);
    assert_string_equal(text, "CUDA out of memory. Allocation was preemptively rejected because it "
                              "would exceed per_process_memory_fraction limit. Requested size: "
                              "3.00 MiB");
}

static void an_expandable_segment_with_a_reserve_says_so_from_2_15_on(void **state)
{
    (void)state;
    fl_refusal small = refusal;
    small.is_expandable = true;
    small.reserve_bytes = 10 * MIB;
    char text[4096];
    fl_refusal_message(fl_profile_newest(), &small, 0, NULL, 0, text, sizeof text);
    assert_non_null(strstr(text, "exceeds the expandable-segment reserve of 10.00 MiB"));
    small.reserve_bytes = FL_UNLIMITED;
    fl_refusal_message(fl_profile_newest(), &small, 0, NULL, 0, text, sizeof text);
    assert_non_null(strstr(text, "(VSZ)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_comes_to_its_place),
        cmocka_unit_test(a_rejection_tells_what_was_asked),
        cmocka_unit_test(an_expandable_segment_with_a_reserve_says_so_from_2_15_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
