#include "rules/profile.h"

#include "test.h"

#include <stdio.h>
#include <string.h>

static const fl_profile *profile_of(const char *release)
{
    for (size_t i = 0; fl_profile_at(i) != NULL; i++)
        if (strcmp(fl_profile_release(fl_profile_at(i)), release) == 0)
            return fl_profile_at(i);
    return NULL;
}

static void releases_are_listed_oldest_first_and_named_by_their_numbers(void **state)
{
    (void)state;
    size_t count = 0;
    for (const fl_profile *last = NULL, *row; (row = fl_profile_at(count)) != NULL; last = row) {
        char name[32];
        snprintf(name, sizeof name, "%u.%u.%u", row->major, row->minor, row->patch);
        assert_string_equal(fl_profile_release(row), name);
        if (last != NULL)
            assert_true(last->minor < row->minor ||
                        (last->minor == row->minor && last->patch < row->patch));
        count++;
    }
    assert_int_equal(count, 17);
    assert_null(fl_profile_at(SIZE_MAX));
}

static void the_newest_is_the_last(void **state)
{
    (void)state;
    assert_string_equal(fl_profile_release(fl_profile_newest()), "2.15.0");
    assert_ptr_equal(fl_profile_newest(), fl_profile_at(16));
}

/* What each version text means: a release, with or without a warning, or a status and its words. */
static const struct {
    const char *version;
    fl_status status;
    const char *release;
    bool exact;
} versions[] = {
    {"2.9", FL_OK, "2.9.1", true},
    {"2.9.1", FL_OK, "2.9.1", true},
    {"2.9.1+cu128", FL_OK, "2.9.1", true},
    {"2.9+cu128", FL_OK, "2.9.1", true},
    {"2.9.1a0+git1f2e3d4", FL_OK, "2.9.1", true},
    {"2.9.1rc2", FL_OK, "2.9.1", true},
    {"2.9.1.dev20251003", FL_OK, "2.9.1", true},
    {"2.9.1.post1", FL_OK, "2.9.1", true},
    {"02.09.001", FL_OK, "2.9.1", true},
    {"2.9.0", FL_OK, "2.9.1", false},
    {"2.9.7", FL_OK, "2.9.1", false},
    {"2.9.99999999999999999999", FL_OK, "2.9.1", false},
    {"3.0", FL_ERR_USAGE, "no rules for PyTorch 3.0 are known", false},
    {"2.16", FL_ERR_USAGE, "no rules for PyTorch 2.16 are known", false},
    {"1.13", FL_ERR_USAGE, "no rules for PyTorch 1.13 are known", false},
    {"1.13.1", FL_ERR_USAGE, "no rules for PyTorch 1.13.1 are known", false},
    {"0.0", FL_ERR_USAGE, "no rules for PyTorch 0.0 are known", false},
    {"2.99999999999", FL_ERR_USAGE, "no rules for PyTorch 2.99999999999 are known", false},
    {"2.4294967305", FL_ERR_USAGE, "no rules for PyTorch 2.4294967305 are known", false},
    {"", FL_ERR_USAGE, "'' is not a PyTorch version", false},
    {"2", FL_ERR_USAGE, "'2' is not a PyTorch version", false},
    {"2.", FL_ERR_USAGE, "'2.' is not a PyTorch version", false},
    {"2.9.", FL_ERR_USAGE, "'2.9.' is not a PyTorch version", false},
    {"2.9.1.", FL_ERR_USAGE, "'2.9.1.' is not a PyTorch version", false},
    {"2.9.1.2", FL_ERR_USAGE, "'2.9.1.2' is not a PyTorch version", false},
    {"2.9.1+", FL_ERR_USAGE, "'2.9.1+' is not a PyTorch version", false},
    {"2.9x", FL_ERR_USAGE, "'2.9x' is not a PyTorch version", false},
    {"v2.9", FL_ERR_USAGE, "'v2.9' is not a PyTorch version", false},
    {" 2.9", FL_ERR_USAGE, "' 2.9' is not a PyTorch version", false},
    {"-2.9", FL_ERR_USAGE, "'-2.9' is not a PyTorch version", false},
    {"2.-9", FL_ERR_USAGE, "'2.-9' is not a PyTorch version", false},
    {"newest", FL_ERR_USAGE, "'newest' is not a PyTorch version", false},
};

