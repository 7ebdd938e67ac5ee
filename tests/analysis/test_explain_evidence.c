#include "explaining.h"

#include "test.h"

static void small_segments_are_not_what_was_asked_for(void **state)
{
    (void)state;
    const fl_explanation *got =
        explain_sizes("2.00 MiB", "0 bytes", NULL, "7.00 GiB", "300.00 MiB");
    assert_true(
        says(&got->evidence, "at most 1 MiB and found no room in the pool of small blocks"));
    got = explain_sizes("20.00 MiB", "0 bytes", NULL, "7.00 GiB", "300.00 MiB");
    assert_true(says(&got->evidence, "between 1 MiB and 10 MiB"));
    got = explain_sizes("24.00 MiB", "0 bytes", NULL, "7.00 GiB", "300.00 MiB");
    assert_true(says(&got->evidence, "rounded up to 2 MiB"));
}

static void the_sums_are_shown(void **state)
{
    (void)state;
    const fl_explanation *got =
        explain_sizes("200.00 MiB", "1.00 MiB", NULL, "6.00 GiB", "1.50 GiB");
    assert_true(says(&got->evidence, "reserved 7.50 GiB - allocated 6.00 GiB = 1.50 GiB"));
    assert_true(says(&got->evidence, "= 511.00 MiB outside of PyTorch's allocator"));
}

static void what_a_process_holds_beside_the_allocator_is_named(void **state)
{
    (void)state;
    const fl_explanation *got = explain_sizes(
        "200.00 MiB", "1.00 MiB",
        "Process 7 has 2.00 GiB memory in use. Including non-PyTorch memory, this process has 5.99 "
        "GiB memory in use. ",
        "3.00 GiB", "1.00 MiB");
    assert_true(says(&got->evidence, "2.01 GiB of it are of other processes"));
    assert_true(says(&got->evidence, "2.99 GiB of this process are outside of the allocator"));
}

static void private_pools_are_not_for_others(void **state)
{
    (void)state;
    const fl_explanation *got = explain_text(
        "CUDA out of memory. Tried to allocate 200.00 MiB. GPU 0 has a total capacity of 8.00 GiB "
        "of "
        "which 1.00 MiB is free. Of the allocated memory 7.00 GiB is allocated by PyTorch, with "
        "982.00 MiB allocated in private pools (e.g., CUDA Graphs), and 17179869184.00 GiB is "
        "reserved by PyTorch but unallocated.");
    assert_true(says(&got->evidence, "982.00 MiB of what is called allocated are free blocks"));
    assert_true(says(&got->evidence, "is negative, printed as 2^64 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_segments_are_not_what_was_asked_for),
        cmocka_unit_test(the_sums_are_shown),
        cmocka_unit_test(what_a_process_holds_beside_the_allocator_is_named),
        cmocka_unit_test(private_pools_are_not_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
