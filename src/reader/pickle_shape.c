/* Which of the containers on the stack matter, and when they are complete.
 *
 * What matters nests in one way only (a frame in a stack in an entry in a trace ...), so the open
 * ones form a path.  A container is complete when its parent takes it or when its next sibling
 * begins; then it is closed: handed over, and replaced on the stack by a mere tag.  Siblings in a
 * list of records that are not shared leave one tag for all of them, so a list's length costs
 * nothing. */
#include "reader/pickle_machine.h"

#include <assert.h>

#define NO_PARENT SIZE_MAX

static const char *const tag_texts[FL_TAG_COUNT] = {
    [FL_TAG_NONE] = "nothing",
    [FL_TAG_BOOL] = "true or false",
    [FL_TAG_INT] = "a number",
    [FL_TAG_UINT] = "a number",
    [FL_TAG_WIDE] = "a number of more than 64 bits",
    [FL_TAG_REAL] = "a number with a fraction",
    [FL_TAG_TEXT] = "a text",
    [FL_TAG_PAIR] = "a pair of numbers",
    [FL_TAG_ITEM] = "a known item",
    [FL_TAG_DONE] = "another list or dictionary",
    [FL_TAG_OPEN] = "a list or dictionary within itself",
    [FL_TAG_AGAIN] = "the same list or dictionary again",
    [FL_TAG_OTHER] = "a value of another kind",
};

const char *fl_value_text(const fl_value *value)
{
    return tag_texts[value->tag];
}

static const fl_shape *shape_of(const fl_pickle *m, uint8_t shape)
{
    return &m->schema->shapes[shape];
}

/* Children by word, so that no key of a record has to be looked for in a list. */
void fl_shape_prepare(fl_pickle *m)
{
    for (size_t shape = 1; shape < m->schema->shape_count; shape++)
        for (const fl_shape_child *child = m->schema->shapes[shape].children;
             child != NULL && child->word != 0; child++)
            m->children[shape][child->word] = child->shape;
}

static uint8_t child_shape(const fl_pickle *m, uint8_t shape, uint8_t word)
{
    return word < FL_KEY_LIMIT ? m->children[shape][word] : FL_SHAPE_NONE;
}

/* Closing. */

/* Hands the innermost one over; *ret_number is what the receiver set. */
static bool shape_hand_over(fl_pickle *m, uint8_t shape, uint32_t *ret_number)
{
    const fl_shape *of = shape_of(m, shape);
    fl_closing closing = {m, &m->records[shape], m->items.items, m->items.count, FL_NONE};
    fl_status status = of->close != NULL ? of->close(m->user, &closing, m->error) : FL_OK;
    *ret_number = closing.number;
    return fl_pickle_check(m, status);
}

static bool shape_close_top(fl_pickle *m)
{
    const open_entry *entry = &m->path[m->depth - 1];
    fl_value value = {.tag = FL_TAG_DONE, .word = entry->shape};
    if (!shape_hand_over(m, entry->shape, &value.number))
        return false;
    if (shape_of(m, entry->shape)->is_shared) {
        value.tag = FL_TAG_ITEM;
        if (entry->memo != MEMO_NOWHERE &&
            fl_memo_get(&m->memo, entry->memo).tag == FL_TAG_AGAIN + 1 &&
            !fl_pickle_memo_change(m, entry->memo, fl_memo_of(&value)))
            return false;
    }
    m->stack.items[entry->slot] = value;
    m->depth--;
    return true;
}

bool fl_shape_close_to(fl_pickle *m, size_t depth)
{
    while (m->depth > depth)
        if (!shape_close_top(m))
            return false;
    return true;
}

/* A list may have been taken for the value of a key that turns out to be a key of something that is
 * passed over: those that are shared leave no trace. */
bool fl_shape_drop(fl_pickle *m, size_t height)
{
    while (m->depth > 0 && m->path[m->depth - 1].slot >= height) {
        const fl_shape *shape = shape_of(m, m->path[m->depth - 1].shape);
        if (!shape->is_shared)
            return fl_pickle_fail(m, FL_ERR_INPUT, "%s in a place where none belongs", shape->what);
        if (!shape_close_top(m))
            return false;
    }
    m->stack.count = height;
    return true;
}

/* Opening. */

