#include "rules/reading.h"

#include "base/checked.h"
#include "rules/reading_value.h"

#include <string.h>

#define BREAK_LINES 4    /* lines of others that may have come between */
#define BREAK_MOST  600  /* ... and their bytes */
#define SKIP_MOST   4096 /* bytes that `{skip}` passes over */

static bool read_template(fl_reader *r, const char *at, const char *end);

/* ---- blanks and breaks ----------------------------------------------------------------------- */

/* The end of what must match for a line to go on at `at`: a word, or a value and a word, since many
 * things are numbers. */
static const char *token_end(const char *at, const char *end)
{
    if (*at == '{') {
        at = strchr(at, '}') + 1;
        at += at < end && *at == ' ';
    }
    while (at < end && *at != ' ' && *at != '[' && *at != '^') {
        if (*at == '{')
            at = memchr(at, '}', (size_t)(end - at));
        at++;
    }
    return at;
}

static const char own_process[] =
    "Including non-PyTorch memory, this process has {own} memory in use.";
static const char other_process[] = "Process {pid} has {process} memory in use.";
static const char processes_value[] = "{processes}"; /* they see to the blanks before them */

static bool fits(const fl_reader *r, const char *at, const char *end);

static bool fits_option(const fl_reader *r, const char *at, const char *end)
{
    const char *close = memchr(at, ']', (size_t)(end - at));
    for (const char *option = at + 1; option < close;) {
        const char *option_end = option + strcspn(option, "|]");
        const char *inside = option + strspn(option, " ");
        if (inside < option_end && fits(r, inside, option_end))
            return true;
        option = option_end + 1;
    }
    return fits(r, close + 1, end);
}

/* Could the template from `at` on go on here?  Only its next element is tried. */
static bool fits(const fl_reader *r, const char *at, const char *end)
{
    fl_message scratch = *r->message;
    fl_reader trial = {.text = r->text, .at = r->at, .message = &scratch};
    while (at < end && (*at == ' ' || *at == '^'))
        at++;
    if (at == end)
        return true;
    if (*at == '[')
        return fits_option(r, at, end);
    if (strncmp(at, processes_value, sizeof processes_value - 1) == 0)
        return fits(r, own_process, strchr(own_process, '\0')) ||
               fits(r, other_process, strchr(other_process, '\0')) ||
               fits(r, at + sizeof processes_value - 1, end);
    const char *token = token_end(at, end);
    if (!read_template(&trial, at, token))
        return false;
    if (token[-1] == '}') /* a number alone: not one that is part of a date or a name */
        return fl_is_blank(fl_clean_at(r->text, r->at - 1)) &&
               strchr("-:/,_", fl_reader_look(&trial, 0)) == NULL;
    return !fl_is_word((unsigned char)token[-1]) || !fl_is_word(fl_reader_look(&trial, 0));
}

/* After a line's end: past whatever stands before the text on the next lines. */
static bool read_break(fl_reader *r, const char *next, const char *end)
{
    fl_reader trial = *r;
    trial.at++;
    int before = '\n';
    for (size_t taken = 0, lines = 0; taken < BREAK_MOST && lines < BREAK_LINES; taken++) {
        int here = fl_reader_look(&trial, 0);
        if (here < 0)
            return false;
        if (!fl_is_word(before) && !fl_is_blank(here) && fits(&trial, next, end)) {
            r->at = trial.at;
            return true;
        }
        lines += here == '\n';
        before = here;
        trial.at++;
    }
    return false;
}

/* A blank of the template: one in the text, a line's end, or nothing beside punctuation. */
static bool read_gap(fl_reader *r, const char *next, const char *end)
{
    int here = fl_reader_look(r, 0);
    if (here == '\n')
        return read_break(r, next, end);
    if (here == ' ') {
        r->at++;
        return true;
    }
    int before = r->at > 0 ? fl_clean_at(r->text, r->at - 1) : ' ';
    return here >= 0 && (!fl_is_word(before) || !fl_is_word(here));
}

static bool read_skip(fl_reader *r, const char *next, const char *end)
{
    fl_reader trial = *r;
    int before = ' ';
    for (size_t taken = 0; taken < SKIP_MOST && fl_reader_look(&trial, 0) >= 0; taken++) {
        if (!fl_is_word(before) && fits(&trial, next, end)) {
            r->at = trial.at;
            return true;
        }
        before = fl_reader_look(&trial, 0);
        trial.at++;
    }
    return false;
}

/* ---- templates ------------------------------------------------------------------------------- */

static bool read_process(fl_reader *r, const char *sentence)
{
    fl_reader trial = *r;
    if (!read_template(&trial, sentence, strchr(sentence, '\0')))
        return false;
    *r = trial;
    return true;
}

