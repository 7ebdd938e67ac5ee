#include "observing.h"

#include "test.h"

#include <fraglab/read.h>
#include <fraglab/replay.h>

#include <string.h>

static char text[1 << 16];
static size_t used;

static bool keep_text(void *user, const char *data, size_t size)
{
    (void)user;
    for (size_t i = 0; i < size && used + 1 < sizeof text; i++)
        if (data[i] != '\r')
            text[used++] = data[i];
    text[used] = '\0';
    return true;
}

static void emit_one(const fl_watch *watch, const char *observer)
{
    fl_emit *emit;
    fl_emit_options options = {.host = fl_host_default(), .write = keep_text};
    used = 0;
    assert_int_equal(fl_emit_open(fl_emit_find("csv"), &options, &emit, NULL), FL_OK);
    for (size_t i = 0; i < watch->count; i++)
        if (strcmp(fl_observer_at(i)->name, observer) == 0)
            fl_watch_emit(watch, i, emit);
    assert_int_equal(fl_emit_finish(emit, NULL), FL_OK);
    fl_emit_close(emit);
}

const char *observed(const char *script, const char *observer, size_t rows)
{
    fl_trace *trace;
    fl_error error = {0};
    bool is_exact;
    if (fl_read_memory(script, strlen(script), "s.txt", NULL, &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_watch watch = {0};
    fl_observer_env env = {fl_host_default(), fl_trace_names(trace), 0,
                           fl_trace_event_count(trace, 0), rows};
    fl_replay_options options = {.conf = fl_trace_conf(trace),
                                 .fraction = -1,
                                 .capacity_bytes = fl_trace_capacity(trace),
                                 .on_oom = FL_ON_OOM_SKIP,
                                 .watch = fl_watch_view,
                                 .user = &watch};
    fl_replay *replay;
    assert_int_equal(fl_profile_find("2.9.1", &options.profile, &is_exact, NULL), FL_OK);
    assert_int_equal(fl_watch_open(&watch, &env, &error), FL_OK);
    assert_int_equal(fl_replay_open(trace, &options, &replay, &error), FL_OK);
    if (fl_replay_run(replay, &error) != FL_OK)
        fail_msg("%s", error.text);
    emit_one(&watch, observer);
    fl_replay_close(replay);
    fl_watch_close(&watch);
    fl_trace_free(trace);
    return text;
}
