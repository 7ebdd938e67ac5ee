#include "rules/reading.h"

#include "base/checked.h"
#include "rules/layout.h"
#include "rules/quantity.h"

#include <stdio.h>
#include <string.h>

#define BREAK_LINES 4    /* lines of others that may have come between */
#define BREAK_MOST  600  /* ... and their bytes */
#define SKIP_MOST   4096 /* bytes that `{skip}` passes over */

typedef struct reader {
    fl_clean *text;
    size_t at; /* behind what is read */
    fl_message *message;
    bool is_recognised; /* what must be there was */
} reader;

static bool read_template(reader *r, const char *at, const char *end);

static int look(const reader *r, size_t ahead)
{
    return fl_clean_at(r->text, r->at + ahead);
}

static bool is_word(int c)
{
    return fl_is_letter(c) || fl_is_digit(c) || c == '_';
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\n';
}

/* ---- values ---------------------------------------------------------------------------------- */

static const struct {
    fl_value value;
    fl_figure figure;
} figure_of_value[] = {
    {FL_VALUE_SEGMENT, FL_FIGURE_REQUESTED},
    {FL_VALUE_REQUESTED, FL_FIGURE_REQUESTED},
    {FL_VALUE_TOTAL, FL_FIGURE_TOTAL},
    {FL_VALUE_FREE, FL_FIGURE_FREE},
    {FL_VALUE_ALLOCATED, FL_FIGURE_ALLOCATED},
    {FL_VALUE_USED, FL_FIGURE_ALLOCATED},
    {FL_VALUE_RESERVED, FL_FIGURE_RESERVED},
    {FL_VALUE_UNALLOCATED, FL_FIGURE_UNALLOCATED},
    {FL_VALUE_UNUSED, FL_FIGURE_UNALLOCATED},
    {FL_VALUE_LIMIT, FL_FIGURE_ALLOWED},
    {FL_VALUE_PRIVATE, FL_FIGURE_PRIVATE},
    {FL_VALUE_OWN, FL_FIGURE_THIS_PROCESS},
    {FL_VALUE_OTHER, FL_FIGURE_OTHER},
    {FL_VALUE_ACTIVE, FL_FIGURE_ACTIVE},
    {FL_VALUE_PEAK_ALLOCATED, FL_FIGURE_PEAK_ALLOCATED},
    {FL_VALUE_PEAK_RESERVED, FL_FIGURE_PEAK_RESERVED},
    {FL_VALUE_STUCK, FL_FIGURE_STUCK},
    {FL_VALUE_POOL, FL_FIGURE_TOTAL},
    {FL_VALUE_POOL, FL_FIGURE_RESERVED},
    {FL_VALUE_EXCEEDED, FL_FIGURE_EXCEEDED},
};

static const char *const figure_keys[FL_FIGURE_COUNT] = {
    [FL_FIGURE_REQUESTED] = "requested_bytes",
    [FL_FIGURE_TOTAL] = "total_bytes",
    [FL_FIGURE_FREE] = "free_bytes",
    [FL_FIGURE_ALLOCATED] = "allocated_bytes",
    [FL_FIGURE_RESERVED] = "reserved_bytes",
    [FL_FIGURE_UNALLOCATED] = "reserved_unallocated_bytes",
    [FL_FIGURE_ALLOWED] = "allowed_bytes",
    [FL_FIGURE_PRIVATE] = "private_pools_bytes",
    [FL_FIGURE_THIS_PROCESS] = "this_process_bytes",
    [FL_FIGURE_OTHER] = "other_allocations_bytes",
    [FL_FIGURE_ACTIVE] = "active_bytes",
    [FL_FIGURE_PEAK_ALLOCATED] = "peak_allocated_bytes",
    [FL_FIGURE_PEAK_RESERVED] = "peak_reserved_bytes",
    [FL_FIGURE_STUCK] = "non_releasable_bytes",
    [FL_FIGURE_EXCEEDED] = "segment_reserve_bytes",
};

const char *fl_figure_key(fl_figure figure)
{
    return figure_keys[figure];
}

static bool read_size(reader *r, fl_value value, bool needs_unit)
{
    fl_number number;
    if (!fl_quantity_read(r->text, &r->at, needs_unit, &number))
        return false;
    for (size_t i = 0; i < sizeof figure_of_value / sizeof *figure_of_value; i++)
        if (figure_of_value[i].value == value)
            r->message->figures[figure_of_value[i].figure] = number;
    r->message->is_segment = r->message->is_segment || value == FL_VALUE_SEGMENT;
    return true;
}

