/* Expandable segments: a reserved range of addresses, mapped page by page (11). */
#include "policy/torch/block.h"

/* The card that a range is sized for where the device names no limit. */
#define EXPANDABLE_NOMINAL_TOTAL (UINT64_C(1) << 40)

static double expandable_asked_bytes(const fl_reserve *reserve, uint64_t total)
{
    return reserve->value * (reserve->is_fraction ? (double)total : (double)FL_GIB);
}

/* The size of a range (11.1): 9/8 of the card, or less where a setting says so. */
static uint64_t expandable_size(const torch *st, bool *ret_follows_card)
{
    const fl_reserve *reserve = &st->settings.reserve;
    uint64_t total = st->total == FL_UNLIMITED ? EXPANDABLE_NOMINAL_TOTAL : st->total;
    uint64_t most = UINT64_MAX;
    fl_add(total, total / 8, &most);
    double bytes = reserve->is_given ? expandable_asked_bytes(reserve, total) : (double)most;
    *ret_follows_card = !reserve->is_given || reserve->is_fraction || bytes >= (double)most;
    return reserve->is_given && bytes < (double)most ? (uint64_t)bytes : most;
}

uint64_t torch_reserve_bytes(const torch *st)
{
    bool follows_card;
    return expandable_size(st, &follows_card);
}

static bool expandable_follows_card(const torch *st)
{
    bool follows_card;
    expandable_size(st, &follows_card);
    return follows_card;
}

uint32_t torch_segment_new(torch *st, uint64_t address, uint64_t size, uint64_t page, uint64_t age)
{
    if (!fl_vector_reserve(st->host, &st->segments, 1, st->error))
        return FL_NONE;
    st->segments.items[st->segments.count] =
        (struct torch_segment){.address = address,
                               .size = size,
                               .page = page,
                               .age = age,
                               .follows_card = page > 0 && expandable_follows_card(st)};
    return (uint32_t)st->segments.count++;
}

static fl_change expandable_change(const torch *st, const struct torch_block *block,
                                   fl_change_kind kind, uint64_t address, uint64_t size)
{
    const struct torch_pool *pool = torch_pool_of(st, block);
    bool goes_back = kind == FL_CHANGE_UNMAP || kind == FL_CHANGE_UNRESERVE;
    return (fl_change){
        .kind = (uint8_t)kind,
        .cause = (uint8_t)(goes_back ? st->cause : FL_CAUSE_REQUEST),
        .flags = (uint8_t)(FL_CHANGE_EXPANDABLE | (pool->is_small ? FL_CHANGE_SMALL : 0)),
        .id = FL_NONE,
        .segment = block->segment,
        .stream = torch_lane_of(st, block)->stream,
        .pool = pool->owner == FL_NONE ? 0 : st->privates.items[pool->owner].name,
        .address = address,
        .size = size,
        .requested = st->segments.items[block->segment].page,
    };
}

/* ---- the two primitives (11.2, 11.3) --------------------------------------------------------- */

/* Gives back the pages made by a call that failed. */
static void expandable_roll_back(torch *st, struct torch_segment *segment, size_t first, size_t end)
{
    for (size_t slot = first; slot < end; slot++)
        fl_device_page_free(st->device, segment->pages.items[slot]);
}

static torch_step expandable_create(torch *st, struct torch_segment *segment, size_t first,
                                    size_t end)
{
    if (end > segment->pages.count) {
        if (!fl_vector_reserve(st->host, &segment->pages, end - segment->pages.count, st->error))
            return STEP_BROKEN;
        while (segment->pages.count < end)
            segment->pages.items[segment->pages.count++] = 0;
    }
    for (size_t slot = first; slot < end; slot++) {
        fl_answer answer =
            fl_device_page_create(st->device, segment->page, &segment->pages.items[slot]);
        if (answer == FL_ANSWER_OK)
            continue;
        expandable_roll_back(st, segment, first, slot);
        if (answer == FL_ANSWER_FULL)
            return STEP_NO;
        return torch_device_broke(st);
    }
    return STEP_YES;
}

