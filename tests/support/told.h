/* Small snapshots for tests, from lines of words.
 *
 * Events: `ACTION ADDRESS SIZE [TIME]`, the address in hexadecimal; without a time it is the number
 * of the line.  The final state: `small ADDRESS SIZE` or `large ADDRESS SIZE` begins a segment,
 * then `live SIZE REQUESTED`, `pending SIZE REQUESTED` or `free SIZE` for each of its blocks. */
#ifndef TOLD_H
#define TOLD_H

#include <fraglab/trace.h>

/* As releases write it that leave out kinds of events if asked to (2.11), or that cannot (2.9).
 * Fails the test that is running where it cannot be read. */
fl_trace *told_read(const char *events, const char *state);
fl_trace *told_read_old(const char *events, const char *state);

#endif
