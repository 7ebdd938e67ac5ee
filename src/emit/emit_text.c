/* Text for people: pairs and tables in aligned columns, sizes with units, counts with commas.
 *
 * Consecutive pairs, and the rows of a table, are kept until something else follows, because only
 * then their widths are known.  Text from outside is made harmless for a terminal: what is not
 * printable shows as an escape.  A column counts code points, not the cells that a terminal gives
 * them, so wide scripts may stand askew. */
#include "emit/format.h"

#include "base/units.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

#define TEXT_COLUMNS_MOST 16
#define TEXT_GAP          2

struct text_cell {
    size_t offset, length; /* in `bytes` */
    size_t width;
    bool is_right, is_heading;
};

struct fl_emit_state {
    FL_VECTOR(text_cells, struct text_cell) cells; /* of the rows kept back */
    struct fl_emit_bytes_kept bytes;
    size_t column_count;
    struct fl_emit_bytes_kept list; /* the values of an open list of values */
    const char *list_label;         /* not yet shown; NULL: there is none */
    bool has_list_items;
    size_t indent;
    bool has_labels[32]; /* by depth: did this container indent? */
    bool has_output;
};

static void text_keep_safe(fl_emit *emit, struct fl_emit_bytes_kept *kept, const char *data,
                           size_t length, size_t *width)
{
    while (length > 0) {
        uint32_t point;
        char buffer[16];
        size_t taken = fl_utf8_next(data, length, &point);
        size_t size;
        if (point < 0x20 || (point >= 0x7f && point < 0xa0)) {
            size = (size_t)snprintf(buffer, sizeof buffer, "\\x%02x", (unsigned)point);
            *width += size;
        } else {
            size = fl_utf8_put(point, buffer);
            *width += 1;
        }
        fl_emit_keep(emit, kept, buffer, size);
        data += taken;
        length -= taken;
    }
}

/* A value as people read it; returns its width. */
static size_t text_keep_value(fl_emit *emit, struct fl_emit_bytes_kept *kept, fl_emit_value value)
{
    char number[FL_EMIT_NUMBER_SIZE];
    size_t width = 0;
    fl_emit_number(value, number);
    switch (value.type) {
    case FL_EMIT_TEXT:
        text_keep_safe(emit, kept, value.text.data, value.text.length, &width);
        return width;
    case FL_EMIT_NULL:
        snprintf(number, sizeof number, "-");
        break;
    case FL_EMIT_BOOL:
        snprintf(number, sizeof number, value.is_true ? "yes" : "no");
        break;
    case FL_EMIT_COUNT:
        fl_format_count(value.number, number, sizeof number);
        break;
    case FL_EMIT_BYTES:
        fl_format_bytes(value.number, number, sizeof number);
        break;
    case FL_EMIT_ADDRESS:
    case FL_EMIT_REAL:
        break;
    }
    fl_emit_keep(emit, kept, number, strlen(number));
    return strlen(number);
}

static void text_spaces(fl_emit *emit, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fl_emit_put(emit, " ", 1);
}

static void text_style(fl_emit *emit, fl_emit_style style)
{
    static const char *const codes[] = {
        [FL_EMIT_PLAIN] = "\033[0m",
        [FL_EMIT_STRONG] = "\033[1m",
        [FL_EMIT_GOOD] = "\033[32m",
        [FL_EMIT_BAD] = "\033[31m",
    };
    if (fl_emit_has_color(emit))
        fl_emit_puts(emit, codes[style]);
}

static void text_cell(fl_emit *emit, const struct text_cell *cell, size_t width, bool is_last)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    size_t pad = width - cell->width;
    if (cell->is_right)
        text_spaces(emit, pad);
    if (cell->is_heading)
        text_style(emit, FL_EMIT_STRONG);
    fl_emit_put(emit, state->bytes.items + cell->offset, cell->length);
    if (cell->is_heading)
        text_style(emit, FL_EMIT_PLAIN);
    if (!is_last)
        text_spaces(emit, (cell->is_right ? 0 : pad) + TEXT_GAP);
}

/* Writes the rows kept back. */
static void text_flush(fl_emit *emit)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    size_t columns = state->column_count;
    size_t widths[TEXT_COLUMNS_MOST] = {0};
    for (size_t i = 0; i < state->cells.count; i++) {
        if (state->cells.items[i].width > widths[i % columns])
            widths[i % columns] = state->cells.items[i].width;
    }
    for (size_t i = 0; i < state->cells.count; i++) {
        if (i % columns == 0)
            text_spaces(emit, state->indent);
        bool is_last = i % columns == columns - 1;
        text_cell(emit, &state->cells.items[i], widths[i % columns], is_last);
        if (is_last)
            fl_emit_puts(emit, "\n");
        state->has_output = true;
    }
    state->cells.count = 0;
    state->bytes.count = 0;
}

static void text_add_cell(fl_emit *emit, fl_emit_value value, bool is_right, bool is_heading)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (!fl_vector_reserve(fl_emit_get_host(emit), &state->cells, 1, fl_emit_get_error(emit)))
        return;
    size_t offset = state->bytes.count;
    size_t width = text_keep_value(emit, &state->bytes, value);
    state->cells.items[state->cells.count++] =
        (struct text_cell){offset, state->bytes.count - offset, width, is_right, is_heading};
}

