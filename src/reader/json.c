/* Snapshots written as JSON, for the machine that reads pickles.
 *
 * JSON describes the same dictionaries and lists; here each of its tokens becomes what the
 * instructions of a pickle do to the machine's stack, item by item as in protocol 0.  So the same
 * schema tells what matters, each record is handed over once it is complete, and memory stays what
 * it is for a pickle, at one byte for each level of nesting.  A list of two numbers stands for a
 * pair.
 *
 * Strict: what RFC 8259 does not allow is refused, but for what it leaves open: a text may hold
 * halves of surrogate pairs and bytes that are not UTF-8, which are cleaned when they are kept. */
#include "reader/json.h"

#include "reader/json_write.h"
#include "reader/pickle_machine.h"
#include "reader/snapshot.h"

#include <fraglab/units.h>

#include <string.h>

#define LEVEL_LIMIT 1000 /* deepest nesting */
#define TOKEN_LIMIT FL_INPUT_ROOM
#define ESCAPE_MOST 12 /* two halves of a surrogate pair */

/* Bytes. */

/* Makes `want` bytes lie at hand, or all there are; false where there is none. */
static bool json_need(fl_pickle *m, size_t want)
{
    fl_input *input = m->input;
    if ((size_t)(input->end - input->at) < want && !input->is_last) {
        m->status = fl_input_fill(input, want, m->error);
        if (m->status != FL_OK)
            return false;
    }
    return input->at < input->end || fl_pickle_cut(m);
}

static bool json_fail(fl_pickle *m, const char *expected)
{
    return fl_pickle_fail(m, FL_ERR_INPUT, "expected %s", expected);
}

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

/* Passes blanks over; the next byte is where a message points. */
static bool json_next(fl_pickle *m)
{
    do {
        if (!json_need(m, 1))
            return false;
        while (m->input->at < m->input->end && is_blank(*m->input->at))
            m->input->at++;
    } while (m->input->at == m->input->end);
    m->at_offset = fl_input_offset(m->input);
    return true;
}

static bool scratch_put(fl_pickle *m, const void *bytes, size_t size)
{
    if (m->scratch.count + size > TOKEN_LIMIT) {
        m->is_long = true;
        return true;
    }
    if (!fl_vector_reserve(m->host, &m->scratch, size, m->error))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    if (size > 0)
        memcpy(m->scratch.items + m->scratch.count, bytes, size);
    m->scratch.count += size;
    return true;
}

/* Texts. */

