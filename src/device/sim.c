/* A card that only keeps books: addresses, sizes, capacity, no memory.
 *
 * The address map is the one of the bookkeeping runtime on which the decisions of the released
 * allocators were recorded, so that a replay prints the same addresses.  Segments take the lowest
 * gap that holds them in whole granules.  Address ranges are reserved upward, a granule apart, and
 * never used twice.  What it gives up: a real driver places segments elsewhere, and needs memory of
 * its own. */
#include "base/checked.h"
#include "base/extents.h"
#include "device/pages.h"

#include <inttypes.h>

/* Ranges go on above the segments once the space below them is used up.  2^63 ends it all. */
#define SIM_FIRST_RANGE   UINT64_C(0x700000000000)
#define SIM_FIRST_SEGMENT UINT64_C(0x7f0000000000)
#define SIM_SEGMENT_END   (UINT64_C(1) << 62)
#define SIM_RANGE_END     (UINT64_C(1) << 63)
/* Pages are kept one by one: 16 TiB of them, far beyond any card, bound our own memory. */
#define SIM_MOST_PAGED (UINT64_C(1) << 44)

struct fl_device_state {
    const fl_host *host;
    fl_error *error;
    uint64_t capacity;
    uint64_t outside_bytes;
    uint64_t segment_bytes;
    uint64_t next_range;
    fl_extents segments;
    fl_extents ranges;
    fl_pages pages;
};

static fl_status sim_open(struct fl_device_state *state, const fl_device_env *env, fl_error *error)
{
    (void)error;
    state->host = env->host;
    state->error = env->error;
    state->capacity = env->capacity_bytes;
    state->next_range = SIM_FIRST_RANGE;
    state->segments.start = SIM_FIRST_SEGMENT;
    state->pages.host = env->host;
    state->pages.error = env->error;
    return FL_OK;
}

static void sim_close(struct fl_device_state *state)
{
    if (state->host == NULL)
        return;
    fl_extents_deinit(state->host, &state->segments);
    fl_extents_deinit(state->host, &state->ranges);
    fl_pages_deinit(&state->pages);
}

static uint64_t sim_used(const struct fl_device_state *state)
{
    uint64_t used = UINT64_MAX;
    fl_add(state->segment_bytes + state->pages.used_bytes, state->outside_bytes, &used);
    return used;
}

static uint64_t sim_footprint(const struct fl_device_state *state, uint64_t size)
{
    (void)state;
    return fl_pages_footprint(size);
}

static bool sim_has_room(const struct fl_device_state *state, uint64_t size)
{
    uint64_t used = sim_used(state);
    return used <= state->capacity && fl_pages_footprint(size) <= state->capacity - used;
}

static fl_answer sim_fail(const struct fl_device_state *state, const char *call, uint64_t address,
                          const char *because)
{
    fl_fail(state->error, FL_ERR_INTERNAL, "%s of 0x%" PRIx64 ": %s", call, address, because);
    return FL_ANSWER_ERROR;
}

static fl_answer sim_acquire(struct fl_device_state *state, uint64_t size, uint32_t stream,
                             uint64_t *ret_address)
{
    (void)stream;
    if (size == 0)
        return sim_fail(state, "acquiring", 0, "0 bytes asked");
    if (!sim_has_room(state, size))
        return FL_ANSWER_FULL;
    uint64_t taken = fl_pages_footprint(size);
    uint64_t address = fl_extents_lowest_fit(&state->segments, taken);
    if (address > SIM_SEGMENT_END || taken > SIM_SEGMENT_END - address)
        return FL_ANSWER_FULL;
    fl_extent extent = {.address = address, .size = taken};
    if (!fl_extents_insert(state->host, &state->segments, extent, state->error))
        return FL_ANSWER_ERROR;
    state->segment_bytes += taken;
    *ret_address = address;
    return FL_ANSWER_OK;
}

/* Takes an extent out of a set if it is there with that size. */
static bool sim_take(fl_extents *set, uint64_t address, uint64_t size)
{
    fl_extent extent;
    return fl_extents_floor(set, address, &extent) && extent.address == address &&
           extent.size == fl_pages_footprint(size) && fl_extents_remove(set, address, NULL);
}

static fl_answer sim_release(struct fl_device_state *state, uint64_t address, uint64_t size)
{
    if (!sim_take(&state->segments, address, size))
        return sim_fail(state, "releasing", address, "no segment of that size begins there");
    state->segment_bytes -= fl_pages_footprint(size);
    return FL_ANSWER_OK;
}

/* Is there room for `taken` bytes at `address`, on its side of the segments? */
static bool sim_range_fits(uint64_t address, uint64_t taken)
{
    uint64_t end = address < SIM_FIRST_SEGMENT ? SIM_FIRST_SEGMENT : SIM_RANGE_END;
    return address < end && taken < end - address;
}

