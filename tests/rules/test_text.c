#include "rules/text.h"

#include "test.h"

#include <string.h>

static void what_does_not_fit_is_counted_and_cut(void **state)
{
    (void)state;
    for (size_t size = 0; size < 12; size++) {
        char buffer[16];
        memset(buffer, 'x', sizeof buffer);
        fl_text text = fl_text_open(size > 0 ? buffer : NULL, size);
        fl_text_add(&text, "ab", 2);
        fl_text_print(&text, "%d", 34567);
        fl_text_add(&text, "", 0);
        assert_int_equal(text.length, 7);
        size_t kept = size > 7 ? 7 : size > 0 ? size - 1 : 0;
        assert_memory_equal(buffer, "ab34567", kept);
        if (size > 0)
            assert_int_equal(buffer[kept], '\0');
        for (size_t i = size > kept + 1 ? kept + 1 : size; i < sizeof buffer; i++)
            assert_int_equal(buffer[i], 'x');
    }
}

static void bytes_are_kept_as_they_are(void **state)
{
    (void)state;
    char buffer[8];
    fl_text text = fl_text_open(buffer, sizeof buffer);
    fl_text_add(&text, "a\0b", 3);
    assert_int_equal(text.length, 3);
    assert_memory_equal(buffer, "a\0b", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_counted_and_cut),
        cmocka_unit_test(bytes_are_kept_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
