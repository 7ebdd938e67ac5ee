/* Tables of tests/data/conformance: a head line, then rows of three cells apart by tabs. */
#ifndef TABLE_H
#define TABLE_H

#include <fraglab/settings.h>

#include "test.h"

#define CONFORMANCE "tests/data/conformance/"

typedef struct table {
    char *text;
    char *at; /* the next row */
} table;

/* A whole file, ended by a NUL; fails the test where it is not there.  The caller frees it. */
char *file_read(const char *path, size_t *ret_size);

table table_open(const char *path);
bool table_next(table *t, char *ret_cells[3]); /* cells end in NUL; false at the end */
void table_close(table *t);

/* The release of that very name; fails the test where there is none. */
const fl_profile *release_named(const char *name);

#endif
