/* Finding bursts, and judging what may have caused one.
 *
 * What separates the readings:
 * - Segments that come back although the program asked for nothing, or although its request was
 *   then served from the cache, came back by an empty_cache.
 * - An empty_cache waits for everything pending and gives back every idle segment; less than that
 *   was collection or release of oversize blocks for a request.
 * - A request that the cache could have served never reaches the device.
 * - A free and its completion side by side are one step as a rule.  But a free that waited may be
 *   followed by a request that found nothing else to wait for; it shows only where the request did
 *   not take the block that lay free before its eyes.
 * - The stack recorded with a release is the request's only where the request released.
 * - Where there are no stacks and both readings lead to the same state, the device decides: if what
 *   was reserved and what the request took exceed the most ever reserved, then the device was full
 *   and the request released; else it was an empty_cache. */
#include "rebuild/burst.h"

/* Is this the completion of the free right before it? */
static bool ends_pair(const fl_columns *columns, uint64_t event)
{
    return event > 0 && columns->kind[event] == FL_OP_FREE_DONE &&
           columns->kind[event - 1] == FL_OP_FREE && columns->id[event - 1] == columns->id[event];
}

static bool is_outcome(const fl_columns *columns, uint64_t event)
{
    if (columns->kind[event] == FL_OP_FREE_DONE)
        return !ends_pair(columns, event);
    return fl_kind_is_segment(columns->kind[event]);
}

static bool is_refused_request(const fl_columns *columns, uint64_t event)
{
    return columns->kind[event] == FL_OP_ALLOC && (columns->flags[event] & FL_EVENT_OOM) != 0;
}

static void note_release(fl_burst *burst, uint64_t event)
{
    if (burst->first_release == UINT64_MAX)
        burst->first_release = event;
    burst->last_release = event;
}

static void note_taken(fl_burst *burst, uint64_t event, uint64_t size)
{
    if (burst->first_taken == UINT64_MAX)
        burst->first_taken = event;
    burst->last_taken = event;
    burst->taken_bytes =
        size > UINT64_MAX - burst->taken_bytes ? UINT64_MAX : burst->taken_bytes + size;
}

static void add_outcome(fl_burst *burst, const fl_columns *columns, uint64_t event)
{
    switch (columns->kind[event]) {
    case FL_OP_FREE_DONE:
        burst->completions++;
        if (burst->first_release != UINT64_MAX || burst->first_taken != UINT64_MAX)
            burst->late_completions++;
        break;
    case FL_EVENT_SEGMENT_FREE:
        burst->released_segments++;
        note_release(burst, event);
        break;
    case FL_EVENT_SEGMENT_UNMAP:
        note_release(burst, event);
        break;
    default:
        note_taken(burst, event, columns->size[event]);
        break;
    }
}

static fl_origin find_origin(const fl_burst *burst, const fl_columns *columns)
{
    if (!burst->is_request || burst->first_release == UINT64_MAX || columns->stack == NULL)
        return FL_ORIGIN_UNKNOWN;
    uint32_t own = columns->stack[burst->end], seen = columns->stack[burst->first_release];
    if (own == FL_NONE || seen == FL_NONE)
        return FL_ORIGIN_UNKNOWN;
    return own == seen ? FL_ORIGIN_REQUEST : FL_ORIGIN_OTHER;
}

bool fl_burst_find(const fl_columns *columns, uint64_t from, fl_burst *ret_burst)
{
    uint64_t event = from;
    while (event < columns->count && !is_outcome(columns, event) &&
           !is_refused_request(columns, event))
        event++;
    if (event >= columns->count)
        return false;
    fl_burst burst = {
        .begin = event,
        .has_pair = event > 0 && ends_pair(columns, event - 1),
        .first_release = UINT64_MAX,
        .last_release = UINT64_MAX,
        .first_taken = UINT64_MAX,
        .last_taken = UINT64_MAX,
    };
    for (; event < columns->count && is_outcome(columns, event); event++)
        add_outcome(&burst, columns, event);
    burst.end = event;
    burst.is_request = event < columns->count && columns->kind[event] == FL_OP_ALLOC;
    burst.is_refused = burst.is_request && is_refused_request(columns, event);
    burst.origin = find_origin(&burst, columns);
    *ret_burst = burst;
    return true;
}

