/* CSV as RFC 4180 has it, with plain newlines: one header row, one table.
 *
 * The outermost object is the table's one row: nested objects flatten into columns with dotted
 * names, lists of values into one cell.  Or it holds exactly one table, or one list of objects
 * that have the same columns: then those are the rows.  Null is an empty cell. */
#include "emit/format.h"

#include "base/utf8.h"

#include <string.h>

struct csv_columns {
    struct fl_emit_bytes_kept names, cells;
    size_t count;
};

struct fl_emit_state {
    struct csv_columns row;          /* the row under construction */
    struct fl_emit_bytes_kept first; /* names of the first row that was written */
    struct fl_emit_bytes_kept path;  /* "peak.": in front of every name */
    struct fl_emit_bytes_kept list;  /* values of the open list */
    size_t path_ends[32];            /* path length outside each open container */
    size_t rows;
    bool is_rows;  /* the outermost object holds rows */
    bool is_table; /* or a table */
};

static void csv_fail(fl_emit *emit, const char *what)
{
    fl_fail(fl_emit_get_error(emit), FL_ERR_INTERNAL, "CSV holds one table, but %s", what);
}

static bool csv_must_quote(const char *data, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (strchr(",\"\r\n", data[i]) != NULL) /* NUL included */
            return true;
    }
    return length > 0 && (data[0] == ' ' || data[length - 1] == ' ');
}

/* A cell's text; there is no escape, so NUL becomes U+FFFD. */
static void csv_keep_text(fl_emit *emit, struct fl_emit_bytes_kept *kept, const char *data,
                          size_t length)
{
    bool is_quoted = csv_must_quote(data, length);
    if (is_quoted)
        fl_emit_keep(emit, kept, "\"", 1);
    while (length > 0) {
        uint32_t point;
        char buffer[4];
        size_t taken = fl_utf8_next(data, length, &point);
        fl_emit_keep(emit, kept, buffer,
                     fl_utf8_put(point != 0 ? point : FL_UTF8_REPLACEMENT, buffer));
        if (point == '"')
            fl_emit_keep(emit, kept, "\"", 1);
        data += taken;
        length -= taken;
    }
    if (is_quoted)
        fl_emit_keep(emit, kept, "\"", 1);
}

static void csv_keep_value(fl_emit *emit, struct fl_emit_bytes_kept *kept, fl_emit_value value)
{
    char number[FL_EMIT_NUMBER_SIZE];
    fl_emit_number(value, number);
    if (value.type == FL_EMIT_TEXT)
        csv_keep_text(emit, kept, value.text.data, value.text.length);
    else
        fl_emit_keep(emit, kept, number, strlen(number));
}

/* Opens the next column of the row: its name, and the comma before its cell. */
static void csv_name(fl_emit *emit, const char *key)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (state->is_table || (state->is_rows && state->path.count == 0 && key == NULL)) {
        csv_fail(emit, "there is something beside it");
        return;
    }
    const char *comma = state->row.count++ > 0 ? "," : "";
    fl_emit_keep(emit, &state->row.names, comma, strlen(comma));
    fl_emit_keep(emit, &state->row.cells, comma, strlen(comma));
    size_t path = key != NULL ? state->path.count : state->path.count - 1;
    fl_emit_keep(emit, &state->row.names, state->path.items, path);
    if (key != NULL)
        fl_emit_keep(emit, &state->row.names, key, strlen(key));
}

static void csv_push(fl_emit *emit, fl_emit_place place, const char *key)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    state->path_ends[place.depth] = state->path.count;
    if (key == NULL)
        return;
    fl_emit_keep(emit, &state->path, key, strlen(key));
    fl_emit_keep(emit, &state->path, ".", 1);
}

static void csv_begin_table(fl_emit *emit, fl_emit_place place, const fl_emit_column *columns,
                            size_t count)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (place.depth > 0 || place.index > 0) {
        csv_fail(emit, "there is another");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        fl_emit_puts(emit, i == 0 ? "" : ",");
        fl_emit_puts(emit, columns[i].key);
    }
    fl_emit_puts(emit, "\n");
    state->is_table = true;
}

/* The object is a row: its names start anew, without the list's own. */
static void csv_begin_row(fl_emit *emit, fl_emit_place place)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (place.depth > 1 || state->row.count > 0)
        csv_fail(emit, "there is something beside it");
    state->is_rows = true;
    state->path.count = 0;
}

