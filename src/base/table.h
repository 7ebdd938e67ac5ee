/* A hash table from 64-bit keys to 32-bit values, open addressing with linear probing.  Its order
 * never shows: there is no iteration. */
#ifndef FL_BASE_TABLE_H
#define FL_BASE_TABLE_H

#include <fraglab/base.h>

typedef struct fl_table {
    uint64_t *keys;
    uint32_t *values;       /* FL_TABLE_EMPTY: nothing here */
    size_t count, capacity; /* capacity is 0 or a power of two */
} fl_table;

#define FL_TABLE_EMPTY UINT32_MAX

void fl_table_deinit(const fl_host *host, fl_table *table);

/* Sets the value of a key (not FL_TABLE_EMPTY), new or not. */
bool fl_table_set(const fl_host *host, fl_table *table, uint64_t key, uint32_t value,
                  fl_error *error);

/* FL_TABLE_EMPTY where the key is not there. */
uint32_t fl_table_get(const fl_table *table, uint64_t key);

/* Takes the key out; returns its value or FL_TABLE_EMPTY. */
uint32_t fl_table_take(fl_table *table, uint64_t key);

#endif
