#include "analysis/review.h"

#include "answers.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (UINT64_C(1) << 20)

static const fl_profile *release(const char *version)
{
    const fl_profile *profile;
    bool is_exact;
    assert_int_equal(fl_profile_find(version, &profile, &is_exact, NULL), FL_OK);
    return profile;
}

static const fl_remark *find_remark(const fl_review *review, const char *kind)
{
    for (size_t i = 0; i < review->remark_count; i++)
        if (strcmp(review->remarks[i].kind, kind) == 0)
            return &review->remarks[i];
    return NULL;
}

/* Which release makes that remark on a text; with `kind` NULL: any remark. */
static bool remarks(const char *version, const char *text, const char *kind)
{
    fl_review review;
    fl_review_text(release(version), text, &review);
    return kind != NULL ? find_remark(&review, kind) != NULL : review.remark_count > 0;
}

static void check_answer(const answer_row *row)
{
    bool must_refuse = strncmp(row->answer, "error:", 6) == 0;
    const char *message = must_refuse && row->answer[6] != '\0' ? row->answer + 7 : NULL;
    for (size_t i = row->first; i <= row->last; i++) {
        fl_review review;
        fl_review_text(fl_profile_at(i), row->text, &review);
        if ((review.verdict == FL_REVIEW_REFUSED) != must_refuse ||
            (message != NULL && strcmp(review.refusal.text, message) != 0))
            fail_msg("%s on %s: '%s', not '%s'", fl_profile_release(fl_profile_at(i)), row->text,
                     review.refusal.text, row->answer);
    }
}

static void every_recorded_answer_is_the_verdict(void **state)
{
    (void)state;
    assert_int_equal(each_answer("tests/data/conformance/settings.tsv", check_answer), 104);
}

static void plain_settings_need_no_remark(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "max_split_size_mb:64", "roundup_power2_divisions:8",
                                        "max_split_size_mb:64,max_non_split_rounding_mb:40"};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_false(remarks("2.9.1", texts[i], NULL));
    assert_false(remarks("2.9.1", "expandable_segments:True", NULL));
    assert_false(remarks("2.10.0",
                         "garbage_collection_threshold:0.8,per_process_memory_fraction:0.9", NULL));
}

static void numbers_that_are_read_in_part_are_told(void **state)
{
    (void)state;
    fl_review review;
    fl_review_text(release("2.9.1"), "max_split_size_mb:128.5", &review);
    assert_int_equal(review.settings.max_split_bytes, 128 * MIB);
    assert_string_equal(find_remark(&review, "misread")->text,
                        "max_split_size_mb: '128.5' is read as 128: what follows is dropped");
    assert_true(remarks("2.15.0", "max_split_size_mb:128mb", "misread"));
    assert_true(remarks("2.9.1", "garbage_collection_threshold:0.8x", "misread"));
    assert_true(remarks("2.9.1", "roundup_power2_divisions:4k", "misread"));
    assert_true(remarks("2.9.1", "max_split_size_mb:-1", "wraps"));
    assert_false(remarks("2.9.1", "max_split_size_mb:-1", "segments_at_limit"));
    assert_false(remarks("2.9.1", " max_split_size_mb : 1 28 ", "misread"));
    assert_true(
        remarks("2.15.0", "expandable_segments:True,expandable_segments_reserve:x", "passed_over"));
}

static void lists_are_one_class_off_what_the_manual_says(void **state)
{
    (void)state;
    static const char text[] = "roundup_power2_divisions:[256:1,512:2,1024:4,>:8]";
    static const fl_division_class old[] = {
        {0, 512 * MIB, 1}, {512 * MIB, 1024 * MIB, 2}, {1024 * MIB, FL_UNLIMITED, 8}};
    static const fl_division_class new[] = {{0, 512 * MIB, 1},
                                            {512 * MIB, 1024 * MIB, 2},
                                            {1024 * MIB, 2048 * MIB, 4},
                                            {2048 * MIB, FL_UNLIMITED, 8}};
    fl_division_class classes[FL_ROUNDUP_SLOTS];
    fl_review review;
    fl_review_text(release("2.9.1"), text, &review);
    assert_true(review.has_list && find_remark(&review, "list") != NULL);
    assert_int_equal(fl_division_classes(&review.settings, classes), 3);
    assert_memory_equal(classes, old, sizeof old);
    fl_review_text(release("2.10.0"), text, &review);
    assert_int_equal(fl_division_classes(&review.settings, classes), 4);
    assert_memory_equal(classes, new, sizeof new);
}

static void settings_that_need_others_are_told(void **state)
{
    (void)state;
    fl_review review;
    fl_review_text(release("2.9.1"), "garbage_collection_threshold:0.8", &review);
    assert_string_equal(find_remark(&review, "needs")->text,
                        "garbage_collection_threshold does nothing without a memory fraction: "
                        "call set_per_process_memory_fraction");
    fl_review_text(release("2.10.0"), "garbage_collection_threshold:0.8", &review);
    assert_string_equal(find_remark(&review, "needs")->text,
                        "garbage_collection_threshold does nothing without a memory fraction below "
                        "1: call set_per_process_memory_fraction, or set "
                        "per_process_memory_fraction");
    assert_true(remarks(
        "2.10.0", "garbage_collection_threshold:0.8,per_process_memory_fraction:1.0", "needs"));
    assert_true(remarks("2.10.0", "per_process_memory_fraction:1.0", "no_limit"));
    assert_true(remarks("2.6.0", "max_non_split_rounding_mb:40", "needs"));
    assert_true(remarks("2.15.0", "expandable_segments_reserve:0.5", "needs"));
    assert_true(remarks("2.9.1", "pinned_use_background_threads:True", "no_effect"));
    assert_true(remarks("2.9.1", "release_lock_on_cudamalloc:True", "no_effect"));
}

