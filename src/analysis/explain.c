/* Finding messages in a stream: a fast search for the two words of which every message has one,
 * then a close look at the text around.  What is kept between pieces is one buffer.
 *
 * A message begins at most SIGHT_BACK bytes before the first of its words, and ends at most
 * FL_CLEAN_MOST bytes later.  Each place of the text is tried once. */
#include "analysis/explain.h"

#include "base/memory.h"
#include "reader/input.h"
#include "rules/reading.h"

#define BUFFER_SIZE 262144
#define SIGHT_BACK  1024
#define ECHO_MOST   400 /* bytes between a message and what only repeats that it happened */
#define WORD_SIZE   5   /* of what is searched for */

typedef enum encoding {
    ENCODING_UNKNOWN,
    ENCODING_BYTES,
    ENCODING_LITTLE, /* UTF-16, as PowerShell writes logs */
    ENCODING_BIG
} encoding;

struct fl_explain {
    const fl_host *host;
    fl_explain_sink *sink;
    void *user;
    bool has_ended;
    /* text not done with */
    size_t size;
    size_t searched; /* no word ends before */
    size_t tried;    /* no message begins before, other than those handed on */
    size_t counted;  /* line feeds before are in `lines` */
    size_t ended;    /* where the last message ended; 0: far back, or nowhere */
    uint64_t lines;
    /* UTF-16 on its way in */
    encoding encoding;
    uint8_t half[2];
    size_t half_count;
    /* how far to move when these two letters stand at the end of where a word would be */
    uint8_t moves[65536];
    fl_clean clean;
    fl_explanation explanation;
    char buffer[BUFFER_SIZE];
};

/* ---- the search ------------------------------------------------------------------------------ */

static const char searched_words[][WORD_SIZE + 1] = {"memor", "alloc"};

static size_t pair(unsigned char first, unsigned char second)
{
    return (size_t)first << 8 | second;
}

static unsigned char upper(char letter)
{
    return (unsigned char)(letter - 'a' + 'A');
}

static void prepare_search(fl_explain *explain)
{
    memset(explain->moves, WORD_SIZE - 1, sizeof explain->moves);
    for (size_t w = 0; w < sizeof searched_words / sizeof *searched_words; w++) {
        const char *word = searched_words[w];
        for (size_t i = 0; i + 1 < WORD_SIZE; i++) {
            uint8_t *moves = explain->moves, move = (uint8_t)(WORD_SIZE - 2 - i);
            unsigned char a[] = {(unsigned char)word[i], upper(word[i])};
            unsigned char b[] = {(unsigned char)word[i + 1], upper(word[i + 1])};
            for (size_t k = 0; k < 4; k++) {
                size_t at = pair(a[k / 2], b[k % 2]);
                moves[at] = move < moves[at] ? move : moves[at];
            }
        }
    }
}

static bool is_searched_word(const char *at)
{
    for (size_t w = 0; w < sizeof searched_words / sizeof *searched_words; w++) {
        size_t same = 0;
        while (same < WORD_SIZE && (at[same] | 0x20) == searched_words[w][same])
            same++;
        if (same == WORD_SIZE)
            return true;
    }
    return false;
}

/* The first searched word from `from` on, or the place from which to search when more is there. */
static bool find_word(const fl_explain *explain, size_t from, size_t *ret_at)
{
    const char *text = explain->buffer;
    size_t last = from + WORD_SIZE - 1;
    while (last < explain->size) {
        size_t move =
            explain->moves[pair((unsigned char)text[last - 1], (unsigned char)text[last])];
        if (move == 0 && is_searched_word(text + last - (WORD_SIZE - 1))) {
            *ret_at = last - (WORD_SIZE - 1);
            return true;
        }
        last += move > 0 ? move : 1;
    }
    *ret_at = last - (WORD_SIZE - 1);
    return false;
}

/* ---- the look -------------------------------------------------------------------------------- */

