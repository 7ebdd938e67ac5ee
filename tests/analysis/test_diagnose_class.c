#include "diagnosing.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_trouble(const char *script, uint64_t card, fl_trouble trouble)
{
    diagnosing d = diagnose_script(script, card);
    if (d.diagnosis.trouble != trouble)
        fail_msg("%s: %s, not %s", script, fl_trouble_name(d.diagnosis.trouble),
                 fl_trouble_name(trouble));
    diagnosing_close(&d);
}

static void what_is_live_may_be_too_much(void **state)
{
    (void)state;
    assert_trouble("a 1 30MiB\na 2 12MiB\n", MIB(40), FL_TROUBLE_FULL);
    assert_trouble("a 1 100MiB\n", MIB(40), FL_TROUBLE_FULL);
    /* A part of a physical page is no room. */
    assert_trouble("a 1 30MiB\na 2 12MiB\n", MIB(42) - 1, FL_TROUBLE_FULL);
    assert_trouble("a 1 30MiB\na 2 12MiB\n", MIB(42), FL_TROUBLE_FITS);
}

static void what_is_free_may_be_in_pieces(void **state)
{
    (void)state;
    assert_trouble("a 1 8MiB\na 2 8MiB\na 3 8MiB\na 4 8MiB\nf 1\nf 3\na 5 20MiB\n", MIB(52),
                   FL_TROUBLE_FRAGMENTATION);
}

static void others_may_hold_the_card(void **state)
{
    (void)state;
    assert_trouble("o 30MiB\na 1 12MiB\n", MIB(40), FL_TROUBLE_OUTSIDE);
    assert_trouble("a 1 8MiB\na 2 8MiB\nf 1\no 10MiB\na 3 12MiB\n", MIB(34), FL_TROUBLE_OUTSIDE);
    /* With what others have it would not fit either. */
    assert_trouble("o 30MiB\na 1 42MiB\n", MIB(40), FL_TROUBLE_FULL);
}

static void a_limit_may_refuse_what_the_card_has(void **state)
{
    (void)state;
    assert_trouble("F 0.5\na 1 30MiB\na 2 30MiB\n", MIB(100), FL_TROUBLE_LIMIT);
    fl_replay_options options = options_on(MIB(100));
    bool is_exact;
    assert_int_equal(fl_profile_find("2.12.0", &options.profile, &is_exact, NULL), FL_OK);
    options.conf = "per_process_memory_fraction:0.5,throw_on_cudamalloc_oom:True";
    diagnosing d = diagnose_with("F 0.9\na 1 30MiB\na 2 30MiB\n", &options);
    assert_int_equal(d.diagnosis.trouble, FL_TROUBLE_LIMIT);
    diagnosing_close(&d);
}

/* Memory of a stream that is no longer used; segments that one live block keeps there. */
static void it_may_lie_on_other_streams(void **state)
{
    (void)state;
    assert_trouble("a 1 8MiB 64\na 2 8MiB 64\nf 1\na 3 8MiB 0\na 4 8MiB 0\n", MIB(38),
                   FL_TROUBLE_STREAMS);
}

static void it_may_lie_in_private_pools(void **state)
{
    (void)state;
    assert_trouble("b 1\na 1 30MiB\nf 1\nq 1\na 2 30MiB\n", MIB(50), FL_TROUBLE_PRIVATE_POOLS);
}

static void it_may_wait_for_other_streams(void **state)
{
    (void)state;
    /* In a capture nobody waits for the events. */
    assert_trouble("b 1\na 1 12MiB\nr 1 64\np\nf 1\na 2 12MiB\n", MIB(20),
                   FL_TROUBLE_PENDING_FREES);
}

static void what_a_release_forbids_is_nothing_of_all_that(void **state)
{
    (void)state;
    assert_trouble("b 1\na 1 12MiB\nf 1\nx 1\ne 1\nq 1\nb 2\nx 2\nq 2\ne\na 2 300MiB\n", MIB(100),
                   FL_TROUBLE_FULL);
}

static uint64_t card_of(const char *trace)
{
    static char text[4096];
    char name[32];
    FILE *file = fopen("traces/zoo/smallest_card.tsv", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    snprintf(name, sizeof name, "\n%s\t", trace);
    const char *at = strstr(text, name);
    assert_non_null(at);
    for (int column = 0; column < 4; column++)
        at = strchr(at, '\t') + 1;
    return strtoull(at, NULL, 10) * FL_MIB;
}

/* What is wrong just under the smallest card of the default settings, whatever "just" is; and what
 * is recommended fits. */
static void the_zoo_is_classed_as_known(void **state)
{
    (void)state;
    static const uint64_t below[] = {1, MIB(2)};
    char trace[16], class[32], path[64];
    FILE *file = fopen("traces/zoo/classes.tsv", "rb");
    assert_non_null(file);
    size_t traces = 0;
    char line[80];
    while (fgets(line, sizeof line, file) != NULL) {
        size_t length = strcspn(line, "\t");
        snprintf(trace, sizeof trace, "%.*s", (int)length, line);
        snprintf(class, sizeof class, "%.*s", (int)strcspn(line + length + 1, "\r\n"),
                 line + length + 1);
        if (strcmp(trace, "trace") == 0)
            continue;
        snprintf(path, sizeof path, "traces/zoo/%s.txt", trace);
        for (size_t i = 0; i < COUNT_OF(below); i++) {
            diagnosing d = diagnose_file(path, card_of(trace) - below[i]);
            if (strcmp(fl_trouble_name(d.diagnosis.trouble), class) != 0)
                fail_msg("%s: %s, not %s", trace, fl_trouble_name(d.diagnosis.trouble), class);
            diagnosing_close(&d);
        }
        traces++;
    }
    fclose(file);
    assert_int_equal(traces, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_live_may_be_too_much),
        cmocka_unit_test(what_is_free_may_be_in_pieces),
        cmocka_unit_test(others_may_hold_the_card),
        cmocka_unit_test(a_limit_may_refuse_what_the_card_has),
        cmocka_unit_test(it_may_lie_on_other_streams),
        cmocka_unit_test(it_may_lie_in_private_pools),
        cmocka_unit_test(it_may_wait_for_other_streams),
        cmocka_unit_test(what_a_release_forbids_is_nothing_of_all_that),
        cmocka_unit_test(the_zoo_is_classed_as_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
