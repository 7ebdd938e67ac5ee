/* Instructions of protocol 0, whose arguments are lines of text. */
#include "reader/pickle_machine.h"

#include <string.h>

/* Takes the argument up to its newline; it stays valid until the next instruction. */
static bool line_take(fl_pickle *m, const char **ret_line, size_t *ret_length)
{
    fl_input *input = m->input;
    for (;;) {
        size_t size = (size_t)(input->end - input->at);
        const uint8_t *newline = size > 0 ? memchr(input->at, '\n', size) : NULL;
        if (newline != NULL) {
            *ret_line = (const char *)input->at;
            *ret_length = (size_t)(newline - input->at);
            input->at = newline + 1;
            return true;
        }
        if (size >= FL_INPUT_ROOM)
            return fl_pickle_fail(m, FL_ERR_INPUT, "an argument of more than %d bytes",
                                  FL_INPUT_ROOM);
        if (input->is_last)
            return fl_pickle_cut(m);
        if (m->at != NULL)
            m->at_offset = input->offset_end - (uint64_t)(input->end - m->at);
        m->at = NULL;
        m->status = fl_input_fill(input, FL_INPUT_ROOM, m->error);
        if (m->status != FL_OK)
            return false;
    }
}

bool fl_pickle_number(const char *line, size_t length, fl_value *ret_value)
{
    bool is_negative = length > 0 && *line == '-';
    bool fits = true;
    uint64_t value = 0;
    if (length == is_negative)
        return false;
    for (size_t i = is_negative; i < length; i++) {
        if (line[i] < '0' || line[i] > '9')
            return false;
        unsigned digit = (unsigned)(line[i] - '0');
        fits = fits && value <= (UINT64_MAX - digit) / 10;
        value = value * 10 + digit;
    }
    fits = fits && (!is_negative || value <= (uint64_t)1 << 63);
    uint8_t tag = value > INT64_MAX && !is_negative ? FL_TAG_UINT : FL_TAG_INT;
    *ret_value =
        (fl_value){.tag = fits ? tag : FL_TAG_WIDE, .bits = is_negative ? 0 - value : value};
    return true;
}

static bool number_push(fl_pickle *m, const char *line, size_t length)
{
    fl_value value;
    if (!fl_pickle_number(line, length, &value))
        return fl_pickle_fail(m, FL_ERR_INPUT, "expected a number, got '%.*s'",
                              length < 40 ? (int)length : 40, line);
    return fl_pickle_push(m, value);
}

/* `01` and `00` are how true and false were written before they had instructions. */
bool fl_pickle_op_int(fl_pickle *m)
{
    const char *line;
    size_t length;
    if (!line_take(m, &line, &length))
        return false;
    if (length == 2 && line[0] == '0' && (line[1] == '0' || line[1] == '1'))
        return fl_pickle_push(m, (fl_value){.tag = FL_TAG_BOOL, .bits = line[1] == '1'});
    return number_push(m, line, length);
}

bool fl_pickle_op_long(fl_pickle *m)
{
    const char *line;
    size_t length;
    if (!line_take(m, &line, &length))
        return false;
    if (length > 0 && line[length - 1] == 'L')
        length--;
    return number_push(m, line, length);
}

bool fl_pickle_op_float(fl_pickle *m)
{
    const char *line;
    size_t length;
    return line_take(m, &line, &length) && fl_pickle_push(m, (fl_value){.tag = FL_TAG_REAL});
}

static bool index_take(fl_pickle *m, uint64_t *ret_index)
{
    const char *line;
    size_t length;
    if (!line_take(m, &line, &length))
        return false;
    fl_value value;
    if (!fl_pickle_number(line, length, &value) || value.tag != FL_TAG_INT ||
        (int64_t)value.bits < 0)
        return fl_pickle_fail(m, FL_ERR_INPUT, "expected a memo index, got '%.*s'",
                              length < 40 ? (int)length : 40, line);
    *ret_index = value.bits;
    return true;
}

bool fl_pickle_op_get(fl_pickle *m)
{
    uint64_t index = 0;
    return index_take(m, &index) && fl_pickle_memo_get(m, index);
}

bool fl_pickle_op_put(fl_pickle *m)
{
    uint64_t index = 0;
    return index_take(m, &index) && fl_pickle_memo_put(m, index);
}

int fl_pickle_hex(char c)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    if (at == NULL)
        return -1;
    return (int)(at - digits) < 16 ? (int)(at - digits) : (int)(at - digits) - 6;
}

/* `\uXXXX` or `\UXXXXXXXX`; any other byte is a character of Latin-1. */
static size_t escape_read(const char *at, size_t size, uint32_t *ret_character)
{
    *ret_character = (unsigned char)*at;
    size_t digits = 0;
    if (size >= 2 && *at == '\\')
        digits = at[1] == 'u' ? 4 : at[1] == 'U' ? 8 : 0;
    if (digits == 0 || size < digits + 2)
        return 1;
    uint32_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        int digit = fl_pickle_hex(at[2 + i]);
        if (digit < 0)
            return 1;
        value = value << 4 | (uint32_t)digit;
    }
    *ret_character = value;
    return digits + 2;
}

/* At most 4 bytes; what is no character is written as the bytes it would have, and is cleaned when
 * it is kept as a text of the trace. */
size_t fl_pickle_utf8(uint32_t character, char *bytes)
{
    static const uint8_t marks[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
    size_t length = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; character >>= 6)
        bytes[i] = (char)(0x80 | (character & 0x3F));
    bytes[0] = (char)(marks[length] | (character & 0xFF));
    return length;
}

bool fl_pickle_op_unicode(fl_pickle *m)
{
    const char *line;
    size_t length = 0;
    if (!line_take(m, &line, &length))
        return false;
    m->scratch.count = 0;
    if (!fl_vector_reserve(m->host, &m->scratch, 4 * length, m->error))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    for (size_t i = 0; i < length;) {
        uint32_t character;
        i += escape_read(line + i, length - i, &character);
        m->scratch.count += fl_pickle_utf8(character, m->scratch.items + m->scratch.count);
    }
    fl_value value;
    return fl_pickle_keep_text(m, m->scratch.items, m->scratch.count, &value) &&
           fl_pickle_push(m, value);
}