static bool shape_begin(fl_pickle *m, uint8_t shape, size_t slot)
{
    const fl_shape *of = shape_of(m, shape);
    m->path[m->depth] = (open_entry){shape, slot, MEMO_NOWHERE};
    m->stack.items[slot] = (fl_value){.tag = FL_TAG_OPEN, .number = (uint32_t)m->depth++};
    if (of->is_list && of->is_shared)
        m->items.count = 0;
    m->records[shape].has = 0;
    m->records[shape].is_whole = false;
    return of->open == NULL || fl_pickle_check(m, of->open(m->user, m->error));
}

typedef struct parent {
    size_t depth;  /* of the path up to it, or NO_PARENT */
    uint8_t shape; /* what it takes in this place */
} parent;

static parent parent_record(const fl_pickle *m, size_t depth)
{
    const fl_value *key = &m->stack.items[m->stack.count - 1];
    if (key->tag != FL_TAG_TEXT)
        return (parent){NO_PARENT, FL_SHAPE_NONE};
    return (parent){depth, child_shape(m, m->path[depth - 1].shape, key->word)};
}

static uint8_t root_shape(const fl_pickle *m, bool is_list)
{
    uint8_t root_list = m->schema->root_list;
    return is_list && root_list != FL_SHAPE_NONE ? root_list : m->schema->root;
}

/* The container that a new one will belong to.  A list on top of the stack takes what its elements
 * are like; a record below a key takes the key's value; else it is the one below the mark. */
static parent parent_find(const fl_pickle *m, bool is_list)
{
    if (m->depth == 0)
        return (parent){m->stack.count == 0 ? 0 : NO_PARENT, root_shape(m, is_list)};
    size_t height = m->stack.count, base = fl_pickle_base(m);
    const open_entry *top = &m->path[m->depth - 1];
    const fl_shape *top_shape = shape_of(m, top->shape);
    if (top_shape->is_list && top->slot + 1 == height &&
        shape_of(m, top_shape->element)->is_list == is_list)
        return (parent){m->depth, top_shape->element};
    size_t depth = m->depth;
    while (depth > 0 && m->path[depth - 1].slot + 1 > base)
        depth--;
    bool is_marked = base > 0 && depth > 0 && m->path[depth - 1].slot + 1 == base;
    bool in_list = is_marked && shape_of(m, m->path[depth - 1].shape)->is_list;
    bool below_key = !top_shape->is_list && top->slot + 2 == height && top->slot >= base &&
                     m->stack.items[height - 1].tag == FL_TAG_TEXT;
    if (below_key && (!is_marked || in_list))
        return parent_record(m, m->depth);
    if (in_list)
        return (parent){depth, shape_of(m, m->path[depth - 1].shape)->element};
    if (is_marked && (height - base) % 2 == 1)
        return parent_record(m, depth);
    return (parent){NO_PARENT, FL_SHAPE_NONE};
}

/* A record directly on top of another can only be the next in a list. */
static bool shape_is_followed(const fl_pickle *m)
{
    if (m->depth < 2)
        return false;
    const open_entry *top = &m->path[m->depth - 1];
    return top->slot + 1 == m->stack.count && top->slot >= fl_pickle_base(m) &&
           !shape_of(m, top->shape)->is_list && shape_of(m, top[-1].shape)->is_list;
}

bool fl_shape_has_sibling(const fl_pickle *m)
{
    return shape_is_followed(m) && !shape_of(m, m->path[m->depth - 1].shape)->is_shared;
}

bool fl_shape_next_sibling(fl_pickle *m)
{
    open_entry *top = &m->path[m->depth - 1];
    const fl_shape *of = shape_of(m, top->shape);
    uint32_t number;
    if (!shape_hand_over(m, top->shape, &number))
        return false;
    top->memo = MEMO_NOWHERE;
    m->records[top->shape].has = 0;
    m->records[top->shape].is_whole = false;
    return of->open == NULL || fl_pickle_check(m, of->open(m->user, m->error));
}

static bool shape_next_shared(fl_pickle *m)
{
    uint8_t shape = m->path[m->depth - 1].shape;
    if (!shape_close_top(m))
        return false;
    m->stack.count++;
    return shape_begin(m, shape, m->stack.count - 1);
}

