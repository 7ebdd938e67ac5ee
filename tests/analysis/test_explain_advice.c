#include "explaining.h"

#include "test.h"

#include <string.h>

static void pieces_call_for_expandable_segments(void **state)
{
    (void)state;
    const fl_explanation *got =
        explain_sizes("200.00 MiB", "1.00 MiB", NULL, "6.00 GiB", "1.00 GiB");
    assert_non_null(
        strstr(got->advice.items[0], "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"));
    assert_int_equal(got->printed_advice_helps, FL_HELPS_MAYBE);
    assert_non_null(strstr(got->printed_advice, "can help"));
}

static void a_full_card_is_not_helped_by_settings(void **state)
{
    (void)state;
    const fl_explanation *got =
        explain_sizes("2.00 GiB", "1.00 MiB", NULL, "7.00 GiB", "100.00 MiB");
    assert_int_equal(got->printed_advice_helps, FL_HELPS_NO);
    assert_non_null(strstr(got->printed_advice, "cannot help"));
    assert_false(says(&got->advice, "expandable_segments:True"));
}

static void old_releases_lack_expandable_segments(void **state)
{
    (void)state;
    const fl_explanation *got = explain_text(
        "CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 8.00 GiB total capacity; 6.00 GiB "
        "already allocated; 0 bytes free; 7.00 GiB reserved in total by PyTorch) If reserved "
        "memory "
        "is >> allocated memory try setting max_split_size_mb to avoid fragmentation.");
    assert_true(says(&got->advice, "this message is of an older release"));
    assert_true(
        says(&got->advice, "max_split_size_mb does nothing for a request of at most 1 MiB"));
    assert_non_null(strstr(got->printed_advice, "acts on large blocks only"));
}

static void builds_have_variables_of_their_own(void **state)
{
    (void)state;
    const fl_explanation *got = explain_text("HIP out of memory. Tried to allocate 200.00 MiB. GPU "
                                             "0 has a total capacity of 8.00 GiB of "
                                             "which 1.00 MiB is free. Of the allocated memory 6.00 "
                                             "GiB is allocated by PyTorch, and 1.00 "
                                             "GiB is reserved by PyTorch but unallocated.");
    assert_true(says(&got->advice, "PYTORCH_HIP_ALLOC_CONF"));
    assert_string_equal(got->printed_advice, "");
}

static void ranks_of_a_job_may_sit_on_one_card(void **state)
{
    (void)state;
    const fl_explanation *got = explain_sizes(
        "1.00 GiB", "100.00 MiB",
        "Process 7 has 2.00 GiB memory in use. Process 8 has 2.00 GiB memory in use. Including "
        "non-PyTorch memory, this process has 3.40 GiB memory in use. ",
        "2.00 GiB", "100.00 MiB");
    assert_int_equal(got->trouble, FL_TROUBLE_OUTSIDE);
    assert_true(says(&got->advice, "ranks of the same job"));
    assert_true(says(&got->advice, "Another library of this very process"));
}

static void other_printed_advice_is_judged_too(void **state)
{
    (void)state;
    const fl_explanation *got = explain_text(
        "XPU out of memory. Tried to allocate 32.00 GiB. GPU 0 has a total capacity of 11.59 GiB "
        "of "
        "which 9.01 GiB is free. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 "
        "bytes is reserved by PyTorch but unallocated. Please use `empty_cache` to release all "
        "unoccupied cached memory.");
    assert_int_equal(got->trouble, FL_TROUBLE_FULL);
    assert_int_equal(got->printed_advice_helps, FL_HELPS_NO);
    assert_true(says(&got->advice, "shapes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_call_for_expandable_segments),
        cmocka_unit_test(a_full_card_is_not_helped_by_settings),
        cmocka_unit_test(old_releases_lack_expandable_segments),
        cmocka_unit_test(builds_have_variables_of_their_own),
        cmocka_unit_test(ranks_of_a_job_may_sit_on_one_card),
        cmocka_unit_test(other_printed_advice_is_judged_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
