/* The free set of one pool and stream, in order of (size, tie) (5.1).
 *
 * Sizes below 2 MiB have a bin each; above, every power of two is cut into 32 bins.  Bitmaps find
 * the next bin that holds anything.  A bin is a list through the blocks themselves, kept in order;
 * one that grows long becomes an ordered set, so that no pattern of frees is slow. */
#ifndef FL_POLICY_TORCH_BINS_H
#define FL_POLICY_TORCH_BINS_H

#include <fraglab/policy.h>

enum {
    BINS_EXACT = 4096, /* bins of 512 bytes */
    BINS_PER_POWER = 32,
    BINS_WORDS = 86,       /* 64 bins each: the exact ones and those of 44 powers of two */
    BINS_LONGEST_LIST = 24 /* steps of a walk that make a bin an ordered set */
};

struct torch_bins {
    uint64_t summary[2];          /* words that are not zero */
    uint64_t words[BINS_WORDS];   /* bins that are not empty */
    uint32_t *groups[BINS_WORDS]; /* heads of 64 bins, made when first needed */
    uint32_t count;
};

void torch_bins_deinit(const fl_host *host, struct torch_bins *bins);

/* Adds a block; false, with the error filled, if the host has no memory. */
bool torch_bins_insert(struct fl_policy_state *st, struct torch_bins *bins, uint32_t index);
void torch_bins_remove(struct fl_policy_state *st, struct torch_bins *bins, uint32_t index);

/* The first block of at least `size`, the one behind or before another, the last; FL_NONE: none. */
uint32_t torch_bins_seek(const struct fl_policy_state *st, const struct torch_bins *bins,
                         uint64_t size);
uint32_t torch_bins_next(const struct fl_policy_state *st, const struct torch_bins *bins,
                         uint32_t index);
uint32_t torch_bins_previous(const struct fl_policy_state *st, const struct torch_bins *bins,
                             uint32_t index);
uint32_t torch_bins_last(const struct fl_policy_state *st, const struct torch_bins *bins);

#endif
