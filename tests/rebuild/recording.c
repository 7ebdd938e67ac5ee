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
    bool names_pools;
    uint32_t scope; /* the pool of the script whose scope is open; 0: none */
};

static uint32_t pool_of(struct recorder *recorder, uint32_t pool)
{
    uint32_t number;
    fl_pool_name name = fl_trace_names(recorder->script)->pools[pool];
    assert_int_equal(fl_trace_intern_pool(recorder->out->trace, name, &number, NULL), FL_OK);
    return number;
}

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
    event.pool = recorder->names_pools ? pool_of(recorder, event.pool) : FL_NONE;
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
        .pool = change->pool,
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
    if (view->op->kind == FL_OP_SCOPE_BEGIN)
        recorder->scope = view->op->pool;
    if (view->op->kind == FL_OP_SCOPE_END)
        recorder->scope = 0;
    recorder->out->trims += view->op->kind == FL_OP_TRIM && gave_back;
    recorder->out->waited += count_waited(view);
    if (view->op->kind == FL_OP_ALLOC && view->result->outcome != FL_DONE) {
        assert_int_equal(view->result->outcome, FL_REFUSED);
        append(recorder, (fl_event){
                             .kind = FL_OP_ALLOC,
                             .flags = FL_EVENT_OOM,
                             .id = fresh_id(recorder, view->op->id),
                             .stream = stream_of(recorder, view->op->stream),
                             .pool = recorder->scope,
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
    copy.pool = pool_of(recorder, segment->pool);
    assert_int_equal(fl_trace_add_segment(recorder->out->trace, 0, &copy, NULL), FL_OK);
}

static void record_block(void *user, const fl_block_view *block)
{
    struct recorder *recorder = user;
    fl_block_view copy = *block;
    copy.id = block->state != FL_BLOCK_FREE ? recorder->ids[block->id] : FL_NONE;
    assert_int_equal(fl_trace_add_block(recorder->out->trace, 0, &copy, FL_NONE, NULL), FL_OK);
}

static void run(struct recorder *recorder, const fl_profile *profile)
{
    fl_error error = {0};
    const fl_trace *script = recorder->script;
    fl_replay_options options = {
        .profile = profile,
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

void recording_make(recording *ret, const char *name, const char *script, size_t size)
{
    recording_make_as(ret, name, script, size, NULL, false);
}

void recording_make_as(recording *ret, const char *name, const char *script, size_t size,
                       const fl_profile *profile, bool names_pools)
{
    fl_error error = {0};
    fl_trace *parsed = NULL;
    if (fl_read_memory(script, size, name, NULL, &parsed, &error) != FL_OK)
        fail_msg("%s", error.text);
    *ret = (recording){.trace = fl_trace_new(fl_host_default(), name, &error)};
    assert_non_null(ret->trace);
    ret->trace->format = FL_FORMAT_SNAPSHOT;
    ret->trace->devices.items[0].has_final_state = true;
    const char *conf = fl_trace_conf(parsed) != NULL ? fl_trace_conf(parsed) : "";
    assert_int_equal(
        fl_trace_intern_text(ret->trace, conf, strlen(conf), &ret->trace->conf, &error), FL_OK);
    struct recorder recorder = {.out = ret, .script = parsed, .names_pools = names_pools};
    recorder.ids = calloc(fl_trace_alloc_count(parsed, 0) + 1, sizeof *recorder.ids);
    assert_non_null(recorder.ids);
    run(&recorder, profile);
    assert_int_equal(fl_trace_finish(ret->trace, &error), FL_OK);
    free(recorder.ids);
    fl_trace_free(parsed);
}

void recording_free(recording *ret)
{
    fl_trace_free(ret->trace);
    *ret = (recording){0};
}

/* The events of a recording that a copy has. */
struct part {
    uint64_t first, end;
};

/* Is the request of an allocation not among the events that are left out? */
static bool is_known(const fl_trace *trace, struct part part, uint32_t id)
{
    for (uint64_t i = 0; i < fl_trace_event_count(trace, 0); i++) {
        fl_event event;
        fl_trace_event(trace, 0, i, &event);
        if ((i < part.first || i >= part.end) && event.kind == FL_OP_ALLOC && event.id == id)
            return false;
    }
    return true;
}

/* Allocations of the events that are left out are not known to the copy. */
static fl_status copy_events(const fl_trace *from, struct part part, fl_trace *to, fl_error *error)
{
    fl_status status = FL_OK;
    uint32_t number;
    const fl_names *names = fl_trace_names(from);
    for (size_t i = 0; i < names->stream_count && status == FL_OK; i++)
        status = fl_trace_intern_stream(to, names->streams[i], &number, error);
    for (size_t i = 0; i < names->pool_count && status == FL_OK; i++)
        status = fl_trace_intern_pool(to, names->pools[i], &number, error);
    for (uint32_t i = 0; i < fl_trace_alloc_count(from, 0) && status == FL_OK; i++)
        status = fl_trace_new_id(to, 0, i, &number, error);
    for (uint64_t i = part.first; i < part.end && status == FL_OK; i++) {
        fl_event event;
        fl_trace_event(from, 0, i, &event);
        event.flags &= FL_EVENT_OOM;
        event.id = is_known(from, part, event.id) ? event.id : FL_NONE;
        status = fl_trace_append(to, 0, &event, error);
    }
    return status;
}

static fl_status copy_part(const recording *run, struct part part, const fl_host *host,
                           fl_trace **ret_trace, fl_error *error)
{
    const fl_trace *from = run->trace;
    fl_trace *to = fl_trace_new(host, fl_trace_path(from), error);
    if (to == NULL)
        return FL_ERR_RESOURCE;
    to->format = from->format;
    to->devices.items[0].has_final_state = true;
    fl_status status = copy_events(from, part, to, error);
    size_t count;
    const fl_segment_view *segments = fl_trace_final_segments(from, 0, &count);
    for (size_t i = 0; i < count && status == FL_OK; i++)
        status = fl_trace_add_segment(to, 0, &segments[i], error);
    const fl_block_view *blocks = fl_trace_final_blocks(from, 0, &count);
    for (size_t i = 0; i < count && status == FL_OK; i++) {
        fl_block_view block = blocks[i];
        block.id = is_known(from, part, block.id) ? block.id : FL_NONE;
        status = fl_trace_add_block(to, 0, &block, FL_NONE, error);
    }
    const char *conf = fl_trace_conf(from);
    if (status == FL_OK)
        status = fl_trace_intern_text(to, conf, strlen(conf), &to->conf, error);
    if (status == FL_OK)
        status = fl_trace_finish(to, error);
    if (status == FL_OK)
        *ret_trace = to;
    else
        fl_trace_free(to);
    return status;
}

fl_status recording_copy(const recording *run, const fl_host *host, fl_trace **ret_trace,
                         fl_error *error)
{
    struct part all = {0, fl_trace_event_count(run->trace, 0)};
    return copy_part(run, all, host, ret_trace, error);
}

static fl_trace *part_of(const recording *run, struct part part)
{
    fl_trace *trace;
    fl_error error = {0};
    if (copy_part(run, part, fl_host_default(), &trace, &error) != FL_OK)
        fail_msg("%s", error.text);
    return trace;
}

fl_trace *recording_cut(const recording *run, uint64_t lost)
{
    return part_of(run, (struct part){lost, fl_trace_event_count(run->trace, 0)});
}

fl_trace *recording_stop(const recording *run, uint64_t lost, uint64_t missed)
{
    return part_of(run, (struct part){lost, fl_trace_event_count(run->trace, 0) - missed});
}

/* ---- histories from words -------------------------------------------------------------------- */

static uint8_t kind_of_word(const char *word)
{
    static const struct {
        const char *start;
        uint8_t kind;
    } rows[] = {
        {"a", FL_OP_ALLOC},
        {"o", FL_OP_ALLOC},
        {"f", FL_OP_FREE},
        {"d", FL_OP_FREE_DONE},
        {"S+", FL_EVENT_SEGMENT_ALLOC},
        {"S-", FL_EVENT_SEGMENT_FREE},
        {"M+", FL_EVENT_SEGMENT_MAP},
        {"M-", FL_EVENT_SEGMENT_UNMAP},
        {"s", FL_EVENT_SNAPSHOT},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strncmp(word, rows[i].start, strlen(rows[i].start)) == 0)
            return rows[i].kind;
    fail_msg("no such word: %s", word);
    return FL_OP_NONE;
}

static void add_word(fl_trace *trace, const char *word)
{
    uint8_t kind = kind_of_word(word);
    bool is_segment = fl_kind_is_segment(kind);
    const char *digits = word + (is_segment ? 2 : 1);
    const char *slash = strchr(word, '/');
    unsigned long number = strtoul(digits, NULL, 10);
    fl_event event = {
        .kind = kind,
        .flags = word[0] == 'o' ? FL_EVENT_OOM : 0,
        .id = is_segment || kind == FL_EVENT_SNAPSHOT ? FL_NONE : (uint32_t)number,
        .pool = FL_NONE,
        .text = FL_NONE,
        .stack = slash != NULL ? (uint32_t)strtoul(slash + 1, NULL, 10) : FL_NONE,
        .size = is_segment ? (uint64_t)(number > 0 ? number : 2) << 20 : 512,
        .time_us = FL_TIME_UNKNOWN,
    };
    assert_int_equal(fl_trace_append(trace, 0, &event, NULL), FL_OK);
}

fl_trace *history_make(const char *words)
{
    fl_trace *trace = fl_trace_new(fl_host_default(), "words", NULL);
    assert_non_null(trace);
    trace->format = FL_FORMAT_SNAPSHOT;
    char word[16];
    for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        assert_true(length < sizeof word);
        memcpy(word, at, length);
        word[length] = '\0';
        add_word(trace, word);
        at += length;
    }
    return trace;
}