static fl_answer sim_reserve(struct fl_device_state *state, uint64_t size, uint64_t page_size,
                             uint32_t stream, uint64_t *ret_address)
{
    (void)page_size, (void)stream;
    if (size == 0)
        return sim_fail(state, "reserving", 0, "0 bytes asked");
    uint64_t taken = fl_pages_footprint(size);
    uint64_t address = state->next_range;
    bool is_free =
        sim_range_fits(address, taken) && !fl_extents_overlap(&state->segments, address, taken);
    if (!is_free && address < SIM_SEGMENT_END)
        address = SIM_SEGMENT_END;
    if (!sim_range_fits(address, taken))
        return FL_ANSWER_FULL;
    fl_extent extent = {.address = address, .size = taken};
    if (!fl_extents_insert(state->host, &state->ranges, extent, state->error))
        return FL_ANSWER_ERROR;
    state->next_range = address + taken + FL_DEVICE_GRANULE;
    *ret_address = address;
    return FL_ANSWER_OK;
}

/* Where memory was is told by a file, so that it cannot have been there is no fault of the caller.
 */
static fl_answer sim_misplaced(const struct fl_device_state *state, uint64_t taken,
                               uint64_t address)
{
    fl_fail(state->error, FL_ERR_INPUT,
            "start state: %" PRIu64 " bytes at 0x%" PRIx64
            " overlap other memory, or lie beyond all addresses of a card",
            taken, address);
    return FL_ANSWER_ERROR;
}

/* Segments that come later keep clear of everything that was placed. */
static fl_answer sim_occupy(struct fl_device_state *state, uint64_t taken, uint64_t address)
{
    if (taken == 0 || address > SIM_SEGMENT_END || taken > SIM_SEGMENT_END - address ||
        fl_extents_overlap(&state->segments, address, taken))
        return sim_misplaced(state, taken, address);
    if (address < state->segments.start)
        state->segments.start = address;
    fl_extent extent = {.address = address, .size = taken};
    return fl_extents_insert(state->host, &state->segments, extent, state->error) ? FL_ANSWER_OK
                                                                                  : FL_ANSWER_ERROR;
}

static fl_answer sim_acquire_at(struct fl_device_state *state, uint64_t size, uint64_t address)
{
    if (!sim_has_room(state, size))
        return FL_ANSWER_FULL;
    fl_answer answer = sim_occupy(state, fl_pages_footprint(size), address);
    if (answer == FL_ANSWER_OK)
        state->segment_bytes += fl_pages_footprint(size);
    return answer;
}

/* New ranges go on above. */
static fl_answer sim_reserve_at(struct fl_device_state *state, uint64_t size, uint64_t address)
{
    uint64_t taken = fl_pages_footprint(size);
    fl_answer answer = sim_occupy(state, taken, address);
    fl_extent extent = {.address = address, .size = taken};
    if (answer != FL_ANSWER_OK)
        return answer;
    uint64_t behind = address + taken + FL_DEVICE_GRANULE;
    if (behind > state->next_range)
        state->next_range = behind;
    return fl_extents_insert(state->host, &state->ranges, extent, state->error) ? FL_ANSWER_OK
                                                                                : FL_ANSWER_ERROR;
}

static fl_answer sim_unreserve(struct fl_device_state *state, uint64_t address, uint64_t size)
{
    if (fl_extents_overlap(&state->pages.mapped, address, size))
        return sim_fail(state, "unreserving", address, "pages are mapped in it");
    if (!sim_take(&state->ranges, address, size))
        return sim_fail(state, "unreserving", address, "no range of that size begins there");
    sim_take(&state->segments, address, size); /* where it was placed */
    return FL_ANSWER_OK;
}

static fl_answer sim_page_create(struct fl_device_state *state, uint64_t size, uint64_t *ret_page)
{
    if (!sim_has_room(state, size) || state->pages.used_bytes >= SIM_MOST_PAGED)
        return FL_ANSWER_FULL;
    return fl_pages_create(&state->pages, size, ret_page);
}

static fl_answer sim_page_free(struct fl_device_state *state, uint64_t page)
{
    return fl_pages_free(&state->pages, page);
}

static fl_answer sim_map(struct fl_device_state *state, uint64_t address, uint64_t size,
                         uint64_t page)
{
    fl_extent range;
    if (!fl_extents_floor(&state->ranges, address, &range) || size > range.size ||
        address - range.address > range.size - size)
        return sim_fail(state, "mapping", address, "no reserved range holds it");
    return fl_pages_map(&state->pages, address, size, page);
}

static fl_answer sim_unmap(struct fl_device_state *state, uint64_t address, uint64_t size)
{
    return fl_pages_unmap(&state->pages, address, size);
}

static fl_answer sim_outside(struct fl_device_state *state, uint64_t bytes)
{
    state->outside_bytes = bytes;
    return FL_ANSWER_OK;
}

const fl_device_ops fl_device_sim = {
    .name = "sim",
    .summary = "a card that keeps books only; addresses as in the recorded decisions",
    .state_size = sizeof(struct fl_device_state),
    .open = sim_open,
    .close = sim_close,
    .acquire = sim_acquire,
    .release = sim_release,
    .reserve = sim_reserve,
    .unreserve = sim_unreserve,
    .page_create = sim_page_create,
    .page_free = sim_page_free,
    .map = sim_map,
    .unmap = sim_unmap,
    .acquire_at = sim_acquire_at,
    .reserve_at = sim_reserve_at,
    .outside = sim_outside,
    .used = sim_used,
    .footprint = sim_footprint,
};