static bool shape_open_at(fl_pickle *m, parent of, bool is_list)
{
    if (of.depth != NO_PARENT && of.shape != FL_SHAPE_NONE) {
        const fl_shape *shape = shape_of(m, of.shape);
        if (!fl_shape_close_to(m, of.depth))
            return false;
        if (shape->is_list != is_list && shape->is_loose)
            return fl_pickle_push(m, (fl_value){.tag = FL_TAG_OTHER});
        if (shape->is_list != is_list)
            return fl_pickle_fail(m, of.depth == 0 ? FL_ERR_UNAVAILABLE : FL_ERR_INPUT,
                                  "%s is a %s, expected a %s", shape->what,
                                  is_list ? "list" : "dictionary",
                                  shape->is_list ? "list" : "dictionary");
        m->stack.count++;
        return shape_begin(m, of.shape, m->stack.count - 1);
    }
    return fl_pickle_push(
        m, (fl_value){.tag = FL_TAG_OTHER, .number = FL_NONE, .word = is_list ? FL_LIST_EMPTY : 0});
}

bool fl_shape_open(fl_pickle *m, bool is_list)
{
    if (is_list || !shape_is_followed(m))
        return shape_open_at(m, parent_find(m, is_list), is_list);
    return fl_shape_has_sibling(m) ? fl_shape_next_sibling(m) : shape_next_shared(m);
}

/* Filling. */

/* Depth of the path up to the container at `slot`, with all beyond it closed; NO_PARENT for one
 * that is passed over. */
static bool container_at(fl_pickle *m, size_t slot, size_t *ret_depth)
{
    const fl_value *value = &m->stack.items[slot];
    *ret_depth = NO_PARENT;
    if (value->tag == FL_TAG_OTHER)
        return true;
    if (value->tag != FL_TAG_OPEN)
        return fl_pickle_fail(m, FL_ERR_INPUT, "expected a list or dictionary to fill, got %s",
                              fl_value_text(value));
    *ret_depth = (size_t)value->number + 1;
    return fl_shape_close_to(m, *ret_depth);
}

/* A list of two numbers is a pair, as a tuple of them is: some writers know no tuples. */
static bool list_note(fl_pickle *m, size_t slot, size_t first)
{
    fl_value list = m->stack.items[slot];
    uint32_t memo = list.number;
    if (list.tag == FL_TAG_PAIR)
        memo = FL_NONE;
    for (size_t i = first; i < m->stack.count; i++) {
        const fl_value *item = &m->stack.items[i];
        bool is_count = fl_value_is_count(item);
        if (is_count && list.tag == FL_TAG_OTHER && list.word == FL_LIST_EMPTY)
            list = (fl_value){
                .tag = FL_TAG_OTHER, .word = FL_LIST_OF_ONE, .number = memo, .bits = item->bits};
        else if (!is_count || list.tag != FL_TAG_OTHER || list.word != FL_LIST_OF_ONE)
            list = (fl_value){.tag = FL_TAG_OTHER};
        else if (!fl_pickle_keep_pair(m, list.bits, item->bits, &list))
            return false;
        if (list.tag == FL_TAG_PAIR)
            list.word = FL_LIST_OF_TWO;
    }
    m->stack.items[slot] = list;
    if (list.tag == FL_TAG_PAIR)
        return fl_pickle_memo_pair(m, memo, &list);
    return true;
}

bool fl_shape_append(fl_pickle *m, size_t container, size_t first)
{
    size_t depth;
    fl_value list = m->stack.items[container];
    if (list.tag == FL_TAG_OTHER || (list.tag == FL_TAG_PAIR && list.word == FL_LIST_OF_TWO))
        return list_note(m, container, first) && fl_shape_drop(m, first);
    if (!container_at(m, container, &depth))
        return false;
    assert(depth != NO_PARENT);
    const fl_shape *shape = shape_of(m, m->path[depth - 1].shape);
    if (!shape->is_list)
        return fl_pickle_fail(m, FL_ERR_INPUT, "expected keys and values for %s", shape->what);
    uint8_t tag = shape_of(m, shape->element)->is_shared ? FL_TAG_ITEM : FL_TAG_DONE;
    if (shape->is_shared &&
        !fl_vector_reserve(m->host, &m->items, m->stack.count - first, m->error))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    for (size_t i = first; i < m->stack.count; i++) {
        const fl_value *value = &m->stack.items[i];
        bool fits = value->tag == tag && value->word == shape->element;
        if (!fits && !shape->is_loose)
            return fl_pickle_fail(m, FL_ERR_INPUT, "%s holds %s, expected %s", shape->what,
                                  fl_value_text(value), shape_of(m, shape->element)->what);
        if (shape->is_shared)
            m->items.items[m->items.count++] = value->number;
    }
    m->stack.count = first;
    return true;
}

