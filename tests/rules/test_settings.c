#include <fraglab/settings.h>

#include "answers.h"
#include "rules/profile.h"
#include "rules/sizes.h"
#include "test.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const fl_profile *release(const char *name)
{
    return fl_profile_at(release_index(name, strlen(name)));
}

static fl_settings defaults(const fl_profile *profile)
{
    fl_settings settings;
    fl_settings_default(profile, &settings);
    return settings;
}

static void describe(const fl_settings *settings, const fl_profile *profile, char *buffer,
                     size_t size)
{
    size_t at = (size_t)snprintf(buffer, size, "accepted");
#define FIELD(condition, ...)                                                                      \
    if (condition)                                                                                 \
    at += (size_t)snprintf(buffer + at, size - at, __VA_ARGS__)
    FIELD(settings->max_split_bytes != FL_UNLIMITED, " max_split_bytes=%" PRIu64,
          settings->max_split_bytes);
    FIELD(settings->non_split_rounding_bytes != 20 * FL_MIB && profile->minor >= 6,
          " non_split_rounding_bytes=%" PRIu64, settings->non_split_rounding_bytes);
    FIELD(settings->large_segment_bytes != 20 * FL_MIB && profile->minor == 15,
          " large_segment_bytes=%" PRIu64, settings->large_segment_bytes);
    FIELD(settings->collect_threshold != 0, " collect_threshold=%.17g",
          settings->collect_threshold);
    FIELD(settings->process_fraction != 1, " process_fraction=%.17g", settings->process_fraction);
    FIELD(settings->expandable, " expandable=1");
    FIELD(settings->reject_on_oom && profile->minor == 15, " reject_on_oom=1");
    bool rounds = false;
    for (size_t i = 0; i < FL_ROUNDUP_SLOTS; i++)
        rounds |= settings->divisions[i] != 0;
    for (size_t i = 0; rounds && i < FL_ROUNDUP_SLOTS; i++)
        FIELD(true, "%s%" PRIu64, i == 0 ? " divisions=" : "/", settings->divisions[i]);
    double unit = settings->reserve.is_fraction ? 107374182400.0 : 1073741824.0;
    double reserve = settings->reserve.value * unit;
    FIELD(settings->reserve.is_given, " reserve=%" PRIu64,
          reserve >= 18446744073709551616.0 ? UINT64_MAX : (uint64_t)reserve);
#undef FIELD
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The two files agree on everything but how much they tell: an assertion has its text in one, the
 * effects of a text are in the other, and neither knows them for 2.0 (`?`). */
static bool answers(const char *answer, const fl_profile *profile, fl_status status,
                    const fl_settings *settings, const fl_error *error)
{
    if (starts_with(answer, "accepted")) {
        char effects[1024];
        describe(settings, profile, effects, sizeof effects);
        return status == FL_OK &&
               (strcmp(answer, "accepted ?") == 0 || starts_with(effects, answer));
    }
    if (strcmp(answer, "error:") == 0 || strcmp(answer, "crash") == 0)
        return status == FL_ERR_USAGE && error->text[0] != '\0';
    if (strcmp(answer, "error: internal assertion") == 0)
        return status == FL_ERR_USAGE && starts_with(error->text, "internal assertion: ");
    char shown[512];
    snprintf(shown, sizeof shown, "%s", answer + strlen("error: "));
    for (char *c = shown; *c != '\0'; c++)
        *c = (unsigned char)*c < ' ' ? '?' : *c;
    return status == FL_ERR_USAGE && strcmp(error->text, shown) == 0;
}

static void check_row(const answer_row *row)
{
    for (size_t i = row->first; i <= row->last; i++) {
        const fl_profile *profile = fl_profile_at(i);
        fl_settings settings = defaults(profile);
        fl_error error = {0};
        fl_status status = fl_settings_parse(profile, row->text, &settings, &error);
        if (!answers(row->answer, profile, status, &settings, &error)) {
            char effects[1024];
            describe(&settings, profile, effects, sizeof effects);
            fail_msg("%s: '%s' gives %s, expected %s", profile->release, row->text,
                     status == FL_OK ? effects : error.text, row->answer);
        }
    }
}

static void every_release_answers_each_text_as_its_binary_did(void **state)
{
    (void)state;
    assert_int_equal(each_answer("tests/data/conformance/settings.tsv", check_row), 104);
}

static void every_release_makes_of_each_text_what_its_binary_made(void **state)
{
    (void)state;
    assert_true(each_answer("tests/data/rules/settings.tsv", check_row) > 1000);
}

static void a_text_without_settings_is_the_default(void **state)
{
    (void)state;
    for (size_t i = 0; fl_profile_at(i) != NULL; i++) {
        fl_settings settings = defaults(fl_profile_at(i)), before = settings;
        assert_int_equal(fl_settings_parse(fl_profile_at(i), "", &settings, NULL), FL_OK);
        assert_memory_equal(&settings, &before, sizeof settings);
        assert_int_equal(fl_settings_parse(fl_profile_at(i), "   ", &settings, NULL), FL_OK);
        assert_memory_equal(&settings, &before, sizeof settings);
    }
}

/* What was set before a second text, and what of it is left after it (18.3). */
static void a_second_text_forgets_the_limit_the_threshold_and_the_rounding(void **state)
{
    (void)state;
    fl_settings settings = defaults(release("2.9.1"));
    fl_settings_parse(release("2.9.1"),
                      "max_split_size_mb:64,max_non_split_rounding_mb:32,expandable_segments:True,"
                      "garbage_collection_threshold:0.5,roundup_power2_divisions:4",
                      &settings, NULL);
    assert_int_equal(fl_settings_parse(release("2.9.1"), "backend:native", &settings, NULL), FL_OK);
    assert_int_equal(settings.max_split_bytes, FL_UNLIMITED);
    assert_true(settings.collect_threshold == 0);
    for (size_t i = 0; i < FL_ROUNDUP_SLOTS; i++)
        assert_int_equal(settings.divisions[i], 0);
    assert_true(settings.expandable);
    assert_int_equal(settings.non_split_rounding_bytes, 32 * FL_MIB);
}

static void from_2_11_on_the_rounding_limit_is_forgotten_and_the_segment_size_is_not(void **state)
{
    (void)state;
    const char *first = "large_segment_size_mb:40,max_non_split_rounding_mb:50,"
                        "per_process_memory_fraction:0.5,expandable_segments:True";
    fl_settings settings = defaults(release("2.11.0"));
    assert_int_equal(fl_settings_parse(release("2.11.0"), first, &settings, NULL), FL_OK);
    assert_int_equal(settings.non_split_rounding_bytes, 50 * FL_MIB);
    assert_int_equal(fl_settings_parse(release("2.11.0"), "", &settings, NULL), FL_OK);
    assert_int_equal(settings.large_segment_bytes, 40 * FL_MIB);
    assert_int_equal(settings.non_split_rounding_bytes, 40 * FL_MIB);
    assert_true(settings.process_fraction == 0.5);
    assert_true(settings.expandable);
    fl_error error = {0};
    assert_int_equal(
        fl_settings_parse(release("2.11.0"), "max_split_size_mb:39", &settings, &error),
        FL_ERR_USAGE);
    assert_string_equal(error.text,
                        "CachingAllocator option max_split_size_mb too small, must be >= 40");

    settings = defaults(release("2.10.0"));
    fl_settings_parse(release("2.10.0"), "max_non_split_rounding_mb:50", &settings, NULL);
    fl_settings_parse(release("2.10.0"), "", &settings, NULL);
    assert_int_equal(settings.non_split_rounding_bytes, 50 * FL_MIB);
}

static void a_refused_text_changes_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "expandable_segments:True,max_split_size_mb:64,unknown:1",
        "expandable_segments:True,max_split_size_mb:3",
        "max_split_size_mb:64,backend:cudaMallocAsync",
    };
    for (size_t i = 0; fl_profile_at(i) != NULL; i++) {
        for (size_t t = 0; t < COUNT_OF(texts); t++) {
            fl_settings settings = defaults(fl_profile_at(i));
            settings.max_split_bytes = 128 * FL_MIB;
            fl_settings before = settings;
            assert_true(fl_settings_parse(fl_profile_at(i), texts[t], &settings, NULL) != FL_OK);
            assert_memory_equal(&settings, &before, sizeof settings);
        }
    }
}

