/* A message on its way from text to numbers: where reading stands, and the values of its template.
 */
#ifndef FL_RULES_READING_VALUE_H
#define FL_RULES_READING_VALUE_H

#include "rules/clean.h"
#include "rules/layout.h"
#include "rules/quantity.h"

typedef struct fl_reader {
    fl_clean *text;
    size_t at; /* behind what is read */
    fl_message *message;
    bool is_recognised; /* what must be there was */
    bool owes_gap;      /* a blank is due before what comes next, which alone tells where it ends */
} fl_reader;

static inline int fl_reader_look(const fl_reader *reader, size_t ahead)
{
    return fl_clean_at(reader->text, reader->at + ahead);
}

static inline bool fl_is_word(int c)
{
    return fl_is_letter(c) || fl_is_digit(c) || c == '_';
}

static inline bool fl_is_blank(int c)
{
    return c == ' ' || c == '\n';
}

/* Reads a value where `reader` stands; processes and what is skipped are not for here. */
bool fl_reading_value(fl_reader *reader, fl_value value, bool needs_unit);

/* Whether the name of what PyTorch is built for (`CUDA`, `HIP`, ...) stands at `at`. */
bool fl_reading_is_backend(fl_clean *text, size_t at);

#endif