static bool read_device(reader *r)
{
    uint64_t device;
    if (!fl_whole_read(r->text, &r->at, &device) || device > 4095)
        return false;
    r->message->has_device = true;
    r->message->device = (unsigned)device;
    return true;
}

/* 2.3 prints the number as a character, which few copies preserve (21). */
static bool read_device_character(reader *r)
{
    int c = look(r, 0);
    if (c < 0 || fl_is_digit(c) || c > 127)
        return false;
    if (is_word(c) && is_word(look(r, 1)))
        return true; /* nothing is left of it: this is the next word */
    r->message->has_device = true;
    r->message->device = (unsigned)c;
    r->at++;
    return true;
}

static bool read_backend(reader *r)
{
    char word[sizeof r->message->backend];
    size_t length = 0;
    for (; fl_is_letter(look(r, length)); length++) {
        if (length == sizeof word - 1)
            return false;
        word[length] = (char)look(r, length);
    }
    if (length < 2 || fl_is_digit(look(r, length)))
        return false;
    word[length] = '\0';
    if (r->message->backend[0] == '\0')
        memcpy(r->message->backend, word, length + 1);
    r->at += length;
    return true;
}

static bool read_word(reader *r)
{
    size_t length = 0;
    while (look(r, length) >= 0 && !is_blank(look(r, length)))
        length++;
    /* What closes a bracket or a sentence around the word is not part of it. */
    while (length > 1 && strchr("),:;'", look(r, length - 1)) != NULL)
        length--;
    r->at += length;
    return length > 0;
}

/* `/job:localhost/.../device:GPU:0` and `GPU_0_bfc`. */
static bool read_place(reader *r)
{
    size_t start = r->at;
    if (!read_word(r))
        return false;
    for (size_t i = start; i + 4 < r->at + 1; i++) {
        reader inside = *r;
        inside.at = i + 4;
        int mark = fl_clean_at(r->text, i + 3);
        if (fl_clean_at(r->text, i) != 'G' || fl_clean_at(r->text, i + 1) != 'P' ||
            fl_clean_at(r->text, i + 2) != 'U' || (mark != ':' && mark != '_'))
            continue;
        if (read_device(&inside))
            return true;
    }
    return true;
}

/* `[64,2016,9,9]`: a request of that many elements, of four bytes until a type says otherwise. */
static bool read_shape(reader *r)
{
    uint64_t elements = 4, extent;
    size_t count = 0;
    if (is_blank(look(r, 0)))
        r->at++;
    int close = look(r, 0) == '[' ? ']' : ')';
    if (look(r, 0) != '[' && look(r, 0) != '(')
        return false;
    r->at++;
    while (look(r, 0) != close) {
        if (is_blank(look(r, 0)) || (count > 0 && look(r, 0) == ','))
            r->at++;
        else if (!fl_whole_read(r->text, &r->at, &extent) || !fl_mul(elements, extent, &elements))
            return false;
        else
            count++;
    }
    r->at++;
    r->message->is_size_assumed = true;
    r->message->figures[FL_FIGURE_REQUESTED] =
        (fl_number){true, false, elements, elements, elements};
    return count > 0;
}

static bool read_type(reader *r)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } types[] = {{"float", 4},     {"half", 2},   {"bfloat16", 2},   {"double", 8}, {"int32", 4},
                 {"int64", 8},     {"int16", 2},  {"int8", 1},       {"uint8", 1},  {"bool", 1},
                 {"complex64", 8}, {"uint16", 2}, {"complex128", 16}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t length = strlen(types[i].name), same = 0;
        while (same < length && look(r, same) == types[i].name[same])
            same++;
        if (same < length || is_word(look(r, length)))
            continue;
        fl_number *requested = &r->message->figures[FL_FIGURE_REQUESTED];
        uint64_t bytes;
        if (!fl_mul(requested->bytes / 4, types[i].bytes, &bytes))
            return false;
        *requested = (fl_number){true, false, bytes, bytes, bytes};
        r->message->is_size_assumed = false;
        r->at += length;
        return true;
    }
    return false;
}

/* ---- blanks and breaks ----------------------------------------------------------------------- */

