#include "interpose/events.h"

#include "test.h"

static int free_running(void **state)
{
    (void)state;
    fl_events_complete();
    return 0;
}

static void events_complete_at_once_at_first(void **state)
{
    (void)state;
    struct fl_event *event = fl_event_new();
    assert_true(fl_event_is_complete(event));
    fl_event_record(event);
    assert_true(fl_event_is_complete(event));
    fl_event_free(event);
    fl_event_free(NULL);
}

static void held_events_stay_pending_and_earlier_ones_are_complete(void **state)
{
    (void)state;
    struct fl_event *before = fl_event_new(), *after = fl_event_new(), *never = fl_event_new();
    fl_event_record(before);
    fl_events_hold();
    fl_event_record(after);
    assert_true(fl_event_is_complete(before));
    assert_false(fl_event_is_complete(after));
    assert_true(fl_event_is_complete(never));
    fl_events_hold();
    assert_true(fl_event_is_complete(after));
    fl_event_record(before);
    assert_false(fl_event_is_complete(before));
    fl_events_complete();
    assert_true(fl_event_is_complete(before));
    fl_event_free(before);
    fl_event_free(after);
    fl_event_free(never);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_complete_at_once_at_first),
        cmocka_unit_test_teardown(held_events_stay_pending_and_earlier_ones_are_complete,
                                  free_running),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