static void csv_begin(fl_emit *emit, fl_emit_place place, fl_emit_kind kind, const char *key,
                      const char *label, const fl_emit_column *columns, size_t count)
{
    (void)label;
    struct fl_emit_state *state = fl_emit_get_state(emit);
    csv_push(emit, place, key);
    if (kind == FL_EMIT_TABLE)
        csv_begin_table(emit, place, columns, count);
    else if (kind == FL_EMIT_OBJECT && place.parent == FL_EMIT_LIST)
        csv_begin_row(emit, place);
    else if (kind == FL_EMIT_LIST)
        state->list.count = 0;
}

static void csv_write_row(fl_emit *emit)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    struct csv_columns *row = &state->row;
    if (state->rows++ == 0) {
        fl_emit_put(emit, row->names.items, row->names.count);
        fl_emit_puts(emit, "\n");
        fl_emit_keep(emit, &state->first, row->names.items, row->names.count);
    } else if (row->names.count != state->first.count ||
               memcmp(row->names.items, state->first.items, row->names.count) != 0) {
        csv_fail(emit, "a row has other columns than the first");
    }
    fl_emit_put(emit, row->cells.items, row->cells.count);
    fl_emit_puts(emit, "\n");
    row->names.count = row->cells.count = row->count = 0;
}

static void csv_end_list(fl_emit *emit, fl_emit_place place)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (state->is_rows && place.depth == 0)
        return;
    csv_name(emit, NULL);
    csv_keep_text(emit, &state->row.cells, state->list.items, state->list.count);
}

static void csv_end(fl_emit *emit, fl_emit_place place, fl_emit_kind kind)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (kind == FL_EMIT_LIST)
        csv_end_list(emit, place);
    else if (kind == FL_EMIT_OBJECT && place.parent == FL_EMIT_LIST)
        csv_write_row(emit);
    state->path.count = state->path_ends[place.depth];
}

static void csv_value(fl_emit *emit, fl_emit_place place, const char *key, const char *label,
                      fl_emit_value value)
{
    (void)label;
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (key != NULL) {
        if (state->is_rows && place.depth == 0)
            csv_fail(emit, "there is something beside it");
        csv_name(emit, key);
        csv_keep_value(emit, &state->row.cells, value);
        return;
    }
    char number[FL_EMIT_NUMBER_SIZE];
    fl_emit_number(value, number);
    if (state->list.count > 0)
        fl_emit_keep(emit, &state->list, " ", 1);
    if (value.type == FL_EMIT_TEXT)
        fl_emit_keep(emit, &state->list, value.text.data, value.text.length);
    else
        fl_emit_keep(emit, &state->list, number, strlen(number));
}

static void csv_row(fl_emit *emit, fl_emit_place place, const fl_emit_column *columns, size_t count,
                    const fl_emit_value *cells)
{
    (void)place;
    (void)columns;
    struct fl_emit_state *state = fl_emit_get_state(emit);
    state->row.cells.count = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            fl_emit_keep(emit, &state->row.cells, ",", 1);
        csv_keep_value(emit, &state->row.cells, cells[i]);
    }
    fl_emit_put(emit, state->row.cells.items, state->row.cells.count);
    fl_emit_puts(emit, "\n");
    state->row.cells.count = 0;
}

static void csv_finish(fl_emit *emit, size_t items)
{
    struct fl_emit_state *state = fl_emit_get_state(emit);
    if (items > 0 && !state->is_table && !state->is_rows)
        csv_write_row(emit);
}

static void csv_close(fl_emit *emit)
{
    const fl_host *host = fl_emit_get_host(emit);
    struct fl_emit_state *state = fl_emit_get_state(emit);
    fl_vector_deinit(host, &state->row.names);
    fl_vector_deinit(host, &state->row.cells);
    fl_vector_deinit(host, &state->first);
    fl_vector_deinit(host, &state->path);
    fl_vector_deinit(host, &state->list);
}

const fl_emit_ops fl_emitter_csv = {
    .name = "csv",
    .summary = "a header row and one table, for spreadsheets and plots",
    .audience = FL_EMIT_FOR_TABLES,
    .state_size = sizeof(struct fl_emit_state),
    .begin = csv_begin,
    .end = csv_end,
    .value = csv_value,
    .row = csv_row,
    .finish = csv_finish,
    .close = csv_close,
};
