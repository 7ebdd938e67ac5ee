/* Memory that goes back in a burst, by whose it was: runs of one pool, which one empty_cache gave
 * back if it was not all done at once. */
#ifndef FL_REBUILD_TRIMS_H
#define FL_REBUILD_TRIMS_H

#include "rebuild/burst.h"
#include "rebuild/places.h"

/* From the first release of a run to behind the last. */
typedef struct fl_trim_run {
    uint64_t begin, end;
    uint32_t pool; /* dense */
} fl_trim_run;

/* The next run of a burst at or behind `from`; false: there is none.  Where no places are known,
 * all is of the default pool. */
bool fl_trims_next(const fl_columns *columns, const fl_places *places, const fl_burst *burst,
                   uint64_t from, fl_trim_run *ret_run);

/* How many runs there are, and the private pool that all of it was of (0: none). */
size_t fl_trims_count(const fl_columns *columns, const fl_places *places, const fl_burst *burst,
                      uint32_t *ret_only_pool);

#endif
