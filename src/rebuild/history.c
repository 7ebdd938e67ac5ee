/* A history made by ourselves: what PyTorch's recorder would have written while a script ran.
 *
 * The script is replayed; each change becomes an event, in the recorder's order.  A request is the
 * event of where it landed, a free the one that asks for it.  All other ops, of which a recorder
 * writes nothing, are events of their own behind what they brought about, so that nothing has to be
 * inferred; completions ask for nothing.  So are ops that came to nothing, such as frees of what
 * was refused.  What was there before the first op is told as the script told it. */
#include "base/memory.h"
#include "trace/told.h"

#include <fraglab/verify.h>

struct recorder {
    const fl_trace *script;
    fl_trace *out;
    size_t device;
    const fl_replay *replay;
    uint32_t *ids; /* of the script -> of the history, or FL_NONE */
    uint64_t own;  /* the event that the op of the script became; UINT64_MAX: none so far */
    size_t noted;  /* notes of the script that are taken over */
    fl_error *error;
    fl_status status; /* of the walk */
};

static fl_status history_text(struct recorder *recorder, const char *text, uint32_t *ret_text)
{
    return fl_trace_intern_text(recorder->out, text, strlen(text), ret_text, recorder->error);
}

static fl_status history_stream(struct recorder *recorder, uint32_t stream, uint32_t *ret_stream)
{
    *ret_stream = stream;
    if (stream == FL_NONE)
        return FL_OK;
    return fl_trace_intern_stream(recorder->out, fl_trace_names(recorder->script)->streams[stream],
                                  ret_stream, recorder->error);
}

static fl_status history_pool(struct recorder *recorder, uint32_t pool, uint32_t *ret_pool)
{
    *ret_pool = pool;
    if (pool == FL_NONE)
        return FL_OK;
    return fl_trace_intern_pool(recorder->out, fl_trace_names(recorder->script)->pools[pool],
                                ret_pool, recorder->error);
}

static fl_status history_frame(struct recorder *recorder, fl_frame frame, uint32_t *ret_frame)
{
    fl_frame_row row = {.line = frame.line};
    fl_status status = history_text(recorder, frame.name, &row.name);
    if (status == FL_OK)
        status = history_text(recorder, frame.file, &row.file);
    if (status == FL_OK)
        status = fl_trace_intern_frame(recorder->out, row, ret_frame, recorder->error);
    return status;
}

static fl_status history_stack(struct recorder *recorder, uint32_t stack, uint32_t *ret_stack)
{
    const fl_host *host = recorder->out->host;
    struct fl_u32_vector frames = {0};
    size_t depth = stack != FL_NONE ? fl_trace_stack_depth(recorder->script, stack) : 0;
    fl_status status = FL_OK;
    *ret_stack = FL_NONE;
    if (depth == 0)
        return FL_OK;
    if (!fl_vector_reserve(host, &frames, depth, recorder->error))
        return FL_ERR_RESOURCE;
    for (; frames.count < depth && status == FL_OK; frames.count++)
        status =
            history_frame(recorder, fl_trace_stack_frame(recorder->script, stack, frames.count),
                          &frames.items[frames.count]);
    if (status == FL_OK)
        status =
            fl_trace_intern_stack(recorder->out, frames.items, depth, ret_stack, recorder->error);
    fl_vector_deinit(host, &frames);
    return status;
}

/* Where an op stands in the script. */
struct circumstances {
    int64_t time_us;
    uint32_t stack;
};

/* Adds an event at the time and with the stack of the op; its names are those of the script. */
static fl_status history_append(struct recorder *recorder, struct circumstances of, fl_event event)
{
    event.time_us = of.time_us;
    fl_status status = history_stream(recorder, event.stream, &event.stream);
    if (status == FL_OK)
        status = history_pool(recorder, event.pool, &event.pool);
    if (status == FL_OK)
        status = history_stack(recorder, of.stack, &event.stack);
    if (status == FL_OK && fl_kind_has_text(event.kind))
        status = history_text(recorder, fl_trace_names(recorder->script)->texts[event.text],
                              &event.text);
    if (status == FL_OK)
        status = fl_trace_append(recorder->out, recorder->device, &event, recorder->error);
    return status;
}

