#include "heap/mirror.h"

#include "base/memory.h"
#include "heap/totals.h"

#include <inttypes.h>
#include <stdlib.h>

void fl_mirror_init(fl_mirror *mirror, const fl_host *host)
{
    *mirror = (fl_mirror){.host = host};
}

void fl_mirror_deinit(fl_mirror *mirror)
{
    if (mirror->host == NULL)
        return;
    fl_vector_deinit(mirror->host, &mirror->segments);
    fl_vector_deinit(mirror->host, &mirror->blocks);
    fl_vector_deinit(mirror->host, &mirror->places);
    fl_extents_deinit(mirror->host, &mirror->mapped);
}

/* ---- segments and mapped memory -------------------------------------------------------------- */

static fl_status mirror_misfit(const fl_change *change, const char *because, fl_error *error)
{
    return fl_fail(error, FL_ERR_INTERNAL, "change at 0x%" PRIx64 ", %" PRIu64 " bytes: %s",
                   change->address, change->size, because);
}

/* The segment of a change, if it is there. */
static struct fl_mirror_segment *mirror_segment(const fl_mirror *mirror, const fl_change *change)
{
    if (change->segment >= mirror->segments.count)
        return NULL;
    struct fl_mirror_segment *segment = &mirror->segments.items[change->segment];
    return segment->is_there ? segment : NULL;
}

static bool mirror_is_inside(const struct fl_mirror_segment *segment, const fl_change *change)
{
    return change->size > 0 && change->size <= segment->size &&
           change->address >= segment->address &&
           change->address - segment->address <= segment->size - change->size;
}

/* Adds [address, address + size) to the runs, joined with those of its segment that it touches. */
static bool mirror_map(fl_mirror *mirror, fl_extent added, bool may_join, fl_error *error)
{
    fl_extent below, above;
    uint64_t end = added.address + added.size;
    bool joins_below = may_join && fl_extents_floor(&mirror->mapped, added.address, &below) &&
                       below.address + below.size == added.address && below.owner == added.owner;
    bool joins_above = may_join && fl_extents_ceiling(&mirror->mapped, end, &above) &&
                       above.address == end && above.owner == added.owner;
    if (joins_above) {
        fl_extents_remove(&mirror->mapped, end, NULL);
        added.size += above.size;
    }
    if (!joins_below)
        return fl_extents_insert(mirror->host, &mirror->mapped, added, error);
    fl_extents_resize(&mirror->mapped, below.address, below.size + added.size);
    return true;
}

/* Cuts a part out of a run that holds it. */
static bool mirror_unmap(fl_mirror *mirror, fl_extent run, const fl_change *change, fl_error *error)
{
    uint64_t before = change->address - run.address;
    fl_extent behind = {.address = change->address + change->size,
                        .size = run.size - before - change->size,
                        .owner = run.owner};
    if (before > 0)
        fl_extents_resize(&mirror->mapped, run.address, before);
    else
        fl_extents_remove(&mirror->mapped, run.address, NULL);
    if (behind.size == 0 || fl_extents_insert(mirror->host, &mirror->mapped, behind, error))
        return true;
    fl_extents_resize(&mirror->mapped, run.address, run.size);
    return false;
}

static fl_status mirror_add_segment(fl_mirror *mirror, const fl_change *change, fl_error *error)
{
    bool is_expandable = change->kind == FL_CHANGE_RESERVE;
    if (change->segment != mirror->segments.count)
        return mirror_misfit(change, "its segment number is not the next one", error);
    if (change->size == 0 || change->size > UINT64_MAX - change->address)
        return mirror_misfit(change, "not a range of addresses", error);
    if (!is_expandable && fl_extents_overlap(&mirror->mapped, change->address, change->size))
        return mirror_misfit(change, "something is mapped there already", error);
    if (!fl_vector_reserve(mirror->host, &mirror->segments, 1, error))
        return FL_ERR_RESOURCE;
    fl_extent extent = {change->address, change->size, change->segment};
    if (!is_expandable && !mirror_map(mirror, extent, false, error))
        return FL_ERR_RESOURCE;
    mirror->segments.items[mirror->segments.count++] = (struct fl_mirror_segment){
        .address = change->address,
        .size = change->size,
        .mapped_bytes = is_expandable ? 0 : change->size,
        .stream = change->stream,
        .pool = change->pool,
        .is_small = (change->flags & FL_CHANGE_SMALL) != 0,
        .is_expandable = is_expandable,
        .is_there = true,
    };
    return FL_OK;
}