/* Did an empty_cache give back just what the burst shows? */
static bool may_be_trim(const fl_burst *burst, const fl_burst_facts *facts)
{
    if (burst->first_taken < burst->first_release)
        return false; /* the request was already under way */
    if (facts == NULL)
        return true;
    return burst->completions == facts->pending && burst->late_completions == 0 &&
           burst->released_segments == facts->idle_segments;
}

static bool is_served_from_cache(const fl_burst *burst)
{
    return !burst->is_refused &&
           (burst->last_taken == UINT64_MAX || burst->last_taken < burst->last_release);
}

/* Could the device have given what the request took without anything being released? */
static bool had_room(const fl_burst *burst, const fl_burst_facts *facts)
{
    return !burst->is_refused && facts != NULL &&
           burst->taken_bytes <= facts->most_reserved_bytes &&
           facts->reserved_bytes <= facts->most_reserved_bytes - burst->taken_bytes;
}

/* Readings without an empty_cache. */
static size_t list_own(const fl_burst *burst, const fl_burst_facts *facts, fl_reading *list)
{
    if (burst->completions == burst->late_completions) {
        list[0] = FL_READING_DURING;
        return 1;
    }
    /* Without a split limit only a release of everything frees segments, and that waits for all. */
    bool waited = facts != NULL && !facts->has_split_limit && burst->first_release != UINT64_MAX &&
                  burst->completions == facts->pending;
    list[0] = waited ? FL_READING_DURING : FL_READING_BEFORE;
    list[1] = waited ? FL_READING_BEFORE : FL_READING_DURING;
    return 2;
}

/* Did an empty_cache of one private pool give back just what the burst shows? */
static bool may_be_pool_trim(const fl_burst *burst, const fl_burst_facts *facts)
{
    return facts != NULL && facts->pool != 0 && burst->first_release < burst->first_taken &&
           burst->completions <= facts->pending && burst->late_completions == 0 &&
           burst->released_segments == facts->idle_in_pool;
}

/* The readings with an empty_cache: of everything, or of one pool. */
static size_t list_trims(const fl_burst *burst, const fl_burst_facts *facts, fl_reading *list)
{
    bool of_all = may_be_trim(burst, facts), of_pool = may_be_pool_trim(burst, facts);
    size_t count = 0;
    if (of_pool && (facts->is_pool_of_program || !of_all))
        list[count++] = FL_READING_TRIM_POOL;
    if (of_all)
        list[count++] = FL_READING_TRIM;
    if (of_pool && !facts->is_pool_of_program && of_all)
        list[count++] = FL_READING_TRIM_POOL;
    if (facts != NULL && facts->runs > 1 && burst->first_release < burst->first_taken)
        list[count++] = FL_READING_TRIMS;
    return count;
}

static size_t list_all(const fl_burst *burst, const fl_burst_facts *facts, fl_reading *list)
{
    bool has_release = burst->first_release != UINT64_MAX;
    fl_reading trims[3];
    size_t trim_count = has_release ? list_trims(burst, facts, trims) : 0;
    if (!burst->is_request && trim_count == 0) {
        list[0] = has_release ? FL_READING_TRIM : FL_READING_BEFORE;
        return 1;
    }
    if (trim_count == 0)
        return list_own(burst, facts, list);
    bool is_trim = !burst->is_request || burst->origin == FL_ORIGIN_OTHER ||
                   (burst->origin == FL_ORIGIN_UNKNOWN && had_room(burst, facts)) ||
                   is_served_from_cache(burst) || (facts != NULL && facts->is_usable);
    size_t count = 0;
    if (!is_trim)
        count = list_own(burst, facts, list);
    for (size_t i = 0; i < trim_count; i++)
        list[count++] = trims[i];
    if (is_trim && burst->is_request)
        count += list_own(burst, facts, list + count);
    return count;
}

size_t fl_burst_readings(const fl_burst *burst, const fl_burst_facts *facts,
                         fl_reading ret_readings[FL_READING_COUNT])
{
    size_t count = list_all(burst, facts, ret_readings);
    if (burst->has_pair && burst->is_request)
        ret_readings[count++] = FL_READING_PAIR;
    return count;
}
