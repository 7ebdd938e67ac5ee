/* What a format is to the emitter: a table, its private state, and where its bytes go.
 *
 * The emitter has checked nesting and audience before it calls; a format only renders.  What a
 * format means by the calls stands at the head of its file. */
#ifndef FL_EMIT_FORMAT_H
#define FL_EMIT_FORMAT_H

#include "base/vector.h"
#include "emit/emit.h"

struct fl_emit_state; /* each format defines its own under this tag */

typedef enum fl_emit_kind { FL_EMIT_OBJECT, FL_EMIT_LIST, FL_EMIT_TABLE } fl_emit_kind;

/* Where a call stands. */
typedef struct fl_emit_place {
    fl_emit_kind parent; /* of the innermost open container */
    size_t depth;        /* open containers, the outermost object not counted */
    size_t index;        /* what came before inside the parent */
} fl_emit_place;

struct fl_emit_ops {
    const char *name;
    const char *summary; /* one line for `fraglab list formats` */
    unsigned audience;   /* one of FL_EMIT_FOR_* */
    size_t state_size;
    /* `columns` and `count` are 0 but for a table.  `place` is that of the container itself, in
     * `end` with the number of things inside as its index. */
    void (*begin)(fl_emit *emit, fl_emit_place place, fl_emit_kind kind, const char *key,
                  const char *label, const fl_emit_column *columns, size_t count);
    void (*end)(fl_emit *emit, fl_emit_place place, fl_emit_kind kind);
    /* key and label are NULL inside a list. */
    void (*value)(fl_emit *emit, fl_emit_place place, const char *key, const char *label,
                  fl_emit_value value);
    void (*row)(fl_emit *emit, fl_emit_place place, const fl_emit_column *columns, size_t count,
                const fl_emit_value *cells);
    void (*line)(fl_emit *emit, fl_emit_place place, fl_emit_style style, const char *text);
    void (*finish)(fl_emit *emit, size_t items); /* what stands in the outermost object */
    void (*close)(fl_emit *emit);                /* gives back what the state holds */
};

struct fl_emit_state *fl_emit_get_state(fl_emit *emit);
const fl_host *fl_emit_get_host(const fl_emit *emit);
bool fl_emit_has_color(const fl_emit *emit);

/* Where a format's own failure goes. */
fl_error *fl_emit_get_error(fl_emit *emit);

/* Writes to the sink. */
void fl_emit_put(fl_emit *emit, const char *data, size_t size);
void fl_emit_puts(fl_emit *emit, const char *text);

/* Bytes that a format keeps back until it knows how to render them. */
FL_VECTOR(fl_emit_bytes_kept, char);

void fl_emit_keep(fl_emit *emit, struct fl_emit_bytes_kept *kept, const char *data, size_t size);

#define FL_EMIT_NUMBER_SIZE 32

/* A number as programs read it: digits, `0x...`, the shortest decimal that reads back as the same
 * double, true, false.  Not for TEXT and NULL. */
void fl_emit_number(fl_emit_value value, char buffer[FL_EMIT_NUMBER_SIZE]);

#endif
