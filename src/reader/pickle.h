/* Reading pickles of a known shape, without building what they describe.
 *
 * A pickle is a program for a small stack machine.  This one runs the instructions that plain data
 * needs and refuses, by name, all that would import, call or build anything.  It is told by a
 * schema which dictionaries and lists matter; each of those becomes a record that is handed over
 * once it is complete and then forgotten, and everything else is passed over.  So memory is what
 * the receiver keeps, the pickle's memo in 1 to 3 bytes for most of its entries and 8 for the rest,
 * and one copy of each different text.
 *
 * What it gives up: a dictionary or list that matters may be referred to again only where the
 * schema says that it is shared. */
#ifndef FL_READER_PICKLE_H
#define FL_READER_PICKLE_H

#include "reader/input.h"

typedef enum fl_tag {
    FL_TAG_NONE,
    FL_TAG_BOOL, /* bits: 0 or 1 */
    FL_TAG_INT,  /* bits: a signed number */
    FL_TAG_UINT, /* bits: a number from 2^63 to 2^64 - 1 */
    FL_TAG_WIDE, /* a number that needs more than 64 bits */
    FL_TAG_REAL, /* bits: of a double, from JSON without an exponent; else 0 */
    FL_TAG_TEXT, /* number: of the text; word: its code in the schema, or 0 */
    FL_TAG_PAIR, /* number: of a tuple or list of two numbers from 0 on; all up to here are plain */
    FL_TAG_ITEM, /* number: of a closed shared record or list of shape `word` */
    FL_TAG_DONE, /* another closed record or list of shape `word`, or several */
    FL_TAG_OPEN, /* one that is being filled; number: its place on the path */
    FL_TAG_AGAIN, /* a second look at one that is not shared */
    FL_TAG_OTHER, /* something that is passed over; word: what is known of a list, or 0 */
    FL_TAG_COUNT
} fl_tag;

typedef struct fl_value {
    uint64_t bits;
    uint32_t number;
    uint8_t tag; /* fl_tag */
    uint8_t word;
} fl_value;

#define FL_KEY_LIMIT   64 /* words that are keys have codes from 1 to 63 */
#define FL_SHAPE_LIMIT 24
#define FL_SHAPE_NONE  0 /* of what is passed over */

/* A dictionary that is complete. */
typedef struct fl_record {
    uint64_t has;  /* bit k: there is a key with word k */
    bool is_whole; /* filled at one go, so that nothing can be missing */
    fl_value values[FL_KEY_LIMIT];
} fl_record;

typedef struct fl_pickle fl_pickle;

/* What becomes of a value with this key in a record. */
typedef struct fl_shape_child {
    uint8_t word, shape;
} fl_shape_child;

/* A dictionary or list that is complete. */
typedef struct fl_closing {
    fl_pickle *pickle;
    const fl_record *record; /* of a dictionary: its values */
    const uint32_t *items;   /* of a shared list: the numbers of its elements */
    size_t item_count;
    uint32_t number; /* for the callback to set, if it is shared */
} fl_closing;

/* A kind of dictionary or list.  Callbacks fail without naming the place. */
typedef struct fl_shape {
    const char *what; /* "a trace entry" */
    bool is_list, is_shared;
    bool is_lenient;                /* unknown keys are not worth a word */
    bool is_loose;                  /* only counted: what does not fit is passed over */
    uint8_t element;                /* list: shape of its elements */
    const fl_shape_child *children; /* dictionary: ends with {0}; NULL: none has a shape */
    fl_status (*open)(void *user, fl_error *error); /* may be NULL, like close */
    fl_status (*close)(void *user, fl_closing *closing, fl_error *error);
} fl_shape;

typedef struct fl_schema {
    const fl_shape *shapes; /* by number; the first is not used */
    size_t shape_count;     /* at most FL_SHAPE_LIMIT */
    uint8_t root;
    uint8_t root_list;        /* what a list in its place is, or FL_SHAPE_NONE */
    const char *const *words; /* by code, below 256; the first is not used */
    size_t word_count;
    /* A record has a key that is no word of the schema; called once for each key and shape. */
    fl_status (*unknown_key)(void *user, const char *key, size_t length, const char *what,
                             fl_error *error);
} fl_schema;

/* Runs one pickle to its end.  *ret_cut tells that it was cut off, which is FL_OK only where the
 * options accept it; the innermost record is then closed if it is whole.  Bytes behind the pickle
 * stay unread. */
fl_status fl_pickle_read(fl_input *input, const fl_schema *schema, void *user, bool *ret_cut,
                         fl_error *error);

/* The bytes of a text; they last until the pickle ends. */
const char *fl_pickle_text(const fl_pickle *pickle, const fl_value *text, size_t *ret_length);

/* A number that the receiver keeps with a text; FL_NONE at first. */
uint32_t *fl_pickle_text_number(fl_pickle *pickle, const fl_value *text);

void fl_pickle_pair(const fl_pickle *pickle, const fl_value *pair, uint64_t *ret_first,
                    uint64_t *ret_second);

/* A number from 0 to 2^64 - 1? */
static inline bool fl_value_is_count(const fl_value *value)
{
    return value->tag == FL_TAG_UINT || (value->tag == FL_TAG_INT && (int64_t)value->bits >= 0);
}

/* What a value is, for messages: "a text". */
const char *fl_value_text(const fl_value *value);

#endif
