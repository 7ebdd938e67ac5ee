#include "policy/torch/bins.h"

#include "base/memory.h"
#include "policy/torch/torch.h"

/* A head with this bit names an ordered set instead of a block. */
#define BINS_SET_BIT (UINT32_C(1) << 31)
/* What a block in such a set has in place of the block before it. */
#define BINS_IN_SET (FL_NONE - 1)

static uint32_t bins_of_size(uint64_t size)
{
    uint64_t units = size / FL_MIN_BLOCK;
    if (units < BINS_EXACT)
        return (uint32_t)units;
    unsigned log = fl_log2(units);
    return BINS_EXACT + (log - 12) * BINS_PER_POWER + ((uint32_t)(units >> (log - 5)) & 31);
}

/* What orders blocks of equal size: address, age of the object, or age of the segment in the high
 * bits over the offset in it. */
static void bins_set_tie(const torch *st, struct torch_block *block)
{
    const struct torch_segment *segment;
    switch (st->tie) {
    case FL_TIE_ADDRESS:
        block->tie = block->address;
        break;
    case FL_TIE_BLOCK:
        break;
    case FL_TIE_SEGMENT:
        segment = &st->segments.items[block->segment];
        block->tie = segment->age << 36 | (block->address - segment->address) / FL_MIN_BLOCK;
        break;
    }
}

static bool bins_is_before(const struct torch_block *block, uint64_t size, uint64_t tie)
{
    return block->size < size || (block->size == size && block->tie < tie);
}

static uint32_t bins_head(const struct torch_bins *bins, uint32_t bin)
{
    return bins->groups[bin / 64][bin % 64];
}

static bool bins_is_empty(const struct torch_bins *bins, uint32_t bin)
{
    return (bins->words[bin / 64] >> (bin % 64) & 1) == 0;
}

static void bins_set_head(struct torch_bins *bins, uint32_t bin, uint32_t head)
{
    bins->groups[bin / 64][bin % 64] = head;
}

static void bins_mark_full(struct torch_bins *bins, uint32_t bin)
{
    uint32_t word = bin / 64;
    bins->words[word] |= UINT64_C(1) << (bin % 64);
    bins->summary[word / 64] |= UINT64_C(1) << (word % 64);
}

static void bins_mark_empty(struct torch_bins *bins, uint32_t bin)
{
    uint32_t word = bin / 64;
    bins->words[word] &= ~(UINT64_C(1) << (bin % 64));
    if (bins->words[word] == 0)
        bins->summary[word / 64] &= ~(UINT64_C(1) << (word % 64));
}

