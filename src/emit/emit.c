/* The emitter: checks that calls nest, drops what is not for this format, buffers towards the
 * sink, and keeps the first failure.  The formats behind it never see a wrong call. */
#include "emit/emit.h"

#include "base/memory.h"
#include "emit/format.h"
#include "registry.h"

#include <stdarg.h>
#include <stdio.h>

#define EMIT_DEPTH_MOST  16
#define EMIT_BUFFER_SIZE 8192
#define EMIT_LINE_SIZE   1024

struct emit_frame {
    fl_emit_kind kind;
    size_t items;
};

struct fl_emit {
    const fl_emit_ops *ops;
    fl_emit_options options;
    struct fl_emit_state *state;
    fl_error error;
    unsigned audience;
    struct emit_frame frames[EMIT_DEPTH_MOST]; /* frames[0]: the outermost object */
    size_t depth;
    const fl_emit_column *columns; /* of the open table */
    size_t column_count;
    size_t used;
    char buffer[EMIT_BUFFER_SIZE];
};

#define FL_PLUGIN(name) extern const fl_emit_ops fl_emitter_##name;
FL_EMITTER_ROWS
#undef FL_PLUGIN

#define FL_PLUGIN(name) &fl_emitter_##name,
static const fl_emit_ops *const emit_rows[] = {FL_EMITTER_ROWS NULL};
#undef FL_PLUGIN

const fl_emit_ops *fl_emit_at(size_t index)
{
    return index < sizeof emit_rows / sizeof *emit_rows ? emit_rows[index] : NULL;
}

const fl_emit_ops *fl_emit_find(const char *name)
{
    for (size_t i = 0; emit_rows[i] != NULL; i++) {
        if (strcmp(emit_rows[i]->name, name) == 0)
            return emit_rows[i];
    }
    return NULL;
}

const char *fl_emit_name(const fl_emit_ops *ops)
{
    return ops->name;
}

const char *fl_emit_summary(const fl_emit_ops *ops)
{
    return ops->summary;
}

fl_status fl_emit_open(const fl_emit_ops *ops, const fl_emit_options *options, fl_emit **ret_emit,
                       fl_error *error)
{
    fl_emit *emit = fl_new(options->host, sizeof *emit, error);
    if (emit == NULL)
        return FL_ERR_RESOURCE;
    emit->ops = ops;
    emit->options = *options;
    emit->audience = FL_EMIT_FOR_ALL;
    emit->depth = 1;
    emit->state = fl_new(options->host, ops->state_size, error);
    if (emit->state == NULL) {
        fl_delete(options->host, emit, sizeof *emit);
        return FL_ERR_RESOURCE;
    }
    *ret_emit = emit;
    return FL_OK;
}

static void emit_flush(fl_emit *emit)
{
    if (emit->used > 0 && emit->error.status == FL_OK &&
        !emit->options.write(emit->options.user, emit->buffer, emit->used))
        fl_fail(&emit->error, FL_ERR_OUTPUT, "the result could not be written");
    emit->used = 0;
}

fl_status fl_emit_finish(fl_emit *emit, fl_error *error)
{
    if (emit->depth != 1)
        fl_fail(&emit->error, FL_ERR_INTERNAL, "%zu objects, lists or tables are still open",
                emit->depth - 1);
    if (emit->error.status == FL_OK)
        emit->ops->finish(emit, emit->frames[0].items);
    emit_flush(emit);
    if (emit->error.status != FL_OK)
        return fl_fail(error, emit->error.status, "%s", emit->error.text);
    return FL_OK;
}

void fl_emit_close(fl_emit *emit)
{
    if (emit == NULL)
        return;
    const fl_host *host = emit->options.host;
    if (emit->ops->close != NULL)
        emit->ops->close(emit);
    fl_delete(host, emit->state, emit->ops->state_size);
    fl_delete(host, emit, sizeof *emit);
}

struct fl_emit_state *fl_emit_get_state(fl_emit *emit)
{
    return emit->state;
}

const fl_host *fl_emit_get_host(const fl_emit *emit)
{
    return emit->options.host;
}

bool fl_emit_has_color(const fl_emit *emit)
{
    return emit->options.has_color;
}

fl_error *fl_emit_get_error(fl_emit *emit)
{
    return &emit->error;
}

void fl_emit_put(fl_emit *emit, const char *data, size_t size)
{
    while (size > 0 && emit->error.status == FL_OK) {
        size_t room = sizeof emit->buffer - emit->used;
        size_t piece = size < room ? size : room;
        memcpy(emit->buffer + emit->used, data, piece);
        emit->used += piece;
        data += piece;
        size -= piece;
        if (emit->used == sizeof emit->buffer)
            emit_flush(emit);
    }
}

void fl_emit_puts(fl_emit *emit, const char *text)
{
    fl_emit_put(emit, text, strlen(text));
}

void fl_emit_keep(fl_emit *emit, struct fl_emit_bytes_kept *kept, const char *data, size_t size)
{
    if (!fl_vector_reserve(emit->options.host, kept, size, &emit->error))
        return;
    if (size > 0)
        memcpy(kept->items + kept->count, data, size);
    kept->count += size;
}

