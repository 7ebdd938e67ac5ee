#include "recording.h"

#include "test.h"

#include <fraglab/read.h>

#include <stdlib.h>
#include <string.h>

/* One run of a script, on its way into a trace. */
struct recorder {
    recording *out;
    const fl_trace *script;
    uint32_t *ids; /* of the script -> of the recording */
    bool in_request;
};

static uint32_t stream_of(struct recorder *recorder, uint32_t stream)
{
    uint32_t number;
    uint64_t name = fl_trace_names(recorder->script)->streams[stream];
    assert_int_equal(fl_trace_intern_stream(recorder->out->trace, name, &number, NULL), FL_OK);
    return number;
}

static void append(struct recorder *recorder, fl_event event)
{
    event.stack = FL_NONE;
    event.pool = FL_NONE;
    event.text = FL_NONE;
    event.time_us = FL_TIME_UNKNOWN;
    assert_int_equal(fl_trace_append(recorder->out->trace, 0, &event, NULL), FL_OK);
}

static uint32_t fresh_id(struct recorder *recorder, uint32_t id)
{
    assert_int_equal(fl_trace_new_id(recorder->out->trace, 0, id, &recorder->ids[id], NULL), FL_OK);
    return recorder->ids[id];
}

static void record_change(struct recorder *recorder, const fl_change *change)
{
    static const uint8_t kinds[FL_CHANGE_KIND_COUNT] = {
        [FL_CHANGE_ACQUIRE] = FL_EVENT_SEGMENT_ALLOC,
        [FL_CHANGE_RELEASE] = FL_EVENT_SEGMENT_FREE,
        [FL_CHANGE_MAP] = FL_EVENT_SEGMENT_MAP,
        [FL_CHANGE_UNMAP] = FL_EVENT_SEGMENT_UNMAP,
        [FL_CHANGE_PLACE] = FL_OP_ALLOC,
        [FL_CHANGE_FREE_ASKED] = FL_OP_FREE,
        [FL_CHANGE_FREE_DONE] = FL_OP_FREE_DONE,
    };
    if (kinds[change->kind] == 0)
        return;
    fl_event event = {
        .kind = kinds[change->kind],
        .id = FL_NONE,
        .stream = stream_of(recorder, change->stream),
        .address = change->address,
        .size = change->size,
    };
    if (change->kind >= FL_CHANGE_PLACE) {
        event.size = change->requested;
        event.id = change->kind == FL_CHANGE_PLACE ? fresh_id(recorder, change->id)
                                                   : recorder->ids[change->id];
    }
    append(recorder, event);
}

/* A completion is waited for where the op synchronises: in front of what it gives back. */
static uint64_t count_waited(const fl_view *view)
{
    bool is_trim = view->op->kind == FL_OP_TRIM;
    uint64_t count = 0, waited = 0;
    bool released = false;
    for (size_t i = 0; i < view->change_count; i++) {
        count += view->changes[i].kind == FL_CHANGE_FREE_DONE;
        if (view->changes[i].kind == FL_CHANGE_NO_SEGMENT ||
            view->changes[i].kind == FL_CHANGE_NO_PAGE)
            count = 0, released = true;
    }
    waited = is_trim || released ? count : 0;
    return view->op->kind == FL_OP_FREE ? 0 : waited;
}

static fl_status record_view(void *user, const fl_view *view, fl_error *error)
{
    (void)error;
    struct recorder *recorder = user;
    bool gave_back = false;
    for (size_t i = 0; i < view->change_count; i++) {
        gave_back |=
            view->changes[i].kind == FL_CHANGE_RELEASE || view->changes[i].kind == FL_CHANGE_UNMAP;
        record_change(recorder, &view->changes[i]);
    }
    recorder->out->trims += view->op->kind == FL_OP_TRIM && gave_back;
    recorder->out->waited += count_waited(view);
    if (view->op->kind == FL_OP_ALLOC && view->result->outcome != FL_DONE) {
        assert_int_equal(view->result->outcome, FL_REFUSED);
        append(recorder, (fl_event){
                             .kind = FL_OP_ALLOC,
                             .flags = FL_EVENT_OOM,
                             .id = fresh_id(recorder, view->op->id),
                             .stream = stream_of(recorder, view->op->stream),
                             .size = (view->op->size + 511) / 512 * 512,
                         });
    }
    return FL_OK;
}

static void record_segment(void *user, const fl_segment_view *segment)
{
    struct recorder *recorder = user;
    fl_segment_view copy = *segment;
    copy.stream = stream_of(recorder, segment->stream);
    assert_int_equal(fl_trace_add_segment(recorder->out->trace, 0, &copy, NULL), FL_OK);
}

static void record_block(void *user, const fl_block_view *block)
{
    struct recorder *recorder = user;
    fl_block_view copy = *block;
    copy.id = block->state != FL_BLOCK_FREE ? recorder->ids[block->id] : FL_NONE;
    assert_int_equal(fl_trace_add_block(recorder->out->trace, 0, &copy, FL_NONE, NULL), FL_OK);
}

static void run(struct recorder *recorder)
{
    fl_error error = {0};
    const fl_trace *script = recorder->script;
    fl_replay_options options = {
        .conf = fl_trace_conf(script),
        .fraction = -1,
        .capacity_bytes = fl_trace_capacity(script),
        .on_oom = FL_ON_OOM_SKIP,
        .watch = record_view,
        .user = recorder,
    };
    fl_replay *replay;
    if (fl_replay_open(script, &options, &replay, &error) != FL_OK ||
        fl_replay_run(replay, &error) != FL_OK)
        fail_msg("%s", error.text);
    fl_walk walk = {record_segment, record_block, recorder};
    assert_int_equal(fl_replay_walk(replay, &walk, &error), FL_OK);
    fl_replay_summary summary;
    fl_replay_get_summary(replay, &summary);
    recorder->out->retries = summary.stats.alloc_retries;
    recorder->out->ooms = summary.ooms;
    fl_replay_close(replay);
}

void recording_make(recording *recording, const char *name, const char *script, size_t size)
{
    fl_error error = {0};
    fl_trace *parsed = NULL;
    if (fl_read_memory(script, size, name, NULL, &parsed, &error) != FL_OK)
        fail_msg("%s", error.text);
    *recording = (struct recording){.trace = fl_trace_new(fl_host_default(), name, &error)};
    assert_non_null(recording->trace);
    recording->trace->format = FL_FORMAT_SNAPSHOT;
    recording->trace->has_final_state = true;
    const char *conf = fl_trace_conf(parsed) != NULL ? fl_trace_conf(parsed) : "";
    assert_int_equal(
        fl_trace_intern_text(recording->trace, conf, strlen(conf), &recording->trace->conf, &error),
        FL_OK);
    struct recorder recorder = {.out = recording, .script = parsed};
    recorder.ids = calloc(fl_trace_alloc_count(parsed, 0) + 1, sizeof *recorder.ids);
    assert_non_null(recorder.ids);
    run(&recorder);
    assert_int_equal(fl_trace_finish(recording->trace, &error), FL_OK);
    free(recorder.ids);
    fl_trace_free(parsed);
}

void recording_free(recording *recording)
{
    fl_trace_free(recording->trace);
    *recording = (struct recording){0};
}