/* Any number of sentences about processes; `at` is where the template has them. */
static bool read_processes(fl_reader *r, const char *at, const char *end)
{
    fl_message *message = r->message;
    while (message->process_count < FL_READ_PROCESSES_MOST) {
        if (r->owes_gap && !read_gap(r, at, end))
            return false;
        r->owes_gap = false;
        if (!read_process(r, own_process) && !read_process(r, other_process))
            return true;
        message->process_count += message->processes[message->process_count].pid != 0;
        r->owes_gap = true;
    }
    return false;
}

/* The first alternative that is there, or none; returns what is behind the `]`. */
static const char *read_option(fl_reader *r, const char *at)
{
    const char *close = strchr(at, ']');
    for (const char *option = at + 1; option < close;) {
        const char *option_end = option + strcspn(option, "|]");
        fl_message before = *r->message;
        fl_reader trial = *r;
        if (read_template(&trial, option, option_end)) {
            *r = trial;
            break;
        }
        *r->message = before;
        option = option_end + 1;
    }
    return close + 1;
}

/* One character, whatever its case; a line may have ended inside the word, or behind its hyphen. */
static bool read_character(fl_reader *r, const char *at, const char *end)
{
    int expected = fl_lower((unsigned char)*at);
    if (fl_reader_look(r, 0) == '\n') {
        bool is_long = token_end(at, end) - at > 2;
        if (fl_lower(fl_reader_look(r, 1)) == expected)
            r->at++;
        else if (!is_long || !read_break(r, at, end))
            return false;
    }
    if (fl_lower(fl_reader_look(r, 0)) != expected)
        return false;
    r->at++;
    return true;
}

/* Reads what the template has at `*at`; on success *at is behind it. */
static bool read_element(fl_reader *r, const char **at, const char *end)
{
    if (**at == '{') {
        bool needs_unit = (*at)[1] != '#';
        fl_value value = fl_layout_value(*at, at);
        return value == FL_VALUE_SKIP ? read_skip(r, *at, end)
                                      : fl_reading_value(r, value, needs_unit);
    }
    if (!read_character(r, *at, end))
        return false;
    ++*at;
    return true;
}

/* Reads what the template has at `at`; returns what is behind it, or NULL. */
static const char *read_part(fl_reader *r, const char *at, const char *end)
{
    if (strncmp(at, processes_value, sizeof processes_value - 1) == 0)
        return read_processes(r, at, end) ? at + sizeof processes_value - 1 : NULL;
    if (r->owes_gap && !read_gap(r, at, end))
        return NULL;
    r->owes_gap = false;
    if (*at == '[')
        return read_option(r, at);
    return read_element(r, &at, end) ? at : NULL;
}

/* Reads on as far as the template goes along; false where it does not to its end. */
static bool read_template(fl_reader *r, const char *at, const char *end)
{
    while (at != NULL && at < end) {
        if (*at == '^') {
            r->is_recognised = true;
            at++;
        } else if (*at == ' ') {
            r->owes_gap = true;
            at++;
        } else {
            at = read_part(r, at, end);
        }
    }
    return at != NULL;
}

/* ---- messages -------------------------------------------------------------------------------- */

static bool has_words(const char *text, size_t length, const char *words)
{
    size_t size = strlen(words);
    for (size_t at = 0; at + size <= length; at++)
        if (memcmp(text + at, words, size) == 0)
            return true;
    return false;
}

