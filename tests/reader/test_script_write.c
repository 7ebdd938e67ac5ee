#include <fraglab/read.h>
#include <fraglab/verify.h>
#include <fraglab/write.h>

#include "assemble.h"
#include "taker.h"
#include "test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static fl_trace *read_text(const char *text, size_t length)
{
    fl_trace *trace = NULL;
    fl_error error = {0};
    fl_read_options options = {.format = "script"};
    if (fl_read_memory(text, length, "s", &options, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

static taker write_trace(const fl_trace *trace, const char *comment)
{
    taker to = {0};
    fl_error error = {0};
    fl_write_options options = {.comment = comment, .write = taker_take, .user = &to};
    if (fl_write_trace(trace, "script", &options, &error) != FL_OK)
        fail_msg("%s", error.text);
    return to;
}

static void writes(const char *text, const char *expected)
{
    fl_trace *trace = read_text(text, strlen(text));
    taker to = write_trace(trace, NULL);
    assert_string_equal(to.text, expected);
    free(to.text);
    fl_trace_free(trace);
}

static void every_operation_is_written(void **state)
{
    (void)state;
    static const char text[] = "# cap=25769803776 conf=expandable_segments:True\n"
                               "a 7 17301504 64\n"
                               "a 8 0 0\n"
                               "r 7 128\n"
                               "p\nc\n"
                               "f 7\n"
                               "d 7\n"
                               "e\ne 3\n"
                               "F 0.25\nF 0.1\nF 1.0\nF 0.3333333333333333\nF 4194305B\n"
                               "b 2.5 stream=64 capture=1 nosplit=1 use_on_oom=1\n"
                               "q 2.5\nx 2.5\n"
                               "b 3\nq 3\n"
                               "s\nt\n"
                               "C max_split_size_mb:32\n"
                               "o 1000\n"
                               "m half way\n";
    writes(text, text);
}

static void what_does_nothing_is_left_out(void **state)
{
    (void)state;
    writes("# a comment\n\na 1 1.5KiB\nr 9 64\nf 1\n", "a 1 1536 0\nf 1\n");
    writes("", "# no operations\n");
    writes("# conf=\na 1 512\n", "# conf=\na 1 512 0\n");
    writes("# cap=1MiB\na 1 512\n", "# cap=1048576\na 1 512 0\n");
    writes("# phase: warm up\n", "m phase: warm up\n");
}

static void whatever_a_line_carries_stays(void **state)
{
    (void)state;
    static const char text[] = "# torch: 2.12.1\n"
                               "# operations: inferred\n"
                               "a 1 1536 0 t=-3 stack=2 odd=1 more=x\n"
                               "# cat: 1 weights\n"
                               "a 2 512 0 at=0x7f0000000000\n"
                               "m half way t=9\n"
                               "z peak\nz accumulated\n"
                               "C max_split_size_mb:32 inferred=1 t=9\n"
                               "F 0.5 inferred=1\nF 4096B inferred=1 odd=1\n"
                               "f 1 t=4\n"
                               "a 1 512 0 dev=2 stack=7\n"
                               "# cat: 1 other\n"
                               "f 1 dev=2\n";
    writes(text, text);
}

static void a_free_that_waits_to_the_end_says_so(void **state)
{
    (void)state;
    static const char text[] = "a 1 512 0\na 2 512 0\nf 1 held=1\nf 2\nd 2\n";
    writes(text, text);
}

static void what_was_there_before_is_told_first(void **state)
{
    (void)state;
    static const char text[] = "S 0x7f0000000000 2097152 0 small=1\n"
                               "B 5 0x7f0000000200 512 400\n"
                               "# cat: 5 weights\n"
                               "B 6 0x7f0000000800 1024 1000 pending=1\n"
                               "S 0x7f1000000000 20971520 64 small=0 base=0x7f0ffec00000 "
                               "page=20971520\n"
                               "S 0x7f2000000000 2097152 0 small=1 pool=2.3 dev=1\n";
    static const char ops[] = "f 5\nd 6\na 5 512 0\n";
    char whole[sizeof text + sizeof ops];
    const char *last = strstr(text, "S 0x7f2");
    snprintf(whole, sizeof whole, "%.*s%s%s", (int)(last - text), text, ops, last);
    writes(whole, whole);
}

static void a_comment_stays_on_its_line(void **state)
{
    (void)state;
    fl_trace *trace = read_text("a 1 512\n", 8);
    taker to = write_trace(trace, "one\ntwo\r\nf 1");
    assert_string_equal(to.text, "# one two  f 1\na 1 512 0\n");
    free(to.text);
    fl_trace_free(trace);
}

static void same_ops(const fl_trace *a, const fl_trace *b)
{
    assert_int_equal(fl_trace_event_count(a, 0), fl_trace_event_count(b, 0));
    for (uint64_t i = 0; i < fl_trace_event_count(a, 0); i++) {
        fl_event x, y;
        fl_trace_event(a, 0, i, &x);
        fl_trace_event(b, 0, i, &y);
        assert_int_equal(x.kind, y.kind);
        assert_int_equal(x.flags, y.flags);
        assert_int_equal(x.id, y.id);
        assert_int_equal(x.stream, y.stream);
        assert_int_equal(x.pool, y.pool);
        assert_int_equal(x.size, y.size);
    }
}

static void every_recorded_script_reads_back_as_it_was(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/data/conformance/scripts/*.txt", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        fl_trace *trace = NULL;
        assert_int_equal(fl_read_file(found.gl_pathv[i], NULL, &trace, NULL), FL_OK);
        taker to = write_trace(trace, NULL);
        fl_trace *again = read_text(to.text, to.length);
        same_ops(trace, again);
        assert_string_equal(fl_trace_conf(trace), fl_trace_conf(again));
        assert_int_equal(fl_trace_capacity(trace), fl_trace_capacity(again));
        free(to.text);
        fl_trace_free(again);
        fl_trace_free(trace);
    }
    assert_true(found.gl_pathc > 100);
    globfree(&found);
}

/* Decisions, one after the other, as text. */
static fl_status keep_line(void *user, const char *line, fl_error *error)
{
    (void)error;
    assert_true(taker_take(user, line, strlen(line)) && taker_take(user, "\n", 1));
    return FL_OK;
}

typedef struct watched {
    fl_decision_log log;
    taker lines;
} watched;

static fl_status watch(void *user, const fl_view *view, fl_error *error)
{
    watched *w = user;
    return fl_decision_log_view(&w->log, view, error);
}

/* Segment by segment; ids differ between a snapshot and its script, which names them anew. */
static taker decisions(const fl_trace *trace, const char *conf)
{
    watched w = {0};
    fl_replay_options options = {.profile = fl_profile_newest(),
                                 .conf = conf,
                                 .fraction = -1,
                                 .capacity_bytes = UINT64_C(3) << 30,
                                 .on_oom = FL_ON_OOM_SKIP,
                                 .watch = watch,
                                 .user = &w};
    fl_error error = {0};
    fl_replay *replay = NULL;
    if (fl_replay_open(trace, &options, &replay, &error) != FL_OK)
        fail_msg("%s", error.text);
    w.log = (fl_decision_log){trace, 0, replay, keep_line, &w.lines};
    if (fl_replay_run(replay, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_replay_close(replay);
    return w.lines;
}

static void a_snapshot_as_a_script_is_decided_alike(void **state)
{
    (void)state;
    static const struct {
        const char *path, *conf;
    } rows[] = {
        {"traces/pressure.pickle", NULL},
        {"traces/events.pickle", NULL},
        {"traces/streams.pickle", NULL},
        {"traces/expandpress.pickle", "expandable_segments:True"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fl_trace *trace = NULL;
        const fl_profile *profile;
        bool is_exact;
        assert_int_equal(fl_profile_find("2.9.1", &profile, &is_exact, NULL), FL_OK);
        assert_int_equal(fl_read_file(rows[i].path, NULL, &trace, NULL), FL_OK);
        assert_int_equal(fl_rebuild(trace, 0, profile, NULL), FL_OK);
        taker to = write_trace(trace, NULL);
        fl_trace *again = read_text(to.text, to.length);
        taker first = decisions(trace, rows[i].conf), second = decisions(again, rows[i].conf);
        assert_string_equal(first.text, second.text);
        free(first.text);
        free(second.text);
        free(to.text);
        fl_trace_free(again);
        fl_trace_free(trace);
    }
}

/* Only a rebuild knows what was there before. */
static void a_cut_window_that_was_not_rebuilt_is_refused(void **state)
{
    (void)state;
    fl_trace *trace = read_file("tests/fuzz/corpus/snapshot/pending-cut.pickle", false);
    taker to = {0};
    fl_error error = {0};
    fl_write_options options = {.write = taker_take, .user = &to};
    assert_int_equal(fl_write_trace(trace, "script", &options, &error), FL_ERR_UNAVAILABLE);
    assert_non_null(strstr(error.text, "what was there before its first event is not known"));
    free(to.text);
    fl_trace_free(trace);
}

static void a_place_that_takes_no_more_is_an_output_error(void **state)
{
    (void)state;
    static const char text[] = "# cap=1024\na 1 512\nr 1 64\nf 1\nC x\nb 1\n";
    fl_trace *trace = read_text(text, strlen(text));
    taker whole = write_trace(trace, "c");
    for (size_t most = 1; most < whole.length; most++) {
        taker to = {.most = most};
        fl_error error = {0};
        fl_write_options options = {.comment = "c", .write = taker_take, .user = &to};
        assert_int_equal(fl_write_trace(trace, "script", &options, &error), FL_ERR_OUTPUT);
        assert_string_equal(error.text, "a script could not be written");
        free(to.text);
    }
    free(whole.text);
    fl_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_is_written),
        cmocka_unit_test(what_does_nothing_is_left_out),
        cmocka_unit_test(whatever_a_line_carries_stays),
        cmocka_unit_test(a_free_that_waits_to_the_end_says_so),
        cmocka_unit_test(what_was_there_before_is_told_first),
        cmocka_unit_test(a_comment_stays_on_its_line),
        cmocka_unit_test(every_recorded_script_reads_back_as_it_was),
        cmocka_unit_test(a_snapshot_as_a_script_is_decided_alike),
        cmocka_unit_test(a_cut_window_that_was_not_rebuilt_is_refused),
        cmocka_unit_test(a_place_that_takes_no_more_is_an_output_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
