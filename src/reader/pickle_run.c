/* What large pickles mostly consist of, run without the table of instructions: plain values, and
 * records of a list that are written alike, as the entries of a history are.  Of a record that is
 * written as the one before it only the values have to be looked at.
 *
 * Nothing here grows or refuses anything.  A record is taken whole or not at all: where one is not
 * as usual, or the bytes at hand end within it, it is left to the instructions themselves. */
#include "reader/pickle_machine.h"

#include <string.h>

/* A key and a value with its MEMOIZE, but for a text's bytes. */
#define PAIR_MOST (2 * FL_OPERATION_MOST)

#define WANTED_ANY UINT8_MAX

enum { MARK = '(', BINGET = 'h', LONG_BINGET = 'j', MEMOIZE = 0x94 };

/* Where a run stands, apart from the machine, so that it stays in registers.  Up to `last`, a pair
 * lies at hand. */
struct run {
    const uint8_t *at, *last;
    const fl_memo *memo;
    memo_entry *memo_next, *memo_end; /* what comes lies here, and has room up to there */
};

/* False where too little lies at hand, or nothing was memoized yet. */
static inline bool run_begin(const fl_pickle *m, struct run *ret_run)
{
    if (m->input->end - m->input->at < PAIR_MOST || m->memo.open == NULL)
        return false;
    *ret_run = (struct run){m->input->at, m->input->end - PAIR_MOST, &m->memo,
                            m->memo.open + (m->memo.count - m->memo.first),
                            m->memo.open + (m->memo.end - m->memo.first)};
    return true;
}

/* The entry that a BINGET or LONG_BINGET fetches, or an unset one. */
static inline memo_entry run_get(const struct run *run, size_t *ret_size)
{
    uint64_t index = *run->at == BINGET ? run->at[1] : fl_load_little(run->at + 1, 4);
    uint64_t count = run->memo->first + (uint64_t)(run->memo_next - run->memo->open);
    *ret_size = *run->at == BINGET ? 2 : 5;
    return index < count ? fl_memo_get(run->memo, index) : (memo_entry){.tag = MEMO_UNSET};
}

/* A value of the memo that needs nothing closed first: an item of shape `wanted`, or a plain one
 * where none is. */
static inline size_t run_memo_value(const struct run *run, uint8_t wanted, fl_value *ret_value)
{
    size_t size;
    memo_entry entry = run_get(run, &size);
    bool is_plain = entry.tag == FL_TAG_TEXT + 1 || entry.tag == FL_TAG_PAIR + 1;
    bool is_item = entry.tag == FL_TAG_ITEM + 1;
    bool fits = wanted == WANTED_ANY      ? is_plain || is_item
                : wanted == FL_SHAPE_NONE ? is_plain
                                          : is_item && entry.word == wanted;
    if (!fits)
        return 0;
    *ret_value =
        (fl_value){.tag = (uint8_t)(entry.tag - 1), .number = entry.number, .word = entry.word};
    return size;
}

/* A short text is most often the one before: every entry of a history ends in the same. */
static inline size_t run_text(const fl_pickle *m, const struct run *run, fl_value *ret_value)
{
    size_t length = run->at[1];
    if (m->texts.count == 0 || (size_t)(run->last - run->at) < length)
        return 0;
    const text_row *last = &m->texts.items[m->last_text];
    if (last->length != length || memcmp(last->bytes, run->at + 2, length) != 0)
        return 0;
    *ret_value = (fl_value){.tag = FL_TAG_TEXT, .number = m->last_text, .word = last->word};
    return 2 + length;
}

