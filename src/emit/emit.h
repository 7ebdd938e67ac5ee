/* Records and tables out: one sequence of calls, rendered as text, JSON or CSV.
 *
 * A command says what it found once, as objects, lists, pairs and tables; a format is one const
 * table in its own file and renders the same calls in its way.  Where people and programs need
 * different shapes, fl_emit_for says who the next calls are for.
 *
 *     fl_emit_pair(emit, "events", "events", fl_emit_count(12));
 *     fl_emit_object_begin(emit, "peak", "peak");
 *     fl_emit_pair(emit, "reserved_bytes", "reserved", fl_emit_bytes(4096));
 *     fl_emit_object_end(emit);
 *
 * Calls return nothing: the first failure (the sink's, the host's, or calls that do not nest) is
 * kept, later calls do nothing, and fl_emit_finish tells.  No locale, clock or address has a part
 * in what is written. */
#ifndef FL_EMIT_EMIT_H
#define FL_EMIT_EMIT_H

#include <fraglab/base.h>

typedef enum fl_emit_type {
    FL_EMIT_NULL, /* no answer; fits any column */
    FL_EMIT_BOOL,
    FL_EMIT_COUNT,
    FL_EMIT_BYTES,   /* people read it with a unit */
    FL_EMIT_ADDRESS, /* "0x..." in every format: JSON numbers end at 2^53 */
    FL_EMIT_REAL,
    FL_EMIT_TEXT
} fl_emit_type;

typedef struct fl_emit_value {
    fl_emit_type type;
    union {
        bool is_true;
        uint64_t number; /* COUNT, BYTES, ADDRESS */
        double real;
        struct {
            const char *data; /* any bytes; what is not UTF-8 is replaced */
            size_t length;
        } text;
    };
} fl_emit_value;

fl_emit_value fl_emit_null(void);
fl_emit_value fl_emit_bool(bool is_true);
fl_emit_value fl_emit_count(uint64_t number);
fl_emit_value fl_emit_bytes(uint64_t number);
fl_emit_value fl_emit_address(uint64_t number);
fl_emit_value fl_emit_real(double real);      /* not a number, or infinite: null */
fl_emit_value fl_emit_text(const char *text); /* NULL: null */
fl_emit_value fl_emit_text_sized(const char *data, size_t length);

/* Who the next calls are for; a format listens to one of these. */
enum {
    FL_EMIT_FOR_PEOPLE = 1 << 0,   /* text */
    FL_EMIT_FOR_PROGRAMS = 1 << 1, /* JSON */
    FL_EMIT_FOR_TABLES = 1 << 2,   /* CSV */
    FL_EMIT_FOR_ALL = FL_EMIT_FOR_PEOPLE | FL_EMIT_FOR_PROGRAMS | FL_EMIT_FOR_TABLES
};

typedef enum fl_emit_style {
    FL_EMIT_PLAIN,
    FL_EMIT_STRONG,
    FL_EMIT_GOOD,
    FL_EMIT_BAD
} fl_emit_style;

typedef struct fl_emit_column {
    const char *key;   /* for programs: "reserved_bytes" */
    const char *label; /* for people: "reserved" */
    fl_emit_type type;
} fl_emit_column;

typedef struct fl_emit_ops fl_emit_ops;
typedef struct fl_emit fl_emit;

/* Formats of this build, NULL beyond the last. */
const fl_emit_ops *fl_emit_at(size_t index);
const fl_emit_ops *fl_emit_find(const char *name);
const char *fl_emit_name(const fl_emit_ops *ops);
const char *fl_emit_summary(const fl_emit_ops *ops);

typedef struct fl_emit_options {
    const fl_host *host;
    bool has_color; /* text only */
    /* Takes what is written, in pieces; false: it could not, which ends the writing. */
    bool (*write)(void *user, const char *data, size_t size);
    void *user;
} fl_emit_options;

/* Opens an emitter inside its outermost object.  The caller owns *ret_emit; on failure it is
 * untouched. */
fl_status fl_emit_open(const fl_emit_ops *ops, const fl_emit_options *options, fl_emit **ret_emit,
                       fl_error *error);

/* Ends the outermost object and hands everything to the sink.  The first failure since
 * fl_emit_open: FL_ERR_OUTPUT from the sink, FL_ERR_RESOURCE, FL_ERR_INTERNAL for calls that do
 * not nest. */
fl_status fl_emit_finish(fl_emit *emit, fl_error *error);
void fl_emit_close(fl_emit *emit); /* accepts NULL */

/* Who the following calls are for, until the next such call: a mask of FL_EMIT_FOR_*. */
void fl_emit_for(fl_emit *emit, unsigned audience);

/* Objects and lists.  Inside a list `key` and `label` are NULL.  An object or list without a label
 * does not show to people; its contents do. */
void fl_emit_object_begin(fl_emit *emit, const char *key, const char *label);
void fl_emit_object_end(fl_emit *emit);
void fl_emit_list_begin(fl_emit *emit, const char *key, const char *label);
void fl_emit_list_end(fl_emit *emit);

/* A value of an object, and of a list. */
void fl_emit_pair(fl_emit *emit, const char *key, const char *label, fl_emit_value value);
void fl_emit_item(fl_emit *emit, fl_emit_value value);

/* A table: for programs a list of objects whose keys are the columns'.  `columns` outlive the
 * table; a row has one cell for each, of its type or null. */
void fl_emit_table_begin(fl_emit *emit, const char *key, const char *label,
                         const fl_emit_column *columns, size_t count);
void fl_emit_row(fl_emit *emit, const fl_emit_value *cells);
void fl_emit_table_end(fl_emit *emit);

/* A sentence, cut to 1023 bytes; only people read it. */
void fl_emit_line(fl_emit *emit, fl_emit_style style, const char *format, ...) FL_PRINTF(3, 4);

/* The same for a text of any length. */
void fl_emit_words(fl_emit *emit, fl_emit_style style, const char *text);

/* `1,234,567`: at most 27 characters with the NUL. */
void fl_format_count(uint64_t number, char *buffer, size_t size);

#endif
