#include "device/pages.h"

#include "failing_host.h"
#include "test.h"

static fl_pages no_pages(const fl_host *host, fl_error *error)
{
    return (fl_pages){.host = host, .error = error};
}

static void a_page_counts_in_whole_granules(void **state)
{
    (void)state;
    fl_pages pages = no_pages(fl_host_default(), NULL);
    uint64_t page;
    assert_int_equal(fl_pages_create(&pages, 21 * FL_MIB, &page), FL_ANSWER_OK);
    assert_int_equal(pages.used_bytes, 22 * FL_MIB);
    assert_int_equal(fl_pages_get(&pages, page)->size, 21 * FL_MIB);
    assert_int_equal(fl_pages_footprint(1), FL_DEVICE_GRANULE);
    assert_int_equal(fl_pages_footprint(FL_DEVICE_GRANULE), FL_DEVICE_GRANULE);
    assert_int_equal(fl_pages_footprint(UINT64_MAX), UINT64_MAX);
    fl_pages_deinit(&pages);
}

static void handles_of_retired_pages_are_used_again(void **state)
{
    (void)state;
    fl_pages pages = no_pages(fl_host_default(), NULL);
    uint64_t first, second, third;
    fl_pages_create(&pages, 1, &first);
    fl_pages_create(&pages, 1, &second);
    assert_int_equal(fl_pages_map(&pages, 0x1000, 1, first), FL_ANSWER_OK);
    assert_int_equal(fl_pages_free(&pages, first), FL_ANSWER_OK);
    fl_pages_create(&pages, 1, &third);
    assert_int_not_equal(third, first);
    assert_int_equal(fl_pages_unmap(&pages, 0x1000, 1), FL_ANSWER_OK);
    assert_null(fl_pages_get(&pages, first));
    fl_pages_create(&pages, 1, &third);
    assert_int_equal(third, first);
    assert_int_equal(pages.pages.count, 3);
    fl_pages_deinit(&pages);
}

static void one_call_may_unmap_several_pages(void **state)
{
    (void)state;
    fl_pages pages = no_pages(fl_host_default(), NULL);
    uint64_t page;
    for (uint64_t i = 0; i < 4; i++) {
        fl_pages_create(&pages, 3, &page);
        fl_pages_map(&pages, 100 + i * 3 + (i == 3), 3, page);
        fl_pages_free(&pages, page);
    }
    assert_int_equal(fl_pages_unmap(&pages, 100, 12), FL_ANSWER_ERROR);
    assert_int_equal(fl_pages_unmap(&pages, 101, 3), FL_ANSWER_ERROR);
    assert_int_equal(fl_pages_unmap(&pages, 100, 0), FL_ANSWER_ERROR);
    assert_int_equal(fl_pages_unmap(&pages, 100, UINT64_MAX), FL_ANSWER_ERROR);
    assert_int_equal(pages.mapped.count, 4);
    assert_int_equal(fl_pages_unmap(&pages, 100, 9), FL_ANSWER_OK);
    assert_int_equal(pages.used_bytes, FL_DEVICE_GRANULE);
    fl_pages_deinit(&pages);
}

static void more_than_2_to_the_64_bytes_are_refused(void **state)
{
    (void)state;
    fl_pages pages = no_pages(fl_host_default(), NULL);
    uint64_t page = 0;
    assert_int_equal(fl_pages_create(&pages, UINT64_MAX, &page), FL_ANSWER_OK);
    assert_int_equal(fl_pages_create(&pages, 1, &page), FL_ANSWER_FULL);
    assert_int_equal(fl_pages_map(&pages, 1, UINT64_MAX, page), FL_ANSWER_ERROR);
    fl_pages_deinit(&pages);
}

static fl_status create_and_map(const fl_host *host, void *user, fl_error *error)
{
    (void)user;
    fl_error own = {0};
    fl_pages pages = no_pages(host, &own);
    fl_answer answer = FL_ANSWER_OK;
    for (uint64_t i = 0; i < 50 && answer == FL_ANSWER_OK; i++) {
        uint64_t page;
        answer = fl_pages_create(&pages, 1, &page);
        if (answer == FL_ANSWER_OK)
            answer = fl_pages_map(&pages, i, 1, page);
    }
    fl_pages_deinit(&pages);
    return answer == FL_ANSWER_OK ? FL_OK : fl_fail(error, own.status, "%s", own.text);
}

static void a_host_without_memory_is_told_as_such(void **state)
{
    (void)state;
    assert_true(failing_host_sweep(create_and_map, NULL) > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_counts_in_whole_granules),
        cmocka_unit_test(handles_of_retired_pages_are_used_again),
        cmocka_unit_test(one_call_may_unmap_several_pages),
        cmocka_unit_test(more_than_2_to_the_64_bytes_are_refused),
        cmocka_unit_test(a_host_without_memory_is_told_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
