/* Whose memory it is: for every allocation of a trace when it was made and freed, where, in which
 * phase; and who holds what at a moment. */
#ifndef FL_ANALYSIS_OWNERS_H
#define FL_ANALYSIS_OWNERS_H

#include "base/vector.h"
#include "heap/picture.h"

#include <fraglab/trace.h>

#define FL_NO_EVENT UINT64_MAX

typedef struct fl_owner {
    uint64_t made;  /* event; FL_NO_EVENT: before the first one */
    uint64_t freed; /* event; FL_NO_EVENT: not in the trace */
    uint64_t size;  /* as asked for */
    uint32_t stack; /* or FL_NONE */
    uint32_t phase; /* text of the last mark before it was made, or FL_NONE */
} fl_owner;

/* Takes 32 bytes an allocation. */
typedef struct fl_owners {
    const fl_host *host;
    const fl_trace *trace;
    size_t device;
    fl_owner *items; /* by id */
    uint32_t count;
} fl_owners;

/* On success the caller ends it with fl_owners_deinit.  FL_ERR_RESOURCE. */
fl_status fl_owners_init(fl_owners *owners, const fl_host *host, const fl_trace *trace,
                         size_t device, fl_error *error);
void fl_owners_deinit(fl_owners *owners);

/* An id beyond those known is of nobody: made and freed never, without stack and phase. */
fl_owner fl_owners_get(const fl_owners *owners, uint32_t id);

typedef enum fl_grouping {
    FL_BY_STACK,    /* key: index of a stack */
    FL_BY_PHASE,    /* key: a text */
    FL_BY_CATEGORY, /* key: a text */
    FL_GROUPING_COUNT
} fl_grouping;

typedef struct fl_group {
    uint32_t key; /* FL_NONE: nothing tells */
    uint64_t bytes, blocks;
} fl_group;

FL_VECTOR(fl_groups, fl_group);

/* The live blocks of a picture in groups, most bytes first, then by key.  `groups` is empty before;
 * the caller ends it with fl_vector_deinit, also after a failure. */
fl_status fl_owners_group(const fl_owners *owners, const fl_picture *picture, fl_grouping grouping,
                          struct fl_groups *groups, fl_error *error);

#endif
