#include "interpose/card.h"

#include "base/units.h"
#include "test.h"

#define FIRST_SEGMENT UINT64_C(0x7f0000000000)

enum { MOST_STEPS = 16 };

struct seen {
    size_t count;
    struct {
        fl_card_step step;
        uint64_t address, size;
    } steps[MOST_STEPS];
};

static void see(void *user, fl_card_step step, uint64_t address, uint64_t size)
{
    struct seen *seen = user;
    assert_true(seen->count < MOST_STEPS);
    seen->steps[seen->count].step = step;
    seen->steps[seen->count].address = address;
    seen->steps[seen->count++].size = size;
}

static void expect_step(const struct seen *seen, size_t at, fl_card_step step, uint64_t address,
                        uint64_t size)
{
    assert_true(at < seen->count);
    assert_int_equal(seen->steps[at].step, step);
    assert_int_equal(seen->steps[at].address, address);
    assert_int_equal(seen->steps[at].size, size);
}

static void open_card(uint64_t capacity, struct seen *seen)
{
    fl_card_options options = {.capacity_bytes = capacity,
                               .context_bytes = 100,
                               .watch = seen != NULL ? see : NULL,
                               .user = seen};
    assert_int_equal(fl_card_open(&options, NULL), FL_OK);
}

static int close_card(void **state)
{
    (void)state;
    fl_card_close();
    return 0;
}

static void without_a_card_every_call_is_an_error(void **state)
{
    (void)state;
    uint64_t number = 7;
    fl_card_use use;
    assert_false(fl_card_is_open());
    assert_false(fl_card_get_use(&use));
    assert_int_equal(fl_card_malloc(1, &number), FL_ANSWER_ERROR);
    assert_int_equal(fl_card_free(FIRST_SEGMENT), FL_ANSWER_ERROR);
    assert_int_equal(fl_card_reserve(1, &number), FL_ANSWER_ERROR);
    assert_int_equal(fl_card_unreserve(1, 1), FL_ANSWER_ERROR);
    assert_int_equal(fl_card_page_create(1, &number), FL_ANSWER_ERROR);
    assert_int_equal(fl_card_page_free(1), FL_ANSWER_ERROR);
    assert_int_equal(fl_card_map(1, 1, 1), FL_ANSWER_ERROR);
    assert_int_equal(fl_card_unmap(1, 1), FL_ANSWER_ERROR);
    assert_int_equal(number, 7);
    fl_card_close();
}

static void segments_lie_in_the_lowest_gap_and_are_seen(void **state)
{
    (void)state;
    struct seen seen = {0};
    uint64_t a, b, c;
    open_card(8 * FL_MIB, &seen);
    assert_int_equal(fl_card_malloc(3 * FL_MIB, &a), FL_ANSWER_OK);
    assert_int_equal(fl_card_malloc(2 * FL_MIB, &b), FL_ANSWER_OK);
    assert_int_equal(a, FIRST_SEGMENT);
    assert_int_equal(b, FIRST_SEGMENT + 4 * FL_MIB);
    assert_int_equal(fl_card_malloc(3 * FL_MIB, &c), FL_ANSWER_FULL);
    assert_int_equal(fl_card_free(a), FL_ANSWER_OK);
    assert_int_equal(fl_card_malloc(1, &c), FL_ANSWER_OK);
    assert_int_equal(c, FIRST_SEGMENT);
    assert_int_equal(seen.count, 5);
    expect_step(&seen, 0, FL_CARD_MALLOC, a, 3 * FL_MIB);
    expect_step(&seen, 2, FL_CARD_MALLOC_REFUSED, 0, 3 * FL_MIB);
    expect_step(&seen, 3, FL_CARD_FREE, a, 3 * FL_MIB);
}

