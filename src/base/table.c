/* Keys come from files, whose author may know how they are hashed.  So the place where the table
 * happens to lie takes part: nobody can choose keys that all meet.  It decides about time only; no
 * result ever shows the order. */
#include "base/table.h"

#include "base/memory.h"

static size_t table_home(const fl_table *table, uint64_t key)
{
    uint64_t mixed = (key ^ (uint64_t)(uintptr_t)table->keys) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 32)) * 0xD6E8FEB86659FD93u;
    return (size_t)(mixed >> 32) & (table->capacity - 1);
}

static size_t table_find(const fl_table *table, uint64_t key)
{
    size_t slot = table_home(table, key);
    while (table->values[slot] != FL_TABLE_EMPTY && table->keys[slot] != key)
        slot = (slot + 1) & (table->capacity - 1);
    return slot;
}

static bool table_rehash(const fl_host *host, fl_table *table, fl_error *error)
{
    fl_table bigger = {0};
    bigger.capacity = table->capacity > 0 ? table->capacity * 2 : 64;
    bigger.keys = fl_new(host, bigger.capacity * sizeof *bigger.keys, error);
    bigger.values = fl_new(host, bigger.capacity * sizeof *bigger.values, error);
    if (bigger.keys == NULL || bigger.values == NULL) {
        fl_table_deinit(host, &bigger);
        return false;
    }
    memset(bigger.values, 0xff, bigger.capacity * sizeof *bigger.values);
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->values[i] == FL_TABLE_EMPTY)
            continue;
        size_t slot = table_find(&bigger, table->keys[i]);
        bigger.keys[slot] = table->keys[i];
        bigger.values[slot] = table->values[i];
    }
    bigger.count = table->count;
    fl_table_deinit(host, table);
    *table = bigger;
    return true;
}

void fl_table_deinit(const fl_host *host, fl_table *table)
{
    fl_delete(host, table->keys, table->capacity * sizeof *table->keys);
    fl_delete(host, table->values, table->capacity * sizeof *table->values);
    *table = (fl_table){0};
}

bool fl_table_set(const fl_host *host, fl_table *table, uint64_t key, uint32_t value,
                  fl_error *error)
{
    if ((table->count + 1) * 2 > table->capacity && !table_rehash(host, table, error))
        return false;
    size_t slot = table_find(table, key);
    if (table->values[slot] == FL_TABLE_EMPTY) {
        table->keys[slot] = key;
        table->count++;
    }
    table->values[slot] = value;
    return true;
}

uint32_t fl_table_get(const fl_table *table, uint64_t key)
{
    if (table->capacity == 0)
        return FL_TABLE_EMPTY;
    return table->values[table_find(table, key)];
}

uint32_t fl_table_take(fl_table *table, uint64_t key)
{
    if (table->capacity == 0)
        return FL_TABLE_EMPTY;
    size_t hole = table_find(table, key);
    uint32_t value = table->values[hole];
    if (value == FL_TABLE_EMPTY)
        return FL_TABLE_EMPTY;
    table->count--;
    /* Close the gap, so that no probe ends too early. */
    size_t mask = table->capacity - 1;
    for (size_t next = (hole + 1) & mask; table->values[next] != FL_TABLE_EMPTY;
         next = (next + 1) & mask) {
        size_t home = table_home(table, table->keys[next]);
        if (((next - home) & mask) < ((next - hole) & mask))
            continue;
        table->keys[hole] = table->keys[next];
        table->values[hole] = table->values[next];
        hole = next;
    }
    table->values[hole] = FL_TABLE_EMPTY;
    return value;
}