static uint64_t line_of(fl_explain *explain, size_t at)
{
    const char *text = explain->buffer;
    const char *next = text + explain->counted;
    while (next < text + at && (next = memchr(next, '\n', (size_t)(text + at - next))) != NULL) {
        explain->lines++;
        next++;
    }
    explain->counted = at;
    return explain->lines + 1;
}

static bool has_figures(const fl_message *message)
{
    for (int i = 0; i < FL_FIGURE_COUNT; i++)
        if (message->figures[i].is_given)
            return true;
    return false;
}

/* What says no more than that it happened, close behind a message: the end of the same report. */
static bool is_echo(const fl_explain *explain, const fl_message *message, size_t at)
{
    return explain->ended > 0 && at - explain->ended < ECHO_MOST && !has_figures(message);
}

static fl_status hand_on(fl_explain *explain, const fl_message *message, size_t at, fl_error *error)
{
    fl_explain_message(message, &explain->explanation);
    explain->explanation.line = line_of(explain, at);
    return explain->sink(explain->user, &explain->explanation, error);
}

/* Tries every place where the message with the word at `word` may begin.  Goes on behind the
 * message, or behind the word. */
static fl_status look_around(fl_explain *explain, size_t word, fl_error *error)
{
    size_t start = word > SIGHT_BACK ? word - SIGHT_BACK : 0;
    start = start > explain->tried ? start : explain->tried;
    fl_clean *clean = &explain->clean;
    fl_clean_start(clean, explain->buffer + start, explain->size - start);
    explain->searched = explain->tried = word + 1;
    for (size_t at = 0; fl_clean_at(clean, at) >= 0; at++) {
        fl_message message;
        size_t end, from = start + fl_clean_origin(clean, at);
        if (from > word)
            break;
        if (!fl_message_may_begin(clean, at) || !fl_message_take(clean, at, &message, &end))
            continue;
        size_t behind = start + fl_clean_origin(clean, end);
        bool is_new = !is_echo(explain, &message, from);
        explain->searched = explain->tried = behind > word + 1 ? behind : word + 1;
        explain->ended = behind;
        return is_new ? hand_on(explain, &message, from, error) : FL_OK;
    }
    return FL_OK;
}

/* Searches what is there, but for what needs more text to be judged. */
static fl_status search(fl_explain *explain, fl_error *error)
{
    fl_status status = FL_OK;
    size_t word;
    while (status == FL_OK && find_word(explain, explain->searched, &word)) {
        explain->searched = word;
        if (!explain->has_ended && explain->size - word < FL_CLEAN_MOST)
            return FL_OK;
        status = look_around(explain, word, error);
    }
    if (status == FL_OK)
        explain->searched = word;
    return status;
}

/* Gives up what lies so far back that no message can begin there. */
static void discard(fl_explain *explain)
{
    size_t done = explain->searched < explain->size ? explain->searched : explain->size;
    done = done > SIGHT_BACK ? done - SIGHT_BACK : 0;
    line_of(explain, done > explain->counted ? done : explain->counted);
    done = done < explain->counted ? done : explain->counted;
    memmove(explain->buffer, explain->buffer + done, explain->size - done);
    explain->size -= done;
    explain->searched -= done;
    explain->counted -= done;
    explain->tried = explain->tried > done ? explain->tried - done : 0;
    explain->ended = explain->ended > done ? explain->ended - done : 0;
}

/* ---- the text -------------------------------------------------------------------------------- */

static fl_status make_room(fl_explain *explain, fl_error *error)
{
    if (explain->size < BUFFER_SIZE)
        return FL_OK;
    fl_status status = search(explain, error);
    discard(explain);
    return status;
}

static encoding encoding_of(const uint8_t mark[2])
{
    if (mark[0] == 0xFF && mark[1] == 0xFE)
        return ENCODING_LITTLE;
    return mark[0] == 0xFE && mark[1] == 0xFF ? ENCODING_BIG : ENCODING_BYTES;
}

/* Two bytes of which one is the letter, where it is one of ASCII. */
static char letter_of(const fl_explain *explain)
{
    bool is_little = explain->encoding == ENCODING_LITTLE;
    uint8_t low = explain->half[is_little ? 0 : 1], high = explain->half[is_little ? 1 : 0];
    return high == 0 && low < 128 ? (char)low : '?';
}

