/* fraglab/verdict.h - what is wrong with a run that is short of memory, in one word.
 *
 * A replay proves a verdict from every decision; a printed message proves it from a handful of
 * rounded numbers, or does not (`unknown`).  Both use these words. */
#ifndef FRAGLAB_VERDICT_H
#define FRAGLAB_VERDICT_H

#include <fraglab/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fl_verdict {
    FL_VERDICT_FITS,          /* nothing was refused */
    FL_VERDICT_FULL,          /* what is live, with the request, exceeds the memory there is */
    FL_VERDICT_OUTSIDE,       /* memory that this allocator does not hold is what lacks */
    FL_VERDICT_LIMIT,         /* a fraction or cap stopped it, not the device */
    FL_VERDICT_FRAGMENTATION, /* enough is free, but in pieces that do not serve the request */
    FL_VERDICT_STREAMS,       /* enough is free, but on other streams */
    FL_VERDICT_PRIVATE_POOLS, /* enough is free, but in pools of their own (CUDA graphs) */
    FL_VERDICT_PENDING_FREES, /* enough is freed, but other streams may still be using it */
    FL_VERDICT_LEAK,          /* what is live grows step by step */
    FL_VERDICT_INCONSISTENT,  /* the numbers cannot all be true */
    FL_VERDICT_UNKNOWN,       /* what is known does not tell */
    FL_VERDICT_COUNT
} fl_verdict;

/* `private-pools` and so on.  Never NULL for a verdict of the list. */
FL_API const char *fl_verdict_name(fl_verdict verdict);

/* The verdict of that name; false, and *ret_verdict untouched, where there is none. */
FL_API bool fl_verdict_find(const char *name, fl_verdict *ret_verdict);

#ifdef __cplusplus
}
#endif

#endif
