#include "device/recorded.h"

#include "base/units.h"
#include "failing_host.h"
#include "test.h"

#define MIB(n) ((uint64_t)(n)*FL_MIB)

static fl_device *open_record(const fl_device_record *record)
{
    fl_device *device = NULL;
    fl_device_env env = {.capacity_bytes = UINT64_MAX, .record = record};
    assert_int_equal(fl_device_open(fl_device_find("recorded"), &env, &device, NULL), FL_OK);
    return device;
}

/* The address granted, or 0. */
static uint64_t acquire(fl_device *device, uint64_t size)
{
    uint64_t address = 0;
    assert_int_not_equal(fl_device_acquire(device, size, 0, &address), FL_ANSWER_ERROR);
    return address;
}

static void release(fl_device *device, uint64_t address, uint64_t size)
{
    assert_int_equal(fl_device_release(device, address, size), FL_ANSWER_OK);
}

static uint64_t reserve(fl_device *device, uint64_t page_size, uint32_t stream)
{
    uint64_t address = 0;
    assert_int_equal(fl_device_reserve(device, MIB(1000), page_size, stream, &address),
                     FL_ANSWER_OK);
    return address;
}

/* As the torch policy maps: all pages are made, or those made are freed again. */
static bool grow(fl_device *device, uint64_t address, uint64_t count, uint64_t page_size)
{
    uint64_t pages[16];
    assert_true(count <= COUNT_OF(pages));
    for (uint64_t i = 0; i < count; i++) {
        if (fl_device_page_create(device, page_size, &pages[i]) == FL_ANSWER_OK)
            continue;
        while (i-- > 0)
            assert_int_equal(fl_device_page_free(device, pages[i]), FL_ANSWER_OK);
        return false;
    }
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(fl_device_map(device, address + i * page_size, page_size, pages[i]),
                         FL_ANSWER_OK);
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(fl_device_page_free(device, pages[i]), FL_ANSWER_OK);
    return true;
}

static void shrink(fl_device *device, uint64_t address, uint64_t size)
{
    assert_int_equal(fl_device_unmap(device, address, size), FL_ANSWER_OK);
}

static void without_a_record_it_does_not_open(void **state)
{
    (void)state;
    fl_device *device = NULL;
    fl_device_env env = {.capacity_bytes = UINT64_MAX};
    fl_error error = {0};
    assert_int_equal(fl_device_open(fl_device_find("recorded"), &env, &device, &error),
                     FL_ERR_USAGE);
    assert_null(device);
    assert_true(error.text[0] != '\0');
}

static void an_empty_record_refuses_everything(void **state)
{
    (void)state;
    fl_device *device = open_record(&(fl_device_record){0});
    fl_device_recorded_seek(device, 0, UINT64_MAX);
    assert_int_equal(acquire(device, 1), 0);
    assert_false(grow(device, reserve(device, MIB(20), 0), 1, MIB(2)));
    assert_int_equal(fl_device_get_info(device)->refusals, 2);
    fl_device_close(device);
}

static void segments_come_at_their_recorded_addresses(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {10, 0xa00000, MIB(2), 0, FL_RECORDED_ALLOC},
        {20, 0x100000, MIB(20), 0, FL_RECORDED_ALLOC},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 0, 11);
    assert_int_equal(acquire(device, MIB(20)), 0);
    assert_int_equal(acquire(device, MIB(2)), 0xa00000);
    assert_int_equal(acquire(device, MIB(20)), 0);
    fl_device_recorded_seek(device, 12, 21);
    assert_int_equal(acquire(device, MIB(2)), 0);
    assert_int_equal(fl_device_get_info(device)->used_bytes, MIB(2));
    release(device, 0xa00000, MIB(2));
    fl_device_close(device);
}

static void what_an_op_did_not_take_is_passed_over(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {0, MIB(100), MIB(2), 0, FL_RECORDED_ALLOC},
        {5, MIB(200), MIB(2), 0, FL_RECORDED_ALLOC},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 0, 1);
    fl_device_recorded_seek(device, 2, 6);
    assert_int_equal(acquire(device, MIB(2)), MIB(200));
    fl_device_close(device);
}

