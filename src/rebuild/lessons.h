/* What the first difference shows of what was there before a cut window. */
#ifndef FL_REBUILD_LESSONS_H
#define FL_REBUILD_LESSONS_H

#include "rebuild/ages.h"
#include "rebuild/tails.h"

typedef struct fl_lesson {
    fl_excuse excuse; /* where it cannot be learnt, or was not enough; NONE: it shows nothing */
    fl_tail tail;     /* of no bytes: nothing of tails */
    fl_ages_shown ages;
} fl_lesson;

/* What decisions have shown, in the form that fl_trace_start has it in. */
typedef struct fl_lessons {
    struct fl_u64_vector ages, tails;
    uint64_t left; /* how many more may be learnt */
} fl_lessons;

void fl_lessons_deinit(const fl_host *host, fl_lessons *lessons);

/* Judges by the state of the replay right after the difference.  FL_ERR_RESOURCE. */
fl_status fl_lesson_judge(const fl_miss *miss, const fl_trace *trace, size_t device,
                          const fl_replay *replay, fl_lesson *ret_lesson, fl_error *error);

/* Adds what one shows; *ret_is_new: another try may come further.  FL_ERR_RESOURCE. */
fl_status fl_lessons_learn(const fl_host *host, fl_lessons *lessons, const fl_lesson *lesson,
                           bool *ret_is_new, fl_error *error);

/* Makes `to` hold the same; how many are left is another matter.  FL_ERR_RESOURCE. */
fl_status fl_lessons_copy(const fl_host *host, const fl_lessons *from, fl_lessons *to,
                          fl_error *error);

/* Makes a start state know them, for when it is placed.  FL_ERR_RESOURCE. */
fl_status fl_lessons_tell(const fl_host *host, const fl_lessons *lessons, fl_trace_start *start,
                          fl_error *error);

#endif
