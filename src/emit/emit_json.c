/* JSON, indented by two spaces; a table's rows stand on one line each.  Strings are valid UTF-8
 * whatever came in: control characters are escaped, what is not UTF-8 becomes U+FFFD. */
#include "emit/format.h"

#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

struct fl_emit_state {
    char unused; /* everything that JSON needs is in the place */
};

/* What a character below U+0020, a quote or a backslash is written as. */
static size_t json_escape(uint32_t point, char buffer[8])
{
    static const char short_names[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *pair = short_names; *pair != '\0'; pair += 2) {
        if ((unsigned char)*pair == point)
            return (size_t)snprintf(buffer, 8, "\\%c", pair[1]);
    }
    if (point < 0x20)
        return (size_t)snprintf(buffer, 8, "\\u%04x", (unsigned)point);
    return fl_utf8_put(point, buffer);
}

static void json_text(fl_emit *emit, const char *data, size_t length)
{
    fl_emit_put(emit, "\"", 1);
    while (length > 0) {
        uint32_t point;
        size_t taken = fl_utf8_next(data, length, &point);
        char buffer[8];
        fl_emit_put(emit, buffer, json_escape(point, buffer));
        data += taken;
        length -= taken;
    }
    fl_emit_put(emit, "\"", 1);
}

static void json_scalar(fl_emit *emit, fl_emit_value value)
{
    char number[FL_EMIT_NUMBER_SIZE];
    fl_emit_number(value, number);
    if (value.type == FL_EMIT_TEXT)
        json_text(emit, value.text.data, value.text.length);
    else if (value.type == FL_EMIT_NULL)
        fl_emit_puts(emit, "null");
    else if (value.type == FL_EMIT_ADDRESS)
        json_text(emit, number, strlen(number));
    else
        fl_emit_puts(emit, number);
}

static void json_indent(fl_emit *emit, size_t depth)
{
    fl_emit_puts(emit, "\n");
    for (size_t i = 0; i < depth; i++)
        fl_emit_puts(emit, "  ");
}

/* Everything before a value: comma, line, key. */
static void json_lead(fl_emit *emit, fl_emit_place place, const char *key)
{
    if (place.depth == 0 && place.index == 0)
        fl_emit_puts(emit, "{");
    if (place.index > 0)
        fl_emit_puts(emit, ",");
    json_indent(emit, place.depth + 1);
    if (key != NULL) {
        json_text(emit, key, strlen(key));
        fl_emit_puts(emit, ": ");
    }
}

static void json_begin(fl_emit *emit, fl_emit_place place, fl_emit_kind kind, const char *key,
                       const char *label, const fl_emit_column *columns, size_t count)
{
    (void)label;
    (void)columns;
    (void)count;
    json_lead(emit, place, key);
    fl_emit_puts(emit, kind == FL_EMIT_OBJECT ? "{" : "[");
}

static void json_end(fl_emit *emit, fl_emit_place place, fl_emit_kind kind)
{
    if (place.index > 0)
        json_indent(emit, place.depth + 1);
    fl_emit_puts(emit, kind == FL_EMIT_OBJECT ? "}" : "]");
}

static void json_value(fl_emit *emit, fl_emit_place place, const char *key, const char *label,
                       fl_emit_value value)
{
    (void)label;
    json_lead(emit, place, key);
    json_scalar(emit, value);
}

static void json_row(fl_emit *emit, fl_emit_place place, const fl_emit_column *columns,
                     size_t count, const fl_emit_value *cells)
{
    json_lead(emit, place, NULL);
    for (size_t i = 0; i < count; i++) {
        fl_emit_puts(emit, i == 0 ? "{" : ", ");
        json_text(emit, columns[i].key, strlen(columns[i].key));
        fl_emit_puts(emit, ": ");
        json_scalar(emit, cells[i]);
    }
    fl_emit_puts(emit, "}");
}

static void json_finish(fl_emit *emit, size_t items)
{
    fl_emit_puts(emit, items == 0 ? "{}\n" : "\n}\n");
}

const fl_emit_ops fl_emitter_json = {
    .name = "json",
    .summary = "one object, for programs",
    .audience = FL_EMIT_FOR_PROGRAMS,
    .state_size = sizeof(struct fl_emit_state),
    .begin = json_begin,
    .end = json_end,
    .value = json_value,
    .row = json_row,
    .finish = json_finish,
};
