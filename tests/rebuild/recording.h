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
void recording_make(recording *ret, const char *name, const char *script, size_t size);

/* The same by another release (NULL: the newest), whose entries name pools or do not. */
void recording_make_as(recording *ret, const char *name, const char *script, size_t size,
                       const fl_profile *profile, bool names_pools);
void recording_free(recording *ret);

/* The same history in memory of another host. */
fl_status recording_copy(const recording *run, const fl_host *host, fl_trace **ret_trace,
                         fl_error *error);

/* What a ring buffer that lost the first `lost` events has kept of it. */
fl_trace *recording_cut(const recording *run, uint64_t lost);

/* The same, but recording was stopped before the last `missed` events. */
fl_trace *recording_stop(const recording *run, uint64_t lost, uint64_t missed);

/* A history from words, for the columns alone: `a1` a request, `o1` a refused one, `f1` a free,
 * `d1` its completion, `S+` `S-` `M+` `M-` segments of 2 MiB (or `S+5`: 5 MiB), `s` a snapshot
 * entry.  A word may end in `/N`, the number of its stack. */
fl_trace *history_make(const char *words);

#endif
