/* The machine's insides, shared by the files that make it up: pickle.c is the loop, pickle_op.c
 * holds the instructions, pickle_text.c those of protocol 0, pickle_run.c those met most often,
 * pickle_shape.c keeps what is open, pickle_store.c what is remembered.  json.c has a loop of its
 * own for the same machine. */
#ifndef FL_READER_PICKLE_MACHINE_H
#define FL_READER_PICKLE_MACHINE_H

#include <fraglab/heap.h>

#include "base/table.h"
#include "base/vector.h"
#include "reader/memo.h"
#include "reader/pickle.h"
#include "trace/arena.h"

/* Words of a list that is passed over, which may turn out to be a pair.  Before it does, `bits` is
 * its first number, and `number` its memo entry or FL_NONE. */
enum { FL_LIST_EMPTY = 1, FL_LIST_OF_ONE, FL_LIST_OF_TWO };

#define MEMO_NOWHERE SIZE_MAX

/* A record or list that is being filled. */
typedef struct open_entry {
    uint8_t shape;
    size_t slot; /* its place on the stack */
    size_t memo; /* and in the memo, or MEMO_NOWHERE */
} open_entry;

/* How the records of a shape are written: their keys, one after the other, as they stand in the
 * bytes.  What is not a member of the schema has no row. */
typedef struct layout_row {
    uint64_t bytes, mask; /* the instruction that fetches the key */
    uint64_t has;         /* bits of this key and of those before */
    uint8_t size, word, wanted;
} layout_row;

typedef struct text_row {
    const char *bytes;
    uint32_t length;
    uint32_t number; /* the receiver's */
    uint8_t word;    /* its code in the schema, or 0 */
} text_row;

typedef struct pair_row {
    uint64_t first, second;
} pair_row;

typedef struct unknown_row {
    uint32_t text;
    uint8_t shape;
} unknown_row;

FL_VECTOR(value_vector, fl_value);
FL_VECTOR(mark_vector, size_t);
FL_VECTOR(item_vector, uint32_t);
FL_VECTOR(text_vector, text_row);
FL_VECTOR(pair_vector, pair_row);
FL_VECTOR(byte_vector, char);

#define MARK_LIMIT    1000 /* deepest nesting */
#define UNKNOWN_LIMIT 16   /* unknown keys that are told */

struct fl_pickle {
    fl_input *input;
    const fl_host *host;
    const fl_schema *schema;
    void *user;
    fl_error *error;
    fl_status status; /* why an instruction returned false */

    const uint8_t *at;   /* the instruction that runs; NULL once its bytes may have moved */
    uint64_t at_offset;  /* then: its place */
    const uint8_t *args; /* its argument of fixed size */
    bool is_stopped, is_cut;

    struct value_vector stack;
    struct mark_vector marks; /* heights of the stack */
    fl_memo memo;
    open_entry path[FL_SHAPE_LIMIT];
    size_t depth;
    fl_record records[FL_SHAPE_LIMIT];
    uint8_t children[FL_SHAPE_LIMIT][FL_KEY_LIMIT]; /* what a key's value is, by shape and word */
    struct item_vector items;                       /* of the shared list that is open */
    struct {
        layout_row rows[FL_KEY_LIMIT];
        size_t count;
        uint8_t shape;
    } layout; /* of the record met last; it ends where a memo entry changes */

    struct text_vector texts;
    uint32_t last_text;    /* the one met last */
    struct fl_arena arena; /* the texts' bytes */
    struct pair_vector pairs;
    struct byte_vector scratch;
    fl_table text_numbers, pair_numbers;
    unknown_row unknown[UNKNOWN_LIMIT];
    size_t unknown_count;

    struct byte_vector levels; /* of JSON: the brackets that are open */
    uint8_t expects;           /* and what may come next */
    bool is_long;              /* a token exceeds what is kept */
};

/* All return false with `status` and `error` set where they fail. */

/* Fails with the place of the instruction in front. */
bool fl_pickle_fail(fl_pickle *m, fl_status status, const char *format, ...) FL_PRINTF(3, 4);

/* Takes what a callback or helper answered. */
bool fl_pickle_check(fl_pickle *m, fl_status status);

/* The content ended within an instruction: an error, or the end if cuts are accepted. */
bool fl_pickle_cut(fl_pickle *m);

/* pickle_op.c */
typedef struct op_row {
    const char *name;
    bool (*run)(fl_pickle *m); /* NULL: known, and refused */
    uint8_t size;              /* of its fixed argument */
} op_row;

extern const op_row fl_pickle_ops[256];

/* No instruction's fixed part is longer. */
#define FL_OPERATION_MOST 16

/* pickle_run.c: plain values, as long as there are any; and behind a mark, records of a list. */
void fl_pickle_run_values(fl_pickle *m);
bool fl_pickle_run_records(fl_pickle *m);