static fl_status mirror_drop_segment(fl_mirror *mirror, const fl_change *change, fl_error *error)
{
    struct fl_mirror_segment *segment = mirror_segment(mirror, change);
    bool is_expandable = change->kind == FL_CHANGE_UNRESERVE;
    if (segment == NULL || segment->is_expandable != is_expandable ||
        segment->address != change->address || segment->size != change->size)
        return mirror_misfit(change, "no such segment", error);
    if (segment->blocks > 0)
        return mirror_misfit(change, "blocks are in it", error);
    if (is_expandable && segment->mapped_bytes > 0)
        return mirror_misfit(change, "memory is mapped in it", error);
    if (!is_expandable)
        fl_extents_remove(&mirror->mapped, segment->address, NULL);
    segment->is_there = false;
    segment->mapped_bytes = 0;
    return FL_OK;
}

static fl_status mirror_apply_map(fl_mirror *mirror, const fl_change *change, fl_error *error)
{
    struct fl_mirror_segment *segment = mirror_segment(mirror, change);
    if (segment == NULL || !segment->is_expandable || !mirror_is_inside(segment, change))
        return mirror_misfit(change, "no reserved range holds it", error);
    if (fl_extents_overlap(&mirror->mapped, change->address, change->size))
        return mirror_misfit(change, "something is mapped there already", error);
    fl_extent extent = {change->address, change->size, change->segment};
    if (!mirror_map(mirror, extent, true, error))
        return FL_ERR_RESOURCE;
    segment->mapped_bytes += change->size;
    return FL_OK;
}

static fl_status mirror_apply_unmap(fl_mirror *mirror, const fl_change *change, fl_error *error)
{
    struct fl_mirror_segment *segment = mirror_segment(mirror, change);
    fl_extent run;
    if (segment == NULL || !segment->is_expandable || !mirror_is_inside(segment, change))
        return mirror_misfit(change, "no reserved range holds it", error);
    if (!fl_extents_floor(&mirror->mapped, change->address, &run) || run.owner != change->segment ||
        change->size > run.size || change->address - run.address > run.size - change->size)
        return mirror_misfit(change, "it is not mapped as a whole", error);
    if (!mirror_unmap(mirror, run, change, error))
        return FL_ERR_RESOURCE;
    segment->mapped_bytes -= change->size;
    return FL_OK;
}

/* ---- placements ------------------------------------------------------------------------------ */

/* The place of an id in `places`, made where there is none yet; NULL without host memory. */
static uint32_t *mirror_place(fl_mirror *mirror, uint32_t id, fl_error *error)
{
    size_t count = mirror->places.count;
    if (id >= count) {
        size_t extra = (size_t)id + 1 - count;
        if (!fl_vector_reserve(mirror->host, &mirror->places, extra, error))
            return NULL;
        memset(&mirror->places.items[count], 0, extra * sizeof *mirror->places.items);
        mirror->places.count += extra;
    }
    return &mirror->places.items[id];
}

static fl_status mirror_add_block(fl_mirror *mirror, const fl_change *change, fl_error *error)
{
    struct fl_mirror_segment *segment = mirror_segment(mirror, change);
    if (segment == NULL || !mirror_is_inside(segment, change))
        return mirror_misfit(change, "its segment does not hold it", error);
    if (change->id == FL_NONE)
        return FL_OK; /* nobody's, and gone before the op is over */
    uint32_t *place = mirror_place(mirror, change->id, error);
    if (place == NULL || !fl_vector_reserve(mirror->host, &mirror->blocks, 1, error))
        return FL_ERR_RESOURCE;
    if (*place != 0)
        return mirror_misfit(change, "its number is in use", error);
    mirror->blocks.items[mirror->blocks.count++] = (struct fl_mirror_block){
        .address = change->address,
        .size = change->size,
        .requested = change->requested,
        .id = change->id,
        .segment = change->segment,
    };
    *place = (uint32_t)mirror->blocks.count;
    segment->blocks++;
    return FL_OK;
}