static fl_status history_view(struct recorder *recorder, const fl_view *view, fl_event event,
                              bool is_own)
{
    if (is_own)
        recorder->own = fl_trace_event_count(recorder->out, recorder->device);
    return history_append(recorder, (struct circumstances){view->time_us, view->stack}, event);
}

static fl_status history_new_id(struct recorder *recorder, uint32_t id)
{
    uint64_t name = fl_trace_original_id(recorder->script, recorder->device, id);
    fl_status status =
        fl_trace_new_id(recorder->out, recorder->device, name, &recorder->ids[id], recorder->error);
    uint32_t category = fl_trace_category(recorder->script, recorder->device, id);
    if (status != FL_OK || category == FL_NONE)
        return status;
    status = history_text(recorder, fl_trace_names(recorder->script)->texts[category], &category);
    if (status == FL_OK)
        status = fl_trace_set_category(recorder->out, recorder->device, recorder->ids[id], category,
                                       recorder->error);
    return status;
}

static fl_status history_change(struct recorder *recorder, const fl_view *view,
                                const fl_change *change)
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
    bool is_block = change->kind >= FL_CHANGE_PLACE;
    if (kinds[change->kind] == 0 || (is_block && change->id == FL_NONE))
        return FL_OK;
    fl_event event = {
        .kind = kinds[change->kind],
        .id = FL_NONE,
        .stream = change->stream,
        .pool = FL_NONE,
        .address = change->address,
        .size = is_block ? change->requested : change->size,
    };
    fl_status status = FL_OK;
    if (change->kind == FL_CHANGE_PLACE)
        status = history_new_id(recorder, change->id);
    if (is_block)
        event.id = recorder->ids[change->id];
    if (change->kind == FL_CHANGE_FREE_DONE)
        event.flags = FL_EVENT_SILENT;
    else if (is_block)
        event.flags = view->op->flags;
    bool is_own = event.kind == view->op->kind && change->id == view->op->id;
    return status == FL_OK ? history_view(recorder, view, event, is_own) : status;
}

/* What the card had left. */
static uint64_t history_device_free(const struct recorder *recorder)
{
    const fl_device_info *info = fl_replay_get_device_info(recorder->replay);
    bool is_known = info->total_bytes != FL_UNLIMITED && info->total_bytes > info->used_bytes;
    return is_known ? info->total_bytes - info->used_bytes : 0;
}

/* A request that was refused, or one for nothing.  Of one for an exact address that is kept. */
static fl_status history_unserved(struct recorder *recorder, const fl_view *view)
{
    const fl_op *op = view->op;
    bool is_refused = view->result->outcome != FL_DONE, is_exact = (op->flags & FL_OP_AT) != 0;
    fl_status status = history_new_id(recorder, op->id);
    fl_event event = {
        .kind = FL_OP_ALLOC,
        .flags = (uint8_t)(op->flags | (is_refused ? FL_EVENT_OOM : 0)),
        .id = recorder->ids[op->id],
        .stream = op->stream,
        .pool = FL_NONE,
        .address = is_exact     ? op->address
                   : is_refused ? history_device_free(recorder)
                                : 0,
        .size = op->size,
    };
    return status == FL_OK ? history_view(recorder, view, event, true) : status;
}

/* An op of which a recorder writes nothing. */
static fl_event history_op(const struct recorder *recorder, const fl_op *op)
{
    return (fl_event){
        .kind = op->kind,
        .flags = op->flags,
        .id = op->id != FL_NONE ? recorder->ids[op->id] : FL_NONE,
        .stream = op->stream,
        .pool = op->pool,
        .text = op->text,
        .size = op->size, /* and `fraction`, which shares its bits */
    };
}

/* A use of what is not there says nothing. */
static bool is_said(const fl_op *op)
{
    return op->kind != FL_OP_USE || op->id != FL_NONE;
}

