#include "heap/picture.h"

#include "failing_host.h"
#include "test.h"

#include <string.h>

/* A picture of one segment with the blocks given. */
static fl_picture draw(const fl_host *host, const fl_segment_view *segment,
                       const fl_block_view *blocks, size_t count)
{
    fl_picture picture;
    fl_picture_init(&picture, host);
    fl_walk walk = fl_picture_walk(&picture);
    walk.segment(walk.user, segment);
    for (size_t i = 0; i < count; i++)
        walk.block(walk.user, &blocks[i]);
    return picture;
}

static const fl_segment_view ground = {.segment = 3, .address = 1000, .size = 100};
static const fl_block_view blocks[] = {{FL_BLOCK_LIVE, 4, 1000, 40, 33, 0, 0},
                                       {FL_BLOCK_PENDING, 5, 1040, 20, 20, 0, 0},
                                       {FL_BLOCK_FREE, FL_NONE, 1060, 40, 0, 0, 0}};

static void a_picture_agrees_with_itself(void **state)
{
    (void)state;
    fl_picture picture = draw(fl_host_default(), &ground, blocks, COUNT_OF(blocks));
    assert_int_equal(fl_picture_compare(&picture, "a", &picture, "b", NULL), FL_OK);
    fl_picture_deinit(&picture);
}

static void free_blocks_that_touch_are_one_and_their_request_does_not_count(void **state)
{
    (void)state;
    static const fl_block_view parted[] = {{FL_BLOCK_LIVE, 4, 1000, 40, 33, 0, 0},
                                           {FL_BLOCK_PENDING, 5, 1040, 20, 20, 0, 0},
                                           {FL_BLOCK_FREE, FL_NONE, 1060, 10, 7, 0, 0},
                                           {FL_BLOCK_FREE, FL_NONE, 1070, 30, 0, 0, 0}};
    fl_picture left = draw(fl_host_default(), &ground, blocks, COUNT_OF(blocks));
    fl_picture right = draw(fl_host_default(), &ground, parted, COUNT_OF(parted));
    assert_int_equal(fl_picture_compare(&left, "a", &right, "b", NULL), FL_OK);
    fl_picture_deinit(&left);
    fl_picture_deinit(&right);
}

static void the_first_difference_is_told_in_words(void **state)
{
    (void)state;
    static const struct {
        fl_segment_view segment;
        fl_block_view second;
        const char *text;
    } cases[] = {
        {{.segment = 3, .address = 1000, .size = 100},
         {FL_BLOCK_LIVE, 5, 1040, 20, 20, 0, 0},
         "left: pending block at 0x410, 20 bytes for 20, number 5; "
         "right: live block at 0x410, 20 bytes for 20, number 5"},
        {{.segment = 3, .address = 1000, .size = 100},
         {FL_BLOCK_FREE, FL_NONE, 1040, 20, 20, 0, 0},
         "left: pending block at 0x410, 20 bytes for 20, number 5; "
         "right: free block at 0x410, 60 bytes"},
        {{.segment = 3, .address = 1000, .size = 100, .is_expandable = true, .is_small = true},
         {FL_BLOCK_PENDING, 5, 1040, 20, 20, 0, 0},
         "left: large segment 3 at 0x3e8, 100 bytes, stream 0, pool 0; "
         "right: expandable small segment 3 at 0x3e8, 100 bytes, stream 0, pool 0"},
    };
    fl_picture left = draw(fl_host_default(), &ground, blocks, COUNT_OF(blocks));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const fl_block_view other[] = {blocks[0], cases[i].second, blocks[2]};
        fl_picture right = draw(fl_host_default(), &cases[i].segment, other, COUNT_OF(other));
        fl_error error = {0};
        assert_int_equal(fl_picture_compare(&left, "left", &right, "right", &error), FL_ERR_NO);
        assert_string_equal(error.text, cases[i].text);
        fl_picture_deinit(&right);
    }
    fl_picture_deinit(&left);
}

static void what_only_one_of_them_has_is_a_difference(void **state)
{
    (void)state;
    fl_picture full = draw(fl_host_default(), &ground, blocks, COUNT_OF(blocks));
    fl_picture less = draw(fl_host_default(), &ground, blocks, COUNT_OF(blocks) - 1);
    fl_picture none;
    fl_error error = {0};
    fl_picture_init(&none, fl_host_default());
    assert_int_equal(fl_picture_compare(&full, "a", &less, "b", &error), FL_ERR_NO);
    assert_non_null(strstr(error.text, "b: no block"));
    error = (fl_error){0};
    assert_int_equal(fl_picture_compare(&none, "a", &full, "b", &error), FL_ERR_NO);
    assert_non_null(strstr(error.text, "a: no segment"));
    fl_picture_deinit(&full);
    fl_picture_deinit(&less);
    fl_picture_deinit(&none);
}

static void a_block_before_any_segment_spoils_the_picture(void **state)
{
    (void)state;
    fl_picture picture;
    fl_picture_init(&picture, fl_host_default());
    fl_walk walk = fl_picture_walk(&picture);
    walk.block(walk.user, &blocks[0]);
    assert_int_equal(fl_picture_compare(&picture, "a", &picture, "b", NULL), FL_ERR_INTERNAL);
    fl_picture_deinit(&picture);
}

static fl_status draw_and_compare(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_picture picture = draw(host, &ground, blocks, COUNT_OF(blocks));
    fl_status status = fl_picture_compare(&picture, "a", &picture, "b", error);
    fl_picture_deinit(&picture);
    return status;
}

static void a_host_without_memory_is_told_at_the_comparison(void **state)
{
    (void)state;
    assert_int_equal(failing_host_sweep(draw_and_compare, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_agrees_with_itself),
        cmocka_unit_test(free_blocks_that_touch_are_one_and_their_request_does_not_count),
        cmocka_unit_test(the_first_difference_is_told_in_words),
        cmocka_unit_test(what_only_one_of_them_has_is_a_difference),
        cmocka_unit_test(a_block_before_any_segment_spoils_the_picture),
        cmocka_unit_test(a_host_without_memory_is_told_at_the_comparison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
