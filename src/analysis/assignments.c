#include "analysis/assignments.h"

#include <fraglab/settings.h>

#include <string.h>

typedef struct scan {
    const fl_host *host;
    struct fl_assignments *assignments;
    const char *begin, *at;
    char *values; /* where the next one goes */
    uint64_t line;
    fl_error *error;
} scan;

static const char blanks[] = " \t";
static const char ends_of_words[] = " \t\r\n;&|)<>`";

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* The variable whose name stands at `at`, as a word; SIZE_MAX: none. */
static size_t name_at(const char *begin, const char *at)
{
    if (at > begin && is_word(at[-1]))
        return SIZE_MAX;
    const char *name;
    for (size_t i = 0; (name = fl_settings_variable(i)) != NULL; i++) {
        size_t length = strlen(name);
        if (strncmp(at, name, length) == 0 && !is_word(at[length]))
            return i;
    }
    return SIZE_MAX;
}

bool fl_assignments_name_one(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if (name_at(text, at) != SIZE_MAX)
            return true;
    return false;
}

/* ---- what stands before and behind a name ---------------------------------------------------- */

static const char *line_begin(const scan *s, const char *at)
{
    while (at > s->begin && at[-1] != '\n')
        at--;
    return at + strspn(at, blanks);
}

static bool is_comment(const scan *s, const char *name)
{
    return *line_begin(s, name) == '#';
}

/* `NAME: VALUE` of a list, which may begin with `- `. */
static bool begins_line(const scan *s, const char *name)
{
    const char *begin = line_begin(s, name);
    if (begin[0] == '-' && begin[1] == ' ')
        begin += 1 + strspn(begin + 1, blanks);
    return begin == name;
}

static bool follows_word(const scan *s, const char *name, const char *word)
{
    const char *begin = line_begin(s, name);
    size_t length = strlen(word);
    return strncmp(begin, word, length) == 0 && strspn(begin + length, blanks) > 0 &&
           begin + length + strspn(begin + length, blanks) == name;
}

/* What of a name's surroundings decides. */
typedef enum form_kind { FORM_NONE, FORM_SHELL, FORM_CODE } form_kind;

/* A name in quotes: an item of a dictionary, or an argument of a call. */
static form_kind quoted_form(const char **at)
{
    const char *next = *at + 1 + strspn(*at + 1, blanks);
    if (*next == ']')
        next += 1 + strspn(next + 1, blanks);
    bool gives = (*next == '=' && next[1] != '=') || *next == ',' || *next == ':';
    *at = next + gives;
    return gives ? FORM_CODE : FORM_NONE;
}

/* Moves on to the value. */
static form_kind form_of(const scan *s, const char *name, const char **at)
{
    char before = name > s->begin ? name[-1] : '\n';
    if (before == '$' || (before == '{' && name - 1 > s->begin && name[-2] == '$'))
        return FORM_NONE;
    if (is_quote(before) && **at == before)
        return quoted_form(at);
    const char *next = *at + strspn(*at, blanks);
    bool gives = (*next == '=' && next[1] != '=') || (*next == ':' && begins_line(s, name));
    if (!gives && next > *at && (follows_word(s, name, "ENV") || follows_word(s, name, "setenv"))) {
        *at = next;
        return FORM_SHELL;
    }
    *at = next + gives;
    return gives ? FORM_SHELL : FORM_NONE;
}

/* ---- values ---------------------------------------------------------------------------------- */

typedef struct value {
    const char *from;
    char *to;
    bool is_shell; /* `$` and backquotes stand for something, words may be put together */
    bool is_incomplete, needs_quotes;
} value;

static void value_take(value *v)
{
    *v->to++ = *v->from++;
}

/* What `\` stands before; a line that it ends goes on. */
static void value_take_escaped(value *v)
{
    v->from++;
    if (*v->from == '\n')
        v->from++;
    else if (*v->from != '\0')
        value_take(v);
}

/* To the closing quote. */
static void value_take_quoted(value *v)
{
    char quote = *v->from++;
    bool has_escapes = quote == '"' || !v->is_shell;
    while (*v->from != '\0' && *v->from != quote) {
        if (has_escapes && *v->from == '\\') {
            value_take_escaped(v);
            continue;
        }
        v->is_incomplete |= v->is_shell && quote == '"' && (*v->from == '$' || *v->from == '`');
        value_take(v);
    }
    v->is_incomplete |= *v->from == '\0';
    v->from += *v->from != '\0';
}

static bool is_rest(const value *v)
{
    return v->from[0] == '>' && v->from[1] == ':';
}

/* A word of a shell: quoted and other pieces, one behind the other.  `>:` of a list of divisions
 * belongs to it, though not for a shell. */
static void value_take_word(value *v)
{
    while (*v->from != '\0' && (strchr(ends_of_words, *v->from) == NULL || is_rest(v))) {
        v->is_incomplete |= *v->from == '$';
        v->needs_quotes |= *v->from == '>';
        if (is_quote(*v->from))
            value_take_quoted(v);
        else if (*v->from == '\\')
            value_take_escaped(v);
        else
            value_take(v);
    }
    v->is_incomplete |= *v->from == '`';
}

/* Text in quotes, which a letter may precede; anything else is computed. */
static void value_take_text(value *v)
{
    v->from += *v->from != '\0' && strchr("rbfu", *v->from) != NULL && is_quote(v->from[1]);
    if (is_quote(*v->from))
        value_take_quoted(v);
    else
        v->is_incomplete = true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void count_lines(scan *s, const char *to)
{
    for (; s->at < to; s->at++)
        s->line += *s->at == '\n';
}

static fl_status take_value(scan *s, size_t variable, form_kind form)
{
    value v = {
        .from = s->at + strspn(s->at, blanks), .to = s->values, .is_shell = form == FORM_SHELL};
    fl_assignment found = {.variable = variable, .value = s->values, .line = s->line};
    if (form == FORM_SHELL)
        value_take_word(&v);
    else
        value_take_text(&v);
    found.is_incomplete = v.is_incomplete;
    found.needs_quotes = v.needs_quotes;
    *v.to++ = '\0';
    s->values = v.to;
    count_lines(s, v.from);
    if (!fl_vector_reserve(s->host, s->assignments, 1, s->error))
        return FL_ERR_RESOURCE;
    s->assignments->items[s->assignments->count++] = found;
    return FL_OK;
}

fl_status fl_assignments_find(const fl_host *host, const char *text, char *values,
                              struct fl_assignments *assignments, fl_error *error)
{
    scan s = {host, assignments, text, text, values, 1, error};
    fl_status status = FL_OK;
    while (*s.at != '\0' && status == FL_OK) {
        const char *name = s.at;
        size_t variable = name_at(text, name);
        if (variable == SIZE_MAX) {
            count_lines(&s, name + 1);
            continue;
        }
        const char *behind = name + strlen(fl_settings_variable(variable));
        form_kind form = is_comment(&s, name) ? FORM_NONE : form_of(&s, name, &behind);
        count_lines(&s, behind);
        if (form != FORM_NONE)
            status = take_value(&s, variable, form);
    }
    return status;
}
