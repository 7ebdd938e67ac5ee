/* The grammar of operations: a row for each letter, and a row for each key. */
#include "reader/script_line.h"

#include "trace/build.h"

#include <fraglab/units.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Fields: i id, b bytes, A address, n bytes that were asked for, s stream, w what is reset, p pool,
 * x fraction, T text to the end of the line.  Those behind
 * `?` may be left out. */
typedef struct script_row {
    char letter;
    uint8_t kind;
    const char *fields;
    const char *usage;
} script_row;

static const script_row rows[] = {
    {'a', FL_OP_ALLOC, "ib?s", "a ID BYTES [STREAM]"},
    {'f', FL_OP_FREE, "i", "f ID"},
    {'r', FL_OP_USE, "is", "r ID STREAM"},
    {'p', FL_OP_EVENTS_HOLD, "", "p"},
    {'c', FL_OP_EVENTS_COMPLETE, "", "c"},
    {'e', FL_OP_TRIM, "?p", "e [POOL]"},
    {'F', FL_OP_LIMIT, "x", "F FRACTION"},
    {'b', FL_OP_SCOPE_BEGIN, "p", "b POOL"},
    {'q', FL_OP_SCOPE_END, "p", "q POOL"},
    {'x', FL_OP_POOL_RELEASE, "p", "x POOL"},
    {'s', FL_OP_SHOW_SEGMENTS, "", "s"},
    {'t', FL_OP_SHOW_COUNTERS, "", "t"},
    {'z', FL_OP_RESET_PEAKS, "w", "z peak|accumulated"},
    {'d', FL_OP_FREE_DONE, "i", "d ID"},
    {'C', FL_OP_CONFIGURE, "T", "C TEXT"},
    {'o', FL_OP_OUTSIDE, "b", "o BYTES"},
    {'m', FL_OP_MARK, "T", "m TEXT"},
    {'S', FL_SCRIPT_SEGMENT, "Abs", "S ADDRESS BYTES STREAM"},
    {'B', FL_SCRIPT_BLOCK, "iAbn", "B ID ADDRESS BYTES REQUESTED"},
};

#define ROW_COUNT (sizeof rows / sizeof *rows)

static const script_row *row_find(char letter)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (rows[i].letter == letter)
            return &rows[i];
    return NULL;
}

bool fl_script_is_letter(char letter)
{
    return row_find(letter) != NULL;
}

/* Pieces. */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

void fl_piece_blanks(fl_piece *piece)
{
    while (piece->length > 0 && is_blank(*piece->at)) {
        piece->at++;
        piece->length--;
    }
}

void fl_piece_trim(fl_piece *piece)
{
    fl_piece_blanks(piece);
    while (piece->length > 0 && is_blank(piece->at[piece->length - 1]))
        piece->length--;
}

bool fl_piece_starts(fl_piece piece, const char *start)
{
    size_t length = strlen(start);
    return piece.length >= length && memcmp(piece.at, start, length) == 0;
}

bool fl_piece_is(fl_piece piece, const char *word)
{
    return piece.length == strlen(word) && fl_piece_starts(piece, word);
}

bool fl_piece_skip(fl_piece *piece, const char *start)
{
    if (!fl_piece_starts(*piece, start))
        return false;
    piece->at += strlen(start);
    piece->length -= strlen(start);
    return true;
}

bool fl_piece_word(fl_piece *piece, fl_piece *ret_word)
{
    fl_piece_blanks(piece);
    size_t length = 0;
    while (length < piece->length && !is_blank(piece->at[length]))
        length++;
    if (length == 0)
        return false;
    *ret_word = (fl_piece){piece->at, length};
    piece->at += length;
    piece->length -= length;
    return true;
}

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 99;
}

