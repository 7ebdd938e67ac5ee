/* What a recorded history can and cannot tell, and what to record better next time. */
#ifndef FL_CLI_ADVICE_H
#define FL_CLI_ADVICE_H

#include "cli/survey.h"

#define FL_ADVICE_MOST 12

typedef struct fl_advice {
    char covers[240];                      /* how much of the run */
    const char *lacks[FL_ADVICE_MOST];     /* what is not known, and so is not told */
    const char *next_time[FL_ADVICE_MOST]; /* one for each, or NULL: nothing helps */
    size_t count;
} fl_advice;

/* Of one device of a snapshot. */
void fl_advice_give(const fl_trace *trace, size_t device, const fl_survey *survey,
                    fl_advice *ret_advice);

#endif
