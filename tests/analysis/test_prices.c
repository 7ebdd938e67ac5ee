#include <fraglab/prices.h>

#include "test.h"

#include <string.h>

static fl_status parse(const char *text, fl_prices *prices, fl_error *error)
{
    return fl_prices_parse(text, strlen(text), prices, error);
}

static void a_table_replaces_what_it_names(void **state)
{
    (void)state;
    fl_prices prices = fl_prices_default();
    double retry = prices.call_us[FL_PRICE_RETRY];
    assert_int_equal(
        parse("# measured\nmalloc 12.5 0.25\n\n  map\t3 0 # a page\r\n", &prices, NULL), FL_OK);
    assert_true(prices.call_us[FL_PRICE_MALLOC] == 12.5);
    assert_true(prices.mebibyte_us[FL_PRICE_MALLOC] == 0.25);
    assert_true(prices.call_us[FL_PRICE_MAP] == 3);
    assert_true(prices.call_us[FL_PRICE_RETRY] == retry);
    assert_int_equal(parse("", &prices, NULL), FL_OK);
}

static void what_is_no_price_is_named(void **state)
{
    (void)state;
    static const char *const wrong[] = {"mallox 1 2", "malloc 1", "malloc 1 2 3", "malloc x 2",
                                        "malloc 1 -2"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        fl_prices prices = fl_prices_default();
        fl_error error = {0};
        char text[64] = "free 7 7\n";
        strcat(text, wrong[i]);
        assert_int_equal(parse(text, &prices, &error), FL_ERR_INPUT);
        assert_string_equal(error.text, "line 2: expected a price");
        assert_true(prices.call_us[FL_PRICE_FREE] == fl_prices_default().call_us[FL_PRICE_FREE]);
    }
}

static void calls_are_multiplied_by_kind_and_size(void **state)
{
    (void)state;
    fl_prices prices = {
        .call_us = {[FL_PRICE_MALLOC] = 10, [FL_PRICE_UNMAP] = 1, [FL_PRICE_RETRY] = 1000},
        .mebibyte_us = {[FL_PRICE_MALLOC] = 2}};
    fl_device_info info = {0};
    info.calls[FL_CALL_ACQUIRE][21] = 3; /* 2 to 4 MiB: taken for 3 */
    info.calls[FL_CALL_UNMAP][21] = 5;
    info.calls[FL_CALL_RESERVE][40] = 9; /* no price */
    assert_true(fl_prices_cost_us(&prices, &info, 2) == 3 * (10 + 2 * 3) + 5 + 2000);
}

static void every_price_has_a_name(void **state)
{
    (void)state;
    for (int price = 0; price < FL_PRICE_COUNT; price++)
        assert_non_null(fl_price_name((fl_price)price));
    assert_string_equal(fl_price_name(FL_PRICE_RETRY), "retry");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_replaces_what_it_names),
        cmocka_unit_test(what_is_no_price_is_named),
        cmocka_unit_test(calls_are_multiplied_by_kind_and_size),
        cmocka_unit_test(every_price_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
