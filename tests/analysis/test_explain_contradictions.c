#include "explaining.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

/* The message that made the question: a card of 79 GiB, all of it PyTorch's, and 2 MiB fail. */
static void the_famous_message_reserves_more_than_the_card_has(void **state)
{
    (void)state;
    const fl_explanation *got = explain_text(
        "RuntimeError: CUDA out of memory. Tried to allocate 2.00 MiB (GPU 0; 79.12 GiB total "
        "capacity; 79.10 GiB already allocated; 0 bytes free; 79.41 GiB reserved in total by "
        "PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid "
        "fragmentation.  See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF");
    assert_int_equal(got->trouble, FL_TROUBLE_INCONSISTENT);
    assert_int_equal(got->certainty, FL_CERTAINTY_PROVED);
    assert_int_equal(got->contradiction_count, 1);
    assert_non_null(strstr(got->sentence, "Reserved (79.41 GiB) exceeds the card (79.12 GiB)"));
    assert_non_null(strstr(got->contradictions[0].causes[0], "two messages"));
    assert_true(says(&got->evidence, "at most 1 MiB"));
}

static const fl_explanation *explain_old(const char *numbers)
{
    char text[512];
    snprintf(text, sizeof text, "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; %s",
             numbers);
    return explain_text(text);
}

static void only_what_rounding_cannot_explain_is_a_contradiction(void **state)
{
    (void)state;
    static const struct {
        const char *numbers;
        size_t count;
        const char *words;
    } rows[] = {
        {"8.00 GiB total capacity; 8.00 GiB already allocated; 0 bytes free; 8.00 GiB reserved in "
         "total by PyTorch)",
         0, NULL},
        {"8.00 GiB total capacity; 8.00 GiB already allocated; 0 bytes free; 8.01 GiB reserved in "
         "total by PyTorch)",
         1, "Reserved (8.01 GiB) exceeds the card"},
        {"8.00 GiB total capacity; 9.00 GiB already allocated; 0 bytes free; 9.10 GiB reserved in "
         "total by PyTorch)",
         1, "Allocated (9.00 GiB) exceeds the card"},
        {"8.00 GiB total capacity; 5.00 GiB already allocated; 10.00 MiB free; 4.00 GiB reserved "
         "in "
         "total by PyTorch)",
         1, "exceeds reserved"},
        {"8.00 GiB total capacity; 5.00 GiB already allocated; 9.00 GiB free; 6.00 GiB reserved in "
         "total by PyTorch)",
         2, "Free (9.00 GiB) exceeds the card"},
        {"8.00 GiB total capacity; 5.00 GiB already allocated; 4.00 GiB free; 6.00 GiB reserved in "
         "total by PyTorch)",
         2, "together exceed the card"},
        {"8.00 GiB total capacity; 5.00 GiB already allocated; 20.00 MiB free; 6.00 GiB reserved "
         "in "
         "total by PyTorch)",
         0, NULL},
        {"8.00 GiB total capacity; 5.00 GiB already allocated; 20.02 MiB free; 6.00 GiB reserved "
         "in "
         "total by PyTorch)",
         1, "yet the driver refused"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const fl_explanation *got = explain_old(rows[i].numbers);
        if (got->contradiction_count != rows[i].count)
            fail_msg("row %zu: %zu contradictions", i, got->contradiction_count);
        if (rows[i].count > 0) {
            assert_non_null(strstr(got->contradictions[0].sentence, rows[i].words));
            assert_non_null(got->contradictions[0].causes[0]);
        }
    }
}

/* Where the driver cannot tell what a process uses, it is Windows', and that lends memory. */
static void the_likeliest_cause_depends_on_the_system(void **state)
{
    (void)state;
    const fl_explanation *got = explain_sizes(
        "32.00 MiB", "0 bytes",
        "Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. ",
        "9.00 GiB", "1.00 MiB");
    assert_non_null(strstr(got->contradictions[0].causes[0], "lends system memory"));
    assert_true(says(&got->evidence, "2^64"));
    assert_int_equal(got->printed_advice_helps, FL_HELPS_NO);
}

static void a_process_cannot_use_more_than_there_is(void **state)
{
    (void)state;
    const fl_explanation *got =
        explain_sizes("32.00 MiB", "0 bytes",
                      "Including non-PyTorch memory, this process has 9.00 GiB memory in use. ",
                      "6.00 GiB", "1.00 MiB");
    assert_int_equal(got->contradiction_count, 1);
    assert_non_null(strstr(got->contradictions[0].causes[0], "driver's library"));
}

/* 2.1 to 2.4 leave the limit out of the text. */
static void a_memory_fraction_may_hide_behind_free_memory(void **state)
{
    (void)state;
    const fl_explanation *got = explain_sizes("32.00 MiB", "4.00 GiB", NULL, "2.00 GiB", "0 bytes");
    assert_non_null(strstr(got->contradictions[0].causes[0], "memory fraction"));
    got = explain_old("8.00 GiB total capacity; 2.00 GiB already allocated; 4.00 GiB free; 2.00 "
                      "GiB reserved in total by PyTorch)");
    assert_null(strstr(got->contradictions[0].causes[0], "memory fraction"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_famous_message_reserves_more_than_the_card_has),
        cmocka_unit_test(only_what_rounding_cannot_explain_is_a_contradiction),
        cmocka_unit_test(the_likeliest_cause_depends_on_the_system),
        cmocka_unit_test(a_process_cannot_use_more_than_there_is),
        cmocka_unit_test(a_memory_fraction_may_hide_behind_free_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