/* Collected 1; failed; 2 and 3 given back, in another order than recorded; granted. */
static void a_failed_attempt_shows_in_what_was_given_back_for_it(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {0, MIB(100), MIB(20), 0, FL_RECORDED_ALLOC}, {2, MIB(200), MIB(30), 0, FL_RECORDED_ALLOC},
        {4, MIB(300), MIB(40), 0, FL_RECORDED_ALLOC}, {6, MIB(100), MIB(20), 0, FL_RECORDED_FREE},
        {7, MIB(200), MIB(30), 0, FL_RECORDED_FREE},  {8, MIB(300), MIB(40), 0, FL_RECORDED_FREE},
        {9, MIB(500), MIB(60), 0, FL_RECORDED_ALLOC},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 0, 5);
    acquire(device, MIB(20));
    acquire(device, MIB(30));
    acquire(device, MIB(40));
    fl_device_recorded_seek(device, 6, 10);
    release(device, MIB(100), MIB(20));
    assert_int_equal(acquire(device, MIB(60)), 0);
    release(device, MIB(300), MIB(40));
    assert_int_equal(acquire(device, MIB(60)), 0);
    release(device, MIB(200), MIB(30));
    assert_int_equal(acquire(device, MIB(60)), MIB(500));
    assert_int_equal(fl_device_get_info(device)->used_bytes, MIB(60));
    fl_device_close(device);
}

static void an_inferred_trim_shares_the_records_of_the_next_op(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {0, MIB(100), MIB(20), 0, FL_RECORDED_ALLOC},
        {2, MIB(100), MIB(20), 0, FL_RECORDED_FREE},
        {3, MIB(100), MIB(22), 0, FL_RECORDED_ALLOC},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 0, 1);
    acquire(device, MIB(20));
    fl_device_recorded_seek(device, 2, 2);
    release(device, MIB(100), MIB(20));
    fl_device_recorded_seek(device, 2, 4);
    assert_int_equal(acquire(device, MIB(22)), MIB(100));
    fl_device_close(device);
}

/* 2 pages mapped, the next 3 refused; everything free unmapped; then 5 at once. */
static void a_mapping_that_failed_midway_fails_there_again(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {0, MIB(400), MIB(20), 3, FL_RECORDED_MAP},
        {2, MIB(420), MIB(40), 3, FL_RECORDED_MAP},
        {3, MIB(420), MIB(40), 3, FL_RECORDED_UNMAP},
        {4, MIB(420), MIB(100), 3, FL_RECORDED_MAP},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 0, 1);
    uint64_t base = reserve(device, MIB(20), 3);
    assert_int_equal(base, MIB(400));
    assert_true(grow(device, base, 1, MIB(20)));
    fl_device_recorded_seek(device, 2, 5);
    assert_true(grow(device, base + MIB(20), 2, MIB(20)));
    assert_false(grow(device, base + MIB(60), 3, MIB(20)));
    shrink(device, base + MIB(40), MIB(20));
    assert_false(grow(device, base + MIB(20), 5, MIB(20)));
    shrink(device, base + MIB(20), MIB(20));
    assert_false(grow(device, base + MIB(20), 6, MIB(20)));
    assert_true(grow(device, base + MIB(20), 5, MIB(20)));
    assert_int_equal(fl_device_get_info(device)->used_bytes, MIB(120));
    fl_device_close(device);
}

static void pages_of_a_refused_call_leave_room_for_the_next(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {{0, MIB(400), MIB(42), 0, FL_RECORDED_MAP}};
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 0, 1);
    assert_false(grow(device, MIB(400), 3, MIB(21)));
    assert_int_equal(fl_device_get_info(device)->used_bytes, 0);
    assert_true(grow(device, MIB(400), 2, MIB(21)));
    assert_int_equal(fl_device_get_info(device)->used_bytes, MIB(44));
    assert_false(grow(device, MIB(442), 1, MIB(21)));
    fl_device_close(device);
}

/* Stream 0 has two ranges, stream 1 one; later pages of a range are no base. */
static void ranges_begin_where_they_are_first_mapped(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {0, MIB(1000), MIB(20), 0, FL_RECORDED_MAP}, {1, MIB(9000), MIB(20), 1, FL_RECORDED_MAP},
        {2, MIB(1020), MIB(60), 0, FL_RECORDED_MAP}, {3, MIB(1040), MIB(20), 0, FL_RECORDED_UNMAP},
        {4, MIB(5000), MIB(2), 0, FL_RECORDED_MAP},  {5, MIB(1040), MIB(20), 0, FL_RECORDED_MAP},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 0, 10);
    assert_int_equal(reserve(device, MIB(20), 1), MIB(9000));
    assert_int_equal(reserve(device, MIB(20), 0), MIB(1000));
    assert_int_equal(reserve(device, MIB(2), 0), MIB(5000));
    uint64_t spare = reserve(device, MIB(20), 0);
    assert_true(spare >= MIB(9020));
    assert_true(reserve(device, MIB(20), 7) >= spare + MIB(1000));
    fl_device_close(device);
}