/* The first bin above or below `bin` that is not empty; FL_NONE: there is none. */
static uint32_t bins_above(const struct torch_bins *bins, uint32_t bin)
{
    uint32_t word = bin / 64;
    uint64_t rest = bins->words[word] & (~UINT64_C(1) << (bin % 64));
    if (rest == 0) {
        uint32_t part = word / 64;
        uint64_t words = bins->summary[part] & (~UINT64_C(1) << (word % 64));
        if (words == 0 && part == 0)
            words = bins->summary[part = 1];
        if (words == 0)
            return FL_NONE;
        word = part * 64 + (uint32_t)__builtin_ctzll(words);
        rest = bins->words[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(rest);
}

static uint32_t bins_below(const struct torch_bins *bins, uint32_t bin)
{
    uint32_t word = bin / 64;
    uint64_t rest = bins->words[word] & ((UINT64_C(1) << (bin % 64)) - 1);
    while (rest == 0 && word > 0)
        rest = bins->words[--word];
    return rest == 0 ? FL_NONE : word * 64 + 63 - (uint32_t)__builtin_clzll(rest);
}

void torch_bins_deinit(const fl_host *host, struct torch_bins *bins)
{
    for (size_t i = 0; i < BINS_WORDS; i++)
        fl_delete(host, bins->groups[i], 64 * sizeof *bins->groups[i]);
}

/* ---- bins that have become ordered sets ------------------------------------------------------ */

static fl_ordered *bins_set_at(const torch *st, uint32_t head)
{
    return &st->bin_sets.items[head & ~BINS_SET_BIT];
}

static bool bins_set_insert(torch *st, fl_ordered *set, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    block->bin_previous = BINS_IN_SET;
    if (fl_ordered_insert(st->host, set, block->size, block->tie, index))
        return true;
    fl_fail(st->error, FL_ERR_RESOURCE, "out of memory: the free set cannot grow");
    return false;
}

/* Turns a long list into a set. */
static bool bins_make_set(torch *st, struct torch_bins *bins, uint32_t bin)
{
    uint32_t number = st->unused_bin_sets.count > 0
                          ? st->unused_bin_sets.items[--st->unused_bin_sets.count]
                          : (uint32_t)st->bin_sets.count;
    if (number == st->bin_sets.count) {
        if (!fl_vector_reserve(st->host, &st->bin_sets, 1, st->error) ||
            !fl_vector_reserve(st->host, &st->unused_bin_sets,
                               st->bin_sets.count + 1 - st->unused_bin_sets.count, st->error))
            return false;
        st->bin_sets.items[st->bin_sets.count++] = (fl_ordered){0};
    }
    for (uint32_t i = bins_head(bins, bin); i != FL_NONE; i = torch_block_at(st, i)->bin_next)
        if (!bins_set_insert(st, &st->bin_sets.items[number], i))
            return false;
    bins_set_head(bins, bin, number | BINS_SET_BIT);
    return true;
}

static void bins_set_remove(torch *st, struct torch_bins *bins, uint32_t bin,
                            const struct torch_block *block)
{
    uint32_t head = bins_head(bins, bin);
    fl_ordered *set = bins_set_at(st, head);
    fl_ordered_remove(st->host, set, block->size, block->tie);
    if (set->count > 0)
        return;
    fl_ordered_deinit(st->host, set);
    st->unused_bin_sets.items[st->unused_bin_sets.count++] = head & ~BINS_SET_BIT;
    bins_set_head(bins, bin, FL_NONE);
    bins_mark_empty(bins, bin);
}

/* ---- insert and remove ----------------------------------------------------------------------- */

static bool bins_make_group(torch *st, struct torch_bins *bins, uint32_t word)
{
    bins->groups[word] = fl_new(st->host, 64 * sizeof *bins->groups[word], st->error);
    if (bins->groups[word] == NULL)
        return false;
    memset(bins->groups[word], 0xff, 64 * sizeof *bins->groups[word]);
    return true;
}

/* Puts a block where it belongs in a list that is not empty; the steps that took. */
static uint32_t bins_walk_in(torch *st, struct torch_bins *bins, uint32_t bin, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    uint32_t next = bins_head(bins, bin), before = FL_NONE, steps = 0;
    while (next != FL_NONE && bins_is_before(torch_block_at(st, next), block->size, block->tie)) {
        before = next;
        next = torch_block_at(st, next)->bin_next;
        steps++;
    }
    block->bin_previous = before;
    block->bin_next = next;
    if (next != FL_NONE)
        torch_block_at(st, next)->bin_previous = index;
    if (before != FL_NONE)
        torch_block_at(st, before)->bin_next = index;
    else
        bins_set_head(bins, bin, index);
    return steps;
}

bool torch_bins_insert(torch *st, struct torch_bins *bins, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    uint32_t bin = bins_of_size(block->size);
    bins_set_tie(st, block);
    if (bins->groups[bin / 64] == NULL && !bins_make_group(st, bins, bin / 64))
        return false;
    bins->count++;
    uint32_t head = bins_head(bins, bin);
    if (head == FL_NONE) {
        block->bin_previous = block->bin_next = FL_NONE;
        bins_set_head(bins, bin, index);
        bins_mark_full(bins, bin);
        return true;
    }
    if (head & BINS_SET_BIT)
        return bins_set_insert(st, bins_set_at(st, head), index);
    return bins_walk_in(st, bins, bin, index) < BINS_LONGEST_LIST || bins_make_set(st, bins, bin);
}

void torch_bins_remove(torch *st, struct torch_bins *bins, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    uint32_t before = block->bin_previous, next = block->bin_next;
    bins->count--;
    if (before == BINS_IN_SET) {
        bins_set_remove(st, bins, bins_of_size(block->size), block);
        return;
    }
    if (next != FL_NONE)
        torch_block_at(st, next)->bin_previous = before;
    if (before != FL_NONE) {
        torch_block_at(st, before)->bin_next = next;
        return;
    }
    uint32_t bin = bins_of_size(block->size);
    bins_set_head(bins, bin, next);
    if (next == FL_NONE)
        bins_mark_empty(bins, bin);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The first block of a bin that is not before (size, tie); FL_NONE: all are, or it is empty. */
static uint32_t bins_first_from(const torch *st, const struct torch_bins *bins, uint32_t bin,
                                uint64_t size, uint64_t tie)
{
    if (bin == FL_NONE || bins_is_empty(bins, bin))
        return FL_NONE;
    uint32_t index = bins_head(bins, bin);
    if (index & BINS_SET_BIT) {
        fl_ordered_at at;
        const fl_ordered *set = bins_set_at(st, index);
        return fl_ordered_seek(set, size, tie, &at) ? fl_ordered_get(set, at)->value : FL_NONE;
    }
    while (index != FL_NONE && bins_is_before(torch_block_at(st, index), size, tie))
        index = torch_block_at(st, index)->bin_next;
    return index;
}

static uint32_t bins_last_of(const torch *st, const struct torch_bins *bins, uint32_t bin)
{
    if (bin == FL_NONE)
        return FL_NONE;
    uint32_t index = bins_head(bins, bin);
    if (index & BINS_SET_BIT) {
        fl_ordered_at at = {0, 0};
        const fl_ordered *set = bins_set_at(st, index);
        fl_ordered_last(set, &at);
        return fl_ordered_get(set, at)->value;
    }
    while (torch_block_at(st, index)->bin_next != FL_NONE)
        index = torch_block_at(st, index)->bin_next;
    return index;
}

/* The first block of a bin that is not empty. */
static uint32_t bins_first_of(const torch *st, const struct torch_bins *bins, uint32_t bin)
{
    uint32_t head = bins_head(bins, bin);
    if ((head & BINS_SET_BIT) == 0)
        return head;
    fl_ordered_at at = {0, 0};
    const fl_ordered *set = bins_set_at(st, head);
    fl_ordered_first(set, &at);
    return fl_ordered_get(set, at)->value;
}

uint32_t torch_bins_seek(const torch *st, const struct torch_bins *bins, uint64_t size)
{
    uint32_t bin = bins_of_size(size);
    if (bin < BINS_EXACT && size % FL_MIN_BLOCK == 0) { /* everything from this bin on will do */
        bin = bins_is_empty(bins, bin) ? bins_above(bins, bin) : bin;
        return bin != FL_NONE ? bins_first_of(st, bins, bin) : FL_NONE;
    }
    uint32_t index = bins_first_from(st, bins, bin, size, 0);
    return index != FL_NONE ? index : bins_first_from(st, bins, bins_above(bins, bin), 0, 0);
}

uint32_t torch_bins_next(const torch *st, const struct torch_bins *bins, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    uint32_t bin = bins_of_size(block->size);
    uint32_t next = bins_head(bins, bin) & BINS_SET_BIT
                        ? bins_first_from(st, bins, bin, block->size, block->tie + 1)
                        : block->bin_next;
    return next != FL_NONE ? next : bins_first_from(st, bins, bins_above(bins, bin), 0, 0);
}

uint32_t torch_bins_previous(const torch *st, const struct torch_bins *bins, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    uint32_t bin = bins_of_size(block->size);
    uint32_t before = block->bin_previous;
    if (bins_head(bins, bin) & BINS_SET_BIT) {
        fl_ordered_at at = {0, 0};
        const fl_ordered *set = bins_set_at(st, bins_head(bins, bin));
        fl_ordered_seek(set, block->size, block->tie, &at);
        before = fl_ordered_previous(set, &at) ? fl_ordered_get(set, at)->value : FL_NONE;
    }
    return before != FL_NONE ? before : bins_last_of(st, bins, bins_below(bins, bin));
}

uint32_t torch_bins_last(const torch *st, const struct torch_bins *bins)
{
    uint32_t top = BINS_WORDS * 64 - 1;
    return bins_last_of(st, bins, bins_is_empty(bins, top) ? bins_below(bins, top) : top);
}