/* Reads a value; returns the size of its instruction, or 0 where it is another. */
static inline size_t run_value(const fl_pickle *m, const struct run *run, uint8_t wanted,
                               fl_value *ret_value)
{
    const uint8_t *at = run->at;
    switch (*at) {
    case BINGET:
    case LONG_BINGET:
        return run_memo_value(run, wanted, ret_value);
    case 'K':
        *ret_value = fl_value_int(at[1]);
        return 2;
    case 'M':
        *ret_value = fl_value_int((int64_t)fl_load_little(at + 1, 2));
        return 3;
    case 'J':
        *ret_value = fl_value_int((int32_t)(uint32_t)fl_load_little(at + 1, 4));
        return 5;
    case 0x8A:
        if (at[1] == 0 || at[1] > 8)
            return 0;
        *ret_value = fl_value_short_long(fl_load_little(at + 2, 8), at[1]);
        return 2 + (size_t)at[1];
    case 0x8C:
        return run_text(m, run, ret_value);
    default:
        return 0;
    }
}

void fl_pickle_run_values(fl_pickle *m)
{
    struct run run;
    if (m->stack.items == NULL || !run_begin(m, &run))
        return; /* before the first value, or near the end */
    fl_value *to = m->stack.items + m->stack.count;
    const fl_value *full = m->stack.items + m->stack.capacity;
    size_t size = 1;
    for (; size > 0 && run.at <= run.last && to < full; run.at += size) {
        size = run_value(m, &run, WANTED_ANY, to);
        to += size > 0;
    }
    m->input->at = run.at;
    m->stack.count = (size_t)(to - m->stack.items);
}

/* Keys. */

/* Row `i` of the layout learns the key that stands here: one from the memo that the schema knows
 * and that no row before has. */
static bool layout_learn(fl_pickle *m, const struct run *run, size_t i)
{
    size_t size = 0;
    memo_entry key = {.tag = MEMO_UNSET};
    if (*run->at == BINGET || *run->at == LONG_BINGET)
        key = run_get(run, &size);
    if (key.tag != FL_TAG_TEXT + 1 || key.word == 0 || key.word >= FL_KEY_LIMIT)
        return false;
    uint64_t bit = UINT64_C(1) << key.word;
    uint64_t before = i > 0 ? m->layout.rows[i - 1].has : 0;
    if ((before & bit) != 0)
        return false;
    uint64_t mask = ~UINT64_C(0) >> (64 - 8 * size);
    m->layout.rows[i] = (layout_row){.mask = mask,
                                     .bytes = fl_load_little(run->at, 8) & mask,
                                     .has = before | bit,
                                     .size = (uint8_t)size,
                                     .word = key.word,
                                     .wanted = m->children[m->layout.shape][key.word]};
    m->layout.count = i + 1;
    return true;
}

/* Lists. */

static inline bool run_item(fl_pickle *m, struct run *run, uint8_t shape)
{
    size_t size;
    memo_entry entry = run_get(run, &size);
    if (entry.tag != FL_TAG_ITEM + 1 || entry.word != shape || m->items.count == m->items.capacity)
        return false;
    m->items.items[m->items.count++] = entry.number;
    run->at += size;
    return true;
}

/* The items of a list, all from the memo, and the instruction that appends them. */
static bool run_items(fl_pickle *m, struct run *run, uint8_t shape)
{
    bool is_marked = *run->at == MARK;
    run->at += is_marked;
    while (run->at <= run->last && (*run->at == BINGET || *run->at == LONG_BINGET)) {
        if (!run_item(m, run, shape))
            return false;
        if (!is_marked)
            break;
    }
    return *run->at++ == (is_marked ? 'e' : 'a');
}

/* A list of shared items, such as the frames of a stack, with all its items. */
static bool run_list(fl_pickle *m, struct run *run, uint8_t shape, fl_value *ret_value)
{
    const fl_shape *of = &m->schema->shapes[shape];
    if (!of->is_list || !of->is_shared || of->open != NULL || run->at[1] != MEMOIZE ||
        run->memo_next == run->memo_end)
        return false;
    run->at += 2;
    memo_entry *entry = run->memo_next++;
    m->items.count = 0;
    bool has_items = *run->at == MARK || *run->at == BINGET || *run->at == LONG_BINGET;
    if (has_items && !run_items(m, run, of->element))
        return false;
    fl_closing closing = {m, NULL, m->items.items, m->items.count, FL_NONE};
    if (of->close(m->user, &closing, NULL) != FL_OK)
        return false; /* it will fail again, and be told of */
    *ret_value = (fl_value){.tag = FL_TAG_ITEM, .number = closing.number, .word = shape};
    *entry = (memo_entry){closing.number, FL_TAG_ITEM + 1, shape};
    return true;
}

