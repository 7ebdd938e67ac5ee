/* Web pages as the snapshot viewer exports them: the content is the file that the page carries,
 * in base64 behind the word "base64".
 *
 * The page is read in one pass; what is around the file is passed over.  What it gives up: of a
 * page that carries several files only the first is read. */
#include "reader/input.h"

#include "base/memory.h"

#include <string.h>

/* The parts of a page, each ended by a text. */
typedef enum html_phase {
    BEFORE_WORD,
    BEFORE_COLON,
    BEFORE_QUOTE,
    IN_FILE,
    BEHIND_FILE,
    IN_END
} html_phase;

static const char word[] = "\"base64\"", script_end[] = "</script>";

typedef struct html_state {
    const fl_host *host;
    html_phase phase;
    size_t matched; /* characters of the text that is looked for */
    uint32_t bits;  /* of base64 that make no byte yet */
    unsigned bit_count;
    bool is_padded; /* nothing but padding may follow */
} html_state;

static bool is_blank(uint8_t byte)
{
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static bool html_probe(const uint8_t *head, size_t size)
{
    size_t blank = fl_mark_size(head, size);
    while (blank < size && is_blank(head[blank]))
        blank++;
    return blank < size && head[blank] == '<';
}

static int base64_value(uint8_t byte)
{
    if (byte >= 'A' && byte <= 'Z')
        return byte - 'A';
    if (byte >= 'a' && byte <= 'z')
        return byte - 'a' + 26;
    if (byte >= '0' && byte <= '9')
        return byte - '0' + 52;
    return byte == '+' ? 62 : byte == '/' ? 63 : -1;
}

/* Does this byte end the text?  Its first character occurs nowhere else in it but at its end. */
static bool html_match(html_state *state, const char *text, uint8_t byte)
{
    if (byte != (uint8_t)text[state->matched])
        state->matched = 0;
    if (byte == (uint8_t)text[state->matched])
        state->matched++;
    if (text[state->matched] != '\0')
        return false;
    state->matched = 0;
    return true;
}

/* A character outside the file. */
static void html_pass(html_state *state, uint8_t byte)
{
    if (state->phase == BEFORE_WORD && html_match(state, word, byte))
        state->phase = BEFORE_COLON;
    else if (state->phase == BEHIND_FILE && html_match(state, script_end, byte))
        state->phase = IN_END;
    else if (state->phase == BEFORE_COLON && !is_blank(byte))
        state->phase = byte == ':' ? BEFORE_QUOTE : BEFORE_WORD;
    else if (state->phase == BEFORE_QUOTE && !is_blank(byte))
        state->phase = byte == '"' ? IN_FILE : BEFORE_WORD;
}

/* A character of the file; false where it is none. */
static bool html_take(html_state *state, uint8_t byte, uint8_t *bytes, size_t *used)
{
    int value = base64_value(byte);
    if (byte == '"') {
        state->phase = BEHIND_FILE;
        return state->bits == 0;
    }
    if (byte == '=')
        state->is_padded = true;
    if (value < 0 || state->is_padded)
        return byte == '=';
    state->bits = state->bits << 6 | (uint32_t)value;
    state->bit_count += 6;
    if (state->bit_count >= 8) {
        state->bit_count -= 8;
        bytes[(*used)++] = (uint8_t)(state->bits >> state->bit_count);
        state->bits &= (1u << state->bit_count) - 1;
    }
    return true;
}

/* What it means that the page has ended. */
static fl_decoded html_judge_end(const html_state *state)
{
    switch (state->phase) {
    case IN_END:
        return FL_DECODED_END;
    case IN_FILE:
    case BEHIND_FILE:
        return FL_DECODED_CUT;
    default:
        return FL_DECODED_NOTHING;
    }
}

static fl_decoded html_decode(void *user, fl_packed *packed, uint8_t *bytes, size_t room,
                              size_t *ret_size)
{
    html_state *state = user;
    size_t used = 0;
    bool fits = true;
    *ret_size = 0;
    if (packed->at == packed->end && packed->is_last)
        return html_judge_end(state);
    while (fits && packed->at < packed->end && used < room) {
        if (state->phase == IN_FILE)
            fits = html_take(state, *packed->at, bytes, &used);
        else
            html_pass(state, *packed->at);
        packed->at += fits;
    }
    *ret_size = used;
    return fits ? FL_DECODED_SOME : FL_DECODED_DAMAGED;
}

static void *html_open(const fl_host *host)
{
    html_state *state = fl_new(host, sizeof *state, NULL);
    if (state != NULL)
        state->host = host;
    return state;
}

static void html_close(void *user)
{
    html_state *state = user;
    fl_delete(state->host, state, sizeof *state);
}

const fl_codec_ops fl_codec_html = {"html", html_probe, html_open, html_decode, html_close};
