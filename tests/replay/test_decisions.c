#include "fake_policy.h"
#include "test.h"

#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lines as they come, next to those that are expected. */
struct printed {
    fl_decision_log log;
    char *text;
    size_t used, size;
};

static fl_status print_line(void *user, const char *line, fl_error *error)
{
    (void)error;
    struct printed *printed = user;
    size_t length = strlen(line);
    if (printed->used + length + 2 > printed->size) {
        printed->size = printed->size * 2 + length + 2;
        printed->text = realloc(printed->text, printed->size);
        assert_non_null(printed->text);
    }
    memcpy(printed->text + printed->used, line, length);
    printed->used += length;
    printed->text[printed->used++] = '\n';
    printed->text[printed->used] = '\0';
    return FL_OK;
}

static fl_status watch(void *user, const fl_view *view, fl_error *error)
{
    struct printed *printed = user;
    return fl_decision_log_view(&printed->log, view, error);
}

static fl_status print_decisions(const fl_trace *trace, const fl_policy_ops *policy,
                                 struct printed *printed, fl_error *error)
{
    fl_replay_options options = {
        .policy = policy,
        .conf = policy == NULL ? fl_trace_conf(trace) : NULL,
        .fraction = -1,
        .capacity_bytes = fl_trace_capacity(trace),
        .on_oom = FL_ON_OOM_SKIP,
        .check_every_op = true,
        .watch = watch,
        .user = printed,
    };
    fl_replay *replay = NULL;
    fl_status status = fl_replay_open(trace, &options, &replay, error);
    printed->log = (fl_decision_log){trace, 0, replay, print_line, printed};
    if (status == FL_OK)
        status = fl_replay_run(replay, error);
    fl_replay_close(replay);
    return status;
}

static void assert_decisions(const char *script, const char *expected)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    struct printed printed = {0};
    if (fl_read_memory(script, strlen(script), "s", NULL, &trace, &error) != FL_OK ||
        print_decisions(trace, NULL, &printed, &error) != FL_OK)
        fail_msg("%s", error.text);
    assert_string_equal(printed.text != NULL ? printed.text : "", expected);
    free(printed.text);
    fl_trace_free(trace);
}

static void requests_show_calls_first_and_then_the_answer(void **state)
{
    (void)state;
    assert_decisions("# cap=30MiB conf=\n"
                     "a 5 1\na 6 1048577\na 7 0\na 8 9MiB\na 9 20MiB\n",
                     "m 7f0000000000 2097152\n"
                     "A 5 7f0000000000\n"
                     "m 7f0000200000 20971520\n"
                     "A 6 7f0000200000\n"
                     "A 7 0\n"
                     "A 8 7f0000300200\n"
                     "m! 20971520\n"
                     "m! 20971520\n"
                     "O 9\n");
}

static void what_is_given_back_shows_before_the_second_attempt(void **state)
{
    (void)state;
    assert_decisions("# cap=30MiB conf=\n"
                     "a 1 20MiB\nf 1\na 2 24MiB\ne\nf 2\ne\n",
                     "m 7f0000000000 20971520\n"
                     "A 1 7f0000000000\n"
                     "m! 25165824\n"
                     "f 7f0000000000\n"
                     "m 7f0000000000 25165824\n"
                     "A 2 7f0000000000\n"
                     "f 7f0000000000\n");
}

static void pages_show_one_by_one(void **state)
{
    (void)state;
    assert_decisions("# cap=50MiB conf=expandable_segments:True\n"
                     "a 1 30MiB\na 2 3MiB\nf 1\na 3 25MiB 64\n",
                     "M 700000000000 20971520\n"
                     "M 700001400000 20971520\n"
                     "A 1 700000000000\n"
                     "A 2 700001e00000\n"
                     "C! 20971520\n"
                     "U 700000000000 20971520\n"
                     "C! 20971520\n"
                     "O 3\n");
}

static void a_refused_page_shows_in_whole_granules(void **state)
{
    (void)state;
    assert_decisions("# cap=1MiB conf=expandable_segments:True\na 1 1\n",
                     "C! 2097152\nC! 2097152\nO 1\n");
}

static void segments_and_counters_show_where_the_script_asks(void **state)
{
    (void)state;
    assert_decisions("# cap=1GiB conf=\n"
                     "a 1 100\na 2 600 64\nr 2 0\np\nf 2\nf 1\na 3 700\ns\nt\n",
                     "m 7f0000000000 2097152\n"
                     "A 1 7f0000000000\n"
                     "m 7f0000200000 2097152\n"
                     "A 2 7f0000200000\n"
                     "A 3 7f0000000000\n"
                     "S 7f0000000000 2097152 small 0\n"
                     "B 1024 700 live\n"
                     "B 2096128 100 free\n"
                     "S 7f0000200000 2097152 small 64\n"
                     "B 1024 600 pend\n"
                     "B 2096128 0 free\n"
                     "T allocation cur 1 peak 2 sum 3 sub 2\n"
                     "T segment cur 2 peak 2 sum 2 sub 0\n"
                     "T active cur 2 peak 2 sum 3 sub 1\n"
                     "T inactive_split cur 2 peak 2 sum 3 sub 1\n"
                     "T allocated_bytes cur 1024 peak 1536 sum 2560 sub 1536\n"
                     "T reserved_bytes cur 4194304 peak 4194304 sum 4194304 sub 0\n"
                     "T active_bytes cur 2048 peak 2048 sum 2560 sub 512\n"
                     "T inactive_split_bytes cur 4192256 peak 4192768 sum 6288896 sub 2096640\n"
                     "T retries 0 ooms 0 oversize_alloc 0 oversize_seg 0\n");
}

static void a_policy_without_segments_or_counters_cannot_show_them(void **state)
{
    (void)state;
    static const char *const scripts[][2] = {
        {"s\n", "s: event 0: policy 'fake' cannot show its segments"},
        {"a 1 1\nt\n", "s: event 1: this policy keeps no statistics"},
    };
    for (size_t i = 0; i < COUNT_OF(scripts); i++) {
        fl_trace *trace = NULL;
        fl_error error = {0};
        struct printed printed = {0};
        const char *text = scripts[i][0];
        assert_int_equal(fl_read_memory(text, strlen(text), "s", NULL, &trace, NULL), FL_OK);
        assert_int_equal(print_decisions(trace, fake_policy(0), &printed, &error),
                         FL_ERR_UNAVAILABLE);
        assert_string_equal(error.text, scripts[i][1]);
        free(printed.text);
        fl_trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_show_calls_first_and_then_the_answer),
        cmocka_unit_test(what_is_given_back_shows_before_the_second_attempt),
        cmocka_unit_test(pages_show_one_by_one),
        cmocka_unit_test(a_refused_page_shows_in_whole_granules),
        cmocka_unit_test(segments_and_counters_show_where_the_script_asks),
        cmocka_unit_test(a_policy_without_segments_or_counters_cannot_show_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