/* pickle_store.c */
bool fl_pickle_keep_text(fl_pickle *m, const char *bytes, size_t length, fl_value *ret_value);
bool fl_pickle_keep_pair(fl_pickle *m, uint64_t first, uint64_t second, fl_value *ret_value);
bool fl_pickle_memo_put(fl_pickle *m, uint64_t index);
bool fl_pickle_memo_change(fl_pickle *m, uint64_t index, memo_entry entry);
/* The list with this memo entry, or FL_NONE, has become a pair. */
bool fl_pickle_memo_pair(fl_pickle *m, uint32_t index, const fl_value *pair);
bool fl_pickle_memo_get(fl_pickle *m, uint64_t index);
void fl_pickle_drop_store(fl_pickle *m);

/* pickle_shape.c */
void fl_shape_prepare(fl_pickle *m);
bool fl_shape_open(fl_pickle *m, bool is_list);
/* Is the record on top of the stack one of a list, and not shared?  Then it may be closed, and the
 * next one take its place. */
bool fl_shape_has_sibling(const fl_pickle *m);
bool fl_shape_next_sibling(fl_pickle *m);
bool fl_shape_close_to(fl_pickle *m, size_t depth); /* closes what is open beyond this depth */
bool fl_shape_append(fl_pickle *m, size_t container, size_t first);
bool fl_shape_set(fl_pickle *m, size_t container, size_t first, bool is_whole);
bool fl_shape_drop(fl_pickle *m, size_t height); /* takes values off the stack unseen */

/* pickle_text.c */
bool fl_pickle_op_int(fl_pickle *m);
bool fl_pickle_op_long(fl_pickle *m);
bool fl_pickle_op_float(fl_pickle *m);
bool fl_pickle_op_unicode(fl_pickle *m);
bool fl_pickle_op_get(fl_pickle *m);
bool fl_pickle_op_put(fl_pickle *m);

/* A decimal number, maybe negative; one that does not fit 64 bits is wide.  False where there is
 * anything else. */
bool fl_pickle_number(const char *line, size_t length, fl_value *ret_value);
int fl_pickle_hex(char c); /* 0 to 15, or -1 */
/* Writes at most 4 bytes and tells how many. */
size_t fl_pickle_utf8(uint32_t character, char *bytes);

/* Runs a machine, step by step, until it stops; then as fl_pickle_read. */
fl_status fl_pickle_run(fl_input *input, const fl_schema *schema, void *user,
                        bool (*step)(fl_pickle *m), bool *ret_cut, fl_error *error);

/* The end: what is on the stack must be the whole. */
bool fl_pickle_stop(fl_pickle *m);

/* A container that is open or done is not found again under its memo entry, unless its closing
 * puts a number there; a number is kept if it fits. */
static inline memo_entry fl_memo_of(const fl_value *value)
{
    static const uint8_t kept[FL_TAG_COUNT] = {
        [FL_TAG_NONE] = FL_TAG_NONE,   [FL_TAG_BOOL] = FL_TAG_BOOL,  [FL_TAG_INT] = FL_TAG_INT,
        [FL_TAG_UINT] = FL_TAG_OTHER,  [FL_TAG_WIDE] = FL_TAG_OTHER, [FL_TAG_REAL] = FL_TAG_OTHER,
        [FL_TAG_TEXT] = FL_TAG_TEXT,   [FL_TAG_PAIR] = FL_TAG_PAIR,  [FL_TAG_ITEM] = FL_TAG_ITEM,
        [FL_TAG_DONE] = FL_TAG_AGAIN,  [FL_TAG_OPEN] = FL_TAG_AGAIN, [FL_TAG_AGAIN] = FL_TAG_AGAIN,
        [FL_TAG_OTHER] = FL_TAG_OTHER,
    };
    uint8_t tag = kept[value->tag];
    uint32_t number = value->number;
    if (tag == FL_TAG_INT || tag == FL_TAG_BOOL) {
        number = (uint32_t)value->bits;
        if (number != value->bits)
            tag = FL_TAG_OTHER;
    }
    return (memo_entry){number, (uint8_t)(tag + 1), value->word};
}

/* What the memo entry `index` of a value is, which goes by it from now on. */
static inline memo_entry fl_pickle_memoize(fl_pickle *m, uint64_t index, fl_value *value)
{
    if (value->tag == FL_TAG_OTHER && value->word == FL_LIST_EMPTY && index < FL_NONE)
        value->number = (uint32_t)index;
    if (value->tag == FL_TAG_OPEN)
        m->path[value->number].memo = (size_t)index;
    return fl_memo_of(value);
}

/* The main loop leaves room for one value before each instruction. */
static inline bool fl_pickle_push(fl_pickle *m, fl_value value)
{
    m->stack.items[m->stack.count++] = value;
    return true;
}

static inline fl_value fl_value_int(int64_t value)
{
    return (fl_value){.bits = (uint64_t)value, .tag = FL_TAG_INT};
}

static inline uint64_t fl_load_little(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

/* A signed number in the low 1 to 8 bytes of `raw`. */
static inline fl_value fl_value_short_long(uint64_t raw, unsigned size)
{
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    raw &= sign | (sign - 1);
    return fl_value_int((int64_t)((raw ^ sign) - sign));
}

/* Height of the stack at the innermost mark; 0 without one. */
static inline size_t fl_pickle_base(const fl_pickle *m)
{
    return m->marks.count > 0 ? m->marks.items[m->marks.count - 1] : 0;
}

#endif