bool fl_piece_number(fl_piece piece, uint64_t *ret)
{
    unsigned base = fl_piece_skip(&piece, "0x") ? 16 : 10;
    uint64_t value = 0;
    for (size_t i = 0; i < piece.length; i++) {
        unsigned digit = digit_value(piece.at[i]);
        if (digit >= base || value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
    }
    if (piece.length > 0)
        *ret = value;
    return piece.length > 0;
}

/* Fields. */

static bool take_id(fl_script_line *line, fl_piece word)
{
    line->has_id = true;
    return fl_piece_number(word, &line->id);
}

static bool take_bytes(fl_script_line *line, fl_piece word)
{
    return fl_parse_size(word.at, word.length, &line->event.size);
}

static bool take_stream(fl_script_line *line, fl_piece word)
{
    line->has_stream = true;
    return fl_piece_number(word, &line->stream);
}

static bool take_address(fl_script_line *line, fl_piece word)
{
    return fl_piece_number(word, &line->event.address);
}

static bool take_requested(fl_script_line *line, fl_piece word)
{
    return fl_parse_size(word.at, word.length, &line->requested);
}

/* N means {0, N}. */
static bool take_pool(fl_script_line *line, fl_piece word)
{
    const char *dot = memchr(word.at, '.', word.length);
    size_t before = dot != NULL ? (size_t)(dot - word.at) : 0;
    fl_piece first = {word.at, before};
    fl_piece second = {word.at + before, word.length - before};
    line->has_pool = true;
    line->pool = (fl_pool_name){0, 0};
    if (dot != NULL && (!fl_piece_number(first, &line->pool.first) || !fl_piece_skip(&second, ".")))
        return false;
    return fl_piece_number(second, &line->pool.second);
}

static bool take_reset(fl_script_line *line, fl_piece word)
{
    bool is_sums = fl_piece_is(word, "accumulated");
    line->event.kind = is_sums ? FL_OP_RESET_SUMS : FL_OP_RESET_PEAKS;
    return is_sums || fl_piece_is(word, "peak");
}

/* A number alone is a fraction; with a unit it is a limit whatever the card has. */
static bool take_limit(fl_script_line *line, fl_piece word)
{
    if (fl_parse_real(word.at, word.length, &line->event.fraction))
        return line->event.fraction <= 1;
    line->event.flags |= FL_OP_BYTES;
    return strchr("BbKkMmGgTt", word.at[word.length - 1]) != NULL &&
           fl_parse_size(word.at, word.length, &line->event.size);
}

typedef struct field_row {
    char letter;
    const char *what;
    bool (*take)(fl_script_line *line, fl_piece word);
} field_row;

static const field_row field_rows[] = {
    {'i', "an id (a number)", take_id},
    {'b', "a size", take_bytes},
    {'A', "an address", take_address},
    {'n', "a size", take_requested},
    {'s', "a stream (a number)", take_stream},
    {'p', "a pool (N or K.N)", take_pool},
    {'x', "a fraction from 0 to 1, or bytes with their unit", take_limit},
    {'w', "peak or accumulated", take_reset},
};

static const field_row *field_find(char letter)
{
    size_t i = 0;
    while (field_rows[i].letter != letter)
        i++;
    return &field_rows[i];
}

/* Keys. */

static bool take_device(fl_script_line *line, fl_piece word)
{
    return fl_piece_number(word, &line->device) && line->device <= FL_TRACE_MAX_DEVICE;
}

static bool take_time(fl_script_line *line, fl_piece word)
{
    bool is_negative = fl_piece_skip(&word, "-");
    uint64_t value;
    if (!fl_piece_number(word, &value) || value > INT64_MAX)
        return false;
    line->event.time_us = is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}

static bool take_stack(fl_script_line *line, fl_piece word)
{
    uint64_t number;
    line->stack = word;
    return fl_piece_number(word, &number);
}

static bool take_bool(fl_piece word, bool *ret)
{
    *ret = word.length == 1 && *word.at == '1';
    return *ret || (word.length == 1 && *word.at == '0');
}

static bool take_flag(fl_script_line *line, fl_piece word, uint8_t flag)
{
    bool is_on;
    bool is_bool = take_bool(word, &is_on);
    if (is_on)
        line->event.flags |= flag;
    return is_bool;
}

static bool take_small(fl_script_line *line, fl_piece word)
{
    return take_bool(word, &line->is_small);
}

static bool take_pending(fl_script_line *line, fl_piece word)
{
    return take_bool(word, &line->is_pending);
}

static bool take_base(fl_script_line *line, fl_piece word)
{
    return fl_piece_number(word, &line->range_base);
}

static bool take_page(fl_script_line *line, fl_piece word)
{
    return fl_parse_size(word.at, word.length, &line->page) && line->page > 0;
}

/* 0 cannot be told from no address, and no memory lies there. */
static bool take_at(fl_script_line *line, fl_piece word)
{
    line->event.flags |= FL_OP_AT;
    return fl_piece_number(word, &line->event.address) && line->event.address != 0;
}

static bool take_held(fl_script_line *line, fl_piece word)
{
    return take_flag(line, word, FL_OP_HELD);
}

static bool take_inferred(fl_script_line *line, fl_piece word)
{
    return take_flag(line, word, FL_OP_INFERRED);
}

static bool take_capture(fl_script_line *line, fl_piece word)
{
    return take_flag(line, word, FL_OP_CAPTURE);
}

static bool take_no_split(fl_script_line *line, fl_piece word)
{
    return take_flag(line, word, FL_OP_NO_SPLIT);
}

static bool take_use_on_oom(fl_script_line *line, fl_piece word)
{
    return take_flag(line, word, FL_OP_USE_ON_OOM);
}

typedef struct key_row {
    const char *start; /* the key and its sign */
    uint8_t kind;      /* only with this operation; FL_OP_NONE: with any */
    const char *what;
    bool (*take)(fl_script_line *line, fl_piece word);
} key_row;

static const key_row key_rows[] = {
    {"dev=", FL_OP_NONE, "a device number up to 255", take_device},
    {"t=", FL_OP_NONE, "a time in microseconds", take_time},
    {"stack=", FL_OP_NONE, "a stack number", take_stack},
    {"at=", FL_OP_ALLOC, "an address", take_at},
    {"held=", FL_OP_FREE, "0 or 1", take_held},
    {"inferred=", FL_OP_LIMIT, "0 or 1", take_inferred},
    {"inferred=", FL_OP_CONFIGURE, "0 or 1", take_inferred},
    {"stream=", FL_OP_SCOPE_BEGIN, "a stream (a number)", take_stream},
    {"capture=", FL_OP_SCOPE_BEGIN, "0 or 1", take_capture},
    {"nosplit=", FL_OP_SCOPE_BEGIN, "0 or 1", take_no_split},
    {"use_on_oom=", FL_OP_SCOPE_BEGIN, "0 or 1", take_use_on_oom},
    {"small=", FL_SCRIPT_SEGMENT, "0 or 1", take_small},
    {"pool=", FL_SCRIPT_SEGMENT, "a pool (N or K.N)", take_pool},
    {"base=", FL_SCRIPT_SEGMENT, "an address", take_base},
    {"page=", FL_SCRIPT_SEGMENT, "a size", take_page},
    {"pending=", FL_SCRIPT_BLOCK, "0 or 1", take_pending},
};

/* The key that a part starts with; on success the part is left with its value. */
static const key_row *key_find(uint8_t kind, fl_piece *part)
{
    for (size_t i = 0; i < sizeof key_rows / sizeof *key_rows; i++) {
        const key_row *row = &key_rows[i];
        if ((row->kind == FL_OP_NONE || row->kind == kind) && fl_piece_skip(part, row->start))
            return row;
    }
    return NULL;
}

bool fl_script_next_unknown(const fl_script_line *line, fl_piece *rest, fl_piece *ret_part)
{
    fl_piece word;
    while (fl_piece_word(rest, &word)) {
        fl_piece part = word;
        if (key_find(line->event.kind, &part) != NULL)
            continue;
        *ret_part = word;
        return true;
    }
    return false;
}

bool fl_script_is_unknown(uint8_t kind, fl_piece parts)
{
    fl_piece word;
    while (fl_piece_word(&parts, &word)) {
        fl_piece part = word;
        if (memchr(word.at, '=', word.length) == NULL || key_find(kind, &part) != NULL)
            return false;
        for (size_t i = 0; i < word.length; i++)
            if ((unsigned char)word.at[i] < ' ')
                return false;
    }
    return !fl_kind_has_text(kind);
}

/* Lines. */

typedef struct complaint {
    char *text;
    size_t size;
} complaint;

static bool complain(complaint why, const char *format, ...) FL_PRINTF(2, 3);

/* Quoted text may hold anything; what does not print becomes `?`. */
static bool complain(complaint why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why.text, why.size, format, args);
    va_end(args);
    for (char *c = why.text; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            *c = '?';
    return false;
}

#define QUOTED_MOST 40

static int quoted(fl_piece piece)
{
    return piece.length < QUOTED_MOST ? (int)piece.length : QUOTED_MOST;
}

static bool parse_parts(fl_script_line *line, complaint why)
{
    fl_piece rest = line->parts, word;
    while (fl_piece_word(&rest, &word)) {
        if (memchr(word.at, '=', word.length) == NULL)
            return complain(why, "'%.*s' behind a part key=value", quoted(word), word.at);
        fl_piece value = word;
        const key_row *row = key_find(line->event.kind, &value);
        line->has_unknown |= row == NULL;
        if (row != NULL && !row->take(line, value))
            return complain(why, "expected %s%s, got '%.*s'", row->start, row->what, quoted(value),
                            value.at);
    }
    return true;
}

/* Text runs to the end of the line, but for the parts at its end that every line may carry. */
static void parse_text(fl_script_line *line, fl_piece rest)
{
    for (;;) {
        fl_piece_trim(&rest);
        size_t start = rest.length;
        while (start > 0 && !is_blank(rest.at[start - 1]))
            start--;
        fl_piece value = {rest.at + start, rest.length - start};
        fl_script_line taken = *line;
        const key_row *row = key_find(line->event.kind, &value);
        if (row == NULL || !row->take(&taken, value))
            break;
        *line = taken;
        rest.length = start;
    }
    line->text = rest;
}

static bool parse_fields(const script_row *row, fl_script_line *line, fl_piece rest, complaint why)
{
    bool may_end = false;
    for (const char *field = row->fields; *field != '\0'; field++) {
        if (*field == '?') {
            may_end = true;
            continue;
        }
        fl_piece before = rest, word;
        bool has_word = fl_piece_word(&rest, &word) && memchr(word.at, '=', word.length) == NULL;
        if (!has_word)
            rest = before;
        if (!has_word && may_end)
            break;
        const field_row *kind = field_find(*field);
        if (!has_word)
            return complain(why, "expected '%s': %s is missing", row->usage, kind->what);
        if (!kind->take(line, word))
            return complain(why, "expected %s, got '%.*s'", kind->what, quoted(word), word.at);
    }
    fl_piece_blanks(&rest);
    line->parts = rest;
    fl_piece word;
    if (fl_piece_word(&rest, &word) && memchr(word.at, '=', word.length) == NULL)
        return complain(why, "expected '%s', got '%.*s' behind it", row->usage, quoted(word),
                        word.at);
    return parse_parts(line, why);
}

/* What a row asks for beyond its fields. */
static bool parse_finish(const script_row *row, fl_script_line *line, complaint why)
{
    if (row->kind == FL_OP_ALLOC && !line->has_stream)
        line->has_stream = true; /* the default stream, 0 */
    if (row->kind == FL_SCRIPT_SEGMENT && line->page > 0 && line->range_base > line->event.address)
        return complain(why, "the base of a segment lies above it");
    bool is_default = line->has_pool && line->pool.first == 0 && line->pool.second == 0;
    if (is_default && row->kind != FL_OP_TRIM && row->kind != FL_SCRIPT_SEGMENT)
        return complain(why, "pool 0 is the default pool: '%c' does not apply to it", row->letter);
    return true;
}

bool fl_script_parse(fl_piece text, fl_script_line *ret_line, char *why, size_t why_size)
{
    complaint reason = {why, why_size};
    fl_piece rest = text, word = text;
    fl_piece_word(&rest, &word);
    const script_row *row = word.length == 1 ? row_find(*word.at) : NULL;
    if (row == NULL)
        return complain(reason, "unknown operation '%.*s'", quoted(word), word.at);
    *ret_line = (fl_script_line){
        .event =
            {
                .kind = row->kind,
                .id = FL_NONE,
                .stream = FL_NONE,
                .pool = FL_NONE,
                .text = FL_NONE,
                .stack = FL_NONE,
                .time_us = FL_TIME_UNKNOWN,
            },
    };
    if (*row->fields == 'T') {
        parse_text(ret_line, rest);
        return true;
    }
    return parse_fields(row, ret_line, rest, reason) && parse_finish(row, ret_line, reason);
}
