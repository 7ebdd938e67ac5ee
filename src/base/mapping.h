/* A file as memory: what is written to it stays here, the file is only read.
 *
 * Bytes that the file loses while it is mapped end the process when they are looked at (SIGBUS), as
 * with every mapping. */
#ifndef FL_BASE_MAPPING_H
#define FL_BASE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fl_mapping {
    uint8_t *bytes; /* NULL: nothing */
    size_t size;
} fl_mapping;

/* The whole of an open regular file; false where it cannot be mapped or is empty. */
bool fl_mapping_open(int file, fl_mapping *ret_mapping);

void fl_mapping_close(fl_mapping *mapping);

#endif
