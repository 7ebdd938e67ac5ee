#include "diagnosing.h"
#include "test.h"

#include <string.h>

static bool is_recommended(const diagnosing *d, const char *conf)
{
    for (size_t i = 0; i < d->diagnosis.remedies.count; i++)
        if (strcmp(d->diagnosis.remedies.items[i].conf, conf) == 0)
            return true;
    return false;
}

/* What is recommended fits when it is replayed, and what is not does not. */
static void nothing_is_recommended_that_does_not_fit(void **state)
{
    (void)state;
    diagnosing d = diagnose_file("traces/zoo/T04.txt", MIB(5498));
    assert_int_equal(d.diagnosis.remedies.count, 1);
    assert_true(is_recommended(&d, "expandable_segments:True"));
    diagnosing_close(&d);
    d = diagnose_file("traces/zoo/T05.txt", MIB(7198));
    assert_int_equal(d.diagnosis.remedies.count, 1);
    assert_true(is_recommended(&d, "expandable_segments:True"));
    diagnosing_close(&d);
    d = diagnose_file("traces/zoo/T09.txt", MIB(9998));
    assert_int_equal(d.diagnosis.remedies.count, 0);
    assert_true(d.diagnosis.remedies_tried > 5);
    diagnosing_close(&d);
    d = diagnose_file("traces/zoo/T13.txt", MIB(318));
    assert_true(is_recommended(&d, "roundup_power2_divisions:4"));
    assert_false(is_recommended(&d, "max_split_size_mb:21"));
    diagnosing_close(&d);
}

static void what_spares_most_comes_first(void **state)
{
    (void)state;
    diagnosing d = diagnose_file("traces/zoo/T03ab.txt", MIB(1398));
    const struct fl_remedies *remedies = &d.diagnosis.remedies;
    assert_true(remedies->count > 1);
    for (size_t i = 1; i < remedies->count; i++)
        assert_true(remedies->items[i - 1].spare_percent >= remedies->items[i].spare_percent);
    assert_int_equal(remedies->items[0].spare_percent, 10); /* 1230 MiB of 1398 do */
    diagnosing_close(&d);
}

/* Together they are worse than either (issue of every release from 2.1 on). */
static void letting_go_of_settings_is_a_remedy_too(void **state)
{
    (void)state;
    fl_replay_options options = options_on(MIB(200));
    options.conf = "expandable_segments:True,max_split_size_mb:20";
    bool is_exact;
    assert_int_equal(fl_profile_find("2.11.0", &options.profile, &is_exact, NULL), FL_OK);
    static char script[1 << 16];
    diagnosing zoo = diagnose_file("traces/zoo/T17.txt", FL_UNLIMITED);
    assert_true(strlen(zoo.text) < sizeof script);
    memcpy(script, zoo.text, strlen(zoo.text) + 1);
    diagnosing_close(&zoo);
    diagnosing d = diagnose_with(script, &options);
    if (d.diagnosis.summary.has_oom) {
        assert_true(is_recommended(&d, "expandable_segments:True"));
        assert_true(is_recommended(&d, ""));
    }
    diagnosing_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_recommended_that_does_not_fit),
        cmocka_unit_test(what_spares_most_comes_first),
        cmocka_unit_test(letting_go_of_settings_is_a_remedy_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