/* The end of the element that begins at `at`: what must match for a line to go on there. */
static const char *token_end(const char *at, const char *end)
{
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
static const char processes_value[] = "{processes}";

static bool fits(const reader *r, const char *at, const char *end);

static bool fits_option(const reader *r, const char *at, const char *end)
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
static bool fits(const reader *r, const char *at, const char *end)
{
    fl_message scratch = *r->message;
    reader trial = {r->text, r->at, &scratch, false};
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
    return read_template(&trial, at, token_end(at, end));
}

/* After a line's end: past whatever stands before the text on the next lines. */
static bool read_break(reader *r, const char *next, const char *end)
{
    reader trial = *r;
    trial.at++;
    int before = '\n';
    for (size_t taken = 0, lines = 0; taken < BREAK_MOST && lines < BREAK_LINES; taken++) {
        int here = look(&trial, 0);
        if (here < 0)
            return false;
        if (!is_word(before) && !is_blank(here) && fits(&trial, next, end)) {
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
static bool read_gap(reader *r, const char *next, const char *end)
{
    int here = look(r, 0);
    if (here == '\n')
        return read_break(r, next, end);
    if (here == ' ') {
        r->at++;
        return true;
    }
    int before = r->at > 0 ? fl_clean_at(r->text, r->at - 1) : ' ';
    return here >= 0 && (!is_word(before) || !is_word(here));
}

static bool read_skip(reader *r, const char *next, const char *end)
{
    reader trial = *r;
    int before = ' ';
    for (size_t taken = 0; taken < SKIP_MOST && look(&trial, 0) >= 0; taken++) {
        if (!is_word(before) && fits(&trial, next, end)) {
            r->at = trial.at;
            return true;
        }
        before = look(&trial, 0);
        trial.at++;
    }
    return false;
}

/* ---- templates ------------------------------------------------------------------------------- */

static bool read_process(reader *r, const char *sentence)
{
    reader trial = *r;
    if (!read_template(&trial, sentence, strchr(sentence, '\0')))
        return false;
    *r = trial;
    return true;
}

/* Any number of sentences about processes, with the blank behind the last. */
static bool read_processes(reader *r, const char *next, const char *end)
{
    while (read_process(r, own_process) || read_process(r, other_process)) {
        fl_message *message = r->message;
        message->process_count += message->processes[message->process_count].pid != 0;
        if (message->process_count == FL_READ_PROCESSES_MOST)
            return false;
        /* What comes next is another sentence, or what the template goes on with. */
        if (!read_gap(r, other_process, strchr(other_process, '\0')) &&
            !read_gap(r, own_process, strchr(own_process, '\0')) && !read_gap(r, next, end))
            return false;
    }
    return true;
}

static bool read_pid(reader *r, fl_value value)
{
    fl_read_process *process = &r->message->processes[r->message->process_count];
    if (value == FL_VALUE_PID)
        return fl_whole_read(r->text, &r->at, &process->pid);
    return fl_quantity_read(r->text, &r->at, true, &process->used);
}

static bool read_count(reader *r, fl_value value)
{
    uint64_t count;
    if (!fl_whole_read(r->text, &r->at, &count))
        return false;
    r->message->has_counts = true;
    *(value == FL_VALUE_OOMS ? &r->message->ooms : &r->message->retries) = count;
    return true;
}

static bool read_value(reader *r, fl_value value, bool needs_unit, const char *next,
                       const char *end)
{
    fl_number ignored;
    if (value < FL_VALUE_SIZES)
        return read_size(r, value, needs_unit);
    switch (value) {
    case FL_VALUE_DEVICE:
        return read_device(r);
    case FL_VALUE_DEVICE_CHARACTER:
        return read_device_character(r);
    case FL_VALUE_PROCESSES:
        return read_processes(r, next, end);
    case FL_VALUE_BACKEND:
        return read_backend(r);
    case FL_VALUE_PID:
    case FL_VALUE_PROCESS:
        return read_pid(r, value);
    case FL_VALUE_OOMS:
    case FL_VALUE_RETRIES:
        return read_count(r, value);
    case FL_VALUE_NUMBER:
        return fl_quantity_read(r->text, &r->at, needs_unit, &ignored);
    case FL_VALUE_SKIP:
        return read_skip(r, next, end);
    case FL_VALUE_PLACE:
        return read_place(r);
    case FL_VALUE_SHAPE:
        return read_shape(r);
    case FL_VALUE_TYPE:
        return read_type(r);
    default:
        return read_word(r);
    }
}

/* The first alternative that is there, or none; returns what is behind the `]`. */
static const char *read_option(reader *r, const char *at)
{
    const char *close = strchr(at, ']');
    for (const char *option = at + 1; option < close;) {
        const char *option_end = option + strcspn(option, "|]");
        fl_message before = *r->message;
        reader trial = *r;
        if (read_template(&trial, option, option_end)) {
            *r = trial;
            break;
        }
        *r->message = before;
        option = option_end + 1;
    }
    return close + 1;
}

/* One character, whatever its case; a terminal may have ended its line inside the word. */
static bool read_character(reader *r, char expected)
{
    size_t skipped = look(r, 0) == '\n' && r->at > 0 && is_word(fl_clean_at(r->text, r->at - 1)) &&
                     is_word((unsigned char)expected);
    if (fl_lower(look(r, skipped)) != fl_lower((unsigned char)expected))
        return false;
    r->at += skipped + 1;
    return true;
}

/* Reads on as far as the template goes along; false where it does not to its end. */
static bool read_template(reader *r, const char *at, const char *end)
{
    while (at < end) {
        if (*at == '^') {
            r->is_recognised = true;
            at++;
        } else if (*at == ' ') {
            at += strspn(at, " ");
            if (!read_gap(r, at, end))
                return false;
        } else if (*at == '{') {
            bool needs_unit = at[1] != '#';
            fl_value value = fl_layout_value(at, &at);
            if (!read_value(r, value, needs_unit, at, end))
                return false;
        } else if (*at == '[') {
            at = read_option(r, at);
        } else if (!read_character(r, *at++)) {
            return false;
        }
    }
    return true;
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
    fl_message message;
    size_t end;
    bool is_found;
} best;

static void consider(best *b, const fl_layout *layout, const char *from, fl_clean *text, size_t at)
{
    fl_message message = {.layout = layout->name, .first = layout->first, .last = layout->last};
    reader r = {text, at, &message, false};
    read_template(&r, from, strchr(from, '\0'));
    if (!r.is_recognised || (b->is_found && r.at < b->end))
        return;
    if (b->is_found && r.at == b->end) { /* several releases print this */
        if (layout->first != 0 && b->message.first != 0 && layout->last > b->message.last)
            b->message.last = layout->last;
        return;
    }
    *b = (best){message, r.at, true};
}

/* Whether the name of an exception stands before. */
static bool is_raised(fl_clean *text, size_t at)
{
    static const char name[] = "Error:";
    size_t length = sizeof name - 1;
    while (at > 0 && is_blank(fl_clean_at(text, at - 1)))
        at--;
    return at >= length && memcmp(text->bytes + at - length, name, length) == 0;
}

static bool may_match(const fl_layout *layout, fl_clean *text, size_t at)
{
    int first = (unsigned char)*layout->text;
    return (first == '{' || fl_lower(first) == fl_lower(fl_clean_at(text, at))) &&
           (layout->when != FL_LAYOUT_RAISED || is_raised(text, at));
}

bool fl_message_may_begin(fl_clean *text, size_t at)
{
    return is_word(fl_clean_at(text, at)) && (at == 0 || !is_word(fl_clean_at(text, at - 1)));
}

bool fl_message_take(fl_clean *text, size_t at, fl_message *ret_message, size_t *ret_end)
{
    static const char head[] = FL_LAYOUT_HEAD;
    best b = {.is_found = false};
    int c = fl_clean_at(text, at);
    for (size_t i = 0; i < fl_layout_count; i++) {
        const char *template = fl_layouts[i].text;
        if (may_match(&fl_layouts[i], text, at))
            consider(&b, &fl_layouts[i], template, text, at);
        /* The head is often lost; without it the numbers must be there. */
        bool has_head = strncmp(template, head, sizeof head - 1) == 0;
        if (has_head && strstr(template, "{total}^") != NULL && fl_lower(c) == 't')
            consider(&b, &fl_layouts[i], template + sizeof head - 1, text, at);
    }
    if (!b.is_found)
        return false;
    complete(&b.message);
    find_advice(text->bytes + at, b.end - at, &b.message);
    b.message.is_no_failure = has_words(text->bytes + at, b.end - at, "not a failure");
    *ret_message = b.message;
    *ret_end = b.end;
    return true;
}
