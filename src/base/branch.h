/* Hints on how a program runs, for the few functions where most of the time is spent. */
#ifndef FL_BASE_BRANCH_H
#define FL_BASE_BRANCH_H

#define FL_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define FL_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A function that is hardly ever called, kept out of those that call it. */
#define FL_COLD __attribute__((cold, noinline))

/* One that is always made part of those that call it. */
#define FL_INLINE static inline __attribute__((always_inline))

#endif
