/* Memory of the columns; for trace/build.c. */
#ifndef FL_TRACE_COLUMNS_H
#define FL_TRACE_COLUMNS_H

#include "trace/trace.h"

void fl_columns_deinit(const fl_host *host, fl_columns *columns);

/* Room for one more event in every column in use. */
bool fl_columns_grow(const fl_host *host, fl_columns *columns, fl_error *error);

/* Brings an optional column into being; events so far have nothing in it. */
bool fl_columns_use(const fl_host *host, fl_columns *columns, fl_column column, fl_error *error);

/* Gives the room back that no event uses. */
bool fl_columns_trim(const fl_host *host, fl_columns *columns, fl_error *error);

/* A column as bytes, and how many each entry has; NULL: no event has anything in it. */
const void *fl_columns_bytes(const fl_columns *columns, fl_column column, size_t *ret_width);

/* Uses bytes of the trace's image as a column of `count` entries. */
void fl_columns_lend(fl_columns *columns, fl_column column, void *bytes);

#endif
