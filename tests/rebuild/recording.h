/* A snapshot of our own making: what PyTorch's recorder would have written while a script ran.
 *
 * The script is replayed by the torch policy over a simulated card; each step becomes an entry of
 * the history, in the recorder's order, and the last state becomes the final state.  What such a
 * file does not say (empty_cache, why a free completed) the recording keeps aside, so that a test
 * can see whether it was inferred. */
#ifndef RECORDING_H
#define RECORDING_H

#include "trace/build.h"

#include <fraglab/replay.h>

typedef struct recording {
    fl_trace *trace;
    uint64_t trims;  /* empty_cache calls that gave memory back */
    uint64_t waited; /* completions that an op waited for, not those found done */
    uint64_t retries, ooms;
} recording;

/* Fails the test that is running where the script cannot be replayed. */
void recording_make(recording *recording, const char *name, const char *script, size_t size);
void recording_free(recording *recording);

#endif
