/* How large the card of a recorded history was, as far as the record tells. */
#ifndef FL_REBUILD_CARD_H
#define FL_REBUILD_CARD_H

#include "trace/trace.h"

/* An estimate of the card's total bytes; 0: nothing tells.  `start`: what was there before the
 * first event, or NULL.  FL_ERR_RESOURCE. */
fl_status fl_card_estimate(const fl_host *host, const fl_columns *columns,
                           const fl_trace_start *start, uint64_t *ret_total, fl_error *error);

/* Bytes reserved behind an event, as the record has it, `reserved` being those before it. */
uint64_t fl_reserved_after(const fl_columns *columns, uint64_t event, uint64_t reserved);

/* Bytes that were reserved before the first event; `start` may be NULL. */
uint64_t fl_start_reserved(const fl_trace_start *start);

#endif
