/* Inside of a diagnosis, shared by its files. */
#ifndef FL_ANALYSIS_DIAGNOSE_STATE_H
#define FL_ANALYSIS_DIAGNOSE_STATE_H

#include "analysis/diagnose.h"

typedef struct fl_diagnosing {
    const fl_host *host;
    const fl_trace *trace;
    fl_replay_options options; /* of a plain replay: nobody watches, it stops at a refusal */
    unsigned jobs;
    fl_picture at_oom;  /* the heap just before the refused request */
    fl_probe oom_probe; /* what the policy said of it then */
    bool has_oom_probe;
    fl_diagnosis *result;
} fl_diagnosing;

/* A replay that is not watched, to its end. */
fl_status fl_diagnose_run(const fl_diagnosing *d, const fl_replay_options *options,
                          fl_replay_summary *ret_summary, fl_error *error);

/* Options with which what was there before a cut window is asked for anew: where anything differs
 * from the record, it cannot keep its place. */
fl_replay_options fl_diagnose_anew(const fl_diagnosing *d);

/* diagnose_class.c: fills in `trouble`. */
fl_status fl_diagnose_classify(fl_diagnosing *d, fl_error *error);
/* diagnose_leak.c: does what is live grow step by step until it fails?  Fills in `leak`. */
fl_status fl_diagnose_find_leak(const fl_diagnosing *d, bool *ret_leaks, fl_error *error);
/* diagnose_pins.c: fills in `pins` and `segments`. */
fl_status fl_diagnose_pins(fl_diagnosing *d, fl_error *error);
/* diagnose_remedy.c: fills in `remedies`. */
fl_status fl_diagnose_remedies(fl_diagnosing *d, fl_error *error);
/* diagnose_final.c: a trace without events. */
fl_status fl_diagnose_final(fl_diagnosing *d, fl_error *error);

#endif