/* The block that a change speaks of, told alike. */
static struct fl_mirror_block *mirror_block(const fl_mirror *mirror, const fl_change *change)
{
    uint32_t place = change->id < mirror->places.count ? mirror->places.items[change->id] : 0;
    struct fl_mirror_block *block = place > 0 ? &mirror->blocks.items[place - 1] : NULL;
    bool is_alike = block != NULL && block->address == change->address &&
                    block->size == change->size && block->requested == change->requested &&
                    block->segment == change->segment;
    return is_alike ? block : NULL;
}

static fl_status mirror_ask_free(fl_mirror *mirror, const fl_change *change, fl_error *error)
{
    struct fl_mirror_block *block = mirror_block(mirror, change);
    if (change->id == FL_NONE)
        return FL_OK;
    if (block == NULL || block->is_pending)
        return mirror_misfit(change, "no such live block", error);
    block->is_pending = true;
    return FL_OK;
}

/* The last block of the array takes the freed place. */
static fl_status mirror_end_free(fl_mirror *mirror, const fl_change *change, fl_error *error)
{
    struct fl_mirror_block *block = mirror_block(mirror, change);
    if (change->id == FL_NONE)
        return FL_OK;
    if (block == NULL || !block->is_pending)
        return mirror_misfit(change, "no such block was let go of", error);
    mirror->segments.items[block->segment].blocks--;
    const struct fl_mirror_block *last = &mirror->blocks.items[mirror->blocks.count - 1];
    mirror->places.items[last->id] = mirror->places.items[change->id];
    mirror->places.items[change->id] = 0;
    *block = *last;
    mirror->blocks.count--;
    return FL_OK;
}

static fl_status mirror_ignore(fl_mirror *mirror, const fl_change *change, fl_error *error)
{
    (void)mirror, (void)change, (void)error;
    return FL_OK;
}

fl_status fl_mirror_apply(fl_mirror *mirror, const fl_change *change, fl_error *error)
{
    static fl_status (*const steps[FL_CHANGE_KIND_COUNT])(fl_mirror *, const fl_change *,
                                                          fl_error *) = {
        [FL_CHANGE_ACQUIRE] = mirror_add_segment, [FL_CHANGE_RELEASE] = mirror_drop_segment,
        [FL_CHANGE_RESERVE] = mirror_add_segment, [FL_CHANGE_UNRESERVE] = mirror_drop_segment,
        [FL_CHANGE_MAP] = mirror_apply_map,       [FL_CHANGE_UNMAP] = mirror_apply_unmap,
        [FL_CHANGE_NO_SEGMENT] = mirror_ignore,   [FL_CHANGE_NO_PAGE] = mirror_ignore,
        [FL_CHANGE_PLACE] = mirror_add_block,     [FL_CHANGE_FREE_ASKED] = mirror_ask_free,
        [FL_CHANGE_FREE_DONE] = mirror_end_free,
    };
    if (change->kind >= FL_CHANGE_KIND_COUNT)
        return mirror_misfit(change, "an unknown kind of change", error);
    fl_status status = steps[change->kind](mirror, change, error);
    if (status == FL_OK)
        fl_totals_change(&mirror->totals, change);
    return status;
}

/* ---- walking --------------------------------------------------------------------------------- */

/* Blocks in order of address, while they are walked. */
struct mirror_order {
    const struct fl_mirror_block **blocks;
    size_t count, next;
};

static int mirror_compare(const void *left, const void *right)
{
    uint64_t a = (*(const struct fl_mirror_block *const *)left)->address;
    uint64_t b = (*(const struct fl_mirror_block *const *)right)->address;
    return (a > b) - (a < b);
}

static void mirror_tell_gap(const fl_walk *walk, uint64_t address, uint64_t end)
{
    if (address == end)
        return;
    fl_block_view view = {FL_BLOCK_FREE, FL_NONE, address, end - address, 0, 0, 0};
    walk->block(walk->user, &view);
}

