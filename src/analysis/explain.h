/* What the parts of the explanation share: the message, its numbers, and sentences about them. */
#ifndef FL_ANALYSIS_EXPLAIN_H
#define FL_ANALYSIS_EXPLAIN_H

#include <fraglab/explain.h>

#include "base/units.h"

/* What a process takes of the card beside the allocator: context, kernels, libraries.  No message
 * tells it; more than this is taken for somebody else's. */
#define FL_USUAL_CONTEXT FL_GIB

/* One card has no more: a request beyond is a mistake of the program. */
#define FL_GARBAGE_SIZE (UINT64_C(1) << 40)

/* Memory of the card that PyTorch's numbers leave over. */
typedef struct fl_outside {
    fl_number all;        /* neither free nor reserved */
    fl_number of_others;  /* ... by processes that are not this one; may not be given */
    fl_number of_process; /* ... by this one, outside of the allocator; likewise */
    uint64_t process;     /* the pid under which this one is listed, where that can be told */
} fl_outside;

typedef struct fl_judge {
    const fl_message *message;
    fl_explanation *out;
    bool is_close;     /* a comparison on the way holds only as printed */
    bool is_estimated; /* ... or with what a context usually takes */
    fl_outside outside;
} fl_judge;

typedef struct fl_sized {
    char text[FL_FORMAT_SIZE];
} fl_sized;

/* A size as messages print it. */
fl_sized fl_say_size(uint64_t bytes);

void fl_say(fl_sentences *sentences, const char *format, ...) FL_PRINTF(2, 3);
void fl_say_sentence(fl_explanation *out, const char *format, ...) FL_PRINTF(2, 3);

/* A number of the message; not given where it does not say. */
static inline const fl_number *fl_get(const fl_judge *judge, fl_figure figure)
{
    return &judge->message->figures[figure];
}

/* Sums and differences (0 where negative) of what is given; not given where one is not. */
fl_number fl_number_add(fl_number a, fl_number b);
fl_number fl_number_subtract(fl_number a, fl_number b);

/* Whether a >= b as printed; notes if rounding may hide the opposite.  False where not given. */
bool fl_at_least(fl_judge *judge, fl_number a, fl_number b);

/* Whether a > b whatever rounding hides. */
bool fl_is_beyond(const fl_number *a, const fl_number *b);

/* Whether a cap below the card stands, which the request would have exceeded. */
bool fl_is_limited(const fl_judge *judge);

/* The parts, in this order. */
void fl_explain_request(fl_judge *judge); /* asked_from, asked_to */
void fl_explain_outside(fl_judge *judge); /* judge->outside */
void fl_explain_contradictions(fl_judge *judge);
void fl_explain_pytorch(fl_judge *judge);  /* the class, from the allocator's numbers */
void fl_explain_evidence(fl_judge *judge); /* the arithmetic behind it */
void fl_explain_advice(fl_judge *judge);
void fl_explain_printed_advice(fl_judge *judge);
bool fl_explain_others(fl_judge *judge); /* class and advice of all other messages; false: one of
                                            the allocator's */

/* Fills all of `ret` but the line. */
void fl_explain_message(const fl_message *message, fl_explanation *ret);

#endif
