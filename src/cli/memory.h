/* Short names for the host's allocator, for what a command holds while it runs. */
#ifndef FL_CLI_MEMORY_H
#define FL_CLI_MEMORY_H

#include <fraglab/base.h>

/* `count` zeroed items, at least one, or NULL with `error` filled. */
void *fl_cli_new(const fl_host *host, size_t count, size_t item_size, fl_error *error);

/* Gives them back; `count` and `item_size` as then.  Accepts NULL. */
void fl_cli_delete(const fl_host *host, void *items, size_t count, size_t item_size);

#endif