/* Tells once of a key that the schema does not know. */
static bool record_unknown_key(fl_pickle *m, const fl_value *key, uint8_t shape)
{
    if (shape_of(m, shape)->is_lenient || m->unknown_count == UNKNOWN_LIMIT)
        return true;
    for (size_t i = 0; i < m->unknown_count; i++)
        if (m->unknown[i].text == key->number && m->unknown[i].shape == shape)
            return true;
    m->unknown[m->unknown_count++] = (unknown_row){key->number, shape};
    size_t length;
    const char *text = fl_pickle_text(m, key, &length);
    return fl_pickle_check(
        m, m->schema->unknown_key(m->user, text, length, shape_of(m, shape)->what, m->error));
}

static bool record_misfit(fl_pickle *m, uint8_t shape, const fl_value *key, const fl_value *value,
                          uint8_t wanted)
{
    size_t length;
    const char *name = fl_pickle_text(m, key, &length);
    return fl_pickle_fail(m, FL_ERR_INPUT, "'%.*s' of %s is %s, expected %s",
                          length < 40 ? (int)length : 40, name, shape_of(m, shape)->what,
                          fl_value_text(value),
                          wanted == FL_SHAPE_NONE ? "plain data" : shape_of(m, wanted)->what);
}

static void record_put_loose(fl_record *record, const fl_value *key, const fl_value *value)
{
    if (key->tag != FL_TAG_TEXT || key->word == 0 || key->word >= FL_KEY_LIMIT)
        return;
    record->has |= UINT64_C(1) << key->word;
    record->values[key->word] = *value;
}

static bool record_put(fl_pickle *m, uint8_t shape, const fl_value *key, const fl_value *value)
{
    fl_record *record = &m->records[shape];
    if (shape_of(m, shape)->is_loose) {
        record_put_loose(record, key, value);
        return true;
    }
    if (key->tag != FL_TAG_TEXT)
        return fl_pickle_fail(m, FL_ERR_INPUT, "%s has %s for a key, expected a text",
                              shape_of(m, shape)->what, fl_value_text(key));
    bool is_known = key->word > 0 && key->word < FL_KEY_LIMIT;
    uint8_t wanted = child_shape(m, shape, key->word);
    bool has_shape = value->tag == FL_TAG_ITEM || value->tag == FL_TAG_DONE;
    bool fits = has_shape ? value->word == wanted || (value->tag == FL_TAG_ITEM && wanted == 0)
                          : wanted == FL_SHAPE_NONE || value->tag == FL_TAG_NONE;
    if (!fits && !shape_of(m, wanted)->is_loose)
        return record_misfit(m, shape, key, value, wanted);
    if (!is_known)
        return record_unknown_key(m, key, shape);
    uint64_t bit = UINT64_C(1) << key->word;
    if ((record->has & bit) != 0)
        return fl_pickle_fail(m, FL_ERR_INPUT, "%s has '%s' twice", shape_of(m, shape)->what,
                              m->schema->words[key->word]);
    record->has |= bit;
    record->values[key->word] = *value;
    return true;
}

bool fl_shape_set(fl_pickle *m, size_t container, size_t first, bool is_whole)
{
    size_t depth;
    if (!container_at(m, container, &depth))
        return false;
    if ((m->stack.count - first) % 2 != 0)
        return fl_pickle_fail(m, FL_ERR_INPUT, "a key without a value");
    if (depth == NO_PARENT)
        return fl_shape_drop(m, first);
    uint8_t shape = m->path[depth - 1].shape;
    if (shape_of(m, shape)->is_list)
        return fl_pickle_fail(m, FL_ERR_INPUT, "%s is a list, got keys and values",
                              shape_of(m, shape)->what);
    for (size_t i = first; i < m->stack.count; i += 2)
        if (!record_put(m, shape, &m->stack.items[i], &m->stack.items[i + 1]))
            return false;
    m->records[shape].is_whole = is_whole;
    m->stack.count = first;
    return true;
}