static void what_was_not_handed_out_is_not_taken_back(void **state)
{
    (void)state;
    struct seen seen = {0};
    uint64_t a;
    open_card(8 * FL_MIB, &seen);
    assert_int_equal(fl_card_malloc(1, &a), FL_ANSWER_OK);
    assert_int_equal(fl_card_free(a + 512), FL_ANSWER_ERROR);
    assert_int_equal(fl_card_free(a), FL_ANSWER_OK);
    assert_int_equal(fl_card_free(a), FL_ANSWER_ERROR);
    assert_int_equal(seen.count, 2);
}

static void pages_count_until_they_are_unmapped_and_let_go(void **state)
{
    (void)state;
    struct seen seen = {0};
    uint64_t range, page, other;
    fl_card_use use;
    open_card(2 * FL_MIB, &seen);
    assert_int_equal(fl_card_reserve(8 * FL_MIB, &range), FL_ANSWER_OK);
    assert_int_equal(fl_card_page_create(2 * FL_MIB, &page), FL_ANSWER_OK);
    assert_int_equal(fl_card_map(range, 2 * FL_MIB, page), FL_ANSWER_OK);
    assert_int_equal(fl_card_page_free(page), FL_ANSWER_OK);
    assert_int_equal(fl_card_page_create(1, &other), FL_ANSWER_FULL);
    assert_int_equal(fl_card_unmap(range, 2 * FL_MIB), FL_ANSWER_OK);
    assert_true(fl_card_get_use(&use));
    assert_int_equal(use.free_bytes, 2 * FL_MIB);
    assert_int_equal(fl_card_unreserve(range, 8 * FL_MIB), FL_ANSWER_OK);
    assert_int_equal(seen.count, 3);
    expect_step(&seen, 0, FL_CARD_MAP, range, 2 * FL_MIB);
    expect_step(&seen, 1, FL_CARD_PAGE_REFUSED, 0, 2 * FL_MIB);
    expect_step(&seen, 2, FL_CARD_UNMAP, range, 2 * FL_MIB);
}

static void use_counts_the_context_with_the_process(void **state)
{
    (void)state;
    uint64_t a;
    fl_card_use use;
    open_card(8 * FL_MIB, NULL);
    assert_int_equal(fl_card_malloc(1, &a), FL_ANSWER_OK);
    assert_true(fl_card_get_use(&use));
    assert_int_equal(use.total_bytes, 8 * FL_MIB + 100);
    assert_int_equal(use.free_bytes, 6 * FL_MIB);
    assert_int_equal(use.process_bytes, 2 * FL_MIB + 100);
    assert_int_equal(use.mallocs, 1);
}

static void opening_again_begins_with_an_empty_card(void **state)
{
    (void)state;
    uint64_t a;
    fl_card_use use;
    open_card(8 * FL_MIB, NULL);
    assert_int_equal(fl_card_malloc(1, &a), FL_ANSWER_OK);
    open_card(4 * FL_MIB, NULL);
    assert_true(fl_card_get_use(&use));
    assert_int_equal(use.free_bytes, 4 * FL_MIB);
    assert_int_equal(use.mallocs, 0);
    assert_int_equal(fl_card_free(a), FL_ANSWER_ERROR);
}

static void a_card_larger_than_any_is_refused(void **state)
{
    (void)state;
    fl_error error = {0};
    fl_card_options options = {.capacity_bytes = UINT64_MAX, .context_bytes = 1};
    assert_int_equal(fl_card_open(&options, &error), FL_ERR_USAGE);
    assert_false(fl_card_is_open());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_card_every_call_is_an_error),
        cmocka_unit_test_teardown(segments_lie_in_the_lowest_gap_and_are_seen, close_card),
        cmocka_unit_test_teardown(what_was_not_handed_out_is_not_taken_back, close_card),
        cmocka_unit_test_teardown(pages_count_until_they_are_unmapped_and_let_go, close_card),
        cmocka_unit_test_teardown(use_counts_the_context_with_the_process, close_card),
        cmocka_unit_test_teardown(opening_again_begins_with_an_empty_card, close_card),
        cmocka_unit_test(a_card_larger_than_any_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
