/* Diagnoses of scripts, for the tests of every part. */
#ifndef DIAGNOSING_H
#define DIAGNOSING_H

#include "analysis/diagnose.h"
#include "base/units.h"

#define MIB(n) ((uint64_t)(n)*FL_MIB)

typedef struct diagnosing {
    char *text; /* the script */
    fl_trace *trace;
    fl_replay_options options;
    fl_diagnosis diagnosis;
} diagnosing;

fl_trace *script_read(const char *script);

/* PyTorch 2.9.1 on a card of so much memory. */
fl_replay_options options_on(uint64_t card);

/* Diagnoses a script, or a file of one; fails the test where it cannot. */
diagnosing diagnose_with(const char *script, const fl_replay_options *options);
diagnosing diagnose_script(const char *script, uint64_t card);
diagnosing diagnose_file(const char *path, uint64_t card);
void diagnosing_close(diagnosing *d);

/* Writes the frees of the pins into the script, just before the refused request, and replays that:
 * does the request succeed? */
bool pins_let_it_succeed(const diagnosing *d);

#endif
