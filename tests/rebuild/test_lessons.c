#include "rebuild/lessons.h"

#include "failing_host.h"
#include "recording.h"
#include "test.h"

static void learn(fl_lessons *lessons, const fl_lesson *lesson, bool is_new)
{
    bool was_new = !is_new;
    assert_int_equal(fl_lessons_learn(fl_host_default(), lessons, lesson, &was_new, NULL), FL_OK);
    assert_int_equal(was_new, is_new);
}

static void what_is_known_already_is_no_lesson(void **state)
{
    (void)state;
    fl_lessons lessons = {.left = 8};
    fl_lesson ages = {.ages = {{{0x1000, 0x2000}}, 1}}, other = {.ages = {{{0x2000, 0x3000}}, 1}};
    learn(&lessons, &ages, true);
    learn(&lessons, &other, true);
    learn(&lessons, &ages, false);
    learn(&lessons, &(fl_lesson){.excuse = FL_EXCUSE_OLD_ORDER}, false);
    assert_int_equal(lessons.ages.count, 4);
    fl_lessons_deinit(fl_host_default(), &lessons);
}

static void a_larger_tail_takes_the_place_of_a_smaller_one(void **state)
{
    (void)state;
    fl_lessons lessons = {.left = 8};
    learn(&lessons, &(fl_lesson){.tail = {0x1000, 512}}, true);
    learn(&lessons, &(fl_lesson){.tail = {0x1000, 1024}}, true);
    assert_int_equal(lessons.tails.count, 2);
    assert_int_equal(lessons.tails.items[1], 1024);
    fl_lessons_deinit(fl_host_default(), &lessons);
}

static void no_more_is_learnt_than_is_left(void **state)
{
    (void)state;
    fl_lessons lessons = {.left = 1};
    learn(&lessons, &(fl_lesson){.tail = {0x1000, 512}}, true);
    learn(&lessons, &(fl_lesson){.tail = {0x2000, 512}}, false);
    assert_int_equal(lessons.tails.count, 2);
    fl_lessons_deinit(fl_host_default(), &lessons);
}

static fl_status copy_and_tell(const fl_host *host, void *user, fl_error *error)
{
    fl_lessons copy = {0};
    fl_trace_start start = {0};
    fl_status status = fl_lessons_copy(host, user, &copy, error);
    if (status == FL_OK)
        status = fl_lessons_tell(host, &copy, &start, error);
    if (status == FL_OK) {
        assert_int_equal(start.ages.count, 2);
        assert_int_equal(start.ages.items[1], 0x2000);
        assert_int_equal(start.tails.items[0], 0x1000);
    }
    fl_lessons_deinit(host, &copy);
    fl_trace_drop_start(host, &start);
    return status;
}

static void a_start_state_is_told_all_of_it(void **state)
{
    (void)state;
    fl_lessons lessons = {.left = 8};
    learn(&lessons, &(fl_lesson){.ages = {{{0x1000, 0x2000}}, 1}}, true);
    learn(&lessons, &(fl_lesson){.tail = {0x1000, 512}}, true);
    assert_true(failing_host_sweep(copy_and_tell, &lessons) >= 4);
    fl_lessons_deinit(fl_host_default(), &lessons);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_known_already_is_no_lesson),
        cmocka_unit_test(a_larger_tail_takes_the_place_of_a_smaller_one),
        cmocka_unit_test(no_more_is_learnt_than_is_left),
        cmocka_unit_test(a_start_state_is_told_all_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