static void a_version_means_a_release_or_is_refused_in_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(versions); i++) {
        const fl_profile *profile = NULL;
        bool exact = !versions[i].exact;
        fl_error error = {0};
        fl_status status = fl_profile_find(versions[i].version, &profile, &exact, &error);
        assert_int_equal(status, versions[i].status);
        if (status == FL_OK) {
            assert_string_equal(fl_profile_release(profile), versions[i].release);
            assert_int_equal(exact, versions[i].exact);
        } else {
            assert_int_equal(error.status, status);
            assert_string_equal(error.text, versions[i].release);
            assert_true(error.hint[0] != '\0');
            assert_null(profile);
            assert_int_equal(exact, !versions[i].exact);
        }
    }
}

static void every_release_is_found_by_its_own_name(void **state)
{
    (void)state;
    for (size_t i = 0; fl_profile_at(i) != NULL; i++) {
        const fl_profile *row = fl_profile_at(i), *found = NULL;
        bool exact = false;
        assert_int_equal(fl_profile_find(row->release, &found, &exact, NULL), FL_OK);
        assert_ptr_equal(found, row);
        assert_true(exact);
    }
}

static void a_long_version_text_is_quoted_in_part(void **state)
{
    (void)state;
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const fl_profile *profile;
    bool exact;
    fl_error error = {0};
    assert_int_equal(fl_profile_find(text, &profile, &exact, &error), FL_ERR_USAGE);
    assert_true(strlen(error.text) < 100);
    assert_int_equal(fl_profile_find(text, &profile, &exact, NULL), FL_ERR_USAGE);
}

/* First releases as the released binaries showed them (21, 22). */
static const struct {
    const char *first;
    size_t field;
    bool value;
} flags[] = {
    {"2.4.1", offsetof(fl_profile, one_division_unrounded), false},
    {"2.4.1", offsetof(fl_profile, zero_division_accepted), true},
    {"2.4.1", offsetof(fl_profile, capture_uses_forgotten), true},
    {"2.5.1", offsetof(fl_profile, expandable_in_private_pools), true},
    {"2.5.1", offsetof(fl_profile, expandable_not_released), true},
    {"2.8.0", offsetof(fl_profile, trim_refused_in_scope), false},
    {"2.10.0", offsetof(fl_profile, has_process_fraction), true},
    {"2.10.0", offsetof(fl_profile, has_no_split), true},
    {"2.10.0", offsetof(fl_profile, fraction_one_is_no_limit), true},
    {"2.10.0", offsetof(fl_profile, newest_scope_first), true},
    {"2.10.0", offsetof(fl_profile, fallback_splits_plainly), true},
    {"2.11.0", offsetof(fl_profile, has_large_segment), true},
    {"2.13.0", offsetof(fl_profile, limit_is_rounded), true},
    {"2.13.0", offsetof(fl_profile, scope_is_capture), false},
    {"2.13.0", offsetof(fl_profile, has_exact_address), true},
    {"2.15.0", offsetof(fl_profile, small_range_is_dropped), true},
};

static void every_rule_changes_in_the_release_where_it_was_seen_to_change(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(flags); i++) {
        assert_non_null(profile_of(flags[i].first));
        bool is_there = false;
        for (size_t row = 0; fl_profile_at(row) != NULL; row++) {
            is_there |= fl_profile_at(row) == profile_of(flags[i].first);
            bool value;
            memcpy(&value, (const char *)fl_profile_at(row) + flags[i].field, sizeof value);
            assert_int_equal(value, is_there ? flags[i].value : !flags[i].value);
        }
    }
}

static void the_order_of_free_blocks_and_the_fallback_follow_their_releases(void **state)
{
    (void)state;
    for (size_t i = 0; fl_profile_at(i) != NULL; i++) {
        const fl_profile *row = fl_profile_at(i);
        assert_int_equal(row->tie, row->minor < 12    ? FL_TIE_ADDRESS
                                   : row->minor == 12 ? FL_TIE_BLOCK
                                                      : FL_TIE_SEGMENT);
        assert_int_equal(row->use_on_oom, row->minor < 8    ? FL_USE_ON_OOM_NEVER
                                          : row->minor < 11 ? FL_USE_ON_OOM_LAST
                                                            : FL_USE_ON_OOM_EARLY);
        assert_int_equal(row->parser, row->minor < 10 ? FL_PARSER_OLD : FL_PARSER_NEW);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_are_listed_oldest_first_and_named_by_their_numbers),
        cmocka_unit_test(the_newest_is_the_last),
        cmocka_unit_test(a_version_means_a_release_or_is_refused_in_words),
        cmocka_unit_test(every_release_is_found_by_its_own_name),
        cmocka_unit_test(a_long_version_text_is_quoted_in_part),
        cmocka_unit_test(every_rule_changes_in_the_release_where_it_was_seen_to_change),
        cmocka_unit_test(the_order_of_free_blocks_and_the_fallback_follow_their_releases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