static void find_advice(const char *text, size_t length, fl_message *message)
{
    static const struct {
        const char *text;
        fl_printed_advice advice;
    } rows[] = {
        {"max_split_size_mb", FL_ADVICE_SPLIT},
        {"expandable_segments:True", FL_ADVICE_EXPANDABLE},
        {"empty_cache", FL_ADVICE_EMPTY},
        {"WATERMARK_RATIO", FL_ADVICE_WATERMARK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (has_words(text, length, rows[i].text))
            message->advice = rows[i].advice;
    }
}

/* Whichever of reserved and reserved-but-unallocated is not printed follows from the other. */
static void complete(fl_message *message)
{
    fl_number *allocated = &message->figures[FL_FIGURE_ALLOCATED];
    fl_number *reserved = &message->figures[FL_FIGURE_RESERVED];
    fl_number *unallocated = &message->figures[FL_FIGURE_UNALLOCATED];
    if (!allocated->is_given)
        return;
    if (!reserved->is_given && unallocated->is_given) {
        fl_number sum = {.is_given = true};
        if (fl_add(allocated->bytes, unallocated->bytes, &sum.bytes) &&
            fl_add(allocated->low, unallocated->low, &sum.low) &&
            fl_add(allocated->high, unallocated->high, &sum.high))
            *reserved = sum;
    } else if (reserved->is_given && !unallocated->is_given &&
               reserved->bytes >= allocated->bytes) {
        unallocated->is_given = true;
        unallocated->bytes = reserved->bytes - allocated->bytes;
        unallocated->low = reserved->low > allocated->high ? reserved->low - allocated->high : 0;
        unallocated->high = reserved->high - allocated->low;
    }
}

/* What the best template found, against one more. */
typedef struct best {
    bool is_found;
    size_t end;
    fl_message message;
} best;

static size_t count_figures(const fl_message *message)
{
    size_t count = 0;
    for (int i = 0; i < FL_FIGURE_COUNT; i++)
        count += message->figures[i].is_given || message->figures[i].is_wrapped;
    return count;
}

/* Whether what was found before is better: it goes further, or as far with more numbers. */
static bool is_better(const best *b, const fl_reader *r)
{
    if (!b->is_found || r->at != b->end)
        return b->is_found && b->end > r->at;
    return count_figures(&b->message) > count_figures(r->message);
}

static void consider(best *b, const fl_layout *layout, const char *from, fl_clean *text, size_t at)
{
    fl_message message = {.layout = layout->name, .first = layout->first, .last = layout->last};
    fl_reader r = {.text = text, .at = at, .message = &message};
    read_template(&r, from, strchr(from, '\0'));
    if (!r.is_recognised || is_better(b, &r))
        return;
    if (b->is_found && r.at == b->end && count_figures(&b->message) == count_figures(&message)) {
        /* several releases print this */
        if (layout->first != 0 && b->message.first != 0 && layout->last > b->message.last)
            b->message.last = layout->last;
        return;
    }
    b->is_found = true;
    b->end = r.at;
    b->message = message;
}

/* Whether the name of an exception stands before. */
static bool is_raised(fl_clean *text, size_t at)
{
    static const char name[] = "Error:";
    size_t length = sizeof name - 1;
    while (at > 0 && fl_is_blank(fl_clean_at(text, at - 1)))
        at--;
    return at >= length && memcmp(text->bytes + at - length, name, length) == 0;
}

/* Whether the text begins as the template does: most places are done with here. */
static bool begins_as(const char *template, fl_clean *text, size_t at)
{
    for (; *template != ' ' && *template != '{' && *template != '[' && *template != '^'; at++)
        if (fl_lower((unsigned char)*template ++) != fl_lower(fl_clean_at(text, at)))
            return false;
    return true;
}

/* `first` is the text's first letter, a small one, or `{` where it names a build of PyTorch: nearly
 * every row is done with by it. */
static inline bool may_match(const fl_layout *layout, fl_clean *text, size_t at, int first)
{
    if (fl_lower((unsigned char)*layout->text) != first)
        return false;
    return (first == '{' || begins_as(layout->text, text, at)) &&
           (layout->when != FL_LAYOUT_RAISED || is_raised(text, at));
}

/* The head is often lost; without it the numbers must be there. */
static const char *headless_of(const fl_layout *layout)
{
    static const char head[] = FL_LAYOUT_HEAD;
    bool has_head = strncmp(layout->text, head, sizeof head - 1) == 0;
    return has_head && strstr(layout->text, "{total}^") != NULL ? layout->text + sizeof head - 1
                                                                : NULL;
}

bool fl_message_may_begin(fl_clean *text, size_t at)
{
    return fl_is_letter(fl_clean_at(text, at)) &&
           (at == 0 || !fl_is_word(fl_clean_at(text, at - 1)));
}

bool fl_message_take(fl_clean *text, size_t at, fl_message *ret_message, size_t *ret_end)
{
    best b;
    b.is_found = false;
    bool is_headless = begins_as("Tried ", text, at);
    int first = fl_lower(fl_clean_at(text, at));
    int build = fl_reading_is_backend(text, at) ? '{' : first; /* `HIP`, and words with H as well */
    for (size_t i = 0; i < fl_layout_count; i++) {
        const fl_layout *layout = &fl_layouts[i];
        const char *headless = is_headless ? headless_of(layout) : NULL;
        if (may_match(layout, text, at, first) ||
            (build != first && may_match(layout, text, at, build)))
            consider(&b, layout, layout->text, text, at);
        if (headless != NULL)
            consider(&b, layout, headless, text, at);
    }
    if (!b.is_found)
        return false;
    complete(&b.message);
    find_advice(text->bytes + at, b.end - at, &b.message);
    *ret_message = b.message;
    *ret_end = b.end;
    return true;
}
