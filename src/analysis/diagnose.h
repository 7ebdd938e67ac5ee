/* Diagnosis: is it fragmentation at all, where did it begin, who holds the memory, and what would
 * have made it fit.
 *
 * Everything is an outcome of replays.  One finds the points (analysis/points.h) and the refusal; a
 * second stops at them and asks the policy what stands in the way; further ones leave something out
 * (streams, private pools, pending frees, memory outside) or change the settings, and the refused
 * request says whether that was it.  Nothing is recommended that was not replayed. */
#ifndef FL_ANALYSIS_DIAGNOSE_H
#define FL_ANALYSIS_DIAGNOSE_H

#include "analysis/owners.h"
#include "analysis/pins.h"
#include "analysis/points.h"

#include <fraglab/capacity.h>
#include <fraglab/replay.h>
#include <fraglab/trouble.h>

/* A fragmentation point, and what the cache held there.  The first two are looked at before their
 * request, the out-of-memory after everything that its release tries. */
typedef struct fl_point {
    uint64_t event; /* FL_NO_EVENT: there is none, and nothing below counts */
    uint64_t requested_bytes;
    uint32_t stack, phase;
    fl_totals totals;
    uint64_t device_free_bytes;
    bool has_probe; /* false: the policy cannot be asked */
    fl_probe probe;
} fl_point;

/* A live block in the way. */
typedef struct fl_pin {
    uint32_t id;
    uint64_t address, size, requested;
    fl_owner owner;
} fl_pin;

/* What one segment would need. */
typedef struct fl_pinned_segment {
    fl_segment_view segment;
    uint64_t pinned_bytes, gained_bytes;
    size_t pin_count;
    bool goes_back; /* to the device, whole; else room in the cache */
    bool suffices;  /* alone */
} fl_pinned_segment;

/* Settings that were tried, and what came of it. */
typedef struct fl_remedy {
    const char *conf;       /* static */
    unsigned spare_percent; /* it also fits a card so much smaller: 0, 2, 5, 10, 20 were tried */
    uint64_t peak_reserved_bytes;
    uint64_t driver_calls;
} fl_remedy;

FL_VECTOR(fl_pin_list, fl_pin);
FL_VECTOR(fl_pinned_segments, fl_pinned_segment);
FL_VECTOR(fl_remedies, fl_remedy);

typedef struct fl_diagnosis {
    fl_trouble trouble;
    bool has_events; /* false: from the final state alone, the points are none */
    fl_replay_summary summary;
    uint64_t capacity_bytes;      /* FL_UNLIMITED: none */
    uint64_t smallest_card_bytes; /* from there on every card would do; FL_UNLIMITED: not known */
    uint64_t outside_bytes;       /* taken by others at the out-of-memory */
    fl_point points[FL_POINT_COUNT];

    /* The cheapest blocks whose freeing just before the refused request lets it succeed, as a
     * replay has shown; none: there are none, or nothing was refused. */
    struct fl_pin_list pins;
    uint64_t pinned_bytes;
    struct fl_pinned_segments segments; /* the cheapest set of each, cheapest first */

    /* Who was live when most was allocated. */
    uint64_t peak_event;
    fl_totals peak;
    struct fl_groups live[FL_GROUPING_COUNT];

    fl_group leak;               /* LEAK: what grows; key: a stack */
    struct fl_remedies remedies; /* settings with which everything is served, best first */
    size_t remedies_tried;
    fl_owners owners;
} fl_diagnosis;

typedef struct fl_diagnose_options {
    fl_replay_options replay; /* its watcher, progress, `on_oom` and `is_lean` are not looked at */
    unsigned jobs;            /* threads for the search of the smallest card */
} fl_diagnose_options;

/* Diagnoses one device's events; a trace without events from its final state.  On success the
 * caller ends *ret_diagnosis with fl_diagnosis_deinit. */
fl_status fl_diagnose(const fl_trace *trace, const fl_diagnose_options *options,
                      fl_diagnosis *ret_diagnosis, fl_error *error);
void fl_diagnosis_deinit(fl_diagnosis *diagnosis);

/* The one-line verdict: a sentence without its full stop. */
void fl_diagnosis_sentence(const fl_diagnosis *diagnosis, char *buffer, size_t size);

/* "freeing these 2 blocks (18 MiB, ...) would have let the request fit"; empty: no pins. */
void fl_diagnosis_counterfactual(const fl_diagnosis *diagnosis, char *buffer, size_t size);

#endif
