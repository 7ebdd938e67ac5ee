/* fraglab/trouble.h - what is wrong with a run that is short of memory, in one word.
 *
 * A replay proves it from every decision; a printed message proves it from a handful of
 * rounded numbers, or does not (`unknown`).  Both use these words. */
#ifndef FRAGLAB_TROUBLE_H
#define FRAGLAB_TROUBLE_H

#include <fraglab/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum fl_trouble {
    FL_TROUBLE_FITS,          /* nothing was refused */
    FL_TROUBLE_FULL,          /* what is live, with the request, exceeds the memory there is */
    FL_TROUBLE_OUTSIDE,       /* memory that this allocator does not hold is what lacks */
    FL_TROUBLE_LIMIT,         /* a fraction or cap stopped it, not the device */
    FL_TROUBLE_FRAGMENTATION, /* enough is free, but in pieces that do not serve the request */
    FL_TROUBLE_STREAMS,       /* enough is free, but on other streams */
    FL_TROUBLE_PRIVATE_POOLS, /* enough is free, but in pools of their own (CUDA graphs) */
    FL_TROUBLE_PENDING_FREES, /* enough is freed, but other streams may still be using it */
    FL_TROUBLE_LEAK,          /* what is live grows step by step */
    FL_TROUBLE_INCONSISTENT,  /* the numbers cannot all be true */
    FL_TROUBLE_UNKNOWN,       /* what is known does not tell */
    FL_TROUBLE_COUNT
} fl_trouble;

/* `private-pools` and so on.  Never NULL for one of the list. */
FL_API const char *fl_trouble_name(fl_trouble trouble);

/* The one of that name; false, and *ret_trouble untouched, where there is none. */
FL_API bool fl_trouble_find(const char *name, fl_trouble *ret_trouble);

#ifdef __cplusplus
}
#endif

#endif
