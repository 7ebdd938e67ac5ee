/* The free set of one pool and stream, in order of (size, tie) (5.1).
 *
 * Sizes below 128 KiB have a bin each; above, every power of two is cut into 128 bins.  Bitmaps
 * find the next bin that holds anything.  A bin is a list through the blocks themselves, kept in
 * order; one that grows long becomes an ordered set, so that no pattern of frees is slow.
 *
 * Half of what a replay does is done here, so that what is usual is inline and, where what happens
 * is as good as random, without branches: a branch that is guessed wrong costs as much as 60
 * instructions. */
#ifndef FL_POLICY_TORCH_BINS_H
#define FL_POLICY_TORCH_BINS_H

#include "base/branch.h"
#include "policy/torch/state.h"

enum { BINS_LONGEST_LIST = 96 /* steps of a walk that make a bin an ordered set */ };

/* A head with this bit names an ordered set instead of a block. */
#define BINS_SET_BIT (UINT32_C(1) << 31)
/* What a block in such a set has in place of the block before it. */
#define BINS_IN_SET (FL_NONE - 1)

void torch_bins_deinit(const fl_host *host, struct torch_bins *bins);

/* The first block of at least `size`, the one behind or before another, the last; or NO_BLOCK. */
static inline uint32_t torch_bins_seek(const torch *st, const struct torch_bins *bins,
                                       uint64_t size);
uint32_t torch_bins_next(const torch *st, const struct torch_bins *bins, uint32_t index);
uint32_t torch_bins_previous(const torch *st, const struct torch_bins *bins, uint32_t index);
uint32_t torch_bins_last(const torch *st, const struct torch_bins *bins);

/* What is not usual: a search that goes on from a bin that is a set or holds nothing of use, the
 * heads of 64 more bins, and bins that are ordered sets or shall become one. False or NULL, with
 * the error filled: the host has no memory. */
uint32_t torch_bins_seek_behind(const torch *st, const struct torch_bins *bins, uint32_t bin,
                                uint64_t size);
uint32_t *torch_bins_make_group(const torch *st, struct torch_bins *bins, uint32_t word);
bool torch_bins_make_set(torch *st, uint32_t *head);
bool torch_bins_insert_in_set(torch *st, uint32_t head, uint32_t index);
void torch_bins_remove_from_set(torch *st, struct torch_bins *bins, uint32_t index);

static inline uint32_t torch_bin_of(uint64_t size)
{
    uint64_t units = size / FL_MIN_BLOCK;
    unsigned shift = fl_log2(units | 1 << BINS_SHIFT) - BINS_SHIFT;
    uint64_t bin = ((uint64_t)shift << BINS_SHIFT) + (units >> shift);
    return bin < 64 * BINS_WORDS ? (uint32_t)bin : 64 * BINS_WORDS - 1;
}

/* What orders blocks of equal size: address, age of the object, or age of the segment in the high
 * bits over the offset in it. */
static inline uint64_t torch_bins_tie(const torch *st, const struct torch_block *block)
{
    const struct torch_segment *segment;
    switch (st->tie) {
    case FL_TIE_ADDRESS:
        return block->address;
    case FL_TIE_BLOCK:
        return block->tie;
    case FL_TIE_SEGMENT:
        break;
    }
    segment = &st->segments.items[block->segment];
    return segment->age << 36 | (block->address - segment->address) / FL_MIN_BLOCK;
}

static inline bool torch_bins_is_before(const struct torch_block *block, uint64_t size,
                                        uint64_t tie)
{
    return (block->size < size) | ((block->size == size) & (block->tie < tie));
}

/* Says that a bin, which held something, holds nothing any more, or still does. */
static inline void torch_bins_mark_empty(struct torch_bins *bins, uint32_t bin, bool is_empty)
{
    uint32_t word = bin / 64;
    uint64_t bits = bins->words[word] ^ (uint64_t)is_empty << (bin % 64);
    bins->words[word] = bits;
    bins->summary ^= (uint64_t)(bits == 0) << word;
}

static inline uint32_t torch_bins_seek(const torch *st, const struct torch_bins *bins,
                                       uint64_t size)
{
    const struct torch_block *blocks = st->blocks.items;
    uint32_t bin = torch_bin_of(size), word = bin / 64;
    uint64_t bits = bins->words[word] & (~UINT64_C(0) << (bin % 64));
    if (bits == 0) {
        uint64_t words = bins->summary & (~UINT64_C(1) << word);
        if (words == 0)
            return NO_BLOCK;
        word = (uint32_t)__builtin_ctzll(words);
        bits = bins->words[word];
    }
    unsigned bit = (unsigned)__builtin_ctzll(bits);
    uint32_t index = bins->groups[word][bit];
    if (FL_UNLIKELY(index & BINS_SET_BIT))
        return torch_bins_seek_behind(st, bins, word * 64 + bit, size);
    while (blocks[index].size < size)
        index = blocks[index].bin_next;
    return FL_LIKELY(index != NO_BLOCK) ? index
                                        : torch_bins_seek_behind(st, bins, word * 64 + bit, size);
}

/* Adds a block; false, with the error filled, if the host has no memory. */
static inline bool torch_bins_insert(torch *st, struct torch_bins *bins, uint32_t index)
{
    struct torch_block *blocks = st->blocks.items, *block = &blocks[index];
    uint64_t size = block->size, tie = block->tie = torch_bins_tie(st, block);
    uint32_t bin = torch_bin_of(size), before = NO_BLOCK, steps = 0;
    uint32_t *heads = bins->groups[bin / 64];
    if (FL_UNLIKELY(heads == NULL) && (heads = torch_bins_make_group(st, bins, bin / 64)) == NULL)
        return false;
    block->bin = (uint16_t)bin;
    uint32_t *head = &heads[bin % 64], next = *head;
    if (FL_UNLIKELY(next & BINS_SET_BIT))
        return torch_bins_insert_in_set(st, next, index);
    for (; torch_bins_is_before(&blocks[next], size, tie); steps++) {
        before = next;
        next = blocks[next].bin_next;
    }
    block->bin_previous = before;
    block->bin_next = next;
    blocks[next].bin_previous = index;
    blocks[before].bin_next = index;
    *head = before != NO_BLOCK ? *head : index;
    bins->words[bin / 64] |= UINT64_C(1) << (bin % 64);
    bins->summary |= UINT64_C(1) << (bin / 64);
    return FL_LIKELY(steps < BINS_LONGEST_LIST) || torch_bins_make_set(st, head);
}

static inline void torch_bins_remove(torch *st, struct torch_bins *bins, uint32_t index)
{
    struct torch_block *blocks = st->blocks.items;
    uint32_t before = blocks[index].bin_previous, next = blocks[index].bin_next;
    if (FL_UNLIKELY(before == BINS_IN_SET)) {
        torch_bins_remove_from_set(st, bins, index);
        return;
    }
    uint32_t bin = blocks[index].bin;
    uint32_t *head = &bins->groups[bin / 64][bin % 64];
    blocks[next].bin_previous = before;
    blocks[before].bin_next = next;
    *head = before != NO_BLOCK ? *head : next;
    torch_bins_mark_empty(bins, bin, (before | next) == NO_BLOCK);
}

#endif