/* One run: blocks, and the gaps between them. */
static fl_status mirror_walk_run(struct mirror_order *order, const fl_extent *run,
                                 const fl_walk *walk, fl_error *error)
{
    uint64_t at = run->address, end = run->address + run->size;
    for (; order->next < order->count; order->next++) {
        const struct fl_mirror_block *block = order->blocks[order->next];
        if (block->address >= end)
            break;
        if (block->address < at || block->size > end - block->address ||
            block->segment != run->owner)
            return fl_fail(error, FL_ERR_INTERNAL,
                           "block %" PRIu32 " at 0x%" PRIx64 " overlaps another or lies outside",
                           block->id, block->address);
        mirror_tell_gap(walk, at, block->address);
        fl_block_view view = {block->is_pending ? FL_BLOCK_PENDING : FL_BLOCK_LIVE,
                              block->id,
                              block->address,
                              block->size,
                              block->requested,
                              0,
                              0};
        walk->block(walk->user, &view);
        at = block->address + block->size;
    }
    mirror_tell_gap(walk, at, end);
    return FL_OK;
}

static fl_status mirror_walk_ordered(const fl_mirror *mirror, struct mirror_order *order,
                                     const fl_walk *walk, fl_error *error)
{
    fl_extent run = {0};
    while (fl_extents_ceiling(&mirror->mapped, run.address + run.size, &run)) {
        const struct fl_mirror_segment *segment = &mirror->segments.items[run.owner];
        fl_segment_view view = {
            .segment = run.owner,
            .stream = segment->stream,
            .pool = segment->pool,
            .is_small = segment->is_small,
            .is_expandable = segment->is_expandable,
            .address = run.address,
            .size = run.size,
        };
        walk->segment(walk->user, &view);
        fl_status status = mirror_walk_run(order, &run, walk, error);
        if (status != FL_OK)
            return status;
    }
    if (order->next < order->count)
        return fl_fail(error, FL_ERR_INTERNAL, "block %" PRIu32 " lies outside mapped memory",
                       order->blocks[order->next]->id);
    return FL_OK;
}

fl_status fl_mirror_walk(const fl_mirror *mirror, const fl_walk *walk, fl_error *error)
{
    size_t count = mirror->blocks.count;
    struct mirror_order order = {.count = count};
    order.blocks = fl_new(mirror->host, count * sizeof *order.blocks, error);
    if (order.blocks == NULL)
        return FL_ERR_RESOURCE;
    for (size_t i = 0; i < count; i++)
        order.blocks[i] = &mirror->blocks.items[i];
    qsort(order.blocks, count, sizeof *order.blocks, mirror_compare);
    fl_status status = mirror_walk_ordered(mirror, &order, walk, error);
    fl_delete(mirror->host, order.blocks, count * sizeof *order.blocks);
    return status;
}

/* ---- check ----------------------------------------------------------------------------------- */

static void mirror_sum_segment(void *user, const fl_segment_view *segment)
{
    fl_totals *sums = user;
    sums->reserved_bytes += segment->size;
}

static void mirror_sum_block(void *user, const fl_block_view *block)
{
    fl_totals *sums = user;
    if (block->state == FL_BLOCK_FREE)
        return;
    sums->requested_bytes += block->requested;
    sums->active_bytes += block->size;
    sums->allocated_bytes += block->state == FL_BLOCK_LIVE ? block->size : 0;
}

fl_status fl_mirror_check(const fl_mirror *mirror, fl_error *error)
{
    fl_totals sums = {0};
    fl_walk walk = {mirror_sum_segment, mirror_sum_block, &sums};
    fl_status status = fl_mirror_walk(mirror, &walk, error);
    if (status != FL_OK)
        return status;
    const fl_totals *totals = &mirror->totals;
    if (sums.requested_bytes != totals->requested_bytes ||
        sums.allocated_bytes != totals->allocated_bytes ||
        sums.active_bytes != totals->active_bytes || sums.reserved_bytes != totals->reserved_bytes)
        return fl_fail(error, FL_ERR_INTERNAL,
                       "%" PRIu64 " bytes active and %" PRIu64 " reserved, but %" PRIu64
                       " and %" PRIu64 " counted",
                       sums.active_bytes, sums.reserved_bytes, totals->active_bytes,
                       totals->reserved_bytes);
    return FL_OK;
}
