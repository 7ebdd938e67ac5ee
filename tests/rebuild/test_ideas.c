#include "rebuild/ideas.h"

#include "recording.h"
#include "test.h"

#include <string.h>

/* The ideas that the first difference of a recording gives, by kind. */
struct counted {
    size_t places, refused, settings, limits, all;
    uint64_t first_event;
};

static struct counted ideas_of(const char *script, unsigned reach)
{
    recording run;
    fl_guess guess = {0};
    fl_attempt attempt;
    fl_settings settings;
    fl_ideas ideas = {0};
    struct counted counted = {0};
    const fl_profile *profile = fl_profile_newest();
    recording_make(&run, "recording", script, strlen(script));
    assert_int_equal(fl_record_conf(run.trace, profile, &settings, NULL), FL_OK);
    assert_int_equal(fl_guess_make(run.trace, 0, profile, &settings, &guess, NULL), FL_OK);
    assert_int_equal(fl_rebuild_try(run.trace, 0, profile, &guess, &attempt, NULL), FL_OK);
    assert_false(attempt.is_explained);
    assert_int_equal(fl_ideas_find(run.trace, 0, profile, &guess, &attempt, reach, &ideas, NULL),
                     FL_OK);
    for (size_t i = 0; i < ideas.items.count; i++) {
        const fl_idea *idea = &ideas.items.items[i];
        counted.places += idea->kind == FL_IDEA_PLACES;
        counted.refused += idea->kind == FL_IDEA_REFUSED;
        counted.settings += idea->kind == FL_IDEA_SETTINGS;
        counted.limits += idea->kind == FL_IDEA_LIMIT;
        assert_int_equal(fl_idea_apply(run.trace, 0, &ideas, idea, &guess, NULL), FL_OK);
    }
    counted.all = ideas.items.count;
    fl_ideas_deinit(run.trace->host, &ideas);
    fl_guess_deinit(run.trace->host, &guess);
    recording_free(&run);
    return counted;
}

static const char changed[] = "# cap=1GiB conf=max_split_size_mb:64\n"
                              "C expandable_segments:False\na 1 90MiB\nf 1\na 2 30MiB\n";

static void settings_are_in_question_first_without_numbers(void **state)
{
    (void)state;
    struct counted few = ideas_of(changed, 0), many = ideas_of(changed, FL_REACH_NUMBERS);
    assert_in_range(few.settings, 2, 6);
    assert_true(many.settings > 20);
    assert_int_equal(few.limits, 0);
}

static void a_collection_that_did_not_come_asks_for_a_limit(void **state)
{
    (void)state;
    struct counted counted = ideas_of("# cap=200MiB conf=garbage_collection_threshold:0.5\n"
                                      "F 0.8\na 1 20MiB\na 2 20MiB\na 3 30MiB\nf 1\na 4 22MiB\n"
                                      "f 2\na 5 24MiB\n",
                                      0);
    assert_true(counted.limits > 0);
}

static void memory_of_unknown_owners_is_in_question(void **state)
{
    (void)state;
    static const char script[] = "# cap=1GiB conf=\n"
                                 "a 1 3MiB\nb 1\na 2 3MiB\na 3 300\nq 1\na 4 30MiB\nf 4\ne\n"
                                 "f 2\nf 3\nx 1\ne 1\na 5 300\n";
    assert_int_equal(ideas_of(script, 0).places, 0); /* the file names no other pool */
    assert_true(ideas_of(script, FL_REACH_POOLS).places > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_in_question_first_without_numbers),
        cmocka_unit_test(a_collection_that_did_not_come_asks_for_a_limit),
        cmocka_unit_test(memory_of_unknown_owners_is_in_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
