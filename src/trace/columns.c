/* Columns grow one by one, each with its own room, so that a failure in the middle leaves every one
 * of them whole. */
#include "trace/columns.h"

#include "base/memory.h"

#include <assert.h>
#include <string.h>

typedef struct column_place {
    const void *items; /* points to the typed pointer */
    size_t width;
} column_place;

static column_place column_at(const fl_columns *columns, fl_column column)
{
    const column_place places[FL_COLUMN_COUNT] = {
        [FL_COLUMN_KIND] = {&columns->kind, sizeof *columns->kind},
        [FL_COLUMN_FLAGS] = {&columns->flags, sizeof *columns->flags},
        [FL_COLUMN_STREAM] = {&columns->stream, sizeof *columns->stream},
        [FL_COLUMN_ID] = {&columns->id, sizeof *columns->id},
        [FL_COLUMN_SIZE] = {&columns->size, sizeof *columns->size},
        [FL_COLUMN_POOL] = {&columns->pool, sizeof *columns->pool},
        [FL_COLUMN_STACK] = {&columns->stack, sizeof *columns->stack},
        [FL_COLUMN_ADDRESS] = {&columns->address, sizeof *columns->address},
        [FL_COLUMN_TIME] = {&columns->time_us, sizeof *columns->time_us},
    };
    return places[column];
}

static void *column_get(const fl_columns *columns, fl_column column)
{
    void *items;
    memcpy(&items, column_at(columns, column).items, sizeof items);
    return items;
}

static void column_set(fl_columns *columns, fl_column column, void *items, uint64_t capacity)
{
    size_t offset =
        (size_t)((const char *)column_at(columns, column).items - (const char *)columns);
    memcpy((char *)columns + offset, &items, sizeof items);
    columns->capacity[column] = capacity;
}

static bool column_resize(const fl_host *host, fl_columns *columns, fl_column column,
                          uint64_t capacity, fl_error *error)
{
    column_place place = column_at(columns, column);
    size_t old_size = (size_t)columns->capacity[column] * place.width;
    size_t new_size = (size_t)capacity * place.width;
    void *resized = host->resize(host->user, column_get(columns, column), old_size, new_size);
    if (resized == NULL && new_size > 0) {
        fl_fail(error, FL_ERR_RESOURCE, "out of memory: %zu bytes asked for a column of the trace",
                new_size);
        return false;
    }
    column_set(columns, column, resized, capacity);
    return true;
}

void fl_columns_deinit(const fl_host *host, fl_columns *columns)
{
    for (int column = 0; column < FL_COLUMN_COUNT && !columns->is_lent; column++)
        if (columns->capacity[column] > 0)
            column_resize(host, columns, (fl_column)column, 0, NULL);
    *columns = (fl_columns){0};
}

bool fl_columns_grow(const fl_host *host, fl_columns *columns, fl_error *error)
{
    assert(!columns->is_lent);
    for (int column = 0; column < FL_COLUMN_COUNT; column++) {
        uint64_t capacity = columns->capacity[column];
        bool is_used = column < FL_COLUMN_POOL || capacity > 0;
        if (is_used && columns->count == capacity &&
            !column_resize(host, columns, (fl_column)column, capacity > 0 ? capacity * 2 : 256,
                           error))
            return false;
    }
    return true;
}

bool fl_columns_use(const fl_host *host, fl_columns *columns, fl_column column, fl_error *error)
{
    if (!column_resize(host, columns, column, columns->capacity[FL_COLUMN_KIND], error))
        return false;
    if (column == FL_COLUMN_TIME)
        for (uint64_t i = 0; i < columns->count; i++)
            columns->time_us[i] = FL_TIME_UNKNOWN;
    else
        memset(column_get(columns, column), column == FL_COLUMN_ADDRESS ? 0 : 0xff,
               columns->count * column_at(columns, column).width);
    return true;
}

bool fl_columns_trim(const fl_host *host, fl_columns *columns, fl_error *error)
{
    for (int column = 0; column < FL_COLUMN_COUNT; column++)
        if (columns->capacity[column] > columns->count &&
            !column_resize(host, columns, (fl_column)column, columns->count, error))
            return false;
    return true;
}

const void *fl_columns_bytes(const fl_columns *columns, fl_column column, size_t *ret_width)
{
    *ret_width = column_at(columns, column).width;
    return column_get(columns, column);
}

void fl_columns_lend(fl_columns *columns, fl_column column, void *bytes)
{
    columns->is_lent = true;
    column_set(columns, column, bytes, columns->count);
}