/* Maps whole pages from `address` on until `size` bytes are covered; *ret_mapped may be more. */
static torch_step expandable_map_pages(torch *st, uint32_t block_index, uint64_t size,
                                       uint64_t *ret_mapped)
{
    const struct torch_block *block = torch_block_at(st, block_index);
    struct torch_segment *segment = &st->segments.items[block->segment];
    uint64_t page = segment->page;
    uint64_t offset = block->address - segment->address;
    size_t first = (size_t)(offset / page);
    size_t end = (size_t)(fl_round_up(offset + size, page) / page);
    torch_step step = expandable_create(st, segment, first, end);
    if (step == STEP_NO) {
        fl_change change = expandable_change(st, block, FL_CHANGE_NO_PAGE, 0, page);
        torch_tell(st, &change);
    }
    if (step != STEP_YES)
        return step;
    for (size_t slot = first; slot < end; slot++) {
        if (fl_device_map(st->device, segment->address + slot * page, page,
                          segment->pages.items[slot]) != FL_ANSWER_OK)
            return torch_device_broke(st);
    }
    *ret_mapped = (end - first) * page;
    return STEP_YES;
}

static torch_step expandable_unmap_pages(torch *st, const struct torch_segment *segment,
                                         size_t first, size_t end)
{
    for (size_t slot = first; slot < end; slot++) {
        uint64_t address = segment->address + slot * segment->page;
        if (fl_device_unmap(st->device, address, segment->page) != FL_ANSWER_OK ||
            fl_device_page_free(st->device, segment->pages.items[slot]) != FL_ANSWER_OK)
            return torch_device_broke(st);
    }
    return STEP_YES;
}

/* ---- growing (11.4) -------------------------------------------------------------------------- */

static uint32_t expandable_link(torch *st, uint32_t after, uint64_t address, uint64_t size,
                                uint8_t flags)
{
    const struct torch_block *like = torch_block_at(st, after);
    uint32_t index = torch_block_new(st, like, address, size, flags);
    if (index == NO_BLOCK)
        return NO_BLOCK;
    struct torch_block *block = torch_block_at(st, index);
    struct torch_block *before = torch_block_at(st, after);
    block->previous = after;
    block->next = before->next;
    torch_block_at(st, block->next)->previous = index;
    before->next = index;
    return index;
}

/* Turns the front of an unmapped range into a free block, merged with free neighbours. */
static torch_step expandable_map_block(torch *st, uint32_t index, uint64_t wanted)
{
    uint64_t mapped;
    torch_step step = expandable_map_pages(st, index, wanted, &mapped);
    if (step != STEP_YES)
        return step;
    torch_unmapped_remove(st, index);
    struct torch_block *block = torch_block_at(st, index);
    uint64_t start = block->address;
    block->flags |= BLOCK_MAPPED;
    if (mapped < block->size) {
        uint32_t tail = expandable_link(st, index, start + mapped, block->size - mapped,
                                        (uint8_t)(block->flags & ~BLOCK_MAPPED));
        if (tail == NO_BLOCK || !torch_unmapped_insert(st, tail))
            return STEP_BROKEN;
        block = torch_block_at(st, index);
        block->size = mapped;
    }
    torch_merge(st, index, block->previous);
    torch_merge(st, index, block->next);
    if (!torch_free_insert(st, index))
        return STEP_BROKEN;
    st->held += mapped;
    torch_raise_reserved(st, torch_pool_of(st, block), mapped);
    st->stats.device_allocs++;
    fl_change change = expandable_change(st, block, FL_CHANGE_MAP, start, mapped);
    torch_tell(st, &change);
    return STEP_YES;
}

/* Do free and unmapped blocks from `index` on, side by side, add up to the request? */
static bool expandable_reaches(const torch *st, uint32_t index, uint64_t wanted,
                               const uint32_t *done)
{
    uint64_t sum = 0;
    while (index != NO_BLOCK && sum < wanted) {
        const struct torch_block *block = torch_block_at(st, index);
        if (!torch_will_be_free(st, index, done))
            return false;
        sum += block->size;
        index = block->next;
    }
    return sum >= wanted;
}

/* Where the free block that ends before an unmapped range begins; the range itself: there is none.
 * A free block has no mapped free neighbour, but blocks about to become free may have. */
