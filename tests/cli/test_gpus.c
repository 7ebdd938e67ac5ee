#include "cli/gpus.h"
#include "test.h"

#include <string.h>

static void a_card_is_found_by_its_name_in_any_case(void **state)
{
    (void)state;
    assert_string_equal(fl_gpu_find("h100-80gb")->name, "H100-80GB");
    assert_null(fl_gpu_find("H100"));
    assert_null(fl_gpu_find(""));
}

static void every_card_has_less_than_is_on_its_box_and_room_for_a_context(void **state)
{
    (void)state;
    for (size_t i = 0; fl_gpu_at(i) != NULL; i++) {
        const fl_gpu *gpu = fl_gpu_at(i);
        assert_true(gpu->total_bytes < (uint64_t)gpu->sold_as_gb << 30);
        assert_true(gpu->total_bytes > (uint64_t)gpu->sold_as_gb * 900000000);
        assert_true(gpu->total_bytes > 4 * FL_GPU_CONTEXT_BYTES);
        assert_true(gpu->known_to > 0 && gpu->known_to < gpu->total_bytes / 100);
    }
}

static void every_name_is_given_once(void **state)
{
    (void)state;
    for (size_t i = 1; fl_gpu_at(i) != NULL; i++)
        assert_ptr_equal(fl_gpu_find(fl_gpu_at(i)->name), fl_gpu_at(i));
}

static void cards_sold_as_a_size_come_one_after_the_other(void **state)
{
    (void)state;
    const fl_gpu *first = fl_gpu_sold_as(NULL, 80);
    const fl_gpu *second = fl_gpu_sold_as(first, 80);
    assert_string_equal(first->name, "A100-80GB");
    assert_string_equal(second->name, "H100-80GB");
    assert_null(fl_gpu_sold_as(second, 80));
    assert_null(fl_gpu_sold_as(NULL, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_card_is_found_by_its_name_in_any_case),
        cmocka_unit_test(every_card_has_less_than_is_on_its_box_and_room_for_a_context),
        cmocka_unit_test(every_name_is_given_once),
        cmocka_unit_test(cards_sold_as_a_size_come_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
