#include "base/utf8.h"
#include "test.h"

#include <string.h>

static void every_code_point_survives_both_ways(void **state)
{
    (void)state;
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        char buffer[4];
        size_t size = fl_utf8_put(point, buffer);
        uint32_t back;
        size_t taken = fl_utf8_next(buffer, size, &back);
        if (point >= 0xd800 && point <= 0xdfff) {
            assert_int_equal(back, 0xfffd);
            assert_int_equal(taken, 1);
        } else {
            assert_int_equal(back, point);
            assert_int_equal(taken, size);
        }
    }
}

static void what_is_not_utf8_is_replaced_byte_by_byte(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "\x80",             /* no first byte */
        "\xc3",             /* cut off */
        "\xc3(",            /* no second byte */
        "\xc0\xaf",         /* overlong */
        "\xe0\x80\xaf",     /* overlong */
        "\xf0\x80\x80\xaf", /* overlong */
        "\xf4\x90\x80\x80", /* beyond the last code point */
        "\xff",
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        uint32_t point;
        assert_int_equal(fl_utf8_next(wrong[i], strlen(wrong[i]), &point), 1);
        assert_int_equal(point, 0xfffd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_survives_both_ways),
        cmocka_unit_test(what_is_not_utf8_is_replaced_byte_by_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
