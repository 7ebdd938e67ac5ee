/* Runs of releases of one pool. */
#include "rebuild/trims.h"

static bool is_release(const fl_columns *columns, uint64_t event)
{
    return columns->kind[event] == FL_EVENT_SEGMENT_FREE ||
           columns->kind[event] == FL_EVENT_SEGMENT_UNMAP;
}

static uint32_t pool_of(const fl_places *places, uint64_t event)
{
    uint32_t place = places->of != NULL ? places->of[event] : FL_NONE;
    return place != FL_NONE ? places->items.items[place].pool : 0;
}

bool fl_trims_next(const fl_columns *columns, const fl_places *places, const fl_burst *burst,
                   uint64_t from, fl_trim_run *ret_run)
{
    while (from < burst->end && !is_release(columns, from))
        from++;
    if (from >= burst->end)
        return false;
    fl_trim_run run = {.begin = from, .pool = pool_of(places, from)};
    for (uint64_t i = from; i < burst->end; i++) {
        if (is_release(columns, i) && pool_of(places, i) != run.pool)
            break;
        if (is_release(columns, i))
            run.end = i + 1;
    }
    *ret_run = run;
    return true;
}

size_t fl_trims_count(const fl_columns *columns, const fl_places *places, const fl_burst *burst,
                      uint32_t *ret_only_pool)
{
    fl_trim_run run;
    size_t count = 0;
    *ret_only_pool = 0;
    for (uint64_t from = burst->begin; fl_trims_next(columns, places, burst, from, &run);
         from = run.end) {
        *ret_only_pool = count++ == 0 ? run.pool : 0;
    }
    return count;
}