/* Records. */

/* The value of a key, with its MEMOIZE. */
static inline bool run_field(fl_pickle *m, struct run *run, uint8_t wanted, fl_value *value)
{
    if (wanted != FL_SHAPE_NONE && *run->at != BINGET && *run->at != LONG_BINGET)
        return *run->at == ']' && run_list(m, run, wanted, value);
    size_t size = run_value(m, run, wanted, value);
    run->at += size;
    if (*run->at != MEMOIZE || size == 0)
        return size > 0;
    run->at++;
    if (run->memo_next == run->memo_end)
        return false;
    *run->memo_next++ = fl_memo_of(value);
    return true;
}

/* All pairs up to the instruction that ends them; returns their number, or 0 with nothing done that
 * shows. */
static size_t run_fields(fl_pickle *m, struct run *run, fl_record *record)
{
    size_t i = 0;
    for (; run->at <= run->last && *run->at != 'u'; i++) {
        const layout_row *row = &m->layout.rows[i];
        bool is_same =
            i < m->layout.count && (fl_load_little(run->at, 8) & row->mask) == row->bytes;
        if (!is_same && !layout_learn(m, run, i))
            return 0;
        run->at += row->size;
        if (!run_field(m, run, row->wanted, &record->values[row->word]))
            return 0;
    }
    return run->at <= run->last ? i : 0;
}

static bool run_record(fl_pickle *m, uint8_t shape)
{
    struct run run;
    size_t count = run_begin(m, &run) ? run_fields(m, &run, &m->records[shape]) : 0;
    if (count == 0)
        return false;
    m->records[shape].has = m->layout.rows[count - 1].has;
    m->records[shape].is_whole = true;
    m->input->at = run.at + 1;
    m->memo.count = run.memo->first + (uint64_t)(run.memo_next - run.memo->open);
    return true;
}

/* Begins the next record of a list, up to its mark; *ret_more is false, and nothing done, where
 * something else follows. */
static bool run_next(fl_pickle *m, bool *ret_more)
{
    const uint8_t *at = m->input->at;
    bool is_memoized = at[1] == MEMOIZE;
    *ret_more = at[0] == '}' && at[1 + is_memoized] == MARK && m->memo.count < m->memo.end;
    if (!*ret_more)
        return true;
    m->at = at;
    if (!fl_shape_next_sibling(m))
        return false;
    m->input->at += 2 + is_memoized;
    if (is_memoized) {
        memo_entry *next = &m->memo.open[m->memo.count - m->memo.first];
        *next = fl_pickle_memoize(m, m->memo.count, &m->stack.items[m->stack.count - 1]);
        m->memo.count++;
    }
    return true;
}

/* The shape of the record on top of the stack, if it is empty. */
static uint8_t shape_to_fill(const fl_pickle *m)
{
    if (m->depth == 0)
        return FL_SHAPE_NONE;
    const open_entry *top = &m->path[m->depth - 1];
    const fl_shape *shape = &m->schema->shapes[top->shape];
    bool is_record = !shape->is_list && !shape->is_loose && m->records[top->shape].has == 0;
    return is_record && top->slot + 1 == m->stack.count ? top->shape : FL_SHAPE_NONE;
}

bool fl_pickle_run_records(fl_pickle *m)
{
    uint8_t shape = shape_to_fill(m);
    if (shape == FL_SHAPE_NONE)
        return true;
    if (m->layout.shape != shape)
        m->layout.count = 0;
    m->layout.shape = shape;
    size_t mark = m->marks.items[--m->marks.count];
    bool more = fl_shape_has_sibling(m);
    do {
        if (!run_record(m, shape)) {
            m->marks.items[m->marks.count++] = mark;
            return true;
        }
        if (more && !run_next(m, &more))
            return false;
    } while (more);
    return true;
}
