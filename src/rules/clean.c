#include "rules/clean.h"

#include <string.h>

#define DROPPED (-1)

/* What stands for one character, or for none. */
static const struct {
    const char *text;
    int stands_for;
} written[] = {
    {"&nbsp;", ' '},
    {"&#160;", ' '},
    {"&gt;", '>'},
    {"&lt;", '<'},
    {"&amp;", '&'},
    {"&quot;", '"'},
    {"&#34;", '"'},
    {"&#39;", '\''},
    {"&apos;", '\''},
    {"&#x27;", '\''},
    {"&#10;", '\n'},
    {"&#13;", '\n'},
    {"&#xA;", '\n'},
    {"<br>", '\n'},
    {"<br/>", '\n'},
    {"<br />", '\n'},
    {"</p>", '\n'},
    {"</div>", '\n'},
    {"</td>", ' '},
    {"\xC2\xA0", ' '},
    {"\xE2\x80\xAF", ' '},
    {"\xE2\x80\x89", ' '},
    {"\xE2\x80\x8B", DROPPED},
    {"\xEF\xBB\xBF", DROPPED},
    {"\\u00a0", ' '},
    {"\\xa0", ' '},
    {"\\u003e", '>'},
    {"\\u003c", '<'},
    {"\\u0026", '&'},
    {"\\u0027", '\''},
    {"\\u0022", '"'},
    {"\\u0000", '\0'},
    {"\\x00", '\0'},
    {"^@", '\0'},
};

/* How a colour begins: the escape character, and what it is written as. */
static const char *const escapes[] = {"\x1B",  "\\u001b", "\\u001B", "\\x1b",
                                      "\\x1B", "\\033",   "\\e",     "^["};

typedef struct piece {
    size_t taken;
    int gives; /* a byte, or DROPPED */
} piece;

static bool begins(const char *at, size_t left, const char *text, size_t *ret_length)
{
    size_t length = strlen(text);
    if (length > left || memcmp(at, text, length) != 0)
        return false;
    *ret_length = length;
    return true;
}

static bool take_written(const char *at, size_t left, piece *ret)
{
    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        if (begins(at, left, written[i].text, &ret->taken)) {
            ret->gives = written[i].stands_for;
            return true;
        }
    }
    return false;
}

/* `ESC [ 1 ; 31 m`, and `ESC ] ... BEL` around links. */
static bool take_escape(const char *at, size_t left, piece *ret)
{
    size_t length = 0;
    for (size_t i = 0; length == 0; i++) {
        if (i == sizeof escapes / sizeof *escapes)
            return false;
        begins(at, left, escapes[i], &length);
    }
    if (length < left && at[length] == '[') {
        size_t end = length + 1;
        while (end < left && end < length + 32 && (at[end] < '@' || at[end] > '~'))
            end++;
        *ret = (piece){end < left ? end + 1 : end, DROPPED};
        return true;
    }
    if (length < left && at[length] == ']') {
        const char *bell = memchr(at, '\a', left < 512 ? left : 512);
        *ret = (piece){bell != NULL ? (size_t)(bell - at) + 1 : length + 1, DROPPED};
        return true;
    }
    if (*at != '\x1B')
        return false;
    *ret = (piece){length, DROPPED};
    return true;
}

/* `\n` and the like, however often it was escaped again. */
static bool take_backslash(const char *at, size_t left, piece *ret)
{
    size_t slashes = 0;
    while (slashes < left && at[slashes] == '\\')
        slashes++;
    if (slashes == 0 || slashes == left)
        return false;
    char letter = at[slashes];
    if (letter != 'n' && letter != 'r' && letter != 't' && letter != '"' && letter != '\'')
        return false;
    int gives = letter == '"' || letter == '\'' ? letter : letter == 't' ? ' ' : '\n';
    *ret = (piece){slashes + 1, gives};
    return true;
}

/* `<span class="...">` and its end. */
static bool take_tag(const char *at, size_t left, piece *ret)
{
    if (left < 3 || *at != '<')
        return false;
    char second = at[1] == '/' ? at[2] : at[1];
    bool is_letter = (second >= 'a' && second <= 'z') || (second >= 'A' && second <= 'Z');
    for (size_t i = 1; is_letter && i < left && i < 200; i++) {
        if (at[i] == '<' || at[i] == '\n')
            return false;
        if (at[i] == '>') {
            *ret = (piece){i + 1, DROPPED};
            return true;
        }
    }
    return false;
}

/* Lines and blocks as terminals draw frames (U+2500 to U+259F). */
static bool take_frame(const char *at, size_t left, piece *ret)
{
    if (left < 3 || memcmp(at, "\xE2", 1) != 0 || at[1] < '\x94' || at[1] > '\x96')
        return false;
    *ret = (piece){3, ' '};
    return true;
}

static piece take(const char *at, size_t left)
{
    static const char special[] = "\x1B\\^&<\xC2\xE2\xEF"; /* what the rows above begin with */
    piece one = {1, (unsigned char)*at};
    if (*at == '\t' || *at == '\v' || *at == '\f')
        one.gives = ' ';
    else if (*at == '\r')
        one.gives = '\n';
    if (*at != '\0' && strchr(special, *at) != NULL)
        (void)(take_escape(at, left, &one) || take_written(at, left, &one) ||
               take_backslash(at, left, &one) || take_tag(at, left, &one) ||
               take_frame(at, left, &one));
    return one;
}

void fl_clean_start(fl_clean *clean, const char *raw, size_t size)
{
    clean->raw = raw;
    clean->raw_size = size < FL_CLEAN_MOST ? size : FL_CLEAN_MOST;
    clean->raw_at = 0;
    clean->count = 0;
}

bool fl_clean_more(fl_clean *clean)
{
    while (clean->raw_at < clean->raw_size) {
        piece one = take(clean->raw + clean->raw_at, clean->raw_size - clean->raw_at);
        size_t origin = clean->raw_at;
        clean->raw_at += one.taken;
        if (one.gives == DROPPED)
            continue;
        char *last = clean->count > 0 ? &clean->bytes[clean->count - 1] : NULL;
        bool is_blank = one.gives == ' ' || one.gives == '\n';
        if (is_blank && last != NULL && (*last == ' ' || *last == '\n')) {
            if (one.gives == '\n')
                *last = '\n';
            continue;
        }
        clean->bytes[clean->count] = (char)one.gives;
        clean->origin[clean->count++] = (uint32_t)origin;
        if (!is_blank)
            return true;
    }
    return false;
}

size_t fl_clean_origin(const fl_clean *clean, size_t at)
{
    return at < clean->count ? clean->origin[at] : clean->raw_at;
}
