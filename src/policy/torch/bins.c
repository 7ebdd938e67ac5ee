#include "policy/torch/bins.h"

#include "base/memory.h"

static uint32_t bins_head(const struct torch_bins *bins, uint32_t bin)
{
    return bins->groups[bin / 64][bin % 64];
}

/* The first bin above or below `bin` that is not empty; FL_NONE: there is none. */
static uint32_t bins_above(const struct torch_bins *bins, uint32_t bin)
{
    uint32_t word = bin / 64;
    uint64_t rest = bins->words[word] & (~UINT64_C(1) << (bin % 64));
    if (rest == 0) {
        uint64_t words = bins->summary & (~UINT64_C(1) << word);
        if (words == 0)
            return FL_NONE;
        word = (uint32_t)__builtin_ctzll(words);
        rest = bins->words[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(rest);
}

static uint32_t bins_below(const struct torch_bins *bins, uint32_t bin)
{
    uint32_t word = bin / 64;
    uint64_t rest = bins->words[word] & ((UINT64_C(1) << (bin % 64)) - 1);
    if (rest == 0) {
        uint64_t words = bins->summary & ((UINT64_C(1) << word) - 1);
        if (words == 0)
            return FL_NONE;
        word = fl_log2(words);
        rest = bins->words[word];
    }
    return word * 64 + fl_log2(rest);
}

void torch_bins_deinit(const fl_host *host, struct torch_bins *bins)
{
    for (size_t i = 0; i < BINS_WORDS; i++)
        fl_delete(host, bins->groups[i], 64 * sizeof *bins->groups[i]);
}

uint32_t *torch_bins_make_group(const torch *st, struct torch_bins *bins, uint32_t word)
{
    bins->groups[word] = fl_new(st->host, 64 * sizeof *bins->groups[word], st->error);
    return bins->groups[word];
}

/* ---- bins that have become ordered sets ------------------------------------------------------ */

static fl_ordered *bins_set_at(const torch *st, uint32_t head)
{
    return &st->bin_sets.items[head & ~BINS_SET_BIT];
}

bool torch_bins_insert_in_set(torch *st, uint32_t head, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    block->bin_previous = BINS_IN_SET;
    if (fl_ordered_insert(st->host, bins_set_at(st, head), block->size, block->tie, index))
        return true;
    fl_fail(st->error, FL_ERR_RESOURCE, "out of memory: the free set cannot grow");
    return false;
}

bool torch_bins_make_set(torch *st, uint32_t *head)
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
    uint32_t first = *head;
    *head = number | BINS_SET_BIT;
    for (uint32_t i = first; i != NO_BLOCK; i = torch_block_at(st, i)->bin_next)
        if (!torch_bins_insert_in_set(st, *head, i))
            return false;
    return true;
}

void torch_bins_remove_from_set(torch *st, struct torch_bins *bins, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    uint32_t bin = block->bin;
    uint32_t *head = &bins->groups[bin / 64][bin % 64];
    fl_ordered *set = bins_set_at(st, *head);
    fl_ordered_remove(st->host, set, block->size, block->tie);
    if (set->count > 0)
        return;
    fl_ordered_deinit(st->host, set);
    st->unused_bin_sets.items[st->unused_bin_sets.count++] = *head & ~BINS_SET_BIT;
    *head = NO_BLOCK;
    torch_bins_mark_empty(bins, bin, true);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The first block of a bin that is not before (size, tie); NO_BLOCK: all are, or there is no bin.
 */
static uint32_t bins_first_from(const torch *st, const struct torch_bins *bins, uint32_t bin,
                                uint64_t size, uint64_t tie)
{
    if (bin == FL_NONE)
        return NO_BLOCK;
    uint32_t index = bins_head(bins, bin);
    if (index & BINS_SET_BIT) {
        fl_ordered_at at;
        const fl_ordered *set = bins_set_at(st, index);
        return fl_ordered_seek(set, size, tie, &at) ? fl_ordered_get(set, at)->value : NO_BLOCK;
    }
    while (torch_bins_is_before(torch_block_at(st, index), size, tie))
        index = torch_block_at(st, index)->bin_next;
    return index;
}

static uint32_t bins_last_of(const torch *st, const struct torch_bins *bins, uint32_t bin)
{
    if (bin == FL_NONE)
        return NO_BLOCK;
    uint32_t index = bins_head(bins, bin);
    if (index & BINS_SET_BIT) {
        fl_ordered_at at = {0, 0};
        const fl_ordered *set = bins_set_at(st, index);
        fl_ordered_last(set, &at);
        return fl_ordered_get(set, at)->value;
    }
    while (torch_block_at(st, index)->bin_next != NO_BLOCK)
        index = torch_block_at(st, index)->bin_next;
    return index;
}

uint32_t torch_bins_seek_behind(const torch *st, const struct torch_bins *bins, uint32_t bin,
                                uint64_t size)
{
    uint32_t index = bins_first_from(st, bins, bin, size, 0);
    return index != NO_BLOCK ? index : bins_first_from(st, bins, bins_above(bins, bin), 0, 0);
}

uint32_t torch_bins_next(const torch *st, const struct torch_bins *bins, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    uint32_t bin = block->bin, next = block->bin_next;
    if (block->bin_previous == BINS_IN_SET)
        next = bins_first_from(st, bins, bin, block->size, block->tie + 1);
    return next != NO_BLOCK ? next : bins_first_from(st, bins, bins_above(bins, bin), 0, 0);
}

uint32_t torch_bins_previous(const torch *st, const struct torch_bins *bins, uint32_t index)
{
    const struct torch_block *block = torch_block_at(st, index);
    uint32_t bin = block->bin, before = block->bin_previous;
    if (before == BINS_IN_SET) {
        fl_ordered_at at = {0, 0};
        const fl_ordered *set = bins_set_at(st, bins_head(bins, bin));
        fl_ordered_seek(set, block->size, block->tie, &at);
        before = fl_ordered_previous(set, &at) ? fl_ordered_get(set, at)->value : NO_BLOCK;
    }
    return before != NO_BLOCK ? before : bins_last_of(st, bins, bins_below(bins, bin));
}

uint32_t torch_bins_last(const torch *st, const struct torch_bins *bins)
{
    uint32_t top = BINS_WORDS * 64 - 1;
    bool is_full = bins->words[top / 64] >> (top % 64) & 1;
    return bins_last_of(st, bins, is_full ? top : bins_below(bins, top));
}