static void another_back_end_is_unavailable(void **state)
{
    (void)state;
    for (size_t i = 0; fl_profile_at(i) != NULL; i++) {
        fl_settings settings = defaults(fl_profile_at(i)), before = settings;
        fl_error error = {0};
        assert_int_equal(
            fl_settings_parse(fl_profile_at(i), "backend:cudaMallocAsync", &settings, &error),
            FL_ERR_UNAVAILABLE);
        assert_string_equal(error.text, "backend:cudaMallocAsync leaves every decision to the "
                                        "driver, so there is nothing to replay");
        assert_memory_equal(&settings, &before, sizeof settings);
    }
}

static void a_refused_text_is_explained_where_the_release_does_not(void **state)
{
    (void)state;
    static const struct {
        const char *release, *text, *hint;
    } rows[] = {
        {"2.9.1", "max_split_size_mb:big",
         "'big' in 'max_split_size_mb' is not a number, or too large a one"},
        {"2.9.1", "roundup_power2_divisions:[x:1]",
         "'x' in 'roundup_power2_divisions' is not a number, or too large a one"},
        {"2.10.0", "max_split_size_mb=128", "did you mean 'max_split_size_mb:128'?"},
        {"2.9.1", "expandable_segments=True", "did you mean 'expandable_segments:True'?"},
        {"2.9.1", "expandable_segment:True", "did you mean 'expandable_segments'?"},
        {"2.9.1", "throw=1", ""},
        {"2.10.0", "nothing_like_it", "the text ends before the value of 'nothing_like_it' does"},
        {"2.10.0", "roundup_power2_divisions:[256:1",
         "the text ends before the value of 'roundup_power2_divisions' does"},
        {"2.9.1", "per_process_memory_fraction:0.5", "PyTorch 2.10 is the first to know it"},
        {"2.0.1", "expandable_segments:True", "PyTorch 2.1 is the first to know it"},
        {"2.9.1", "unknown:1", ""},
        {"2.9.1", "backend:native,backend:cudaMallocAsync", "a text can name one backend only"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_settings settings = defaults(release(rows[i].release));
        fl_error error = {0};
        assert_int_equal(
            fl_settings_parse(release(rows[i].release), rows[i].text, &settings, &error),
            FL_ERR_USAGE);
        assert_string_equal(error.hint, rows[i].hint);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Words and bytes thrown together: nothing but a status may come of them. */
static void hostile_texts_end_with_a_status_and_a_short_message(void **state)
{
    (void)state;
    static const char *const words[] = {
        "max_split_size_mb",
        "roundup_power2_divisions",
        "expandable_segments_reserve_by_class",
        "backend",
        "native",
        "large_segment_size_mb",
        "garbage_collection_threshold",
        ":",
        ":",
        ":",
        ",",
        ",",
        "[",
        "]",
        ">",
        "64",
        "0.5",
        "True",
        "-1",
        "1e999999999999999999",
        "\xff\xfe",
        "\t",
        "99999999999999999999",
        "0x",
        "%s%n",
        " ",
    };
    uint64_t seed = 2463534242;
    for (int round = 0; round < 20000; round++) {
        char text[512] = "";
        for (uint64_t count = next_random(&seed) % 12; count > 0; count--)
            strcat(text, words[next_random(&seed) % COUNT_OF(words)]);
        const fl_profile *profile = fl_profile_at(next_random(&seed) % 17);
        fl_settings settings = defaults(profile);
        fl_error error = {0};
        fl_status status = fl_settings_parse(profile, text, &settings, &error);
        assert_true(status == FL_OK || status == FL_ERR_USAGE || status == FL_ERR_UNAVAILABLE);
        assert_int_equal(error.status, status);
        assert_int_equal(error.text[0] != '\0', status != FL_OK);
        assert_true(strlen(error.text) < 200);
    }
}

static void a_text_of_any_length_is_read(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20 };
    char *text = malloc(LENGTH);
    assert_non_null(text);
    static const char fillers[] = "x :,[]>1\xff";
    for (size_t i = 0; fl_profile_at(i) != NULL; i += 8) {
        for (const char *filler = fillers; *filler != '\0'; filler++) {
            memset(text, *filler, LENGTH - 1);
            text[LENGTH - 1] = '\0';
            fl_settings settings = defaults(fl_profile_at(i));
            fl_error error = {0};
            fl_status status = fl_settings_parse(fl_profile_at(i), text, &settings, &error);
            assert_int_equal(status, *filler == ' ' ? FL_OK : FL_ERR_USAGE);
            memcpy(text, "roundup_power2_divisions:[", 26);
            fl_settings_parse(fl_profile_at(i), text, &settings, &error);
            assert_true(strlen(error.text) < 200);
        }
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_release_answers_each_text_as_its_binary_did),
        cmocka_unit_test(every_release_makes_of_each_text_what_its_binary_made),
        cmocka_unit_test(a_text_without_settings_is_the_default),
        cmocka_unit_test(a_second_text_forgets_the_limit_the_threshold_and_the_rounding),
        cmocka_unit_test(from_2_11_on_the_rounding_limit_is_forgotten_and_the_segment_size_is_not),
        cmocka_unit_test(a_refused_text_changes_nothing),
        cmocka_unit_test(another_back_end_is_unavailable),
        cmocka_unit_test(a_refused_text_is_explained_where_the_release_does_not),
        cmocka_unit_test(hostile_texts_end_with_a_status_and_a_short_message),
        cmocka_unit_test(a_text_of_any_length_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