static uint32_t expandable_before(const torch *st, uint32_t index, const uint32_t *done)
{
    uint32_t before = torch_block_at(st, index)->previous;
    while (torch_will_be_free(st, before, done) &&
           (torch_block_at(st, before)->flags & BLOCK_MAPPED)) {
        index = before;
        before = torch_block_at(st, index)->previous;
    }
    return index;
}

uint32_t torch_find_expandable(const torch *st, const struct torch_request *request,
                               const uint32_t *done)
{
    const struct torch_lane *lane = torch_lane_find(st, request->pool, request->stream);
    if (lane == NULL)
        return NO_BLOCK;
    const fl_ordered *unmapped = &lane->unmapped;
    fl_ordered_at at;
    for (bool more = fl_ordered_first(unmapped, &at); more; more = fl_ordered_next(unmapped, &at)) {
        uint32_t index = expandable_before(st, fl_ordered_get(unmapped, at)->value, done);
        if (expandable_reaches(st, index, request->rounded, done))
            return index;
    }
    return NO_BLOCK;
}

/* The driver's own failure, not an out-of-memory (11.6). */
static torch_step expandable_out_of_range(torch *st, uint64_t size)
{
    fl_fail(st->error, FL_ERR_UNAVAILABLE, "no address range of %llu bytes is to be had",
            (unsigned long long)size);
    return STEP_BROKEN;
}

static torch_step expandable_reserve(torch *st, const struct torch_request *request,
                                     uint32_t *ret_block)
{
    const struct torch_pool *pool = st->pools.items[request->pool];
    uint64_t page = pool->is_small ? FL_SMALL_SEGMENT : st->settings.large_segment_bytes;
    uint64_t size = fl_round_up(torch_reserve_bytes(st), page);
    struct torch_lane *lane = torch_lane_make(st, request->pool, request->stream);
    if (lane == NULL)
        return STEP_BROKEN;
    bool follows_card = expandable_follows_card(st);
    if ((size < request->rounded && follows_card) || lane->ranges > 0)
        torch_track_total(st); /* the range of a larger card might have had room */
    if (size == 0)
        return expandable_out_of_range(st, size);
    uint64_t age = st->segment_age++;
    uint64_t address;
    fl_answer answer = fl_device_reserve(st->device, size, page, request->stream, &address);
    if (answer == FL_ANSWER_ERROR)
        return torch_device_broke(st);
    if (answer == FL_ANSWER_FULL)
        return expandable_out_of_range(st, size);
    /* It is given back only after the driver has granted it, which moves later ranges on. */
    if (st->profile->small_range_is_dropped && size < request->rounded)
        return fl_device_unreserve(st->device, address, size) == FL_ANSWER_OK
                   ? STEP_NO
                   : torch_device_broke(st);
    uint32_t segment = torch_segment_new(st, address, size, page, age);
    if (segment == FL_NONE)
        return STEP_BROKEN;
    struct torch_block like = {.lane = lane->index, .segment = segment};
    lane->ranges += follows_card;
    uint8_t flags = BLOCK_EXPANDABLE | BLOCK_FREE | (pool->is_small ? BLOCK_SMALL : 0);
    *ret_block = torch_block_new(st, &like, address, size, flags);
    if (*ret_block == NO_BLOCK || !torch_unmapped_insert(st, *ret_block))
        return STEP_BROKEN;
    fl_change change =
        expandable_change(st, torch_block_at(st, *ret_block), FL_CHANGE_RESERVE, address, size);
    torch_tell(st, &change);
    return STEP_YES;
}

static uint64_t expandable_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