void fl_emit_for(fl_emit *emit, unsigned audience)
{
    emit->audience = audience;
}

/* Is this call to be rendered? */
static bool emit_listens(const fl_emit *emit, unsigned audience)
{
    return emit->error.status == FL_OK && (audience & emit->ops->audience) != 0;
}

static fl_emit_place emit_place(const fl_emit *emit)
{
    const struct emit_frame *frame = &emit->frames[emit->depth - 1];
    return (fl_emit_place){frame->kind, emit->depth - 1, frame->items};
}

/* A named thing fits into an object, a nameless one into a list. */
static bool emit_fits(fl_emit *emit, const char *key)
{
    fl_emit_kind parent = emit->frames[emit->depth - 1].kind;
    if (parent == (key != NULL ? FL_EMIT_OBJECT : FL_EMIT_LIST))
        return true;
    fl_fail(&emit->error, FL_ERR_INTERNAL, "'%s' stands where it cannot be named so",
            key != NULL ? key : "(no key)");
    return false;
}

static void emit_begin(fl_emit *emit, fl_emit_kind kind, const char *key, const char *label,
                       const fl_emit_column *columns, size_t count)
{
    if (!emit_listens(emit, emit->audience) || !emit_fits(emit, key))
        return;
    if (emit->depth == EMIT_DEPTH_MOST) {
        fl_fail(&emit->error, FL_ERR_INTERNAL, "more than %d levels", EMIT_DEPTH_MOST);
        return;
    }
    fl_emit_place place = emit_place(emit);
    emit->frames[emit->depth - 1].items++;
    emit->frames[emit->depth++] = (struct emit_frame){kind, 0};
    emit->ops->begin(emit, place, kind, key, label, columns, count);
}

static void emit_end(fl_emit *emit, fl_emit_kind kind)
{
    if (!emit_listens(emit, emit->audience))
        return;
    if (emit->depth == 1 || emit->frames[emit->depth - 1].kind != kind) {
        fl_fail(&emit->error, FL_ERR_INTERNAL, "an end without its beginning");
        return;
    }
    size_t items = emit->frames[--emit->depth].items;
    fl_emit_place place = emit_place(emit);
    place.index = items;
    emit->ops->end(emit, place, kind);
}

void fl_emit_object_begin(fl_emit *emit, const char *key, const char *label)
{
    emit_begin(emit, FL_EMIT_OBJECT, key, label, NULL, 0);
}

void fl_emit_object_end(fl_emit *emit)
{
    emit_end(emit, FL_EMIT_OBJECT);
}

void fl_emit_list_begin(fl_emit *emit, const char *key, const char *label)
{
    emit_begin(emit, FL_EMIT_LIST, key, label, NULL, 0);
}

void fl_emit_list_end(fl_emit *emit)
{
    emit_end(emit, FL_EMIT_LIST);
}

static void emit_value(fl_emit *emit, const char *key, const char *label, fl_emit_value value)
{
    if (!emit_listens(emit, emit->audience) || !emit_fits(emit, key))
        return;
    emit->ops->value(emit, emit_place(emit), key, label, value);
    emit->frames[emit->depth - 1].items++;
}

void fl_emit_pair(fl_emit *emit, const char *key, const char *label, fl_emit_value value)
{
    emit_value(emit, key, label, value);
}

void fl_emit_item(fl_emit *emit, fl_emit_value value)
{
    emit_value(emit, NULL, NULL, value);
}

void fl_emit_table_begin(fl_emit *emit, const char *key, const char *label,
                         const fl_emit_column *columns, size_t count)
{
    emit_begin(emit, FL_EMIT_TABLE, key, label, columns, count);
    emit->columns = columns;
    emit->column_count = count;
}

void fl_emit_row(fl_emit *emit, const fl_emit_value *cells)
{
    if (!emit_listens(emit, emit->audience))
        return;
    if (emit->frames[emit->depth - 1].kind != FL_EMIT_TABLE) {
        fl_fail(&emit->error, FL_ERR_INTERNAL, "a row outside a table");
        return;
    }
    for (size_t i = 0; i < emit->column_count; i++) {
        if (cells[i].type == FL_EMIT_NULL || cells[i].type == emit->columns[i].type)
            continue;
        fl_fail(&emit->error, FL_ERR_INTERNAL, "a cell of column '%s' has another type",
                emit->columns[i].key);
        return;
    }
    emit->ops->row(emit, emit_place(emit), emit->columns, emit->column_count, cells);
    emit->frames[emit->depth - 1].items++;
}

void fl_emit_table_end(fl_emit *emit)
{
    emit_end(emit, FL_EMIT_TABLE);
}

void fl_emit_words(fl_emit *emit, fl_emit_style style, const char *text)
{
    if (emit_listens(emit, emit->audience & FL_EMIT_FOR_PEOPLE))
        emit->ops->line(emit, emit_place(emit), style, text);
}

void fl_emit_line(fl_emit *emit, fl_emit_style style, const char *format, ...)
{
    char text[EMIT_LINE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fl_emit_words(emit, style, text);
}
