/* A replay over its own record with a comparison alongside, shared by rebuild and verify. */
#ifndef FL_REBUILD_REBUILD_H
#define FL_REBUILD_REBUILD_H

#include "rebuild/compare.h"

/* The options under which a history is replayed over what was recorded with it: the file's own
 * settings, the device that plays the record back, and nothing that ends early. */
fl_status fl_record_options(const fl_trace *trace, size_t device, const fl_profile *profile,
                            const fl_host *host, fl_replay_options *ret_options, fl_error *error);

#endif