torch_step torch_expand(torch *st, const struct torch_request *request, uint32_t *ret_block)
{
    uint32_t index = torch_find_expandable(st, request, NULL);
    torch_step step = STEP_YES;
    if (index == NO_BLOCK)
        step = expandable_reserve(st, request, &index);
    if (step != STEP_YES)
        return step;
    uint64_t wanted = request->rounded;
    if (!(torch_block_at(st, index)->flags & BLOCK_MAPPED)) {
        step = expandable_map_block(st, index,
                                    expandable_least(torch_block_at(st, index)->size, wanted));
        if (step != STEP_YES)
            return step;
    }
    while (torch_block_at(st, index)->size < wanted) {
        uint64_t missing = wanted - torch_block_at(st, index)->size;
        uint32_t next = torch_block_at(st, index)->next;
        if (next == NO_BLOCK)
            return STEP_NO; /* a range smaller than the request, all of it mapped */
        step = expandable_map_block(st, next,
                                    expandable_least(missing, torch_block_at(st, next)->size));
        if (step != STEP_YES)
            return step;
        index = next;
    }
    torch_free_remove(st, index);
    *ret_block = index;
    return STEP_YES;
}

/* ---- shrinking (11.5) ------------------------------------------------------------------------ */

/* Cuts the mapped ends off a block of which pages [first, end) were unmapped. */
static bool expandable_cut(torch *st, uint32_t index, uint64_t start, uint64_t size)
{
    struct torch_block *block = torch_block_at(st, index);
    uint64_t address = block->address;
    uint64_t front = start - address, behind = address + block->size - (start + size);
    uint8_t flags = block->flags;
    if (front > 0) {
        uint32_t piece = torch_block_new(st, block, address, front, flags);
        if (piece == NO_BLOCK)
            return false;
        block = torch_block_at(st, index);
        torch_block_at(st, piece)->previous = block->previous;
        torch_block_at(st, piece)->next = index;
        torch_block_at(st, block->previous)->next = piece;
        block->previous = piece;
        if (!torch_free_insert(st, piece))
            return false;
    }
    if (behind > 0) {
        uint32_t piece = expandable_link(st, index, start + size, behind, flags);
        if (piece == NO_BLOCK || !torch_free_insert(st, piece))
            return false;
    }
    block = torch_block_at(st, index);
    block->address = start;
    block->size = size;
    block->flags &= (uint8_t)~BLOCK_MAPPED;
    return true;
}

/* Deletes a segment of which nothing is mapped any more. */
static torch_step expandable_drop(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    fl_change change =
        expandable_change(st, block, FL_CHANGE_UNRESERVE, block->address, block->size);
    torch_unmapped_remove(st, index);
    struct torch_segment *segment = &st->segments.items[block->segment];
    if (fl_device_unreserve(st->device, segment->address, segment->size) != FL_ANSWER_OK)
        return torch_device_broke(st);
    fl_vector_deinit(st->host, &segment->pages);
    torch_lane_of(st, block)->ranges -= segment->follows_card;
    torch_tell(st, &change);
    torch_block_drop(st, index);
    return STEP_YES;
}

torch_step torch_unmap(torch *st, uint32_t index)
{
    struct torch_block *block = torch_block_at(st, index);
    const struct torch_segment *segment = &st->segments.items[block->segment];
    uint64_t page = segment->page, offset = block->address - segment->address;
    size_t first = (size_t)(fl_round_up(offset, page) / page);
    size_t end = (size_t)((offset + block->size) / page);
    if (first >= end)
        return STEP_YES;
    torch_step step = expandable_unmap_pages(st, segment, first, end);
    if (step != STEP_YES)
        return step;
    uint64_t start = segment->address + first * page, size = (end - first) * page;
    torch_free_remove(st, index);
    if (!expandable_cut(st, index, start, size))
        return STEP_BROKEN;
    block = torch_block_at(st, index);
    torch_merge(st, index, block->previous);
    torch_merge(st, index, block->next);
    if (!torch_unmapped_insert(st, index))
        return STEP_BROKEN;
    struct torch_pool *pool = torch_pool_of(st, block);
    st->held -= size;
    torch_lower_reserved(st, pool, size);
    st->stats.device_frees++;
    fl_change change = expandable_change(st, block, FL_CHANGE_UNMAP, start, size);
    torch_tell(st, &change);
    if (pool->owner != FL_NONE) {
        struct torch_private *owner = &st->privates.items[pool->owner];
        if (owner->device_allocs <= 0)
            return torch_forbid(st, "a private pool's allocation count is not above zero");
        owner->device_allocs--;
    }
    return torch_is_split(torch_block_at(st, index)) ? STEP_YES : expandable_drop(st, index);
}
