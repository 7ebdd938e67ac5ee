#include "analysis/program.h"

#include "base/memory.h"

/* What of an allocation is kept. */
enum { MARK_ALLOC = 1 << 0, MARK_FREE = 1 << 1, MARK_DONE = 1 << 2 };

static bool has_id(uint8_t kind)
{
    return kind == FL_OP_ALLOC || kind == FL_OP_FREE || kind == FL_OP_FREE_DONE ||
           kind == FL_OP_USE;
}

static fl_status add(fl_program *program, const fl_op *op, fl_error *error)
{
    if (!fl_vector_reserve(program->host, &program->ops, 1, error))
        return FL_ERR_RESOURCE;
    program->ops.items[program->ops.count++] = *op;
    return FL_OK;
}

/* Takes an op over, unless it asks nothing. */
static fl_status add_asked(fl_program *program, const fl_op *op, fl_error *error)
{
    if (!has_id(op->kind))
        return add(program, op, error);
    if (op->id >= program->alloc_count)
        return FL_OK;
    uint8_t *marks = &program->marks[op->id];
    bool is_pending = (*marks & MARK_FREE) && (*marks & MARK_DONE) == 0;
    switch (op->kind) {
    case FL_OP_ALLOC:
        *marks = MARK_ALLOC;
        break;
    case FL_OP_FREE:
        if (*marks != MARK_ALLOC)
            return FL_OK;
        *marks |= MARK_FREE | (op->flags & FL_OP_HELD ? 0 : MARK_DONE);
        break;
    case FL_OP_FREE_DONE:
        if (!is_pending)
            return FL_OK;
        *marks |= MARK_DONE;
        break;
    default:
        if (*marks != MARK_ALLOC)
            return FL_OK;
    }
    return add(program, op, error);
}

static fl_status add_inferred(fl_program *program, const fl_insertion **next, size_t *left,
                              uint64_t event, fl_error *error)
{
    fl_status status = FL_OK;
    for (; status == FL_OK && *left > 0 && (*next)->event <= event; ++*next, --*left)
        status = add_asked(program, &(*next)->op, error);
    return status;
}

static fl_status add_events(fl_program *program, size_t device, uint64_t first, uint64_t end,
                            fl_error *error)
{
    const fl_columns *columns = fl_trace_columns(program->source, device);
    size_t left;
    const fl_insertion *next = fl_trace_insertions(program->source, device, &left);
    fl_status status = FL_OK;
    for (; left > 0 && next->event < first; left--)
        next++;
    for (uint64_t i = first; i < end && status == FL_OK; i++) {
        status = add_inferred(program, &next, &left, i, error);
        if (status != FL_OK || columns->kind[i] >= FL_OP_KIND_COUNT ||
            (columns->flags[i] & FL_EVENT_SILENT))
            continue;
        fl_op op;
        fl_columns_op(columns, i, &op);
        status = add_asked(program, &op, error);
    }
    if (status == FL_OK && end == columns->count)
        status = add_inferred(program, &next, &left, end, error);
    return status;
}

static fl_status add_completions(fl_program *program, fl_error *error)
{
    fl_status status = FL_OK;
    for (uint32_t id = 0; id < program->alloc_count && status == FL_OK; id++) {
        fl_op op = {
            .kind = FL_OP_FREE_DONE, .id = id, .stream = FL_NONE, .pool = FL_NONE, .text = FL_NONE};
        status = add_asked(program, &op, error);
    }
    return status;
}

static fl_status add_limit(fl_program *program, double fraction, fl_error *error)
{
    fl_op op = {.kind = FL_OP_LIMIT,
                .id = FL_NONE,
                .stream = FL_NONE,
                .pool = FL_NONE,
                .text = FL_NONE,
                .fraction = fraction};
    return fraction >= 0 ? add(program, &op, error) : FL_OK;
}

fl_status fl_program_init(fl_program *program, const fl_host *host, const fl_trace *trace,
                          size_t device, uint64_t first, uint64_t end, double fraction,
                          fl_error *error)
{
    uint32_t ids = fl_trace_alloc_count(trace, device);
    *program = (fl_program){
        .host = host, .source = trace, .alloc_count = ids, .target = FL_NONE, .room = ids};
    program->numbers = fl_new(host, ids * sizeof *program->numbers, error);
    program->marks = fl_new(host, ids, error);
    fl_status status = FL_ERR_RESOURCE;
    if (program->numbers != NULL && program->marks != NULL)
        status = add_limit(program, fraction, error);
    if (status == FL_OK)
        status = add_events(program, device, first, end, error);
    if (status == FL_OK)
        status = add_completions(program, error);
    if (status != FL_OK)
        fl_program_deinit(program);
    return status;
}

void fl_program_deinit(fl_program *program)
{
    fl_vector_deinit(program->host, &program->ops);
    fl_delete(program->host, program->numbers, program->room * sizeof *program->numbers);
    fl_delete(program->host, program->marks, program->room);
    program->numbers = NULL;
    program->marks = NULL;
}