static void traps_are_told(void **state)
{
    (void)state;
    assert_true(remarks("2.1.2", "expandable_segments:True,max_split_size_mb:64", "grows"));
    assert_true(remarks("2.15.0", "max_split_size_mb:64,expandable_segments:True", "grows"));
    assert_false(remarks("2.15.0", "max_split_size_mb:64,expandable_segments:False", "grows"));
    assert_true(remarks("2.10.0", "max_split_size_mb:20", "segments_at_limit"));
    assert_true(remarks("2.9.1", "max_split_size_mb:21", "segments_at_limit"));
    assert_false(remarks("2.9.1", "max_split_size_mb:22", "segments_at_limit"));
    assert_true(
        remarks("2.11.0", "max_split_size_mb:32,large_segment_size_mb:32", "segments_at_limit"));
    fl_review old, new;
    fl_review_text(release("2.3.1"), "roundup_power2_divisions:1", &old);
    fl_review_text(release("2.4.1"), "roundup_power2_divisions:1", &new);
    assert_non_null(strstr(find_remark(&old, "one_division")->text, "not rounded at all"));
    assert_non_null(strstr(find_remark(&new, "one_division")->text, "rounded to 512 bytes"));
    assert_false(fl_review_is_same(&old, &new));
}

static void of_two_settings_of_a_key_it_says_what_becomes(void **state)
{
    (void)state;
    fl_review review;
    fl_review_text(release("2.9.1"),
                   "max_split_size_mb:64,max_split_size_mb:128,max_split_size_mb:32", &review);
    assert_int_equal(review.remark_count, 1);
    assert_string_equal(review.remarks[0].text,
                        "max_split_size_mb is set more than once: the last one counts");
    assert_int_equal(review.settings.max_split_bytes, 32 * MIB);
}

static void a_capital_is_missed_where_it_is_missing(void **state)
{
    (void)state;
    fl_review review;
    fl_review_text(release("2.9.1"), "expandable_segments:true", &review);
    assert_int_equal(review.verdict, FL_REVIEW_REFUSED);
    assert_string_equal(review.refusal.hint, "did you mean 'expandable_segments:True'?");
    fl_review_text(release("2.12.0"), "throw_on_cudamalloc_oom:false", &review);
    assert_string_equal(review.refusal.hint, "did you mean 'throw_on_cudamalloc_oom:False'?");
}

/* PYTORCH_ALLOC_CONF is number 2. */
static void a_variable_that_is_not_read_is_ignored(void **state)
{
    (void)state;
    fl_assignment items[] = {{.variable = 2, .value = "max_split_size_mb:64"},
                             {.variable = 0, .value = "max_split_size_mb:128"},
                             {.variable = 0, .value = "max_split_size_mb:256"}};
    struct fl_assignments set = {items, 1, 1};
    fl_review review;
    fl_review_assignments(release("2.9.1"), &set, &review);
    assert_int_equal(review.verdict, FL_REVIEW_NOT_READ);
    assert_null(review.text);
    fl_review_assignments(release("2.10.0"), &set, &review);
    assert_int_equal(review.verdict, FL_REVIEW_ACCEPTED);
    assert_int_equal(review.variable, 2);
    set.count = 3;
    fl_review_assignments(release("2.10.0"), &set, &review);
    assert_int_equal(review.variable, 0);
    assert_int_equal(review.settings.max_split_bytes, 256 * MIB);
    assert_string_equal(find_remark(&review, "variable_ignored")->text,
                        "PYTORCH_ALLOC_CONF is ignored: another variable wins");
    fl_review_assignments(release("2.9.1"), &set, &review);
    assert_string_equal(find_remark(&review, "variable_ignored")->text,
                        "PYTORCH_ALLOC_CONF is ignored: this release does not read it");
}

static void more_remarks_than_there_is_room_for_do_no_harm(void **state)
{
    (void)state;
    char text[8192] = "";
    static const char *const keys[] = {"pinned_use_cuda_host_register",
                                       "release_lock_on_cudamalloc", "pinned_use_hip_host_register",
                                       "release_lock_on_hipmalloc"};
    for (int i = 0; i < 160; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s:True,", keys[i % 4]);
    fl_review review;
    fl_review_text(release("2.9.1"), text, &review);
    assert_int_equal(review.remark_count, FL_REMARKS_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recorded_answer_is_the_verdict),
        cmocka_unit_test(plain_settings_need_no_remark),
        cmocka_unit_test(numbers_that_are_read_in_part_are_told),
        cmocka_unit_test(lists_are_one_class_off_what_the_manual_says),
        cmocka_unit_test(settings_that_need_others_are_told),
        cmocka_unit_test(traps_are_told),
        cmocka_unit_test(of_two_settings_of_a_key_it_says_what_becomes),
        cmocka_unit_test(a_capital_is_missed_where_it_is_missing),
        cmocka_unit_test(a_variable_that_is_not_read_is_ignored),
        cmocka_unit_test(more_remarks_than_there_is_room_for_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
