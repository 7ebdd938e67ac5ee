#include <fraglab/param.h>

#include "test.h"

#include <string.h>

enum { PAGE, DEPTH, EAGER, SHARE, DECAY, ROWS };

static const fl_param rows[] = {
    [PAGE] = {"page", FL_PARAM_SIZE, "2MiB", 512, 1 << 30, "bytes of a page"},
    [DEPTH] = {"depth", FL_PARAM_COUNT, "3", 0, 0, "levels"},
    [EAGER] = {"eager", FL_PARAM_BOOL, "false", 0, 0, "give back at once"},
    [SHARE] = {"share", FL_PARAM_REAL, "0.5", 0, 1, "part of the card"},
    [DECAY] = {"decay", FL_PARAM_REAL, "-1", -1, 0, "0 or -1"},
    [ROWS] = {0},
};

static fl_param_value untouched(void)
{
    return (fl_param_value){.count = 0xABABABABABABABABu};
}

static void nothing_said_gives_the_defaults(void **state)
{
    (void)state;
    static const char *const nothing[] = {NULL, ""};
    for (size_t i = 0; i < COUNT_OF(nothing); i++) {
        fl_param_value values[ROWS];
        assert_int_equal(fl_param_parse(rows, nothing[i], values, NULL), FL_OK);
        assert_int_equal(values[PAGE].count, 2 << 20);
        assert_int_equal(values[DEPTH].count, 3);
        assert_false(values[EAGER].on);
        assert_true(values[SHARE].real > 0.49 && values[SHARE].real < 0.51);
        assert_true(values[DECAY].real < 0);
    }
    assert_int_equal(fl_param_count(rows), ROWS);
    assert_int_equal(fl_param_count(NULL), 0);
    assert_int_equal(fl_param_parse(NULL, NULL, NULL, NULL), FL_OK);
}

static void each_type_is_read_and_the_last_word_counts(void **state)
{
    (void)state;
    fl_param_value values[ROWS];
    assert_int_equal(fl_param_parse(rows,
                                    "eager=yes,page=64KiB,share=0.25,depth=7,depth=8,decay=-0.5,",
                                    values, NULL),
                     FL_OK);
    assert_int_equal(values[PAGE].count, 65536);
    assert_int_equal(values[DEPTH].count, 8);
    assert_true(values[EAGER].on);
    assert_true(values[SHARE].real > 0.24 && values[SHARE].real < 0.26);
    assert_true(values[DECAY].real > -0.51 && values[DECAY].real < -0.49);
}

static void all_words_for_true_and_false_are_known(void **state)
{
    (void)state;
    static const char *const on[] = {"eager=true", "eager=yes", "eager=on", "eager=1"};
    static const char *const off[] = {"eager=false", "eager=no", "eager=off", "eager=0"};
    for (size_t i = 0; i < COUNT_OF(on); i++) {
        fl_param_value values[ROWS];
        assert_int_equal(fl_param_parse(rows, on[i], values, NULL), FL_OK);
        assert_true(values[EAGER].on);
        assert_int_equal(fl_param_parse(rows, off[i], values, NULL), FL_OK);
        assert_false(values[EAGER].on);
    }
}

static void refused(const char *text, const char *expected, const char *hint)
{
    fl_param_value values[ROWS];
    for (size_t i = 0; i < ROWS; i++)
        values[i] = untouched();
    fl_error error = {0};
    assert_int_equal(fl_param_parse(rows, text, values, &error), FL_ERR_USAGE);
    assert_int_equal(error.status, FL_ERR_USAGE);
    assert_string_equal(error.text, expected);
    assert_string_equal(error.hint, hint);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(values[i].count == untouched().count);
}

static void what_is_wrong_is_said_and_nothing_is_set(void **state)
{
    (void)state;
    const char *keys = "the options are: page, depth, eager, share, decay";
    refused("colour=red", "no option 'colour'", keys);
    refused("depth=1,,page=1MiB", "no option ''", keys);
    refused("pag=1MiB", "no option 'pag'", keys);
    refused("pages=1MiB", "no option 'pages'", keys);
    refused("=1", "no option ''", keys);
    refused("depth=4,depth", "option 'depth' expects a count, got ''", "");
    refused("depth=-1", "option 'depth' expects a count, got '-1'", "");
    refused("depth=1=2", "option 'depth' expects a count, got '1=2'", "");
    refused("eager=maybe", "option 'eager' expects true or false, got 'maybe'", "");
    refused("page=1", "option 'page' expects a size, got '1'", "from 512 to 1073741824");
    refused("page=2GiB", "option 'page' expects a size, got '2GiB'", "from 512 to 1073741824");
    refused("share=1.01", "option 'share' expects a number, got '1.01'", "from 0 to 1");
    refused("share=-0.1", "option 'share' expects a number, got '-0.1'", "from 0 to 1");
    refused("share=nan", "option 'share' expects a number, got 'nan'", "from 0 to 1");
    refused("share=", "option 'share' expects a number, got ''", "from 0 to 1");
    refused("decay=--1", "option 'decay' expects a number, got '--1'", "from -1 to 0");
}

static void a_plugin_without_options_says_so(void **state)
{
    (void)state;
    fl_error error = {0};
    assert_int_equal(fl_param_parse(NULL, "x=1", NULL, &error), FL_ERR_USAGE);
    assert_string_equal(error.text, "no option 'x'");
    assert_string_equal(error.hint, "there are no options");
}

static void a_default_that_is_not_valid_is_our_own_fault(void **state)
{
    (void)state;
    static const fl_param broken[] = {{"x", FL_PARAM_SIZE, "1", 2, 3, "too small"}, {0}};
    fl_param_value value;
    assert_int_equal(fl_param_parse(broken, NULL, &value, NULL), FL_ERR_INTERNAL);
}

static void keys_and_values_of_any_length_are_survived(void **state)
{
    (void)state;
    static char text[100000];
    memset(text, 'x', sizeof text - 1);
    fl_param_value values[ROWS];
    fl_error error = {0};
    assert_int_equal(fl_param_parse(rows, text, values, &error), FL_ERR_USAGE);
    memcpy(text, "page=", 5);
    assert_int_equal(fl_param_parse(rows, text, values, NULL), FL_ERR_USAGE);
    memset(text, ',', sizeof text - 1);
    assert_int_equal(fl_param_parse(rows, text, values, NULL), FL_ERR_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_gives_the_defaults),
        cmocka_unit_test(each_type_is_read_and_the_last_word_counts),
        cmocka_unit_test(all_words_for_true_and_false_are_known),
        cmocka_unit_test(what_is_wrong_is_said_and_nothing_is_set),
        cmocka_unit_test(a_plugin_without_options_says_so),
        cmocka_unit_test(a_default_that_is_not_valid_is_our_own_fault),
        cmocka_unit_test(keys_and_values_of_any_length_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