/* Marks what is kept of each allocation.  ALLOC, FREE and FREE_DONE come in that order. */
static void mark_kept(fl_program *program, const bool *is_kept)
{
    memset(program->marks, 0, program->alloc_count);
    for (size_t i = 0; i < program->ops.count; i++) {
        const fl_op *op = &program->ops.items[i];
        if ((is_kept != NULL && !is_kept[i]) || !has_id(op->kind))
            continue;
        uint8_t *marks = &program->marks[op->id];
        if (op->kind == FL_OP_ALLOC)
            *marks |= MARK_ALLOC;
        else if (op->kind == FL_OP_FREE && (*marks & MARK_ALLOC))
            *marks |= MARK_FREE;
        else if (op->kind == FL_OP_FREE_DONE && (*marks & MARK_FREE))
            *marks |= MARK_DONE;
    }
}

/* Is this op, which has a flag, in the trace?  Settles whether a free is held. */
static bool settle(const fl_program *program, fl_op *op)
{
    if (!has_id(op->kind))
        return true;
    uint8_t marks = program->marks[op->id];
    if (op->kind == FL_OP_FREE)
        op->flags = marks & MARK_DONE ? FL_OP_HELD : 0;
    return op->kind == FL_OP_FREE_DONE ? (marks & MARK_DONE) != 0 : (marks & MARK_ALLOC) != 0;
}

/* Names of the source to numbers of the new trace. */
static fl_status append(fl_program *program, fl_trace *trace, const fl_op *op, fl_error *error)
{
    const fl_names *names = fl_trace_names(program->source);
    fl_event event = {.kind = op->kind,
                      .flags = op->flags,
                      .id = op->id,
                      .stream = FL_NONE,
                      .pool = FL_NONE,
                      .text = FL_NONE,
                      .stack = FL_NONE,
                      .size = op->size,
                      .time_us = FL_TIME_UNKNOWN};
    fl_status status = FL_OK;
    if (op->stream != FL_NONE)
        status = fl_trace_intern_stream(trace, names->streams[op->stream], &event.stream, error);
    if (status == FL_OK && op->pool != FL_NONE)
        status = fl_trace_intern_pool(trace, names->pools[op->pool], &event.pool, error);
    if (status == FL_OK && op->text != FL_NONE)
        status = fl_trace_intern_text(trace, names->texts[op->text], strlen(names->texts[op->text]),
                                      &event.text, error);
    if (status != FL_OK)
        return status;
    if (op->kind == FL_OP_ALLOC) {
        uint64_t name = UINT64_C(1) + fl_trace_alloc_count(trace, 0);
        status = fl_trace_new_id(trace, 0, name, &program->numbers[op->id], error);
    }
    if (has_id(op->kind))
        event.id = program->numbers[op->id];
    return status == FL_OK ? fl_trace_append(trace, 0, &event, error) : status;
}

static fl_status build(fl_program *program, const bool *is_kept, fl_trace *trace, fl_error *error)
{
    fl_status status = FL_OK;
    trace->format = FL_FORMAT_SCRIPT;
    trace->is_inferred = fl_trace_is_inferred(program->source);
    for (uint32_t id = 0; id < program->alloc_count; id++)
        program->numbers[id] = FL_NONE;
    mark_kept(program, is_kept);
    for (size_t i = 0; i < program->ops.count && status == FL_OK; i++) {
        fl_op op = program->ops.items[i];
        if ((is_kept == NULL || is_kept[i]) && settle(program, &op))
            status = append(program, trace, &op, error);
    }
    return status == FL_OK ? fl_trace_finish(trace, error) : status;
}

fl_status fl_program_trace(fl_program *program, const bool *is_kept, fl_trace **ret_trace,
                           fl_error *error)
{
    fl_trace *trace = fl_trace_new(program->host, fl_trace_path(program->source), error);
    if (trace == NULL)
        return FL_ERR_RESOURCE;
    fl_status status = build(program, is_kept, trace, error);
    if (status == FL_OK)
        *ret_trace = trace;
    else
        fl_trace_free(trace);
    return status;
}

void fl_program_compact(fl_program *program, const bool *is_kept)
{
    size_t count = 0;
    uint32_t ids = 0;
    mark_kept(program, is_kept);
    for (uint32_t id = 0; id < program->alloc_count; id++)
        program->numbers[id] = program->marks[id] & MARK_ALLOC ? ids++ : FL_NONE;
    for (size_t i = 0; i < program->ops.count; i++) {
        fl_op op = program->ops.items[i];
        if ((is_kept != NULL && !is_kept[i]) || !settle(program, &op))
            continue;
        if (has_id(op.kind))
            op.id = program->numbers[op.id];
        program->ops.items[count++] = op;
    }
    if (program->target != FL_NONE)
        program->target = program->numbers[program->target];
    program->ops.count = count;
    program->alloc_count = ids;
}
