#include "interpose/capture.h"

#include "test.h"

static void captures_nest(void **state)
{
    (void)state;
    assert_false(fl_capture_is_open());
    fl_capture_begin();
    fl_capture_begin();
    fl_capture_end();
    assert_true(fl_capture_is_open());
    fl_capture_end();
    assert_false(fl_capture_is_open());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_nest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
