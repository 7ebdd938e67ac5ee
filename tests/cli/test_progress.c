/* A line on a terminal, after a second, ten times a second, gone at the end. */
#include "cli/progress.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

struct stage {
    fl_host host;
    uint64_t now_ns;
    fl_progress progress;
    FILE *terminal;
    char shown[2000];
};

static uint64_t stage_now(void *user)
{
    const struct stage *stage = user;
    return stage->now_ns;
}

static int stage_set(void **state)
{
    struct stage *stage = test_calloc(1, sizeof *stage);
    stage->host = *fl_host_default();
    stage->host.now_ns = stage_now;
    stage->host.user = stage;
    stage->terminal = fmemopen(stage->shown, sizeof stage->shown, "w");
    setvbuf(stage->terminal, NULL, _IONBF, 0);
    stage->progress = (fl_progress){.host = &stage->host, .out = stage->terminal};
    *state = stage;
    return 0;
}

static int stage_strike(void **state)
{
    struct stage *stage = *state;
    fclose(stage->terminal);
    test_free(stage);
    return 0;
}

static void tick(struct stage *stage, unsigned ms, uint64_t done, uint64_t total)
{
    stage->now_ns += (uint64_t)ms * 1000000;
    assert_true(fl_progress_tick(&stage->progress, done, total));
}

static void short_work_shows_nothing(void **state)
{
    struct stage *stage = *state;
    fl_progress_begin(&stage->progress, "reading");
    for (int i = 0; i < 9; i++)
        tick(stage, 110, 10, 100);
    fl_progress_end(&stage->progress);
    assert_string_equal(stage->shown, "");
}

static void long_work_shows_its_share_and_leaves_no_trace(void **state)
{
    struct stage *stage = *state;
    fl_progress_begin(&stage->progress, "reading a");
    tick(stage, 1000, 40, 100);
    tick(stage, 50, 45, 100); /* too soon */
    tick(stage, 50, 100, 100);
    fl_progress_end(&stage->progress);
    assert_string_equal(stage->shown, "\rreading a   40%"
                                      "\rreading a  100%"
                                      "\r               \r");
}

static void work_of_unknown_length_shows_what_was_done(void **state)
{
    struct stage *stage = *state;
    fl_progress_begin(&stage->progress, "reading a");
    tick(stage, 2000, 45678901, 0);
    assert_string_equal(stage->shown, "\rreading a  45 MB");
}

static void without_a_terminal_nothing_is_shown(void **state)
{
    struct stage *stage = *state;
    stage->progress.out = NULL;
    fl_progress_begin(&stage->progress, "reading a");
    tick(stage, 5000, 1, 2);
    fl_progress_end(&stage->progress);
    assert_string_equal(stage->shown, "");
}

static void a_long_name_is_cut(void **state)
{
    struct stage *stage = *state;
    char name[200];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    fl_progress_begin(&stage->progress, name);
    tick(stage, 1000, 1, 2);
    assert_int_equal(strlen(stage->shown), 1 + 60 + 2 + 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(short_work_shows_nothing, stage_set, stage_strike),
        cmocka_unit_test_setup_teardown(long_work_shows_its_share_and_leaves_no_trace, stage_set,
                                        stage_strike),
        cmocka_unit_test_setup_teardown(work_of_unknown_length_shows_what_was_done, stage_set,
                                        stage_strike),
        cmocka_unit_test_setup_teardown(without_a_terminal_nothing_is_shown, stage_set,
                                        stage_strike),
        cmocka_unit_test_setup_teardown(a_long_name_is_cut, stage_set, stage_strike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