static fl_status history_watch(void *user, const fl_view *view, fl_error *error)
{
    struct recorder *recorder = user;
    bool is_placed = false;
    fl_status status = FL_OK;
    recorder->error = error;
    if (view->op->kind == FL_OP_NONE) /* what was there before */
        return FL_OK;
    for (size_t i = 0; i < view->change_count && status == FL_OK; i++) {
        const fl_change *change = &view->changes[i];
        is_placed |= change->kind == FL_CHANGE_PLACE && change->id != FL_NONE;
        status = history_change(recorder, view, change);
    }
    if (status != FL_OK || view->op->kind == FL_OP_FREE || !is_said(view->op))
        return status;
    if (view->op->kind != FL_OP_ALLOC)
        return history_view(recorder, view, history_op(recorder, view->op), true);
    return is_placed ? FL_OK : history_unserved(recorder, view);
}

/* After each op of the script: if it came to nothing it is told all the same; and what nobody knows
 * of it is kept. */
static fl_status history_settle(struct recorder *recorder, uint64_t event)
{
    const struct fl_note_vector *notes = &recorder->script->devices.items[recorder->device].notes;
    fl_op op;
    fl_event of;
    fl_columns_op(fl_trace_columns(recorder->script, recorder->device), event, &op);
    fl_trace_event(recorder->script, recorder->device, event, &of);
    fl_status status = FL_OK;
    if (recorder->own == UINT64_MAX && is_said(&op)) {
        recorder->own = fl_trace_event_count(recorder->out, recorder->device);
        status = history_append(recorder, (struct circumstances){of.time_us, of.stack},
                                history_op(recorder, &op));
    }
    for (; status == FL_OK && recorder->noted < notes->count &&
           notes->items[recorder->noted].event == event;
         recorder->noted++) {
        uint32_t text = notes->items[recorder->noted].text;
        status = history_text(recorder, fl_trace_names(recorder->script)->texts[text], &text);
        if (status == FL_OK && recorder->own != UINT64_MAX)
            status = fl_trace_add_note(recorder->out, recorder->device, recorder->own, text,
                                       recorder->error);
    }
    return status;
}

static fl_status history_steps(struct recorder *recorder, fl_replay *replay, fl_error *error)
{
    uint64_t count = fl_trace_event_count(recorder->script, recorder->device);
    bool has_more;
    fl_status status = FL_OK;
    for (uint64_t i = 0; i < count && status == FL_OK; i++) {
        recorder->own = UINT64_MAX;
        status = fl_replay_step(replay, &has_more, error);
        recorder->error = error;
        if (status == FL_OK)
            status = history_settle(recorder, i);
    }
    return status;
}

static void history_segment(void *user, const fl_segment_view *segment)
{
    struct recorder *recorder = user;
    fl_segment_view copy = *segment;
    if (recorder->status == FL_OK)
        recorder->status = history_stream(recorder, segment->stream, &copy.stream);
    if (recorder->status == FL_OK)
        recorder->status = history_pool(recorder, segment->pool, &copy.pool);
    if (recorder->status == FL_OK)
        recorder->status =
            fl_trace_add_segment(recorder->out, recorder->device, &copy, recorder->error);
}

static void history_block(void *user, const fl_block_view *block)
{
    struct recorder *recorder = user;
    fl_block_view copy = *block;
    copy.id = block->state != FL_BLOCK_FREE ? recorder->ids[block->id] : FL_NONE;
    if (recorder->status == FL_OK)
        recorder->status =
            fl_trace_add_block(recorder->out, recorder->device, &copy, FL_NONE, recorder->error);
}

static fl_status history_run(struct recorder *recorder, const fl_replay_options *options,
                             fl_error *error)
{
    fl_replay_options own = *options;
    own.trace_device = recorder->device;
    own.on_oom = FL_ON_OOM_SKIP;
    own.start = FL_START_RECORDED;
    own.watch = history_watch;
    own.user = recorder;
    fl_replay *replay = NULL;
    fl_status status = fl_replay_open(recorder->script, &own, &replay, error);
    recorder->replay = replay;
    if (status == FL_OK)
        status = history_steps(recorder, replay, error);
    fl_walk walk = {history_segment, history_block, recorder};
    if (status == FL_OK)
        status = fl_replay_walk(replay, &walk, error);
    fl_replay_close(replay);
    return status == FL_OK ? recorder->status : status;
}

