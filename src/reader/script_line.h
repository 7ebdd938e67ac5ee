/* One operation of a script as text, without any knowledge of the lines before it. */
#ifndef FL_READER_SCRIPT_LINE_H
#define FL_READER_SCRIPT_LINE_H

#include "trace/trace.h"

/* Text within a line; not ended by a NUL. */
typedef struct fl_piece {
    const char *at;
    size_t length;
} fl_piece;

void fl_piece_blanks(fl_piece *piece);                   /* drops leading blanks */
void fl_piece_trim(fl_piece *piece);                     /* drops blanks on both sides */
bool fl_piece_starts(fl_piece piece, const char *start); /* does it start so? */
bool fl_piece_is(fl_piece piece, const char *word);      /* is it this? */
bool fl_piece_skip(fl_piece *piece, const char *start);  /* then also drops it */
bool fl_piece_word(fl_piece *piece, fl_piece *ret_word); /* takes the next word, if any */
bool fl_piece_number(fl_piece piece, uint64_t *ret);     /* decimal or 0x hexadecimal */

/* Lines that tell what was there before the first operation; kinds beside those of events. */
enum { FL_SCRIPT_SEGMENT = FL_EVENT_KIND_END, FL_SCRIPT_BLOCK };

typedef struct fl_script_line {
    fl_event event;  /* kind, flags, size or fraction, time_us; the rest has yet to be looked up */
    uint64_t device; /* <= FL_TRACE_MAX_DEVICE */
    uint64_t id;
    uint64_t stream;
    fl_pool_name pool;
    bool has_id, has_stream, has_pool;
    uint64_t requested;        /* of a block */
    uint64_t range_base, page; /* of a segment; page 0: not expandable */
    bool is_small, is_pending;
    fl_piece text;  /* of C and m */
    fl_piece stack; /* `at` NULL: none */
    fl_piece parts; /* all key=value parts */
    bool has_unknown;
} fl_script_line;

/* Reads a line without blanks around it.  False: `why` says what was expected. */
bool fl_script_parse(fl_piece text, fl_script_line *ret_line, char *why, size_t why_size);

/* Are these words parts `key=value` that lines of a kind may have, all with unknown keys? */
bool fl_script_is_unknown(uint8_t kind, fl_piece parts);

/* Takes the next part of `rest` whose key is not known. */
bool fl_script_next_unknown(const fl_script_line *line, fl_piece *rest, fl_piece *ret_part);

/* Is there an operation with this letter? */
bool fl_script_is_letter(char letter);

#endif
