/* Sizes (4): what a request becomes, and what is asked of the device for it. */
#ifndef FL_RULES_SIZES_H
#define FL_RULES_SIZES_H

#include "base/checked.h"
#include "base/units.h"
#include "rules/profile.h"

#define FL_MIN_BLOCK                UINT64_C(512) /* rounding unit, least remainder of a small split */
#define FL_SMALL_SIZE               FL_MIB        /* largest rounded request of the small pool */
#define FL_SMALL_SEGMENT            (2 * FL_MIB)  /* segment and page of the small pool */
#define FL_LARGE_SEGMENT            (20 * FL_MIB) /* default segment and page of the large pool */
#define FL_MIN_LARGE_ALLOC          (10 * FL_MIB) /* from here on a request gets its own size ... */
#define FL_ROUND_LARGE              (2 * FL_MIB)  /* ... rounded up to this */
#define FL_FIXED_NON_SPLIT_ROUNDING (20 * FL_MIB)

/* The slot of the divisions table for a size (4.1). */
static inline unsigned fl_division_slot(uint64_t size)
{
    unsigned log = fl_log2(size);
    unsigned slot = log > 20 ? log - 20 : 0;
    return slot < FL_ROUNDUP_SLOTS ? slot : FL_ROUNDUP_SLOTS - 1;
}

/* A request rounded to `divisions` steps between powers of two. */
uint64_t fl_round_to_divisions(uint64_t size, uint64_t divisions);

/* A size rounded where no setting has a say; UINT64_MAX where it would not fit. */
static inline uint64_t fl_round_plainly(uint64_t size)
{
    uint64_t rounded = (size + (size == 0) + (FL_MIN_BLOCK - 1)) & ~(FL_MIN_BLOCK - 1);
    return rounded >= size ? rounded : UINT64_MAX;
}

/* The rounded request R (4.1); UINT64_MAX where it would not fit. */
static inline uint64_t fl_round_size(const fl_profile *profile, const fl_settings *settings,
                                     uint64_t size)
{
    if (size < FL_MIN_BLOCK)
        return FL_MIN_BLOCK;
    uint64_t divisions = settings->divisions[fl_division_slot(size)];
    if (divisions == 1 && profile->one_division_unrounded && size > FL_MIN_BLOCK)
        return size;
    if (divisions > 1 && size > FL_MIN_BLOCK * divisions) /* wraps around in PyTorch, too */
        return fl_round_to_divisions(size, divisions);
    return fl_round_plainly(size);
}

/* The segment size A for a rounded request (4.3); UINT64_MAX where it would not fit. */
static inline uint64_t fl_segment_size(const fl_settings *settings, uint64_t rounded)
{
    if (rounded <= FL_SMALL_SIZE)
        return FL_SMALL_SEGMENT;
    if (rounded < FL_MIN_LARGE_ALLOC)
        return settings->large_segment_bytes;
    return fl_round_up(rounded, FL_ROUND_LARGE);
}

#endif