static fl_status start_block(struct recorder *recorder, const fl_block_view *block)
{
    fl_block_view copy = *block;
    if (block->state == FL_BLOCK_FREE) /* follows from the others */
        return FL_OK;
    fl_status status = history_new_id(recorder, block->id);
    copy.id = recorder->ids[block->id];
    return status == FL_OK
               ? fl_told_add_block(recorder->out, recorder->device, &copy, recorder->error)
               : status;
}

/* What was there before the first op. */
static fl_status history_start(struct recorder *recorder)
{
    const fl_trace_start *start = &recorder->script->devices.items[recorder->device].start;
    size_t at = 0;
    fl_status status = FL_OK;
    for (size_t i = 0; i < start->segments.count && status == FL_OK; i++) {
        const fl_segment_view *run = &start->segments.items[i];
        const fl_start_range *range = &start->ranges.items[run->segment];
        fl_segment_view copy = *run;
        status = history_stream(recorder, run->stream, &copy.stream);
        if (status == FL_OK)
            status = history_pool(recorder, run->pool, &copy.pool);
        if (status == FL_OK)
            status = fl_told_add_run(recorder->out, recorder->device, &copy, range->address,
                                     range->page, recorder->error);
        for (; status == FL_OK && at < start->blocks.count &&
               start->blocks.items[at].address - run->address < run->size;
             at++)
            status = start_block(recorder, &start->blocks.items[at]);
    }
    return status == FL_OK ? fl_told_finish(recorder->out, recorder->device, recorder->error)
                           : status;
}

static fl_status record_device(fl_trace *out, const fl_trace *script, size_t device,
                               const fl_replay_options *options, fl_error *error)
{
    fl_status status = fl_trace_add_device(out, device, error);
    if (status != FL_OK)
        return status;
    size_t size = (fl_trace_alloc_count(script, device) + (size_t)1) * sizeof(uint32_t);
    struct recorder recorder = {.script = script, .out = out, .device = device, .error = error};
    recorder.ids = fl_new(out->host, size, error);
    if (recorder.ids == NULL)
        return FL_ERR_RESOURCE;
    memset(recorder.ids, 0xFF, size);
    out->devices.items[device].has_final_state = true;
    out->devices.items[device].starts_late = script->devices.items[device].starts_late;
    status = history_start(&recorder);
    if (status == FL_OK)
        status = history_run(&recorder, options, error);
    fl_delete(out->host, recorder.ids, size);
    return status;
}

/* Settings that are none may be stated, too. */
static const char *settings_text(const fl_trace *script, const fl_replay_options *options)
{
    const char *stated = fl_trace_conf(script);
    return options->conf == NULL && stated != NULL && *stated == '\0' ? stated : options->conf;
}

static fl_status record_world(fl_trace *out, const fl_trace *script,
                              const fl_replay_options *options, fl_error *error)
{
    const char *conf = settings_text(script, options);
    fl_status status = FL_OK;
    out->format = FL_FORMAT_SNAPSHOT;
    out->has_ops = true;
    out->is_inferred = fl_trace_is_inferred(script);
    out->has_block_sizes = script->has_block_sizes;
    out->capacity_bytes = options->capacity_bytes;
    if (conf != NULL)
        status = fl_trace_intern_text(out, conf, strlen(conf), &out->conf, error);
    if (status != FL_OK || options->profile == NULL)
        return status;
    const char *release = fl_profile_release(options->profile);
    return fl_trace_intern_text(out, release, strlen(release), &out->release, error);
}

fl_status fl_record_history(const fl_trace *script, const fl_replay_options *options,
                            fl_trace **ret_history, fl_error *error)
{
    const fl_host *host = options->host != NULL ? options->host : fl_host_default();
    fl_trace *out = fl_trace_new(host, fl_trace_path(script), error);
    if (out == NULL)
        return FL_ERR_RESOURCE;
    fl_status status = record_world(out, script, options, error);
    for (size_t i = 0; i < fl_trace_device_count(script) && status == FL_OK; i++)
        status = record_device(out, script, i, options, error);
    if (status == FL_OK)
        status = fl_trace_finish(out, error);
    if (status == FL_OK)
        *ret_history = out;
    else
        fl_trace_free(out);
    return status;
}