static void text_pair(fl_emit *emit, const char *label, fl_emit_value value)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (state->column_count != 2)
        text_flush(emit);
    state->column_count = 2;
    text_add_cell(emit, fl_emit_text(label), false, false);
    text_add_cell(emit, value, false, false);
}

static void text_heading(fl_emit *emit, fl_emit_place place, const char *label)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    text_flush(emit);
    if (label != NULL) {
        if (state->has_output && place.depth == 0)
            fl_emit_puts(emit, "\n");
        text_spaces(emit, state->indent);
        text_style(emit, FL_EMIT_STRONG);
        fl_emit_puts(emit, label);
        text_style(emit, FL_EMIT_PLAIN);
        fl_emit_puts(emit, "\n");
        state->indent += TEXT_GAP;
        state->has_output = true;
    }
    state->has_labels[place.depth] = label != NULL;
}

/* Numbers stand to the right of their column. */
static bool text_is_right(fl_emit_type type)
{
    return type == FL_EMIT_COUNT || type == FL_EMIT_BYTES || type == FL_EMIT_REAL;
}

static void text_begin_table(fl_emit *emit, const fl_emit_column *columns, size_t count)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (count > TEXT_COLUMNS_MOST) {
        fl_fail(fl_emit_get_error(emit), FL_ERR_INTERNAL, "more than %d columns",
                TEXT_COLUMNS_MOST);
        return;
    }
    state->column_count = count;
    for (size_t i = 0; i < count; i++)
        text_add_cell(emit, fl_emit_text(columns[i].label), text_is_right(columns[i].type), true);
}

static void text_begin(fl_emit *emit, fl_emit_place place, fl_emit_kind kind, const char *key,
                       const char *label, const fl_emit_column *columns, size_t count)
{
    (void)key;
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (state->list_label != NULL && place.parent == FL_EMIT_LIST) {
        place.depth--; /* the list holds containers, so it gets its heading after all */
        text_heading(emit, place, state->list_label);
        place.depth++;
        state->list_label = NULL;
    }
    if (kind == FL_EMIT_LIST) {
        state->list_label = label;
        state->list.count = 0;
        state->has_list_items = false;
        state->has_labels[place.depth] = false;
        return;
    }
    if (place.parent == FL_EMIT_LIST && place.index > 0) {
        text_flush(emit);
        fl_emit_puts(emit, "\n");
    }
    text_heading(emit, place, label);
    if (kind == FL_EMIT_TABLE)
        text_begin_table(emit, columns, count);
}

static void text_end(fl_emit *emit, fl_emit_place place, fl_emit_kind kind)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (kind == FL_EMIT_LIST && state->list_label != NULL) {
        fl_emit_value values = fl_emit_text_sized(state->list.items, state->list.count);
        text_pair(emit, state->list_label, state->has_list_items ? values : fl_emit_text("none"));
        state->list_label = NULL;
        return;
    }
    text_flush(emit);
    if (state->has_labels[place.depth])
        state->indent -= TEXT_GAP;
}

static void text_value(fl_emit *emit, fl_emit_place place, const char *key, const char *label,
                       fl_emit_value value)
{
    (void)place;
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (key != NULL) {
        text_pair(emit, label != NULL ? label : key, value);
        return;
    }
    if (state->has_list_items)
        fl_emit_keep(emit, &state->list, ", ", 2);
    state->has_list_items = true;
    text_keep_value(emit, &state->list, value);
}

static void text_row(fl_emit *emit, fl_emit_place place, const fl_emit_column *columns,
                     size_t count, const fl_emit_value *cells)
{
    (void)place;
    for (size_t i = 0; i < count; i++)
        text_add_cell(emit, cells[i], text_is_right(columns[i].type), false);
}

static void text_line(fl_emit *emit, fl_emit_place place, fl_emit_style style, const char *text)
{
    (void)place;
    struct fl_emit_state *state = fl_emit_get_state(emit);
    text_flush(emit);
    if (*text != '\0') {
        size_t width = 0;
        text_keep_safe(emit, &state->bytes, text, strlen(text), &width);
        text_spaces(emit, state->indent);
        if (style != FL_EMIT_PLAIN)
            text_style(emit, style);
        fl_emit_put(emit, state->bytes.items, state->bytes.count);
        if (style != FL_EMIT_PLAIN)
            text_style(emit, FL_EMIT_PLAIN);
        state->bytes.count = 0;
    }
    fl_emit_puts(emit, "\n");
    state->has_output = true;
}

static void text_finish(fl_emit *emit, size_t items)
{
    (void)items;
    text_flush(emit);
}

static void text_close(fl_emit *emit)
{
    const fl_host *host = fl_emit_get_host(emit);
    struct fl_emit_state *state = fl_emit_get_state(emit);
    fl_vector_deinit(host, &state->cells);
    fl_vector_deinit(host, &state->bytes);
    fl_vector_deinit(host, &state->list);
}

const fl_emit_ops fl_emitter_text = {
    .name = "text",
    .summary = "aligned columns with units, for people",
    .audience = FL_EMIT_FOR_PEOPLE,
    .state_size = sizeof(struct fl_emit_state),
    .begin = text_begin,
    .end = text_end,
    .value = text_value,
    .row = text_row,
    .line = text_line,
    .finish = text_finish,
    .close = text_close,
};