/* Four digits of base 16 at `at`, or -1. */
static int32_t unit_read(const uint8_t *at, size_t size)
{
    int32_t value = 0;
    if (size < 4)
        return -1;
    for (size_t i = 0; i < 4; i++) {
        int digit = fl_pickle_hex((char)at[i]);
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static bool escape_unit(fl_pickle *m)
{
    fl_input *input = m->input;
    size_t size = (size_t)(input->end - input->at);
    int32_t unit = unit_read(input->at + 2, size - 2);
    if (unit < 0)
        return json_fail(m, "four digits of base 16 behind \\u");
    size_t used = 6;
    bool is_high = unit >= 0xD800 && unit < 0xDC00;
    if (is_high && size >= ESCAPE_MOST && input->at[6] == '\\' && input->at[7] == 'u') {
        int32_t low = unit_read(input->at + 8, 4);
        if (low >= 0xDC00 && low < 0xE000) {
            unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
            used = ESCAPE_MOST;
        }
    }
    char bytes[4];
    size_t length = fl_pickle_utf8((uint32_t)unit, bytes);
    input->at += used;
    return scratch_put(m, bytes, length);
}

static bool escape_take(fl_pickle *m)
{
    static const char letters[] = "\"\\/bfnrt", characters[] = "\"\\/\b\f\n\r\t";
    fl_input *input = m->input;
    if (!json_need(m, ESCAPE_MOST))
        return false;
    size_t size = (size_t)(input->end - input->at);
    bool is_unit = size >= 2 && input->at[1] == 'u';
    if (size < (is_unit ? 6 : 2)) {
        input->at = input->end;
        return fl_pickle_cut(m);
    }
    if (is_unit)
        return escape_unit(m);
    const char *letter = input->at[1] != 0 ? strchr(letters, input->at[1]) : NULL;
    if (letter == NULL)
        return json_fail(m, "a known escape behind \\");
    input->at += 2;
    return scratch_put(m, &characters[letter - letters], 1);
}

/* The bytes of a text up to what is special. */
static bool plain_take(fl_pickle *m)
{
    const uint8_t *start = m->input->at, *at = start;
    while (at < m->input->end && *at != '"' && *at != '\\' && *at >= 0x20)
        at++;
    m->input->at = at;
    return scratch_put(m, start, (size_t)(at - start));
}

/* At the opening quote.  A text that is too long is no name of anything that matters. */
static bool json_text(fl_pickle *m)
{
    m->scratch.count = 0;
    m->is_long = false;
    m->input->at++;
    for (;;) {
        if (!json_need(m, 1) || !plain_take(m))
            return false;
        if (m->input->at == m->input->end)
            continue;
        m->at_offset = fl_input_offset(m->input);
        uint8_t byte = *m->input->at;
        if (byte == '"')
            break;
        if (byte != '\\')
            return json_fail(m, "no control character in a text");
        if (!escape_take(m))
            return false;
    }
    m->input->at++;
    fl_value value = {.tag = FL_TAG_OTHER};
    return (m->is_long || fl_pickle_keep_text(m, m->scratch.items, m->scratch.count, &value)) &&
           fl_pickle_push(m, value);
}

/* Numbers and words. */

/* How many digits there are at `at`. */
static size_t digits(const char *at, const char *end)
{
    size_t count = 0;
    while (at + count < end && at[count] >= '0' && at[count] <= '9')
        count++;
    return count;
}

/* -? digits, no leading zero, then fraction and exponent. */
static bool number_is_valid(const char *at, const char *end, bool *ret_whole)
{
    at += at < end && *at == '-';
    size_t count = digits(at, end);
    if (count == 0 || (count > 1 && *at == '0'))
        return false;
    at += count;
    *ret_whole = at == end;
    if (at < end && *at == '.') {
        count = digits(++at, end);
        at += count;
    }
    if (count > 0 && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        count = digits(at, end);
        at += count;
    }
    return count > 0 && at == end;
}

static bool is_token(uint8_t byte)
{
    bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
    return is_letter || (byte >= '0' && byte <= '9') || byte == '+' || byte == '-' || byte == '.';
}

static bool json_token(fl_pickle *m)
{
    m->scratch.count = 0;
    m->is_long = false;
    do {
        const uint8_t *start = m->input->at, *at = start;
        while (at < m->input->end && is_token(*at))
            at++;
        m->input->at = at;
        if (!scratch_put(m, start, (size_t)(at - start)) || !json_need(m, 1))
            return false;
    } while (is_token(*m->input->at));
    return true;
}

static bool token_is(const fl_pickle *m, const char *word)
{
    return m->scratch.count == strlen(word) &&
           memcmp(m->scratch.items, word, m->scratch.count) == 0;
}

static bool json_plain(fl_pickle *m)
{
    static const struct {
        const char *word;
        fl_value value;
    } words[] = {
        {"null", {.tag = FL_TAG_NONE}},
        {"true", {.tag = FL_TAG_BOOL, .bits = 1}},
        {"false", {.tag = FL_TAG_BOOL}},
    };
    if (!is_token(*m->input->at))
        return json_fail(m, "a value");
    if (!json_token(m))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (token_is(m, words[i].word))
            return fl_pickle_push(m, words[i].value);
    const char *at = m->scratch.items, *end = at + m->scratch.count;
    bool is_whole = false;
    if (m->is_long || !number_is_valid(at, end, &is_whole))
        return json_fail(m, "a value");
    fl_value value = {.tag = FL_TAG_REAL};
    if (is_whole && !fl_pickle_number(at, m->scratch.count, &value))
        return json_fail(m, "a number");
    double real = 0;
    if (!is_whole && fl_parse_real(at, m->scratch.count, &real))
        memcpy(&value.bits, &real, sizeof value.bits);
    return fl_pickle_push(m, value);
}

/* Containers. */

/* What may come next. */
typedef enum json_expects {
    EXPECT_VALUE,
    EXPECT_FIRST_VALUE, /* or the end of a list */
    EXPECT_KEY,
    EXPECT_FIRST_KEY, /* or the end of a dictionary */
    EXPECT_COLON,
    EXPECT_COMMA /* or an end */
} json_expects;

static uint8_t level(const fl_pickle *m)
{
    return m->levels.count > 0 ? (uint8_t)m->levels.items[m->levels.count - 1] : 0;
}

static bool json_begin(fl_pickle *m, uint8_t byte)
{
    if (m->levels.count == LEVEL_LIMIT)
        return fl_pickle_fail(m, FL_ERR_INPUT, "nested deeper than %d levels", LEVEL_LIMIT);
    if (!fl_vector_reserve(m->host, &m->levels, 1, m->error))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    m->levels.items[m->levels.count++] = (char)byte;
    m->input->at++;
    m->expects = byte == '[' ? EXPECT_FIRST_VALUE : EXPECT_FIRST_KEY;
    return fl_shape_open(m, byte == '[');
}

/* The value on top of the stack is complete: what holds it takes it. */
static bool json_value_end(fl_pickle *m)
{
    m->expects = EXPECT_COMMA;
    size_t height = m->stack.count;
    if (m->levels.count == 0)
        return fl_pickle_stop(m);
    if (level(m) == '[')
        return fl_shape_append(m, height - 2, height - 1);
    return fl_shape_set(m, height - 3, height - 2, false);
}

static bool json_value(fl_pickle *m)
{
    uint8_t byte = *m->input->at;
    if (byte == '{' || byte == '[')
        return json_begin(m, byte);
    return (byte == '"' ? json_text(m) : json_plain(m)) && json_value_end(m);
}

static bool json_end(fl_pickle *m)
{
    m->input->at++;
    m->levels.count--;
    return json_value_end(m);
}

static bool json_key(fl_pickle *m)
{
    if (*m->input->at != '"')
        return json_fail(m, "a key");
    m->expects = EXPECT_COLON;
    return json_text(m);
}

static bool json_comma(fl_pickle *m)
{
    uint8_t byte = *m->input->at;
    bool is_list = level(m) == '[';
    if (byte == (is_list ? ']' : '}'))
        return json_end(m);
    if (byte != ',')
        return json_fail(m, is_list ? "',' or ']'" : "',' or '}'");
    m->input->at++;
    m->expects = is_list ? EXPECT_VALUE : EXPECT_KEY;
    return true;
}

static bool json_colon(fl_pickle *m)
{
    if (*m->input->at != ':')
        return json_fail(m, "':'");
    m->input->at++;
    m->expects = EXPECT_VALUE;
    return true;
}

static bool json_step(fl_pickle *m)
{
    m->at = NULL;
    if (!json_next(m))
        return false;
    if (m->stack.count == m->stack.capacity && !fl_vector_reserve(m->host, &m->stack, 1, m->error))
        return fl_pickle_check(m, FL_ERR_RESOURCE);
    uint8_t byte = *m->input->at;
    switch ((json_expects)m->expects) {
    case EXPECT_FIRST_VALUE:
        return byte == ']' ? json_end(m) : json_value(m);
    case EXPECT_VALUE:
        return json_value(m);
    case EXPECT_FIRST_KEY:
        return byte == '}' ? json_end(m) : json_key(m);
    case EXPECT_KEY:
        return json_key(m);
    case EXPECT_COLON:
        return json_colon(m);
    case EXPECT_COMMA:
        return json_comma(m);
    }
    return false;
}

/* Blanks belong to the file, not to what lies behind it. */
static fl_status blanks_pass(fl_input *input, fl_error *error)
{
    fl_status status = FL_OK;
    do {
        status = fl_input_fill(input, 1, error);
        while (input->at < input->end && is_blank(*input->at))
            input->at++;
    } while (status == FL_OK && input->at == input->end && !input->is_last);
    return status;
}

fl_status fl_json_read(fl_input *input, const fl_schema *schema, void *user, bool *ret_cut,
                       fl_error *error)
{
    fl_status status = fl_pickle_run(input, schema, user, json_step, ret_cut, error);
    return status == FL_OK ? blanks_pass(input, error) : status;
}

/* Files in JSON are found by the probe of `snapshot`, which reads them in the same way. */
static bool json_probe(const uint8_t *head, size_t size)
{
    (void)head;
    (void)size;
    return false;
}

const fl_reader_ops fl_reader_json = {
    .name = "json",
    .summary = "snapshots as JSON, as the snapshot viewer takes them",
    .probe = json_probe,
    .read = fl_snapshot_read_json,
    .write = fl_json_write,
};
