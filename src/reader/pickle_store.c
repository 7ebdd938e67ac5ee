/* What the machine remembers: texts and pairs, one copy of each, and the memo. */
#include "reader/pickle_machine.h"

#include "trace/intern.h"

/* Texts. */

static bool text_same(const void *owner, uint32_t number, const void *item)
{
    const fl_pickle *m = owner;
    const text_row *known = &m->texts.items[number], *text = item;
    return known->length == text->length &&
           (text->length == 0 || memcmp(known->bytes, text->bytes, text->length) == 0);
}

static bool text_add(fl_pickle *m, text_row text, fl_interned found)
{
    if (m->texts.count >= FL_NONE)
        return fl_pickle_fail(m, FL_ERR_INPUT, "more than %u different texts", FL_NONE - 1);
    if (!fl_vector_reserve(m->host, &m->texts, 1, m->error))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    text.bytes = fl_arena_copy(m->host, &m->arena, text.bytes, text.length, m->error);
    if (text.bytes == NULL || (found.has_key && !fl_table_set(m->host, &m->text_numbers, found.key,
                                                              (uint32_t)m->texts.count, m->error)))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    m->texts.items[m->texts.count++] = text;
    return true;
}

static uint8_t word_find(const fl_schema *schema, const char *bytes, size_t length)
{
    for (size_t i = 1; i < schema->word_count; i++) {
        const char *word = schema->words[i];
        if (word != NULL && strlen(word) == length && memcmp(word, bytes, length) == 0)
            return (uint8_t)i;
    }
    return 0;
}

bool fl_pickle_keep_text(fl_pickle *m, const char *bytes, size_t length, fl_value *ret_value)
{
    text_row text = {bytes, (uint32_t)length, FL_NONE, 0};
    fl_interned found =
        fl_intern_find(&m->text_numbers, fl_hash_bytes(bytes, length), text_same, m, &text);
    uint32_t number = found.number;
    if (number == FL_TABLE_EMPTY) {
        number = (uint32_t)m->texts.count;
        text.word = word_find(m->schema, bytes, length);
        if (!text_add(m, text, found))
            return false;
    }
    m->last_text = number;
    *ret_value =
        (fl_value){.tag = FL_TAG_TEXT, .number = number, .word = m->texts.items[number].word};
    return true;
}

const char *fl_pickle_text(const fl_pickle *m, const fl_value *text, size_t *ret_length)
{
    const text_row *row = &m->texts.items[text->number];
    *ret_length = row->length;
    return row->bytes;
}

uint32_t *fl_pickle_text_number(fl_pickle *m, const fl_value *text)
{
    return &m->texts.items[text->number].number;
}

/* Pairs. */

static bool pair_same(const void *owner, uint32_t number, const void *item)
{
    const fl_pickle *m = owner;
    const pair_row *known = &m->pairs.items[number], *pair = item;
    return known->first == pair->first && known->second == pair->second;
}

bool fl_pickle_keep_pair(fl_pickle *m, uint64_t first, uint64_t second, fl_value *ret_value)
{
    pair_row pair = {first, second};
    uint64_t hash = fl_hash_word(fl_hash_word(0, first), second);
    fl_interned found = fl_intern_find(&m->pair_numbers, hash, pair_same, m, &pair);
    *ret_value = (fl_value){.tag = FL_TAG_PAIR, .number = found.number};
    if (found.number != FL_TABLE_EMPTY)
        return true;
    if (m->pairs.count >= FL_NONE)
        return fl_pickle_fail(m, FL_ERR_INPUT, "more than %u different pairs", FL_NONE - 1);
    ret_value->number = (uint32_t)m->pairs.count;
    if (!fl_vector_reserve(m->host, &m->pairs, 1, m->error) ||
        (found.has_key &&
         !fl_table_set(m->host, &m->pair_numbers, found.key, ret_value->number, m->error)))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    m->pairs.items[m->pairs.count++] = pair;
    return true;
}

void fl_pickle_pair(const fl_pickle *m, const fl_value *pair, uint64_t *ret_first,
                    uint64_t *ret_second)
{
    *ret_first = m->pairs.items[pair->number].first;
    *ret_second = m->pairs.items[pair->number].second;
}

/* The memo. */

static bool memo_add_unset(fl_pickle *m)
{
    if (!fl_memo_reserve(m->host, &m->memo, m->error))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    m->memo.open[m->memo.count++ - m->memo.first] = (memo_entry){.tag = MEMO_UNSET};
    return true;
}

bool fl_pickle_memo_change(fl_pickle *m, uint64_t index, memo_entry entry)
{
    return fl_memo_put(m->host, &m->memo, index, entry, m->error) ||
           fl_pickle_check(m, FL_ERR_RESOURCE);
}

bool fl_pickle_memo_put(fl_pickle *m, uint64_t index)
{
    if (m->stack.count == fl_pickle_base(m))
        return fl_pickle_fail(m, FL_ERR_INPUT, "expected a value to memoize on the stack");
    /* Each entry takes a byte at least, so an index beyond the bytes so far is no honest one. */
    if (index >= m->memo.count && index > fl_input_offset(m->input))
        return fl_pickle_fail(m, FL_ERR_INPUT, "memo index %llu is out of proportion",
                              (unsigned long long)index);
    if (index < m->memo.count) {
        m->layout.count = 0; /* it may have been a key's */
    } else {
        while (m->memo.count <= index)
            if (!memo_add_unset(m))
                return false;
    }
    fl_value *value = &m->stack.items[m->stack.count - 1];
    return fl_pickle_memo_change(m, index, fl_pickle_memoize(m, index, value));
}

bool fl_pickle_memo_pair(fl_pickle *m, uint32_t index, const fl_value *pair)
{
    if (index >= m->memo.count || fl_memo_get(&m->memo, index).tag != FL_TAG_OTHER + 1)
        return true;
    return fl_pickle_memo_change(m, index, fl_memo_of(pair));
}

bool fl_pickle_memo_get(fl_pickle *m, uint64_t index)
{
    if (index >= m->memo.count || fl_memo_get(&m->memo, index).tag == MEMO_UNSET)
        return fl_pickle_fail(m, FL_ERR_INPUT, "memo entry %llu was never set",
                              (unsigned long long)index);
    /* A shared container just filled gets its number now that it is wanted. */
    if (fl_memo_get(&m->memo, index).tag == FL_TAG_AGAIN + 1 && m->depth > 0 &&
        m->path[m->depth - 1].memo == index && !fl_shape_close_to(m, m->depth - 1))
        return false;
    memo_entry entry = fl_memo_get(&m->memo, index);
    fl_value value = {.tag = (uint8_t)(entry.tag - 1), .number = entry.number, .word = entry.word};
    if (value.tag == FL_TAG_INT || value.tag == FL_TAG_BOOL)
        value.bits = entry.number;
    return fl_pickle_push(m, value);
}

void fl_pickle_drop_store(fl_pickle *m)
{
    fl_vector_deinit(m->host, &m->stack);
    fl_vector_deinit(m->host, &m->marks);
    fl_memo_deinit(m->host, &m->memo);
    fl_vector_deinit(m->host, &m->items);
    fl_vector_deinit(m->host, &m->texts);
    fl_arena_deinit(m->host, &m->arena);
    fl_vector_deinit(m->host, &m->pairs);
    fl_vector_deinit(m->host, &m->scratch);
    fl_vector_deinit(m->host, &m->levels);
    fl_table_deinit(m->host, &m->text_numbers);
    fl_table_deinit(m->host, &m->pair_numbers);
}