static void a_range_without_pages_is_given_up(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {0, MIB(1000), MIB(40), 0, FL_RECORDED_MAP},
        {2, MIB(1000), MIB(20), 0, FL_RECORDED_UNMAP},
        {3, MIB(1020), MIB(20), 0, FL_RECORDED_UNMAP},
        {4, MIB(1000), MIB(20), 0, FL_RECORDED_MAP},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 0, 1);
    assert_int_equal(reserve(device, MIB(20), 0), MIB(1000));
    assert_true(grow(device, MIB(1000), 2, MIB(20)));
    fl_device_recorded_seek(device, 2, 5);
    shrink(device, MIB(1000), MIB(40));
    assert_int_equal(fl_device_unreserve(device, MIB(1000), MIB(1000)), FL_ANSWER_OK);
    assert_int_equal(reserve(device, MIB(20), 0), MIB(1000));
    assert_true(grow(device, MIB(1000), 1, MIB(20)));
    fl_device_close(device);
}

static void a_range_given_up_at_once_leaves_the_base_to_the_next(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {0, MIB(1000), MIB(20), 0, FL_RECORDED_MAP},
        {1, MIB(5000), MIB(20), 0, FL_RECORDED_MAP},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 0, 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(reserve(device, MIB(20), 0), MIB(1000));
        assert_int_equal(fl_device_unreserve(device, MIB(1000), MIB(1000)), FL_ANSWER_OK);
    }
    assert_int_equal(reserve(device, MIB(20), 0), MIB(1000));
    assert_int_equal(reserve(device, MIB(20), 0), MIB(5000));
    fl_device_close(device);
}

/* A range larger than the card leaves an empty range behind; another pool's comes next. */
static void a_range_refused_its_first_page_leaves_the_base_to_the_one_that_maps_it(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {5, MIB(1000), MIB(20), 0, FL_RECORDED_MAP},
        {7, MIB(5000), MIB(20), 0, FL_RECORDED_MAP},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 0, 1);
    assert_int_equal(reserve(device, MIB(20), 0), MIB(1000));
    assert_false(grow(device, MIB(1000), 1, MIB(20)));
    assert_int_equal(reserve(device, MIB(20), 0), MIB(5000));
    fl_device_recorded_seek(device, 1, 6);
    assert_int_equal(reserve(device, MIB(20), 0), MIB(1000));
    assert_true(grow(device, MIB(1000), 1, MIB(20)));
    fl_device_recorded_seek(device, 6, 8);
    assert_int_equal(reserve(device, MIB(20), 0), MIB(5000));
    assert_true(grow(device, MIB(5000), 1, MIB(20)));
    fl_device_close(device);
}

/* A range for large pages is refused its first page for a whole op; the small one comes first. */
static void ranges_of_large_and_small_pages_are_told_apart(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {4, MIB(1000), MIB(2), 0, FL_RECORDED_MAP},
        {6, MIB(5000), MIB(40), 0, FL_RECORDED_MAP},
    };
    for (int first = 0; first < 2; first++) {
        fl_device *device =
            open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
        fl_device_recorded_seek(device, 0, 1);
        if (first == 0)
            assert_int_equal(reserve(device, MIB(20), 0), MIB(5000));
        assert_int_equal(reserve(device, MIB(2), 0), MIB(1000));
        if (first == 1)
            assert_int_equal(reserve(device, MIB(20), 0), MIB(5000));
        assert_true(reserve(device, MIB(2), 0) > MIB(5040));
        fl_device_close(device);
    }
}

static void a_base_that_was_passed_is_not_handed_out(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {0, MIB(1000), MIB(20), 0, FL_RECORDED_MAP},
        {4, MIB(5000), MIB(20), 0, FL_RECORDED_MAP},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    fl_device_recorded_seek(device, 3, 5);
    assert_int_equal(reserve(device, MIB(20), 0), MIB(5000));
    fl_device_close(device);
}

