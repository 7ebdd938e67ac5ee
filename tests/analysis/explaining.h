/* Explaining one text that holds one message. */
#ifndef EXPLAINING_H
#define EXPLAINING_H

#include <fraglab/explain.h>

/* The explanation of the only message of a text; valid until the next call.  Fails the test where
 * there is none, or more. */
const fl_explanation *explain_text(const char *text);

/* Whether one of the sentences contains these words. */
bool says(const fl_sentences *sentences, const char *words);

/* A message of 2.5 or later about a card of 8 GiB, from sizes as they are printed; `process` is
 * NULL or what stands there about processes. */
const fl_explanation *explain_sizes(const char *asked, const char *free, const char *process,
                                    const char *allocated, const char *unused);

#endif
