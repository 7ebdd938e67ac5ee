/* fraglab/explain.h - finds out-of-memory messages in any text, and says what their numbers prove.
 *
 * Text is fed in pieces of any size, so that a log of any length needs no more memory than a line
 * of it.  Every message found is handed on at once, in the order of the text. */
#ifndef FRAGLAB_EXPLAIN_H
#define FRAGLAB_EXPLAIN_H

#include <fraglab/base.h>
#include <fraglab/message.h>
#include <fraglab/read.h>
#include <fraglab/trouble.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fl_certainty {
    FL_CERTAINTY_PROVED,  /* by the numbers, whatever their rounding hides */
    FL_CERTAINTY_LIKELY,  /* by the numbers as printed, or with what a context usually takes */
    FL_CERTAINTY_GUESSED, /* by what usually makes a program print this: there is no number to it */
    FL_CERTAINTY_NONE     /* of `unknown` */
} fl_certainty;

FL_API const char *fl_certainty_name(fl_certainty certainty);

#define FL_SENTENCE_SIZE  480
#define FL_SENTENCES_MOST 8

typedef struct fl_sentences {
    char items[FL_SENTENCES_MOST][FL_SENTENCE_SIZE];
    size_t count;
} fl_sentences;

/* Numbers that cannot all be true, beyond what rounding explains. */
typedef struct fl_contradiction {
    char sentence[FL_SENTENCE_SIZE];
    const char *const *causes; /* known ones, the likeliest first; ends with NULL */
} fl_contradiction;

#define FL_CONTRADICTIONS_MOST 8

typedef enum fl_helps { FL_HELPS_NO, FL_HELPS_MAYBE } fl_helps;

typedef struct fl_explanation {
    fl_message message;
    uint64_t line; /* where it begins, from 1 */
    fl_trouble trouble;
    fl_certainty certainty;
    /* What was asked for, before the allocator rounded it to a segment: this to that many bytes;
     * 0: the message does not tell. */
    uint64_t asked_from, asked_to;
    char sentence[FL_SENTENCE_SIZE]; /* what is wrong */
    fl_sentences evidence;           /* the arithmetic */
    fl_contradiction contradictions[FL_CONTRADICTIONS_MOST];
    size_t contradiction_count;
    fl_sentences advice; /* the most certain first */
    fl_helps printed_advice_helps;
    char printed_advice[FL_SENTENCE_SIZE]; /* why; empty where the message gives no advice */
} fl_explanation;

typedef struct fl_explain fl_explain;

/* Takes a message; it is valid during the call only.  Anything but FL_OK ends the search. */
typedef fl_status fl_explain_sink(void *user, const fl_explanation *explanation, fl_error *error);

/* On success the caller owns *ret_explain; `host` NULL: the default host.  FL_ERR_RESOURCE. */
FL_API fl_status fl_explain_open(const fl_host *host, fl_explain_sink *sink, void *user,
                                 fl_explain **ret_explain, fl_error *error);

/* The next piece of the text.  Fails only as the sink does. */
FL_API fl_status fl_explain_feed(fl_explain *explain, const void *data, size_t size,
                                 fl_error *error);

/* The text has ended: messages at its end are handed on. */
FL_API fl_status fl_explain_finish(fl_explain *explain, fl_error *error);

FL_API void fl_explain_close(fl_explain *explain); /* accepts NULL */

/* All of that for a file (`-`: standard input; gzip and zstd are unpacked).  Of the options
 * `format` and `accept_cut` do not matter: what was read before the end counts.  As for
 * fl_read_file: FL_ERR_INPUT, FL_ERR_UNAVAILABLE, FL_ERR_RESOURCE. */
FL_API fl_status fl_explain_file(const char *path, const fl_read_options *options,
                                 fl_explain_sink *sink, void *user, fl_error *error);

#ifdef __cplusplus
}
#endif

#endif