static fl_status feed_pairs(fl_explain *explain, const uint8_t *data, size_t size, fl_error *error)
{
    fl_status status = FL_OK;
    for (size_t i = 0; i < size && status == FL_OK; i++) {
        explain->half[explain->half_count++] = data[i];
        if (explain->half_count < 2)
            continue;
        explain->half_count = 0;
        status = make_room(explain, error);
        explain->buffer[explain->size++] = letter_of(explain);
    }
    return status;
}

static fl_status feed_bytes(fl_explain *explain, const uint8_t *data, size_t size, fl_error *error)
{
    fl_status status = FL_OK;
    while (size > 0 && status == FL_OK) {
        status = make_room(explain, error);
        size_t room = BUFFER_SIZE - explain->size, taken = size < room ? size : room;
        memcpy(explain->buffer + explain->size, data, taken);
        explain->size += taken;
        data += taken;
        size -= taken;
    }
    return status;
}

fl_status fl_explain_feed(fl_explain *explain, const void *data, size_t size, fl_error *error)
{
    const uint8_t *bytes = data;
    while (explain->encoding == ENCODING_UNKNOWN && size > 0) {
        explain->half[explain->half_count++] = *bytes++;
        size--;
        if (explain->half_count < 2)
            continue;
        explain->half_count = 0;
        explain->encoding = encoding_of(explain->half);
        if (explain->encoding == ENCODING_BYTES)
            feed_bytes(explain, explain->half, 2, error);
    }
    return explain->encoding == ENCODING_LITTLE || explain->encoding == ENCODING_BIG
               ? feed_pairs(explain, bytes, size, error)
               : feed_bytes(explain, bytes, size, error);
}

fl_status fl_explain_finish(fl_explain *explain, fl_error *error)
{
    if (explain->encoding == ENCODING_UNKNOWN)
        feed_bytes(explain, explain->half, explain->half_count, error);
    explain->has_ended = true;
    return search(explain, error);
}

fl_status fl_explain_open(const fl_host *host, fl_explain_sink *sink, void *user,
                          fl_explain **ret_explain, fl_error *error)
{
    host = host != NULL ? host : fl_host_default();
    fl_explain *explain = fl_new(host, sizeof *explain, error);
    if (explain == NULL)
        return FL_ERR_RESOURCE;
    explain->host = host;
    explain->sink = sink;
    explain->user = user;
    prepare_search(explain);
    *ret_explain = explain;
    return FL_OK;
}

void fl_explain_close(fl_explain *explain)
{
    if (explain != NULL)
        fl_delete(explain->host, explain, sizeof *explain);
}

/* ---- files ----------------------------------------------------------------------------------- */

static fl_status feed_input(fl_explain *explain, fl_input *input, fl_error *error)
{
    fl_status status = FL_OK;
    do {
        status = fl_explain_feed(explain, input->at, (size_t)(input->end - input->at), error);
        input->at = input->end;
        if (status == FL_OK && !input->is_last)
            status = fl_input_fill(input, 1, error);
    } while (status == FL_OK && input->at < input->end);
    return status == FL_OK ? fl_explain_finish(explain, error) : status;
}

fl_status fl_explain_file(const char *path, const fl_read_options *options, fl_explain_sink *sink,
                          void *user, fl_error *error)
{
    fl_read_options reading = options != NULL ? *options : (fl_read_options){0};
    reading.host = reading.host != NULL ? reading.host : fl_host_default();
    reading.accept_cut = true;
    fl_explain *explain = NULL;
    fl_status status = fl_explain_open(reading.host, sink, user, &explain, error);
    fl_input input;
    if (status == FL_OK)
        status = fl_input_open_text(&input, path, &reading, error);
    if (status == FL_OK) {
        status = feed_input(explain, &input, error);
        fl_input_close(&input);
    }
    fl_explain_close(explain);
    return status;
}
