#include "rules/reading_value.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

static fl_clean *clean;

/* Reads one value at the start of a text; how many bytes it took, or -1. */
static int take(const char *text, fl_value value, fl_message *message)
{
    memset(message, 0, sizeof *message);
    fl_clean_start(clean, text, strlen(text));
    fl_reader reader = {.text = clean, .message = message};
    return fl_reading_value(&reader, value, true) ? (int)reader.at : -1;
}

static void backends_are_known_by_name(void **state)
{
    (void)state;
    fl_message message;
    assert_int_equal(take("CUDA out", FL_VALUE_BACKEND, &message), 4);
    assert_string_equal(message.backend, "CUDA");
    assert_int_equal(take("hip_X", FL_VALUE_BACKEND, &message), 3);
    assert_string_equal(message.backend, "HIP");
    assert_int_equal(take("fox out", FL_VALUE_BACKEND, &message), -1);
    assert_int_equal(take("CUDAX", FL_VALUE_BACKEND, &message), -1);
}

static void shapes_are_requests(void **state)
{
    (void)state;
    fl_message message;
    assert_int_equal(take("[64,2016, 9,9]", FL_VALUE_SHAPE, &message), 14);
    assert_int_equal(message.figures[FL_FIGURE_REQUESTED].bytes, 64 * 2016 * 81 * 4);
    assert_true(message.is_size_assumed);
    assert_int_equal(take("[4294967296,4294967296]", FL_VALUE_SHAPE, &message), -1);
    assert_int_equal(take("[]", FL_VALUE_SHAPE, &message), -1);
    assert_int_equal(take("[1,", FL_VALUE_SHAPE, &message), -1);
}

static void a_type_says_how_large_elements_are(void **state)
{
    (void)state;
    fl_message message = {.is_size_assumed = true};
    message.figures[FL_FIGURE_REQUESTED] = (fl_number){true, false, 400, 400, 400};
    fl_clean_start(clean, "half on", 7);
    fl_reader reader = {.text = clean, .message = &message};
    assert_true(fl_reading_value(&reader, FL_VALUE_TYPE, true));
    assert_int_equal(message.figures[FL_FIGURE_REQUESTED].bytes, 200);
    assert_false(message.is_size_assumed);
    assert_int_equal(take("halfling", FL_VALUE_TYPE, &message), -1);
}

static void places_name_a_device(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool has_device;
        unsigned device;
    } rows[] = {{"/job:localhost/replica:0/task:0/device:GPU:3", true, 3},
                {"GPU_1_bfc)", true, 1},
                {"cpu", false, 0}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_message message;
        assert_true(take(rows[i].text, FL_VALUE_PLACE, &message) > 0);
        assert_int_equal(message.has_device, rows[i].has_device);
        assert_int_equal(message.device, rows[i].device);
    }
}

static void a_device_printed_as_a_character_may_be_lost(void **state)
{
    (void)state;
    fl_message message;
    assert_int_equal(take("has", FL_VALUE_DEVICE_CHARACTER, &message), 0);
    assert_false(message.has_device);
    assert_int_equal(take("\x02 has", FL_VALUE_DEVICE_CHARACTER, &message), 1);
    assert_int_equal(message.device, 2);
    assert_int_equal(take("7 has", FL_VALUE_DEVICE_CHARACTER, &message), -1);
}

static void words_end_before_what_closes_them(void **state)
{
    (void)state;
    fl_message message;
    assert_int_equal(take("a.cu:359: out", FL_VALUE_WORD, &message), 8);
    assert_int_equal(take("pool)", FL_VALUE_WORD, &message), 4);
    assert_int_equal(take("", FL_VALUE_WORD, &message), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backends_are_known_by_name),
        cmocka_unit_test(shapes_are_requests),
        cmocka_unit_test(a_type_says_how_large_elements_are),
        cmocka_unit_test(places_name_a_device),
        cmocka_unit_test(a_device_printed_as_a_character_may_be_lost),
        cmocka_unit_test(words_end_before_what_closes_them),
    };
    clean = malloc(sizeof *clean);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(clean);
    return failed;
}
