/* Tails of blocks from before a cut window that no address shows, but decisions do. */
#ifndef FL_REBUILD_TAILS_H
#define FL_REBUILD_TAILS_H

#include "rebuild/compare.h"
#include "replay/replay.h"

/* The size of a tail that must be at least there. */
typedef struct fl_tail {
    uint64_t block; /* its address */
    uint64_t bytes; /* 0: nothing was learnt */
} fl_tail;

/* Did the replay take what lies behind a block whose tail is open, where the record did not?  Then
 * the least tail that explains it.  Judged by the state of the replay right after. */
fl_status fl_tails_judge(const fl_miss *miss, const fl_trace *trace, size_t device,
                         const fl_replay *replay, fl_tail *ret_tail, fl_error *error);

/* Keeps it among `tails`, for the next time that the start state is placed.  FL_ERR_RESOURCE. */
fl_status fl_tails_learn(const fl_host *host, struct fl_u64_vector *tails, const fl_tail *tail,
                         fl_error *error);

/* How large one can be that is behind a block of `requested` bytes: what is too large to be split
 * is given whole. */
uint64_t fl_tails_most(const fl_profile *profile, const fl_settings *settings, uint64_t requested);

/* What was learnt of the block at an address; 0: nothing. */
uint64_t fl_tails_known(const fl_trace_start *start, uint64_t block);

#endif