static void a_record_that_cannot_be_hands_out_nothing_twice(void **state)
{
    (void)state;
    static const fl_recorded_event events[] = {
        {0, MIB(100), MIB(20), 0, FL_RECORDED_ALLOC},
        {1, MIB(110), MIB(20), 0, FL_RECORDED_ALLOC},
        {2, MIB(119), MIB(2), 0, FL_RECORDED_MAP},
        {3, UINT64_MAX - 5, MIB(2), 0, FL_RECORDED_ALLOC},
        {4, UINT64_MAX - 5, MIB(2), 0, FL_RECORDED_MAP},
        {5, MIB(500), 0, 0, FL_RECORDED_MAP},
        {6, MIB(500), 0, 0, FL_RECORDED_ALLOC},
        {7, MIB(700), UINT64_MAX - MIB(700), 0, FL_RECORDED_MAP},
        {8, MIB(300), UINT64_MAX, 0, FL_RECORDED_UNMAP},
    };
    fl_device *device =
        open_record(&(fl_device_record){.events = events, .count = COUNT_OF(events)});
    uint64_t address = 0, page = 0;
    fl_device_recorded_seek(device, 0, 1);
    assert_int_equal(acquire(device, MIB(20)), MIB(100));
    for (uint64_t event = 1; event < 9; event++) {
        fl_device_recorded_seek(device, event, event + 1);
        assert_int_equal(acquire(device, MIB(20)), 0);
        assert_int_equal(acquire(device, MIB(2)), 0);
        assert_int_equal(grow(device, MIB(700), 1, MIB(2)), event == 7);
        assert_int_not_equal(fl_device_reserve(device, UINT64_MAX, MIB(2), 0, &address),
                             FL_ANSWER_OK);
    }
    assert_int_equal(fl_device_map(device, MIB(119), MIB(2), 1), FL_ANSWER_ERROR);
    assert_int_equal(fl_device_page_create(device, UINT64_MAX, &page), FL_ANSWER_FULL);
    fl_device_close(device);
}

static fl_status open_and_play(const fl_host *host, void *user, fl_error *error)
{
    static fl_recorded_event events[200];
    (void)user;
    for (uint64_t i = 0; i < COUNT_OF(events); i++)
        events[i] = (fl_recorded_event){i, MIB(1 + i * 100), MIB(20), (uint32_t)i % 50,
                                        i % 2 == 0 ? FL_RECORDED_MAP : FL_RECORDED_ALLOC};
    fl_device_record record = {.events = events, .count = COUNT_OF(events)};
    fl_device_env env = {.host = host, .capacity_bytes = UINT64_MAX, .record = &record};
    fl_device *device;
    fl_status status = fl_device_open(fl_device_find("recorded"), &env, &device, error);
    if (status != FL_OK)
        return status;
    fl_device_recorded_seek(device, 0, UINT64_MAX);
    for (uint64_t i = 0; i < COUNT_OF(events) && status == FL_OK; i++) {
        uint64_t got = 0;
        fl_answer answer = FL_ANSWER_OK;
        if (i % 2 != 0) {
            answer = fl_device_acquire(device, MIB(20), 0, &got);
        } else {
            answer = fl_device_page_create(device, MIB(20), &got);
            if (answer == FL_ANSWER_OK)
                answer = fl_device_map(device, MIB(1 + i * 100), MIB(20), got);
        }
        if (answer != FL_ANSWER_OK)
            status = fl_device_failure(device, error);
    }
    fl_device_close(device);
    return status;
}

static void a_host_without_memory_is_told_as_such(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(open_and_play, NULL) > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_record_it_does_not_open),
        cmocka_unit_test(an_empty_record_refuses_everything),
        cmocka_unit_test(segments_come_at_their_recorded_addresses),
        cmocka_unit_test(what_an_op_did_not_take_is_passed_over),
        cmocka_unit_test(a_failed_attempt_shows_in_what_was_given_back_for_it),
        cmocka_unit_test(an_inferred_trim_shares_the_records_of_the_next_op),
        cmocka_unit_test(a_mapping_that_failed_midway_fails_there_again),
        cmocka_unit_test(pages_of_a_refused_call_leave_room_for_the_next),
        cmocka_unit_test(ranges_begin_where_they_are_first_mapped),
        cmocka_unit_test(a_range_without_pages_is_given_up),
        cmocka_unit_test(a_range_given_up_at_once_leaves_the_base_to_the_next),
        cmocka_unit_test(a_range_refused_its_first_page_leaves_the_base_to_the_one_that_maps_it),
        cmocka_unit_test(ranges_of_large_and_small_pages_are_told_apart),
        cmocka_unit_test(a_base_that_was_passed_is_not_handed_out),
        cmocka_unit_test(a_record_that_cannot_be_hands_out_nothing_twice),
        cmocka_unit_test(a_host_without_memory_is_told_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
